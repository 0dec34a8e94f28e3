"""What a fair model would show: the noise floor of a criterion, and how unlikely its value is.

Under fairness all groups share one distribution of what the criterion looks at, given what it
conditions on. Drawing counts from the pooled distribution, with the group sizes as they are, shows
what chance alone makes of it. The cost depends on the number of cells, not of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._uncertainty.models import Floats, Model
from evenhand._uncertainty.question import Question, questions
from evenhand.criteria import Criterion
from evenhand.statistics.kinds import Source


@dataclass(frozen=True)
class Chance:
    """A value beside what a fair model shows with groups of the same sizes.

    `floor` is the mean under fairness, `high` the value that a fair model exceeds once in twenty
    times, `p_value` the share of fair models that show at least `value`.
    """

    value: float
    floor: float
    high: float
    p_value: float
    replicates: int


def chance(
    counts: Source,
    criterion: str | Criterion,
    *,
    replicates: int = 2000,
    random_state: int | np.random.Generator | None = None,
    measure: Any = None,
    **options: Any,
) -> Chance:
    """Compare a criterion with what chance alone would show.

    `counts` is a Tally, a Distribution or ranked scores, whichever the criterion reads. Options
    are those of `evaluate`, such as measure="gini". The p-value is that of one question; who asks
    many must correct for it.

    >>> from evenhand import tally
    >>> y = [1, 0, 1, 0, 1, 1, 0, 0]
    >>> counts = tally(None, y, sensitive_features=["a", "b"] * 4)
    >>> found = chance(counts, "statistical_parity", measure="mpd", random_state=0)
    >>> found.value, found.p_value > 0.2
    (0.5, True)
    """
    model, (asked,) = questions(counts, criterion, [measure], **options)
    return chances(model, [asked], replicates, np.random.default_rng(random_state))[0]


def chances(
    model: Model, asked: Sequence[Question], replicates: int, rng: np.random.Generator
) -> list[Chance]:
    """Compare several questions about one criterion with the same fair worlds."""
    fair = np.broadcast_to(model.pooled, model.seen.shape)
    tables = list(model.draw(fair, replicates, rng))
    return [_compared(one, np.concatenate([one(table) for table in tables])) for one in asked]


def _compared(asked: Question, found: Floats) -> Chance:
    value, replicates = asked.value, len(found)
    found = found[~np.isnan(found)]
    if np.isnan(value) or not len(found):
        return Chance(np.nan, np.nan, np.nan, np.nan, replicates)
    slack = 1e-12 * max(1.0, abs(value))
    as_large = int(np.count_nonzero(found >= value - slack))
    high = float(np.quantile(found, 0.95))
    p_value = (1 + as_large) / (1 + len(found))
    return Chance(value + asked.more, float(found.mean()), high, p_value, replicates)
