"""All that a watch is: what it asks, what it has counted, and what it has said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from evenhand._audit.gate import Gate
from evenhand._columns import Label
from evenhand._columns.codes import union
from evenhand._data.tallies import CLASSES, Tally
from evenhand._errors import InputError
from evenhand._kinds import check_kinds, check_labels
from evenhand._uncertainty.interval import METHODS, Method
from evenhand.criteria.questions import Question
from evenhand.watch.labels import Seen, occurring
from evenhand.watch.ledger import Ledger


class Settings(NamedTuple):
    """What a watch asks."""

    questions: tuple[Question, ...]
    gates: tuple[Gate, ...]
    confidence: float
    method: Method
    favorable: Label
    groups: tuple[Label, ...]
    limits: dict[str, tuple[float, float]]
    window: int
    quiet_days: float
    remember: int


def check_settings(
    confidence: float,
    method: str,
    favorable: Label,
    window: int,
    quiet_days: float,
    remember: int,
) -> None:
    """Refuse what no watch can be set to, whether by a caller or by a file."""
    check_kinds(confidence=confidence, method=method)
    check_kinds(window=window, quiet_days=quiet_days, remember=remember)
    check_labels(favorable=favorable)
    if not 0.5 < confidence < 1:
        raise InputError(f"confidence lies between 0.5 and 1, such as 0.95; it is {confidence}.")
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}; there are {list(METHODS)}.")
    for name, value in {"window": window, "quiet_days": quiet_days, "remember": remember}.items():
        if not 1 <= value < inf:
            raise InputError(f"{name} is a number of at least 1; it is {value}.")


@dataclass
class Memory:
    """What is stored: `peaks` are the largest log e-values, `firsts` since when something is so.

    `names` are those that groups were given later, by the old ones; `history` has a row for each
    of the last parts; `columns` are those that the command line reads. `evidence` are the log
    e-values as of the last part: they are not stored, and made again where they are missing.
    `origin` is the file that it was read from or written to last, with its checksum.
    """

    settings: Settings
    ledger: Ledger = field(default_factory=Ledger)
    baseline: dict[str, Tally] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)
    firsts: dict[str, tuple[str, int]] = field(default_factory=dict)
    names: dict[Label, Label] = field(default_factory=dict)
    history: list[list[Any]] = field(default_factory=list)
    columns: dict[str, Any] = field(default_factory=dict)
    evidence: dict[str, float] = field(default_factory=dict)
    origin: tuple[Path, str] | None = None

    def copy(self) -> Memory:
        """A copy to change: it takes the place of this one once the change is whole."""
        return replace(
            self,
            ledger=self.ledger.copy(),
            baseline=dict(self.baseline),
            peaks=dict(self.peaks),
            firsts=dict(self.firsts),
            names=dict(self.names),
            history=list(self.history),
            evidence=dict(self.evidence),
        )

    @property
    def spellings(self) -> Seen:
        """By axis, the labels as they were written so far."""
        groups = (*self.ledger.since, *self.settings.groups, *self.names, *self.names.values())
        found: dict[str, list[Label]] = {"group": list(groups)}
        for sums in (*self.ledger.totals.values(), *self.baseline.values()):
            for axis in sums.axes:
                if axis.name in (*CLASSES, "stratum", "group"):
                    found.setdefault(axis.name, []).extend(axis.labels)
        return found

    @property
    def classes(self) -> Seen:
        """By axis, the classes that rows had so far, those of the baseline among them."""
        return _classes((*self.ledger.totals.values(), *self.baseline.values()))

    @property
    def kept_classes(self) -> tuple[Label, ...]:
        """The classes whose rates are kept of clusters."""
        every = self.ledger.totals or self.baseline
        tables = [sums for name, sums in every.items() if name.startswith("classes ")]
        return union(*(sums.axes[0].labels for sums in tables))

    @property
    def counted_classes(self) -> Seen:
        """By axis, the classes that rows had so far."""
        return _classes(self.ledger.totals.values())


def _classes(every: Iterable[Tally]) -> Seen:
    found: dict[str, dict[Label, None]] = {}
    for sums in every:
        for name, labels in occurring(sums).items():
            found.setdefault(name, {}).update(dict.fromkeys(labels))
    return {name: tuple(labels) for name, labels in found.items()}
