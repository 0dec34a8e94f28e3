"""From results to the points of a figure: one question against another, run by run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.figures.styles import series
from evenhand.benchmark.findings.families import among, family

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

KEYS = ["problem", "base", "method", "constraint", "hyperparameter"]
_KEYS = (
    'problem, base, method, coalesce("constraint", \'\') as "constraint", hyperparameter, question'
)
SELECTED = (
    f"select {_KEYS}, avg(value) as mean, stddev_samp(value) / sqrt(count(value)) as error, "
    "count(value) as seeds from results"
)
GROUPED = "and not isnan(value) group by all order by all"


def readings(
    results: Results,
    questions: Iterable[str],
    problems: Iterable[str],
    bases: Iterable[str],
) -> Any:
    """Mean and standard error over the seeds of these questions, with the name of the line."""
    where = " and ".join(
        [among("question", questions), among("problem", problems), among("base", bases)]
    )
    found = results.query(f"{SELECTED} where lot = 'expected' and {where} {GROUPED}")
    found["family"] = [family(one) for one in found["constraint"]]
    pairs = zip(found["method"], found["constraint"], strict=True)
    found["series"] = [series(*pair) for pair in pairs]
    return found


def against(found: Any, x: str, y: str) -> Any:
    """The points of question y over question x."""
    keys = [*KEYS, "family", "series"]
    names = {"mean": "x", "error": "x_error"}
    left = found[found["question"] == x].rename(columns=names)[[*keys, "x", "x_error", "seeds"]]
    names = {"mean": "y", "error": "y_error"}
    right = found[found["question"] == y].rename(columns=names)[[*keys, "y", "y_error"]]
    return left.merge(right, on=keys).sort_values(KEYS, ignore_index=True)
