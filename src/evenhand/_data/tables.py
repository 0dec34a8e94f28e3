"""What an audit reads, counted inside whatever engine holds the rows; only counts come back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns import Column, Label
from evenhand._columns.bins import MOST_CLASSES
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
from evenhand._data.counted import from_tally
from evenhand._data.counting import share_classes
from evenhand._data.counts import SELECTED, CountedTable, read_counts, tally_moment_columns
from evenhand._data.evidence import (
    Cut,
    Evidence,
    check_scored,
    check_several,
    check_threshold,
    cut_of,
    threshold_behind,
)
from evenhand._data.group_by import (
    Cells,
    Expression,
    GroupColumns,
    as_float,
    check_finite,
    count_cells,
    distinct,
    is_fraction,
    listed,
    no_numbers,
    read_table,
)
from evenhand._data.groups import (
    Groups,
    amounts_as_groups,
    groups,
    missing_note,
)
from evenhand._data.roles import ROLES, Columns
from evenhand._data.rows import evidence_from_rows, evidence_of_lists
from evenhand._data.score_bins import read_score_bins
from evenhand._data.summaries import Source, with_favorable
from evenhand._data.surveys import replicate_columns, replicate_scale, survey_weights
from evenhand._data.tallies import POWERS, Tally
from evenhand._data.tasks import (
    Contents,
    Task,
    check_task,
    favorable_label,
    is_regression,
    scored_label,
    task_of_labels,
)
from evenhand._errors import InputError
from evenhand._kinds import check_columns, check_kinds

NAMED = tuple(name for name, one in ROLES.items() if one.is_column and name != "replicate_weights")
ROUGH = 1e-8  # of the mean square: a variance that rounding may have made
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
    policy: dict[str, Any] = {
        "missing": given.missing,
        "min_count": given.min_count,
        "rare": given.rare,
    }
    check_kinds(bins=bins, task=given.task, **policy)
    check_columns(**{name: getattr(given, name) for name in NAMED})
    if rows is not None and given.task == "regression" and not decided and y_score is None:
        return _from_sums(given, policy)
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
        _check_amounts(table, names, survey.doubtful)
        evidence = _exactly(table, names, "regression" if survey.are_numbers else task, meant, at)
    elif names.replicates or spread is None:
        raise InputError(
            f"With replicate weights, scores and numbers of at most {ROWS_TO_BRING:,} rows of a "
            "table in memory are read. Audit labels (y_pred) alone, or pass columns to audit with "
            "sample_weight=survey_weights(…)."
        )
    elif survey.are_numbers:
        _check_amounts(table, names)
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


def _from_sums(given: Columns, policy: dict[str, Any]) -> Evidence:
    """Evidence of a table of counts whose columns are sums of values."""
    columns = (given.y_true, given.sample_weight, given.strata, given.bins or None)
    if any(column is not None for column in columns):
        raise InputError(
            "Sums of values are added up already: y_true, sample_weight, strata and bins have to "
            "be counted with the rows. Name the columns of the groups alone."
        )
    names = given.sensitive_features
    counts = tally_moment_columns(given.data, rows=given.rows, sensitive_features=names, **policy)
    return from_tally(counts, Columns(sensitive_features=list(listed(names)), task=given.task))


@dataclass(frozen=True)
class ColumnNames:
    """Which column of a table plays which part."""

    y_true: str | None
    y_pred: str | None
    y_score: str | None
    sample_weight: str | None
    strata: GroupColumns
    groups: GroupColumns
    cluster: tuple[str, ...] = ()
    rows: str | None = None
    replicates: Mapping[str, float] = field(default_factory=dict)

    @property
    def all(self) -> list[str]:
        """Every column that is read, once."""
        single = (self.y_true, self.y_pred, self.y_score, self.sample_weight, self.rows)
        several = (*self.strata.names, *self.cluster, *self.replicates, *self.groups.names)
        return list(dict.fromkeys(name for name in (*single, *several) if name is not None))


class Meant(NamedTuple):
    """The favorable label, and the one that a score is of, where the caller named them.

    `classes` are known to exist, whether a row has them or not.
    """

    favorable: Label = None
    score_of: Label = None
    classes: tuple[Label, ...] = ()

    def scored(self, labels: Sequence[Label]) -> Label:
        """Of which of the labels the score is."""
        return scored_label(labels, self.score_of, self.favorable)


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


@dataclass(frozen=True)
class Survey:
    """How many rows there are, whether they are about numbers, and where those or scores lie.

    The labels in `doubtful` are whole numbers, of which there are enough to be amounts.
    `two_labels` are all labels there are, where those are neighboring whole numbers: 0 and 1.
    """

    rows: int
    are_numbers: bool
    spread: Spread | None = None
    doubtful: tuple[str, ...] = ()
    two_labels: tuple[int, int] | None = None


class NumericColumn(NamedTuple):
    """What one look over a column of numbers shows."""

    low: float | None
    high: float | None
    finite: int
    fraction: float | None
    mean: float | None = None
    deviation: float | None = None

    @property
    def possible(self) -> int:
        """How many whole numbers there can be."""
        return 0 if self.low is None or self.high is None else int(self.high - self.low) + 1


def survey_of(table: Any, names: ColumnNames, task: Task | None) -> Survey:
    """Look once over the numeric columns.

    Once more only if the target is whole numbers and its predictions are not, or the other way
    around: labels beside scores, or amounts.
    """
    labels = [name for name in (names.y_true, names.y_pred) if name is not None]
    may_be_numbers = task == "regression" or (task is None and _fractional(table, labels))
    ordered = {names.y_score, names.y_pred if may_be_numbers else None}
    rows, numeric = _numeric_columns(table, [*labels, names.y_score], ordered, names.rows, labels)
    if not rows:
        raise InputError("There are no rows to count.")
    are_numbers = task == "regression"
    doubtful: list[str] = []
    if task is None and names.y_pred is not None:
        mixed = any(name in numeric and numeric[name].fraction is not None for name in labels)
        known = [_contents(table, name, numeric, rows, count=mixed) for name in labels]
        are_numbers = is_regression(known[0] if names.y_true else None, known[-1:])
        if not are_numbers:
            doubtful = [n for n in labels if n in numeric and numeric[n].possible > MOST_CLASSES]
    if are_numbers and names.y_pred is None:
        raise InputError("Name the column of the predicted values (y_pred).")
    for name in (names.y_true, names.y_pred) if are_numbers else (names.y_score,):
        if name is not None and name not in numeric:
            raise no_numbers(name, table.collect_schema()[name])
        if name is not None:
            check_finite(name, rows - numeric[name].finite)
    measured = names.y_pred if are_numbers else names.y_score
    if measured is None:
        return Survey(rows, are_numbers, doubtful=tuple(doubtful))
    seen = numeric[measured]
    spread = Spread(*(end or 0.0 for end in (seen.low, seen.high, seen.mean, seen.deviation)))
    return Survey(
        rows, are_numbers, spread, tuple(doubtful), _two_labels(table, labels, numeric, rows)
    )


def _two_labels(
    table: Any, names: Sequence[str], numeric: Mapping[str, NumericColumn], rows: int
) -> tuple[int, int] | None:
    """All labels of these columns, where they are two neighboring whole numbers."""
    schema = table.collect_schema()
    ends: list[float] = []
    for name in names:
        seen = numeric.get(name) if schema[name].is_integer() else None
        if seen is None or seen.finite < rows or seen.low is None or seen.high is None:
            return None
        ends += [seen.low, seen.high]
    low, high = int(min(ends, default=0)), int(max(ends, default=0))
    return (low, high) if high == low + 1 else None


def _stays_there(table: Any) -> bool:
    """Whether the rows may be anywhere, so that none is brought in, however few they are."""
    engine = table.implementation
    return bool(engine.is_spark_like() or engine.is_dask() or engine.is_ibis())


def _check_amounts(table: Any, names: ColumnNames, labels: Sequence[str] = ()) -> None:
    """Refuse amounts as classes or groups before anything is counted by each of them."""
    for name in labels:
        _check_classes(name, distinct(table.filter(as_float(name).is_finite()), [name]))
    for name in _fractional(table, names.groups.names):
        values = distinct(table, [name])
        if values > MOST_CLASSES:
            fraction = _numeric_columns(table, [name])[1][name].fraction
            if fraction is not None:
                raise amounts_as_groups(name, values, fraction)


def _check_classes(name: str, values: int) -> None:
    """Refuse many different whole numbers, which can be classes or amounts."""
    is_regression(None, [Contents(repr(name), True, distinct=values)])


def _fractional(table: Any, names: Sequence[str]) -> list[str]:
    """The columns whose type allows numbers with fractions."""
    schema = table.collect_schema()
    return [name for name in names if schema[name].is_float() or schema[name].is_decimal()]


def _numeric_columns(
    table: Any,
    names: Sequence[str | None],
    ordered: Collection[str | None] = (),
    times: str | None = None,
    broken: Collection[str] | None = None,
) -> tuple[int, dict[str, NumericColumn]]:
    """The number of lines, and what the numeric ones among these columns hold.

    Mean and deviation are for columns that may have to be ordered. Where `times` says how many
    rows a line stands for, the mean is that of the rows. Fractions are looked for in the columns
    that may be `broken`, by default in all. The others are looked over with the least effort, and
    with care if their mean shows that some numbers are missing, not finite, huge or nearly alike.
    """
    import narwhals as nw

    schema = table.collect_schema()
    numeric = list(dict.fromkeys(name for name in names if name and schema[name].is_numeric()))
    wanted = [nw.len().alias("rows")]
    for at, name in enumerate(numeric):
        whole = schema[name].is_integer()
        if whole or times or broken is None or name in broken:
            parts = _carefully(name, name in ordered, times, whole=whole)
        else:
            parts = _quickly(name)
        wanted += [expression.alias(f"{part} {at}") for part, expression in parts.items()]
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are looked at again
        row = table.select(*wanted).collect().rows(named=True)[0]
    known = {name: _seen(row, at) for at, name in enumerate(numeric)}
    seen = {name: column for name, column in known.items() if column is not None}
    if len(seen) < len(known):
        return _numeric_columns(table, names, ordered, times)
    return int(row["rows"]), seen


def _carefully(
    name: str, is_ordered: bool, times: str | None, *, whole: bool
) -> dict[str, Expression]:
    """What is asked of a column that may hold anything, or whole numbers, which are all finite."""
    import narwhals as nw

    column = nw.col(name) if whole else as_float(name)
    finite = column if whole else nw.when(column.is_finite()).then(column)
    asked = {"low": finite.min(), "high": finite.max(), "finite": finite.count()}
    if not whole:
        broken = column.is_finite() & is_fraction(column)
        asked["fraction"] = nw.when(broken).then(column).min()
    if is_ordered:
        often = as_float(times) if times else None
        mean = finite.mean() if often is None else (finite * often).sum() / often.sum()
        asked |= {"mean": mean, "deviation": finite.std()}
    return asked


def _quickly(name: str) -> dict[str, Expression]:
    """What is asked of a column that hardly holds anything but finite numbers."""
    column = as_float(name)
    asked = {"low": column.min(), "high": column.max(), "finite": column.count()}
    return asked | {"mean": column.mean(), "square": (column * column).mean()}


def _seen(row: Mapping[str, Any], at: int) -> NumericColumn | None:
    """What the answers say of a column; None if a quick look leaves something open."""
    parts = ("low", "high", "fraction", "mean", "deviation")
    low, high, fraction, mean, deviation = (_number(row.get(f"{part} {at}")) for part in parts)
    finite = int(row[f"finite {at}"])
    if f"square {at}" in row:
        square = _number(row[f"square {at}"])
        if finite < row["rows"] or mean is None or square is None:
            return None
        variance = square - mean * mean
        if not (isfinite(variance) and variance > ROUGH * square):
            return None
        deviation = sqrt(variance)
    return NumericColumn(low, high, finite, fraction, mean, deviation)


def _number(value: Any) -> float | None:
    """A number of an engine; pandas writes NaN for none."""
    return None if value is None or value != value else float(value)


def _contents(
    table: Any, name: str, numeric: dict[str, NumericColumn], rows: int, *, count: bool
) -> Contents:
    """What a column holds; different whole numbers are counted only where it matters now."""
    if name not in numeric:
        return Contents(repr(name), numeric=False)
    seen = numeric[name]
    if seen.fraction is not None:
        return Contents(repr(name), True, seen.fraction)
    values = min(seen.possible, MOST_CLASSES)
    if count and seen.possible > 2:
        values = distinct(table, [name]) - (seen.finite < rows)
    return Contents(repr(name), True, distinct=values)


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
    if survey.rows > ROWS_AT_ONCE or _fractional(table, names.groups.names):
        return None
    good = favorable_label(survey.two_labels, meant.favorable, required=False)
    label = meant.scored(survey.two_labels)
    cells = count_scores(
        table,
        *columns,
        label=label,
        turned=good not in (None, label),
        keys={"yhat": _decision(names, cut)},
        most_cells=MOST_CELLS,
    )
    return cells if len(cells.rows) <= MOST_CELLS else None


def _decision(names: ColumnNames, cut: Cut | None) -> Expression:
    """The column of predictions, or where the score is cut."""
    import narwhals as nw

    return nw.col(str(names.y_pred)) if cut is None else as_float(str(names.y_score)) >= cut.at


def from_labels(
    table: Any,
    names: ColumnNames,
    survey: Survey,
    task: Task | None,
    meant: Meant,
    cut: Cut | None = None,
    cells: Cells | None = None,
) -> Evidence:
    """Evidence of labels: one group-by of truth, decision, stratum and group, or given cells.

    Without a column of predictions the decision is where the score is cut.
    """
    import narwhals as nw

    if cells is None:
        keys = {"y": nw.col(names.y_true)} if names.y_true else {}
        score = {"value": as_float(names.y_score)} if names.y_score else {}
        keys["yhat"] = _decision(names, cut)
        cells = _label_cells(table, names, survey, keys, score)
    else:
        powers = ["weight", *(f"weight{power}" for power in POWERS.values())]
        weights = {name: sums for name, sums in cells.sums.items() if name in powers}
        cells = replace(cells, sums=weights)
    columns = _labels(cells, names, meant)
    group = names.groups.of(cells)
    sources, notes = _sources(cells, columns, group, names)
    named = meant.favorable
    if meant.classes:
        sources = {
            need: source.with_classes(meant.classes)
            for need, source in sources.items()
            if isinstance(source, Tally)
        }
    sources = {need: with_favorable(source, named) for need, source in sources.items()}
    labels = next(s.labels("yhat") for s in sources.values() if isinstance(s, Tally))
    good = favorable_label(labels, named, required=False)
    label = meant.scored(labels) if names.y_score else None
    at = _decided_at(cells, columns["yhat"], group, label) if cut is None else cut.at
    return Evidence(
        task_of_labels(labels, task),
        group.names,
        sources,
        labels,
        good,
        assumed=good is not None and meant.favorable is None,
        decided_at=at,
        notes=(*([] if cut is None else [cut.note(label, good)]), *group.notes, *notes),
        score_of=label,
    )


def _label_cells(
    table: Any,
    names: ColumnNames,
    survey: Survey,
    keys: dict[str, Any],
    extremes: dict[str, Any],
) -> Cells:
    """Count by truth, decision, stratum and group, unless some of them are amounts.

    Whether they are is seen in the cells, so that no look over the rows is needed to know it.
    """
    amounts = _fractional(table, names.groups.names)
    most = MOST_CELLS if survey.doubtful or amounts else None
    given: dict[str, Any] = {
        "columns": [*names.strata.names, *names.cluster, *names.groups.names],
        "keys": keys,
        "extremes": extremes,
        "totaled": {name: as_float(name) for name in names.replicates},
        "finite": names.replicates,
        "weight": names.sample_weight,
        "rows": names.rows,
    }
    cells = count_cells(table, **given, most_cells=most)
    if most is not None and len(cells.rows) > most:  # and these are not all
        _check_amounts(table, names, survey.doubtful)
        return count_cells(table, **given)
    for key, name in (("y", names.y_true), ("yhat", names.y_pred)):
        if name in survey.doubtful:
            _check_classes(str(name), len(cells.labels(key, str(name)).labels))
    return cells


def _sources(
    cells: Cells, columns: dict[str, Column], group: Groups, names: ColumnNames
) -> tuple[dict[str, Source], tuple[str, ...]]:
    """The tallies of the cells, and notes of missing strata."""
    together = cells.clusters(names.cluster)
    counts = cells.tally(columns | together, group, replicates=names.replicates)
    sources: dict[str, Source] = {"predictions": counts}
    if names.y_true:
        sources["labels"] = counts
    if not names.strata.names:
        return sources, ()
    stratum = names.strata.of(cells)
    within = {"yhat": columns["yhat"], "stratum": Column(stratum.codes, stratum.labels)}
    sources["strata"] = cells.tally(within | together, group, replicates=names.replicates)
    return sources, stratum.notes


def _decided_at(cells: Cells, decision: Column, group: Groups, label: Label) -> float | None:
    """The threshold that explains the decisions for the score's label, if one does."""
    if label not in decision.labels or "value" not in cells.least:
        return None
    kept = group.codes < len(group.labels)
    selected = (decision.codes == decision.labels.index(label))[kept]
    if selected.all() or not selected.any():
        return None
    least, most = cells.least["value"][kept], cells.most["value"][kept]
    return threshold_behind(float(least[selected].min()), float(most[~selected].max()))


def _labels(cells: Cells, names: ColumnNames, meant: Meant) -> dict[str, Column]:
    """Truth and decision with shared labels; a score alone decides for the label it is of."""
    truth = {"y": cells.labels("y", names.y_true)} if names.y_true else {}
    if names.y_pred:
        return share_classes(truth | {"yhat": cells.labels("yhat", names.y_pred)})
    labels = truth["y"].labels if truth else ()
    if len(labels) != 2:
        raise InputError(
            f"A score alone decides between two known labels; here are {list(labels)}. "
            "Name the column of the predictions."
        )
    at = labels.index(meant.scored(labels))
    chosen = np.where(cells.keys["yhat"].astype(bool), at, 1 - at).astype(np.uint8)
    return truth | {"yhat": Column(chosen, labels)}


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
