"""The classes of functions' results, for type hints and `isinstance`."""

from evenhand._audit import Audit, Finding, Measured, PartialAudit
from evenhand._compare import Comparison
from evenhand._data.surveys import SurveyWeights
from evenhand._frontier import Frontier
from evenhand._uncertainty import Chance, ConfidenceInterval, Contrast, Power
from evenhand._unknown import Answer, Bounds
from evenhand._why import Account, Part, Proxy, Region, Stratum
from evenhand.criteria import Reading

__all__ = [
    "Account",
    "Answer",
    "Audit",
    "Bounds",
    "Chance",
    "Comparison",
    "ConfidenceInterval",
    "Contrast",
    "Finding",
    "Frontier",
    "Measured",
    "Part",
    "PartialAudit",
    "Power",
    "Proxy",
    "Reading",
    "Region",
    "Stratum",
    "SurveyWeights",
]
