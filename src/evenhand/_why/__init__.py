"""Why groups differ: an account of a gap, in parts that add up to it."""

from evenhand._why.account import Account, Part, Proxy, Region, Stratum
from evenhand._why.api import account_of, explain
from evenhand._why.regions import by_score

__all__ = ["Account", "Part", "Proxy", "Region", "Stratum", "account_of", "by_score", "explain"]
