"""Explain a gap: from the counts alone, or by columns that groups differ in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._columns.bins import Bin
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.groups import show
from evenhand._data.roles import OF_RANKINGS
from evenhand._data.summaries import with_favorable
from evenhand._data.tallies import Axis, Tally
from evenhand._data.tasks import favorable_label
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._uncertainty.clusters import plain
from evenhand._uncertainty.errors import covariance
from evenhand._why.account import Account, Part, Stratum, overlap_notes
from evenhand._why.entries import Entries, Floats, reach
from evenhand._why.outcomes import Split, outcome_split
from evenhand._why.strata import Means, column_parts, details, moved_by, outside, totals
from evenhand._words import did_you_mean, plural
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import asked_of
from evenhand.statistics import KINDS, E, Statistic, Table

MOST_COLUMNS = 6  # whose parts are averaged over all of their orders
MOST_STRATA = 500
LABELS = ("labels", "predictions")


@about_data(without=("strata", "replicate_weights", "replicate_method", *OF_RANKINGS))
def explain(
    criterion: str | Criterion,
    data: Data,
    *,
    by: Any = None,
    between: Sequence[Label] | None = None,
    confidence: float = 0.95,
) -> Account:
    """Why two groups differ: their gap in parts that add up to it, with intervals.

    Without explaining columns the parts are from different true outcomes and from different
    decisions about people with the same true outcome: base rates, true and false positive rates. Of
    predicted numbers they are the true values and the errors. With columns, `by=`, the parts are
    from composition (groups differ in these columns) and from within (people alike in them are
    treated differently).

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA` such as "statistical_parity", or a criterion of your own; what is
        explained is the gap in its statistic.
    {data}
    by : names of columns, array-like or dataframe, optional
        The explaining columns, such as a department. Their combinations are the strata within which
        groups are compared. A tally that was counted with `strata=` has them already.
    between : pair of labels, optional
        The two groups; the gap is the first one's value less the second one's. By default the
        groups with the highest and the lowest value.
    confidence : float, default 0.95
        How often intervals shall hold the truth. Where the two groups were chosen as extremes of
        several, intervals allow for the choice.

    Returns
    -------
    Account
        With `gap`, `parts`, `strata` and `summary`.

    Raises
    ------
    InputError
        If the criterion is no rate or mean, an explaining column cannot explain (the outcome
        itself, one value only, another value in every row), or no stratum has rows of both groups.

    See Also
    --------
    audit : Whether the groups differ, and by how much at least.
    evaluate : With "conditional_statistical_parity", the largest gap within strata.

    Notes
    -----
    A selection rate is TPR × base rate + FPR × (1 − base rate). Each part is the average over all
    orders of what the gap changes by as one of the three is exchanged between the groups (Shapley).
    With columns the account is Kitagawa's: shares of strata and rates within strata, each weighed
    by the average of both groups. It says what goes together with the gap, not what caused it.

    References
    ----------
    - E. M. Kitagawa, "Components of a difference between two rates", Journal of the American
      Statistical Association 50, 1955.
    - H. Ñopo, "Matching as a tool to decompose wage gaps", Review of Economics and Statistics 90,
      2008.

    Examples
    --------
    >>> import evenhand as eh
    >>> truth = [1] * 60 + [0] * 40 + [1] * 30 + [0] * 70
    >>> hired = [1] * 48 + [0] * 12 + [1] * 8 + [0] * 32 + [1] * 24 + [0] * 6 + [1] * 14 + [0] * 56
    >>> group = ["a"] * 100 + ["b"] * 100
    >>> found = eh.explain("statistical_parity", truth, hired, sensitive_features=group)
    >>> print(found.summary)
    a and b differ by 18.0 percentage points in statistical parity (56% against 38%). Of this, \
18.0 is explained by differences in base rates, 0.0 by those in false positive rates and 0.0 by \
those in true positive rates.

    """
    check_kinds(confidence=confidence)
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    asked = asked_of(criterion, data)
    counts, names = _counts(asked, data, by)
    return account_of(
        asked,
        counts,
        data.favorable,
        by=names,
        between=between,
        confidence=confidence,
        kind=data.kind,
    )


def account_of(
    asked: Criterion,
    counts: Tally,
    favorable: Label = None,
    *,
    by: tuple[str, ...] = (),
    between: Sequence[Label] | None = None,
    confidence: float = 0.95,
    kind: str | None = None,
) -> Account:
    """The account of a criterion's gap, from counts by group (and stratum)."""
    statistic = asked.statistic
    table = _table(asked, counts, favorable)
    cell, pair = _pair(table, between)
    values = table.values[table.cells.index(cell)][list(pair)]
    two = _only(counts, pair)
    choices = len(table.groups) * (len(table.groups) - 1) // 2 if between is None else 1
    error = (1 - confidence) / max(choices, 1)
    notes = [*counts.notes]
    if choices > 1:
        notes.append(
            f"The two groups are the extremes of {len(table.groups)}; intervals allow for that "
            "choice."
        )
    about: dict[str, Any] = {
        "criterion": asked.name,
        "statistic": statistic.formula,
        "cell": cell,
        "groups": (table.groups[pair[0]], table.groups[pair[1]]),
        "values": (float(values[0]), float(values[1])),
        "is_rate": statistic.bounds == (0.0, 1.0),
        "confidence": confidence,
        "frame_kind": kind,
    }
    if "stratum" in [axis.name for axis in counts.axes]:
        return _by_strata(two, statistic, about, by, error, notes)
    split = _split(two, asked, cell, favorable)
    gap, parts = _parts(split, error)
    return Account(gap=gap, parts=parts, notes=(*notes, *split.notes), **about)


def _counts(asked: Criterion, data: Data, by: Any) -> tuple[Tally, tuple[str, ...]]:
    """Counts by truth, decision and group (and stratum), and the explaining columns' names."""
    statistic = asked.statistic
    if isinstance(data.y_true, Tally):
        counts = data.y_true
        if by is not None:
            raise InputTypeError(
                "A tally already holds the columns; count it with strata=, and leave out by=."
            )
        if counts.sums["rows"].ndim > 1 or (counts.sums["rows"] % 1 != 0).any():
            raise InputError(f"{counts} cannot be explained: it is not one count of whole rows.")
        crossed = "stratum" in [axis.name for axis in counts.axes]
        return counts, _stratum_names(counts) if crossed else ()
    if KINDS[statistic.needs].about == "labels":
        if by is None:
            return _tally(data.source("labels")), ()
        names = _names(by)
        _check_roles(data, names)
        return replace(data, strata=by).tally(), names
    if statistic.needs == "moments" and by is None:
        return _tally(data.source("moments")), ()
    raise InputError(
        f"{asked.name} is not explained here: an account is of shares of people such as selection "
        "rates, accuracy or precision, or of the mean of predicted numbers (weak_parity)."
    )


def _tally(source: Any) -> Tally:
    assert isinstance(source, Tally)
    return source


def _names(by: Any) -> tuple[str, ...]:
    from evenhand._data.groups import columns_of

    if isinstance(by, str):
        return (by,)
    if isinstance(by, list | tuple) and by and all(isinstance(one, str) for one in by):
        return tuple(by)
    found = columns_of(by, "by")
    return ("the column",) if list(found) == ["group"] else tuple(map(str, found))


def _stratum_names(counts: Tally) -> tuple[str, ...]:
    label = counts.labels("stratum")[0]
    many = len(label) if isinstance(label, tuple) and not isinstance(label, Bin) else 1
    return ("the strata",) if many == 1 else tuple(f"column {at}" for at in range(many))


def _check_roles(data: Data, names: Sequence[str]) -> None:
    """Refuse an explaining column that is the outcome, the truth or the group by name."""
    roles = {"y_pred": data.y_pred, "y_true": data.y_true, "y_score": data.y_score}
    groups = data.sensitive_features
    listed = groups if isinstance(groups, list | tuple) else [groups]
    known = [*roles.items(), *(("sensitive_features", name) for name in listed)]
    for role, column in known:
        if isinstance(column, str) and column in names and data.data is not None:
            raise InputError(
                f"The column {column!r} is {role}, so it cannot explain the gap as well; name "
                "columns that were known before the decision, such as a department."
            )


def _table(asked: Criterion, counts: Tally, favorable: Label) -> Table:
    """The statistic by group, over all strata; of two labels, that of the favorable one."""
    if KINDS[asked.statistic.needs].about != "labels":
        return asked.table(counts, favorable)
    labels = counts.labels("yhat")
    good = favorable_label(labels, favorable, required=False)
    counts = with_favorable(counts, favorable)
    return asked.table(counts, good if len(labels) <= 2 or favorable is not None else None)


def _pair(table: Table, between: Sequence[Label] | None) -> tuple[Label, tuple[int, int]]:
    """The cell where groups differ most, and the groups with its highest and lowest value."""
    values = np.where(np.isfinite(table.values), table.values, np.nan)
    if between is not None:
        if isinstance(between, str) or len(between) != 2 or between[0] == between[1]:
            raise InputError(f"between names two groups, such as ('a', 'b'); it is {between!r}.")
        for label in between:
            if label not in table.groups:
                raise InputError(
                    f"between={between!r}: there is no group {label!r}; there are "
                    f"{[*table.groups]}.{did_you_mean(label, table.groups)}"
                )
        first, second = (table.groups.index(label) for label in between)
        gaps = np.abs(values[:, first] - values[:, second])
        if np.isnan(gaps).all():
            raise InputError(f"No value is known of both groups {between!r}: nothing to explain.")
        return table.cells[int(np.nanargmax(gaps))], (first, second)
    seen = np.isfinite(values).sum(axis=1) >= 2
    if not seen.any():
        raise InputError("Fewer than two groups have a value, so there is no gap to explain.")
    values = np.where(seen[:, None], values, np.nan)
    highest, lowest = (
        np.where(np.isnan(values), -np.inf, values),
        np.where(np.isnan(values), np.inf, values),
    )
    gaps = np.where(seen, highest.max(axis=1) - lowest.min(axis=1), -np.inf)
    at = int(np.argmax(gaps))
    first, second = int(np.argmax(highest[at])), int(np.argmin(lowest[at]))
    if first == second:  # all are equal
        second = int(np.flatnonzero(np.isfinite(values[at]))[1])
    return table.cells[at], (first, second)


def _only(counts: Tally, pair: tuple[int, int]) -> Tally:
    """The counts of two groups, in this order."""
    target = np.full(len(counts.groups), 2)
    target[list(pair)] = (0, 1)
    two = counts.regrouped(target, tuple(counts.groups[at] for at in pair))
    return _tally(plain(two))


def _split(counts: Tally, asked: Criterion, cell: Label, favorable: Label) -> Split:
    """Parts from the counts alone."""
    statistic = asked.statistic
    if KINDS[statistic.needs].about == "labels":
        if "y" not in [axis.name for axis in counts.axes]:
            raise InputError(
                "Without the truth there is nothing to explain a gap in decisions by: pass y_true, "
                "or explaining columns as by=."
            )
        if "y" in statistic.conditions:
            raise InputError(
                f"{asked.name} compares rates among people with the same true label, so base rates "
                "do not explain them: pass explaining columns as by=."
            )
        positive = favorable_label(counts.labels("yhat"), favorable, required=False)
        positive = cell if positive is None and cell in counts.labels("y") else positive
        return outcome_split(counts, statistic, cell, positive)
    if statistic.mean_of != "yhat" or "y" not in counts.sums:
        raise InputError(
            f"{asked.name} of numbers has no parts of its own: without by=, weak_parity (the mean "
            "prediction) is explained by true values and errors, and needs y_true."
        )
    return _numbers(counts, asked)


def _numbers(counts: Tally, asked: Criterion) -> Split:
    """The mean prediction: the mean of the truth, and the mean error."""
    criteria = [replace(asked, statistic=E(name)) for name in ("y", "error", "yhat")]
    values = [one.table(counts).values[0] for one in criteria]
    spread = [covariance(counts, one)[0] for one in criteria]
    truth, error, both = (one[0, 0] + one[1, 1] - 2 * one[0, 1] for one in spread)
    shared = (both - truth - error) / 2
    rows = counts.table("group", of="rows")
    own = spread[2].diagonal()
    free = own.sum() ** 2 / max(float((own**2 / np.maximum(rows - 1, 1)).sum()), 1e-300)
    return Split(
        ("truth", "error"),
        ("the true values", "the errors of predictions"),
        np.array([one[0] - one[1] for one in values[:2]]),
        np.array([[truth, shared], [shared, error]]),
        np.full(2, max(free, 1.0)),
    )


def _interval(value: float, variance: float, free: float, error: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    far = float(-stdtrit(free, error / 2)) * float(np.sqrt(max(variance, 0.0)))
    return value - far, value + far


def _parts(split: Split, error: float) -> tuple[Part, tuple[Part, ...]]:
    """The gap and its parts, each with its interval."""
    whole = float(split.covariance.sum())
    total = float(split.values.sum())
    gap = Part("gap", "the groups", total, *_interval(total, whole, float(split.free.min()), error))
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


def _by_strata(
    counts: Tally,
    statistic: Statistic,
    about: dict[str, Any],
    by: tuple[str, ...],
    error: float,
    notes: list[str],
) -> Account:
    """Composition and within, with strata and columns."""
    labels = counts.labels("stratum")
    data = _means(counts, statistic, about["cell"])
    _check_strata(data, by, labels)
    values, by_row, hidden = moved_by(data, totals)
    added, by_row_outside = outside(data)
    moved = np.concatenate([by_row, by_row_outside])
    spread = data.entries.covariance(moved)
    spread[:2, :2] += hidden
    lost = tuple(
        (np.where(data.shared, 0.0, data.weight).sum(axis=1) / data.weight.sum(axis=1)).tolist()
    )
    words = " and ".join(by)
    names = ("composition", "within", "outside")
    told = (words, f"how people alike in {words} fare", "people without a counterpart")
    kept = 3 if max(lost) > 0 else 2
    split = Split(
        names[:kept],
        told[:kept],
        np.array([*values, *added])[:kept],
        spread[:kept, :kept],
        data.entries.free(moved)[:kept],
    )
    gap, parts = _parts(split, error)
    alone = [show(label) for label, both in zip(labels, data.shared, strict=True) if not both]
    rows = np.bincount(data.stratum, data.entries.rows, data.strata)
    notes = [*notes, *overlap_notes(alone, int(rows[~data.shared].sum()))]
    within = parts[1]
    return Account(
        gap=gap,
        parts=parts,
        by=by,
        columns=_columns(data, labels, by, error),
        strata=_strata(data, labels, error),
        is_reversed=gap.sign * within.sign < 0,
        outside=(lost[0], lost[1]),
        notes=tuple(notes),
        **about,
    )


def _means(counts: Tally, statistic: Statistic, cell: Label) -> Means:
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
    sides = statistic.fraction(single)
    if sides is None:
        raise InputError(
            f"{statistic.formula} is no ratio of sums over rows, so it has no composition: explain "
            "a rate such as statistical_parity, equal_opportunity or accuracy_parity."
        )
    at = statistic.read(single).cells.index(cell)
    above, below = sides[0][at], np.broadcast_to(sides[1], sides[0].shape)[at]
    chosen = below > 0
    entries = Entries.of(counts).times(np.asarray(below, np.float64))
    stratum = counts.cells[names.index("stratum")][chosen]
    value = np.asarray(above[chosen] / below[chosen], np.float64)
    return Means(entries, value, stratum, counts.axis("stratum").size)


def _check_strata(data: Means, by: tuple[str, ...], labels: Sequence[Label]) -> None:
    """Refuse columns that cannot explain: the outcome itself, one value, or as many as rows."""
    named = " and ".join(by)
    rows = float(data.entries.rows.sum())
    used = int((data.weight.sum(axis=0) > 0).sum())
    if used < 2:
        raise InputError(
            f"{named} has one value, {show(labels[0])}, in all rows that count, so it explains "
            "nothing."
        )
    if used > MOST_STRATA or used > rows / 2:
        raise InputError(
            f"{named} makes {plural(used, 'stratum', 'strata')} of {plural(rows, 'row')}, too many "
            "to compare groups within each. Cut amounts into ranges, or name fewer columns."
        )
    if not data.shared.any():
        raise InputError(
            f"No value of {named} has people of both groups, so it tells the group itself and "
            "nothing can be compared within it."
        )
    spread = data.sums(data.values**2).sum(axis=0) - np.divide(
        data.sums(data.values).sum(axis=0) ** 2,
        data.weight.sum(axis=0),
        out=np.zeros(data.strata),
        where=data.weight.sum(axis=0) > 0,
    )
    if (spread <= 1e-12 * data.weight.sum()).all():
        raise InputError(
            f"{named} tells the outcome in every row: it is the outcome under another name, and "
            "explains nothing. Name columns that were known before the decision."
        )


def _strata(data: Means, labels: Sequence[Label], error: float) -> tuple[Stratum, ...]:
    """What each stratum adds, the largest part within first; intervals hold at once."""
    values, moved, hidden = moved_by(data, details)
    number = data.strata
    spread = data.entries.covariance(moved[:number]) + hidden[:number, :number]
    free = data.entries.free(moved[:number])
    far = reach(spread[np.ix_(data.shared, data.shared)], free[data.shared], error)
    errors = far * np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    at = data.entries.group * number + data.stratum
    rows = np.bincount(at, data.entries.rows, 2 * number).reshape(2, number)
    weight = data.weight
    means = np.divide(
        data.sums(data.values), weight, out=np.full(weight.shape, np.nan), where=weight > 0
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
                float(values[number + place]) if both else np.nan,
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
    spread, free = data.entries.covariance(moved), data.entries.free(moved)
    far: Floats = reach(spread, free, error) * np.sqrt(np.maximum(np.diagonal(spread), 0.0))
    found = [
        Part(name, name, value, value - off, value + off)
        for name, value, off in zip(by, values.tolist(), far.tolist(), strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.value)))
