"""The state of a watch: its settings, counts and past conclusions."""

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
from evenhand.watch.labels import LabelsByAxis, occurring
from evenhand.watch.ledger import Ledger


class Settings(NamedTuple):
    """The settings of a watch."""

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
    """Refuse invalid settings, from a caller or from a file."""
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
    """The state to be stored.

    `peaks` are the largest log e-values, `firsts` the first days of current outcomes. `names` maps
    old names of groups to new ones; `history` has a row for each of the last parts; `columns` are
    those that the command line reads. `evidence` are the log e-values as of the last part: they are
    not stored, and computed again if missing. `origin` is the file that the state was last read
    from or written to, with its checksum.
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
        """A copy to modify, which replaces this state once the change is complete."""
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
    def spellings(self) -> LabelsByAxis:
        """The spellings of labels so far, by axis."""
        groups = (*self.ledger.since, *self.settings.groups, *self.names, *self.names.values())
        spellings: dict[str, list[Label]] = {"group": list(groups)}
        for sums in (*self.ledger.totals.values(), *self.baseline.values()):
            for axis in sums.axes:
                if axis.name in (*CLASSES, "stratum", "group"):
                    spellings.setdefault(axis.name, []).extend(axis.labels)
        return spellings

    @property
    def classes(self) -> LabelsByAxis:
        """The classes of rows so far and of the baseline, by axis."""
        return _classes((*self.ledger.totals.values(), *self.baseline.values()))

    @property
    def kept_classes(self) -> tuple[Label, ...]:
        """The classes whose rates are stored for clusters."""
        tallies = self.ledger.totals or self.baseline
        tables = [sums for name, sums in tallies.items() if name.startswith("classes ")]
        return union(*(sums.axes[0].labels for sums in tables))

    @property
    def counted_classes(self) -> LabelsByAxis:
        """The classes of rows so far, by axis."""
        return _classes(self.ledger.totals.values())


def _classes(tallies: Iterable[Tally]) -> LabelsByAxis:
    classes: dict[str, dict[Label, None]] = {}
    for sums in tallies:
        for name, labels in occurring(sums).items():
            classes.setdefault(name, {}).update(dict.fromkeys(labels))
    return {name: tuple(labels) for name, labels in classes.items()}
