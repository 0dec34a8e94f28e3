"""Comparison of models: which treats groups more equally, and whether that is significant."""

from evenhand._compare.compare import compare
from evenhand._compare.comparison import Comparison

__all__ = ["Comparison", "compare"]
