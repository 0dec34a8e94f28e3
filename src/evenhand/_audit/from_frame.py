"""What an audit reads, counted inside whatever engine holds the rows; only counts come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from evenhand._audit.amounts import cut_columns
from evenhand._audit.binned import Spread, binned_regression, binned_scores
from evenhand._audit.evidence import (
    Cut,
    Evidence,
    check_names,
    check_not_amounts,
    check_several,
    check_threshold,
    cut_of,
    threshold_behind,
)
from evenhand._audit.from_rows import from_rows
from evenhand._audit.from_tally import from_tally, refuse_columns
from evenhand._columns import Column, Label
from evenhand._columns.encoding import classes
from evenhand._counting import share_classes
from evenhand._counts import CountedTable, read_counts, tally_moment_columns
from evenhand._errors import InputError
from evenhand._frames import (
    WAY_OUT,
    Cells,
    GroupColumns,
    as_float,
    check_finite,
    count_cells,
    distinct,
    listed,
    read_table,
)
from evenhand._groups import Bins, Groups, Missing, Rare, groups, missing_note
from evenhand._kinds import check_columns, check_kinds
from evenhand._tasks import (
    MOST_CLASSES,
    Contents,
    Task,
    check_task,
    favorable_label,
    is_regression,
    task_of_labels,
)
from evenhand.statistics.kinds import Source

ROWS_TO_BRING = 1_000_000  # so many rows of scores are brought in and ordered exactly


def evidence_from_frame(
    frame: Any,
    *,
    y_true: str | None,
    y_pred: str | None,
    sensitive_features: str | Sequence[str],
    y_score: str | None = None,
    threshold: float | None = None,
    sample_weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    bins: Bins | None = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
    task: str | None = None,
    favorable: Label = None,
    rows: str | None = None,
    rate: str | None = None,
) -> Evidence:
    """Summarize a pandas, Polars (also lazy), Arrow, DuckDB, Dask, Ibis or Spark table.

    Where `rows` names a column of counts, every line stands for so many rows.

    Labels are counted in the engine. Scores and predicted values of up to a million rows are
    brought in and ordered exactly; those of more rows are counted in bins, and a note says how
    far off that can be.
    """
    decided = y_pred is not None or rate is not None
    at = check_threshold(threshold, decided=decided, scored=y_score is not None)
    check_kinds(bins=bins, missing=missing, min_count=min_count, rare=rare, task=task)
    check_columns(
        y_true=y_true,
        y_pred=y_pred,
        y_score=y_score,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        strata=strata,
        rows=rows,
        rate=rate,
    )
    if rows is not None and task == "regression" and not decided and y_score is None:
        counts = tally_moment_columns(
            frame,
            rows=rows,
            sensitive_features=sensitive_features,
            missing=missing,
            min_count=min_count,
            rare=rare,
        )
        refuse_columns(y_true=y_true, sample_weight=sample_weight, strata=strata, bins=bins or None)
        return from_tally(counts, listed(sensitive_features), task=task)
    if not decided and y_score is None:
        raise InputError("Name the column of the predictions (y_pred), or of the score.")
    group = GroupColumns(listed(sensitive_features), missing, min_count, rare)
    within = GroupColumns(listed(strata), missing)
    names = ColumnNames(y_true, y_pred, y_score, sample_weight, within, group)
    given = check_task(task)
    counted = _table(frame, names, rows, rate)
    table, y_pred = counted.table, counted.y_pred
    names = replace(names, y_pred=y_pred, rows=rows)
    if bins:
        table, spans = cut_columns(table, bins, group.names, rows)
        group = replace(group, spans=spans)
        names = replace(names, groups=group)
    survey = survey_of(table, names, given)
    _check_groups(table, names.groups.names)
    cut = None
    if y_pred is None and survey.score is not None:
        cut = cut_of(*survey.score, at, repr(y_score))
    if not survey.are_numbers and y_score is None:
        evidence = from_labels(table, names, given, favorable)
    elif (counted.total or survey.rows) <= ROWS_TO_BRING:
        task = "regression" if survey.are_numbers else given
        evidence = _exactly(table, names, task, favorable, at)
    elif survey.are_numbers:
        spread = spread_of(table, str(y_pred), rows)
        evidence = binned_regression(table, y_true, str(y_pred), sample_weight, group, spread, rows)
    else:
        known = from_labels(table, names, given, favorable, cut)
        spread = spread_of(table, str(y_score), rows)
        evidence = binned_scores(
            table, known, y_true, str(y_score), sample_weight, group, spread, rows
        )
    check_several(evidence.groups)
    check_names(evidence.columns, evidence.groups)
    return replace(evidence, notes=(*counted.notes, *evidence.notes))


@dataclass(frozen=True)
class ColumnNames:
    """Which column of a table plays which part."""

    y_true: str | None
    y_pred: str | None
    y_score: str | None
    sample_weight: str | None
    strata: GroupColumns
    groups: GroupColumns
    rows: str | None = None

    @property
    def all(self) -> list[str]:
        """Every column that is read, once."""
        single = (self.y_true, self.y_pred, self.y_score, self.sample_weight, self.rows)
        several = (*self.strata.names, *self.groups.names)
        return list(dict.fromkeys(name for name in (*single, *several) if name is not None))


def _table(frame: Any, names: ColumnNames, rows: str | None, rate: str | None) -> CountedTable:
    """The table, whose lines are rows, or stand for as many as a column says."""
    if rows is None and rate is not None:
        raise InputError(f"rate={rate!r} needs rows, the column that says of how many people.")
    if rows is None:
        return CountedTable(read_table(frame, names.all), 0, names.y_pred)
    return read_counts(frame, names.all, rows=rows, rate=rate, y_pred=names.y_pred)


@dataclass(frozen=True)
class Survey:
    """How many rows there are, whether they are about numbers, and the range of the score."""

    rows: int
    are_numbers: bool
    score: tuple[float, float] | None = None


class NumericColumn(NamedTuple):
    """What one look over a column of numbers shows."""

    low: float | None
    high: float | None
    finite: int
    fraction: float | None


def survey_of(table: Any, names: ColumnNames, task: Task | None) -> Survey:
    """Look once over the numeric columns, and once more where whole numbers must be counted."""
    rows, numeric = _numeric_columns(table, [names.y_true, names.y_pred, names.y_score])
    if not rows:
        raise InputError("There are no rows to count.")
    are_numbers = task == "regression"
    if task is None and names.y_pred is not None:
        truth = None if names.y_true is None else _contents(table, names.y_true, numeric, rows)
        are_numbers = is_regression(truth, [_contents(table, names.y_pred, numeric, rows)])
    if are_numbers and names.y_pred is None:
        raise InputError("Name the column of the predicted values (y_pred).")
    for name in (names.y_true, names.y_pred) if are_numbers else (names.y_score,):
        if name is not None and name not in numeric:
            raise InputError(f"{name!r} must hold numbers, and holds something else.")
        if name is not None:
            check_finite(name, rows - numeric[name].finite)
    score = None if are_numbers or not names.y_score else numeric[names.y_score]
    if score is None or score.low is None or score.high is None:
        return Survey(rows, are_numbers)
    return Survey(rows, are_numbers, (score.low, score.high))


def _check_groups(table: Any, names: Sequence[str]) -> None:
    """Refuse amounts as groups before anything is counted by each of them."""
    schema = table.collect_schema()
    for name in names:
        if schema[name].is_float() or schema[name].is_decimal():
            values = distinct(table, [name])
            if values > MOST_CLASSES:
                seen = _numeric_columns(table, [name])[1][name]
                check_not_amounts(name, values, seen.fraction)


def _numeric_columns(
    table: Any, names: Sequence[str | None]
) -> tuple[int, dict[str, NumericColumn]]:
    """The number of rows, and what the numeric ones among these columns hold."""
    import narwhals as nw

    schema = table.collect_schema()
    numeric = list(dict.fromkeys(name for name in names if name and schema[name].is_numeric()))
    wanted = [nw.len().alias("rows")]
    for at, name in enumerate(numeric):
        column = as_float(name)
        finite = column
        if not schema[name].is_integer():  # whole numbers are finite, and have no fractions
            finite = nw.when(column.is_finite()).then(column)
            broken = nw.when(column.is_finite() & (column % 1 != 0)).then(column)
            wanted.append(broken.min().alias(f"fraction {at}"))
        wanted += [finite.min().alias(f"low {at}"), finite.max().alias(f"high {at}")]
        wanted.append(finite.count().alias(f"finite {at}"))
    row = table.select(*wanted).collect().rows(named=True)[0]
    return int(row["rows"]), {
        name: NumericColumn(
            _number(row[f"low {at}"]),
            _number(row[f"high {at}"]),
            int(row[f"finite {at}"]),
            _number(row.get(f"fraction {at}")),
        )
        for at, name in enumerate(numeric)
    }


def _number(value: Any) -> float | None:
    """A number of an engine; pandas writes NaN for none."""
    return None if value is None or value != value else float(value)


def _contents(table: Any, name: str, numeric: dict[str, NumericColumn], rows: int) -> Contents:
    """What a column holds; different whole numbers are counted only if their range allows many."""
    if name not in numeric:
        return Contents(repr(name), numeric=False)
    seen = numeric[name]
    if seen.fraction is not None or seen.low is None or seen.high is None:
        return Contents(repr(name), True, seen.fraction)
    values = int(seen.high - seen.low) + 1
    if values > 2 and (values > MOST_CLASSES or any(one.fraction for one in numeric.values())):
        values = distinct(table, [name]) - (seen.finite < rows)
    return Contents(repr(name), True, distinct=values)


def spread_of(table: Any, name: str, rows: str | None = None) -> Spread:
    """Where the numbers of a column lie, each as often as `rows` says."""
    column = as_float(name)
    parts = {"low": column.min(), "high": column.max(), "mean": column.mean(), "sd": column.std()}
    if rows is not None:
        times = as_float(rows)
        parts["mean"] = (column * times).sum() / times.sum()
    wanted = (part.alias(what) for what, part in parts.items())
    row = table.select(*wanted).collect().rows(named=True)[0]  # .row(0) may give Arrow's scalars
    return Spread(*(float(row[what] or 0) for what in parts))


def from_labels(
    table: Any, names: ColumnNames, task: Task | None, favorable: Label, cut: Cut | None = None
) -> Evidence:
    """Evidence of labels: one group-by of truth, decision, stratum and group.

    Without a column of predictions the decision is where the score is cut.
    """
    import narwhals as nw

    keys = {"y": nw.col(names.y_true)} if names.y_true else {}
    score = {"score": as_float(names.y_score)} if names.y_score else {}
    keys["yhat"] = nw.col(str(names.y_pred)) if cut is None else score["score"] >= cut.at
    cells = count_cells(
        table,
        columns=[*names.strata.names, *names.groups.names],
        keys=keys,
        extremes=score,
        weight=names.sample_weight,
        rows=names.rows,
    )
    columns = _labels(cells, names, favorable)
    group = names.groups.of(cells)
    labels = columns["yhat"].labels
    good = favorable_label(labels, favorable, required=False)
    sources, notes = _sources(cells, columns, group, names)
    at = _decided_at(cells, columns["yhat"], group, good) if cut is None else cut.at
    return Evidence(
        task_of_labels(labels, task),
        group.names,
        sources,
        labels,
        good,
        assumed=good is not None and favorable is None,
        decided_at=at,
        notes=(*([] if cut is None else [cut.note(good)]), *group.notes, *notes),
    )


def _sources(
    cells: Cells, columns: dict[str, Column], group: Groups, names: ColumnNames
) -> tuple[dict[str, Source], tuple[str, ...]]:
    """The tallies of the cells, and notes of missing strata."""
    counts = cells.tally(columns, group)
    sources: dict[str, Source] = {"predictions": counts}
    if names.y_true:
        sources["labels"] = counts
    if not names.strata.names:
        return sources, ()
    stratum = names.strata.of(cells)
    within = {"yhat": columns["yhat"], "stratum": Column(stratum.codes, stratum.labels)}
    sources["strata"] = cells.tally(within, group)
    return sources, stratum.notes


def _decided_at(cells: Cells, decision: Column, group: Groups, good: Label) -> float | None:
    """The threshold that explains the decisions, if one does."""
    if good is None or "score" not in cells.least:
        return None
    kept = group.codes < len(group.labels)
    selected = (decision.codes == decision.labels.index(good))[kept]
    if selected.all() or not selected.any():
        return None
    least, most = cells.least["score"][kept], cells.most["score"][kept]
    return threshold_behind(float(least[selected].min()), float(most[~selected].max()))


def _labels(cells: Cells, names: ColumnNames, favorable: Label) -> dict[str, Column]:
    """Truth and decision with shared labels; a score alone decides for the favorable label."""
    truth = {"y": cells.labels("y", names.y_true)} if names.y_true else {}
    if names.y_pred:
        return share_classes(truth | {"yhat": cells.labels("yhat", names.y_pred)})
    labels = truth["y"].labels if truth else ()
    if len(labels) != 2:
        raise InputError(
            f"A score alone decides between two known labels; here are {list(labels)}. "
            "Name the column of the predictions."
        )
    at = labels.index(favorable_label(labels, favorable))
    chosen = np.where(cells.keys["yhat"].astype(bool), at, 1 - at).astype(np.uint8)
    return truth | {"yhat": Column(chosen, labels)}


def _exactly(
    table: Any, names: ColumnNames, task: Task | None, favorable: Label, threshold: float | None
) -> Evidence:
    """Bring the columns in, and summarize them as rows."""
    rows = table.select(*names.all).collect()
    if names.rows:
        rows = rows[np.repeat(np.arange(len(rows)), rows[names.rows].to_numpy().astype(np.intp))]
    columns = {name: rows[name].to_native() for name in names.all}
    parts = ("y_true", "y_pred", "y_score", "sample_weight")
    given: dict[str, Any] = {part: columns.get(getattr(names, part)) for part in parts}
    given["sensitive_features"] = _grouped(columns, names.groups)
    if task == "regression":
        return from_rows(**given | {"y_score": None}, task=task)
    for part, name in (("y_true", names.y_true), ("y_pred", names.y_pred)):
        if name is not None:
            given[part] = classes(given[part], repr(name))
    if names.strata.names:
        given["strata"] = _grouped(columns, names.strata)
    return from_rows(**given, threshold=threshold, task=task, favorable=favorable)


def _grouped(columns: dict[str, Any], chosen: GroupColumns) -> Groups:
    coded = chosen.coded(columns)
    for name, column in coded.items():
        missing_note(name, column.missing, len(column), chosen.missing, WAY_OUT)
    return groups(
        coded,
        missing=chosen.missing,
        min_count=chosen.min_count,
        rare=chosen.rare,
    )
