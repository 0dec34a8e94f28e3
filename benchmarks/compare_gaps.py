"""Whether `compare` finds gaps between groups that are wider by one model than by another.

python benchmarks/compare_gaps.py                        400 simulations of each design
python benchmarks/compare_gaps.py --simulations 1500 --only "2000, 50"

Two models of the same rows; they decide by the same draw in a share of the rows. "Held" is the
share of simulations whose interval of the named pair holds its true difference. Where no gap
differs, "at 5 %" and "at 1 %" are type I errors; elsewhere they are the power. Beside it is that of
Welch's test of what changes in the first two groups, which knows where to look: at 5 %, and at 5 %
over the number of pairs, for we look at all of them.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_ind

import evenhand as eh
from evenhand._columns import Column
from evenhand._compare.design import Design as Rows
from evenhand._compare.gaps import clearest_gap
from evenhand._compare.labels import Labels
from evenhand.criteria import statistical_parity

SMALL = (2000, 2000, 10, 10, 10)


class Design(NamedTuple):
    """The first model selects this share, and more of the first group; the second as many less."""

    sizes: tuple[int, ...]
    rate: float = 0.3
    shared: float = 0.9
    gap: float = 0.0
    other_gap: float = 0.0
    more: float = 0.0


DESIGNS = (
    *(Design(SMALL, shared=shared) for shared in (0.0, 0.9, 0.99)),
    Design(SMALL, gap=0.1, other_gap=0.1),
    Design(SMALL, rate=0.05),
    Design(SMALL, more=0.05),
    Design((300, 300), shared=0.5),
    Design((300, 300), more=0.05),
    Design((2000, 50), more=0.05),
    Design((2000, 50), shared=0.97, more=0.05),
    Design((2000, 100), shared=0.97, more=0.05),
    Design((400, 30, 30, 30), shared=0.5),
    Design((400, 30, 30, 30), more=0.05),
    Design((20,) * 20, shared=0.5),
    Design((1000, 1000, *(5,) * 6)),
    *(Design(SMALL, gap=gap) for gap in (0.02, 0.025, 0.03, 0.1)),
    *(Design((2000, 2000), gap=gap) for gap in (0.02, 0.025)),
    Design((1000, 1000, 10, 10, 10), gap=0.04),
    Design((1000, 1000, *(5,) * 6), gap=0.04),
)


def named(design: Design) -> str:
    """The rows of its groups."""
    return ", ".join(map(str, design.sizes)) if len(design.sizes) < 10 else "20 of 20"


def line(design: Design, simulations: int) -> str:
    group = np.repeat(np.arange(len(design.sizes)), design.sizes)
    whom = eh.Groups(group.astype(np.uint8), tuple(range(len(design.sizes))), ("group",))
    first = design.rate + design.more + design.gap * (group == 0)
    second = design.rate + design.other_gap * (group == 0)
    true = (first - second)[np.cumsum(design.sizes) - 1]
    rng, found = np.random.default_rng([simulations, len(group)]), []
    for _ in range(simulations):
        one, two = rng.random((2, len(group)))
        two = np.where(rng.random(len(group)) < design.shared, one, two)
        made = [(one < first).astype(np.uint8), (two < second).astype(np.uint8)]
        rows = Labels(None, tuple(Column(each, (0, 1)) for each in made), Rows(whom))
        sources = rows.observed({"labels"})["labels"]
        moved = rows.influences(statistical_parity, sources, 1)(0, 1)
        tables = [statistical_parity.table(source, 1) for source in sources]
        gap = clearest_gap(moved, *tables, 0.95)
        truth = true[gap.group] - true[gap.other]
        change = made[0].astype(float) - made[1]
        welch = ttest_ind(change[group == 0], change[group == 1], equal_var=False).pvalue
        held = gap.low - 1e-9 <= truth <= gap.high + 1e-9
        found.append((gap.p_value, held, np.nan_to_num(welch, nan=1.0)))
    ours, held, welch = np.array(found).T
    pairs = len(design.sizes) * (len(design.sizes) - 1) / 2
    shares = [ours <= 0.05, ours <= 0.01, held, welch <= 0.05, welch <= 0.05 / pairs]
    where = [named(design), *(f"{value:g}" for value in design[1:])]
    return f"| {' | '.join(where)} | {' | '.join(f'{each.mean():.3f}' for each in shares)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--only", help="designs of these rows")
    asked = parser.parse_args()
    print(
        "| rows | rate | shared | gap | other gap | more everywhere | at 5 % | at 1 % | held |",
        end="",
    )
    print(" Welch | Welch, all pairs |")
    print("| --- " * 11 + "|")
    for design in DESIGNS:
        if asked.only in (None, named(design)):
            print(line(design, asked.simulations), flush=True)


if __name__ == "__main__":
    main()
