"""Compatibility with other libraries: their names and numbers, computed by evenhand.

`evenhand.compat.fairlearn` replaces `fairlearn.metrics`; `evenhand.compat.mlflow` is an
evaluator for MLflow. Nothing here is imported with `evenhand` itself.
"""
