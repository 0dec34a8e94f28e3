"""Regression by optimal transport of predictions on a line, under parity constraints."""

from evenhand.mitigation.transport.parity_constrained import ParityConstrainedRegressor
from evenhand.mitigation.transport.transport_regressor import TransportRegressor

__all__ = ["ParityConstrainedRegressor", "TransportRegressor"]
