"""All that a watch is: what it asks, what it has counted, and what it has said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evenhand._audit.gate import Gate
from evenhand._audit.questions import Question
from evenhand._columns import Label
from evenhand._tally import Tally
from evenhand._uncertainty.interval import Method
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


@dataclass
class Memory:
    """What is stored: `peaks` are the largest log e-values, `firsts` since when something is so.

    `names` are those that groups were given later, by the old ones; `history` has a row for each
    of the last parts; `columns` are those that the command line reads. `evidence` are the log
    e-values as of the last part: they are not stored, and made anew where they are missing.
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
