"""Measures of inequality with gradients; NaN entries are groups that were not observed."""

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
    """The largest difference, with the gradient of its two groups."""
    observed = ~values.isnan()
    return _defined(_range(torch.where(observed, values, 0.0), observed)[0], observed)


def shortfall(values: Tensor) -> Tensor:
    """The relative shortfall of the lowest from the highest."""
    scaled, _, observed = _scaled(values)
    gap, high = _range(scaled, observed)
    return _defined(gap / _positive(high), observed)


def gini(values: Tensor) -> Tensor:
    """Half the mean absolute difference over the mean."""
    scaled, _, observed = _scaled(values)
    number = observed.sum(-1)
    ordered = torch.where(observed, scaled, torch.inf).sort(-1).values
    ordered = torch.where(ordered.isinf(), 0.0, ordered)
    ranks = 2.0 * torch.arange(values.shape[-1], device=values.device, dtype=values.dtype) + 1
    spread = (ordered * (ranks - number[..., None])).sum(-1)
    return _defined(spread / _positive(number * scaled.sum(-1)), observed)


def squared_variation(values: Tensor, variances: Tensor | None = None) -> Tensor:
    """The squared coefficient of variation, less the contribution of noise of these variances."""
    scaled, scale, observed = _scaled(values)
    number = observed.sum(-1).clamp_min(1)
    mean = scaled.sum(-1) / number
    spread = (torch.where(observed, scaled - mean[..., None], 0.0) ** 2).sum(-1) / number
    level = mean**2
    if variances is not None:
        noise = (torch.where(observed, variances, 0.0) / scale / scale).sum(-1) / number
        spread = spread - noise * (1 - 1 / number)
        level = (level - noise / number).clamp_min(level / 2)
    return _defined(spread / _positive(level), observed)


def cv(values: Tensor, variances: Tensor | None = None) -> Tensor:
    """The coefficient of variation, which may be negative after subtracting noise.

    After subtraction its square passes through 0, where the root is infinitely steep; there its
    slope is limited to 1 / ROUNDED.
    """
    square = squared_variation(values, variances)
    if variances is not None:
        return square / (square.abs() + ROUNDED**2).sqrt()
    tiny = torch.finfo(values.dtype).tiny
    return torch.sign(square) * torch.sqrt(square.abs() + tiny)


def pq(
    values: Tensor, variances: Tensor | None = None, *, p: float = 1.0, q: float = 2.0
) -> Tensor:
    """The PQ index 1 − 1/√(1 + cv²), continued as cv²/2 where cv² less noise is negative."""
    if (p, q) == (1.0, 2.0):
        square = squared_variation(values, variances)
        index = -torch.expm1(-0.5 * torch.log1p(square.clamp_min(0)))
        return torch.where(square > 0, index, square / 2)
    scaled, _, observed = _scaled(values)
    above = scaled > torch.finfo(values.dtype).tiny  # powers of 0 have no gradient
    number = observed.sum(-1).clamp_min(1)
    some = above.any(-1)

    def power_mean(order: float) -> Tensor:
        powers = torch.where(above, torch.where(above, scaled, 1.0) ** order, 0.0)
        return torch.where(some, powers.sum(-1) / number, 1.0) ** (1 / order)

    return _defined(1 - power_mean(p) / power_mean(q), observed)


ROUNDED = 0.01  # a small coefficient of variation
TENSOR_ONLY: dict[str, TensorMeasure] = {"cv": cv, "cv²": squared_variation}


def measure_of(
    measure: MeasureLike, p: float | None = None, q: float | None = None
) -> tuple[TensorMeasure, str, bool]:
    """A measure of tensors, its name, and whether noise can be subtracted from it.

    Other measures are computed on the CPU, with their own gradient.
    """
    if isinstance(measure, str) and measure in TENSOR_ONLY:
        return TENSOR_ONLY[measure], measure, True
    resolved = resolve(measure, p, q)
    if resolved.falls:
        raise InputError(
            f"A loss does not reward inequality, and {resolved.name!r} falls with it: pass "
            f"{resolved.computed.name!r}."
        )
    if resolved.reads == "powers":
        if not 0 < resolved.orders[0] < resolved.orders[1]:
            raise InputError(f"PQ needs 0 < p < q; it got p={p}, q={q}.")
        return (
            partial(pq, p=resolved.orders[0], q=resolved.orders[1]),
            resolved.name,
            resolved.is_solved,
        )
    if resolved.reads == "ranks":
        return gini, resolved.name, False
    if resolved.reads == "extremes" and resolved.band is not None:
        return (shortfall if resolved.is_relative else mpd), resolved.name, False
    if resolved.slope is None:
        raise InputError(
            f"{resolved.name!r} has no gradient to train by: pass "
            "evenhand.measures.Measure(function, slope=gradient)."
        )
    return partial(_OwnMeasure.apply, resolved), resolved.name, False


class _OwnMeasure(torch.autograd.Function):
    """A user's measure with its gradient."""

    @staticmethod
    def forward(ctx: Any, measure: Measure, values: Tensor) -> Tensor:
        table = values.detach().cpu().double().numpy()
        slopes = np.zeros_like(table)
        index = np.full(table.shape[:-1], np.nan)
        for place in np.ndindex(index.shape):
            observed = ~np.isnan(table[place])
            if observed.sum() >= 2:
                index[place] = measure(table[place][observed])
                slopes[place][observed] = measure.gradient(table[place][observed])
        ctx.save_for_backward(torch.as_tensor(slopes).to(values))
        return torch.as_tensor(index).to(values)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[None, Tensor]:
        (slopes,) = ctx.saved_tensors
        return None, torch.nan_to_num(upstream[0])[..., None] * slopes


def _scaled(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Values over the largest (0 where unobserved), the largest, and a mask of those observed.

    The measures are invariant to scale, and squares of small rates would underflow. Undefined
    values are replaced before any computation, because their gradient times 0 would be NaN.
    """
    observed = ~values.isnan()
    largest = torch.where(observed, values.detach(), 0.0).abs().amax(-1, keepdim=True)
    some = largest > torch.finfo(values.dtype).tiny ** 0.5
    scale = torch.where(some, largest, 1.0)
    return torch.where(observed & some, values, 0.0) / scale, scale, observed


def _range(values: Tensor, observed: Tensor) -> tuple[Tensor, Tensor]:
    """The range and the largest value; 0 where none was observed."""
    low = torch.where(observed, values, torch.inf).amin(-1)
    high = torch.where(observed, values, -torch.inf).amax(-1)
    some = observed.any(-1)
    low, high = (torch.where(some, end, 0.0) for end in (low, high))
    return high - low, high


def _positive(scaled: Tensor) -> Tensor:
    """Values of at least the rounding error of a sum; only means of mixed signs are smaller."""
    return scaled.clamp_min(torch.finfo(scaled.dtype).eps)


def _defined(index: Tensor, observed: Tensor) -> Tensor:
    """NaN where fewer than two groups were observed."""
    return torch.where(observed.sum(-1) >= 2, index, torch.nan)
