"""A criterion of groups that are not known: four answers, and what each of them assumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from math import ceil, log10
from typing import Any, Literal

import numpy as np

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.groups import show
from evenhand._data.roles import OF_RANKINGS
from evenhand._data.summaries import Source
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._result import Columns, Result, finite
from evenhand._unknown import estimates, extremes
from evenhand._unknown.counted import Counted, Floats, Unknown, unknown
from evenhand._unknown.estimates import Estimate
from evenhand._words import capitalized, extent, number, plural, points, points_up
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import asked_of
from evenhand.measures import Measure, MeasureLike, resolve

Verdict = Literal["differs", "alike", "more rows", "more groups"]

WITHOUT = "bounds"
ASSUMPTIONS = {
    "weighted": "Among people with the same probabilities, outcomes do not depend on the group.",
    "instrumental": "Among people of the same group, outcomes do not depend on the probabilities.",
    WITHOUT: "Nothing but the probabilities.",
    "combined": "The people whose group is known are a random sample.",
    "cut": "Everyone is in their most probable group; common practice, and usually wrong.",
}
GAPS_ONLY = "Nothing: people without a recorded group may be in any."
MAKERS: dict[str, Callable[[Counted], Estimate]] = {
    "weighted": estimates.weighted,
    "instrumental": estimates.instrumental,
    "combined": estimates.combined,
    "cut": estimates.cut,
}
VERDICTS: dict[Verdict, str] = {
    "differs": "The groups differ, whatever the groups of single people are.",
    "alike": "The groups are alike, whatever the groups of single people are.",
    "more rows": "Inconclusive: more rows would settle it.",
    "more groups": "Inconclusive: only knowing the groups of more people would settle it",
}
DOUBTFUL = 0.01  # p-value below which known rows are not taken for a random sample
POWER = 0.84  # standard errors more, so that four of five samples show it


@dataclass(frozen=True)
class Answer:
    """What a criterion is under one assumption.

    Attributes
    ----------
    name : {"weighted", "instrumental", "bounds", "combined", "cut"}
        Which answer this is.
    assumes : str
        What it assumes, in a sentence.
    value : float
        The estimate; NaN where there is none, as of bounds.
    least, greatest : float
        Between which values the criterion lies if the counts were the truth: twice the estimate,
        or the ends of the bounds.
    low, high : float
        The same with sampling error: the interval that holds the true value with the stated
        confidence if the assumption is right.
    rates : mapping of group to (float, float)
        Between which values the rate of each group lies, by its own interval; of the cell that the
        result is about.

    """

    name: str
    assumes: str
    value: float
    least: float
    greatest: float
    low: float
    high: float
    rates: Mapping[Label, tuple[float, float]]


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Result):
    """Bounds of a criterion where groups are probable, partly known or missing.

    Attributes
    ----------
    criterion, measure : str
        What was asked, and how it was measured.
    answers : mapping of str to Answer
        By name: "weighted", "instrumental", "bounds", "combined" where some groups are known, and
        "cut".
    decisive : str
        The answer that the verdict is about: "bounds", unless an assumption was named.
    verdict : {"differs", "alike", "more rows", "more groups"}
        Whether groups differ, by more than `fail_if` where that is stated; or what would tell.
    needed : int or None
        About how many people of known group would tell, where only those would.
    is_sharp : bool
        Whether both ends of the bounds are possible values; else they may be too wide.
    groups : tuple of labels
        The groups.
    shares : mapping of group to float
        The probable share of each group among all rows; NaN where it is not known.
    rows, known : int
        How many rows there are, and of how many the group is known.
    random_p_value : float
        The p-value of the known rows being a random sample; NaN if none is known, or all.
    cell : label
        The class, or pair of true and predicted label, that `rates` are about: the worst one.
    confidence : float
        How often the intervals hold the truth.
    fail_if : float or None
        The largest value that counts as alike, of a ratio the smallest.
    margin : float or None
        The difference that counts as alike, where there is no such bound.
    lacking : tuple
        The cells and groups of which the decisive answer knows nothing.
    counted : ndarray
        About how many rows of each group the rates are about; where that is not known, at least.
    is_share : bool
        Whether rates are shares of people, and not means of values.

    """

    criterion: str
    measure: str
    answers: Mapping[str, Answer]
    decisive: str
    verdict: Verdict
    needed: int | None
    is_sharp: bool
    groups: tuple[Label, ...]
    shares: Mapping[Label, float]
    rows: int
    known: int
    random_p_value: float
    cell: Label
    confidence: float
    fail_if: float | None
    margin: float | None = None
    lacking: tuple[tuple[Label, Label], ...] = ()
    counted: Floats = field(default_factory=lambda: np.empty(0))
    is_share: bool = True
    frame_kind: str | None = None

    @property
    def kind(self) -> str | None:
        """The library of the caller's dataframes."""
        return self.frame_kind

    @cached_property
    def summary(self) -> str:
        """The verdict in plain words, and the bounds that it rests on."""
        answer = self.answers[self.decisive]
        criterion = self.criterion.replace("_", " ")
        if self.decisive == WITHOUT:
            words = f"Whatever the groups are, {self._what} ({criterion}) is {self._range(answer)}."
            missing = self.rows - self.known
            if not missing:
                words = f"{capitalized(self._what)} ({criterion}) is {self._range(answer)}."
            elif self._is_free:
                have = "has" if missing == 1 else "have"
                words = (
                    f"{plural(missing, 'person', 'people')} of {self.rows:,} {have} no recorded "
                )
                words += f"group; whatever it is, {self._what} ({criterion}) is "
                words += f"{self._range(answer)}."
        else:
            assumed = answer.assumes[:1].lower() + answer.assumes[1:].rstrip(".")
            words = f"If {assumed}, {self._what} ({criterion}) is {self._range(answer)}."
        return f"{words} {self.conclusion}{self._doubt}"

    @property
    def condition(self) -> str:
        """What the gap could be, given the missing groups, in a sentence."""
        missing, what = self.rows - self.known, self._what
        people = "the person" if missing == 1 else f"the {missing:,} people"
        if not (self.decisive == WITHOUT and self._is_free):
            return self.summary
        ends = self._range(self.answers[WITHOUT])
        criterion = self.criterion.replace("_", " ")
        return (
            f"If {people} without a recorded group were in other groups, {what} ({criterion}) "
            f"could be anything from {ends}"
        )

    @property
    def conclusion(self) -> str:
        """The verdict in a sentence."""
        sure = self.decisive == WITHOUT
        if self.verdict == "differs":
            more = "" if self.fail_if is None else f" by more than {number(self.fail_if)} allows"
            ending = ", whatever the groups of single people are" if sure else ""
            return f"The groups differ{more}{ending}."
        if self.verdict == "alike":
            within = number(self.margin if self.fail_if is None else self.fail_if)
            ending = ", whatever the groups of single people are" if sure else ""
            return f"The groups are alike within {within}{ending}."
        sentence = VERDICTS[self.verdict]
        if self.verdict == "more rows":
            return sentence
        if self.needed is None:
            return f"{sentence}."
        if self.needed > self.rows:
            return (
                f"{sentence}, and these are too few: about {self.needed:,} rows of known group "
                "are needed."
            )
        return f"{sentence}, about {self.needed:,} drawn at random."

    @property
    def is_doubtful(self) -> bool:
        """Whether the known rows do not look like a random sample."""
        return self.random_p_value < DOUBTFUL

    @property
    def _doubt(self) -> str:
        if not self.is_doubtful or (self.decisive == WITHOUT and self._is_free):
            return ""
        return (
            " The people whose group is known do not look like a random sample; the combined "
            "answer may be wrong unless they are one within strata=."
        )

    @property
    def _is_free(self) -> bool:
        """Whether nothing is known of the groups of some people."""
        return any(np.isnan(share) for share in self.shares.values())

    @property
    def _what(self) -> str:
        return (
            "the gap" if resolve(self.measure).is_width else f"the {resolve(self.measure).phrase}"
        )

    def _range(self, answer: Answer) -> str:
        if np.isnan(answer.low):
            return "undefined"
        if resolve(self.measure).is_width and self.is_share:
            low = points(answer.low) if answer.low > 0 else "0"
            return f"{low.removesuffix(' percentage points')} to {points_up(answer.high)}"
        return extent(answer.low, answer.high)

    def document(self) -> dict[str, Any]:
        """Everything as plain JSON values, by the schema "evenhand.bounds/1".

        Returns
        -------
        dict
            JSON values; what is undefined is None.

        """
        names = ["criterion", "measure", "decisive", "verdict", "needed", "is_sharp", "rows"]
        names += ["known", "random_p_value", "confidence", "fail_if", "is_share"]
        answers = [
            {
                **{
                    key: getattr(answer, key)
                    for key in ("name", "assumes", "value", "least", "greatest", "low", "high")
                },
                "rates": [
                    {"group": show(group), "low": low, "high": high}
                    for group, (low, high) in answer.rates.items()
                ],
            }
            for answer in self.answers.values()
        ]
        known = {
            "schema": "evenhand.bounds/1",
            "evenhand": version("evenhand"),
            "sentence": self.summary,
            **{name: getattr(self, name) for name in names},
            "cell": show(self.cell),
            "groups": [
                {"label": show(group), "share": share} for group, share in self.shares.items()
            ],
            "answers": answers,
        }
        return dict(finite(known))

    @property
    def _tables(self) -> Sequence[str]:
        return ("answers", "rates")

    def _table(self, name: str) -> Columns:
        answers = self.document()["answers"]
        if name == "rates":
            rows = [(one["name"], *rate.values()) for one in answers for rate in one["rates"]]
            columns: Sequence[Any] = list(zip(*rows, strict=True)) or [(), (), (), ()]
            return dict(zip(("answer", "group", "low", "high"), map(list, columns), strict=True))
        keys = ("name", "value", "least", "greatest", "low", "high", "assumes")
        return {key: [one[key] for one in answers] for key in keys}


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
    column with gaps. There are four answers side by side, and common practice beside them. All hold
    for shares of people (selection rates, true and false positive rates, precision, accuracy) and
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
    Whatever the groups are, the gap (statistical parity) is 46.1 to 73.4 percentage points. The \
groups differ, whatever the groups of single people are.
    >>> print(f"{found.answers['weighted'].value:.2f} {found.answers['instrumental'].value:.2f}")
    0.54 0.67

    """
    check_kinds(confidence=confidence, fail_if=fail_if)
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    found = bounds_of(unknown(data), criterion, measure, fail_if=fail_if, confidence=confidence)
    if found.known == found.rows and not data.is_unknown:
        raise InputTypeError(
            "bounds are about groups that are not known for sure: pass sensitive_features="
            "evenhand.probable(...), or columns with gaps. Where all groups are known, evaluate "
            "and interval answer."
        )
    return found


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
    """The bounds of data that were read, or of a `source` that was counted of them.

    Without a bound, groups differ where they are not equal, and are alike within the `margin`.
    Lower ends allow for this number of `tests`.
    """
    asked = asked_of(criterion, data.data).with_statistic(g)
    settings = asked.settings(measure=measure)
    by = settings.function
    if not by.is_solved:
        raise InputError(
            f"Bounds are for mpd, gini, pq, shortfall and ratio, not {settings.resolved.name}."
        )
    if settings.aggregate != "worst":
        raise InputError(f"{asked.name} adds up cells; bounds are those of the worst cell.")
    counts, cells, strata = data.counts(asked, source)
    looks = float(max(np.bincount(strata).max() - 1, 1)) * len(np.unique(strata))
    error = 1 - confidence
    share = error / looks / tests
    found = {}
    for name in _names(counts[0]):
        if name == WITHOUT:
            found[name] = [_range_of(each, by, error, share) for each in counts]
        else:
            made = [MAKERS[name](each) for each in counts]
            found[name] = [_made(one, by, error, share) for one in made]
    worst = _worst(found, len(cells))
    answers = {
        name: _answer(name, ends, settings.resolved, counts[worst], 1 - confidence)
        for name, ends in found.items()
    }
    first = counts[0]
    seen = int(first.rows[:, first.known >= 0].sum())
    whole = first.weight.sum(axis=0)
    shares = np.bincount(first.cell, whole, len(first.mixing)) @ first.mixing / whole.sum()
    decisive = data.assuming or WITHOUT
    if decisive not in answers:
        raise InputError(
            'assuming="combined" needs people whose group is known, and there are none.'
        )
    if not settings.resolved.is_width:
        margin = None
    verdict = _verdict(answers[decisive], settings.resolved, fail_if, margin)
    needed = None
    if verdict == "more groups" and settings.resolved.is_width:
        needed = _needed(counts[worst], answers, fail_if or 0.0, error)
    everyone = int(first.rows.sum())
    return Bounds(
        criterion=asked.name,
        measure=settings.resolved.name,
        answers=answers,
        decisive=decisive,
        verdict=verdict,
        needed=needed,
        is_sharp=all(extremes.range_of(each, by).is_sharp for each in counts)
        and (len(counts) == 1 or (len(counts) == 2 and looks == 1)),
        groups=first.proxy.groups,
        shares=dict(zip(first.proxy.groups, shares.tolist(), strict=True)),
        rows=everyone,
        known=seen,
        random_p_value=estimates.known_p_value(counts[worst]) if 0 < seen < everyone else np.nan,
        cell=cells[worst],
        confidence=confidence,
        fail_if=fail_if,
        margin=margin,
        lacking=_lacking(counts, cells, decisive),
        counted=np.min([_rows_of(each) for each in counts], axis=0),
        is_share=first.value is None,
        frame_kind=data.data.kind,
    )


Ends = tuple[float, float, float, float, float]  # value, least, greatest, low, high


def _names(counts: Counted) -> list[str]:
    """The answers that there are, in the order in which they are shown."""
    some = bool((counts.known >= 0).any())
    return ["weighted", "instrumental", WITHOUT, *(["combined"] if some else []), "cut"]


def _range_of(counts: Counted, measure: Measure, error: float, share: float) -> Ends:
    least, greatest, _ = extremes.range_of(counts, measure)
    low, high = extremes.interval_of(counts, measure, error, share)
    return np.nan, least, greatest, min(low, least), max(high, greatest)


def _made(estimate: Estimate, measure: Measure, error: float, share: float) -> Ends:
    value, low, high = estimate.interval(measure, error, share)
    return value, value, value, low, high


def _worst(found: Mapping[str, Sequence[Ends]], cells: int) -> int:
    """The cell with the largest value, or else the widest bounds; of two alike, the last."""
    for name, at in (("combined", 0), ("weighted", 0), (WITHOUT, 2)):
        values = np.array([ends[at] for ends in found.get(name, ())])
        if np.isfinite(values).any():
            best = np.nanmax(values)
            return int(np.flatnonzero(values >= best - 1e-12)[-1])
    return cells - 1


def _answer(
    name: str, cells: Sequence[Ends], measure: Measure, counts: Counted, error: float
) -> Answer:
    table = np.array(cells)
    some = np.isfinite(table).any(axis=0)
    worst = np.where(some, np.nanmax(np.where(np.isfinite(table), table, -np.inf), axis=0), np.nan)
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
    """The ends of the rate of every single group, with sampling error."""
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
    """Whether the answer is beyond what is allowed, or within it; or what would tell."""
    limit = 0.0 if fail_if is None else float(measure.written(fail_if))
    alike = -1.0 if margin is None else margin
    alike = alike if fail_if is None else limit
    low, high = measure.ends(answer.low, answer.high)
    least, greatest = measure.ends(answer.least, answer.greatest)
    if low > limit:
        return "differs"
    if high <= alike:
        return "alike"
    if least > limit or greatest <= alike or np.isnan(low):
        return "more rows"
    return "more groups" if answer.name == WITHOUT else "more rows"


def _rows_of(counts: Counted) -> Floats:
    """About how many rows of each group a rate is about."""
    rows = counts.by_cell(counts.rows * counts.about).sum(axis=0)
    return np.asarray(rows @ np.nan_to_num(counts.mixing))


def _lacking(
    counts: Sequence[Counted], cells: Sequence[Label], decisive: str
) -> tuple[tuple[Label, Label], ...]:
    """The cells and groups of which the decisive answer knows nothing."""
    found = []
    for cell, each in zip(cells, counts, strict=True):
        low, high = _rates(decisive, each, 0.05)
        gone = np.flatnonzero(np.isnan(low) | np.isnan(high))
        found += [(cell, each.proxy.groups[at]) for at in gone]
    return tuple(found)


def _needed(
    counts: Counted, answers: Mapping[str, Answer], limit: float, error: float
) -> int | None:
    """About how many rows of known group would tell, if the gap is what the best estimate says."""
    from scipy.special import ndtri

    name = "combined" if "combined" in answers else "weighted"
    estimate = MAKERS[name](counts)
    values = estimate.values
    if np.isfinite(values).sum() < 2 or np.isnan(answers[name].value):
        return None
    top, bottom = int(np.nanargmax(values)), int(np.nanargmin(values))
    far = abs(answers[name].value - limit)
    if far == 0 or top == bottom:
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
    rows = float(variance) * float((POWER - ndtri(error / 2)) / far) ** 2
    if not np.isfinite(rows) or rows > 1e9:
        return None
    scale = int(10 ** max(ceil(log10(max(rows, 1.0))) - 2, 0))
    return max(ceil(rows / scale) * scale, 2)
