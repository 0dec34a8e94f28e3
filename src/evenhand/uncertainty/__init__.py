"""How sure one can be of a criterion's value, from the counts alone."""

from evenhand.uncertainty.chance import Chance, chance
from evenhand.uncertainty.interval import Bounds, interval

__all__ = ["Bounds", "Chance", "chance", "interval"]
