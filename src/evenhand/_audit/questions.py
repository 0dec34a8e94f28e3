"""What an audit can ask of its evidence, and which groups it examines in detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evenhand._audit.evidence import Evidence
from evenhand._audit.tasks import DEFAULTS, Ask, asks
from evenhand._audit.views import View
from evenhand._errors import InputError
from evenhand._words import did_you_mean
from evenhand.criteria import Criterion


def answerable(
    evidence: Evidence, criteria: Sequence[str | Criterion] | None, measures: Sequence[str]
) -> tuple[list[Ask], list[str]]:
    """The questions that the evidence can answer, and in words what was not asked."""
    if criteria is not None:
        asked = asks(criteria, measures)
        for ask in asked:
            reason = _why_not(evidence, ask)
            if reason:
                raise InputError(f"{ask.name} cannot be asked here: it needs {reason}.")
        return asked, []
    known = [ask for ask in asks(DEFAULTS[evidence.task], measures) if not _why_not(evidence, ask)]
    if evidence.task == "binary" and evidence.favorable is None:
        said = f"No label of {list(evidence.classes)} was named as favorable (favorable=), "
        return known, [f"{said}so criteria that ask about one label were left out."]
    if not known:
        raise InputError("The evidence answers none of the criteria of this task.")
    return known, []


def _why_not(evidence: Evidence, ask: Ask) -> str | None:
    """What is missing to ask it, if anything."""
    needs = ask.criterion.statistic.needs
    if needs not in evidence.sources:
        return ask.criterion.kind.hint
    if needs == "moments" and not {"squared_error"} <= set(evidence.counted.sums):
        return None if ask.name == "weak_parity" else "y_true"
    if ask.criterion.one_class and evidence.task == "binary" and evidence.favorable is None:
        return "favorable=, the favorable label"
    return None


def check_tolerances(tolerances: Mapping[str, float], asked: Sequence[Ask]) -> None:
    """Refuse a tolerance for something that is not asked."""
    known = [f"{ask.name}.{measure}" for ask in asked for measure in ask.measures]
    for name, bound in tolerances.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"No finding is called {name!r}.{hint} There are {known}.")
        if not np.isfinite(bound) or bound < 0:
            raise InputError(
                f"The tolerance of {name} must be a number of at least 0, not {bound}."
            )


def check_precision(confidence: float, depth: int, margin: float | None = None) -> None:
    """Refuse a confidence that is no share, a depth of no columns, and a negative margin."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    if depth < 1:
        raise InputError(f"depth is how many columns are combined, at least 1; it is {depth}.")
    if margin is not None and not 0 <= margin < np.inf:
        raise InputError(f"margin is the largest difference that counts as alike; it is {margin}.")


class Main(NamedTuple):
    """The groups examined in detail, out of how many combinations they were chosen, and why."""

    evidence: Evidence
    choices: int
    notes: tuple[str, ...]


def main_view(evidence: Evidence, seen: Sequence[View], depth: int) -> Main:
    """All columns combined; if they are more than the depth, the combination most surely uneven."""
    if len(evidence.columns) <= depth:
        return Main(evidence, 1, ())
    chosen = min(seen, key=lambda view: (view.p_value, -len(view.columns)))
    note = (
        f"{len(evidence.columns)} sensitive columns were given and combined up to {depth} at a "
        f"time. In detail: {' × '.join(chosen.columns)}, the one of {len(seen)} combinations whose "
        "groups differ most surely; p-values allow for this choice."
    )
    return Main(chosen.evidence, len(seen), (note,))
