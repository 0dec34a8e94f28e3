"""The cheapest decisions under a bound on the inequality of group rates, with a proof of it."""

from evenhand.mitigation.optimal.generation import Solution, solve
from evenhand.mitigation.optimal.problem import Problem, problem
from evenhand.mitigation.optimal.rule import DecisionRule
from evenhand.mitigation.optimal.scores import Population, Scores, Thresholds, known_groups

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
