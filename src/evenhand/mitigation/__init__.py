"""Mitigation: scikit-learn estimators that reduce differences between groups."""

from evenhand.mitigation._lots import lots
from evenhand.mitigation._tradeoff import Tradeoff, tradeoff
from evenhand.mitigation.amount_rule import AmountRule
from evenhand.mitigation.barycenter import BarycenterRegressor
from evenhand.mitigation.base_models import GivenProbabilities, GivenScores
from evenhand.mitigation.calibrated_odds import CalibratedOddsClassifier
from evenhand.mitigation.equalized_odds import EqualizedOddsClassifier
from evenhand.mitigation.estimators import GroupClassifier, GroupRegressor
from evenhand.mitigation.frontier import FrontierClassifier
from evenhand.mitigation.group_loss import BoundedGroupLossRegressor
from evenhand.mitigation.label_flipping import LabelFlippingClassifier
from evenhand.mitigation.methods import METHODS, Method
from evenhand.mitigation.optimal import DecisionRule
from evenhand.mitigation.parity_reduction import ParityReductionRegressor
from evenhand.mitigation.penalized import PenalizedClassifier, PenalizedRegressor
from evenhand.mitigation.projection import ProjectionClassifier
from evenhand.mitigation.rate_constrained import LinearPostClassifier, RateConstrainedClassifier
from evenhand.mitigation.reduction import ReductionClassifier
from evenhand.mitigation.reject_option import RejectOptionClassifier
from evenhand.mitigation.reranking import OffsetReranker
from evenhand.mitigation.reweighting import ReweightingClassifier
from evenhand.mitigation.transport import ParityConstrainedRegressor, TransportRegressor

__all__ = [
    "METHODS",
    "AmountRule",
    "BarycenterRegressor",
    "BoundedGroupLossRegressor",
    "CalibratedOddsClassifier",
    "DecisionRule",
    "EqualizedOddsClassifier",
    "FrontierClassifier",
    "GivenProbabilities",
    "GivenScores",
    "GroupClassifier",
    "GroupRegressor",
    "LabelFlippingClassifier",
    "LinearPostClassifier",
    "Method",
    "OffsetReranker",
    "ParityConstrainedRegressor",
    "ParityReductionRegressor",
    "PenalizedClassifier",
    "PenalizedRegressor",
    "ProjectionClassifier",
    "RateConstrainedClassifier",
    "ReductionClassifier",
    "RejectOptionClassifier",
    "ReweightingClassifier",
    "Tradeoff",
    "TransportRegressor",
    "lots",
    "tradeoff",
]
