"""Rejection: the paper's ten bounds from one grid, next to AIF360's search for one bound.

python benchmarks/mitigation/reject_option.py [--rows 5000]

Both get the same scores of the same Adult rows and try the same 100 × 50 thresholds and margins.
AIF360 searches anew for every bound: it is timed on one, and ten cost ten times that.
"""

from __future__ import annotations

import argparse
import logging
import warnings
from typing import Any

import numpy as np
import pandas as pd
from adult import Spent, adult, head, row, spent
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from evenhand.mitigation import METHODS
from evenhand.mitigation.reject_option import search_grid

METRICS = {
    "statistical_parity": "Statistical parity difference",
    "average_odds": "Average odds difference",
}
BOUND = 0.05
BAR = 200


def main() -> None:
    """Time both on the same rows, then ours on all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    rows = parser.parse_args().rows
    warnings.simplefilter("ignore")
    logging.disable()
    train, _ = adult()
    with threadpool_limits(1):
        model = LogisticRegression(max_iter=1000).fit(train.X, train.y)
        score = model.predict_proba(train.X)[:, 1]
        some = np.random.default_rng(0).permutation(len(score))[:rows]
        ours_and_theirs = "evenhand, 10 bounds", "AIF360, 1 bound", "for 10", f"≥ {BAR}×"
        print(head("criterion", "rows", *ours_and_theirs, "same choice"))
        for criterion in METRICS:
            print(compared(criterion, score[some], train.y[some], train.group[some]), flush=True)
            whole = timed(criterion, score, train.y, train.group)
            print(row(criterion, len(score), _shown(whole.cpu), "", "", "", ""), flush=True)


def compared(criterion: str, score: Any, y: Any, group: Any) -> str:
    fast = timed(criterion, score, y, group)
    slow = spent(lambda: theirs(criterion, score, y, group))
    choice = fast.result[METHODS["Rejection"].grid[criterion].index(BOUND)]
    same = np.allclose(choice[:2], slow.result)
    ratio = 10 * slow.cpu / fast.cpu
    verdict = "pass" if ratio >= BAR else "MISS"
    times = _shown(fast.cpu), _shown(slow.cpu), f"{ratio:.0f}×"
    return row(criterion, len(y), *times, verdict, "yes" if same else f"no: {choice[:2]}")


def timed(criterion: str, score: Any, y: Any, group: Any) -> Spent:
    """The least of five times."""
    runs = (spent(lambda: ours(criterion, score, y, group)) for _ in range(5))
    return min(runs, key=lambda one: one.cpu)


def ours(criterion: str, score: Any, y: Any, group: Any) -> list[Any]:
    grid = search_grid(score, y, group == 1, criterion=criterion)
    return [grid.best(epsilon) for epsilon in METHODS["Rejection"].grid[criterion]]


def theirs(criterion: str, score: Any, y: Any, group: Any) -> tuple[float, float]:
    from aif360.algorithms.postprocessing import RejectOptionClassification
    from aif360.datasets import BinaryLabelDataset

    frame = pd.DataFrame({"a": group, "y": y.astype(float)})
    data = BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["a"])
    scored = data.copy()
    scored.scores, scored.labels = score[:, None], (score > 0.5).astype(float)[:, None]
    found = RejectOptionClassification(
        unprivileged_groups=[{"a": 0}],
        privileged_groups=[{"a": 1}],
        metric_name=METRICS[criterion],
        metric_ub=BOUND,
        metric_lb=-BOUND,
    ).fit(data, scored)
    return found.classification_threshold, found.ROC_margin


def _shown(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"


if __name__ == "__main__":
    main()
