"""A first look at a table: how many rows, of labels or of values, and where the numbers lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenhand.audit.binning import Facts
from evenhand.audit.cells import distinct
from evenhand.audit.tasks import MOST_CLASSES, Task


@dataclass(frozen=True)
class Survey:
    """How many rows, and whether they are about values rather than labels."""

    rows: int
    regression: bool


def survey(
    table: Any, y_true: str | None, y_pred: str | None, y_score: str | None, task: Task | None
) -> Survey:
    """Look once over the numeric columns."""
    import narwhals as nw

    schema = table.collect_schema()
    known = [name for name in (y_true, y_pred, y_score) if name and schema[name].is_numeric()]
    asked = [one for name in dict.fromkeys(known) for one in _asked(name, schema[name])]
    found = table.select(nw.len().alias("rows"), *asked).collect().rows(named=True)[0]
    if not found["rows"]:
        raise ValueError("There are no rows to count.")
    labels = list(dict.fromkeys(name for name in (y_true, y_pred) if name in known))
    regression = task == "regression"
    if task is None and y_pred is not None and _are_values(table, labels, found):
        _check_not_scores(y_true, y_pred, found)
        regression = True
    if regression and y_pred is None:
        raise ValueError("Name the column of the predicted values (y_pred).")
    numbers = [y_true, y_pred] if regression else [y_score]
    for name in filter(None, numbers):
        _check_numbers(name, known, found)
    return Survey(int(found["rows"]), regression)


def _asked(name: str, dtype: Any) -> list[Any]:
    import narwhals as nw

    column = nw.col(name).cast(nw.Float64)
    whole = dtype.is_integer()
    finite = column if whole else nw.when(column.is_finite()).then(column)
    asked = {"low": finite.min(), "high": finite.max(), "finite": finite.count()}
    if not whole:
        broken = nw.when(column.is_finite() & (column // 1 != column)).then(nw.lit(1))
        asked["broken"] = broken.count()
    return [one.alias(f"{what} {name}") for what, one in asked.items()]


def _are_values(table: Any, labels: list[str], found: dict[str, Any]) -> bool:
    """Whether a column holds numbers that cannot be labels: not whole, or very many."""
    if any(found.get(f"broken {name}") for name in labels):
        return True
    wide = [
        name
        for name in labels
        if (found[f"high {name}"] or 0) - (found[f"low {name}"] or 0) >= MOST_CLASSES
    ]
    return any(distinct(table, [name]) > MOST_CLASSES for name in wide)


def _check_not_scores(y_true: str | None, y_pred: str, found: dict[str, Any]) -> None:
    """Refuse numbers predicted for what can be two labels only."""
    if f"low {y_true}" not in found or found.get(f"broken {y_true}"):
        return
    if (found[f"high {y_true}"] or 0) - (found[f"low {y_true}"] or 0) <= 1:
        raise ValueError(
            f"{y_true!r} holds two labels, and {y_pred!r} numbers between them. If these are "
            "scores, name them as y_score; if the target is a number, say that the task is "
            "regression."
        )


def _check_numbers(name: str, known: list[str], found: dict[str, Any]) -> None:
    if name not in known:
        raise ValueError(f"{name!r} must hold numbers, and holds something else.")
    bad = found["rows"] - found[f"finite {name}"]
    if bad:
        raise ValueError(
            f"{name!r} has {bad} values that are missing or not finite; drop or fill those rows."
        )


def facts_of(table: Any, name: str) -> Facts:
    """Where the numbers of a column lie."""
    import narwhals as nw

    column = nw.col(name).cast(nw.Float64)
    asked = {"low": column.min(), "high": column.max(), "mean": column.mean(), "sd": column.std()}
    found = table.select(*(one.alias(what) for what, one in asked.items())).collect().row(0)
    return Facts(*(float(one or 0) for one in found))
