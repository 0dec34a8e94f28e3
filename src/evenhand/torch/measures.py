"""Measures of inequality with gradients; entries that are NaN are groups that were not observed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from evenhand._errors import InputError
from evenhand._words import did_you_mean
from torch import Tensor

Measure = Callable[[Tensor], Tensor]


def mpd(values: Tensor) -> Tensor:
    """The largest difference; its gradient is that of the two groups."""
    low, high, seen = _extremes(values)
    return _defined(high - low, seen)


def shortfall(values: Tensor) -> Tensor:
    """By what share the lowest falls short of the highest."""
    low, high, seen = _extremes(values)
    return _defined((high - low) / _nonzero(high), seen)


def gini(values: Tensor) -> Tensor:
    """Half the mean absolute difference over the mean."""
    seen = ~values.isnan()
    number = seen.sum(-1)
    known = torch.where(seen, values, 0.0)
    ordered = torch.where(seen, values, torch.inf).sort(-1).values
    ordered = torch.where(ordered.isinf(), 0.0, ordered)
    ranks = 2.0 * torch.arange(values.shape[-1], device=values.device, dtype=values.dtype) + 1
    spread = (ordered * (ranks - number[..., None])).sum(-1)
    return _defined(spread / _nonzero(number * known.sum(-1)), seen)


def squared_variation(values: Tensor, variances: Tensor | None = None) -> Tensor:
    """The squared coefficient of variation, less what noise of these variances adds to it."""
    seen = ~values.isnan()
    number = _nonzero(seen.sum(-1))
    known = torch.where(seen, values, 0.0)
    mean = known.sum(-1) / number
    spread = (torch.where(seen, values - mean[..., None], 0.0) ** 2).sum(-1) / number
    level = mean**2
    if variances is not None:
        noise = torch.where(seen, variances, 0.0).sum(-1) / number
        spread = spread - noise * (1 - 1 / number)
        level = (level - noise / number).clamp_min(level / 2)
    return _defined(spread / _nonzero(level), seen)


def cv(values: Tensor, variances: Tensor | None = None) -> Tensor:
    """The coefficient of variation; less noise it may be negative."""
    square = squared_variation(values, variances)
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
    seen = ~values.isnan()
    number = _nonzero(seen.sum(-1))
    known = torch.where(seen, values.clamp_min(torch.finfo(values.dtype).tiny), 1.0)
    lesser, larger = (
        (torch.where(seen, known**order, 0.0).sum(-1) / number) ** (1 / order) for order in (p, q)
    )
    return _defined(1 - lesser / larger, seen)


MEASURES: dict[str, Measure] = {
    "mpd": mpd,
    "gini": gini,
    "pq": pq,
    "cv": cv,
    "cv²": squared_variation,
    "shortfall": shortfall,
}
NOISE_FREE = ("pq", "cv", "cv²")  # from which noise can be subtracted


def measure_of(name: str, p: float = 1.0, q: float = 2.0) -> Measure:
    """A measure by its name."""
    if name not in MEASURES:
        raise InputError(
            f"There is no measure {name!r} with gradients; there are {', '.join(MEASURES)}."
            f"{did_you_mean(name, MEASURES)}"
        )
    if name == "pq":
        return partial(pq, p=p, q=q)
    return MEASURES[name]


def _extremes(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    seen = ~values.isnan()
    low = torch.where(seen, values, torch.inf).amin(-1)
    high = torch.where(seen, values, -torch.inf).amax(-1)
    observed = seen.any(-1)
    return torch.where(observed, low, 0.0), torch.where(observed, high, 0.0), seen


def _nonzero(values: Tensor) -> Tensor:
    return torch.where(values == 0, 1, values)


def _defined(index: Tensor, seen: Tensor) -> Tensor:
    """NaN where fewer than two groups were observed."""
    return torch.where(seen.sum(-1) >= 2, index, torch.nan)
