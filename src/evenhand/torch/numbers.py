"""Predicted numbers: means and losses by group, and soft distribution functions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from evenhand._errors import InputError
from torch import Tensor

Gather = Callable[[Tensor], Tensor]  # the sums of all processes and past batches, from ours

CUTS = 32  # cut points at which distributions are compared
SOFTNESS = 0.1  # of a cut, in standard deviations


def values_of(of: str, predictions: Tensor, y_true: Tensor | None) -> Tensor:
    """What a mean is of, row by row."""
    if of == "yhat":
        return predictions
    if y_true is None:
        raise InputError("This criterion needs the true values: pass y_true.")
    error = predictions - y_true.to(predictions)
    if of == "squared_error":
        return error**2
    if of == "absolute_error":
        return error.abs()
    raise InputError(f"The sum {of!r} is not made of single predictions here.")


def means(
    values: Tensor, group: Tensor, groups: int, sample_weight: Tensor | None, gather: Gather
) -> tuple[Tensor, Tensor]:
    """The mean of values by group (1, groups), and its sampling variance; NaN of a single row."""
    weight = torch.ones_like(values) if sample_weight is None else sample_weight.to(values)
    ones = torch.ones_like(values)
    parts = [weight * values, (weight * values) ** 2, weight**2 * values, weight**2, weight, ones]
    cells = gather(_scattered(torch.stack(parts, dim=1), group, groups))
    total, square, single, heavy, weights, rows = cells.T
    seen = weights > 0
    mean = torch.where(seen, total / torch.where(seen, weights, 1.0), torch.nan)
    enough = rows > 1
    free = rows / torch.where(enough, rows - 1, 1.0)
    known = torch.where(seen, mean, 0.0)
    residual = square - 2 * known * single + known**2 * heavy
    spread = free * residual.clamp_min(0) / torch.where(seen, weights, 1.0) ** 2
    return mean[None], torch.where(enough, spread, torch.nan)[None]


def cumulative(
    values: Tensor,
    group: Tensor,
    groups: int,
    sample_weight: Tensor | None,
    gather: Gather,
    softness: float | None,
) -> Tensor:
    """Soft distribution functions (cuts, groups) at quantiles of the batch."""
    known = torch.where(group >= 0, values.detach(), torch.nan)[: 1 << 20]  # a shape that is known
    levels = torch.linspace(0, 1, CUTS + 2, device=values.device, dtype=values.dtype)[1:-1]
    cuts = torch.nanquantile(known, levels)
    deviation = (known - known.nanmean()).square().nanmean().sqrt()
    width = (softness or SOFTNESS) * deviation.clamp_min(1e-12)
    below = torch.sigmoid((cuts - values[:, None]) / width)
    weight = torch.ones_like(values) if sample_weight is None else sample_weight.to(values)
    parts = torch.cat([weight[:, None] * below, weight[:, None]], dim=1)
    cells = gather(_scattered(parts, group, groups))
    seen = cells[:, -1:] > 0
    return torch.where(seen, cells[:, :-1] / torch.where(seen, cells[:, -1:], 1.0), torch.nan).T


def _scattered(parts: Tensor, group: Tensor, groups: int) -> Tensor:
    known = group >= 0
    empty = parts.new_zeros((groups, parts.shape[1]))
    return empty.index_add(0, torch.where(known, group, 0), parts * known[:, None])
