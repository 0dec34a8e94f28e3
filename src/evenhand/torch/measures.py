"""Measures of inequality with gradients; entries that are NaN are groups that were not observed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import torch
from evenhand._errors import InputError
from evenhand.measures import Measure, MeasureLike, resolve
from torch import Tensor

TensorMeasure = Callable[..., Tensor]


def mpd(values: Tensor) -> Tensor:
    """The largest difference; its gradient is that of the two groups."""
    seen = ~values.isnan()
    return _defined(_range(torch.where(seen, values, 0.0), seen)[0], seen)


def shortfall(values: Tensor) -> Tensor:
    """By what share the lowest falls short of the highest."""
    known, _, seen = _scaled(values)
    gap, high = _range(known, seen)
    return _defined(gap / _positive(high), seen)


def gini(values: Tensor) -> Tensor:
    """Half the mean absolute difference over the mean."""
    known, _, seen = _scaled(values)
    number = seen.sum(-1)
    ordered = torch.where(seen, known, torch.inf).sort(-1).values
    ordered = torch.where(ordered.isinf(), 0.0, ordered)
    ranks = 2.0 * torch.arange(values.shape[-1], device=values.device, dtype=values.dtype) + 1
    spread = (ordered * (ranks - number[..., None])).sum(-1)
    return _defined(spread / _positive(number * known.sum(-1)), seen)


def squared_variation(values: Tensor, variances: Tensor | None = None) -> Tensor:
    """The squared coefficient of variation, less what noise of these variances adds to it."""
    known, scale, seen = _scaled(values)
    number = seen.sum(-1).clamp_min(1)
    mean = known.sum(-1) / number
    spread = (torch.where(seen, known - mean[..., None], 0.0) ** 2).sum(-1) / number
    level = mean**2
    if variances is not None:
        noise = (torch.where(seen, variances, 0.0) / scale / scale).sum(-1) / number
        spread = spread - noise * (1 - 1 / number)
        level = (level - noise / number).clamp_min(level / 2)
    return _defined(spread / _positive(level), seen)


def cv(values: Tensor, variances: Tensor | None = None) -> Tensor:
    """The coefficient of variation; less noise it may be negative.

    Less noise its square passes through 0, where the root is infinitely steep; there it is as steep
    as 1 / ROUNDED at most.
    """
    square = squared_variation(values, variances)
    if variances is not None:
        return square / (square.abs() + ROUNDED**2).sqrt()
    tiny = torch.finfo(values.dtype).tiny
    return torch.sign(square) * torch.sqrt(square.abs() + tiny)


def pq(
    values: Tensor, variances: Tensor | None = None, *, p: float = 1.0, q: float = 2.0
) -> Tensor:
    """The PQ index: 1 − 1/√(1 + cv²), which goes on as cv²/2 where less noise it is negative."""
    if (p, q) == (1.0, 2.0):
        square = squared_variation(values, variances)
        index = -torch.expm1(-0.5 * torch.log1p(square.clamp_min(0)))
        return torch.where(square > 0, index, square / 2)
    known, _, seen = _scaled(values)
    above = known > torch.finfo(values.dtype).tiny  # powers of 0 have no gradient
    number = seen.sum(-1).clamp_min(1)
    some = above.any(-1)

    def power_mean(order: float) -> Tensor:
        powers = torch.where(above, torch.where(above, known, 1.0) ** order, 0.0)
        return torch.where(some, powers.sum(-1) / number, 1.0) ** (1 / order)

    return _defined(1 - power_mean(p) / power_mean(q), seen)


ROUNDED = 0.01  # a coefficient of variation that is small
ONLY_HERE: dict[str, TensorMeasure] = {"cv": cv, "cv²": squared_variation}


def measure_of(
    measure: MeasureLike, p: float | None = None, q: float | None = None
) -> tuple[TensorMeasure, str, bool]:
    """A measure of tensors, its name, and whether noise can be subtracted from it.

    One that reads no summary known here is computed on the CPU, with its own gradient.
    """
    if isinstance(measure, str) and measure in ONLY_HERE:
        return ONLY_HERE[measure], measure, True
    given = resolve(measure, p, q)
    if given.falls:
        raise InputError(
            f"A loss does not reward inequality, and {given.name!r} falls with it: pass "
            f"{given.computed.name!r}."
        )
    if given.reads == "powers":
        if not 0 < given.orders[0] < given.orders[1]:
            raise InputError(f"PQ needs 0 < p < q; it got p={p}, q={q}.")
        return partial(pq, p=given.orders[0], q=given.orders[1]), given.name, given.is_solved
    if given.reads == "ranks":
        return gini, given.name, False
    if given.reads == "extremes" and given.band is not None:
        return (shortfall if given.is_relative else mpd), given.name, False
    if given.slope is None:
        raise InputError(
            f"{given.name!r} has no gradient to train by: pass "
            "evenhand.measures.Measure(function, slope=gradient)."
        )
    return partial(_Given.apply, given), given.name, False


class _Given(torch.autograd.Function):
    """A measure of one's own, which brings its gradient."""

    @staticmethod
    def forward(ctx: Any, measure: Measure, values: Tensor) -> Tensor:
        table = values.detach().cpu().double().numpy()
        slopes = np.zeros_like(table)
        index = np.full(table.shape[:-1], np.nan)
        for place in np.ndindex(index.shape):
            seen = ~np.isnan(table[place])
            if seen.sum() >= 2:
                index[place] = measure(table[place][seen])
                slopes[place][seen] = measure.gradient(table[place][seen])
        ctx.save_for_backward(torch.as_tensor(slopes).to(values))
        return torch.as_tensor(index).to(values)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[None, Tensor]:
        (slopes,) = ctx.saved_tensors
        return None, torch.nan_to_num(upstream[0])[..., None] * slopes


def _scaled(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Values over the largest (0 where none was observed), the largest, and where one was.

    What is measured does not depend on the scale, and squares of small rates would vanish. What is
    undefined is taken out before anything is computed of it: its gradient times 0 would be NaN.
    """
    seen = ~values.isnan()
    largest = torch.where(seen, values.detach(), 0.0).abs().amax(-1, keepdim=True)
    some = largest > torch.finfo(values.dtype).tiny ** 0.5
    scale = torch.where(some, largest, 1.0)
    return torch.where(seen & some, values, 0.0) / scale, scale, seen


def _range(known: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """The largest less the least, and the largest; 0 where none was observed."""
    low = torch.where(seen, known, torch.inf).amin(-1)
    high = torch.where(seen, known, -torch.inf).amax(-1)
    some = seen.any(-1)
    low, high = (torch.where(some, end, 0.0) for end in (low, high))
    return high - low, high


def _positive(scaled: Tensor) -> Tensor:
    """At least what a sum of scaled values can tell from 0: only means of both signs are less."""
    return scaled.clamp_min(torch.finfo(scaled.dtype).eps)


def _defined(index: Tensor, seen: Tensor) -> Tensor:
    """NaN where fewer than two groups were observed."""
    return torch.where(seen.sum(-1) >= 2, index, torch.nan)
