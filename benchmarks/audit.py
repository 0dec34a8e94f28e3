"""How long an audit takes: a million rows, every criterion, three measures, intervals.

python benchmarks/audit.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import evenhand as eh

ROWS = 1_000_000


def timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall and CPU seconds, and the result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def main() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 50, ROWS).astype(str)
    score = np.clip(rng.beta(2, 3, ROWS) + 0.001 * rng.integers(0, 50, ROWS), 0, 1)
    y, p = (rng.random(ROWS) < score).astype(int), (score > 0.5).astype(int)
    twenty, cluster = rng.integers(0, 20, ROWS), rng.integers(0, 100_000, ROWS)
    five = {f"column {k}": rng.integers(0, 3 + k, ROWS) for k in range(5)}
    cases = {
        "labels, 50 groups": lambda: eh.audit(y, p, sensitive_features=group),
        "labels and scores, 50 groups": lambda: eh.audit(
            y, p, y_score=score, sensitive_features=group
        ),
        "labels, 20 groups in 100,000 clusters": lambda: eh.audit(
            y, p, sensitive_features=twenty, cluster=cluster
        ),
        "regression, 50 groups": lambda: eh.audit(score + y, score, sensitive_features=group),
        "5 columns, depth 2": lambda: eh.audit(y, p, sensitive_features=five),
        "5 columns, depth 3": lambda: eh.audit(y, p, sensitive_features=five, depth=3),
    }
    print("| a million rows | wall s | CPU s | findings | views | subgroups |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, call in cases.items():
        wall, cpu, found = timed(call)
        sizes = f"{len(found.findings)} | {len(found.views)} | {len(found.subgroups)}"
        print(f"| {name} | {wall:.1f} | {cpu:.1f} | {sizes} |", flush=True)


if __name__ == "__main__":
    main()
