"""Criteria of groups that are probable, partly known or missing."""

from evenhand._unknown import doors
from evenhand._unknown.answers import Answer, Bounds
from evenhand._unknown.bounds import bounds, bounds_of
from evenhand._unknown.counted import Unknown, has_bounds, is_missing, is_share, unknown

__all__ = [
    "Answer",
    "Bounds",
    "Unknown",
    "bounds",
    "bounds_of",
    "doors",
    "has_bounds",
    "is_missing",
    "is_share",
    "unknown",
]
