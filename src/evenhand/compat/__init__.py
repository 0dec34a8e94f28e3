"""Doors for people who come from another library: its names and numbers, our counting.

`evenhand.compat.fairlearn` stands in for `fairlearn.metrics`; `evenhand.compat.mlflow` is an
evaluator for MLflow. Nothing here is imported with `evenhand` itself.
"""
