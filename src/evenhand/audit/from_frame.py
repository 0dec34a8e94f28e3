"""What an audit reads, counted inside whatever engine holds the rows; only counts come back."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.audit.binned_evidence import binned_regression, binned_scores
from evenhand.audit.cells import Cells, Whom, counted, crossed
from evenhand.audit.evidence import Evidence, favourable_of
from evenhand.audit.from_rows import from_rows
from evenhand.audit.survey import facts_of, survey
from evenhand.audit.tasks import Task
from evenhand.columns import Column, Label
from evenhand.columns.validation import classes
from evenhand.counting import share_classes
from evenhand.groups import Groups, Missing, Rare, groups
from evenhand.sources import Source

ROWS_TO_BRING = 1_000_000  # so many rows of scores are brought in and ordered exactly


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
        return _several(_from_labels(table, names, favourable))
    if found.rows <= ROWS_TO_BRING:
        return _exactly(table, names, found.regression, favourable)
    facts = facts_of(table, str(y_pred if found.regression else y_score))
    if found.regression:
        return _several(binned_regression(table, y_true, str(y_pred), sample_weight, whom, facts))
    known = _from_labels(table, names, favourable)
    return _several(binned_scores(table, known, y_true, str(y_score), sample_weight, whom, facts))


def _from_labels(table: Any, names: Names, favourable: Label) -> Evidence:
    """Evidence of labels: one group-by of truth, decision, stratum and group."""
    import narwhals as nw

    keys = {name: nw.col(name) for name in (*names.strata, *names.whom.columns)}
    keys |= {"y": nw.col(names.y_true)} if names.y_true else {}
    decided = None if names.y_pred else 0.5
    score = nw.col(names.y_score).cast(nw.Float64) if names.y_score else None
    keys["yhat"] = nw.col(names.y_pred) if names.y_pred else score >= 0.5
    cells, whom = names.whom.find(counted(table, keys, {}, names.sample_weight))
    columns = _labels(cells, names, favourable)
    labels = columns["yhat"].labels
    group = Column(whom.codes, whom.labels)
    counts = cells.tally(columns | {"group": group})
    sources: dict[str, Source] = {"predictions": counts}
    if names.y_true:
        sources["labels"] = counts
    if names.strata:
        stratum, _ = crossed(cells, names.strata, "error")
        sources["strata"] = cells.tally(
            {"yhat": columns["yhat"], "stratum": stratum, "group": group}
        )
    good = favourable_of(labels, written(favourable, labels))
    task: Task = "binary" if len(labels) <= 2 else "multiclass"
    return Evidence(task, whom.names, sources, labels, good, None, decided, whom.notes)


def _labels(cells: Cells, names: Names, favourable: Label) -> dict[str, Column]:
    """Truth and decision with shared labels; a score alone decides for the favourable label."""
    found = {"y": cells.labels("y", names.y_true)} if names.y_true else {}
    if names.y_pred:
        return share_classes(found | {"yhat": cells.labels("yhat", names.y_pred)})
    labels = found["y"].labels if found else ()
    if len(labels) != 2:
        raise ValueError(
            f"A score alone decides between two known labels; here are {list(labels)}. "
            "Name the column of the predictions."
        )
    good = favourable_of(labels, written(favourable, labels))
    if good is None:
        raise ValueError(f"Which of {list(labels)} does the score favour? Say favourable.")
    at = labels.index(good)
    chosen = np.where(cells.keys["yhat"].astype(bool), at, 1 - at).astype(np.uint8)
    return found | {"yhat": Column(chosen, labels)}


def _exactly(table: Any, names: Names, regression: bool, favourable: Label) -> Evidence:
    """Bring the columns in, and summarise them as rows."""
    rows = table.select(*names.all).collect()
    if not len(rows):
        raise ValueError("There are no rows to count.")
    columns = {name: rows[name].to_native() for name in names.all}
    whom = names.whom
    found: Groups = groups(
        {name: columns[name] for name in whom.columns},
        missing=whom.missing,
        min_count=whom.min_count,
        rare=whom.rare,
    )
    given = {part: columns.get(getattr(names, part)) for part in ("y_score", "sample_weight")}
    given["strata"] = {name: columns[name] for name in names.strata} or None
    truth, predicted = columns.get(names.y_true), columns.get(names.y_pred)
    if regression:
        options = {"sensitive_features": found, "sample_weight": given["sample_weight"]}
        return from_rows(truth, predicted, task="regression", **options)
    coded = {
        part: classes(values, name)
        for part, values, name in (("y", truth, names.y_true), ("yhat", predicted, names.y_pred))
        if values is not None and name is not None
    }
    labels = next(iter(share_classes(coded).values())).labels
    return from_rows(
        coded.get("y"),
        coded.get("yhat"),
        sensitive_features=found,
        task="binary" if len(labels) <= 2 else "multiclass",
        favourable=written(favourable, labels),
        **given,
    )


def written(favourable: Label, labels: Sequence[Label]) -> Label:
    """The label that is written so, where it is not itself a label.

    >>> written("1", (0, 1)), written("yes", ("no", "yes")), written("2", (0, 1))
    (1, 'yes', '2')
    """
    if favourable is None or favourable in labels:
        return favourable
    return next((label for label in labels if str(label) == str(favourable)), favourable)


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
