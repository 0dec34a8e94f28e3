"""The paper's experiments, run again: its design, its claims, its figures and tables."""
