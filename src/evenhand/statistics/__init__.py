"""What is compared between groups: forms of statistics, and the catalogue of named ones."""

from evenhand.statistics.catalogue import STATISTICS
from evenhand.statistics.forms import Average, P, Ratio, Statistic, Table
from evenhand.statistics.means import Auroc, CalibrationError, Derived, E, F

__all__ = [
    "STATISTICS",
    "Auroc",
    "Average",
    "CalibrationError",
    "Derived",
    "E",
    "F",
    "P",
    "Ratio",
    "Statistic",
    "Table",
]
