"""Bounds of a criterion of unknown groups, from probabilities and known rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, log10
from numbers import Real

import numpy as np

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.roles import OF_RANKINGS
from evenhand._data.summaries import Source
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import brief, check_kinds
from evenhand._unknown import estimates, extremes
from evenhand._unknown.answers import ASSUMPTIONS, GAPS_ONLY, WITHOUT, Answer, Bounds, Verdict
from evenhand._unknown.counted import Counted, Floats, Unknown, unknown
from evenhand._unknown.estimates import Estimate
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import criterion_of
from evenhand.measures import Measure, MeasureLike

MAKERS: dict[str, Callable[[Counted], Estimate]] = {
    "weighted": estimates.weighted,
    "instrumental": estimates.instrumental,
    "combined": estimates.combined,
    "cut": estimates.cut,
}
POWER = 0.84  # additional standard errors, for a power of four in five


@about_data(without=("replicate_weights", "replicate_method", *OF_RANKINGS))
def bounds(
    criterion: str | Criterion,
    data: Data,
    *,
    measure: MeasureLike | None = None,
    fail_if: float | None = None,
    confidence: float = 0.95,
) -> Bounds:
    """Bounds of a criterion where people's groups are not known.

    Groups may be probable (a proxy's), known for some people, or recorded with gaps: pass
    `sensitive_features=evenhand.probable(...)`, which can name the assumption that decides, or a
    column with gaps. The result has four answers, and common practice for comparison. They are for
    shares of people (selection rates, true and false positive rates, precision, accuracy) and
    for means: of predictions, errors and losses.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA` such as "statistical_parity", or a criterion of your own.
    {data}
    measure : str or callable, optional
        How unequal: "mpd", "gini", "pq" or "shortfall"; or "ratio". By default the criterion's own.
    fail_if : float, optional
        The largest value that counts as alike, of a ratio the smallest. Without it groups can be
        found to differ, and never to be alike.
    confidence : float, default 0.95
        How often intervals shall hold the truth.

    Returns
    -------
    Bounds
        With `answers`, `verdict` and `summary`.

    Raises
    ------
    InputError
        If the criterion is not a share of people and no mean, or there is no such answer.
    InputTypeError
        If all groups are known for sure.

    See Also
    --------
    probable : Probabilities of groups, and groups of some people.
    interval : Where all groups are known.

    Notes
    -----
    The *weighted* answer counts every row in each group with its probability. The *instrumental*
    one regresses outcomes on the probabilities. The *bounds* are the extremes over everything that
    the probabilities allow: they hold whenever these are right on average. The *combined* answer
    corrects the prediction from the probabilities by the people of known group, within `strata` if
    they were sampled by these; it holds even if the probabilities are wrong. Rows of more than
    2,000 different probabilities are put together with similar ones.

    References
    ----------
    - N. Kallus, X. Mao and A. Zhou, "Assessing algorithmic fairness with unobserved protected
      class using data combination", Management Science 68(3), 2022.
    - C. McCartan, R. Fisher, J. Goldin, D. E. Ho and K. Imai, "Estimating racial disparities when
      race is not observed", Journal of the American Statistical Association, 2025.
    - A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: efficient prediction-powered
      inference", 2023.

    Examples
    --------
    >>> import evenhand as eh
    >>> hired = [1] * 700 + [0] * 300 + [1] * 100 + [0] * 900
    >>> proxy = eh.probable([[0.95, 0.05]] * 1000 + [[0.05, 0.95]] * 1000, groups=["a", "b"])
    >>> found = eh.bounds("statistical_parity", None, hired, sensitive_features=proxy)
    >>> print(found.summary)
    If the probabilities are right, the gap (statistical parity) is 46.1 to 73.4 percentage \
points, whoever is in which group. The groups differ.
    >>> print(f"{found.answers['weighted'].value:.2f} {found.answers['instrumental'].value:.2f}")
    0.54 0.67

    """
    check_kinds(confidence=confidence)
    _check_tolerance(fail_if)
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    result = bounds_of(unknown(data), criterion, measure, fail_if=fail_if, confidence=confidence)
    if result.known == result.rows and not data.is_unknown:
        raise InputTypeError(
            "bounds are about groups that are not known for sure: pass sensitive_features="
            "evenhand.probable(...), or columns with gaps. Where all groups are known, evaluate "
            "and interval answer."
        )
    return result


def _check_tolerance(fail_if: float | None) -> None:
    """Refuse a gate in words, and what is no value of a measure."""
    if fail_if is None:
        return
    if isinstance(fail_if, bool) or not isinstance(fail_if, Real):
        raise InputTypeError(
            f"fail_if is a number here, such as 0.05, not {brief(fail_if)}: criterion and measure "
            "are named already. Gates in words are for audit and assert_even."
        )
    if not 0 <= fail_if < np.inf:
        raise InputError(f"fail_if is a number of at least 0, such as 0.05; it is {fail_if}.")


def bounds_of(
    data: Unknown,
    criterion: str | Criterion,
    measure: MeasureLike | None = None,
    *,
    g: str | None = None,
    source: Source | None = None,
    fail_if: float | None = None,
    margin: float | None = None,
    confidence: float = 0.95,
    tests: int = 1,
) -> Bounds:
    """The bounds from data, or from a `source` that was counted from them.

    Without a bound, groups differ unless they are equal, and are alike within the `margin`.
    Lower ends are corrected for this number of `tests`.
    """
    resolved = criterion_of(criterion, data.data).with_statistic(g)
    settings = resolved.settings(measure=measure)
    function = settings.function
    if not function.is_solved:
        raise InputError(
            f"Bounds are for mpd, gini, pq, shortfall and ratio, not {settings.resolved.name}."
        )
    if settings.aggregate != "worst":
        raise InputError(f"{resolved.name} adds up cells; bounds are those of the worst cell.")
    counts, cells, strata = data.counts(resolved, source)
    looks = float(max(np.bincount(strata).max() - 1, 1)) * len(np.unique(strata))
    error = 1 - confidence
    share = error / looks / tests
    by_name = {}
    for name in _names(counts[0]):
        if name == WITHOUT:
            by_name[name] = [_range_of(count, function, error, share) for count in counts]
        else:
            fitted = [MAKERS[name](count) for count in counts]
            by_name[name] = [_ends_of(estimate, function, error, share) for estimate in fitted]
    worst = _worst(by_name, len(cells))
    answers = {
        name: _answer(name, ends, settings.resolved, counts[worst], 1 - confidence)
        for name, ends in by_name.items()
    }
    first = counts[0]
    known_rows = int(first.rows[:, first.known >= 0].sum())
    mass = first.weight.sum(axis=0)
    shares = np.bincount(first.cell, mass, len(first.mixing)) @ first.mixing / mass.sum()
    decisive = data.assuming or WITHOUT
    if decisive not in answers:
        raise InputError(
            'assuming="combined" needs people whose group is known, and there are none.'
        )
    if not settings.resolved.is_width:
        margin = None
    verdict = _verdict(answers[decisive], settings.resolved, fail_if, margin)
    needed = None
    everyone = int(first.rows.sum())
    is_part_known = 0 < known_rows < everyone
    if verdict == "more groups" and settings.resolved.is_width:
        needed = _needed(counts[worst], answers, fail_if or 0.0, share)
    if needed is not None and needed <= known_rows:  # the known rows would have been enough
        needed = None
    return Bounds(
        criterion=resolved.name,
        measure=settings.resolved.name,
        answers=answers,
        decisive=decisive,
        verdict=verdict,
        needed=needed,
        is_sharp=all(extremes.range_of(count, function).is_sharp for count in counts)
        and (len(counts) == 1 or (len(counts) == 2 and looks == 1)),
        groups=first.proxy.groups,
        shares=dict(zip(first.proxy.groups, shares.tolist(), strict=True)),
        rows=everyone,
        known=known_rows,
        random_p_value=estimates.known_p_value(counts[worst]) if is_part_known else np.nan,
        proxy_p_value=estimates.proxy_p_value(first) if known_rows else np.nan,
        cell=cells[worst],
        confidence=confidence,
        fail_if=fail_if,
        margin=margin,
        lacking=_lacking(counts, cells, decisive),
        counted=np.min([_rows_of(count) for count in counts], axis=0),
        is_share=first.value is None,
        formula=resolved.formula,
        frame_kind=data.data.kind,
    )


Ends = tuple[float, float, float, float, float]  # value, least, greatest, low, high


def _names(counts: Counted) -> list[str]:
    """Names of the available answers, in order of display."""
    any_known = bool((counts.known >= 0).any())
    return ["weighted", "instrumental", WITHOUT, *(["combined"] if any_known else []), "cut"]


def _range_of(counts: Counted, measure: Measure, error: float, share: float) -> Ends:
    least, greatest, _ = extremes.range_of(counts, measure)
    low, high = extremes.interval_of(counts, measure, error, share)
    return np.nan, least, greatest, min(low, least), max(high, greatest)


def _ends_of(estimate: Estimate, measure: Measure, error: float, share: float) -> Ends:
    value, low, high = estimate.interval(measure, error, share)
    return value, value, value, low, high


def _worst(ends_by_answer: Mapping[str, Sequence[Ends]], cells: int) -> int:
    """The cell with the largest value, or else the widest bounds; of ties, the last."""
    for name, at in (("combined", 0), ("weighted", 0), (WITHOUT, 2)):
        values = np.array([ends[at] for ends in ends_by_answer.get(name, ())])
        if np.isfinite(values).any():
            best = np.nanmax(values)
            return int(np.flatnonzero(values >= best - 1e-12)[-1])
    return cells - 1


def _answer(
    name: str, cells: Sequence[Ends], measure: Measure, counts: Counted, error: float
) -> Answer:
    table = np.array(cells)
    defined = np.isfinite(table).any(axis=0)
    worst = np.where(
        defined, np.nanmax(np.where(np.isfinite(table), table, -np.inf), axis=0), np.nan
    )
    value, least, greatest, low, high = worst.tolist()
    least, greatest = measure.ends(least, greatest)
    low, high = measure.ends(low, high)
    assumes = ASSUMPTIONS[name]
    if name == WITHOUT and not counts.is_complete:
        assumes = GAPS_ONLY
    rates = _rates(name, counts, error)
    ends = {
        group: (float(first), float(last))
        for group, first, last in zip(counts.proxy.groups, *rates, strict=True)
    }
    return Answer(name, assumes, measure.written(value), least, greatest, low, high, ends)


def _rates(name: str, counts: Counted, error: float) -> tuple[Floats, Floats]:
    """Confidence limits of the rate of every single group."""
    from scipy.special import ndtri

    if name != WITHOUT:
        return MAKERS[name](counts).single(error)
    single, reach = np.eye(counts.number), float(-ndtri(error / 2))
    low, high = extremes.lower(counts, single), extremes.upper(counts, single)
    errors = [np.sqrt(np.diag(extremes.covariance(counts, side.influence))) for side in (low, high)]
    return (
        np.clip(low.value - low.bias - reach * errors[0], *counts.limits),
        np.clip(high.value + high.bias + reach * errors[1], *counts.limits),
    )


def _verdict(
    answer: Answer, measure: Measure, fail_if: float | None, margin: float | None = None
) -> Verdict:
    """Whether the answer is beyond the limit or within it; or what would decide."""
    limit = 0.0 if fail_if is None else float(measure.written(fail_if))
    tolerated = -1.0 if margin is None else margin
    tolerated = tolerated if fail_if is None else limit
    low, high = measure.ends(answer.low, answer.high)
    least, greatest = measure.ends(answer.least, answer.greatest)
    if low > limit:
        return "differs"
    if high <= tolerated:
        return "alike"
    if least > limit or greatest <= tolerated or np.isnan(low):
        return "more rows"
    return "more groups" if answer.name == WITHOUT else "more rows"


def _rows_of(counts: Counted) -> Floats:
    """Approximate number of rows of each group that a rate is based on."""
    rows = counts.by_cell(counts.rows * counts.about).sum(axis=0)
    return np.asarray(rows @ np.nan_to_num(counts.mixing))


def _lacking(
    counts: Sequence[Counted], cells: Sequence[Label], decisive: str
) -> tuple[tuple[Label, Label], ...]:
    """The cells and groups for which the decisive answer is undefined."""
    lacking = []
    for cell, cell_counts in zip(cells, counts, strict=True):
        low, high = _rates(decisive, cell_counts, 0.05)
        undefined = np.flatnonzero(np.isnan(low) | np.isnan(high))
        lacking += [(cell, cell_counts.proxy.groups[at]) for at in undefined]
    return tuple(lacking)


def _needed(
    counts: Counted, answers: Mapping[str, Answer], limit: float, share: float
) -> int | None:
    """Approximate number of rows of known group that would decide, at the estimated gap.

    The error is divided among all pairs of groups.
    """
    from scipy.special import ndtri

    name = "combined" if "combined" in answers else "weighted"
    estimate = MAKERS[name](counts)
    values = estimate.values
    if np.isfinite(values).sum() < 2 or np.isnan(answers[name].value):
        return None
    top, bottom = int(np.nanargmax(values)), int(np.nanargmin(values))
    distance = abs(answers[name].value - limit)
    if distance == 0 or top == bottom:
        return None
    if name == "combined":
        pair = estimate.covariance[np.ix_([top, bottom], [top, bottom])]
        variance = (pair[0, 0] + pair[1, 1] - 2 * pair[0, 1]) * float(
            counts.rows[:, counts.known >= 0].sum()
        )
    else:
        variance = 0.0
        for at in (top, bottom):
            part = counts.weight * counts.mixing[counts.cell, at]
            square = (part * (counts.hit - values[at] * counts.about) ** 2).sum()
            variance += square * counts.weight.sum() / (part * counts.about).sum() ** 2
    pairs = counts.number * (counts.number - 1) / 2
    rows = float(variance) * float((POWER - ndtri(share / 2 / pairs)) / distance) ** 2
    if not np.isfinite(rows) or rows > 1e9:
        return None
    scale = int(10 ** max(ceil(log10(max(rows, 1.0))) - 2, 0))
    return max(ceil(rows / scale) * scale, 2)
