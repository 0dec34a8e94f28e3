"""FairRR: labels are flipped by lot before the model is fitted."""

from evenhand.mitigation.label_flipping.chances import RULES, Flips, thresholds
from evenhand.mitigation.label_flipping.classifier import LabelFlippingClassifier

__all__ = ["RULES", "Flips", "LabelFlippingClassifier", "thresholds"]
