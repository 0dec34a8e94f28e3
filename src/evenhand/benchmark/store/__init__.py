"""Predictions on disk: whole files, found by what they depend on."""

from evenhand.benchmark.store.store import Store, Truth

__all__ = ["Store", "Truth"]
