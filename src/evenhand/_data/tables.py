"""What an audit reads, counted inside whatever engine holds the rows; only counts come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand._columns.encoding import classes
from evenhand._data.amounts import cut_columns
from evenhand._data.binned import (
    MOST_BINS,
    MOST_CELLS,
    Spread,
    binned_regression,
    binned_scores,
    count_scores,
)
from evenhand._data.column_names import ColumnNames, Meant
from evenhand._data.counted import from_tally
from evenhand._data.counts import SELECTED, CountedTable, read_counts
from evenhand._data.evidence import (
    Cut,
    Evidence,
    check_scored,
    check_several,
    check_threshold,
    cut_of,
)
from evenhand._data.first_look import Survey, check_amounts, fractional, survey_of
from evenhand._data.group_by import Cells, GroupColumns, listed, read_table
from evenhand._data.groups import Groups, groups, missing_note
from evenhand._data.roles import POLICY, ROLES, Columns
from evenhand._data.rows import evidence_from_rows, evidence_of_lists
from evenhand._data.score_bins import read_score_bins
from evenhand._data.surveys import replicate_columns, replicate_scale, survey_weights
from evenhand._data.table_labels import decision, from_labels
from evenhand._data.table_tallies import tally_moment_columns
from evenhand._data.tasks import Task, check_task, favorable_label
from evenhand._errors import InputError
from evenhand._kinds import check_columns, check_kinds

NAMED = tuple(name for name, one in ROLES.items() if one.is_column and name != "replicate_weights")
ROWS_TO_BRING = 1_000_000  # so many rows of scores, of engines in this process, are ordered exactly
ROWS_AT_ONCE = 10_000_000  # whose cells, if each were one of its own, an engine can hold


def evidence_from_table(given: Columns) -> Evidence:
    """Summarize a pandas, Polars (also lazy), Arrow, DuckDB, Dask, Ibis or Spark table.

    Where `rows` names a column of counts, every line stands for that many rows.

    Labels are counted in the engine: a look over the numbers and one group-by. Scores and predicted
    values of up to a million rows are brought in and ordered exactly. Those of more rows, and all
    of Spark, Dask and Ibis, are counted in bins, by one more group-by or, of labels 0 and 1, by the
    same one; a note says how far off that can be.
    """
    import narwhals as nw

    y_score, rows, bins = given.y_score, given.rows, given.bins
    decided = given.y_pred is not None or given.rate is not None
    at = check_threshold(given.threshold, decided=decided, scored=y_score is not None)
    policy: dict[str, Any] = {name: getattr(given, name) for name in POLICY}
    check_kinds(bins=bins, task=given.task, **policy)
    check_columns(**{name: getattr(given, name) for name in NAMED})
    if rows is not None and given.task == "regression" and not decided and y_score is None:
        return _from_sums(given)
    check_scored(given.score_of, scored=y_score is not None)
    if not decided and y_score is None:
        raise InputError("Name the column of the predictions (y_pred), or of the score.")
    names = ColumnNames(
        given.y_true,
        given.y_pred,
        y_score,
        given.sample_weight,
        GroupColumns(listed(given.strata), given.missing),
        GroupColumns(listed(given.sensitive_features), **policy),
        listed(given.cluster),
    )
    known = () if given.rate is None else SELECTED
    meant = Meant(given.favorable, given.score_of, known)
    if given.replicate_weights is not None or given.replicate_method is not None:
        repeated = _replicates(given.replicate_weights, given.replicate_method, names, rows)
        names = replace(names, replicates=repeated)
    task = check_task(given.task)
    counted = _table(given.data, names, rows, given.rate)
    table, y_pred = counted.table, counted.y_pred
    names = replace(names, y_pred=y_pred, rows=rows)
    if bins:
        table, spans = cut_columns(table, bins, names.groups.names, rows)
        names = replace(names, groups=replace(names.groups, spans=spans))
    score_bins = None
    if rows and y_score is not None:
        table, score_bins = read_score_bins(table, y_score)
    survey = survey_of(table, names, task)
    spread = survey.spread
    cut = None
    if y_pred is None and spread is not None:
        ends = score_bins.range if score_bins else (spread.low, spread.high)
        cut = cut_of(*ends, at, repr(y_score))
        if score_bins:
            score_bins.check_cut(cut.at)
    number = counted.total or survey.rows
    if names.replicates and not number:  # a look over labels need not count the rows
        number = int(table.select(nw.len()).collect().item())
    bring = number <= ROWS_TO_BRING and not _stays_there(table)
    if spread is None and not (bring and names.replicates):
        evidence = from_labels(table, names, survey, task, meant)
    elif bring:
        check_amounts(table, names, survey.doubtful)
        evidence = _exactly(table, names, "regression" if survey.are_numbers else task, meant, at)
    elif names.replicates or spread is None:
        raise InputError(
            f"With replicate weights, scores and numbers of at most {ROWS_TO_BRING:,} rows of a "
            "table in memory are read. Audit labels (y_pred) alone, or pass columns to audit with "
            "sample_weight=survey_weights(…)."
        )
    elif survey.are_numbers:
        check_amounts(table, names)
        columns = (given.y_true, str(y_pred), given.sample_weight, names.groups)
        evidence = binned_regression(table, *columns, spread, rows, names.cluster)
    else:
        evidence = _from_scores(table, names, survey, spread, task, meant, cut)
    if score_bins:
        evidence = score_bins.limited(evidence)
    check_several(evidence.groups)
    return replace(evidence, notes=(*counted.notes, *evidence.notes))


def lists_from_table(given: Columns) -> Evidence:
    """Bring in the columns of rankings: places are counted within lists, which takes all rows."""
    check_columns(**{name: getattr(given, name) for name in NAMED})
    named = {name: listed(getattr(given, name)) for name, one in ROLES.items() if one.is_column}
    wanted = list(dict.fromkeys(name for names in named.values() for name in names))
    rows = read_table(given.data, wanted).select(*wanted).collect()
    columns = {name: rows[name].to_native() for name in wanted}
    brought: dict[str, Any] = {}
    for name, names in named.items():
        if names:
            several = {one: columns[one] for one in names}
            brought[name] = several if ROLES[name].is_several else columns[names[0]]
    return evidence_of_lists(replace(given, data=None, **brought))


def _from_sums(given: Columns) -> Evidence:
    """Evidence of a table of counts whose columns are sums of values."""
    columns = (given.y_true, given.sample_weight, given.strata, given.bins or None)
    if any(column is not None for column in columns):
        raise InputError(
            "Sums of values are added up already: y_true, sample_weight, strata and bins have to "
            "be counted with the rows. Name the columns of the groups alone."
        )
    names = list(listed(given.sensitive_features))
    return from_tally(
        tally_moment_columns(given), Columns(sensitive_features=names, task=given.task)
    )


def _replicates(
    columns: str | Sequence[str] | None,
    method: str | float | None,
    names: ColumnNames,
    rows: str | None,
) -> dict[str, float]:
    """The columns of replicate weights, and the scale of each."""
    if columns is None or method is None or names.sample_weight is None:
        raise InputError(
            "Replicate weights need three: sample_weight, replicate_weights (the columns) and "
            "replicate_method, such as 'acs'."
        )
    if rows or names.cluster:
        raise InputError("Replicate weights are of single rows: leave out rows= and cluster=.")
    found = replicate_columns(columns)
    how = {"scale": method} if isinstance(method, int | float) else {"method": method}
    return dict(zip(found, replicate_scale(len(found), **{"method": None} | how), strict=True))


def _table(frame: Any, names: ColumnNames, rows: str | None, rate: str | None) -> CountedTable:
    """The table, whose lines are rows, or stand for as many as a column says."""
    if rows is None and rate is not None:
        raise InputError(f"rate={rate!r} needs rows, the column that says of how many people.")
    if rows is None:
        return CountedTable(read_table(frame, names.all), 0, names.y_pred)
    return read_counts(frame, names.all, rows=rows, rate=rate, y_pred=names.y_pred)


def _stays_there(table: Any) -> bool:
    """Whether the rows may be anywhere, so that none is brought in, however few they are."""
    engine = table.implementation
    return bool(engine.is_spark_like() or engine.is_dask() or engine.is_ibis())


def _from_scores(
    table: Any,
    names: ColumnNames,
    survey: Survey,
    spread: Spread,
    task: Task | None,
    meant: Meant,
    cut: Cut | None,
) -> Evidence:
    """Evidence of labels and of a score in bins."""
    columns = (names.y_true, str(names.y_score), names.sample_weight, names.groups, spread)
    more = (names.rows, names.cluster)
    cells = _labels_and_scores(table, names, survey, meant, cut, (*columns, *more))
    known = from_labels(table, names, survey, task, meant, cut, cells)
    if cells is None or len(known.groups) * MOST_BINS > MOST_CELLS:  # fewer bins for more groups
        cells = count_scores(
            table,
            *columns,
            *more,
            label=known.score_of,
            turned=known.is_turned,
            groups=len(known.groups),
        )
    given = (names.y_true, str(names.y_score), names.groups, spread, names.cluster)
    return binned_scores(cells, known, *given, is_stated=meant.score_of is not None)


def _labels_and_scores(
    table: Any,
    names: ColumnNames,
    survey: Survey,
    meant: Meant,
    cut: Cut | None,
    columns: tuple[Any, ...],
) -> Cells | None:
    """Labels and bins of the score by one group-by, which saves a pass over the rows.

    None where that could take too much memory, since nobody knows how many groups there are, or
    where labels are not known beforehand: of which the score is, and whether there are two.
    """
    if survey.two_labels is None or names.y_true is None or names.strata.names:
        return None
    if survey.rows > ROWS_AT_ONCE or fractional(table, names.groups.names):
        return None
    good = favorable_label(survey.two_labels, meant.favorable, required=False)
    label = meant.scored(survey.two_labels)
    cells = count_scores(
        table,
        *columns,
        label=label,
        turned=good not in (None, label),
        keys={"yhat": decision(names, cut)},
        most_cells=MOST_CELLS,
    )
    return cells if len(cells.rows) <= MOST_CELLS else None


def _exactly(
    table: Any, names: ColumnNames, task: Task | None, meant: Meant, threshold: float | None
) -> Evidence:
    """Bring the columns in, and summarize them as rows."""
    rows = table.select(*names.all).collect()
    if names.rows:
        rows = rows[np.repeat(np.arange(len(rows)), rows[names.rows].to_numpy().astype(np.intp))]
    columns = {name: rows[name].to_native() for name in names.all}
    parts = ("y_true", "y_pred", "y_score", "sample_weight")
    given: dict[str, Any] = {part: columns.get(getattr(names, part)) for part in parts}
    given["sensitive_features"] = _grouped(columns, names.groups)
    given["cluster"] = {name: columns[name] for name in names.cluster} or None
    if names.replicates:
        given["sample_weight"] = survey_weights(
            given["sample_weight"],
            replicate_weights=np.column_stack([columns[name] for name in names.replicates]),
            scale=list(names.replicates.values()),
        )
    if task == "regression":
        return evidence_from_rows(Columns(**given | {"y_score": None}, task=task))
    for part, name in (("y_true", names.y_true), ("y_pred", names.y_pred)):
        if name is not None:
            given[part] = classes(given[part], repr(name))
    if names.strata.names:
        given["strata"] = _grouped(columns, names.strata)
    return evidence_from_rows(Columns(**given, threshold=threshold, task=task, **meant._asdict()))


def _grouped(columns: dict[str, Any], chosen: GroupColumns) -> Groups:
    coded = chosen.coded(columns)
    for name, column in coded.items():
        missing_note(name, column.missing, len(column), chosen.missing)
    return groups(
        coded,
        missing=chosen.missing,
        min_count=chosen.min_count,
        rare=chosen.rare,
    )
