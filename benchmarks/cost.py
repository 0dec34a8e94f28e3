"""What an audit costs against rows, groups, classes and columns, with the slope on a log scale.

python benchmarks/cost.py                  everything, to 10⁸ rows and 10⁵ groups
python benchmarks/cost.py rows --most 1e9  one of rows, groups, classes, columns; to so many
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import evenhand as eh
from evenhand._files.files import connect, open_files

PART = 10_000_000  # rows of a file; more of them are links to the same one
ROWS = """
select (hash(i * 7 + 1) % 2)::tinyint as y, (s > 0.5)::tinyint as p,
       'group ' || (hash(i * 3 + 5) % 5) as g, s
from (select i, hash(i) % 1000003 / 1000003.0 * 0.6 + hash(i * 11 + 2) % 1000003 / 1000003.0 * 0.4
             as s from range({rows}) t(i))
"""
BY_LABELS = "select y, p, g, count(*) from rows group by all"
BY_SCORES = (
    "select y, p, g, floor(s * 8190)::int, count(*), sum(s), min(s), max(s) from rows group by all"
)
NAMES = {"y_true": "y", "y_pred": "p", "sensitive_features": "g"}


def seconds(call: Callable[[], Any]) -> float:
    """CPU seconds of a call, in all threads."""
    start = time.process_time()
    call()
    return time.process_time() - start


def table(size: str, sizes: Sequence[int], costs: dict[str, Callable[[int], float | None]]) -> None:
    """Print the costs of each size, and how steeply each grew since the size before."""
    print(f"| {size} | " + " | ".join(f"{name} | slope" for name in costs) + " |")
    print("| --- |" + " --- | --- |" * len(costs), flush=True)
    before: dict[str, tuple[int, float]] = {}
    for number in sizes:
        cells = [f"{number:,}"]
        for name, cost in costs.items():
            spent = cost(number)
            slope = ""
            if spent is not None and name in before:
                earlier, less = before[name]
                slope = f"{math.log(spent / less) / math.log(number / earlier):.2f}"
            if spent is not None:
                before[name] = number, spent
            cells += ["–" if spent is None else f"{spent:.2f}", slope]
        print(f"| {' | '.join(cells)} |", flush=True)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # of kilobytes, on Linux
    print(f"\nMost memory so far: {most:.2f} GiB.\n", flush=True)


def rows(most: int) -> None:
    """Parquet files of five groups: the engine's own group-bys, and what an audit reads of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def files(number: int) -> list[str]:
            part = folder / f"{min(number, PART)}.parquet"
            if not part.exists():
                query = ROWS.format(rows=min(number, PART))
                duckdb.sql(f"copy ({query}) to '{part}' (format parquet)")
            links = [folder / f"{number} {i}.parquet" for i in range(max(number // PART, 1))]
            for link in links:
                os.link(part, link)
            return [str(link) for link in links]

        at = {number: files(number) for number in _powers(10_000, most)}

        def by_hand(query: str) -> Callable[[int], float]:
            def cost(number: int) -> float:
                rows = open_files(connect(), at[number], ["y", "p", "g", "s"])
                return seconds(lambda: rows.query("rows", query).fetchall())

            return cost

        def counted(**more: str) -> Callable[[int], float]:
            def cost(number: int) -> float:
                rows = open_files(connect(), at[number], ["y", "p", "g", "s"])
                return seconds(lambda: eh.Data(data=rows, **NAMES, **more).counted)

            return cost

        costs = {
            "GROUP BY, s": by_hand(BY_LABELS),
            "labels, s": counted(),
            "GROUP BY in bins, s": by_hand(BY_SCORES),
            "with scores, s": counted(y_score="s"),
        }
        table("rows", list(at), costs)


def groups(most: int) -> None:
    """A million rows in more and more groups."""
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 1_000_000), rng.integers(0, 2, 1_000_000)

    def cost(number: int, **options: Any) -> float | None:
        if number > 10_000 and not options:
            return None  # a matter of a quarter of an hour
        group = rng.integers(0, number, len(y)).astype(str)
        options |= {"sensitive_features": group, "max_minutes": 1000}
        return seconds(lambda: eh.audit(y, p, **options))

    costs = {
        "every criterion, s": cost,
        "statistical_parity by mpd, s": lambda number: cost(
            number, criteria="statistical_parity", measures="mpd"
        ),
    }
    table("groups", [2, *_powers(10, most)], costs)


def classes(most: int) -> None:
    """A hundred thousand rows of five groups in more and more classes."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, 100_000).astype(str)

    def cost(number: int) -> float:
        names = np.array([f"class {i}" for i in range(number)])
        y = rng.integers(0, number, len(group))
        p = np.where(rng.random(len(y)) < 0.6, y, rng.integers(0, number, len(y)))
        options = {"sensitive_features": group, "max_minutes": 1000}
        return seconds(lambda: eh.audit(names[y], names[p], **options))

    table(
        "classes", [n for n in (2, 5, 10, 30, 100, 300) if n <= most], {"every criterion, s": cost}
    )


def columns(most: int) -> None:
    """A hundred thousand rows with more and more sensitive columns, alone and in pairs."""
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 100_000), rng.integers(0, 2, 100_000)

    def cost(number: int, depth: int) -> float:
        features = {f"column {i}": (rng.random(len(y)) < 0.5).astype(int) for i in range(number)}
        options = {"sensitive_features": features, "depth": depth, "max_minutes": 1000}
        return seconds(lambda: eh.audit(y, p, **options))

    costs = {
        f"depth {depth}, s": lambda number, depth=depth: cost(number, depth) for depth in (1, 2)
    }
    table("columns", [n for n in (1, 2, 5, 10, 20, 50) if n <= most], costs)


def _powers(least: int, most: int) -> list[int]:
    return [10**k for k in range(round(math.log10(least)), math.floor(math.log10(most) + 1e-9) + 1)]


PARTS = {
    "rows": (rows, 1e8),
    "groups": (groups, 1e5),
    "classes": (classes, 100),
    "columns": (columns, 50),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--most", type=float)
    given = parser.parse_args()
    eh.audit(
        [0, 1] * 50, [0, 1, 1, 1] * 25, sensitive_features=["a", "a", "b"] * 33 + ["b"]
    )  # warm
    for name in given.parts:
        part, most = PARTS[name]
        part(int(given.most or most))


if __name__ == "__main__":
    sys.exit(main())
