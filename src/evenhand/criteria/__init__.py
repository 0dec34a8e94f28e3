"""Which statistic must be equal between groups: the criterion, and the catalogue of them all."""

from evenhand.criteria.catalogue import CRITERIA
from evenhand.criteria.criterion import Criterion
from evenhand.criteria.evaluation import evaluate
from evenhand.criteria.reading import Reading

__all__ = ["CRITERIA", "Criterion", "Reading", "evaluate"]
