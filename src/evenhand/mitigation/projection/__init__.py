"""FairProj: probabilities projected onto ratio constraints, by their dual."""

from evenhand.mitigation.projection.classifier import ProjectionClassifier
from evenhand.mitigation.projection.dual import fit_prices, project, smoothed
from evenhand.mitigation.projection.ratios import CONSTRAINTS, Ratios

__all__ = ["CONSTRAINTS", "ProjectionClassifier", "Ratios", "fit_prices", "project", "smoothed"]
