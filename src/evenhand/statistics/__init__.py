"""What is compared between groups: forms of statistics, the named ones, and what they read."""

from evenhand.statistics.catalogue import STATISTICS
from evenhand.statistics.forms import Average, P, Ratio, Statistic, Table
from evenhand.statistics.kinds import KINDS, Kind, Rows, Source, summarize
from evenhand.statistics.means import Auroc, CalibrationError, Derived, E, F

__all__ = [
    "KINDS",
    "STATISTICS",
    "Auroc",
    "Average",
    "CalibrationError",
    "Derived",
    "E",
    "F",
    "Kind",
    "P",
    "Ratio",
    "Rows",
    "Source",
    "Statistic",
    "Table",
    "summarize",
]
