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
from evenhand._why.strata import Means, by_stratum, column_parts, moved_by, outside, totals, within
from evenhand._words import listing, percent, plural
from evenhand.statistics import Statistic

MOST_COLUMNS = 6  # whose parts are averaged over all of their orders
MOST_STRATA = 500


def _interval(value: float, variance: float, free: float, error: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    far = float(-stdtrit(free, error / 2)) * float(np.sqrt(max(variance, 0.0)))
    return value - far, value + far


def parts_of(split: Split, error: float) -> tuple[Part, tuple[Part, ...]]:
    """The gap and its parts, each with its interval."""
    whole = float(split.covariance.sum())
    total = float(split.values.sum())
    own = np.maximum(np.diagonal(split.covariance), 0.0)
    # A part that hardly varies does not make the gap less well known (Satterthwaite).
    free = own.sum() ** 2 / max(float((own**2 / split.free).sum()), 1e-300)
    free = max(float(split.free.min()), min(free, float(split.free.max())))
    gap = Part("gap", "the groups", total, *_interval(total, whole, free, error))
    rows = zip(
        split.names,
        split.words,
        split.values.tolist(),
        np.diagonal(split.covariance).tolist(),
        split.free.tolist(),
        strict=True,
    )
    parts = tuple(
        Part(name, words, value, *_interval(value, variance, free, error))
        for name, words, value, variance, free in rows
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
    """Composition and within, with strata and columns."""
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
    """The same of rows with values, in strata."""
    _check_strata(data, by, labels)
    values, by_row, hidden = moved_by(data, totals)
    added, by_row_outside = outside(data)
    moved = np.concatenate([by_row, by_row_outside])
    spread = data.entries.covariance(moved)
    spread[:2, :2] += hidden
    lost = _lost(data.entries, data.shared[data.stratum])
    kept = 3 if max(lost) > 0 else 2
    split = Split(
        *_named(by, kept),
        np.array([*values, *added])[:kept],
        spread[:kept, :kept],
        data.entries.free(moved)[:kept],
    )
    gap, parts = parts_of(split, error)
    alone = [show(label) for label, both in zip(labels, data.shared, strict=True) if not both]
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
    """Rows with values, whose weighted means are the statistic: of a ratio N / D, n / d by d."""
    names = [axis.name for axis in counts.axes]
    place = names.index("group")
    cells = counts.cells.copy()
    cells[place] = np.arange(cells.shape[1])
    kept = [at for at, name in enumerate(names) if name not in counts.clusters]
    axes = tuple(
        Axis("group", tuple(range(cells.shape[1]))) if at == place else counts.axes[at]
        for at in kept
    )
    single = Tally(axes, cells[kept], {"rows": np.ones(cells.shape[1])})
    above, below = sides_of(single, statistic, cell)
    chosen = below > 0
    entries = Entries.of(counts).times(below)
    stratum = counts.cells[names.index("stratum")][chosen]
    return Means(entries, above[chosen] / below[chosen], stratum, counts.axis("stratum").size)


def _check_strata(data: Means, by: tuple[str, ...], labels: Sequence[Label]) -> None:
    """Refuse columns that cannot explain: the outcome itself, one value, or as many as rows."""
    named = listing(list(by))
    rows = float(data.entries.rows.sum())
    used = int((data.weight.sum(axis=0) > 0).sum())
    if used < 2:
        raise InputError(
            f"{named} has one value, {show(labels[0])}, in all these rows, so it explains nothing. "
            "Leave it out."
        )
    if used > MOST_STRATA or used > rows / 2:
        raise InputError(
            f"{named} makes {plural(used, 'stratum', 'strata')} of {plural(rows, 'row')}, too many "
            "to compare groups within each. Cut amounts into ranges, or name fewer columns."
        )
    if not data.shared.any():
        raise InputError(
            f"No value of {named} has people of both groups, so it gives the group away and "
            "nothing can be compared within it."
        )
    seen = data.weight.sum(axis=0) > 0
    means = data.sums(data.values).sum(axis=0)[seen] / data.weight.sum(axis=0)[seen]
    if used == 2 and data.spread == 0 and set(means.tolist()) == {0.0, 1.0}:
        raise InputError(outcome_of(named))


def _strata(data: Means, labels: Sequence[Label], error: float) -> tuple[Stratum, ...]:
    """What each stratum adds, the largest part within first; intervals hold at once."""
    values, moved, hidden = moved_by(data, within)
    number, mixed = data.strata, by_stratum(*data.rates)[0]
    spread, free = data.entries.covariance(moved) + hidden, data.entries.free(moved)
    far = reach(spread[np.ix_(data.shared, data.shared)], free[data.shared], error)
    errors = far * np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    at = data.entries.group * number + data.stratum
    rows = np.bincount(at, data.entries.rows, 2 * number).reshape(2, number)
    weight = data.weight
    means = np.divide(
        data.sums(data.values),
        weight,
        out=np.full(weight.shape, np.nan),
        where=weight > 0,
    )
    found = []
    for place in np.flatnonzero(weight.sum(axis=0) > 0).tolist():
        both = bool(data.shared[place])
        value = float(values[place]) if both else np.nan
        off = float(errors[place]) if both else np.nan
        name = show(labels[place])
        found.append(
            Stratum(
                name,
                name,
                value,
                value - off,
                value + off,
                (int(rows[0, place]), int(rows[1, place])),
                (float(means[0, place]), float(means[1, place])),
                float(mixed[place]) if both else np.nan,
            )
        )
    return tuple(sorted(found, key=lambda one: -abs(one.value) if one.value == one.value else 1.0))


def _columns(
    data: Means, labels: Sequence[Label], by: tuple[str, ...], error: float
) -> tuple[Part, ...]:
    """With several columns, what each adds to the composition; intervals hold at once."""
    if not 1 < len(by) <= MOST_COLUMNS:
        return ()
    codes = []
    for at in range(len(by)):
        parts = [label[at] if isinstance(label, tuple) else label for label in labels]
        order = {value: place for place, value in enumerate(dict.fromkeys(parts))}
        codes.append(np.array([order[value] for value in parts], np.intp)[data.stratum])
    values, moved = column_parts(data, codes)
    ends = _together(data.entries, values, moved, error)
    found = [Part(name, name, *one) for name, one in zip(by, ends, strict=True)]
    return tuple(sorted(found, key=lambda one: -abs(one.value)))


def by_models(
    rows: Rows,
    columns: Mapping[str, Any],
    about: dict[str, Any],
    error: float,
    notes: list[str],
) -> Account:
    """Composition and within of many or continuous columns, by models."""
    entries, names = rows.entries, list(columns)
    designs = {name: crossfit.design_of(columns[name], name, rows) for name in names}
    sample = crossfit.Sample(entries, rows.values, designs, crossfit.folds_of(entries))
    whole = crossfit.fitted(sample, names)
    by = tuple(names)
    lost = _lost(entries, whole.alike)
    kept = 3 if max(lost) > 0 else 2
    split = Split(
        *_named(by, kept),
        whole.values[:kept],
        entries.covariance(whole.by_row)[:kept, :kept],
        entries.free(whole.by_row)[:kept],
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
        columns=_model_columns(sample, whole, by, error),
        is_reversed=gap.sign * parts[1].sign < 0,
        outside=lost,
        area=crossfit.area(sample, whole.chance),
        proxies=_proxies(sample, whole, by, error),
        notes=tuple(notes),
        **about,
    ).possible()


def _named(by: tuple[str, ...], kept: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the parts, and what differs, in words."""
    words = listed(by)
    names = ("composition", "within", "outside")
    told = (words, f"how people alike in {words} fare", "people without a counterpart")
    return names[:kept], told[:kept]


def _lost(entries: Entries, alike: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[float, float]:
    whole = np.bincount(entries.group, entries.weight, 2)
    left = np.bincount(entries.group, entries.weight * ~alike, 2)
    return float(left[0] / whole[0]), float(left[1] / whole[1])


def _together(
    entries: Entries, values: Floats, moved: Floats, error: float
) -> list[tuple[float, float, float]]:
    """Values with intervals that hold at once."""
    spread, free = entries.covariance(moved), entries.free(moved)
    far = reach(spread, free, error) * np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    return list(
        zip(
            values.tolist(),
            (values - far).tolist(),
            (values + far).tolist(),
            strict=True,
        )
    )


def _model_columns(
    sample: crossfit.Sample, whole: crossfit.Fitted, by: tuple[str, ...], error: float
) -> tuple[Part, ...]:
    """With a few columns, what each adds to the composition; intervals hold at once."""
    if not 1 < len(by) <= crossfit.MOST_ORDERED:
        return ()
    values, moved = crossfit.column_parts(sample, by, whole)
    ends = _together(sample.entries, values, moved, error)
    found = [Part(name, name, *one) for name, one in zip(by, ends, strict=True)]
    return tuple(sorted(found, key=lambda one: -abs(one.value)))


def _proxies(
    sample: crossfit.Sample, whole: crossfit.Fitted, by: tuple[str, ...], error: float
) -> tuple[Proxy, ...]:
    """How well each column predicts the group, and what part of the gap goes with it alone."""
    each = [whole if len(by) == 1 else crossfit.of_some(sample, [name], whole) for name in by]
    values = np.array([one.values[0] for one in each])
    ends = _together(sample.entries, values, np.array([one.by_row[0] for one in each]), error)
    areas = [crossfit.area_by(sample, [name]) for name in by]
    rest = [crossfit.area_by(sample, [other for other in by if other != name]) for name in by]
    found = [
        Proxy(name, name, *one, area, without)
        for name, one, area, without in zip(by, ends, areas, rest, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: one.area_without))
