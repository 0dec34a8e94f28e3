"""The counts with which a page regroups and moves thresholds, without reading rows again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.metrics import METRICS
from evenhand._audit.naming import Names
from evenhand._columns import Label
from evenhand._columns.bins import binned
from evenhand._columns.codes import positions, union
from evenhand._data.amounts import quantile_edges_of
from evenhand._data.evidence import Evidence, part_of
from evenhand._data.groups import MERGED, Bins, show
from evenhand._data.tallies import Tally

Floats = NDArray[np.float64]

MOST_GROUPS = 2_000  # that a page can hold
MOST_CELLS = 200_000  # numbers that a page can hold: with many groups, fewer thresholds
OF_DECISIONS = ("selection_rate",)
OF_OUTCOMES = ("true_positive_rate", "false_positive_rate", "precision", "accuracy")
OF_AMOUNTS = ("mean_prediction", "mean_target", "mean_error")


def counts_document(evidence: Evidence) -> dict[str, Any] | None:
    """The counts of every group as JSON values; None if a page cannot hold or use them.

    For labels, people by truth and decision (the favorable one second), and also by score where a
    score decides; for numbers, and classes without a favorable one, sums whose ratios are shown.
    """
    if len(evidence.groups) > MOST_GROUPS or evidence.task == "ranking":
        return None
    about = {
        "columns": list(evidence.columns),
        "merged": MERGED,
        "groups": shown_groups(evidence),
        "rows": evidence.rows.astype(np.int64).tolist(),
        "weighted": "weight" in evidence.counted.sums,
        "favorable": None if evidence.favorable is None else show(evidence.favorable),
        "decided": None,
        "score": None,
        "ratios": {},
    }
    if evidence.is_of_labels and evidence.favorable is not None:
        about |= _of_decisions(evidence)
    else:
        about |= {"ratios": _of_amounts(evidence)}
        about |= {"metrics": _metrics(list(about["ratios"]))}
    return about


def shown_groups(evidence: Evidence) -> list[list[str]]:
    """The values of each group by column, as displayed."""
    columns = evidence.columns
    names = Names.of([(columns, label) for label in evidence.groups])
    columns_of_names = [
        [names((name,), part) for part in _parts(evidence, at)] for at, name in enumerate(columns)
    ]
    return [list(parts) for parts in zip(*columns_of_names, strict=True)]


def in_bins(evidence: Evidence, bins: Bins) -> Evidence | None:
    """Regroup evidence, whose groups are single numbers, by bins of the numbers.

    None if the edges do not contain all numbers, for which counting rows raises an error.
    """
    columns = [_parts(evidence, at) for at in range(len(evidence.columns))]
    for name, edges_or_number in bins.items():
        at = evidence.columns.index(name)
        values = np.array(columns[at], dtype=np.float64)
        finite = np.isfinite(values)
        if not finite.any():
            return None
        if isinstance(edges_or_number, int):
            rows = evidence.rows[finite].astype(np.int64)
            edges = quantile_edges_of(values[finite], rows, edges_or_number)
        else:
            edges = np.asarray(edges_or_number, dtype=np.float64)
        if values[finite].min() < edges[0] or values[finite].max() > edges[-1]:
            return None
        cut = binned(values, edges)
        columns[at] = [cut.labels[code] for code in cut.codes]
    parts = columns[0] if len(columns) == 1 else [*zip(*columns, strict=True)]
    labels = union(parts)
    return evidence.regrouped(positions(parts, labels), labels)


def _parts(evidence: Evidence, column: int) -> list[Label]:
    return [_part(label, column, len(evidence.columns)) for label in evidence.groups]


def _part(label: Label, column: int, columns: int) -> Label:
    return MERGED if label == MERGED else part_of(label, column, columns)


def _metrics(keys: Sequence[str]) -> list[dict[str, Any]]:
    return [METRICS[key]._asdict() for key in keys]


def _of_decisions(evidence: Evidence) -> dict[str, Any]:
    """Tables (group, truth, decision) and, by score, (group, truth, bin); favorable second."""
    judged, good = "labels" in evidence.sources, evidence.favorable
    counts = evidence.sources["labels" if judged else "predictions"]
    assert isinstance(counts, Tally)
    if judged:
        table = np.moveaxis(counts.table("y", "yhat", "group"), 2, 0)
        table = _split(table, counts.labels("y"), good, 1)
        table = _split(table, counts.labels("yhat"), good, 2)
    else:
        table = _split(counts.table("yhat", "group").T[:, None], counts.labels("yhat"), good, 2)
    right = OF_OUTCOMES if len(evidence.classes) <= 2 else OF_OUTCOMES[:-1]
    return {
        "metrics": _metrics([*OF_DECISIONS, *(right if judged else ())]),
        "decided": _plain(table),
        "score": _of_scores(evidence),
    }


def _of_scores(evidence: Evidence) -> dict[str, Any] | None:
    counts = evidence.thresholds
    if counts is None or evidence.score_of is None:
        return None
    table = np.moveaxis(counts.table("bin", "y", "group"), 0, 2)  # (truth, group, bin)
    table = _split(np.moveaxis(table, 1, 0), counts.labels("y"), evidence.favorable, 1)
    edges = np.array(counts.labels("bin")[1:-1], dtype=np.float64)
    limit = max(MOST_CELLS // (2 * len(table)), 2)
    ends = np.unique(np.linspace(0, len(edges) - 1, min(limit, len(edges))).astype(np.intp))
    table = np.add.reduceat(table, [0, *(ends + 1)], axis=2)
    places = positions(counts.groups, evidence.groups)
    by_group = np.zeros((len(evidence.groups), *table.shape[1:]))
    by_group[places] = table
    return {
        "at": edges[ends].tolist(),
        "counts": _plain(by_group),
        "is_turned": evidence.is_turned,
        "decided_at": evidence.decided_at,
    }


def _of_amounts(evidence: Evidence) -> dict[str, Any]:
    """Numerators and denominators of means, by group."""
    if evidence.is_of_labels:
        if "labels" not in evidence.sources:
            return {}
        counts = evidence.counted
        table = counts.table("y", "yhat", "group")
        at = positions(counts.labels("y"), counts.labels("yhat"))
        right = table[np.arange(len(at)), at].sum(axis=0)
        return {"accuracy": [_plain(right), _plain(counts.table("group"))]}
    sums = evidence.sources["moments"]
    assert isinstance(sums, Tally)
    weight = _plain(evidence.counted.table("group"))
    predicted = sums.table("group", of="yhat")
    if "y" not in sums.sums:
        return {"mean_prediction": [_plain(predicted), weight]}
    true = sums.table("group", of="y")
    totals = (predicted, true, predicted - true)
    return {key: [_plain(total), weight] for key, total in zip(OF_AMOUNTS, totals, strict=True)}


def _split(table: Floats, labels: Sequence[Label], good: Label, axis: int) -> Floats:
    """Merge all unfavorable labels of an axis, and put the favorable one second."""
    is_good = np.array([label == good for label in labels], dtype=bool)
    parts = [np.compress(side, table, axis=axis).sum(axis=axis) for side in (~is_good, is_good)]
    return np.stack(parts, axis=axis)


def _plain(table: Floats) -> Any:
    """A table as lists, with whole numbers as integers."""
    rounded = np.rint(table)
    return rounded.astype(np.int64).tolist() if np.array_equal(rounded, table) else table.tolist()
