"""Sampling variances of a statistic in batches with few rows of a group.

A value is a quotient v = Σ wᵢ aᵢ / Σ wᵢ bᵢ, with aᵢ and bᵢ the contributions of row i to numerator
and denominator. Its sampling variance is Σ wᵢ² (aᵢ − v bᵢ)² / (Σ wᵢ bᵢ)² × n / (n − 1), which for
the mean of n rows of weight 1 is the usual unbiased s²/n. A statistic's `noise` has these sums.
"""

from __future__ import annotations

from typing import Any

import torch
from evenhand.statistics import Statistic
from evenhand.torch.soft_tally import SoftTally
from torch import Tensor


def variances(statistic: Statistic, counts: SoftTally, values: Tensor) -> Tensor:
    """The sampling variance of every value (cells, groups); NaN for a single row."""
    if statistic.parts:  # of different rows
        source: Any = counts  # read as a tally
        read: list[Any] = [part.read(source).values for part in statistic.parts]
        parts = [
            variances(part, counts, table)
            for part, table in zip(statistic.parts, read, strict=True)
        ]
        return sum(parts[1:], parts[0]) / len(parts) ** 2
    values, defined = _with_zeros(values)
    return _spread(*statistic.noise(counts, values), defined)


def _with_zeros(values: Tensor) -> tuple[Tensor, Tensor]:
    """Values with 0 for NaN, and a mask of the defined ones.

    A gradient of 0 times NaN is NaN, so undefined values must not enter a sum.
    """
    defined = ~values.isnan()
    return torch.where(defined, values, 0.0), defined


def _spread(residual: Tensor, total: Tensor, rows: Tensor, defined: Tensor) -> Tensor:
    enough = defined & (rows > 1)
    free = rows / torch.where(enough, rows - 1, 1.0)
    varied = free * residual.clamp_min(0) / torch.where(enough, total, 1.0) ** 2
    return torch.where(enough, varied, torch.nan)
