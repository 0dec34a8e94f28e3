"""What is known of a criterion where groups are not: four answers, and what each assumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._result import Columns, Result, finite
from evenhand._words import capitalized, extent, number, plural, points, points_up
from evenhand.measures import resolve

Floats = NDArray[np.float64]
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
VERDICTS: dict[Verdict, str] = {
    "differs": "The groups differ, whatever the groups of single people are.",
    "alike": "The groups are alike, whatever the groups of single people are.",
    "more rows": "Inconclusive: more rows would settle it.",
    "more groups": "Inconclusive: only knowing the groups of more people would settle it",
}
DOUBTFUL = 0.01  # p-value below which known rows are not taken for a random sample


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
