"""Doors for people who come from another library: its names and numbers, our counting.

`evenhand.compat.fairlearn` stands in for `fairlearn.metrics`. Nothing here is imported with
`evenhand` itself.
"""
