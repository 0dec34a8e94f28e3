"""Standards: rules as dated data files, and the page that each of them asks for.

The page says what the rule asks, what the data show, and what no software can say.
"""

from evenhand.standards.profiles import STANDARDS, Option, Standard

__all__ = ["STANDARDS", "Option", "Standard"]
