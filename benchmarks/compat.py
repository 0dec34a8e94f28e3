"""One script through fairlearn and through evenhand.compat.fairlearn: a million rows, CPU time."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score
from timing import readable, take_turns

from report import Bar, Line

LIBRARIES = {"evenhand": "evenhand.compat.fairlearn", "fairlearn": "fairlearn.metrics"}
RACES = np.array([f"race {number}" for number in range(10)])
AGES = np.array(["18 to 25", "26 to 35", "36 to 45", "46 to 60", "61 and over"])
SEXES = np.array(["Female", "Male"])


def lines(scale: float) -> Iterator[Line]:
    """Columns of text, and the same as categories; the numbers must agree."""
    random = np.random.default_rng(0)
    rows = int(1_000_000 * scale)
    people = pd.DataFrame(
        {
            name: levels[random.integers(len(levels), size=rows)]
            for name, levels in {"race": RACES, "age": AGES, "sex": SEXES}.items()
        }
    )
    truth, guess = random.integers(2, size=(2, rows))
    predicted = np.where(random.random(rows) < 0.6, truth, guess)
    for kind, columns in {"text": people, "categories": people.astype("category")}.items():
        yield from _compared(f"50 groups × 2 levels, {kind}", truth, predicted, columns)


def _compared(case: str, truth: Any, predicted: Any, people: Any) -> Iterator[Line]:
    def contestant(module: str) -> Any:
        library = import_module(module)
        return lambda: script(library, truth, predicted, people)

    contestants = {name: contestant(module) for name, module in LIBRARIES.items()}
    # Of processor time: fairlearn runs once, and a busy machine would be charged to it.
    timed = take_turns(contestants, clock=process_time)
    ours, theirs = timed["evenhand"], timed["fairlearn"]
    for here, there in zip(ours.result, theirs.result, strict=True):
        pd.testing.assert_frame_equal(here, there, check_exact=False, rtol=0, atol=1e-12)
    yield Line(case, "evenhand.compat.fairlearn", readable(ours.seconds))
    ratio = theirs.seconds / ours.seconds
    yield Line(case, "fairlearn", readable(theirs.seconds), ratio, Bar("≥", 50))


def script(library: Any, truth: Any, predicted: Any, people: Any) -> tuple[Any, ...]:
    """Four metrics by two columns within the levels of a third: what a user of fairlearn writes."""
    frame = library.MetricFrame(
        metrics={
            "accuracy": accuracy_score,
            "selection_rate": library.selection_rate,
            "true_positive_rate": library.true_positive_rate,
            "false_positive_rate": library.false_positive_rate,
        },
        y_true=truth,
        y_pred=predicted,
        sensitive_features=people[["race", "age"]],
        control_features=people["sex"],
    )
    return frame.by_group, frame.overall, frame.difference(), frame.ratio(), frame.group_min()
