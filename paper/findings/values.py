"""Scores split by split, a column for each question: what rankings are computed from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from paper.families import family, of_family

if TYPE_CHECKING:
    from evenhand.benchmark import Results

SETTING = ["method", "constraint", "hyperparameter"]
KEYS = ["problem", "base", "family", *SETTING, "seed"]


def values(results: Results, questions: Iterable[str]) -> Any:
    """A row for each run and split, a column for each question; NaN where there is no answer.

    A constraint that is not there is "", a hyperparameter −1.
    """
    wide = results.wide(questions)
    wide = wide.fillna({"constraint": "", "hyperparameter": -1})
    wide["family"] = [family(constraint) for constraint in wide["constraint"]]
    return wide.sort_values(KEYS, ignore_index=True)


def part(wide: Any, problem: str, base: str, wanted: str) -> Any:
    """The rows of one problem, of the methods that aim at parity, at odds, or of all."""
    here = wide[(wide["problem"] == problem) & (wide["base"] == base)]
    return of_family(here, wanted)


def by_seed(here: Any, question: str) -> Any:
    """Settings below each other, splits side by side."""
    return here.pivot(index=SETTING, columns="seed", values=question)
