"""The answer to a question, from a table of statistics or from distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._distributions import Distribution
from evenhand.benchmark.design.questions import Question
from evenhand.statistics import Table


def answers(question: Question, table: Table) -> Any:
    """An answer for each run; none where the measure refuses the values, such as negative ones."""
    asked, how = question.asked, question.how
    try:
        return asked.reading(table, how).value
    except ValueError:
        if len(table.values) == 1:
            return np.full(1, np.nan)
    each = [
        Table(values, table.cells, table.groups)
        for values in np.split(table.values, len(table.values))
    ]
    return np.concatenate([answers(question, one) for one in each])


def sweeps(question: Question) -> bool:
    """Whether it is about whole distributions."""
    return question.asked.statistic.needs == "steps"


def swept(question: Question, steps: Distribution) -> float:
    """The answer from distributions by group."""
    how = question.how
    asked: dict[str, Any] = {"measure": how.measure, "aggregate": how.aggregate, "tau": how.tau}
    return float(question.asked.read(steps, transform=how.transform, **asked).value)
