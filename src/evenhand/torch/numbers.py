"""Predicted numbers: means and losses by group, and soft distribution functions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from evenhand._errors import InputError
from evenhand.torch.inputs import TensorRows
from torch import Tensor

Gather = Callable[[Tensor], Tensor]  # adds the sums of other processes and past batches

CUTS = 32  # cut points at which distributions are compared
SOFTNESS = 0.1  # of a cut, in standard deviations


NUMBERS = ("yhat", "error", "squared_error", "absolute_error")  # means of these can be compared


def values_of(name: str, rows: TensorRows) -> Tensor:
    """The values of each row whose mean is compared."""
    if name == "yhat":
        return rows.predictions
    if rows.y_true is None:
        raise InputError("This criterion needs the true values: pass y_true.")
    error = rows.predictions - rows.y_true
    if name == "error":
        return error
    return error**2 if name == "squared_error" else error.abs()


def means(values: Tensor, rows: TensorRows, groups: int, gather: Gather) -> tuple[Tensor, Tensor]:
    """The mean of values by group (1, groups), and its weight."""
    parts = [rows.weight * values, rows.weight, rows.counted]
    cells = gather(_scattered(torch.stack(parts, dim=1), rows, groups))
    present = cells[:, 1] > 0
    mean = torch.where(present, cells[:, 0] / torch.where(present, cells[:, 1], 1.0), torch.nan)
    return mean[None], cells[:, 1]


def mean_variances(
    values: Tensor, rows: TensorRows, mean: Tensor, weight: Tensor, gather: Gather
) -> Tensor:
    """The sampling variance of means by group (1, groups); NaN for a single row.

    Computed from deviations, since a difference of squares loses precision for large means.
    """
    present = weight > 0
    share = rows.weight / torch.where(present, weight, 1.0)[rows.group]
    deviation = values - torch.where(present, mean[0], 0.0)[rows.group]
    parts = torch.stack([(share * deviation) ** 2, rows.counted], dim=1)
    residual, number = gather(_scattered(parts, rows, len(weight))).T
    enough = present & (number > 1)
    free = number / torch.where(enough, number - 1, 1.0)
    return torch.where(enough, free * residual, torch.nan)[None]


def cumulative(
    values: Tensor, rows: TensorRows, groups: int, gather: Gather, softness: float | None
) -> Tensor:
    """Soft distribution functions (cuts, groups) at quantiles of the batch."""
    counted = rows.counted > 0
    observed = torch.where(counted, values.detach(), torch.nan)[: 1 << 20]  # a static shape
    levels = torch.linspace(0, 1, CUTS + 2, device=values.device, dtype=values.dtype)[1:-1]
    if len(observed):
        cuts = torch.nanquantile(observed, levels).nan_to_num(0.0)
        deviation = (observed - observed.nanmean()).square().nanmean().sqrt()
        size = torch.where(counted, values.detach(), 0.0).abs().amax()
        # equal predictions have no standard deviation to scale a cut by
        width = torch.where(deviation > torch.finfo(values.dtype).eps * size, deviation, 1.0)
    else:
        cuts, width = torch.zeros_like(levels), levels.new_ones(())
    below = torch.sigmoid((cuts - values[:, None]) / ((softness or SOFTNESS) * width))
    weight = rows.weight[:, None]
    cells = gather(_scattered(torch.cat([weight * below, weight], dim=1), rows, groups))
    present = cells[:, -1:] > 0
    return torch.where(
        present, cells[:, :-1] / torch.where(present, cells[:, -1:], 1.0), torch.nan
    ).T


def _scattered(parts: Tensor, rows: TensorRows, groups: int) -> Tensor:
    return parts.new_zeros((groups, parts.shape[1])).index_add(0, rows.group, parts)
