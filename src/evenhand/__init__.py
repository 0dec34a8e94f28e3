"""evenhand: how evenly a model treats groups.

rows ── count ──▶ Tally ── read ──▶ Table(…, groups) ── measure ──▶ cells ── aggregate ──▶ score
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand._audit import Audit, assert_even, audit
from evenhand._columns import Bin
from evenhand._data.data import Data
from evenhand._data.distributions import Distribution, distribution
from evenhand._data.evaluations import read_evaluation
from evenhand._data.groups import Groups, groups
from evenhand._data.probable import Probable, probable
from evenhand._data.sql import count_query
from evenhand._data.surveys import survey_weights
from evenhand._data.tallies import Tally
from evenhand._data.tallying import tally
from evenhand._errors import (
    EvenhandError,
    InputError,
    InputTypeError,
    MissingExtraError,
    OutputError,
    UnboundWarning,
)
from evenhand._scoring import make_scorer
from evenhand._uncertainty import chance, contrasts, interval, power
from evenhand._unknown import bounds
from evenhand.criteria import CRITERIA, Criterion, UndefinedWarning, evaluate
from evenhand.measures import MEASURES, gini, mpd, pq

if TYPE_CHECKING:
    from evenhand._compare.compare import compare
    from evenhand._frontier import Frontier, frontier
    from evenhand._why import explain
    from evenhand.watch import Watch

__version__ = "0.1.0.dev0"
SUBMODULES = ("results", "standards", "statistics", "watch")  # found without an import of their own
LATER = {  # imported when first used
    "Frontier": "_frontier",
    "Watch": "watch",
    "compare": "_compare",
    "explain": "_why",
    "frontier": "_frontier",
}

__all__ = [
    "CRITERIA",
    "MEASURES",
    "Audit",
    "Bin",
    "Criterion",
    "Data",
    "Distribution",
    "EvenhandError",
    "Frontier",
    "Groups",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "OutputError",
    "Probable",
    "Tally",
    "UnboundWarning",
    "UndefinedWarning",
    "Watch",
    "assert_even",
    "audit",
    "bounds",
    "chance",
    "compare",
    "contrasts",
    "count_query",
    "distribution",
    "evaluate",
    "explain",
    "frontier",
    "gini",
    "groups",
    "interval",
    "make_scorer",
    "mpd",
    "power",
    "pq",
    "probable",
    "read_evaluation",
    "survey_weights",
    "tally",
]


def __getattr__(name: str) -> Any:
    if name in LATER:
        return getattr(import_module(f"evenhand.{LATER[name]}"), name)
    if name in SUBMODULES:
        return import_module(f"evenhand.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
