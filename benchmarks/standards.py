"""How much CPU time a million rows take through each standard: count, audit, fill in, render.

python benchmarks/standards.py
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import evenhand as eh
from report import Bar, Line, shown

ROWS = 1_000_000
MOST_SECONDS = 2.0


def lines() -> Any:
    rng = np.random.default_rng(0)
    people = {"sex": rng.choice(["F", "M"], ROWS), "race": rng.choice(list("abcdefg"), ROWS)}
    score = rng.normal(600, 50, ROWS)
    selected, repaid = (score > 600).astype(int), (rng.random(ROWS) < 0.5).astype(int)
    asked: dict[str, Any] = {"sensitive_features": people, "criteria": "selection_rate_ratio"}
    cases = {
        "nyc-ll144": (partial(eh.audit, None, selected, **asked), {}),
        "nyc-ll144, scores": (
            partial(
                eh.audit,
                None,
                score,
                sensitive_features=people,
                task="regression",
                criteria="weak_parity",
            ),
            {},
        ),
        "ugesp": (partial(eh.audit, None, selected, **asked), {}),
        "lending": (
            partial(eh.audit, repaid, selected, **asked),
            {"reference": {"sex": "M", "race": "a"}},
        ),
        "lending, scores and segments": (
            partial(
                eh.audit,
                repaid,
                selected,
                y_score=score,
                strata=rng.choice(["auto", "home", "card"], ROWS),
                **asked,
            ),
            {"reference": {"sex": "M", "race": "a"}},
        ),
        "evidence": (partial(eh.audit, None, selected, **asked), {}),
    }
    for name, (audit, stated) in cases.items():
        started = time.process_time()
        audit().to_html(standard=name.partition(",")[0], stated=stated)
        seconds = time.process_time() - started
        bar = Bar("<", MOST_SECONDS)
        yield Line(name, "a million rows, 14 groups", f"{seconds:.2f} s", seconds, bar, " s")


if __name__ == "__main__":
    list(shown(lines()))
