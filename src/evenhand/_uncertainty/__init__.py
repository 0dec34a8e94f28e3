"""The uncertainty of a criterion's value, computed from the counts alone."""

from evenhand._uncertainty.chance import Chance, chance
from evenhand._uncertainty.contrasts import Contrast, contrasts
from evenhand._uncertainty.interval import ConfidenceInterval, interval
from evenhand._uncertainty.power import Power, power

__all__ = [
    "Chance",
    "ConfidenceInterval",
    "Contrast",
    "Power",
    "chance",
    "contrasts",
    "interval",
    "power",
]
