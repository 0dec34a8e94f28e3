"""Why groups differ: an account of a gap, in parts that add up to it."""

from evenhand._why.account import Account, Part, Proxy, Stratum
from evenhand._why.api import account_of, explain

__all__ = ["Account", "Part", "Proxy", "Stratum", "account_of", "explain"]
