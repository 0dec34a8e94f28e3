"""Random rows, in every kind of column that callers have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from fuzz.oracle import Row

NAMES = ["a", "b", "ab", "B", "", " a", "é", "日本", "<b>", "a,b", 'q"', "0", "1", "nan", "x" * 40]


@dataclass(frozen=True)
class Case:
    """Rows, and the columns that say the same to the library."""

    rows: tuple[Row, ...]
    columns: dict[str, Any]


def case_of(rng: np.random.Generator) -> Case:
    """A table of a few rows, sometimes of hundreds."""
    size = int(rng.choice([1, 2, 3, 8, 30, 200], p=[0.05, 0.1, 0.1, 0.25, 0.4, 0.1]))
    classes = int(rng.choice([1, 2, 3, 5], p=[0.05, 0.6, 0.25, 0.1]))
    skew = rng.dirichlet(np.full(classes, rng.choice([0.2, 1.0, 5.0])))
    truth, predicted = rng.choice(classes, (2, size), p=skew).tolist()
    groups = int(rng.integers(1, 7))
    named = [NAMES[k] for k in rng.permutation(len(NAMES))[:groups]]
    group = [named[k] for k in rng.choice(groups, size, p=rng.dirichlet(np.ones(groups)))]
    weights, weight = _weights(rng, size)
    if rng.random() < 0.5:
        labels: list[Any] = list(range(classes))
        wrap = _chosen(rng, NUMBERS)
    else:
        labels = [f"c{k}" for k in range(classes)] if classes > 2 else list(range(classes))
        wrap = _chosen(rng, TEXTS if classes > 2 else NUMBERS)
    y, p = [labels[k] for k in truth], [labels[k] for k in predicted]
    rows = tuple(zip(y, p, group, weights, strict=True))
    columns = {"y_true": wrap(y), "y_pred": wrap(p), "sensitive_features": _texts(rng)(group)}
    return Case(rows, columns | ({} if weight is None else {"sample_weight": weight}))


def _weights(rng: np.random.Generator, size: int) -> tuple[list[Fraction], Any]:
    kind = rng.choice(["none", "whole", "parts", "zeros", "spread"], p=[0.5, 0.15, 0.15, 0.1, 0.1])
    if kind == "none":
        return [Fraction(1)] * size, None
    weight = {
        "whole": lambda: rng.integers(1, 5, size).astype(float),
        "parts": lambda: rng.random(size) + 0.01,
        "zeros": lambda: rng.integers(0, 3, size).astype(float),
        "spread": lambda: 10.0 ** rng.uniform(-6, 6, size),
    }[kind]()
    return [Fraction(float(each)) for each in weight], _chosen(rng, AMOUNTS)(weight.tolist())


Wrap = Callable[[list[Any]], Any]

AMOUNTS: tuple[Wrap, ...] = (list, np.array, pd.Series, pl.Series, pa.array)
NUMBERS: tuple[Wrap, ...] = (
    list,
    tuple,
    np.array,
    lambda v: np.array(v, dtype=">i2"),
    lambda v: np.array(v, dtype=np.uint8),
    lambda v: np.array(v, dtype=np.float64),
    lambda v: np.array(v, dtype=object),
    lambda v: np.ma.masked_array(v, mask=False),
    lambda v: pd.Series(v, index=range(5, 5 + len(v))),
    lambda v: pd.Series(v, dtype="Int64"),
    lambda v: pd.Series(v, dtype="category"),
    pl.Series,
    pa.array,
    lambda v: pa.chunked_array([v[:1], v[1:]], pa.int64()),
)
TEXTS: tuple[Wrap, ...] = (
    list,
    np.array,
    lambda v: np.array(v, dtype=np.dtype(f">U{max(map(len, v)) + 1}")),
    lambda v: np.array(v, dtype=object),
    lambda v: pd.Series(v, dtype=object),
    lambda v: pd.Series(v, dtype="string"),
    lambda v: pd.Series(v, dtype="category"),
    pl.Series,
    lambda v: pl.Series(v, dtype=pl.Categorical),
    pa.array,
    lambda v: pa.array(v).dictionary_encode(),
    lambda v: pa.array(v, pa.string_view()),
    lambda v: pa.array(v, pa.large_string()),
)


def _texts(rng: np.random.Generator) -> Wrap:
    return _chosen(rng, TEXTS)


def _chosen(rng: np.random.Generator, wraps: tuple[Wrap, ...]) -> Wrap:
    return wraps[int(rng.integers(len(wraps)))]


def spoiled(case: Case, rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    """The columns with one fault that must be refused, and what it is."""
    size = len(case.rows)
    weight = [float(row[3]) for row in case.rows]
    faults: dict[str, dict[str, Any]] = {
        "no groups": {"sensitive_features": None},
        "another length": {"y_pred": [0] * (size + 1)},
        "no rows": {"y_true": [], "y_pred": [], "sensitive_features": [], "sample_weight": None},
        "weights of zero": {"sample_weight": [0.0] * size},
        "a negative weight": {"sample_weight": [*weight[:-1], -1.0]},
        "a weight that is no number": {"sample_weight": [*weight[:-1], float("nan")]},
        "an endless weight": {"sample_weight": [*weight[:-1], float("inf")]},
        "weights in words": {"sample_weight": ["heavy"] * size},
        "a missing label": {"y_pred": [*[0] * (size - 1), None]},
        "labels of two kinds": {"y_true": [*[0] * (size - 1), "no"], "y_pred": [0] * size},
        "a table of labels": {"y_pred": np.zeros((size, 2))},
        "a number for a column": {"y_true": 3},
        "an unknown option": {"measure": "theil's"},
    }
    fault = sorted(faults)[int(rng.integers(len(faults)))]
    return fault, case.columns | faults[fault]
