"""What is compared between groups: forms of statistics, the named ones, and what they read."""

from evenhand._data.summaries import KINDS, Kind, Rows, Source, summarize
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
    Shares,
    Statistic,
    Table,
)

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
    "Shares",
    "Source",
    "Statistic",
    "Table",
    "summarize",
]
