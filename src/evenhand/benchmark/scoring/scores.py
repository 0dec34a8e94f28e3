"""Every score of the runs on one split, from what they predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.benchmark.design.questions import Question
from evenhand.benchmark.scoring.classified import classification
from evenhand.benchmark.scoring.counted import DRAWN, EXPECTED
from evenhand.benchmark.scoring.regressed import regression
from evenhand.benchmark.store import Store
from evenhand.benchmark.store.manifest import Entry
from evenhand.benchmark.store.predictions import Predictions


@dataclass(frozen=True, eq=False)
class Scores:
    """Answers (questions × answers), and the run and lot that each answer is about.

    The lot is "expected" for what a decision by lot comes to on average, "drawn" for one draw.
    A run that decides nothing by lot has the first only.
    """

    keys: tuple[str, ...]
    lots: tuple[str, ...]
    questions: tuple[Question, ...]
    values: NDArray[np.float64]


def scores(store: Store, entries: Sequence[Entry], questions: Sequence[Question]) -> Scores:
    """Answer all questions about runs on the same split; NaN where there is no answer."""
    truth = store.truth(entries[0])
    found = [(entry["key"], store.predictions(entry)) for entry in entries]
    named = [(key, lot, one) for key, one in found for lot in _lots(one)]
    answer = classification if truth.classes else regression
    values = answer(truth, [(lot, one) for _, lot, one in named], questions)
    keys, lots = tuple(key for key, _, _ in named), tuple(lot for _, lot, _ in named)
    return Scores(keys, lots, tuple(questions), values)


def _lots(predictions: Predictions) -> tuple[str, ...]:
    return (EXPECTED, DRAWN) if predictions.by_lot else (EXPECTED,)
