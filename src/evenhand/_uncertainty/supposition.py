"""The groups' sizes and assumed true values, from the arguments of `power`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns import Label
from evenhand._columns.encoding import floats
from evenhand._data.data import Data
from evenhand._data.groups import place_in
from evenhand._data.summaries import Source
from evenhand._data.tallies import MOST_ROWS, Tally
from evenhand._errors import InputError, refusing
from evenhand._kinds import check_labels
from evenhand._uncertainty.clusters import (
    LEAST_RATIO,
    are_dependent,
    clusters_by_group,
    groups_of,
    independent,
    plain,
    rows_by_group,
    shared_clusters,
)
from evenhand._uncertainty.curves import Estimates, Floats, curve_at
from evenhand._uncertainty.design import Clustered, Means, Rates
from evenhand._uncertainty.estimates import estimates_of
from evenhand._words import did_you_mean
from evenhand.criteria import Criterion
from evenhand.criteria.compared import metric_of
from evenhand.criteria.evaluation import criterion_without_measure

WITHOUT_MEASURE = "the power is that of the test for any difference."
Design = Rates | Means  # or Clustered, which are means of clusters


class Observed(NamedTuple):
    """Observed rates, or means with the standard deviations of single rows."""

    values: Floats
    sd: Floats | None = None
    quantity: str = "mean"
    bounds: tuple[float, float] = (-np.inf, np.inf)


def check_share(name: str, value: float) -> None:
    """Refuse a number that is not strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} lies between 0 and 1, such as 0.8 or 0.95; it is {value}.")


def sizes_of(
    sizes: Any, criterion: str | Criterion | None, favorable: Label
) -> tuple[tuple[Label, ...], Floats, Observed | None, Floats | None]:
    """Groups and rows; of a tally also the observed values and effective numbers of rows."""
    observed: Observed | None = None
    effective: Floats | None = None
    groups: tuple[Label, ...]
    if isinstance(sizes, Source):
        axes, sums = (sizes.axes, sizes.sums) if isinstance(sizes, Tally) else ((), {})
        if criterion is None and "yhat" not in [axis.name for axis in axes]:
            example = "exposure_parity" if "exposure" in sums else "weak_parity"
            raise InputError(
                "This tally has no predicted labels, so say which of its numbers is meant, such as "
                f"criterion={example!r}."
            )
        name = "statistical_parity" if criterion is None else criterion
        definition = criterion_without_measure(name, Data(sizes), WITHOUT_MEASURE)
        groups, rows, observed, effective = _counted(sizes, definition, favorable)
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
    return groups, rows, observed, effective


def read_for(data: Data, criterion: str | Criterion | None) -> Source:
    """What the criterion's statistic reads of the data; without one, the counts."""
    if criterion is None:
        return data.tally()
    return data.source(criterion_without_measure(criterion, data, WITHOUT_MEASURE).statistic.needs)


def _of_counts(criterion: str | Criterion | None, favorable: Label) -> str | None:
    """The argument that only a tally can answer, if there is one."""
    if criterion is not None:
        return f"criterion={criterion if isinstance(criterion, str) else criterion.name!r}"
    return None if favorable is None else f"favorable={favorable!r}"


def _counted(
    counts: Source, criterion: Criterion, favorable: Label
) -> tuple[tuple[Label, ...], Floats, Observed, Floats | None]:
    """The groups, rows and values of a tally; with clusters also effective numbers of rows."""
    if criterion.statistic.sweeps:
        raise InputError(
            f"{criterion.name} compares whole distributions, and power is about one number for "
            "every group: name a criterion such as 'weak_parity' or 'performance_parity(auroc)'."
        )
    criterion.check(counts)
    estimates = estimates_of(counts, criterion, favorable)
    values = estimates.values
    if len(values) == 2 and np.allclose(np.nan_to_num(values.sum(axis=0), nan=1.0), 1.0):
        values = values[1:]  # two classes: one rate is the other's complement
    if len(values) != 1:
        what = "values" if estimates.counts is None else "rates"
        raise InputError(
            f"{criterion.name} compares {len(values)} {what} of every group, in the cells "
            f"{list(estimates.cells)}. Ask about one of them: pass favorable=, or a criterion of "
            "one rate such as 'equal_opportunity' or 'predictive_equality'."
        )
    if estimates.counts is None:
        return _values_counted(counts, criterion, favorable, estimates)
    hits, sizes = (part[-1] for part in estimates.counts)
    defined = np.isfinite(values[0]) & (sizes > 0)
    groups = tuple(
        group for group, is_defined in zip(estimates.groups, defined, strict=True) if is_defined
    )
    rates, counted = hits[defined] / sizes[defined], plain(counts)
    if not are_dependent(counted):
        return groups, sizes[defined], Observed(rates), None
    single = estimates_of(independent(counted), criterion, favorable).counts
    assert single is not None
    return groups, single[1][-1][defined], Observed(rates), sizes[defined]


def _values_counted(
    counts: Source, criterion: Criterion, favorable: Label, estimates: Estimates
) -> tuple[tuple[Label, ...], Floats, Observed, Floats | None]:
    """The same for means, areas and the like, from the widths of their limits."""
    counts, statistic = plain(counts), criterion.statistic
    single = estimates_of(independent(counts), criterion, favorable)
    rows = rows_by_group(counts)
    error, single_error = (
        (curve_at(estimated.curves, 1.0) - curve_at(estimated.curves, -1.0))[0] / 2
        for estimated in (estimates, single)
    )
    defined = np.isfinite(estimates.values[0]) & (rows > 1) & (single_error > 0) & (error > 0)
    groups = tuple(
        group for group, is_defined in zip(estimates.groups, defined, strict=True) if is_defined
    )
    quantity = metric_of(criterion.name, estimates.cells[0], (), favorable)
    observed = Observed(
        estimates.values[0][defined],
        (single_error * np.sqrt(rows))[defined],
        *(("mean",) if statistic.means else (quantity, statistic.bounds)),
    )
    effective = (rows * (single_error / np.where(defined, error, 1.0)) ** 2)[defined]
    return groups, rows[defined], observed, effective if are_dependent(counts) else None


def place_of(groups: tuple[Label, ...], rows: Floats, group: Label) -> int:
    """The index of a group; by default of the smallest."""
    if group is None:
        return int(rows.argmin())
    check_labels(apart=group)
    place = place_in(groups, group)
    if place < 0:
        hint = did_you_mean(group, groups)
        raise InputError(f"There is no group {group!r}; there are {list(groups)}.{hint}")
    return place


def supposed(
    groups: tuple[Label, ...],
    rows: Floats,
    observed: Observed | None,
    rates: Any,
    rate: float | None,
    means: Any,
    sd: Any,
) -> Design:
    """The assumed design; of proportions, the first guess has at least a row in every group."""
    rows = np.where((rows >= 1).all(), np.maximum(np.round(rows), 1.0), rows / rows.min())
    if observed is not None and observed.sd is not None:
        means, sd = (
            (observed.values if means is None else means),
            (observed.sd if sd is None else sd),
        )
    if sd is not None or means is not None:
        if rates is not None or rate is not None:
            raise InputError("Pass rates, or means with sd; not both.")
        if sd is None:
            raise InputError("Means need sd=, the standard deviation of single rows.")
        spread = _by_group(sd, groups, "sd")
        if not (spread > 0).all():
            raise InputError(f"sd must be above 0; it is {sd!r}.")
        values = np.zeros(len(rows)) if means is None else _by_group(means, groups, "means")
        shown = Observed(values) if observed is None else observed
        return Means(rows, values, spread, shown.quantity, shown.bounds)
    if rates is not None and rate is not None:
        raise InputError("Pass rates, one for each group, or a common rate; not both.")
    supplied = (
        rates if rates is not None else rate if rate is not None else observed and observed.values
    )
    if supplied is None:
        raise InputError(
            "Pass rates= of every group, or a rate= that is common to them; "
            "for means pass sd=, the standard deviation of single rows."
        )
    values = _by_group(supplied, groups, "rates")
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"Rates lie between 0 and 1; they are {values.tolist()}.")
    return Rates(rows, values)


def _by_group(values: Any, groups: tuple[Label, ...], name: str) -> Floats:
    """One number for each group, checked."""
    if isinstance(values, Mapping):
        if set(values) != set(groups):
            raise InputError(f"{name} are of {list(values)}, and sizes of {list(groups)}.")
        values = [values[group] for group in groups]
    array = _numbers(values, name)
    if array.ndim and array.shape != (len(groups),):
        raise InputError(f"There are {len(groups)} sizes and {array.size} {name}.")
    array = np.broadcast_to(array, (len(groups),)).copy()
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite; they are {array.tolist()}.")
    return array


def _numbers(values: Any, name: str) -> Floats:
    """Real numbers; refuse anything else."""
    with refusing(f"{name} must be numbers"):
        return floats(values, name)


def in_clusters(
    design: Design, groups: tuple[Label, ...], cluster: Any, correlation: Any
) -> Design:
    """The same groups, with the clusters that their rows come in, if any."""
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
    number = _by_group(cluster, groups, "cluster")
    if not ((number >= 2) & (number == np.rint(number))).all():
        raise InputError(f"cluster= is how many clusters there are, at least 2; it is {cluster!r}.")
    if (number > design.sizes).any():
        raise InputError(
            f"There are more clusters than rows of a group: {number.max():,.0f} and "
            f"{design.sizes[number > design.sizes][0]:,.0f}."
        )
    correlations = np.atleast_1d(_numbers(correlation, "correlation"))
    if correlations.shape != (1,) and not (correlations.shape == (2,) and is_shared):
        raise InputError(
            "correlation= is one number; of clusters that groups share, also two: of rows of the "
            f"same group and of different groups. It is {correlation!r}."
        )
    same, different = correlations[0], correlations[-1] if is_shared else 0.0
    if not 0 <= different <= same <= 1:
        raise InputError(
            f"Correlations lie between 0 and 1, that of different groups is at most that of the "
            f"same group; correlation={correlation!r}."
        )
    cluster_size = design.sizes / number
    effect = np.maximum(1 + (cluster_size - 1) * same - cluster_size * different, LEAST_RATIO)
    return Clustered.from_rows(design, cluster_size, effect, is_shared)


def as_counted(
    design: Design, counts: Source, groups: tuple[Label, ...], effective: Floats
) -> Design:
    """The same groups, with the clusters of their rows and their effective numbers of rows."""
    shared, known = shared_clusters(counts), groups_of(counts)
    number = np.full(len(groups), float(shared))
    if not shared:
        number = clusters_by_group(counts)[[known.index(group) for group in groups]]
    cluster_size = design.sizes / np.maximum(number, 2.0)
    return Clustered.from_rows(design, cluster_size, design.sizes / effective, bool(shared))


def alike(design: Design) -> Design:
    """The same groups, with equal values."""
    pooled = float((design.values * design.sizes).sum() / design.sizes.sum())
    return design.with_values(np.full(len(design.sizes), pooled))


def one_group_shifted(common: Design, place: int, difference: float) -> Design:
    """The same groups, with one shifted by a difference."""
    values, (low, high) = common.values.copy(), common.bounds
    start = float(values[place])
    values[place] = start + difference
    if not low <= values[place] <= high:
        values[place] = start - difference
    if not low <= values[place] <= high:
        raise InputError(
            f"No rate is {abs(difference):g} from {start:g}: it would not lie between 0 and 1."
        )
    return common.with_values(values)
