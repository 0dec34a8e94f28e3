"""Penalties of a few rows in many groups: a finite value and finite gradients, or a refusal."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import evenhand as eh

CRITERIA = [
    *("statistical_parity", "equal_opportunity", "predictive_equality", "equalized_odds"),
    *("predictive_parity", "accuracy_parity", "error_parity", "weak_parity", "strong_parity"),
    "wasserstein_parity",
]
MEASURES = ("pq", "cv", "cv²", "gini", "mpd", "shortfall")
NOISE = ("subtract", "memory", None)
ASKED = list(product(CRITERIA, MEASURES, NOISE))


def attack(seed: int) -> None:
    """Every criterion, measure and noise in turn; groups, batches and probabilities are drawn."""
    import torch

    rng = np.random.default_rng([6, seed])
    criterion, measure, noise = ASKED[seed % len(ASKED)]
    groups = int(rng.choice([2, 3, 10, 100]))
    aggregate = str(rng.choice(["mean", "worst"]))
    options: dict[str, Any] = {"groups": groups, "noise": noise, "aggregate": aggregate}
    try:
        penalty = eh_torch().Penalty(criterion, measure, **options)
    except eh.EvenhandError:
        assert noise == "subtract"
        return
    rows = int(rng.choice([1, 2, 4, 12, 64, 1024]))
    classes = int(rng.choice([1, 1, 3]))
    for _ in range(3):
        drawn = rng.choice([0.0, 0.3, 0.5, 1.0], (rows, classes))
        chances = torch.tensor(drawn if rng.random() < 0.2 else rng.random((rows, classes)))
        chances = (
            (chances / chances.sum(1, keepdim=True).clamp_min(1e-9)) if classes > 1 else chances
        )
        chances = chances.squeeze(1) if classes == 1 or criterion in CRITERIA[-3:] else chances
        if chances.ndim == 2 and criterion in CRITERIA[-3:]:
            chances = chances[:, 0]
        chances = chances.clone().requires_grad_()
        truth = torch.tensor(rng.integers(0, max(classes, 2), rows) * int(rng.random() < 0.8))
        group = torch.tensor(rng.integers(-1 if rng.random() < 0.3 else 0, groups, rows))
        weight = None if rng.random() < 0.7 else torch.tensor(rng.choice([0.0, 1.0, 2.5], rows))
        try:
            value = penalty(chances, truth, group=group, sample_weight=weight)
        except eh.EvenhandError:
            continue
        assert torch.isfinite(value), (criterion, measure, noise, groups, rows, value)
        if value.requires_grad:
            (slope,) = torch.autograd.grad(value, chances)
            assert torch.isfinite(slope).all(), (criterion, measure, noise, groups, rows)


def eh_torch() -> Any:
    import evenhand.torch

    return evenhand.torch
