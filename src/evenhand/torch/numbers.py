"""Predicted numbers: means and losses by group, and soft distribution functions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from evenhand._errors import InputError
from evenhand.torch.inputs import TensorRows
from torch import Tensor

Gather = Callable[[Tensor], Tensor]  # the sums of all processes and past batches, from ours

CUTS = 32  # cut points at which distributions are compared
SOFTNESS = 0.1  # of a cut, in standard deviations


NUMBERS = ("yhat", "error", "squared_error", "absolute_error")  # whose means can be compared


def values_of(of: str, rows: TensorRows) -> Tensor:
    """What a mean is of, row by row."""
    if of == "yhat":
        return rows.predictions
    if rows.y_true is None:
        raise InputError("This criterion needs the true values: pass y_true.")
    error = rows.predictions - rows.y_true
    if of == "error":
        return error
    return error**2 if of == "squared_error" else error.abs()


def means(values: Tensor, rows: TensorRows, groups: int, gather: Gather) -> tuple[Tensor, Tensor]:
    """The mean of values by group (1, groups), and its weight."""
    parts = [rows.weight * values, rows.weight, rows.counted]
    cells = gather(_scattered(torch.stack(parts, dim=1), rows, groups))
    seen = cells[:, 1] > 0
    mean = torch.where(seen, cells[:, 0] / torch.where(seen, cells[:, 1], 1.0), torch.nan)
    return mean[None], cells[:, 1]


def mean_variances(
    values: Tensor, rows: TensorRows, mean: Tensor, weight: Tensor, gather: Gather
) -> Tensor:
    """The sampling variance of means by group (1, groups); NaN of a single row.

    Of deviations, not of squares, whose difference is lost where the mean is far from 0.
    """
    seen = weight > 0
    share = rows.weight / torch.where(seen, weight, 1.0)[rows.group]
    deviation = values - torch.where(seen, mean[0], 0.0)[rows.group]
    parts = torch.stack([(share * deviation) ** 2, rows.counted], dim=1)
    residual, number = gather(_scattered(parts, rows, len(weight))).T
    enough = seen & (number > 1)
    free = number / torch.where(enough, number - 1, 1.0)
    return torch.where(enough, free * residual, torch.nan)[None]


def cumulative(
    values: Tensor, rows: TensorRows, groups: int, gather: Gather, softness: float | None
) -> Tensor:
    """Soft distribution functions (cuts, groups) at quantiles of the batch."""
    counted = rows.counted > 0
    known = torch.where(counted, values.detach(), torch.nan)[: 1 << 20]  # a shape that is known
    levels = torch.linspace(0, 1, CUTS + 2, device=values.device, dtype=values.dtype)[1:-1]
    if len(known):
        cuts = torch.nanquantile(known, levels).nan_to_num(0.0)
        deviation = (known - known.nanmean()).square().nanmean().sqrt()
        size = torch.where(counted, values.detach(), 0.0).abs().amax()
        # predictions that are all alike have no width to measure a cut by
        width = torch.where(deviation > torch.finfo(values.dtype).eps * size, deviation, 1.0)
    else:
        cuts, width = torch.zeros_like(levels), levels.new_ones(())
    below = torch.sigmoid((cuts - values[:, None]) / ((softness or SOFTNESS) * width))
    weight = rows.weight[:, None]
    cells = gather(_scattered(torch.cat([weight * below, weight], dim=1), rows, groups))
    seen = cells[:, -1:] > 0
    return torch.where(seen, cells[:, :-1] / torch.where(seen, cells[:, -1:], 1.0), torch.nan).T


def _scattered(parts: Tensor, rows: TensorRows, groups: int) -> Tensor:
    return parts.new_zeros((groups, parts.shape[1])).index_add(0, rows.group, parts)
