"""What an audit reads, counted inside whatever engine holds the rows; only counts come back."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from evenhand.audit.binned_evidence import binned_regression, binned_scores
from evenhand.audit.cells import Whom
from evenhand.audit.evidence import Evidence
from evenhand.audit.from_labels import Names, from_labels, written
from evenhand.audit.from_rows import from_rows
from evenhand.audit.survey import facts_of, survey
from evenhand.audit.tasks import Task
from evenhand.columns import Column, Label
from evenhand.columns.column import union
from evenhand.columns.validation import classes
from evenhand.counting import share_classes
from evenhand.groups import Missing, Rare, groups

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
    favourable: Label = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
) -> Evidence:
    """Summarise a pandas, Polars (also lazy), Arrow, DuckDB, Dask, Ibis or Spark table.

    Labels are counted in the engine. Scores and predicted values of up to a million rows are
    brought in and ordered exactly; those of more rows are counted in bins, and a note says how
    far off that can be. `favourable` may be the label itself or how it is written.
    """
    import narwhals as nw

    table = nw.from_native(frame).lazy()
    whom = Whom(_listed(sensitive_features), missing, min_count, rare)
    names = Names(y_true, y_pred, y_score, sample_weight, _listed(strata), whom)
    if y_pred is None and y_score is None:
        raise ValueError("Name the column of the predictions (y_pred), or of the score.")
    _check_names(names.all, table.collect_schema().names())
    found = survey(table, names.y_true, names.y_pred, names.y_score, task)
    if not found.regression and y_score is None:
        return _several(from_labels(table, names, favourable))
    if found.rows <= ROWS_TO_BRING:
        return _exactly(table, names, found.regression, favourable)
    facts = facts_of(table, str(y_pred if found.regression else y_score))
    if found.regression:
        return _several(binned_regression(table, y_true, str(y_pred), sample_weight, whom, facts))
    known = from_labels(table, names, favourable)
    return _several(binned_scores(table, known, y_true, str(y_score), sample_weight, whom, facts))


def _exactly(table: Any, names: Names, regression: bool, favourable: Label) -> Evidence:
    """Bring the columns in, and summarise them as rows."""
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
    return from_rows(**given, **_coded(given, names, favourable))


def _coded(given: dict[str, Any], names: Names, favourable: Label) -> dict[str, Any]:
    """Give truth and decision their labels, and find the task and the favourable label."""
    found: dict[str, Column] = {}
    for part, name in (("y_true", names.y_true), ("y_pred", names.y_pred)):
        if name is not None:
            found[part] = given[part] = classes(given[part], name)
    share_classes(found)
    labels = union(*(column.labels for column in found.values()))
    task = "binary" if len(labels) <= 2 else "multiclass"
    return {"task": task, "favourable": written(favourable, labels)}


def _several(evidence: Evidence) -> Evidence:
    if len(evidence.groups) < 2:
        raise ValueError(
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
            raise ValueError(f"The table has no column {name!r}. {hint}It has {listed}.")


def _listed(names: str | Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)
