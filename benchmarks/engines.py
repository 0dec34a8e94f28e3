"""What counting inside Spark, Dask and Ibis costs beside the same group-bys written by hand.

python benchmarks/engines.py                     two million rows, all engines, some minutes
python benchmarks/engines.py spark --rows 1e7    one engine, more rows

By hand is the least that could do: rows by truth, decision and groups, and for scores the rows
by bin, truth and groups too, in as many bins. The time is CPU seconds of all processes, the best
of three turns, and the score is the ratio.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import psutil
from timing import readable, take_turns

import evenhand as eh
from evenhand._data.binned import MOST_BINS
from report import Bar, Line, shown

ROWS = 2_000_000
FILES = 4
GROUPS = ["sex", "race"]
NAMES = {"y_true": "label", "y_pred": "decision", "sensitive_features": GROUPS}
BAR = Bar("<", 2)


def write(folder: Path, rows: int) -> None:
    """Made-up people in some Parquet files."""
    for at in range(FILES):
        rng = np.random.default_rng(at)
        size = rows // FILES
        sex, race = rng.choice([*"abc"], size), rng.choice([*"xyzw"], size)
        label = (rng.random(size) < 0.3 + 0.1 * (sex == "a")).astype(int)
        score = rng.beta(1 + label, 3)
        people = {"sex": sex, "race": race, "label": label, "score": score}
        frame = pd.DataFrame(people).assign(decision=(score > 0.4).astype(int))
        frame.to_parquet(folder / f"{at}.parquet", index=False)


class Spark:
    """A local Spark, as PySpark installs it."""

    name = "Spark"

    def __init__(self, folder: Path) -> None:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        self.session = builder.config("spark.driver.memory", "3g").getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        self.table = self.session.read.parquet(str(folder))
        self.table.createOrReplaceTempView("people")

    def labels(self) -> None:
        self._count("label, decision, sex, race")

    def bins(self) -> None:
        self._count(f"cast(score * {MOST_BINS} as int), label, sex, race")

    def _count(self, keys: str) -> None:
        self.session.sql(f"select {keys}, count(*) from people group by all").toArrow()


class Dask:
    """Dask with its threads, on the files."""

    name = "Dask"

    def __init__(self, folder: Path) -> None:
        import dask.dataframe as dd

        self.table = dd.read_parquet(folder)

    def labels(self) -> None:
        self.table.groupby(["label", "decision", *GROUPS]).size().compute()

    def bins(self) -> None:
        place = (self.table["score"] * MOST_BINS).astype("int32")
        self.table.assign(bin=place).groupby(["bin", "label", *GROUPS]).size().compute()


class Ibis:
    """Ibis on DuckDB, on the files."""

    name = "Ibis, DuckDB"

    def __init__(self, folder: Path) -> None:
        import ibis

        self.table = ibis.duckdb.connect().read_parquet(f"{folder}/*.parquet")

    def labels(self) -> None:
        self.table.group_by(["label", "decision", *GROUPS]).agg(n=lambda t: t.count()).to_pyarrow()

    def bins(self) -> None:
        place = (self.table.score * MOST_BINS).floor().cast("int32")
        table = self.table.mutate(bin=place)
        table.group_by(["bin", "label", *GROUPS]).agg(n=lambda t: t.count()).to_pyarrow()


ENGINES: dict[str, Callable[[Path], Any]] = {"spark": Spark, "dask": Dask, "ibis": Ibis}


def lines(engine: Any, turns: int) -> Iterator[Line]:
    """Ours beside the plain group-bys: a tally, a labels audit's counts, and with scores."""
    scored = {**NAMES, "y_score": "score"}
    contestants = {
        "labels by hand": engine.labels,
        "bins by hand": engine.bins,
        "tally_frame": lambda: eh.tally(data=engine.table, **NAMES),
        "labels": lambda: eh.Data(data=engine.table, **NAMES).counted,
        "scores": lambda: eh.Data(data=engine.table, **scored).counted,
    }
    for run in contestants.values():  # compiled, and files in the cache
        run()
    times = take_turns(contestants, rounds=turns, patience=float("inf"), clock=_cpu_seconds)
    spent = {name: one.seconds for name, one in times.items()}
    by_hand = spent["labels by hand"]
    both = by_hand + spent["bins by hand"]
    yield Line(engine.name, "labels by hand", readable(by_hand))
    yield Line(engine.name, "labels and score bins by hand", readable(both))
    for name, least in (("tally_frame", by_hand), ("labels", by_hand), ("scores", both)):
        who = name if name == "tally_frame" else f"audit_frame's counts, {name}"
        yield Line(engine.name, who, readable(spent[name]), spent[name] / least, BAR)
    start = _cpu_seconds()
    eh.audit(data=engine.table, **scored)
    whole = _cpu_seconds() - start
    yield Line(engine.name, "audit_frame, scores, all of it", readable(whole), whole / both)


def _cpu_seconds() -> float:
    """CPU time of this process and all that it started, a virtual machine among them."""
    me = psutil.Process()
    total = 0.0
    for process in (me, *me.children(recursive=True)):
        try:
            total += sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engines", nargs="*", metavar="engine", help=", ".join(ENGINES))
    parser.add_argument("--rows", type=float, default=ROWS)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    unknown = set(options.engines) - set(ENGINES)
    if unknown:
        parser.error(f"no engine {sorted(unknown)}; there are {', '.join(ENGINES)}")
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        write(Path(folder), int(options.rows))
        for name in options.engines or ENGINES:
            list(shown(lines(ENGINES[name](Path(folder)), options.turns)))


if __name__ == "__main__":
    main()
