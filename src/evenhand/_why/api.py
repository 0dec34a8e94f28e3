"""Explain a gap, from the counts alone or by explaining columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evenhand._columns import Label
from evenhand._columns.bins import Bin
from evenhand._columns.encoding import encode
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.groups import columns_of, place_in, strata_of
from evenhand._data.roles import OF_RANKINGS
from evenhand._data.summaries import with_favorable
from evenhand._data.tallies import Tally
from evenhand._data.tasks import favorable_label
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._uncertainty.clusters import plain
from evenhand._uncertainty.errors import covariance
from evenhand._why.account import Account, Region
from evenhand._why.columns import by_means, by_models, by_strata, means_of, parts_of
from evenhand._why.outcomes import Split, outcome_split
from evenhand._why.regions import Span, by_score, regions_of
from evenhand._why.rows import are_strata, check_outcome, explaining, named, rows_of
from evenhand._why.strata import Means
from evenhand._words import did_you_mean
from evenhand.criteria import Criterion
from evenhand.criteria.compared import metric_of, with_article
from evenhand.criteria.evaluation import criterion_without_measure
from evenhand.statistics import KINDS, E, Table

WITHOUT_MEASURE = "an account is of the difference between two groups."


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

    Without explaining columns the parts come from different true outcomes and from different
    decisions about people with the same true outcome: base rates, true and false positive rates.
    For predicted numbers they are the true values and the errors. With columns, `by=`, the parts
    are composition (groups differ in these columns) and differences within (people with equal
    values of them are treated differently).

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA` such as "statistical_parity", or a criterion of your own; what is
        explained is the gap in its statistic.
    {data}
    by : names of columns, array-like or dataframe, optional
        The explaining columns, such as a department and years of work. Where their combinations are
        few, these are the strata within which groups are compared; amounts and many columns are
        compared by models. A tally that was counted with `strata=` has them already.
    between : pair of labels, optional
        The two groups; the gap is the first one's value less the second one's. By default the
        groups with the highest and the lowest value.
    confidence : float, default 0.95
        How often intervals shall hold the truth. Where the two groups were chosen as extremes of
        several, intervals allow for the choice.

    Returns
    -------
    Account
        With `gap`, `parts`, `strata` and `summary`; where a score was cut at a threshold, also
        `regions`: which scores the gap comes from.

    Raises
    ------
    InputError
        If the criterion is not a rate or mean, an explaining column cannot explain (the outcome
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
    by the average of both groups. By models it is the same quantity, estimated by cross-fitted
    doubly robust means (logistic or linear in splines of amounts and in values of other columns);
    people unlike nearly everyone of the other group are left out and named, and `proxies` says how
    well each column predicts the group. An account says what goes together with the gap, not what
    caused it.

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
    >>> group = ["M"] * 100 + ["F"] * 100
    >>> found = eh.explain("statistical_parity", truth, hired, sensitive_features=group)
    >>> print(found.summary)
    The gap in selection rate between M and F is 18.0 percentage points (56% against 38%). Of \
this, 18.0 is explained by differences in base rates, 0.0 by those in false positive rates and 0.0 \
by those in true positive rates.

    """
    check_kinds(confidence=confidence)
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    resolved = criterion_without_measure(criterion, data, WITHOUT_MEASURE)
    if data.is_random:
        raise InputError(
            "Probabilities of decisions are not explained; draw the decisions, and pass those."
        )
    _check_criterion(resolved, is_by=by is not None)
    options: dict[str, Any] = {
        "between": between,
        "confidence": confidence,
        "kind": data.kind,
    }
    if isinstance(data.y_true, Tally):
        return account_of(resolved, _checked(data.y_true, by), data.favorable, **options)
    is_label = KINDS[resolved.statistic.needs].about == "labels"
    if by is None:
        needs = "labels" if is_label and data.y_true is not None else resolved.statistic.needs
        counts = _tally(data.source(needs))
        scores = by_score(data.counted) if is_label and data.y_score is not None else None
        return account_of(resolved, counts, data.favorable, scores=scores, **options)
    _check_roles(data, _names(by))
    columns = {}
    if data.rows is None:
        data = data.in_memory(*named(by))
        columns = explaining(data, by)
    check_outcome(columns, data.columns("y_pred")["y_pred"] if columns else None)
    if is_label and (not columns or are_strata(columns)):
        counts = replace(data, strata=by).tally()
        return account_of(resolved, counts, data.favorable, by=_names(by), **options)
    source = _tally(data.source(resolved.statistic.needs))
    columns = columns or explaining(data, by)
    return _by_rows(_gap(resolved, source, data.favorable, **options), data, columns)


class Gap(NamedTuple):
    """The gap to explain: its criterion, cell and two groups.

    `about` are the fields common to all accounts, `error` is the error probability of intervals.
    """

    criterion: Criterion
    favorable: Label
    pair: tuple[int, int]
    about: dict[str, Any]
    error: float
    notes: list[str]


def account_of(
    criterion: Criterion,
    counts: Tally,
    favorable: Label = None,
    *,
    by: tuple[str, ...] = (),
    between: Sequence[Label] | None = None,
    confidence: float = 0.95,
    kind: str | None = None,
    scores: Tally | None = None,
    found: tuple[Label, Sequence[Label]] | None = None,
) -> Account:
    """The account of a criterion's gap, from counts by group (and stratum).

    `scores` are counts by ranges of the score that decides; `found` are the cell and the two groups
    of a gap in these counts, if it is known.
    """
    if KINDS[criterion.statistic.needs].about == "labels":
        counts = with_favorable(counts, favorable)
    options: dict[str, Any] = {"confidence": confidence, "kind": kind, "found": found}
    gap = _gap(criterion, counts, favorable, between=between, **options)
    counts_of_pair = _only(counts, gap.pair)
    if "stratum" in [axis.name for axis in counts.axes]:
        by = by or _stratum_names(counts)
        return by_strata(counts_of_pair, criterion.statistic, gap.about, by, gap.error, gap.notes)
    split = _split(counts_of_pair, gap)
    total, parts = parts_of(split, gap.error)
    notes, regions = (*gap.notes, *split.notes), _regions(scores, gap)
    account = Account(gap=total, parts=parts, notes=notes, regions=regions, **gap.about)
    return account.possible()


def _regions(scores: Tally | None, gap: Gap) -> tuple[Region, ...]:
    """The contributions of ranges of the score to the gap."""
    if scores is None:
        return ()
    pair = tuple(place_in(scores.groups, label) for label in gap.about["groups"])
    counts_of_pair = _only(scores, (pair[0], pair[1]))
    data = means_of(counts_of_pair, gap.criterion.statistic, gap.about["cell"])
    spans = [span for span in counts_of_pair.labels("stratum") if isinstance(span, Span)]
    return regions_of(data, spans, gap.error)


def _gap(
    criterion: Criterion,
    counts: Tally,
    favorable: Label,
    *,
    between: Sequence[Label] | None,
    confidence: float,
    kind: str | None,
    found: tuple[Label, Sequence[Label]] | None = None,
) -> Gap:
    """The gap to explain, between the given groups or the most different ones."""
    table = _table(criterion, counts, favorable)
    which = "have the highest and lowest values of"
    if found is not None and found[0] in table.cells:
        cell, (high, low) = found
        pair = place_in(table.groups, high), place_in(table.groups, low)
        which = "were chosen from"
    else:
        cell, pair = _pair(table, between)
    values = table.values[table.cells.index(cell)][list(pair)]
    number = len(table.groups)
    choices = number * (number - 1) // 2 if between is None else 1
    notes = [*counts.notes]
    if choices > 1:
        notes.append(f"The two groups {which} {number}; the intervals allow for that choice.")
    about = {
        "criterion": criterion.name,
        "statistic": criterion.statistic.formula,
        "cell": cell,
        "groups": (table.groups[pair[0]], table.groups[pair[1]]),
        "values": (float(values[0]), float(values[1])),
        "metric": _metric(criterion, cell, counts, favorable),
        "is_rate": criterion.statistic.bounds == (0.0, 1.0),
        "confidence": confidence,
        "frame_kind": kind,
    }
    return Gap(criterion, favorable, pair, about, (1 - confidence) / max(choices, 1), notes)


def _by_rows(gap: Gap, data: Data, columns: dict[str, Any]) -> Account:
    """The account by columns of single rows, with strata or with models."""
    coded = {name: encode(column, name) for name, column in columns.items()}
    size = len(next(iter(coded.values())).codes)
    rows = rows_of(data, gap.criterion.statistic, gap.about["cell"], gap.about["groups"], size)
    if not are_strata(columns):
        return by_models(rows, columns, gap.about, gap.error, gap.notes)
    strata = strata_of(columns)
    data_in = Means(
        rows.entries,
        rows.values,
        strata.codes[rows.kept].astype(np.intp),
        len(strata.labels),
    )
    return by_means(data_in, strata.labels, gap.about, tuple(columns), gap.error, gap.notes)


def _check_criterion(criterion: Criterion, *, is_by: bool) -> None:
    """Refuse a criterion that is not a rate or mean."""
    statistic = criterion.statistic
    if KINDS[statistic.needs].about == "labels":
        return
    if statistic.needs == "moments" and (statistic.mean_of is not None or not is_by):
        return
    raise InputError(
        f"{criterion.name} is not explained here: an account is of shares of people such as "
        "selection rates, accuracy or precision, or of means of numbers such as weak_parity."
    )


def _checked(counts: Tally, by: Any) -> Tally:
    """Counts, checked to allow an account."""
    if by is not None:
        raise InputTypeError(
            "A tally already holds the columns; count it with strata=, and leave out by=."
        )
    if counts.sums["rows"].ndim > 1 or (counts.sums["rows"] % 1 != 0).any():
        raise InputError(f"{counts} cannot be explained: it is not one count of whole rows.")
    return counts


def _tally(source: Any) -> Tally:
    if not isinstance(source, Tally):
        raise InputTypeError(
            f"A {type(source).__name__} has no counts to explain a gap by; pass the columns."
        )
    return source


def _names(by: Any) -> tuple[str, ...]:
    if isinstance(by, str):
        return (by,)
    if isinstance(by, list | tuple) and by and all(isinstance(name, str) for name in by):
        return tuple(by)
    columns = columns_of(by, "by")
    return ("the column",) if list(columns) == ["group"] else tuple(map(str, columns))


def _stratum_names(counts: Tally) -> tuple[str, ...]:
    label = counts.labels("stratum")[0]
    number = len(label) if isinstance(label, tuple) and not isinstance(label, Bin) else 1
    return ("the strata",) if number == 1 else tuple(f"column {at}" for at in range(number))


def _check_roles(data: Data, names: Sequence[str]) -> None:
    """Refuse an explaining column with the name of the outcome, the truth or the group."""
    roles = {"y_pred": data.y_pred, "y_true": data.y_true, "y_score": data.y_score}
    groups = data.sensitive_features
    listed = groups if isinstance(groups, list | tuple) else [groups]
    role_columns = [*roles.items(), *(("sensitive_features", name) for name in listed)]
    for role, column in role_columns:
        if isinstance(column, str) and column in names and data.data is not None:
            raise InputError(
                f"The column {column!r} is {role}, so it cannot explain the gap as well; name "
                "columns that were known before the decision, such as a department."
            )


def _table(criterion: Criterion, counts: Tally, favorable: Label) -> Table:
    """The statistic by group over all strata; with two labels, of the favorable one."""
    if KINDS[criterion.statistic.needs].about != "labels":
        return criterion.table(counts, favorable)
    labels = counts.labels("yhat")
    good = favorable_label(labels, favorable, required=False)
    return criterion.table(counts, good if len(labels) <= 2 or favorable is not None else None)


def _metric(criterion: Criterion, cell: Label, counts: Tally, favorable: Label) -> str:
    """The quantity compared, in words that follow "the gap in"."""
    if KINDS[criterion.statistic.needs].about != "labels":
        return with_article(metric_of(criterion.name, cell, ()))
    labels = counts.labels("yhat")
    good = favorable_label(labels, favorable, required=False)
    if len(labels) > 2 and favorable is None:
        good = None
    return with_article(metric_of(criterion.name, cell, labels, good))


def _pair(table: Table, between: Sequence[Label] | None) -> tuple[Label, tuple[int, int]]:
    """The cell where groups differ most, and the groups with its highest and lowest value."""
    values = np.where(np.isfinite(table.values), table.values, np.nan)
    if between is not None:
        several = isinstance(between, list | tuple) or getattr(between, "ndim", 0) == 1
        if not several or len(between) != 2 or between[0] == between[1]:
            raise InputError(f"between takes two groups, such as ('a', 'b'); it is {between!r}.")
        for label in between:
            if place_in(table.groups, label) < 0:
                raise InputError(
                    f"between={between!r}: there is no group {label!r}; there are "
                    f"{[*table.groups]}.{did_you_mean(label, table.groups)}"
                )
        first, second = (place_in(table.groups, label) for label in between)
        gaps = np.abs(values[:, first] - values[:, second])
        if np.isnan(gaps).all():
            raise InputError(f"No value is known of both groups {between!r}: nothing to explain.")
        return table.cells[int(np.nanargmax(gaps))], (first, second)
    comparable = np.isfinite(values).sum(axis=1) >= 2
    if not comparable.any():
        raise InputError("Fewer than two groups have a value, so there is no gap to explain.")
    values = np.where(comparable[:, None], values, np.nan)
    highest, lowest = (
        np.where(np.isnan(values), -np.inf, values),
        np.where(np.isnan(values), np.inf, values),
    )
    gaps = np.where(comparable, highest.max(axis=1) - lowest.min(axis=1), -np.inf)
    at = int(np.argmax(gaps))
    first, second = int(np.argmax(highest[at])), int(np.argmin(lowest[at]))
    if first == second:  # all are equal
        second = int(np.flatnonzero(np.isfinite(values[at]))[1])
    return table.cells[at], (first, second)


def _only(counts: Tally, pair: tuple[int, int]) -> Tally:
    """The counts of two groups only, in this order."""
    target = np.full(len(counts.groups), 2)
    target[list(pair)] = (0, 1)
    selected = counts.regrouped(target, tuple(counts.groups[at] for at in pair))
    return _tally(plain(selected))


def _split(counts: Tally, gap: Gap) -> Split:
    """Parts from the counts alone."""
    criterion, cell, favorable = gap.criterion, gap.about["cell"], gap.favorable
    statistic = criterion.statistic
    if KINDS[statistic.needs].about == "labels":
        if "y" not in [axis.name for axis in counts.axes]:
            raise InputError(
                "To explain a gap in decisions, pass y_true, or explaining columns as by=."
            )
        if "y" in statistic.conditions:
            raise InputError(
                f"{criterion.name} compares rates among people with the same true label, so base "
                "rates do not explain them: pass explaining columns as by=."
            )
        positive = favorable_label(counts.labels("yhat"), favorable, required=False)
        positive = cell if positive is None and cell in counts.labels("y") else positive
        return outcome_split(counts, statistic, cell, positive)
    if statistic.needs == "lists":
        raise InputError(
            f"{criterion.name} is about a ranking, and only gaps in decisions and in predicted "
            "numbers are split into parts."
        )
    if statistic.mean_of != "yhat" or "y" not in counts.sums:
        raise InputError(
            f"{criterion.name} of numbers has no parts of its own: without by=, weak_parity (the "
            "mean prediction) is explained by true values and errors, and needs y_true."
        )
    return _numbers(counts, criterion)


def _numbers(counts: Tally, criterion: Criterion) -> Split:
    """The mean prediction: the mean of the truth, and the mean error."""
    criteria = [replace(criterion, statistic=E(name)) for name in ("y", "error", "yhat")]
    values = [item.table(counts).values[0] for item in criteria]
    spread = [covariance(counts, item)[0] for item in criteria]
    truth, error, prediction = (item[0, 0] + item[1, 1] - 2 * item[0, 1] for item in spread)
    shared = (prediction - truth - error) / 2
    rows = counts.table("group", of="rows")
    variances = spread[2].diagonal()
    freedom = variances.sum() ** 2 / max(
        float((variances**2 / np.maximum(rows - 1, 1)).sum()), 1e-300
    )
    return Split(
        ("truth", "error"),
        ("the true values", "the errors of predictions"),
        np.array([item[0] - item[1] for item in values[:2]]),
        np.array([[truth, shared], [shared, error]]),
        np.full(2, max(freedom, 1.0)),
    )
