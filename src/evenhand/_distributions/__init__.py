"""Scores in order, with the group of each: all that questions about distributions need."""

from evenhand._distributions.distribution import Distribution, distribution
from evenhand._distributions.ranks import RankedScores

__all__ = ["Distribution", "RankedScores", "distribution"]
