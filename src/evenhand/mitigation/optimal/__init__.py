"""The cheapest decisions under a bound on the inequality of group rates, with a proof of it."""

from evenhand.mitigation.optimal.generation import Solution, solve
from evenhand.mitigation.optimal.population import Population
from evenhand.mitigation.optimal.problem import Problem, problem
from evenhand.mitigation.optimal.rule import DecisionRule
from evenhand.mitigation.optimal.scores import Scores, known_groups
from evenhand.mitigation.optimal.thresholds import Thresholds

__all__ = [
    "DecisionRule",
    "Population",
    "Problem",
    "Scores",
    "Solution",
    "Thresholds",
    "known_groups",
    "problem",
    "solve",
]
