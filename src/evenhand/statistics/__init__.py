"""The statistics that criteria compare between groups: their forms and the named ones."""

from evenhand._data.summaries import KINDS, Kind, Rows, Source, summarize
from evenhand.statistics.catalogue import STATISTICS
from evenhand.statistics.labels import Average, P, Ratio
from evenhand.statistics.scores import Auroc, CalibrationError, F
from evenhand.statistics.statistic import Shares, Statistic, Table
from evenhand.statistics.sums import Derived, E

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
