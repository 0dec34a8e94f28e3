"""Single rows of two groups with explaining columns, for strata that would be too many or small."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand._columns import Column
from evenhand._columns.bins import MOST_CLASSES
from evenhand._columns.codes import Label
from evenhand._columns.encoding import check_lengths, classes, encode, weights
from evenhand._data.counting import moment_columns, share_classes
from evenhand._data.data import Data, columns_of
from evenhand._data.groups import clusters, groups, show
from evenhand._data.groups import columns_of as named_columns
from evenhand._data.rows import cut_scores
from evenhand._data.surveys import SurveyWeights
from evenhand._data.tallies import Axis, Tally
from evenhand._errors import InputError
from evenhand._why.entries import Codes, Entries, Floats
from evenhand._words import plural
from evenhand.statistics import KINDS, Statistic

MOST_STRATA = 200
ROWS_EACH = 20  # of a stratum, on average


class Rows(NamedTuple):
    """Rows with values whose weighted mean is the statistic, and their positions among all rows."""

    entries: Entries
    values: Floats
    kept: Codes


def named(by: Any) -> list[str]:
    """The names of explaining columns, if they are given by name."""
    listed = [by] if isinstance(by, str) else by
    is_named = isinstance(listed, list | tuple) and all(isinstance(item, str) for item in listed)
    return list(listed) if is_named else []


def explaining(data: Data, by: Any) -> dict[str, Any]:
    """The explaining columns by name."""
    names = named(by)
    if names and data.data is not None:
        columns = dict(columns_of(data.data, names, several=True))
    else:
        columns = named_columns(by, "by")
    if list(columns) == ["group"] and not names:
        columns = {"the column": columns["group"]}
    for name, column in columns.items():
        _check_explains(name, encode(column, name))
    return columns


def _check_explains(name: str, column: Column) -> None:
    """Refuse a column that lacks values, has infinite ones, or is the same in every row."""
    rows, infinite = (
        len(column.codes),
        [label for label in column.labels if label in (np.inf, -np.inf)],
    )
    if column.missing:
        raise InputError(
            f"{column.missing:,} of {plural(rows, 'row')} "
            f"{'has' if column.missing == 1 else 'have'} no value of {name!r}, an explaining "
            "column. Drop such rows, or give them a value of their own."
        )
    if infinite:
        raise InputError(
            f"{name!r}, an explaining column, has the value {infinite[0]}. Drop such rows, or give "
            "them a finite value."
        )
    if len(column.labels) == 1:
        raise InputError(
            f"{name} has one value, {show(column.labels[0])}, in all these rows, so it explains "
            "nothing. Leave it out."
        )


def check_outcome(columns: dict[str, Any], outcome: Any) -> None:
    """Refuse a column whose values are the labels of the outcome under other names."""
    if outcome is None:
        return
    decided = encode(outcome, "y_pred")
    labels = len(decided.labels)
    for name, column in columns.items():
        coded = encode(column, name)
        if len(coded.codes) != len(decided.codes) or not 1 < len(coded.labels) == labels:
            continue
        pairs = np.asarray(decided.codes, np.int64) * labels + np.asarray(coded.codes, np.int64)
        if labels <= MOST_CLASSES and len(np.unique(pairs)) == labels:
            raise InputError(outcome_of(name))


def outcome_of(name: str) -> str:
    """The error message for a column that is the outcome."""
    return (
        f"{name} gives the outcome in every row: it is the outcome under another name, and "
        "explains nothing. Name columns that were known before the decision."
    )


def are_strata(columns: dict[str, Any]) -> bool:
    """Whether there are few combinations of values, with enough rows to compare groups in each."""
    coded = [encode(column, name) for name, column in columns.items()]
    for column in coded:
        labels = column.labels
        are_numbers = all(isinstance(label, int | float) for label in labels if label is not None)
        if are_numbers and len(labels) > MOST_CLASSES:
            return False
    sizes = {len(column.codes) for column in coded}
    if len(sizes) > 1:  # another check refuses this
        return True
    codes = np.zeros(sizes.pop(), np.int64)
    for column in coded:
        codes = codes * len(column.labels) + np.asarray(column.codes, np.int64)
        codes = np.unique(codes, return_inverse=True)[1]
    strata = int(codes.max(initial=0)) + 1
    return strata <= min(MOST_STRATA, max(len(codes) / ROWS_EACH, 2))


def rows_of(
    data: Data, statistic: Statistic, cell: Label, pair: tuple[Label, Label], size: int
) -> Rows:
    """The rows of two groups that the statistic counts; `size` is that of explaining columns."""
    columns = data.columns(
        "y_true", "y_pred", "y_score", "sensitive_features", "sample_weight", "cluster"
    )
    if isinstance(columns["sample_weight"], SurveyWeights):
        raise InputError(
            "Explaining columns that are amounts, or make many strata, are not read with a "
            "survey's weights yet: cut amounts into ranges, or name fewer columns."
        )
    if columns["y_pred"] is None and data.threshold is not None:
        scored = (
            columns["y_true"],
            columns["y_score"],
            data.threshold,
            data.score_of,
            data.favorable,
        )
        columns["y_pred"] = cut_scores(*scored).column
    above, below = _sides(columns["y_true"], columns["y_pred"], statistic, cell)
    group_of = groups(columns["sensitive_features"])
    weight = weights(columns["sample_weight"])
    check_lengths(y_pred=above, sensitive_features=group_of, by=range(size), sample_weight=weight)
    places = [group_of.labels.index(label) for label in pair]
    kept = np.flatnonzero(np.isin(group_of.codes, places) & (below > 0))
    share = below[kept] if weight is None else weight[kept] * below[kept]
    kept, share = kept[share > 0], share[share > 0]
    group = (group_of.codes[kept] == places[1]).astype(np.intp)
    cluster_codes = (column.codes[kept] for column in clusters(columns["cluster"]).values())
    together = tuple(np.unique(codes, return_inverse=True)[1] for codes in cluster_codes)
    entries = Entries(group, share, share**2, np.ones(len(kept)), together)
    return Rows(entries, above[kept] / below[kept], kept)


def _sides(y_true: Any, y_pred: Any, statistic: Statistic, cell: Label) -> tuple[Floats, Floats]:
    """Numerator and denominator of each row."""
    if KINDS[statistic.needs].about != "labels":
        assert statistic.mean_of is not None
        values = moment_columns(y_true, y_pred)[statistic.mean_of]
        return values, np.ones(len(values))
    labels_by_axis = {"y": y_true, "yhat": y_pred}
    columns = share_classes(
        {
            axis: classes(column, axis)
            for axis, column in labels_by_axis.items()
            if column is not None
        }
    )
    labels = columns["yhat"].labels
    cells = np.array(
        np.unravel_index(np.arange(len(labels) ** len(columns)), (len(labels),) * len(columns))
    )
    axes = tuple(Axis(name, labels) for name in columns)
    rows = np.arange(cells.shape[1])
    single = Tally(
        (*axes, Axis("group", tuple(rows.tolist()))),
        np.array([*cells, rows]),
        {"rows": np.ones(len(rows))},
    )
    above, below = sides_of(single, statistic, cell)
    kind = np.ravel_multi_index(
        tuple(np.asarray(column.codes, np.intp) for column in columns.values()),
        (len(labels),) * len(columns),
    )
    return above[kind], below[kind]


def sides_of(single: Tally, statistic: Statistic, cell: Label) -> tuple[Floats, Floats]:
    """Numerator and denominator in a cell of each group of a tally, a single row."""
    sides = statistic.fraction(single)
    if sides is None:
        raise InputError(
            f"{statistic.formula} is not a ratio of sums over rows, so it has no composition: "
            "explain a rate such as statistical_parity, equal_opportunity or accuracy_parity."
        )
    at = statistic.read(single).cells.index(cell)
    above, below = np.broadcast_arrays(*sides)
    if (above[at][below[at] == 0] != 0).any():
        raise InputError(
            f"{statistic.formula} counts other people above the line than below it, so it has no "
            "composition: explain a rate such as statistical_parity, equal_opportunity or "
            "accuracy_parity."
        )
    return np.asarray(above[at], np.float64), np.asarray(below[at], np.float64)
