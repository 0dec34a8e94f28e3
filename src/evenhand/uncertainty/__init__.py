"""How sure one can be of a criterion's value, from the counts alone."""

from evenhand.uncertainty.assessment import Asked, Assessment, assess
from evenhand.uncertainty.chance import Chance, chance
from evenhand.uncertainty.interval import Bounds, interval

__all__ = ["Asked", "Assessment", "Bounds", "Chance", "assess", "chance", "interval"]
