"""How often the 95 % interval of a group's own rate holds the true one, in audits of fifty groups.

python benchmarks/group_coverage.py
"""

from __future__ import annotations

import numpy as np

import evenhand as eh

GROUPS, WORLDS = 50, 12
CASES = ((30, 0.05), (30, 0.2), (100, 0.02), (300, 0.1))  # rows in each group, middle rate


def held(rows: int, rate: float, rng: np.random.Generator) -> tuple[float, float]:
    """In one world: the share of groups whose interval holds their rate, and the mean width."""
    truth = np.minimum(rate * np.exp(rng.normal(0, 0.4, GROUPS)), 0.9)
    labels = (rng.random((GROUPS, rows)) < truth[:, None]).astype(int).ravel()
    group = np.repeat(np.arange(GROUPS), rows)
    found = eh.audit(
        None,
        labels,
        sensitive_features=group,
        criteria=["statistical_parity"],
        measures=["mpd"],
        favorable=1,
    )
    (values,) = found.group_values
    at = list(values.cells).index(1)
    low, high, own = values.low[at], values.high[at], truth[list(values.groups)]
    return float(((low <= own) & (own <= high)).mean()), float((high - low).mean())


def main() -> None:
    rng = np.random.default_rng(1)
    print("| rows in each group | middle rate | held | width |")
    print("| --- | --- | --- | --- |")
    for rows, rate in CASES:
        shares, widths = zip(*(held(rows, rate, rng) for _ in range(WORLDS)), strict=True)
        print(f"| {rows} | {rate} | {np.mean(shares):.3f} | {np.mean(widths):.3f} |", flush=True)


if __name__ == "__main__":
    main()
