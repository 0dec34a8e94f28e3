"""The sums that a part adds to a watch, and the evidence of all parts against equality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.tallies import CLASSES, Axis, Tally, gathered
from evenhand._errors import InputError, InputTypeError
from evenhand.criteria.questions import Question
from evenhand.watch.clusters import (
    UNIT,
    Pairs,
    bets_of,
    means_of,
    pairs_of,
    rates_of_means,
    shaped,
)
from evenhand.watch.evalues import Excess, against_later, log_against_equality, log_mean
from evenhand.watch.ledger import MOST_PAIRS, check_size, check_total
from evenhand.watch.rates import Limits, Rates, all_rates_of, sources_of_cells, watched_cells
from evenhand.watch.within import SCORES, scores_of

Floats = NDArray[np.float64]

SUMS = ("beyond", "variance", "third")
NEEDS_TRUTH = ("labels", "bins", "losses")
AXES = {
    "predictions": ["yhat", "group"],
    "labels": ["y", "yhat", "group"],
    "strata": ["yhat", "stratum", "group"],
    "bins": ["bin", "group"],
    "moments": ["group"],
    "losses": ["group"],
    "lists": ["group"],
}


class Entry(NamedTuple):
    """Sums to add under a name; those that `is_total` are not stored by day."""

    name: str
    is_total: bool
    sums: Tally


def check_counts(counts: Tally, questions: Iterable[Question]) -> None:
    """Refuse counts that cannot be added up over parts, or are not counts of rows."""
    if not isinstance(counts, Tally):
        raise InputTypeError(
            f"A watch takes the counts of a part, a Tally, not {type(counts).__name__}: "
            "count the rows with evenhand.tally."
        )
    if counts.sums["rows"].ndim > 1 or (counts.sums["rows"] % 1 != 0).any():
        raise InputError(f"{counts} cannot be watched: it is not one count of whole rows.")
    check_total(counts)
    axes = {axis.name: axis.size for axis in counts.axes}
    for needs in {question.criterion.statistic.needs for question in questions}:
        check_size([prod(axes.get(name, 1) for name in AXES[needs])])
    if len(counts.clusters) > 1:
        raise InputError(
            "Rows that are related in several ways cannot be watched: count them with one column "
            "as cluster=, the one whose values are independent of each other."
        )
    if "weight" in counts.sums:
        raise InputError(
            "Weighted rows cannot be watched: evidence at every look needs rows of equal weight. "
            "Keep each row with a chance of its weight over the greatest possible one, and count "
            "those that are left without weights: their rates are the weighted rates."
        )


def sources_of(
    counts: Tally, questions: Iterable[Question], *, late: bool = False
) -> dict[str, Tally]:
    """The summaries of a part that questions need; if it is late, those that need the truth."""
    axes = {axis.name for axis in counts.axes}
    kinds = dict.fromkeys(question.criterion.statistic.needs for question in questions)
    return {
        needs: _along(counts, AXES[needs])
        for needs in kinds
        if set(AXES[needs]) <= axes and not (late and needs not in NEEDS_TRUTH)
    }


def baseline_of(
    counts: Tally, questions: Iterable[Question], favorable: Label, limits: Limits
) -> dict[str, Tally]:
    """The sums of a baseline, by the names of the sums that they are compared with."""
    questions = tuple(questions)
    check_counts(counts, questions)
    if not counts.clusters:
        return sources_of(counts, questions)
    entries = entries_of(counts, questions, favorable, limits)
    return {
        entry.name: entry.sums for entry in entries if entry.name.startswith(("means ", "classes "))
    }


def entries_of(
    counts: Tally,
    questions: Iterable[Question],
    favorable: Label,
    limits: Limits,
    *,
    late: bool = False,
) -> list[Entry]:
    """All sums that a part adds."""
    questions = tuple(questions)
    pairs = pairs_of(counts) if counts.clusters else None
    sources = sources_of(pairs.counts if pairs else counts, questions, late=late)
    if not sources:
        axes = [axis.name for axis in counts.axes]
        names = [question.name for question in questions]
        raise InputError(
            f"Nothing can be learned from these counts, by {', '.join(axes)}, about {names}."
        )
    entries = [Entry(needs, False, sums) for needs, sums in sources.items()]
    if pairs:  # clusters differ between parts, so only their classes are stored
        class_axes = [axis.name for axis in counts.axes if axis.name in CLASSES]
        entries = [
            Entry(f"classes {class_axis}", True, _along(counts, [class_axis, "group"]))
            for class_axis in class_axes
        ]
    for question in questions:
        source = sources.get(question.criterion.statistic.needs)
        if source is None:
            continue
        name, rates = question.name, all_rates_of(source, question, limits)
        places = watched_cells(rates.cells, question, favorable)
        observed = rates if pairs is None else _by_cluster(rates, pairs, question, limits)
        entries += _information_entries(observed, question)
        if not places:
            continue
        rates, observed = rates.select(places), observed.select(places)
        scores = zip(
            SCORES, scores_of(observed), strict=False
        )  # information is of rows, not classes
        entries.append(Entry(f"apart {name}", False, _stored(dict(scores), observed)))
        if pairs:
            entries.append(Entry(f"means {name}", False, means_of(rates, pairs)))
            telling = rates.select(_informative(rates.strata))
            entries.append(Entry(f"bets {name}", False, bets_of(telling, pairs)))
        else:
            later = dict(zip(SUMS, against_later(rates.hits, rates.sizes), strict=True))
            entries.append(Entry(f"after {name}", True, _stored(later, rates)))
    return entries


def _by_cluster(rates: Rates, pairs: Pairs, question: Question, limits: Limits) -> Rates:
    """The rates of a part in which each cluster counts once."""
    return rates_of_means(means_of(rates, pairs), question, limits)


def _information_entries(rates: Rates, question: Question) -> list[Entry]:
    """A part's information on each group against the others and on each pair of groups."""
    sources = sources_of_cells(question.criterion.statistic, rates.cells)
    first = {label: i for i, label in reversed([*enumerate(sources)])}
    sizes = rates.sizes[[*first.values()]]
    total = np.maximum(sizes.sum(axis=1, keepdims=True), 1.0)
    axes = (Axis("cell", tuple(first)), Axis("group", rates.groups))
    entries = [
        Entry(
            f"within {question.name}",
            False,
            _in_units(axes, {"information": sizes * (1 - sizes / total)}),
        )
    ]
    number = len(rates.groups)
    if number > 1 and len(first) * number**2 <= MOST_PAIRS:
        products = sizes[:, :, None] * sizes[:, None, :] / total[:, :, None]
        products *= 1 - np.eye(number)
        peers = (*axes, Axis("peer", rates.groups))
        entries.append(Entry(f"pairs {question.name}", True, _in_units(peers, {"both": products})))
    return entries


def excess_of(sums: Mapping[str, NDArray[np.int64]]) -> Excess:
    """The excess from stored sums."""
    return Excess(*(sums[name] / UNIT for name in SUMS))


def log_differ(
    totals: Mapping[str, Tally], question: Question, weights: Floats, parts: int
) -> float:
    """Log e-value against equality of all groups, from the sums of all parts.

    Classes of the same rows are averaged. Strata have different rows: their average and their
    product have weights of one half each.
    """
    cells = totals[f"apart {question.name}"].labels("cell")
    strata = question.criterion.statistic.strata(cells)
    telling = _informative(strata)
    single, joint = (
        [part[telling] for part in excess_of(shaped(totals[f"{kind} {question.name}"]))]
        for kind in ("apart", "after")
    )
    slack = slack_of(parts)
    by_cell = np.array(
        [
            log_against_equality(Excess(*single_sums), Excess(*joint_sums), weights, slack)
            for single_sums, joint_sums in zip(
                zip(*single, strict=True), zip(*joint, strict=True), strict=True
            )
        ]
    )
    strata = strata[telling]
    logs = np.array([_log_average(by_cell[strata == stratum]) for stratum in np.unique(strata)])
    if len(logs) == 1:
        return float(logs[0])
    return float(np.logaddexp(_log_average(logs), logs.sum()) - np.log(2))


def slack_of(parts: int) -> float:
    """The largest rounding error of a sum over parts."""
    return 0.5 * parts / UNIT


def _along(counts: Tally, names: list[str]) -> Tally:
    """The same counts along some of the axes."""
    axes = [axis.name for axis in counts.axes]
    if names == axes:
        return replace(counts, notes=())
    cells = counts.cells[[axes.index(name) for name in names]]
    return gathered(tuple(counts.axis(name) for name in names), cells, counts.sums, ())


def _informative(strata: NDArray[np.intp]) -> list[int]:
    """The cells, without one of two complementary classes."""
    places: list[int] = []
    for stratum in np.unique(strata):
        cells = np.flatnonzero(strata == stratum).tolist()
        places += cells[1:] if len(cells) == 2 else cells
    return places


def _stored(sums: Mapping[str, Floats], rates: Rates) -> Tally:
    """Sums of a part by cell and group, as whole numbers."""
    return _in_units((Axis("cell", rates.cells), Axis("group", rates.groups)), sums)


def _in_units(axes: tuple[Axis, ...], sums: Mapping[str, Floats]) -> Tally:
    shape = tuple(axis.size for axis in axes)
    places = np.array(np.unravel_index(np.arange(prod(shape)), shape), dtype=np.intp)
    return Tally(
        axes, places, {k: np.rint(UNIT * each).astype(np.int64).ravel() for k, each in sums.items()}
    )


def _log_average(logs: Floats) -> float:
    return float(log_mean(logs, np.full(len(logs), 1 / len(logs))))
