"""How much a statistic varies because few rows of a group are in a batch.

A value is a quotient v = Σ wᵢ aᵢ / Σ wᵢ bᵢ, in which row i has aᵢ above the line and bᵢ below it.
Its sampling variance is Σ wᵢ² (aᵢ − v bᵢ)² / (Σ wᵢ bᵢ)² × n / (n − 1), which for the mean of n rows
of weight 1 is the usual s²/n, unbiased. A prediction is a share s of a class, and aᵢ − v bᵢ is
A s + B with A and B by the true label, so sums of s², s and 1 by cell are enough.
"""

from __future__ import annotations

from typing import Any

import torch
from evenhand._errors import InputError
from evenhand.statistics import Average, P, Ratio
from evenhand.torch.soft_tally import SoftTally
from torch import Tensor


def variances(statistic: Any, counts: SoftTally, values: Tensor) -> Tensor:
    """The sampling variance of every value (cells, groups); NaN of a single row."""
    if isinstance(statistic, P):
        return _of_shares(statistic, counts, *_known(values))
    if isinstance(statistic, Ratio):
        return _of_ratio(statistic, counts, *_known(values))
    if isinstance(statistic, Average):
        parts = (statistic.first, statistic.second)
        source: Any = counts  # read as a tally
        read: list[Any] = [part.read(source).values for part in parts]
        each = [
            _of_ratio(part, counts, *_known(table)) for part, table in zip(parts, read, strict=True)
        ]
        return (each[0] + each[1]) / 4  # of different rows
    raise InputError(
        f"Noise of {statistic.formula} cannot be subtracted; use noise='memory', which works for "
        "every statistic."
    )


def _known(values: Tensor) -> tuple[Tensor, Tensor]:
    """Values with 0 for NaN, and where they are known.

    A gradient of 0 times NaN is NaN, so what is undefined may not enter a sum, even to be dropped.
    """
    known = ~values.isnan()
    return torch.where(known, values, 0.0), known


def _of_shares(statistic: P, counts: SoftTally, values: Tensor, known: Tensor) -> Tensor:
    given = [statistic.given] if statistic.given else []
    square, single = (
        counts.table(*given, "yhat", "group", of=of) for of in ("share² weight²", "share weight²")
    )
    heavy, total, rows = (
        counts.table(*given, "group", of=of)[..., None, :] for of in ("weight²", "total", "rows")
    )
    rate = values.reshape(square.shape)
    residual = square - 2 * rate * single + rate**2 * heavy
    return _spread(residual, total, rows, known.reshape(rate.shape)).reshape(values.shape)


def _of_ratio(statistic: Ratio, counts: SoftTally, values: Tensor, known: Tensor) -> Tensor:
    """Of every class (classes, groups), or of all at once (1, groups)."""
    above, below = statistic.numerator, statistic.denominator

    def moved(name: str) -> Tensor:
        return above.get(name, 0.0) - values * below.get(name, 0.0)

    square, single = (
        counts.table("y", "yhat", "group", of=of) for of in ("share² weight²", "share weight²")
    )
    heavy = counts.table("y", "group", of="weight²")
    rows, total = counts.table("y", "group", of="rows"), counts.table("y", "group", of="total")
    own_square, own_single = (table.diagonal(0, 0, 1).T for table in (square, single))
    if not statistic.over:
        slope, level = moved("correct") - moved("wrong"), moved("wrong") + moved("all")
        parts = (slope**2 * own_square, 2 * slope * level * own_single, level**2 * heavy)
        residual = sum(parts[1:], parts[0]).sum(0, keepdim=True)
        return _spread(residual, total.sum(0), rows.sum(0), known)
    residual, denominator, counted = (torch.zeros_like(values) for _ in range(3))
    outcomes = counts.table("y", "yhat", "group")
    for is_own, (hit, miss) in ((True, ("tp", "fn")), (False, ("fp", "tn"))):

        def of_class(own: Tensor, every: Tensor, is_own: bool = is_own) -> Tensor:
            return own if is_own else every.sum(0) - own

        slope, level = moved(hit) - moved(miss), moved(miss)
        weights = of_class(heavy, heavy.expand(len(values), *heavy.shape).transpose(0, 1))
        residual = residual + slope**2 * of_class(own_square, square)
        residual = residual + 2 * slope * level * of_class(own_single, single)
        residual = residual + level**2 * weights
        shares = of_class(outcomes.diagonal(0, 0, 1).T, outcomes)
        every = of_class(total, total.expand(len(values), *total.shape).transpose(0, 1))
        parts_below = below.get(hit, 0.0) * shares + below.get(miss, 0.0) * (every - shares)
        denominator = denominator + parts_below
        if below.get(hit, 0.0) or below.get(miss, 0.0):
            number = rows.expand(len(values), *rows.shape).transpose(0, 1)
            counted = counted + of_class(rows, number)
    return _spread(residual, denominator, counted, known)


def _spread(residual: Tensor, total: Tensor, rows: Tensor, known: Tensor) -> Tensor:
    enough = known & (rows > 1)
    free = rows / torch.where(enough, rows - 1, 1.0)
    varied = free * residual.clamp_min(0) / torch.where(enough, total, 1.0) ** 2
    return torch.where(enough, varied, torch.nan)
