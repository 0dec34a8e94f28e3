"""How sure one can be of a criterion's value, from the counts alone."""

from evenhand._uncertainty.assessment import Assessment, assess
from evenhand._uncertainty.chance import Chance, chance
from evenhand._uncertainty.interval import ConfidenceInterval, interval
from evenhand._uncertainty.power import Power, power

__all__ = [
    "Assessment",
    "Chance",
    "ConfidenceInterval",
    "Power",
    "assess",
    "chance",
    "interval",
    "power",
]
