"""Scores that an empty cell would decide, if no rows counted as a rate of 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.benchmark.scoring.scores import EMPTY_AS_ZERO

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

SAME = 1e-9


@dataclass(frozen=True)
class EmptyCells:
    """Scores of a question on a problem with an empty cell, and those it would decide elsewhere.

    Parameters
    ----------
    problem, question : str
        Which scores.
    scores : int
        How many there are.
    empty : int
        How many of them have a group without any row of a class that the criterion looks at.
    decided : int
        How many would be another number if such a rate, 0/0, counted as 0.
    nearly_one : int
        How many would then be above 0.99.

    Examples
    --------
    >>> EmptyCells("people", "equal_opportunity.mpd", scores=20, empty=4, decided=4, nearly_one=0)
    EmptyCells(problem='people', question='equal_opportunity.mpd', scores=20, empty=4, decided=4, \
nearly_one=0)

    """

    problem: str
    question: str
    scores: int
    empty: int
    decided: int
    nearly_one: int


def empty_cells(results: Results) -> list[EmptyCells]:
    """Count the scores with an empty cell; evenhand leaves such a group out of the comparison.

    Parameters
    ----------
    results : Results
        Scores of stored runs.

    Returns
    -------
    list of EmptyCells
        For every problem and question that has any, those that most hang on it first.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> empty_cells(Results.from_rows(runs=[], questions=[], problems=[], scores=[]))
    []

    """
    counted = results.query(
        "select a.problem, a.question, count(*) as scores, count(b.value) as empty, "
        f"count(b.value) filter (abs(a.value - b.value) > {SAME}) as decided, "
        "count(b.value) filter (b.value > 0.99) as nearly_one "
        "from (select * from results where lot = 'expected' and measure is not null) a "
        f"left join (select * from scores where lot = '{EMPTY_AS_ZERO}') b "
        "on a.key = b.key and a.question = b.question "
        "group by a.problem, a.question having count(b.value) > 0 "
        "order by decided desc, a.problem, a.question"
    )
    return [
        EmptyCells(
            str(row["problem"]),
            str(row["question"]),
            *(int(row[name]) for name in ("scores", "empty", "decided", "nearly_one")),
        )
        for row in counted.to_dict("records")
    ]
