"""Tables of counts, in every engine and type of number, against the oracle; faults are refused."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import evenhand as eh
from fuzz.counting import named, same
from fuzz.oracle import CELLS, evaluate
from fuzz.tables import Case, case_of

MEASURES = ("mpd", "gini", "pq", "shortfall", "ratio")
MOST = 2**53 - 1
FAULTS: dict[str, Any] = {
    "a count that is missing": None,
    "a count that is no number": math.nan,
    "an endless count": math.inf,
    "a negative count": -1,
    "a part of a row": 0.5,
    "a count in words": "3",
    "a count that no float holds": MOST + 2,
    "a count of 64 bits": 2**63 - 1,
}
ENGINES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "pandas with Arrow types": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "duckdb": lambda frame: duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False)),
}
TYPES = ("int64", "float64", "uint64", "Int64", "object", "int64[pyarrow]", "double[pyarrow]")


def attack(seed: int) -> None:
    """One table: the oracle's value of every criterion, or an error of ours."""
    rng = np.random.default_rng([5, seed])
    case = case_of(rng)
    lines = lines_of(case, rng)
    engine = ENGINES[str(rng.choice(list(ENGINES)))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", eh.UndefinedWarning)
        if rng.random() < 0.3:
            fault = str(rng.choice(list(FAULTS)))
            refused(engine, lines, fault, rng)
        else:
            compared(engine, lines, case, rng)


def lines_of(case: Case, rng: np.random.Generator) -> pd.DataFrame:
    """Each row of the case stands for some rows: few, none, or as many as can be counted."""
    size = len(case.rows)
    most = int(rng.choice([2, 100, 10**9, MOST // (2 * size)]))
    counts = rng.integers(0, most, size, endpoint=True)
    counts[int(rng.integers(size))] = most  # so that there is a row
    y, p, g, _ = zip(*case.rows, strict=True)
    return pd.DataFrame({"y": y, "p": p, "g": [f"<{name}>" for name in g], "n": counts})


def compared(engine: Any, lines: pd.DataFrame, case: Case, rng: np.random.Generator) -> None:
    criterion, measure = str(rng.choice(list(CELLS))), str(rng.choice(MEASURES))
    frame = engine(lines.astype({"n": str(rng.choice(TYPES))}))
    counts = eh.tally(data=frame, rows="n", y_true="y", y_pred="p", sensitive_features="g")
    assert int(counts.sums["rows"].sum()) == int(lines["n"].sum()), "rows were lost"
    rows = [(y, p, g, Fraction(int(n))) for y, p, g, n in lines.itertuples(index=False) if int(n)]
    kept = Case(tuple(rows), case.columns)
    found = eh.evaluate(criterion, counts, measure=measure, **named(kept, criterion))
    same(found, evaluate(criterion, rows, measure, "worst"), criterion, measure)


def refused(engine: Any, lines: pd.DataFrame, fault: str, rng: np.random.Generator) -> None:
    counts: list[Any] = lines["n"].tolist()
    value = FAULTS[fault]
    counts[int(rng.integers(len(counts)))] = value
    if isinstance(value, str):
        counts = [str(count) for count in counts]
    elif isinstance(value, float):
        counts = [float(count) for count in counts]
    column = pd.Series(counts, dtype="Int64" if value is None else None)
    try:
        found = eh.tally(
            data=engine(lines.assign(n=column)), rows="n", y_pred="p", sensitive_features="g"
        )
    except eh.EvenhandError:
        return
    raise AssertionError(f"{fault} was taken: {found}")
