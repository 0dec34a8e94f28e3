"""The account of a gap: its parts with their intervals, in words and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._result import Columns, Result, finite, version
from evenhand._words import listing, number, percent, percents, plural

SCHEMA = "evenhand.account/1"
NO_CAUSE = (
    "The parts add up to the gap. They do not say what caused it, or whether a difference is "
    "justified."
)
MOST_NAMED = 3
TINY = 1e-9  # smaller parts are 0 up to rounding
MOST_LISTED = 6  # explaining columns that a sentence names


@dataclass(frozen=True)
class Part:
    """A part of a gap, in the unit of the statistic.

    Attributes
    ----------
    name : str
        Which one: "base", "true_positive", "composition", "within"; or a column or stratum.
    words : str
        What differs between the groups, as the end of "is explained by differences in …".
    value : float
        How much of the gap it is; below 0 it makes the gap smaller.
    low, high : float
        The confidence interval.

    """

    name: str
    words: str
    value: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """Whether the interval lies above 0 (1), below (-1) or around it (0)."""
        return int(self.low > 0) - int(self.high < 0)

    def within(self, limit: float) -> Self:
        """The same part, with its interval cut at this distance from 0."""
        return replace(self, low=max(self.low, -limit), high=min(self.high, limit))


@dataclass(frozen=True)
class Stratum(Part):
    """The contribution of the difference within a stratum to the gap.

    Attributes
    ----------
    rows : tuple of int
        How many rows each of the two groups has there.
    values : tuple of float
        The statistic of each group there; NaN where it has no rows.
    composition : float
        What the stratum adds to the part from composition.

    """

    rows: tuple[int, int] = (0, 0)
    values: tuple[float, float] = (float("nan"), float("nan"))
    composition: float = float("nan")


@dataclass(frozen=True)
class Region(Part):
    """The contribution of a range of scores to the gap; its words say where the cut is.

    Attributes
    ----------
    span : tuple of float
        The lowest and the highest score there.
    rows : tuple of int
        How many rows each of the two groups has there.
    shares : tuple of float
        Their shares of each group.

    """

    span: tuple[float, float] = (float("nan"), float("nan"))
    rows: tuple[int, int] = (0, 0)
    shares: tuple[float, float] = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Proxy(Part):
    """How well a column predicts the group, and the part of the gap that it explains alone.

    Attributes
    ----------
    area : float
        The area under the ROC curve of a model that predicts the group by this column alone; 0.5 is
        by chance, 1 always.
    area_without : float
        That of a model by all other explaining columns.

    """

    area: float = float("nan")
    area_without: float = float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class Account(Result):
    """Why two groups differ: a gap in parts that add up to it.

    Attributes
    ----------
    criterion, statistic : str
        What was asked, and what is compared, in symbols.
    cell : label
        The class or pair of labels that it is about.
    groups : tuple of labels
        The two groups; the gap is the first one's value less the second one's.
    values : tuple of float
        Their values.
    gap : Part
        The difference.
    parts : tuple of Part
        What it is made of.
    by : tuple of str
        The explaining columns, if any.
    columns : tuple of Part
        With several, what each adds to the part "composition"; all intervals hold at once.
    strata : tuple of Stratum
        Each combination of the columns' values, that with the largest part first; all intervals
        hold at once.
    is_reversed : bool
        Whether within strata the groups differ the other way round than overall, and both are
        significant (Simpson's reversal).
    outside : tuple of float
        The share of each group's weight in strata where the other group has no rows; by models,
        where hardly anyone of the other group is alike.
    area : float
        By models: the area under the ROC curve of one that predicts the group by all columns.
    proxies : tuple of Proxy
        By models: how well each column predicts the group, and the part it explains alone; all
        intervals hold at once.
    regions : tuple of Region
        Where scores are cut at a threshold: ranges of them, a quarter each of those above and of
        those below, that with the largest part first; they add up to the gap, and all intervals
        hold at once.
    notes : tuple of str
        What was assumed or left out.
    confidence : float
        Of the intervals.

    """

    criterion: str
    statistic: str
    cell: Label
    groups: tuple[Label, Label]
    values: tuple[float, float]
    gap: Part
    parts: tuple[Part, ...]
    is_rate: bool
    confidence: float
    by: tuple[str, ...] = ()
    columns: tuple[Part, ...] = ()
    strata: tuple[Stratum, ...] = ()
    is_reversed: bool = False
    outside: tuple[float, float] = (0.0, 0.0)
    area: float = float("nan")
    proxies: tuple[Proxy, ...] = ()
    regions: tuple[Region, ...] = ()
    notes: tuple[str, ...] = ()
    frame_kind: str | None = None
    named: tuple[str, str] | None = None
    metric: str | None = None

    @property
    def called(self) -> tuple[str, str]:
        """The names of the two groups."""
        return self.named or (show(self.groups[0]), show(self.groups[1]))

    @property
    def kind(self) -> str | None:
        """The library of the caller's dataframes."""
        return self.frame_kind

    def part(self, name: str) -> Part:
        """The part of that name.

        Parameters
        ----------
        name : str
            Such as "base" or "within".

        Returns
        -------
        Part
            With its value and interval.

        """
        return next(part for part in self.parts if part.name == name)

    def possible(self) -> Account:
        """The same account; intervals of rates are cut at 100 percentage points."""
        if not self.is_rate:
            return self
        kinds = ("parts", "columns", "strata", "proxies", "regions")
        ends: dict[str, Any] = {
            kind: tuple(part.within(1.0) for part in getattr(self, kind)) for kind in kinds
        }
        return replace(self, gap=self.gap.within(1.0), **ends)

    @cached_property
    def summary(self) -> str:
        """The gap in a sentence, and its parts in another."""
        return f"{self._gap} {self._within if self.by else self._outcomes}{self._nearest}"

    @property
    def _gap(self) -> str:
        first, second = self.called
        texts = percents(*self.values) if self.is_rate else [number(value) for value in self.values]
        chance = "" if self.gap.sign else f", which may be chance ({self._ends(self.gap)})"
        return (
            f"The gap in {self._what} between {first} and {second} is "
            f"{self._amount(self.gap.value)} ({texts[0]} against {texts[1]}){chance}."
        )

    @property
    def _what(self) -> str:
        return self.metric or self.criterion.replace("_", " ")

    @property
    def _outcomes(self) -> str:
        ordered = sorted(self.parts, key=lambda part: -round(abs(part.value), 12))
        first, *others = ordered
        small: list[Part] = []
        if len(others) > MOST_NAMED:
            others, small = others[: MOST_NAMED - 1], others[MOST_NAMED - 1 :]
        if all(part.value * self.gap.value >= -TINY for part in self.parts):
            verb, preposition, head = "is explained by", "by", "Of this, "
        else:  # parts of either sign: none is a share of the gap
            verb, preposition, head = "from", "from", "It is the sum of "
        phrases = [f"{self._short(first.value)} {verb} differences in {first.words}"]
        phrases += [
            f"{self._short(part.value)} {preposition} those in {part.words}" for part in others
        ]
        if small:
            phrases.append(
                f"{self._short(sum(part.value for part in small))} {preposition} "
                f"{len(small)} smaller parts"
            )
        return f"{head}{listing(phrases)}."

    @property
    def _within(self) -> str:
        names = listed(self.by)
        composition, within = self.part("composition"), self.part("within")
        remaining = (
            f"if both groups had the same mix of {names}, the gap would be "
            f"{self._amount(within.value)} ({self._ends(within)})"
        )
        part = self._short(composition.value)
        if not composition.sign:
            sentence = f"Differences in {names} are not shown to explain any of it"
        elif (composition.value > 0) != (self.gap.value > 0):
            sentence = f"Differences in {names} make it smaller"
        elif abs(composition.value) > abs(self.gap.value):
            sentence = f"Differences in {names} account for {part}, more than all of it"
        else:
            sentence = f"{part} of it is explained by differences in {names}"
        text = f"{sentence}; {remaining}."
        if self.is_reversed:
            first, second = self.called
            over, under = (first, second) if self.gap.value > 0 else (second, first)
            text += (
                f" That is a reversal (Simpson's paradox): overall, the "
                f"{self._what.removeprefix('the ')} is higher for {over}, but among people alike "
                f"in {names} it is higher for {under}."
            )
        lost = [
            f"{percent(part)} of {group}"
            for part, group in zip(self.outside, self.called, strict=True)
            if part > 0
        ]
        if lost:
            text += (
                f" {listing(lost)} have no counterpart in the other group, and nothing can be said "
                "about how they compare."
            )
        return text

    @property
    def _nearest(self) -> str:
        """Sentence on the range of scores with the largest part, if significant."""
        if not self.regions or not self.regions[0].sign:
            return ""
        first = self.regions[0]
        return (
            f" By score, the largest part, {self._short(first.value)}, comes from scores of "
            f"{first.name} ({first.words})."
        )

    def _amount(self, value: float) -> str:
        text = self._short(value)
        return f"{text} percentage points" if self.is_rate else text

    def _short(self, value: float) -> str:
        if not self.is_rate:
            return number(value)
        return f"{round(100 * value, 1) + 0.0:.1f}".replace("-", "−")

    def _ends(self, part: Part) -> str:
        return f"{self._short(part.low)} to {self._short(part.high)}"

    def document(self) -> dict[str, Any]:
        """Everything as plain JSON values, by the schema "evenhand.account/1".

        Returns
        -------
        dict
            JSON values; what is undefined is None.

        """
        names = ("criterion", "statistic", "is_rate", "confidence", "is_reversed")
        strata = [
            {
                **_part(part),
                "rows": list(part.rows),
                "values": list(part.values),
                "composition": part.composition,
            }
            for part in self.strata
        ]
        return dict(
            finite(
                {
                    "schema": SCHEMA,
                    "evenhand": version("evenhand"),
                    "sentence": self.summary,
                    "caution": NO_CAUSE,
                    **{name: getattr(self, name) for name in names},
                    "cell": show(self.cell),
                    "groups": [
                        {"label": label, "value": value, "outside": lost}
                        for label, value, lost in zip(
                            self.called, self.values, self.outside, strict=True
                        )
                    ],
                    "gap": _part(self.gap),
                    "parts": [_part(part) for part in self.parts],
                    "by": list(self.by),
                    "columns": [_part(part) for part in self.columns],
                    "strata": strata,
                    "area": self.area,
                    "proxies": [
                        {
                            **_part(part),
                            "area": part.area,
                            "area_without": part.area_without,
                        }
                        for part in self.proxies
                    ],
                    "regions": [
                        {
                            **_part(part),
                            "span": list(part.span),
                            "rows": list(part.rows),
                            "shares": list(part.shares),
                        }
                        for part in self.regions
                    ],
                    "notes": list(self.notes),
                }
            )
        )

    @property
    def _tables(self) -> Sequence[str]:
        return ("parts", "columns", "strata", "proxies", "regions")

    def _table(self, name: str) -> Columns:
        rows = self.document()[name]
        columns = {key: [row[key] for row in rows] for key in ("name", "value", "low", "high")}
        if name == "strata":
            columns["composition"] = [row["composition"] for row in rows]
            for at, label in enumerate(self.called):
                columns[f"rows {label}"] = [row["rows"][at] for row in rows]
                columns[f"value {label}"] = [row["values"][at] for row in rows]
        if name == "regions":
            columns["where"] = [row["words"] for row in rows]
            for at, label in enumerate(self.called):
                columns[f"rows {label}"] = [row["rows"][at] for row in rows]
                columns[f"share {label}"] = [row["shares"][at] for row in rows]
        if name == "proxies":
            columns |= {key: [row[key] for row in rows] for key in ("area", "area_without")}
        return columns


def listed(by: Sequence[str]) -> str:
    """The explaining columns in a sentence: their names, or their number if there are many.

    >>> listed(["age", "sex"]), listed([*"abcdefgh"])
    ('age and sex', '8 columns')
    """
    return listing(list(by)) if len(by) <= MOST_LISTED else f"{len(by)} columns"


def _part(part: Part) -> dict[str, Any]:
    return {key: getattr(part, key) for key in ("name", "words", "value", "low", "high")}


def overlap_notes(lost: Sequence[str], rows: int) -> tuple[str, ...]:
    """Note on strata with rows of one group alone."""
    if not lost:
        return ()
    examples = [
        *lost[:MOST_NAMED],
        *([f"{len(lost) - MOST_NAMED} more"] if len(lost) > 3 else []),
    ]
    return (
        f"{plural(len(lost), 'stratum', 'strata')} with {plural(rows, 'row')} "
        f"{'has' if len(lost) == 1 else 'have'} people of one group only, and nobody to compare "
        f"them with: {listing(examples)}.",
    )
