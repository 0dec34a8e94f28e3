"""How often limits of all groups beside a reference hold at once: python benchmarks/contrasts.py.

True rates run evenly from 0.6 to 1.2 times the level. "Zipf" sizes fall from 4,000 rows to 400 (ten
groups) or 80 (fifty).
"""

from __future__ import annotations

from itertools import product

import numpy as np

from evenhand._uncertainty.reference import compare_rates

WORLDS = 1000
DESIGNS = (
    (2, 0.01, 3000),
    (2, 0.3, 500),
    (5, 0.3, 400),
    (10, 0.01, 3000),
    (10, 0.05, 500),
    (10, 0.3, "Zipf"),
    (50, 0.05, "Zipf"),
    (50, 0.2, 300),
)


def held(groups: int, level: float, size: int | str, to: int | str, how: str) -> float:
    """The share of worlds in which the limits of every group hold."""
    zipf = np.maximum(4000 / np.arange(1, groups + 1), 10).astype(int)
    rows = zipf if size == "Zipf" else np.full(groups, size)
    true = level * np.linspace(0.6, 1.2, groups)
    known = {"best": true.max(), "overall": true @ rows / rows.sum()}.get(to, true[0])
    wanted = true / known if how == "ratio" else true - known
    rng, good = np.random.default_rng(groups), 0
    for _ in range(WORLDS):
        found = compare_rates(rng.binomial(rows, true), rows, to, how, 0.05)
        good += bool(((found.low <= wanted + 1e-9) & (wanted <= found.high + 1e-9)).all())
    return good / WORLDS


def main() -> None:
    asked = list(product((0, "best", "overall"), ("difference", "ratio")))
    names = [f"{how} to {'a group' if to == 0 else to}" for to, how in asked]
    print(f"| groups | level | rows | {' | '.join(names)} |")
    print("| --- " * (3 + len(asked)) + "|")
    for design in DESIGNS:
        shares = [f"{held(*design, *each):.3f}" for each in asked]
        print(f"| {' | '.join(map(str, design))} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
