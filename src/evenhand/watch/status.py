"""What a look at a watch shows: findings, gates and changes, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from evenhand._audit.finding import Obstacle
from evenhand._audit.gate import Judgement
from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._kinds import check_names
from evenhand._result import Columns, Result
from evenhand._uncertainty import ConfidenceInterval
from evenhand._words import did_you_mean, extent, number, p_value
from evenhand.report.watch import lede

Verdict = Literal["differs", "alike", "cannot tell"]
Against = Literal["baseline", "window", "any time"]


@dataclass(frozen=True)
class GroupRate:
    """A group's rate so far, between limits that hold at all looks.

    Attributes
    ----------
    group : label
        The group.
    cell : label
        The class, stratum or bin.
    rate : float
        What was observed.
    low, high : float
        Limits that hold at all looks, of this group alone.
    rows : float
        How many rows, or clusters of rows that go together, it is observed from.

    """

    group: Label
    cell: Label
    rate: float
    low: float
    high: float
    rows: float


@dataclass(frozen=True)
class Change:
    """Whether something has changed, and if so which groups, since when.

    Attributes
    ----------
    criterion : str
        The criterion.
    against : {"baseline", "window", "any time"}
        Each group's gap to the others beside the baseline's, that of the last window beside what
        was before it, or since a time that nobody knows.
    changed : bool
        Whether the evidence suffices.
    evidence : float
        The e-value, or the statistic of the e-detector.
    needed : float
        How much evidence suffices.
    groups : tuple of labels
        Which groups.
    since : str or None
        The first day of the span after which the change shows most.
    sentence : str
        The same in words.

    """

    criterion: str
    against: Against
    changed: bool
    evidence: float
    needed: float
    groups: tuple[Label, ...]
    since: str | None
    sentence: str


class Later(Mapping[str, ConfidenceInterval]):
    """Intervals by measure, each made when it is first asked for."""

    def __init__(self, make: Callable[[str], ConfidenceInterval], names: Sequence[str]) -> None:
        self._make, self._names = make, tuple(names)
        self._made: dict[str, ConfidenceInterval] = {}

    def __getitem__(self, name: str) -> ConfidenceInterval:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True)
class WatchFinding:
    """What is known of one criterion so far, valid at all looks at once.

    Attributes
    ----------
    criterion : str
        The criterion.
    verdict : {"differs", "alike", "cannot tell"}
        "differs" once the evidence against groups that are all alike has sufficed; "alike" while
        every bound on the criterion is kept; else "cannot tell".
    since : str or None
        The day of the first look from which on the verdict has been so.
    intervals : mapping of str to ConfidenceInterval
        By measure: the value within parts so far, and an interval that holds the true one at all
        looks at once.
    e_value : float
        Evidence against "all groups alike" so far: at least 20 with a probability of at most 1 in
        20, if they are, however often one looks.
    p_value : float
        Anytime-valid: 1 over the largest e-value at any look.
    rows : int
        How many rows were counted.
    groups : int
        How many groups had rows.
    rates : tuple of GroupRate
        The groups' rates in every cell, of all parts together.

    Notes
    -----
    Intervals and rates are computed when they are first asked for, from the counts at the look.

    """

    criterion: str
    verdict: Verdict
    since: str | None
    intervals: Mapping[str, ConfidenceInterval]
    e_value: float
    p_value: float
    rows: int
    groups: int
    _rates: Callable[[], tuple[GroupRate, ...]] = field(repr=False, compare=False)

    @cached_property
    def rates(self) -> tuple[GroupRate, ...]:
        """The groups' rates in every cell."""
        return self._rates()

    def __str__(self) -> str:
        parts = [
            f"{measure} {number(found.value)} ({extent(found.low, found.high)})"
            for measure, found in self.intervals.items()
        ]
        since = f" since {self.since}" if self.since else ""
        return f"{self.criterion}: {self.verdict}{since}; {', '.join(parts)}"

    def __repr__(self) -> str:
        return f"<WatchFinding on {self}>"


@dataclass(frozen=True, repr=False)
class Status(Result):
    """Everything that a look shows.

    Attributes
    ----------
    findings : tuple of WatchFinding
        One for each criterion.
    judgements : tuple of Judgement
        The outcome of every bound: "pass", "violation", "inconclusive" or "error".
    since : mapping of str to str or None
        By bound: the day of the first look from which on its outcome has been so; None while no
        part was counted.
    first, last : str or None
        The days that parts are of.
    parts, rows : int
        How many were counted.
    confidence : float
        Of every interval and verdict.
    method : {"calibrated", "guaranteed"}
        How the intervals were made.
    notes : tuple of str
        What else one should know.
    changes : tuple of Change
        What was looked for, found or not.

    """

    findings: tuple[WatchFinding, ...]
    judgements: tuple[Judgement, ...]
    since: Mapping[str, str | None]
    first: str | None
    last: str | None
    parts: int
    rows: int
    confidence: float
    method: str
    notes: tuple[str, ...]
    _changes: Callable[[], tuple[Change, ...]] = field(repr=False, compare=False)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What was looked for, found or not."""
        return self._changes()

    def __getitem__(self, criterion: str) -> WatchFinding:
        """The finding of a criterion."""
        check_names(criterion=criterion)
        for finding in self.findings:
            if finding.criterion == criterion:
                return finding
        known = [finding.criterion for finding in self.findings]
        raise InputError(
            f"{criterion!r} has no finding; there are {known}.{did_you_mean(criterion, known)}"
        )

    @property
    def summary(self) -> str:
        """What matters so far, in sentences."""
        return " ".join(lede(self.document()))

    @property
    def _tables(self) -> Sequence[str]:
        return "findings", "rates", "changes"

    def _table(self, name: str) -> Columns:
        found = self.document()
        if name == "changes":
            return _columns(found["changes"])
        if name == "rates":
            return _columns(
                {"criterion": each["criterion"], **rate}
                for each in found["findings"]
                for rate in each["rates"]
            )
        same = ("criterion", "verdict", "since", "e_value", "p_value", "rows")
        return _columns(
            {**{key: each[key] for key in same}, "measure": measure, **ends}
            for each in found["findings"]
            for measure, ends in each["measures"].items()
        )

    def document(self) -> dict[str, Any]:
        """The same as plain JSON values.

        Returns
        -------
        dict
            Schema "evenhand.watch-status/1".

        """
        return {
            "schema": "evenhand.watch-status/1",
            "first": self.first,
            "last": self.last,
            "parts": self.parts,
            "rows": self.rows,
            "confidence": self.confidence,
            "method": self.method,
            "findings": [_finding(finding) for finding in self.findings],
            "gates": [
                {**judgement.document(), "since": self.since.get(str(judgement.gate))}
                for judgement in self.judgements
            ],
            "changes": [_change(change) for change in self.changes],
            "notes": list(self.notes),
        }


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns."""
    known = list(rows)
    return {name: [row[name] for row in known] for name in (known[0] if known else ())}


@dataclass(frozen=True)
class Watched:
    """A criterion's interval by one measure, as a gate reads it."""

    criterion: str
    measure: str
    low: float
    high: float
    greatest: float
    groups: int
    obstacle: Obstacle | None = None


def in_words(p: float) -> str:
    """A p-value, as in "p = 0.012"."""
    return f"p {'' if p_value(p).startswith('<') else '= '}{p_value(p)}"


def finite(value: float) -> float | None:
    """A number as JSON has it."""
    return float(value) if np.isfinite(value) else None


def _finding(finding: WatchFinding) -> dict[str, Any]:
    return {
        "criterion": finding.criterion,
        "verdict": finding.verdict,
        "since": finding.since,
        "e_value": finite(min(finding.e_value, 1e300)),
        "p_value": finding.p_value,
        "rows": finding.rows,
        "measures": {
            measure: {
                "value": finite(found.value),
                "low": finite(found.low),
                "high": finite(found.high),
            }
            for measure, found in finding.intervals.items()
        },
        "rates": [
            {
                "group": show(rate.group),
                "cell": show(rate.cell),
                "rate": finite(rate.rate),
                "low": finite(rate.low),
                "high": finite(rate.high),
                "rows": rate.rows,
            }
            for rate in finding.rates
        ],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "criterion": change.criterion,
        "against": change.against,
        "changed": change.changed,
        "evidence": finite(min(change.evidence, 1e300)),
        "needed": change.needed,
        "groups": [show(group) for group in change.groups],
        "since": change.since,
        "sentence": change.sentence,
    }
