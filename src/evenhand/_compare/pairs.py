"""Correlations and gaps of every two models, by criterion."""

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
    """Every two models by every criterion; None if single rows have no influences."""
    return dict(_pairs(questions, samples, evidence, confidence))


def _pairs(
    questions: Sequence[Question],
    samples: Sequence[Sequence[Sample]],
    evidence: Evidence,
    confidence: float,
) -> Iterator[tuple[tuple[Criterion, int, int], Pair | None]]:
    of_criterion = {
        question.criterion: (
            question.settings["favorable"],
            [sample.source for sample in of_models],
        )
        for question, of_models in zip(questions, samples, strict=True)
    }
    for criterion, (favorable, sources) in of_criterion.items():
        influences_of = evidence.influences(criterion, sources, favorable)
        for a, b in combinations(range(len(sources)), 2):
            if influences_of is None:
                yield (criterion, a, b), None
                continue
            influences = influences_of(a, b)
            sample, second = (criterion.table(sources[m], favorable) for m in (a, b))
            correlations = influences.correlations(len(evidence.groups.labels))
            yield (
                (criterion, a, b),
                Pair(correlations, clearest_gap(influences, sample, second, confidence)),
            )
