"""What an audit reads, counted inside whatever engine holds the rows; only counts come back."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._audit.binned import Facts, binned_regression, binned_scores
from evenhand._audit.evidence import Evidence, favorable_of
from evenhand._audit.from_rows import from_rows
from evenhand._audit.tasks import MOST_CLASSES, Task
from evenhand._columns import Column, Label
from evenhand._columns.codes import union
from evenhand._columns.encoding import classes
from evenhand._counting import share_classes
from evenhand._errors import InputError
from evenhand._frames import Cells, Whom, columns_as_keys, counted, crossed, distinct
from evenhand._groups import Missing, Rare, groups
from evenhand.statistics.kinds import Source


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
        raise InputError("There are no rows to count.")
    labels = list(dict.fromkeys(name for name in (y_true, y_pred) if name in known))
    regression = task == "regression"
    if task is None and y_pred is not None and _are_values(table, labels, found):
        _check_not_scores(y_true, y_pred, found)
        regression = True
    if regression and y_pred is None:
        raise InputError("Name the column of the predicted values (y_pred).")
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
        raise InputError(
            f"{y_true!r} holds two labels, and {y_pred!r} numbers between them. If these are "
            "scores, name them as y_score; if the target is a number, say that the task is "
            "regression."
        )


def _check_numbers(name: str, known: list[str], found: dict[str, Any]) -> None:
    if name not in known:
        raise InputError(f"{name!r} must hold numbers, and holds something else.")
    bad = found["rows"] - found[f"finite {name}"]
    if bad:
        raise InputError(
            f"{name!r} has {bad} values that are missing or not finite; drop or fill those rows."
        )


def facts_of(table: Any, name: str) -> Facts:
    """Where the numbers of a column lie."""
    import narwhals as nw

    column = nw.col(name).cast(nw.Float64)
    asked = {"low": column.min(), "high": column.max(), "mean": column.mean(), "sd": column.std()}
    found = table.select(*(one.alias(what) for what, one in asked.items())).collect().row(0)
    return Facts(*(float(one or 0) for one in found))


@dataclass(frozen=True)
class Names:
    """Which column of a table plays which part."""

    y_true: str | None
    y_pred: str | None
    y_score: str | None
    sample_weight: str | None
    strata: tuple[str, ...]
    whom: Whom

    @property
    def all(self) -> list[str]:
        """Every column that is read, once."""
        one = (self.y_true, self.y_pred, self.y_score, self.sample_weight)
        return list(dict.fromkeys([*filter(None, one), *self.strata, *self.whom.columns]))


def from_labels(table: Any, names: Names, favorable: Label) -> Evidence:
    """Evidence of labels: one group-by of truth, decision, stratum and group."""
    import narwhals as nw

    keys = columns_as_keys([*names.strata, *names.whom.columns])
    keys |= {"y": nw.col(names.y_true)} if names.y_true else {}
    score = nw.col(names.y_score).cast(nw.Float64) if names.y_score else nw.lit(0.0)
    keys["yhat"] = nw.col(names.y_pred) if names.y_pred else score >= 0.5
    ends = {"least": score, "most": score} if names.y_score else {}
    cells, whom = names.whom.find(counted(table, keys, ends, names.sample_weight))
    columns = _labels(cells, names, favorable)
    labels = columns["yhat"].labels
    good = favorable_of(labels, written(favorable, labels))
    task: Task = "binary" if len(labels) <= 2 else "multiclass"
    decided = _decided_at(cells, columns["yhat"], good) if ends else None
    sources = _sources(cells, columns | {"group": Column(whom.codes, whom.labels)}, names)
    return Evidence(task, whom.names, sources, labels, good, None, decided, whom.notes)


def _sources(cells: Cells, columns: dict[str, Column], names: Names) -> dict[str, Source]:
    counts = cells.tally(columns)
    sources: dict[str, Source] = {"predictions": counts}
    if names.y_true:
        sources["labels"] = counts
    if names.strata:
        stratum, _ = crossed(cells, names.strata, "error")
        within = {"yhat": columns["yhat"], "stratum": stratum, "group": columns["group"]}
        sources["strata"] = cells.tally(within)
    return sources


def _decided_at(cells: Cells, decision: Column, good: Label) -> float | None:
    """The threshold that explains the decisions, if one does: a half, or the least selected."""
    if good is None:
        return None
    selected = decision.codes == decision.labels.index(good)
    if selected.all() or not selected.any():
        return None
    least = float(cells.totals["least"][selected].min())
    most = float(cells.totals["most"][~selected].max())
    if most >= least:
        return None
    return 0.5 if most < 0.5 <= least else least


def _labels(cells: Cells, names: Names, favorable: Label) -> dict[str, Column]:
    """Truth and decision with shared labels; a score alone decides for the favorable label."""
    found = {"y": cells.labels("y", names.y_true)} if names.y_true else {}
    if names.y_pred:
        return share_classes(found | {"yhat": cells.labels("yhat", names.y_pred)})
    labels = found["y"].labels if found else ()
    if len(labels) != 2:
        raise InputError(
            f"A score alone decides between two known labels; here are {list(labels)}. "
            "Name the column of the predictions."
        )
    good = favorable_of(labels, written(favorable, labels))
    if good is None:
        raise InputError(f"Which of {list(labels)} does the score favor? Say favorable.")
    at = labels.index(good)
    chosen = np.where(cells.keys["yhat"].astype(bool), at, 1 - at).astype(np.uint8)
    return found | {"yhat": Column(chosen, labels)}


def written(favorable: Label, labels: Sequence[Label]) -> Label:
    """The label that is written so, where it is not itself a label.

    >>> written("1", (0, 1)), written("yes", ("no", "yes")), written("2", (0, 1))
    (1, 'yes', '2')
    """
    if favorable is None or favorable in labels:
        return favorable
    return next((label for label in labels if str(label) == str(favorable)), favorable)


ROWS_TO_BRING = 1_000_000  # so many rows of scores are brought in and ordered exactly


def evidence_from_frame(
    frame: Any,
    *,
    y_true: str | None,
    y_pred: str | None,
    sensitive_features: str | Sequence[str],
    y_score: str | None = None,
    sample_weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    task: Task | None = None,
    favorable: Label = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
) -> Evidence:
    """Summarize a pandas, Polars (also lazy), Arrow, DuckDB, Dask, Ibis or Spark table.

    Labels are counted in the engine. Scores and predicted values of up to a million rows are
    brought in and ordered exactly; those of more rows are counted in bins, and a note says how
    far off that can be. `favorable` may be the label itself or how it is written.
    """
    import narwhals as nw

    table = nw.from_native(frame).lazy()
    whom = Whom(_listed(sensitive_features), missing, min_count, rare)
    names = Names(y_true, y_pred, y_score, sample_weight, _listed(strata), whom)
    if y_pred is None and y_score is None:
        raise InputError("Name the column of the predictions (y_pred), or of the score.")
    _check_names(names.all, table.collect_schema().names())
    found = survey(table, names.y_true, names.y_pred, names.y_score, task)
    if not found.regression and y_score is None:
        return _several(from_labels(table, names, favorable))
    if found.rows <= ROWS_TO_BRING:
        return _exactly(table, names, found.regression, favorable)
    facts = facts_of(table, str(y_pred if found.regression else y_score))
    if found.regression:
        return _several(binned_regression(table, y_true, str(y_pred), sample_weight, whom, facts))
    known = from_labels(table, names, favorable)
    return _several(binned_scores(table, known, y_true, str(y_score), sample_weight, whom, facts))


def _exactly(table: Any, names: Names, regression: bool, favorable: Label) -> Evidence:
    """Bring the columns in, and summarize them as rows."""
    rows = table.select(*names.all).collect()
    columns = {name: rows[name].to_native() for name in names.all}
    parts = ("y_true", "y_pred", "y_score", "sample_weight")
    given = {part: columns.get(getattr(names, part)) for part in parts}
    whom = names.whom
    given["sensitive_features"] = groups(
        {name: columns[name] for name in whom.columns},
        missing=whom.missing,
        min_count=whom.min_count,
        rare=whom.rare,
    )
    if regression:
        return from_rows(**given | {"y_score": None}, task="regression")
    given["strata"] = {name: columns[name] for name in names.strata} or None
    return from_rows(**given, **_coded(given, names, favorable))


def _coded(given: dict[str, Any], names: Names, favorable: Label) -> dict[str, Any]:
    """Give truth and decision their labels, and find the task and the favorable label."""
    found: dict[str, Column] = {}
    for part, name in (("y_true", names.y_true), ("y_pred", names.y_pred)):
        if name is not None:
            found[part] = given[part] = classes(given[part], name)
    share_classes(found)
    labels = union(*(column.labels for column in found.values()))
    task = "binary" if len(labels) <= 2 else "multiclass"
    return {"task": task, "favorable": written(favorable, labels)}


def _several(evidence: Evidence) -> Evidence:
    if len(evidence.groups) < 2:
        raise InputError(
            f"There is one group only, {evidence.groups[0]!r}: nothing to compare it with. "
            "Check the sensitive column, or the filter before it."
        )
    return evidence


def _check_names(wanted: Sequence[str], there: Sequence[str]) -> None:
    for name in wanted:
        if name not in there:
            near = difflib.get_close_matches(name, there, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            listed = ", ".join(there[:20]) + (", …" if len(there) > 20 else "")
            raise InputError(f"The table has no column {name!r}. {hint}It has {listed}.")


def _listed(names: str | Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)
