"""Methods of the catalogue as treatments: with their constraints and grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.benchmark.design.studies import Treatment
from evenhand.mitigation.methods import METHODS, Method


def treatment(
    method: str | Method,
    constraint: str | None = None,
    *,
    grid: Sequence[float] | None = None,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
    fit_rows: int | None = None,
) -> Treatment:
    """A method with one constraint, by default its first, over its own grid or another.

    >>> treatment("LinearPost", "equalized_odds", grid=[0.01, 0.1]).grid
    (0.01, 0.1)
    """
    found = METHODS[method] if isinstance(method, str) else method
    constraint = constraint or next(iter(found.criteria), None)
    values: tuple[float | None, ...] = tuple(
        found.grid.get(constraint or "", ()) if grid is None else grid
    )
    return Treatment(
        name=name or found.name,
        method=found,
        constraint=constraint,
        grid=values if found.hyperparameter and values else (None,),
        settings=dict(settings or {}),
        fit_rows=fit_rows,
    )


def thinned(values: tuple[float | None, ...], most: int) -> tuple[float | None, ...]:
    """At most so many values of a grid, evenly chosen, with both ends.

    >>> thinned((1.0, 2.0, 3.0, 4.0, 5.0), 3)
    (1.0, 3.0, 5.0)
    """
    if len(values) <= most:
        return values
    step = (len(values) - 1) / max(most - 1, 1)
    return tuple(values[round(i * step)] for i in range(most))
