"""How often the 95 % interval of a difference between two models holds the true difference.

Beside it the plain bootstrap of the difference (percentiles), which takes noise for inequality.

python benchmarks/paired_coverage.py                 the whole grid, 200 worlds each: some minutes
python benchmarks/paired_coverage.py --worlds 40     a quick look
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np

import evenhand as eh
from evenhand._columns import Column
from evenhand._compare.evidence import Labels
from evenhand._compare.paired import difference, single
from evenhand._compare.question import Question
from evenhand._compare.tables import resampled

MEASURES = ("mpd", "gini", "pq")
GROUPS, ROWS = (2, 10, 50, 200), (100, 500)
PAIRS = (
    ("fair", "fair"),
    ("fair", "fair at 0.6"),
    ("spread", "reversed"),
    ("fair", "spread"),
    ("one apart", "spread"),
)
COUPLED = 0.6  # so often the two models decide by the same draw
ASKED = [Question(eh.CRITERIA["statistical_parity"], measure) for measure in MEASURES]


class Case(NamedTuple):
    groups: int
    rows: int
    pair: tuple[str, str]
    worlds: int


def rates(shape: str, groups: int) -> np.ndarray:
    """True selection rates: 0.3 or 0.6 in all groups, from 0.2 to 0.4, or one at 0.45."""
    evenly = np.linspace(0.2, 0.4, groups)
    return {
        "fair": np.full(groups, 0.3),
        "fair at 0.6": np.full(groups, 0.6),
        "spread": evenly,
        "reversed": evenly[::-1],
        "one apart": np.append(0.45, np.full(groups - 1, 0.3)),
    }[shape]


def world(case: Case, rng: np.random.Generator) -> Labels:
    """Predictions of two models for the same rows."""
    whom = np.repeat(np.arange(case.groups), case.rows).astype(np.uint8)
    first, other = rng.random((2, len(whom)))
    second = np.where(rng.random(len(whom)) < COUPLED, first, other)
    chosen = [
        Column((draw < rates(shape, case.groups)[whom]).astype(np.uint8), (0, 1))
        for draw, shape in zip((first, second), case.pair, strict=True)
    ]
    labels = tuple(range(case.groups))
    return Labels(None, tuple(chosen), eh.Groups(whom, labels, ("group",)), None)


def truth(measure: str, shape: str, groups: int) -> float:
    true = rates(shape, groups)
    return max(float(eh.MEASURES[measure](one)) for one in (true, 1 - true))


def run(case: Case) -> str:
    rng = np.random.default_rng([case.groups, case.rows, PAIRS.index(case.pair)])
    held = np.zeros((len(MEASURES), 4))
    true = np.array([[truth(m, shape, case.groups) for shape in case.pair] for m in MEASURES])
    for _ in range(case.worlds):
        rows = world(case, rng)
        sources = rows.observed({"predictions"})
        drawn = resampled(rows, ASKED, 400, rng)
        for k, one in enumerate(ASKED):
            pair, wanted = one.values(sources), true[k, 0] - true[k, 1]
            found = difference(tuple(pair), (drawn[:, k, 0], drawn[:, k, 1]), one.order, 0.95)
            plain = np.quantile(drawn[:, k, 0] - drawn[:, k, 1], [0.025, 0.975])
            alone = single(pair[1], drawn[:, k, 1], one.order, 0.95)
            held[k] += (
                found.low - 1e-9 <= wanted <= found.high + 1e-9,
                found.p_value <= 0.05,
                plain[0] <= wanted <= plain[1],
                alone.low - 1e-9 <= true[k, 1] <= alone.high + 1e-9,
            )
    cells = " | ".join(f"{share:.2f}" for share in (held / case.worlds).ravel())
    return f"| {case.groups} | {case.rows} | {' / '.join(case.pair)} | {cells} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=200, help="worlds of each case")
    options = parser.parse_args()
    heads = [f"{m} held | told apart | plain bootstrap held | second alone held" for m in MEASURES]
    print(f"| groups | rows in each | true rates | {' | '.join(heads)} |")
    print("| --- " * (3 + 4 * len(MEASURES)) + "|", flush=True)
    cases = [Case(*case, options.worlds) for case in product(GROUPS, ROWS, PAIRS)]
    with ProcessPoolExecutor() as pool:
        for line in pool.map(run, cases):
            print(line, flush=True)


if __name__ == "__main__":
    main()
