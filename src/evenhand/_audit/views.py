"""Each sensitive column alone, and combinations of columns, from the evidence of them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from evenhand._audit.evidence import Evidence
from evenhand._audit.examination import options_of
from evenhand._audit.finding import Verdict
from evenhand._audit.tasks import Ask
from evenhand._columns import Bin, Label
from evenhand._columns.codes import positions, union
from evenhand._uncertainty.chance import Chance, chances
from evenhand._uncertainty.multiplicity import holm, verdict
from evenhand._uncertainty.question import questions

WORLDS, LEAST_WORLDS, DRAWS = 2000, 200, 4_000_000


@dataclass(frozen=True)
class ViewFinding:
    """A criterion by a measure in one view."""

    criterion: str
    measure: str
    chance: Chance
    p_adjusted: float = np.nan

    @property
    def verdict(self) -> Verdict:
        """Whether it is more than chance."""
        return verdict(self.chance.value, self.p_adjusted)


@dataclass(frozen=True, eq=False)
class View:
    """The groups of some of the sensitive columns."""

    evidence: Evidence
    findings: tuple[ViewFinding, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose combinations are the groups."""
        return self.evidence.columns


def views_of(evidence: Evidence, depth: int) -> Iterator[View]:
    """Every column alone, then every combination of up to `depth` columns."""
    names = evidence.columns
    for size in range(1, min(depth, len(names)) + 1):
        for chosen in combinations(range(len(names)), size):
            yield View(evidence if size == len(names) else _collapsed(evidence, chosen))


def examined(views: list[View], asked: list[Ask], seed: int) -> list[View]:
    """Ask the headline questions in every view; p-values are adjusted for all of them."""
    found = [[one for ask in asked for one in _chances(view.evidence, ask, seed)] for view in views]
    adjusted = iter(holm([one.chance.p_value for each in found for one in each]))
    return [
        replace(
            view, findings=tuple(replace(one, p_adjusted=float(next(adjusted))) for one in each)
        )
        for view, each in zip(views, found, strict=True)
    ]


def _chances(evidence: Evidence, ask: Ask, seed: int) -> list[ViewFinding]:
    source = evidence.sources[ask.criterion.statistic.needs]
    model, asked = questions(source, ask.criterion, ask.measures, **options_of(evidence, ask))
    worlds = int(np.clip(DRAWS // model.seen.size, LEAST_WORLDS, WORLDS))
    found = chances(model, asked, worlds, np.random.default_rng(seed))
    return [ViewFinding(ask.name, name, one) for name, one in zip(ask.measures, found, strict=True)]


def _collapsed(evidence: Evidence, chosen: tuple[int, ...]) -> Evidence:
    """The evidence of some of the columns: groups alike in those become one."""
    parts = [_part(label, chosen, len(evidence.columns)) for label in evidence.groups]
    labels = union(parts)
    moved = evidence.regrouped(positions(parts, labels), labels)
    return replace(moved, columns=tuple(evidence.columns[i] for i in chosen))


def _part(label: Label, chosen: tuple[int, ...], columns: int) -> Label:
    whole = isinstance(label, tuple) and not isinstance(label, Bin) and len(label) == columns
    if not whole:
        return label
    assert isinstance(label, tuple)
    return label[chosen[0]] if len(chosen) == 1 else tuple(label[i] for i in chosen)
