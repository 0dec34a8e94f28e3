"""Rejection: a threshold with a margin, within which the group decides."""

from evenhand.mitigation.reject_option.classifier import RejectOptionClassifier
from evenhand.mitigation.reject_option.grid import DISPARITIES, Choice, Grid, search_grid

__all__ = ["DISPARITIES", "Choice", "Grid", "RejectOptionClassifier", "search_grid"]
