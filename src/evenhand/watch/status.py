"""The results of a look at a watch: findings, gates and changes, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from evenhand._audit.finding import Obstacle
from evenhand._audit.gate import Judgement
from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._kinds import check_names
from evenhand._result import Columns, Result, json_number
from evenhand._uncertainty import ConfidenceInterval
from evenhand._words import did_you_mean, extent, number, p_value
from evenhand.report.watch import lede

Verdict = Literal["differs", "alike", "cannot tell"]
Against = Literal["baseline", "window", "any time"]


@dataclass(frozen=True)
class GroupRate:
    """A group's rate so far, with limits that hold at all looks.

    Attributes
    ----------
    group : label
        The group.
    cell : label
        The class, stratum or bin.
    rate : float
        The observed rate.
    low, high : float
        Limits for this single group that hold at all looks.
    rows : float
        The number of rows, or of clusters.

    """

    group: Label
    cell: Label
    rate: float
    low: float
    high: float
    rows: float


@dataclass(frozen=True)
class Change:
    """A test for changed gaps, with the groups and the time of the change.

    Attributes
    ----------
    criterion : str
        The criterion.
    against : {"baseline", "window", "any time"}
        Whether each group's gap to the others is compared with the baseline's, that of the last
        window with the time before, or for a change at an unknown time.
    changed : bool
        Whether the evidence suffices.
    evidence : float
        The e-value, or the statistic of the e-detector.
    needed : float
        The evidence that suffices.
    groups : tuple of labels
        The groups whose gaps changed.
    since : str or None
        The first day of the span from which on the evidence of a change is largest.
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


class LazyIntervals(Mapping[str, ConfidenceInterval]):
    """Intervals by measure, each computed when it is first accessed."""

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
    """The finding of one criterion so far, simultaneously valid at all looks.

    Attributes
    ----------
    criterion : str
        The criterion.
    verdict : {"differs", "alike", "cannot tell"}
        "differs" once the evidence against equality of all groups has sufficed; "alike" while every
        bound on the criterion passes; else "cannot tell".
    since : str or None
        The day of the first look since which this has been the verdict.
    intervals : mapping of str to ConfidenceInterval
        By measure: the value within parts so far, and an interval that covers the true one
        simultaneously at all looks.
    e_value : float
        Evidence against equality of all groups so far: if they are equal, it ever reaches 20 with a
        probability of at most 1 in 20, however often one looks.
    p_value : float
        Anytime-valid: 1 over the largest e-value at any look.
    rows : int
        The number of rows.
    groups : int
        The number of groups with rows.
    rates : tuple of GroupRate
        The groups' rates in every cell, of all parts together.

    Notes
    -----
    Intervals and rates are computed when they are first accessed, from the counts at the look.

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
            f"{measure} {number(interval.value)} ({extent(interval.low, interval.high)})"
            for measure, interval in self.intervals.items()
        ]
        since = f" since {self.since}" if self.since else ""
        return f"{self.criterion}: {self.verdict}{since}; {', '.join(parts)}"

    def __repr__(self) -> str:
        return f"<WatchFinding on {self}>"


@dataclass(frozen=True, repr=False)
class Status(Result):
    """All results of a look.

    Attributes
    ----------
    findings : tuple of WatchFinding
        One for each criterion.
    judgements : tuple of Judgement
        The outcome of every bound: "pass", "violation", "inconclusive" or "error".
    since : mapping of str to str or None
        By bound: the day of the first look since which this has been its outcome; None while no
        part was counted.
    first, last : str or None
        The first and last day of the parts.
    parts, rows : int
        The numbers of parts and rows.
    confidence : float
        The confidence of every interval and verdict.
    method : {"calibrated", "guaranteed"}
        The method of the intervals.
    notes : tuple of str
        Further notes for the reader.
    changes : tuple of Change
        The tests for changes, significant or not.

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
        """The tests for changes, significant or not."""
        return self._changes()

    def __getitem__(self, criterion: str) -> WatchFinding:
        """The finding of a criterion."""
        check_names(criterion=criterion)
        for finding in self.findings:
            if finding.criterion == criterion:
                return finding
        names = [finding.criterion for finding in self.findings]
        raise InputError(
            f"{criterion!r} has no finding; there are {names}.{did_you_mean(criterion, names)}"
        )

    @property
    def summary(self) -> str:
        """The main results so far, in sentences."""
        return " ".join(lede(self.document()))

    @property
    def _tables(self) -> Sequence[str]:
        return "findings", "rates", "changes"

    def _table(self, name: str) -> Columns:
        document = self.document()
        if name == "changes":
            return _columns(document["changes"])
        if name == "rates":
            return _columns(
                {"criterion": each["criterion"], **rate}
                for each in document["findings"]
                for rate in each["rates"]
            )
        same = ("criterion", "verdict", "since", "e_value", "p_value", "rows")
        return _columns(
            {**{key: each[key] for key in same}, "measure": measure, **ends}
            for each in document["findings"]
            for measure, ends in each["measures"].items()
        )

    def document(self) -> dict[str, Any]:
        """The status as plain JSON values.

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
    records = list(rows)
    return {name: [row[name] for row in records] for name in (records[0] if records else ())}


@dataclass(frozen=True)
class GateReading:
    """A criterion's interval by one measure, in the form that gates read."""

    criterion: str
    measure: str
    low: float
    high: float
    greatest: float
    groups: int
    obstacle: Obstacle | None = None


def in_words(p: float) -> str:
    """A p-value in words, such as "p = 0.012"."""
    return f"p {'' if p_value(p).startswith('<') else '= '}{p_value(p)}"


def _finding(finding: WatchFinding) -> dict[str, Any]:
    return {
        "criterion": finding.criterion,
        "verdict": finding.verdict,
        "since": finding.since,
        "e_value": json_number(min(finding.e_value, 1e300)),
        "p_value": finding.p_value,
        "rows": finding.rows,
        "measures": {
            measure: {
                "value": json_number(interval.value),
                "low": json_number(interval.low),
                "high": json_number(interval.high),
            }
            for measure, interval in finding.intervals.items()
        },
        "rates": [
            {
                "group": show(rate.group),
                "cell": show(rate.cell),
                "rate": json_number(rate.rate),
                "low": json_number(rate.low),
                "high": json_number(rate.high),
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
        "evidence": json_number(min(change.evidence, 1e300)),
        "needed": change.needed,
        "groups": [show(group) for group in change.groups],
        "since": change.since,
        "sentence": change.sentence,
    }
