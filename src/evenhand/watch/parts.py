"""What a part of the rows adds to a watch, and what all parts say of "all groups alike"."""

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
from evenhand.watch.evalues import Excess, after, log_alike, log_mean
from evenhand.watch.ledger import MOST_PAIRS, check_size, check_total
from evenhand.watch.rates import Limits, Rates, all_rates_of, asked, sources_of_cells
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
    """Sums to add under a name; `whole` are those that are not kept by day."""

    name: str
    whole: bool
    sums: Tally


def check_counts(counts: Tally, questions: Iterable[Question]) -> None:
    """Refuse what cannot be added up over parts, or is not a count of rows."""
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
            "Weighted rows cannot be watched: evidence at every look is of rows that count alike. "
            "Keep each row with a chance of its weight over the greatest possible one, and count "
            "those that are left without weights: their rates are the weighted rates."
        )


def sources_of(
    counts: Tally, questions: Iterable[Question], *, late: bool = False
) -> dict[str, Tally]:
    """What the questions need of a part; where it is late, what needs the truth."""
    axes = {axis.name for axis in counts.axes}
    wanted = dict.fromkeys(question.criterion.statistic.needs for question in questions)
    return {
        needs: _along(counts, AXES[needs])
        for needs in wanted
        if set(AXES[needs]) <= axes and not (late and needs not in NEEDS_TRUTH)
    }


def baseline_of(
    counts: Tally, questions: Iterable[Question], favorable: Label, limits: Limits
) -> dict[str, Tally]:
    """What there is to compare with, by the names of the sums that it is compared with."""
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
    """All that a part adds."""
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
    if pairs:  # pairs come and go: of their classes, only which there were is kept
        there = [axis.name for axis in counts.axes if axis.name in CLASSES]
        entries = [Entry(f"classes {at}", True, _along(counts, [at, "group"])) for at in there]
    for question in questions:
        source = sources.get(question.criterion.statistic.needs)
        if source is None:
            continue
        name, rates = question.name, all_rates_of(source, question, limits)
        wanted = asked(rates.cells, question, favorable)
        seen = rates if pairs is None else _by_cluster(rates, pairs, question, limits)
        entries += _compared(seen, question)
        if not wanted:
            continue
        rates, seen = rates.kept(wanted), seen.kept(wanted)
        scores = zip(SCORES, scores_of(seen), strict=False)  # information is of rows, not classes
        entries.append(Entry(f"apart {name}", False, _stored(dict(scores), seen)))
        if pairs:
            entries.append(Entry(f"means {name}", False, means_of(rates, pairs)))
            telling = rates.kept(_telling(rates.strata))
            entries.append(Entry(f"bets {name}", False, bets_of(telling, pairs)))
        else:
            later = dict(zip(SUMS, after(rates.hits, rates.sizes), strict=True))
            entries.append(Entry(f"after {name}", True, _stored(later, rates)))
    return entries


def _by_cluster(rates: Rates, pairs: Pairs, question: Question, limits: Limits) -> Rates:
    """The rates of a part of which a cluster counts once."""
    return rates_of_means(means_of(rates, pairs), question, limits)


def _compared(rates: Rates, question: Question) -> list[Entry]:
    """How much a part compares each group with the others, and each two; classes share rows."""
    sources = sources_of_cells(question.criterion.statistic, rates.cells)
    first = {label: i for i, label in reversed([*enumerate(sources)])}
    sizes = rates.sizes[[*first.values()]]
    total = np.maximum(sizes.sum(axis=1, keepdims=True), 1.0)
    axes = (Axis("cell", tuple(first)), Axis("group", rates.groups))
    entries = [
        Entry(
            f"within {question.name}",
            False,
            _whole(axes, {"information": sizes * (1 - sizes / total)}),
        )
    ]
    number = len(rates.groups)
    if number > 1 and len(first) * number**2 <= MOST_PAIRS:
        both = sizes[:, :, None] * sizes[:, None, :] / total[:, :, None]
        both *= 1 - np.eye(number)
        peers = (*axes, Axis("peer", rates.groups))
        entries.append(Entry(f"pairs {question.name}", True, _whole(peers, {"both": both})))
    return entries


def excess_of(sums: Mapping[str, NDArray[np.int64]]) -> Excess:
    """Sums that were stored."""
    return Excess(*(sums[name] / UNIT for name in SUMS))


def log_differ(
    totals: Mapping[str, Tally], question: Question, weights: Floats, parts: int
) -> float:
    """Log e-value against "all groups alike", from the sums of all parts.

    Classes of the same rows are averaged. Strata are of different rows: their average and their
    product count one half each.
    """
    cells = totals[f"apart {question.name}"].labels("cell")
    strata = question.criterion.statistic.strata(cells)
    telling = _telling(strata)
    single, joint = (
        [part[telling] for part in excess_of(shaped(totals[f"{which} {question.name}"]))]
        for which in ("apart", "after")
    )
    slack = slack_of(parts)
    each = np.array(
        [
            log_alike(Excess(*one), Excess(*two), weights, slack)
            for one, two in zip(zip(*single, strict=True), zip(*joint, strict=True), strict=True)
        ]
    )
    strata = strata[telling]
    logs = np.array([_log_average(each[strata == stratum]) for stratum in np.unique(strata)])
    if len(logs) == 1:
        return float(logs[0])
    return float(np.logaddexp(_log_average(logs), logs.sum()) - np.log(2))


def slack_of(parts: int) -> float:
    """How far rounding may have moved a sum over many parts."""
    return 0.5 * parts / UNIT


def _along(counts: Tally, names: list[str]) -> Tally:
    """The same rows along some of the axes."""
    axes = [axis.name for axis in counts.axes]
    if names == axes:
        return replace(counts, notes=())
    cells = counts.cells[[axes.index(name) for name in names]]
    return gathered(tuple(counts.axis(name) for name in names), cells, counts.sums, ())


def _telling(strata: NDArray[np.intp]) -> list[int]:
    """The cells but one of two: what one class gains, the other loses."""
    kept: list[int] = []
    for stratum in np.unique(strata):
        cells = np.flatnonzero(strata == stratum).tolist()
        kept += cells[1:] if len(cells) == 2 else cells
    return kept


def _stored(sums: Mapping[str, Floats], rates: Rates) -> Tally:
    """Sums of a part by cell and group, as whole numbers."""
    return _whole((Axis("cell", rates.cells), Axis("group", rates.groups)), sums)


def _whole(axes: tuple[Axis, ...], sums: Mapping[str, Floats]) -> Tally:
    shape = tuple(axis.size for axis in axes)
    places = np.array(np.unravel_index(np.arange(prod(shape)), shape), dtype=np.intp)
    return Tally(
        axes, places, {k: np.rint(UNIT * each).astype(np.int64).ravel() for k, each in sums.items()}
    )


def _log_average(logs: Floats) -> float:
    return float(log_mean(logs, np.full(len(logs), 1 / len(logs))))
