"""Regression under statistical parity, by a game over thresholds (Agarwal, Dudík and Wu 2019)."""

from evenhand.mitigation.parity_reduction.regressor import ParityReductionRegressor

__all__ = ["ParityReductionRegressor"]
