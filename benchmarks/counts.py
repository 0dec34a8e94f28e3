"""How long an audit of a table of counts takes, and that it does not depend on the rows behind it.

python benchmarks/counts.py
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from click.testing import CliRunner
from timing import readable, take_turns

import evenhand as eh
from evenhand.cli.audit import audit

LINES, ROUNDS = 100_000, 3
NAMES = {"y_true": "y", "y_pred": "p", "sensitive_features": ["sex", "race"]}


def table(rows: int, strata: int, seed: int = 0) -> pd.DataFrame:
    """Counts by truth, prediction, ten groups, a stratum, and days that no audit asks about."""
    rng = np.random.default_rng(seed)
    values = [range(2), range(2), ["F", "M"], [*"abcde"], range(strata)]
    cells = pd.DataFrame(product(*values), columns=["y", "p", "sex", "race", "stratum"])
    days = pd.DataFrame({"day": np.arange(max(LINES // len(cells), 1))})
    lines = cells.merge(days, how="cross")
    share = 1 + 0.4 * (lines.y == lines.p) + 0.2 * ((lines.sex == "M") & (lines.p == 1))
    return lines.assign(n=rng.poisson(rows * share / share.sum()))


def main() -> None:
    print(f"{LINES:,} lines; the best of {ROUNDS}\n")
    print("| rows behind them | strata | tally | audit | of a processor |")
    print("| --- | --- | --- | --- | --- |")
    for rows, strata in product((10**6, 10**9, 10**12), (1, 25)):
        lines = table(rows, strata)
        names = NAMES | ({"strata": "stratum"} if strata > 1 else {})
        contestants = {
            "tally": lambda lines=lines, names=names: eh.tally(data=lines, rows="n", **names),
            "audit": lambda lines=lines, names=names: eh.audit(data=lines, rows="n", **names),
        }
        times = take_turns(contestants, ROUNDS)
        busy = take_turns({"audit": contestants["audit"]}, ROUNDS, clock=process_time)["audit"]
        seconds = [*(times[name].seconds for name in contestants), busy.seconds]
        shown = [f"{lines.n.sum():,}", str(strata), *map(readable, seconds)]
        print(f"| {' | '.join(shown)} |", flush=True)
    command(table(10**9, 1))


def command(lines: pd.DataFrame) -> None:
    """The same from a CSV file, with a gate and the page."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.csv"
        lines.to_csv(file, index=False)
        options = ["--rows", "n", "--target", "y", "--prediction", "p", "--group", "sex"]
        options += ["--group", "race", "--fail-if", "equalized_odds > 0.2", "--quiet"]
        options += ["--html", str(Path(folder) / "page.html")]
        times = take_turns(
            {"command": lambda: CliRunner().invoke(audit, [str(file), *options])}, ROUNDS
        )
    print(f"\nevenhand audit counts.csv --rows n … --html: {readable(times['command'].seconds)}")


if __name__ == "__main__":
    main()
