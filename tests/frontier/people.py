"""Rows with scores, for frontiers."""

import numpy as np


def people(rows=600, groups=3, classes=2, seed=0, shift=0.8):
    """Truth, scores, groups: uneven groups whose scores differ."""
    random = np.random.default_rng(seed)
    share = np.arange(1, groups + 1) ** 1.5
    group = random.choice(groups, rows, p=share / share.sum())
    group[:groups] = np.arange(groups)
    if classes == 2:
        lean = random.normal(size=rows) + shift * np.linspace(-1, 1, groups)[group]
        score = 1 / (1 + np.exp(-lean))
        y = (random.random(rows) < score).astype(int)
        return y, score, np.array([f"g{a}" for a in range(groups)])[group]
    lean = (
        random.normal(size=(rows, classes)) + shift * random.normal(size=(groups, classes))[group]
    )
    score = np.exp(lean) / np.exp(lean).sum(axis=1, keepdims=True)
    y = (random.random(rows)[:, None] > score.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, score, np.array([f"g{a}" for a in range(groups)])[group]
