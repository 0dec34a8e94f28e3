"""Predictions on disk: whole files, found by what they depend on."""

from evenhand.benchmark.store.predictions import Predictions
from evenhand.benchmark.store.store import Entry, Store, Truth

__all__ = ["Entry", "Predictions", "Store", "Truth"]
