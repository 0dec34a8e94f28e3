"""Mitigation: scikit-learn estimators that make a model's decisions fall more evenly."""

from evenhand.mitigation.barycenter import BarycenterRegressor
from evenhand.mitigation.calibrated_odds import CalibratedOddsClassifier
from evenhand.mitigation.catalogue import METHODS
from evenhand.mitigation.classifier import GroupClassifier
from evenhand.mitigation.equalized_odds import EqualizedOddsClassifier
from evenhand.mitigation.given import GivenScores
from evenhand.mitigation.group_loss import BoundedGroupLossRegressor
from evenhand.mitigation.label_flipping import LabelFlippingClassifier
from evenhand.mitigation.linear_post import LinearPostClassifier
from evenhand.mitigation.method import Method
from evenhand.mitigation.parity_reduction import ParityReductionRegressor
from evenhand.mitigation.projection import ProjectionClassifier
from evenhand.mitigation.rate_constrained import RateConstrainedClassifier
from evenhand.mitigation.reduction import ReductionClassifier
from evenhand.mitigation.regressor import GroupRegressor
from evenhand.mitigation.reject_option import RejectOptionClassifier
from evenhand.mitigation.reweighting import ReweightingClassifier
from evenhand.mitigation.tradeoff import Tradeoff, tradeoff
from evenhand.mitigation.transport import ParityConstrainedRegressor, TransportRegressor

__all__ = [
    "METHODS",
    "BarycenterRegressor",
    "BoundedGroupLossRegressor",
    "CalibratedOddsClassifier",
    "EqualizedOddsClassifier",
    "GivenScores",
    "GroupClassifier",
    "GroupRegressor",
    "LabelFlippingClassifier",
    "LinearPostClassifier",
    "Method",
    "ParityConstrainedRegressor",
    "ParityReductionRegressor",
    "ProjectionClassifier",
    "RateConstrainedClassifier",
    "ReductionClassifier",
    "RejectOptionClassifier",
    "ReweightingClassifier",
    "Tradeoff",
    "TransportRegressor",
    "tradeoff",
]
