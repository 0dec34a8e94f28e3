"""Sizes of groups and what is supposed to be true of them, as they are passed to `power`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns import Label
from evenhand._columns.encoding import floats
from evenhand._data.tallies import MOST_ROWS, Tally
from evenhand._errors import InputError, refusing
from evenhand._uncertainty.clusters import LEAST_RATIO, independent, plain, shared_clusters
from evenhand._uncertainty.curves import Estimates, Floats, curve_at
from evenhand._uncertainty.design import Clustered, Means, Rates
from evenhand._uncertainty.estimates import estimates_of
from evenhand._words import did_you_mean
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named

Design = Rates | Means  # or Clustered, which are means of clusters


class Seen(NamedTuple):
    """What a tally shows of each group: its rate, or its mean and how much single rows vary."""

    values: Floats
    sd: Floats | None = None


def check_share(name: str, value: float) -> None:
    """Refuse what is not a probability."""
    if not 0 < value < 1:
        raise InputError(f"{name} lies between 0 and 1, such as 0.8 or 0.95; it is {value}.")


def sizes_of(
    sizes: Any, criterion: str | Criterion | None, favorable: Label
) -> tuple[tuple[Label, ...], Floats, Seen | None, Floats | None]:
    """Groups, their rows, and where they were counted their values and what clusters amount to."""
    seen: Seen | None = None
    effective: Floats | None = None
    groups: tuple[Label, ...]
    if isinstance(sizes, Tally):
        if criterion is None and "yhat" not in [axis.name for axis in sizes.axes]:
            known = "exposure_parity" if "exposure" in sizes.sums else "weak_parity"
            raise InputError(
                "This tally has no predicted labels, so say which of its numbers is meant, such as "
                f"criterion={known!r}."
            )
        asked = named("statistical_parity" if criterion is None else criterion)
        groups, rows, seen, effective = _counted(sizes, asked, favorable)
    elif (unused := _of_counts(criterion, favorable)) is not None:
        raise InputError(
            f"{unused} says which rate of a tally is meant, and sizes is not a tally. Pass a tally "
            "as sizes; or leave it out, and pass as sizes the rows that your rate is about."
        )
    elif isinstance(sizes, Mapping):
        groups, rows = tuple(sizes), _numbers([*sizes.values()], "sizes")
    else:
        rows = _numbers(sizes, "sizes")
        groups = tuple(f"group {i + 1}" for i in range(rows.size))
    if rows.ndim != 1 or len(rows) < 2:
        raise InputError(f"sizes are the rows of at least two groups; got {sizes!r}.")
    if not (np.isfinite(rows) & (rows > 0)).all():
        raise InputError(f"Every group needs a size above 0; the sizes are {rows.tolist()}.")
    if rows.max() > MOST_ROWS or float(rows.sum()) > MOST_ROWS:
        raise InputError(f"sizes add up to more than {MOST_ROWS:,}: {rows.tolist()}.")
    return groups, rows, seen, effective


def _of_counts(criterion: str | Criterion | None, favorable: Label) -> str | None:
    """What was said that only counts could answer."""
    if criterion is not None:
        return f"criterion={criterion if isinstance(criterion, str) else criterion.name!r}"
    return None if favorable is None else f"favorable={favorable!r}"


def _counted(
    counts: Tally, asked: Criterion, favorable: Label
) -> tuple[tuple[Label, ...], Floats, Seen, Floats | None]:
    """The rows and values of groups that were observed; of clusters, what the rows amount to."""
    estimates = estimates_of(counts, asked, favorable)
    if asked.statistic.means and estimates.counts is None and not asked.statistic.conditions:
        return _means_counted(counts, asked, estimates)
    if estimates.counts is None:
        raise InputError(
            f"{asked.name} does not compare rates; pass the groups' sizes with means= and sd=."
        )
    values = estimates.values
    if len(values) == 2 and np.allclose(np.nan_to_num(values.sum(axis=0), nan=1.0), 1.0):
        values = values[1:]  # two classes: one rate is the other's complement
    if len(values) != 1:
        raise InputError(
            f"{asked.name} compares {len(values)} rates of every group, in the cells "
            f"{list(estimates.cells)}. Ask about one of them: pass favorable=, or a criterion of "
            "one rate such as 'equal_opportunity' or 'predictive_equality'."
        )
    hits, sizes = (part[-1] for part in estimates.counts)
    kept = np.isfinite(values[0]) & (sizes > 0)
    groups = tuple(group for group, here in zip(estimates.groups, kept, strict=True) if here)
    rates, counted = hits[kept] / sizes[kept], plain(counts)
    if not (isinstance(counted, Tally) and counted.clusters):
        return groups, sizes[kept], Seen(rates), None
    alone = estimates_of(independent(counted), asked, favorable).counts
    assert alone is not None
    return groups, alone[1][-1][kept], Seen(rates), sizes[kept]


def _means_counted(
    counts: Tally, asked: Criterion, estimates: Estimates
) -> tuple[tuple[Label, ...], Floats, Seen, Floats | None]:
    """The same of means, and of functions and ratios of them, from the widths of their limits."""
    single = estimates_of(independent(plain(counts)), asked)
    rows = counts.whole.table("group", of="rows")
    error, alone = (
        (curve_at(each.curves, 1.0) - curve_at(each.curves, -1.0))[0] / 2
        for each in (estimates, single)
    )
    kept = np.isfinite(estimates.values[0]) & (rows > 1) & (alone > 0) & (error > 0)
    groups = tuple(group for group, here in zip(estimates.groups, kept, strict=True) if here)
    seen = Seen(estimates.values[0][kept], (alone * np.sqrt(rows))[kept])
    effective = (rows * (alone / np.where(kept, error, 1.0)) ** 2)[kept]
    clustered = plain(counts)
    together = isinstance(clustered, Tally) and bool(clustered.clusters)
    return groups, rows[kept], seen, effective if together else None


def place_of(groups: tuple[Label, ...], rows: Floats, apart: Label) -> int:
    """Where the group is that is apart; by default the smallest."""
    if apart is None:
        return int(rows.argmin())
    with refusing(f"{apart!r} is not a group"):
        is_there = apart in set(groups)
    if not is_there:
        hint = did_you_mean(apart, groups)
        raise InputError(f"There is no group {apart!r}; there are {list(groups)}.{hint}")
    return groups.index(apart)


def supposed(
    groups: tuple[Label, ...],
    rows: Floats,
    seen: Seen | None,
    rates: Any,
    rate: float | None,
    means: Any,
    sd: Any,
) -> Design:
    """What is supposed to be true; the first guess of proportions has a row in every group."""
    rows = np.where((rows >= 1).all(), np.maximum(np.round(rows), 1.0), rows / rows.min())
    if seen is not None and seen.sd is not None:
        means, sd = (seen.values if means is None else means), (seen.sd if sd is None else sd)
    if sd is not None or means is not None:
        if rates is not None or rate is not None:
            raise InputError("Pass rates, or means with sd; not both.")
        if sd is None:
            raise InputError("Means need sd=, the standard deviation of single rows.")
        spread = _each(sd, groups, "sd")
        if not (spread > 0).all():
            raise InputError(f"sd must be above 0; it is {sd!r}.")
        values = np.zeros(len(rows)) if means is None else _each(means, groups, "means")
        return Means(rows, values, spread)
    if rates is not None and rate is not None:
        raise InputError("Pass rates, one for each group, or a common rate; not both.")
    given = rates if rates is not None else rate if rate is not None else seen and seen.values
    if given is None:
        raise InputError(
            "Pass rates= of every group, or a rate= that is common to them; "
            "for means pass sd=, the standard deviation of single rows."
        )
    values = _each(given, groups, "rates")
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"Rates lie between 0 and 1; they are {values.tolist()}.")
    return Rates(rows, values)


def _each(given: Any, groups: tuple[Label, ...], name: str) -> Floats:
    """A number for every group."""
    if isinstance(given, Mapping):
        if set(given) != set(groups):
            raise InputError(f"{name} are of {list(given)}, and sizes of {list(groups)}.")
        given = [given[group] for group in groups]
    values = _numbers(given, name)
    if values.ndim and values.shape != (len(groups),):
        raise InputError(f"There are {len(groups)} sizes and {values.size} {name}.")
    values = np.broadcast_to(values, (len(groups),)).copy()
    if not np.isfinite(values).all():
        raise InputError(f"{name} must be finite; they are {values.tolist()}.")
    return values


def _numbers(given: Any, name: str) -> Floats:
    """Real numbers, or one error."""
    with refusing(f"{name} must be numbers"):
        return floats(given, name)


def in_clusters(
    design: Design, groups: tuple[Label, ...], cluster: Any, correlation: Any
) -> Design:
    """The same groups, of rows that come in clusters, if they do."""
    if cluster is None:
        if correlation is not None:
            raise InputError("correlation= is that of rows in a cluster; say how many: cluster=.")
        return design
    if correlation is None:
        raise InputError(
            "Clusters need correlation=, the correlation of two rows of one cluster (the "
            "intraclass correlation): 0 if rows of a cluster are independent, 1 if they are all "
            "alike."
        )
    is_shared = np.ndim(cluster) == 0 and not isinstance(cluster, Mapping)
    number = _each(cluster, groups, "cluster")
    if not ((number >= 2) & (number == np.rint(number))).all():
        raise InputError(f"cluster= is how many clusters there are, at least 2; it is {cluster!r}.")
    if (number > design.sizes).any():
        raise InputError(
            f"There are more clusters than rows of a group: {number.max():,.0f} and "
            f"{design.sizes[number > design.sizes][0]:,.0f}."
        )
    known = np.atleast_1d(_numbers(correlation, "correlation"))
    if known.shape != (1,) and not (known.shape == (2,) and is_shared):
        raise InputError(
            "correlation= is one number; of clusters that groups share, also two: of rows of the "
            f"same group and of different groups. It is {correlation!r}."
        )
    same, other = known[0], known[-1] if is_shared else 0.0
    if not 0 <= other <= same <= 1:
        raise InputError(
            f"Correlations lie between 0 and 1, that of different groups is at most that of the "
            f"same group; correlation={correlation!r}."
        )
    each = design.sizes / number
    effect = np.maximum(1 + (each - 1) * same - each * other, LEAST_RATIO)
    return Clustered.made_of(design, each, effect, is_shared)


def as_counted(
    design: Design, counts: Tally, groups: tuple[Label, ...], effective: Floats
) -> Design:
    """The same groups, with the clusters of a tally and what its rows amount to."""
    names = [axis.name for axis in counts.axes]
    group = counts.cells[names.index("group")]
    number = np.full(len(counts.groups), np.inf)
    for axis in counts.clusters:
        pairs = np.unique(np.stack([group, counts.cells[names.index(axis)]]), axis=1)
        number = np.minimum(number, np.bincount(pairs[0], minlength=len(number)))
    number = number[[counts.groups.index(each) for each in groups]]
    shared = shared_clusters(counts)
    number = np.full(len(number), float(shared)) if shared else number
    each = design.sizes / np.maximum(number, 2.0)
    return Clustered.made_of(design, each, design.sizes / effective, bool(shared))


def alike(design: Design) -> Design:
    """The same groups, all alike."""
    pooled = float((design.values * design.sizes).sum() / design.sizes.sum())
    return design.with_values(np.full(len(design.sizes), pooled))


def one_apart(common: Design, at: int, difference: float) -> Design:
    """One group apart from all others."""
    values, (low, high) = common.values.copy(), common.bounds
    start = float(values[at])
    values[at] = start + difference
    if not low <= values[at] <= high:
        values[at] = start - difference
    if not low <= values[at] <= high:
        raise InputError(
            f"No rate is {abs(difference):g} from {start:g}: it would not lie between 0 and 1."
        )
    return common.with_values(values)
