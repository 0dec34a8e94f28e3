"""Predictions that others made, checked and scored here, and a page of who leads where."""
