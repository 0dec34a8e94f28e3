"""Four answers on a criterion of unknown groups, with the assumption of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._result import Columns, Result, finite, version
from evenhand._words import capitalized, extent, number, plural, points, points_up
from evenhand.measures import resolve

Floats = NDArray[np.float64]
Verdict = Literal["differs", "alike", "more rows", "more groups"]

WITHOUT = "bounds"
ASSUMPTIONS = {
    "weighted": "The probabilities are right, and among people with the same ones outcomes do not "
    "depend on the group.",
    "instrumental": "The probabilities are right, and among people of the same group outcomes do "
    "not depend on them.",
    WITHOUT: "The probabilities are right; nothing else.",
    "combined": "The people whose group is known are a random sample.",
    "cut": "Everyone is in their most probable group; common practice, and usually wrong.",
}
GAPS_ONLY = "Nothing: people without a recorded group may be in any."
MISFIT = "The probabilities do not fit the people whose group is known."
DOUBTFUL = 0.01  # p-value below which known rows do not count as a random sample


@dataclass(frozen=True)
class Answer:
    """The value or range of a criterion under one assumption.

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
        About how many people of known group would tell, in all, where only those would; None where
        that is not known, or where the people in `known` would tell, if they are a random sample.
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
    proxy_p_value : float
        The p-value of the probabilities being right for the known rows; NaN if there are none.
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
    formula : str
        What the criterion compares.

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
    proxy_p_value: float
    cell: Label
    confidence: float
    fail_if: float | None
    margin: float | None = None
    lacking: tuple[tuple[Label, Label], ...] = ()
    counted: Floats = field(default_factory=lambda: np.empty(0))
    is_share: bool = True
    formula: str = ""
    frame_kind: str | None = None

    @property
    def kind(self) -> str | None:
        """The library of the caller's dataframes."""
        return self.frame_kind

    @cached_property
    def summary(self) -> str:
        """The verdict in plain words, with the bounds that it is based on."""
        answer = self.answers[self.decisive]
        is_range = f"{self._what} ({self._criterion}) is {self._range(answer)}"
        missing = self.rows - self.known
        if self.decisive != WITHOUT:
            assumed = answer.assumes[:1].lower() + answer.assumes[1:].rstrip(".")
            words = f"If {assumed}, {is_range}."
        elif not missing:
            words = f"{capitalized(is_range)}."
        elif self._is_free:
            have = "has" if missing == 1 else "have"
            words = f"{plural(missing, 'person', 'people')} of {self.rows:,} {have} no recorded "
            words += f"group; whatever it is, {is_range}."
        else:
            words = f"If the probabilities are right, {is_range}, whoever is in which group."
        return f"{words} {self.conclusion}{self._doubt}"

    @property
    def condition(self) -> str:
        """Sentence on what the gap could be, given the missing groups."""
        missing = self.rows - self.known
        people = "the person" if missing == 1 else f"the {missing:,} people"
        if not (self.decisive == WITHOUT and self._is_free):
            return self.summary
        return (
            f"If {people} without a recorded group were in other groups, {self._what} "
            f"({self._criterion}) could be anything from {self._range(self.answers[WITHOUT])}"
        )

    @property
    def conclusion(self) -> str:
        """The verdict in a sentence."""
        if self.verdict in ("differs", "alike"):
            return self._decided
        if self.verdict == "more rows":
            kind = "people of known group" if self.decisive == "combined" else "rows"
            return f"Inconclusive: more {kind} would settle it."
        if self.known_would_tell:
            ends = self._range(self.answers["combined"])
            return (
                "Inconclusive, unless the people whose group is known are a random sample: then "
                f"{self._what} is {ends}."
            )
        if self.needed is None:
            return "Inconclusive: only knowing the groups of more people would settle it."
        if self.needed > self.rows:
            return (
                f"Inconclusive: even the groups of all {self.rows:,} would not settle it; about "
                f"{self.needed:,} people of known group are needed."
            )
        return (
            "Inconclusive: only knowing the groups of more people would settle it, about "
            f"{self.needed:,}{' in all,' if self.known else ''} drawn at random."
        )

    @property
    def _decided(self) -> str:
        """Sentence on what holds whoever is in which group."""
        by, beyond = resolve(self.measure), self.verdict == "differs"
        if self.fail_if is None:
            if beyond:
                return "The groups differ."
            return f"The groups are alike within {self._amount(self.margin)}."
        if by.falls:
            side = "is below" if beyond else "is not below"
        else:
            side = "exceeds" if beyond else "does not exceed"
        return f"{capitalized(self._what)} {side} {self._amount(self.fail_if)}."

    def _amount(self, value: float | None) -> str:
        """A bound or margin in plain words."""
        if value is None or not (resolve(self.measure).is_width and self.is_share):
            return number(value)
        return f"{100 * value:.4g} percentage point{'' if value == 0.01 else 's'}"

    @property
    def known_would_tell(self) -> bool:
        """Whether the bounds are inconclusive, and the combined answer is not."""
        answer = self.answers.get("combined")
        if self.verdict != "more groups" or answer is None or self.is_doubtful:
            return False
        limit = 0.0 if self.fail_if is None else self.fail_if
        within = answer.high <= (-1.0 if self.margin is None else self.margin)
        if self.fail_if is not None:
            within = answer.low >= limit if resolve(self.measure).falls else answer.high <= limit
        beyond = answer.high < limit if resolve(self.measure).falls else answer.low > limit
        return within or beyond

    @property
    def is_doubtful(self) -> bool:
        """Whether the known rows do not look like a random sample."""
        return self.random_p_value < DOUBTFUL

    @property
    def is_misfit(self) -> bool:
        """Whether the answer relies on probabilities that do not fit the known rows."""
        return self.proxy_p_value < DOUBTFUL and self.decisive != "combined"

    @property
    def _doubt(self) -> str:
        doubts = ""
        if self.is_misfit:
            doubts += f" {MISFIT} The answer may be wrong."
        if self.is_doubtful and not (self.decisive == WITHOUT and self._is_free):
            doubts += (
                " The people whose group is known do not look like a random sample; the combined "
                "answer may be wrong unless they are one within strata=."
            )
        return doubts

    @property
    def _is_free(self) -> bool:
        """Whether some people could be in any group."""
        return any(np.isnan(share) for share in self.shares.values())

    @property
    def _criterion(self) -> str:
        from evenhand.report.formats import phrase

        return phrase(self.criterion)

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
        names += [
            "known",
            "random_p_value",
            "proxy_p_value",
            "formula",
            "confidence",
            "fail_if",
            "is_share",
        ]
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
        content = {
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
        return dict(finite(content))

    @property
    def _tables(self) -> Sequence[str]:
        return ("answers", "rates")

    def _table(self, name: str) -> Columns:
        answers = self.document()["answers"]
        if name == "rates":
            rows = [
                (answer["name"], *rate.values()) for answer in answers for rate in answer["rates"]
            ]
            columns: Sequence[Any] = list(zip(*rows, strict=True)) or [(), (), (), ()]
            return dict(zip(("answer", "group", "low", "high"), map(list, columns), strict=True))
        keys = ("name", "value", "least", "greatest", "low", "high", "assumes")
        return {key: [answer[key] for answer in answers] for key in keys}
