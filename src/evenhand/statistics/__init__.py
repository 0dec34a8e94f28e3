"""What is compared between groups: forms of statistics, the named ones, and what they read."""

from evenhand.statistics.catalogue import STATISTICS
from evenhand.statistics.forms import (
    Auroc,
    Average,
    CalibrationError,
    Derived,
    E,
    F,
    P,
    Ratio,
    Statistic,
    Table,
)
from evenhand.statistics.kinds import KINDS, Kind, Rows, Source, summarize

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
