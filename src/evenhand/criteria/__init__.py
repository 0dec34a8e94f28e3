"""Which statistic must be equal between groups: the criterion, and the catalogue of them all."""

from evenhand.criteria.catalogue import CRITERIA
from evenhand.criteria.criterion import Criterion, Reading
from evenhand.criteria.evaluation import evaluate

__all__ = ["CRITERIA", "Criterion", "Reading", "evaluate"]
