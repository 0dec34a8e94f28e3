"""What a fair model would show: the noise floor of a criterion, and how unlikely its value is.

Under fairness all groups share one distribution of what the criterion looks at, given what it
conditions on. Drawing counts from the pooled distribution, with the group sizes as they are, shows
what chance alone makes of it. The cost depends on the number of cells, not of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._seeds import RandomState, seed_of
from evenhand._signatures import COLUMNS, SETTINGS, documented
from evenhand._uncertainty.models import Floats, Model
from evenhand._uncertainty.question import Question, questions
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.measures import Aggregate, Measure


@dataclass(frozen=True)
class Chance:
    """A value beside what a fair model shows with groups of the same sizes.

    Attributes
    ----------
    value : float
        The criterion's value.
    floor : float
        Its mean among fair models.
    high : float
        What a fair model exceeds once in twenty times.
    p_value : float
        The share of fair models that show at least `value`.
    replicates : int
        How many fair models were drawn.

    """

    value: float
    floor: float
    high: float
    p_value: float
    replicates: int


@documented(columns=COLUMNS, settings=SETTINGS)
def chance(
    criterion: str | Criterion,
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    y_score: Any = None,
    strata: Any = None,
    classes: Sequence[Label] | None = None,
    measure: str | Measure | None = None,
    aggregate: str | Aggregate | None = None,
    g: str | Callable[[Any, Any], Any] | None = None,
    transform: str | None = None,
    favorable: Label = None,
    tau: float | None = None,
    replicates: int = 2000,
    random_state: RandomState = 0,
) -> Chance:
    """Compare a criterion with what chance alone would show.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, or a criterion of your own.
    {columns}
    {settings}
    replicates : int, default 2000
        How many data sets of equal groups are drawn.
    random_state : int, Generator or None, default 0
        Of the draws; the same counts and the same number give the same answer.

    Returns
    -------
    Chance
        The value with its noise floor and its p-value, which is that of one question: who asks
        many must allow for it.

    See Also
    --------
    interval : Between which values the truth lies.

    Examples
    --------
    >>> y, group = [1, 0, 1, 0, 1, 1, 0, 0], ["a", "b"] * 4
    >>> found = chance("statistical_parity", None, y, sensitive_features=group, measure="mpd")
    >>> found.value, found.p_value > 0.2
    (0.5, True)

    """
    reading = named(criterion).read(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        y_score=y_score,
        strata=strata,
        classes=classes,
        measure=measure,
        aggregate=aggregate,
        g=g,
        transform=transform,
        favorable=favorable,
        tau=tau,
    )
    asked = named(criterion).with_statistic(g)
    settings = reading.settings
    options = {
        "aggregate": settings.aggregate,
        "transform": settings.transform,
        "tau": settings.tau,
        "favorable": favorable,
    }
    model, (question,) = questions(reading.source, asked, [settings.measure], **options)
    return chances(model, [question], replicates, np.random.default_rng(seed_of(random_state)))[0]


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
