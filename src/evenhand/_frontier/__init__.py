"""The frontier of disparity and cost, with proofs and rules that can be deployed."""

from evenhand._frontier.api import frontier
from evenhand._frontier.regression import RegressionFrontier, RegressionRule
from evenhand._frontier.result import Frontier
from evenhand._frontier.rule import Rule

__all__ = ["Frontier", "RegressionFrontier", "RegressionRule", "Rule", "frontier"]
