"""Reduction: a lottery over classifiers, found as the saddle point of a game."""

from evenhand.mitigation.reduction.classifier import ReductionClassifier
from evenhand.mitigation.reduction.game import Game, Lottery
from evenhand.mitigation.reduction.problem import EVENTS, Problem

__all__ = ["EVENTS", "Game", "Lottery", "Problem", "ReductionClassifier"]
