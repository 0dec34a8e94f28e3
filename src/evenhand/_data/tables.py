"""Evidence from tables, counted in the engine that holds the rows; only counts come back."""

from __future__ import annotations

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
from evenhand._data.column_names import ColumnNames, LabelRoles
from evenhand._data.counted import from_tally
from evenhand._data.counts import SELECTED, CountedTable, read_counts
from evenhand._data.evidence import (
    Cut,
    Evidence,
    check_any,
    check_scored,
    check_threshold,
    cut_of,
)
from evenhand._data.first_look import Survey, check_amounts, fractional, survey_of
from evenhand._data.group_by import Cells, GroupColumns, listed, read_table
from evenhand._data.groups import Groups, groups, missing_note
from evenhand._data.roles import POLICY, ROLES, Columns
from evenhand._data.rows import evidence_from_rows, evidence_of_lists
from evenhand._data.score_bins import read_score_bins
from evenhand._data.surveys import replicate_scales, survey_weights
from evenhand._data.table_labels import decision, from_labels
from evenhand._data.table_tallies import tally_moment_columns
from evenhand._data.tasks import Task, check_task, favorable_label
from evenhand._errors import InputError
from evenhand._kinds import check_columns, check_kinds

NAMED = tuple(
    name for name, role in ROLES.items() if role.is_column and name != "replicate_weights"
)
ROWS_TO_BRING = 1_000_000  # of scores, from engines in this process, which are ordered exactly
ROWS_AT_ONCE = 10_000_000  # even if each is a cell of its own, an engine can hold them


def evidence_from_table(roles: Columns) -> Evidence:
    """Summarize a pandas, Polars (also lazy), Arrow, DuckDB, Dask, Ibis or Spark table.

    Where `rows` names a column of counts, every line stands for that many rows.

    Labels are counted in the engine: a look over the numbers and one group-by. Scores and predicted
    values of up to a million rows are brought in and ordered exactly. Those of more rows, and all
    of Spark, Dask and Ibis, are counted in bins, by one more group-by or, of labels 0 and 1, by the
    same one; a note says how far off that can be.
    """
    import narwhals as nw

    y_score, rows, bins = roles.y_score, roles.rows, roles.bins
    decided = roles.y_pred is not None or roles.rate is not None
    at = check_threshold(roles.threshold, decided=decided, scored=y_score is not None)
    policy: dict[str, Any] = {name: getattr(roles, name) for name in POLICY}
    check_kinds(bins=bins, task=roles.task, **policy)
    check_columns(**{name: getattr(roles, name) for name in NAMED})
    if rows is not None and roles.task == "regression" and not decided and y_score is None:
        return _from_sums(roles)
    check_scored(roles.score_of, scored=y_score is not None)
    if not decided and y_score is None:
        raise InputError("Name the column of the predictions (y_pred), or of the score.")
    names = ColumnNames(
        roles.y_true,
        roles.y_pred,
        y_score,
        roles.sample_weight,
        GroupColumns(listed(roles.strata), roles.missing),
        GroupColumns(listed(roles.sensitive_features), **policy),
        listed(roles.cluster),
    )
    classes_of_rate = () if roles.rate is None else SELECTED
    label_roles = LabelRoles(roles.favorable, roles.score_of, classes_of_rate)
    if roles.replicate_weights is not None or roles.replicate_method is not None:
        names = replace(names, replicates=replicate_scales(roles))
    task = check_task(roles.task)
    counted = _table(roles.data, names, rows, roles.rate)
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
        evidence = from_labels(table, names, survey, task, label_roles)
    elif bring:
        check_amounts(table, names, survey.doubtful)
        evidence = _exactly(
            table, names, "regression" if survey.are_numbers else task, label_roles, at
        )
    elif names.replicates or spread is None:
        raise InputError(
            f"With replicate weights, scores and numbers of at most {ROWS_TO_BRING:,} rows of a "
            "table in memory are read. Audit labels (y_pred) alone, or pass columns to audit with "
            "sample_weight=survey_weights(…)."
        )
    elif survey.are_numbers:
        check_amounts(table, names)
        columns = (roles.y_true, str(y_pred), roles.sample_weight, names.groups)
        evidence = binned_regression(table, *columns, spread, rows, names.cluster)
    else:
        evidence = _from_scores(table, names, survey, spread, task, label_roles, cut)
    if score_bins:
        evidence = score_bins.limited(evidence)
    check_any(evidence.groups)
    return replace(evidence, notes=(*counted.notes, *evidence.notes))


def lists_from_table(roles: Columns) -> Evidence:
    """Evidence of rankings, from columns that are brought in: lists need all their rows."""
    check_columns(**{name: getattr(roles, name) for name in NAMED})
    names_by_role = {
        name: listed(getattr(roles, name)) for name, column in ROLES.items() if column.is_column
    }
    requested = list(dict.fromkeys(name for names in names_by_role.values() for name in names))
    rows = read_table(roles.data, requested).select(*requested).collect()
    columns = {name: rows[name].to_native() for name in requested}
    brought: dict[str, Any] = {}
    for name, names in names_by_role.items():
        if names:
            several = {column: columns[column] for column in names}
            brought[name] = several if ROLES[name].is_several else columns[names[0]]
    return evidence_of_lists(replace(roles, data=None, **brought))


def _from_sums(roles: Columns) -> Evidence:
    """Evidence from a table of counts with columns of sums of values."""
    columns = (roles.y_true, roles.sample_weight, roles.strata, roles.bins or None)
    if any(column is not None for column in columns):
        raise InputError(
            "Sums of values are added up already: y_true, sample_weight, strata and bins have to "
            "be counted with the rows. Name the columns of the groups alone."
        )
    names = list(listed(roles.sensitive_features))
    return from_tally(
        tally_moment_columns(roles), Columns(sensitive_features=names, task=roles.task)
    )


def _table(frame: Any, names: ColumnNames, rows: str | None, rate: str | None) -> CountedTable:
    """The table, whose lines are rows or counts of rows."""
    if rows is None and rate is not None:
        raise InputError(f"rate={rate!r} needs rows, the column that says of how many people.")
    if rows is None:
        return CountedTable(read_table(frame, names.all), 0, names.y_pred)
    return read_counts(frame, names.all, rows=rows, rate=rate, y_pred=names.y_pred)


def _stays_there(table: Any) -> bool:
    """Whether the rows may be remote, so that they are never brought in."""
    engine = table.implementation
    return bool(engine.is_spark_like() or engine.is_dask() or engine.is_ibis())


def _from_scores(
    table: Any,
    names: ColumnNames,
    survey: Survey,
    spread: Spread,
    task: Task | None,
    label_roles: LabelRoles,
    cut: Cut | None,
) -> Evidence:
    """Evidence of labels and of a score in bins."""
    columns = (names.y_true, str(names.y_score), names.sample_weight, names.groups, spread)
    other_columns = (names.rows, names.cluster)
    cells = _labels_and_scores(table, names, survey, label_roles, cut, (*columns, *other_columns))
    labels = from_labels(table, names, survey, task, label_roles, cut, cells)
    if cells is None or len(labels.groups) * MOST_BINS > MOST_CELLS:  # fewer bins for more groups
        cells = count_scores(
            table,
            *columns,
            *other_columns,
            label=labels.score_of,
            turned=labels.is_turned,
            groups=len(labels.groups),
        )
    arguments = (names.y_true, str(names.y_score), names.groups, spread, names.cluster)
    return binned_scores(cells, labels, *arguments, is_stated=label_roles.score_of is not None)


def _labels_and_scores(
    table: Any,
    names: ColumnNames,
    survey: Survey,
    label_roles: LabelRoles,
    cut: Cut | None,
    columns: tuple[Any, ...],
) -> Cells | None:
    """Labels and bins of the score by one group-by, which saves a pass over the rows.

    None where that could take too much memory, as the number of groups is unknown, or where the
    labels are unknown: which one the score is of, and whether there are two.
    """
    if survey.two_labels is None or names.y_true is None or names.strata.names:
        return None
    if survey.rows > ROWS_AT_ONCE or fractional(table, names.groups.names):
        return None
    good = favorable_label(survey.two_labels, label_roles.favorable, required=False)
    label = label_roles.scored(survey.two_labels)
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
    table: Any,
    names: ColumnNames,
    task: Task | None,
    label_roles: LabelRoles,
    threshold: float | None,
) -> Evidence:
    """Bring the columns in and summarize them as rows."""
    rows = table.select(*names.all).collect()
    if names.rows:
        rows = rows[np.repeat(np.arange(len(rows)), rows[names.rows].to_numpy().astype(np.intp))]
    columns = {name: rows[name].to_native() for name in names.all}
    parts = ("y_true", "y_pred", "y_score", "sample_weight")
    arguments: dict[str, Any] = {part: columns.get(getattr(names, part)) for part in parts}
    arguments["sensitive_features"] = _grouped(columns, names.groups)
    arguments["cluster"] = {name: columns[name] for name in names.cluster} or None
    if names.replicates:
        arguments["sample_weight"] = survey_weights(
            arguments["sample_weight"],
            replicate_weights=np.column_stack([columns[name] for name in names.replicates]),
            scale=list(names.replicates.values()),
        )
    if task == "regression":
        return evidence_from_rows(Columns(**arguments | {"y_score": None}, task=task))
    for part, name in (("y_true", names.y_true), ("y_pred", names.y_pred)):
        if name is not None:
            arguments[part] = classes(arguments[part], repr(name))
    if names.strata.names:
        arguments["strata"] = _grouped(columns, names.strata)
    return evidence_from_rows(
        Columns(**arguments, threshold=threshold, task=task, **label_roles._asdict())
    )


def _grouped(columns: dict[str, Any], grouping: GroupColumns) -> Groups:
    coded = grouping.coded(columns)
    for name, column in coded.items():
        missing_note(name, column.missing, len(column), grouping.missing)
    return groups(
        coded,
        missing=grouping.missing,
        min_count=grouping.min_count,
        rare=grouping.rare,
    )
