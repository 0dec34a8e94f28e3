"""evenhand: how evenly a model treats groups.

rows ── count ──▶ Tally ── read ──▶ Table(…, groups) ── measure ──▶ cells ── aggregate ──▶ score
"""

from evenhand.aggregates import AGGREGATES
from evenhand.audit import Audit, Finding, audit, audit_frame, audit_model
from evenhand.columns import Interval
from evenhand.comparing import Comparison, compare
from evenhand.counting import moments, tally
from evenhand.criteria import CRITERIA, Criterion, Reading, evaluate
from evenhand.criteria.evaluation import UndefinedWarning
from evenhand.distributions import Distribution, distribution
from evenhand.expected import expected_tally
from evenhand.frames import tally_frame
from evenhand.groups import Groups, groups
from evenhand.measures import MEASURES, gini, mpd, pq, shortfall
from evenhand.scoring import make_scorer
from evenhand.statistics import STATISTICS
from evenhand.tally import Tally
from evenhand.uncertainty import Bounds, Chance, chance, interval

__version__ = "0.1.0.dev0"

__all__ = [
    "AGGREGATES",
    "CRITERIA",
    "MEASURES",
    "STATISTICS",
    "Audit",
    "Bounds",
    "Chance",
    "Comparison",
    "Criterion",
    "Distribution",
    "Finding",
    "Groups",
    "Interval",
    "Reading",
    "Tally",
    "UndefinedWarning",
    "audit",
    "audit_frame",
    "audit_model",
    "chance",
    "compare",
    "distribution",
    "evaluate",
    "expected_tally",
    "gini",
    "groups",
    "interval",
    "make_scorer",
    "moments",
    "mpd",
    "pq",
    "shortfall",
    "tally",
    "tally_frame",
]
