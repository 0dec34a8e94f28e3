"""The cheapest decisions under a bound on the inequality of group rates, with a proof."""

from evenhand.mitigation.optimal.cones import require_convex
from evenhand.mitigation.optimal.curves import Curves
from evenhand.mitigation.optimal.generation import ImpossibleError, Solution, cost_of_rising, solve
from evenhand.mitigation.optimal.problem import Problem, compared, problem, stated
from evenhand.mitigation.optimal.rates import ONE_CLASS, RATES, RateForms, rate_forms
from evenhand.mitigation.optimal.requirements import (
    Requirement,
    at_least,
    at_most,
    evenly,
    in_total,
    near,
    require_extremes,
)
from evenhand.mitigation.optimal.rule import DecisionRule
from evenhand.mitigation.optimal.scores import Population, Scores, Thresholds, known_groups
from evenhand.mitigation.optimal.steady import Steady, lot_share

__all__ = [
    "ONE_CLASS",
    "RATES",
    "Curves",
    "DecisionRule",
    "ImpossibleError",
    "Population",
    "Problem",
    "RateForms",
    "Requirement",
    "Scores",
    "Solution",
    "Steady",
    "Thresholds",
    "at_least",
    "at_most",
    "compared",
    "cost_of_rising",
    "evenly",
    "in_total",
    "known_groups",
    "lot_share",
    "near",
    "problem",
    "rate_forms",
    "require_convex",
    "require_extremes",
    "solve",
    "stated",
]
