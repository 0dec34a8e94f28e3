"""Reduction: next to fairlearn's ExponentiatedGradient on Adult, with the same base model.

python benchmarks/mitigation/reduction.py [--softness 0.01 5]

Both get the same dense one-hot matrix and the same LogisticRegression(max_iter=1000); both play
the same game to the same tolerance. Ours reads the matrix as a sparse one, starts each fit where
a similar one ended, and keeps one table by (label, group) for each model instead of a matrix of
rows × constraints. They take turns three times, and the least time of each counts.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from adult import Adult, adult, head, row, spent
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from evenhand import evaluate, tally
from evenhand.mitigation import ReductionClassifier

CRITERIA = ("statistical_parity", "equalized_odds")
BAR, TOLERANCE, ROUNDS = 5, 0.005, 3


def main() -> None:
    """One line for each criterion and value of softness."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softness", type=float, nargs="+", default=[0.01])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    train, _ = adult()
    told = ("criterion", "softness", "who", "fits", "CPU", "accuracy", "MPD", "ratio", "verdict")
    print(head(*told))
    with threadpool_limits(1):
        for criterion in CRITERIA:
            for softness in options.softness:
                for line in compared(criterion, softness, train):
                    print(line, flush=True)


def compared(criterion: str, softness: float, train: Adult) -> list[str]:
    turns = [
        (
            spent(lambda: ours(criterion, softness, train)),
            spent(lambda: theirs(criterion, softness, train)),
        )
        for _ in range(ROUNDS)
    ]
    fast, slow = (min(runs, key=lambda run: run.cpu) for runs in zip(*turns, strict=True))
    answers = [
        scored(fast.result.predict_proba(train.X), criterion, train),
        scored(slow.result._pmf_predict(train.X), criterion, train),
    ]
    same = max(abs(np.subtract(*answers))) <= TOLERANCE
    ratio = slow.cpu / fast.cpu
    verdict = ("pass" if ratio >= BAR else "MISS") + (", same" if same else ", NOT the same")
    shown = [[f"{number:.4f}" for number in answer] for answer in answers]
    fits = fast.result.n_fits_, slow.result.n_oracle_calls_
    return [
        row(criterion, softness, "evenhand", fits[0], f"{fast.cpu:.2f} s", *shown[0], "", ""),
        row(
            criterion,
            softness,
            "fairlearn",
            fits[1],
            f"{slow.cpu:.2f} s",
            *shown[1],
            f"{ratio:.1f}×",
            verdict,
        ),
    ]


def scored(chances: Any, criterion: str, part: Adult) -> tuple[float, float]:
    """Expected accuracy and disparity of a lottery."""
    counts = tally(part.y, chances, classes=[0, 1], sensitive_features=part.group)
    accuracy = counts.table("y", "yhat").trace() / len(part.y)
    return accuracy, evaluate(criterion, counts, measure="mpd")


def ours(criterion: str, softness: float, train: Adult) -> Any:
    base = LogisticRegression(max_iter=1000)
    made = ReductionClassifier(base, group=-1, criterion=criterion, softness=softness)
    return made.fit(train.X, train.y)


def theirs(criterion: str, softness: float, train: Adult) -> Any:
    from fairlearn.reductions import DemographicParity, EqualizedOdds, ExponentiatedGradient

    moment = {"statistical_parity": DemographicParity, "equalized_odds": EqualizedOdds}[criterion]
    base = LogisticRegression(max_iter=1000)
    made = ExponentiatedGradient(base, moment(difference_bound=0.01), eps=softness)
    return made.fit(train.X, train.y, sensitive_features=train.group)


if __name__ == "__main__":
    main()
