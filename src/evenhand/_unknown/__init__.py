"""What can be said of groups that are only probable, partly known or missing."""

from evenhand._unknown.bounds import Answer, Bounds, bounds

__all__ = ["Answer", "Bounds", "bounds"]
