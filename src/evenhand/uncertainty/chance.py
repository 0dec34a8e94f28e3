"""What a fair model would show: the noise floor of a criterion, and how unlikely its value is.

Under fairness all groups share one distribution of what the criterion looks at, given what it
conditions on. Drawing counts from the pooled distribution, with the group sizes as they are, shows
what chance alone makes of it. The cost depends on the number of cells, not of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.tally import Tally
from evenhand.uncertainty.model import model


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
    counts: Tally,
    criterion: str | Criterion,
    *,
    replicates: int = 2000,
    random_state: int | np.random.Generator | None = None,
    **options: Any,
) -> Chance:
    """Compare a criterion of a tally with what chance alone would show.

    Options are those of `evaluate`, such as measure="gini". The p-value is that of one question;
    who asks many must correct for it.

    >>> from evenhand import tally
    >>> y = [1, 0, 1, 0, 1, 1, 0, 0]
    >>> counts = tally(None, y, sensitive_features=["a", "b"] * 4)
    >>> found = chance(counts, "statistical_parity", measure="mpd", random_state=0)
    >>> found.value, found.p_value > 0.2
    (0.5, True)
    """
    asked = named(criterion)
    rows = model(counts, asked, options.get("g"))
    value = float(asked.read(counts, **options))
    fair = np.broadcast_to(rows.pooled[:, None, :], rows.counts.shape)
    worlds = rows.draw(fair, replicates, np.random.default_rng(random_state))
    found = np.concatenate([asked(world, **options) for world in worlds])
    found = found[~np.isnan(found)]
    if np.isnan(value) or not len(found):
        return Chance(value, np.nan, np.nan, np.nan, replicates)
    as_large = int(np.count_nonzero(found >= value - 1e-12))
    high = float(np.quantile(found, 0.95))
    return Chance(value, float(found.mean()), high, (1 + as_large) / (1 + len(found)), replicates)
