"""From metrics by group to one value each: extremes, differences and ratios."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from evenhand._errors import InputError
from evenhand.compat._disaggregation import Disaggregated

Method = Literal["between_groups", "to_overall"]
Errors = Literal["raise", "coerce"]


def extreme(
    result: Disaggregated, end: Literal["min", "max"], levels: list[str] | None, errors: Errors
) -> Any:
    """The smallest or largest value of each metric, within each level of the control features."""
    _check_errors(errors)
    table = result.by_group if errors == "raise" else _scalars(result.by_group)
    try:
        return table.agg(end, axis=0) if not levels else table.groupby(level=levels).agg(end)
    except ValueError as error:
        raise InputError(
            "Metric frame contains non-scalar cells. Please remove non-scalar columns from your "
            "metric frame or use parameter errors='coerce'.",
            "Their values are NaN then.",
        ) from error


def difference(
    result: Disaggregated, levels: list[str] | None, method: Method, errors: Errors
) -> Any:
    """The largest absolute difference between groups, or to the overall value."""
    _check_errors(errors)
    _check_method(method)
    between = method == "between_groups"
    reference = extreme(result, "min", levels, errors) if between else result.overall
    distances = (_scalars(result.by_group) - reference).abs()
    return _nan_for_none(
        distances.max() if levels is None else distances.groupby(level=levels).max()
    )


def ratio(result: Disaggregated, levels: list[str] | None, method: Method, errors: Errors) -> Any:
    """The smallest ratio between groups, or to the overall value; at most 1."""
    _check_errors(errors)
    _check_method(method)
    if method == "between_groups":
        smallest = extreme(result, "min", levels, errors)
        return _nan_for_none(smallest / extreme(result, "max", levels, errors))
    if not levels:
        return _nan_for_none(_at_most_one(result.by_group / result.overall).min())
    overall = result.overall.unstack(level=levels)
    ratios = _at_most_one(result.by_group.unstack(level=levels) / overall)
    return _nan_for_none(ratios.min().unstack(0))


def _at_most_one(ratios: Any) -> Any:
    return ratios.apply(lambda column: column.transform(lambda x: 1 / x if x > 1 else x))


def _scalars(table: Any) -> Any:
    """NaN in place of entries that are not single values."""
    if not any(dtype.kind == "O" for dtype in table.dtypes):
        return table
    return table.apply(
        lambda column: column.apply(lambda value: value if np.isscalar(value) else np.nan)
    )


def _nan_for_none(values: Any) -> Any:
    return values.where(values.notna(), np.nan)


def _check_errors(errors: str) -> None:
    if not isinstance(errors, str) or errors not in ("raise", "coerce"):
        raise InputError(
            "Invalid error value specified. Valid values are ['raise', 'coerce']",
            f"errors is {errors!r}.",
        )


def _check_method(method: str) -> None:
    if not isinstance(method, str) or method not in ("between_groups", "to_overall"):
        raise InputError(
            f"Unrecognised comparison method: {method}",  # codespell:ignore
            f"method is {method!r}; it must be 'between_groups' or 'to_overall'.",
        )
