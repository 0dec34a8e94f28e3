"""Areas under trade-off curves, of the methods that a panel shows."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from evenhand.benchmark import Results, areas
from evenhand.benchmark.ranking import Area
from paper.families import constraints_of

BASE = "Base"
LOSS = 0.05  # of accuracy, or as a share of Base's RMSE


def areas_of(
    results: Results, problem: str, base: str, family: str, question: str, loss: float = LOSS
) -> list[Area]:
    """The area of every method that aims at the family's criteria, on a problem and base model."""
    runs = results.runs
    chosen = pc.and_(pc.equal(runs["problem"], problem), pc.equal(runs["base"], base))
    wanted = constraints_of(family)
    if wanted is not None:
        told = pc.fill_null(runs["constraint"], "")
        chosen = pc.and_(chosen, pc.is_in(told, value_set=pa.array(sorted(wanted))))
    return areas(replace(results, runs=runs.filter(chosen)), question, loss=loss)
