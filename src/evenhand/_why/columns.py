"""Accounts by explaining columns: strata of their values, or models where these are too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._data.tallies import Axis, Tally
from evenhand._errors import InputError
from evenhand._why import crossfit
from evenhand._why.account import Account, Part, Proxy, Stratum, listed, overlap_notes
from evenhand._why.entries import Entries, Floats, reach
from evenhand._why.outcomes import Split
from evenhand._why.rows import Rows, outcome_of, sides_of
from evenhand._why.strata import (
    Means,
    by_stratum,
    column_parts,
    influences_of,
    outside,
    totals,
    within,
)
from evenhand._words import listing, percent, plural
from evenhand.statistics import Statistic

MOST_COLUMNS = 6  # whose parts are averaged over all orders
MOST_STRATA = 500


def _interval(value: float, variance: float, freedom: float, error: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    margin = float(-stdtrit(freedom, error / 2)) * float(np.sqrt(max(variance, 0.0)))
    return value - margin, value + margin


def parts_of(split: Split, error: float) -> tuple[Part, tuple[Part, ...]]:
    """The gap and its parts, with intervals."""
    variance_of_gap = float(split.covariance.sum())
    total = float(split.values.sum())
    variances = np.maximum(np.diagonal(split.covariance), 0.0)
    # A part that hardly varies does not reduce the degrees of freedom (Satterthwaite).
    share = variances / max(float(variances.sum()), 1e-300)
    freedom = 1 / max(float((share**2 / split.freedom).sum()), 1e-300)
    freedom = max(float(split.freedom.min()), min(freedom, float(split.freedom.max())))
    gap = Part("gap", "the groups", total, *_interval(total, variance_of_gap, freedom, error))
    rows = zip(
        split.names,
        split.words,
        split.values.tolist(),
        np.diagonal(split.covariance).tolist(),
        split.freedom.tolist(),
        strict=True,
    )
    parts = tuple(
        Part(name, words, value, *_interval(value, variance, freedom, error))
        for name, words, value, variance, freedom in rows
    )
    return gap, parts


def by_strata(
    counts: Tally,
    statistic: Statistic,
    about: dict[str, Any],
    by: tuple[str, ...],
    error: float,
    notes: list[str],
) -> Account:
    """The account by strata: composition and differences within, with strata and columns."""
    return by_means(
        means_of(counts, statistic, about["cell"]),
        counts.labels("stratum"),
        about,
        by,
        error,
        notes,
    )


def by_means(
    data: Means,
    labels: Sequence[Label],
    about: dict[str, Any],
    by: tuple[str, ...],
    error: float,
    notes: list[str],
) -> Account:
    """The account by strata, of rows with values."""
    _check_strata(data, by, labels)
    values, by_row, hidden = influences_of(data, totals)
    added, by_row_outside = outside(data)
    influence = np.concatenate([by_row, by_row_outside])
    spread = data.entries.covariance(influence)
    spread[:2, :2] += hidden
    lost = _lost(data.entries, data.shared[data.stratum])
    number = 3 if max(lost) > 0 else 2
    split = Split(
        *_part_names(by, number),
        np.array([*values, *added])[:number],
        spread[:number, :number],
        data.entries.freedom(influence)[:number],
    )
    gap, parts = parts_of(split, error)
    alone = [show(label) for label, shared in zip(labels, data.shared, strict=True) if not shared]
    rows = np.bincount(data.stratum, data.entries.rows, data.strata)
    notes = [*notes, *overlap_notes(alone, int(rows[~data.shared].sum()))]
    return Account(
        gap=gap,
        parts=parts,
        by=by,
        columns=_columns(data, labels, by, error),
        strata=_strata(data, labels, error),
        is_reversed=gap.sign * parts[1].sign < 0,
        outside=lost,
        notes=tuple(notes),
        **about,
    ).possible()


def means_of(counts: Tally, statistic: Statistic, cell: Label) -> Means:
    """Rows with values whose weighted means are the statistic: for N / D, n / d weighted by d."""
    names = [axis.name for axis in counts.axes]
    place = names.index("group")
    cells = counts.cells.copy()
    cells[place] = np.arange(cells.shape[1])
    axes_kept = [at for at, name in enumerate(names) if name not in counts.clusters]
    axes = tuple(
        Axis("group", tuple(range(cells.shape[1]))) if at == place else counts.axes[at]
        for at in axes_kept
    )
    single = Tally(axes, cells[axes_kept], {"rows": np.ones(cells.shape[1])})
    above, below = sides_of(single, statistic, cell)
    counted = below > 0
    entries = Entries.of(counts).times(below)
    stratum = counts.cells[names.index("stratum")][counted]
    return Means(entries, above[counted] / below[counted], stratum, counts.axis("stratum").size)


def _check_strata(data: Means, by: tuple[str, ...], labels: Sequence[Label]) -> None:
    """Refuse columns that explain nothing: the outcome itself, one value, or a value per row."""
    names = listing(list(by))
    rows = float(data.entries.rows.sum())
    number = int((data.weight.sum(axis=0) > 0).sum())
    if number < 2:
        raise InputError(
            f"{names} has one value, {show(labels[0])}, in all these rows, so it explains nothing. "
            "Leave it out."
        )
    if number > MOST_STRATA or number > rows / 2:
        raise InputError(
            f"{names} makes {plural(number, 'stratum', 'strata')} of {plural(rows, 'row')}, too "
            "many to compare groups within each. Cut amounts into ranges, or name fewer columns."
        )
    if not data.shared.any():
        raise InputError(
            f"No value of {names} has people of both groups, so it gives the group away and "
            "nothing can be compared within it."
        )
    present = data.weight.sum(axis=0) > 0
    means = data.sums(data.values).sum(axis=0)[present] / data.weight.sum(axis=0)[present]
    if number == 2 and data.spread == 0 and set(means.tolist()) == {0.0, 1.0}:
        raise InputError(outcome_of(names))


def _strata(data: Means, labels: Sequence[Label], error: float) -> tuple[Stratum, ...]:
    """The contribution of each stratum, the largest first; intervals are simultaneous."""
    values, influence, hidden = influences_of(data, within)
    number, mixed = data.strata, by_stratum(*data.rates)[0]
    spread, freedom = data.entries.covariance(influence) + hidden, data.entries.freedom(influence)
    multiplier = reach(spread[np.ix_(data.shared, data.shared)], freedom[data.shared], error)
    errors = multiplier * np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    at = data.entries.group * number + data.stratum
    rows = np.bincount(at, data.entries.rows, 2 * number).reshape(2, number)
    weight = data.weight
    means = np.divide(
        data.sums(data.values),
        weight,
        out=np.full(weight.shape, np.nan),
        where=weight > 0,
    )
    strata = []
    for place in np.flatnonzero(weight.sum(axis=0) > 0).tolist():
        is_shared = bool(data.shared[place])
        value = float(values[place]) if is_shared else np.nan
        margin = float(errors[place]) if is_shared else np.nan
        name = show(labels[place])
        strata.append(
            Stratum(
                name,
                name,
                value,
                value - margin,
                value + margin,
                (int(rows[0, place]), int(rows[1, place])),
                (float(means[0, place]), float(means[1, place])),
                float(mixed[place]) if is_shared else np.nan,
            )
        )
    return tuple(
        sorted(strata, key=lambda part: -abs(part.value) if part.value == part.value else 1.0)
    )


def _columns(
    data: Means, labels: Sequence[Label], by: tuple[str, ...], error: float
) -> tuple[Part, ...]:
    """With several columns, the part of each in the composition; intervals are simultaneous."""
    if not 1 < len(by) <= MOST_COLUMNS:
        return ()
    codes = []
    for at in range(len(by)):
        of_column = [label[at] if isinstance(label, tuple) else label for label in labels]
        order = {value: place for place, value in enumerate(dict.fromkeys(of_column))}
        codes.append(np.array([order[value] for value in of_column], np.intp)[data.stratum])
    values, influence = column_parts(data, codes)
    ends = _simultaneous(data.entries, values, influence, error)
    parts = [Part(name, name, *interval) for name, interval in zip(by, ends, strict=True)]
    return tuple(sorted(parts, key=lambda part: -abs(part.value)))


def by_models(
    rows: Rows,
    columns: Mapping[str, Any],
    about: dict[str, Any],
    error: float,
    notes: list[str],
) -> Account:
    """The account by models, for many or continuous columns."""
    entries, names = rows.entries, list(columns)
    designs = {name: crossfit.design_of(columns[name], name, rows) for name in names}
    sample = crossfit.Sample(entries, rows.values, designs, crossfit.folds_of(entries))
    fit = crossfit.fitted(sample, names)
    by = tuple(names)
    lost = _lost(entries, fit.overlap)
    number = 3 if max(lost) > 0 else 2
    split = Split(
        *_part_names(by, number),
        fit.values[:number],
        entries.covariance(fit.by_row)[:number, :number],
        entries.freedom(fit.by_row)[:number],
    )
    gap, parts = parts_of(split, error)
    notes = [
        *notes,
        "People are compared by cross-fitted, doubly robust models of the columns.",
    ]
    if max(lost) > 0:
        shares = " and ".join(
            f"{percent(share)} of {show(group)}"
            for group, share in zip(about["groups"], lost, strict=True)
        )
        notes.append(f"{shares} differ from nearly everyone in the other group in these columns.")
    return Account(
        gap=gap,
        parts=parts,
        by=by,
        columns=_model_columns(sample, fit, by, error),
        is_reversed=gap.sign * parts[1].sign < 0,
        outside=lost,
        area=crossfit.area(sample, fit.chance),
        proxies=_proxies(sample, fit, by, error),
        notes=tuple(notes),
        **about,
    ).possible()


def _part_names(by: tuple[str, ...], number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the parts, and their descriptions."""
    words = listed(by)
    names = ("composition", "within", "outside")
    descriptions = (words, f"how people alike in {words} fare", "people without a counterpart")
    return names[:number], descriptions[:number]


def _lost(entries: Entries, overlap: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[float, float]:
    total = np.bincount(entries.group, entries.weight, 2)
    outside = np.bincount(entries.group, entries.weight * ~overlap, 2)
    return float(outside[0] / total[0]), float(outside[1] / total[1])


def _simultaneous(
    entries: Entries, values: Floats, influence: Floats, error: float
) -> list[tuple[float, float, float]]:
    """Values with simultaneous intervals."""
    spread, freedom = entries.covariance(influence), entries.freedom(influence)
    margins = reach(spread, freedom, error) * np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    return list(
        zip(
            values.tolist(),
            (values - margins).tolist(),
            (values + margins).tolist(),
            strict=True,
        )
    )


def _model_columns(
    sample: crossfit.Sample, fit: crossfit.Fitted, by: tuple[str, ...], error: float
) -> tuple[Part, ...]:
    """With a few columns, the part of each in the composition; intervals are simultaneous."""
    if not 1 < len(by) <= crossfit.MOST_ORDERED:
        return ()
    values, influence = crossfit.column_parts(sample, by, fit)
    ends = _simultaneous(sample.entries, values, influence, error)
    parts = [Part(name, name, *interval) for name, interval in zip(by, ends, strict=True)]
    return tuple(sorted(parts, key=lambda part: -abs(part.value)))


def _proxies(
    sample: crossfit.Sample, fit: crossfit.Fitted, by: tuple[str, ...], error: float
) -> tuple[Proxy, ...]:
    """How well each column predicts the group, and the part of the gap that it explains alone."""
    fits = [fit if len(by) == 1 else crossfit.of_some(sample, [name], fit) for name in by]
    values = np.array([result.values[0] for result in fits])
    ends = _simultaneous(
        sample.entries, values, np.array([result.by_row[0] for result in fits]), error
    )
    areas = [crossfit.area_by(sample, [name]) for name in by]
    without_each = [
        crossfit.area_by(sample, [column for column in by if column != name]) for name in by
    ]
    proxies = [
        Proxy(name, name, *interval, area, without)
        for name, interval, area, without in zip(by, ends, areas, without_each, strict=True)
    ]
    return tuple(sorted(proxies, key=lambda proxy: proxy.area_without))
