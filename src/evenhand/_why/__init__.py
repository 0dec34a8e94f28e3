"""Why groups differ: an account of a gap, in parts that add up to it."""

from evenhand._why.account import Account, Part
from evenhand._why.api import explain

__all__ = ["Account", "Part", "explain"]
