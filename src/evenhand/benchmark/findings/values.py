"""Scores split by split, a column for each question: what rankings are computed from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.findings.families import among, family, of_family
from evenhand.benchmark.scoring.archive import rounded

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

SETTING = ["method", "constraint", "hyperparameter"]
KEYS = ["problem", "base", "family", *SETTING, "seed"]
COLUMNS = (
    'problem, base, method, coalesce("constraint", \'\') as "constraint", '
    "coalesce(hyperparameter, -1) as hyperparameter, seed, question, value"
)


def values(results: Results, questions: Iterable[str]) -> Any:
    """A row for each run and split, a column for each question; NaN where there is no answer.

    Scores have five digits here, so that what differs by less is a tie.
    """
    asked = list(dict.fromkeys(questions))
    where = f"lot = 'expected' and {among('question', asked)}"
    long = results.query(f"select {COLUMNS} from results where {where}")
    long["family"] = [family(one) for one in long["constraint"]]
    long["value"] = rounded(long["value"]).astype(float)
    wide = long.pivot_table(index=KEYS, columns="question", values="value", observed=True)
    return wide.reindex(columns=asked).reset_index()


def part(wide: Any, problem: str, base: str, wanted: str) -> Any:
    """The rows of one problem, of the methods that aim at parity, at odds, or of all."""
    here = wide[(wide["problem"] == problem) & (wide["base"] == base)]
    return of_family(here, wanted)


def by_seed(here: Any, question: str) -> Any:
    """Settings below each other, splits side by side."""
    return here.pivot_table(index=SETTING, columns="seed", values=question)
