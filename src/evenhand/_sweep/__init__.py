"""Measures along the pooled order of a score: supremum and integral over all cut points."""

from evenhand._sweep.sweep import Peak, integral, supremum

__all__ = ["Peak", "integral", "supremum"]
