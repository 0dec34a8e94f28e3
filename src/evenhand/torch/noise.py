"""How much a statistic varies because few rows of a group are in a batch.

A value is a quotient v = Σ wᵢ aᵢ / Σ wᵢ bᵢ, in which row i has aᵢ above the line and bᵢ below it.
Its sampling variance is Σ wᵢ² (aᵢ − v bᵢ)² / (Σ wᵢ bᵢ)² × n / (n − 1), which for the mean of n rows
of weight 1 is the usual s²/n, unbiased. A statistic knows these sums, as its `noise`.
"""

from __future__ import annotations

from typing import Any

import torch
from evenhand.statistics import Statistic
from evenhand.torch.soft_tally import SoftTally
from torch import Tensor


def variances(statistic: Statistic, counts: SoftTally, values: Tensor) -> Tensor:
    """The sampling variance of every value (cells, groups); NaN of a single row."""
    if statistic.parts:  # of different rows
        source: Any = counts  # read as a tally
        read: list[Any] = [part.read(source).values for part in statistic.parts]
        each = [
            variances(part, counts, table)
            for part, table in zip(statistic.parts, read, strict=True)
        ]
        return sum(each[1:], each[0]) / len(each) ** 2
    values, known = _known(values)
    return _spread(*statistic.noise(counts, values), known)


def _known(values: Tensor) -> tuple[Tensor, Tensor]:
    """Values with 0 for NaN, and where they are known.

    A gradient of 0 times NaN is NaN, so what is undefined may not enter a sum, even to be dropped.
    """
    known = ~values.isnan()
    return torch.where(known, values, 0.0), known


def _spread(residual: Tensor, total: Tensor, rows: Tensor, known: Tensor) -> Tensor:
    enough = known & (rows > 1)
    free = rows / torch.where(enough, rows - 1, 1.0)
    varied = free * residual.clamp_min(0) / torch.where(enough, total, 1.0) ** 2
    return torch.where(enough, varied, torch.nan)
