"""Test rows of a run as counts, by true class, predicted class and group."""

from __future__ import annotations

import numpy as np

from evenhand._columns.codes import Column
from evenhand._counting import count, expected_tally
from evenhand._groups import Groups
from evenhand._tally import Tally
from evenhand.benchmark.store import Truth
from evenhand.benchmark.store.predictions import Predictions

EXPECTED, DRAWN = "expected", "drawn"
Answered = tuple[str, Predictions]  # with the lot


def whom(truth: Truth, times: int = 1) -> Groups:
    """The groups of the test rows, all of them so many times over."""
    return Groups(np.tile(truth.group, times).astype(np.uint32), truth.groups, ("group",))


def counts(truth: Truth, lot: str, predictions: Predictions) -> Tally:
    """Rows by true class, predicted class and group; expected rows where classes are drawn."""
    classes = tuple(range(len(truth.classes)))
    if predictions.chances is not None and lot == EXPECTED:
        return expected_tally(
            truth.y, predictions.chances, classes=classes, sensitive_features=whom(truth)
        )
    assert predictions.labels is not None
    columns = {"y": Column(truth.y, classes), "yhat": Column(predictions.labels, classes)}
    return count(columns, whom(truth))
