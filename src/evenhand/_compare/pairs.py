"""What every two models share, of each criterion: how their values go together, and their gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._compare.evidence import Evidence
from evenhand._compare.gaps import Gap, clearest_gap
from evenhand._uncertainty.paired import Sample
from evenhand.criteria import Criterion
from evenhand.criteria.questions import Question


class Pair(NamedTuple):
    """The correlations of two models' values in every cell and group, and their clearest gap."""

    correlations: NDArray[np.float64]
    gap: Gap | None


def pairs_of(
    questions: Sequence[Question],
    samples: Sequence[Sequence[Sample]],
    evidence: Evidence,
    confidence: float,
) -> dict[tuple[Criterion, int, int], Pair | None]:
    """Every two models by every criterion; None of what has no influence of single rows."""
    return dict(_pairs(questions, samples, evidence, confidence))


def _pairs(
    questions: Sequence[Question],
    samples: Sequence[Sequence[Sample]],
    evidence: Evidence,
    confidence: float,
) -> Iterator[tuple[tuple[Criterion, int, int], Pair | None]]:
    of_criterion = {
        question.criterion: (question.settings["favorable"], [one.source for one in of])
        for question, of in zip(questions, samples, strict=True)
    }
    for criterion, (favorable, sources) in of_criterion.items():
        moved_by = evidence.moved(criterion, sources, favorable)
        for a, b in combinations(range(len(sources)), 2):
            if moved_by is None:
                yield (criterion, a, b), None
                continue
            moved = moved_by(a, b)
            one, two = (criterion.table(sources[m], favorable) for m in (a, b))
            together = moved.correlations(len(evidence.groups.labels))
            yield (criterion, a, b), Pair(together, clearest_gap(moved, one, two, confidence))
