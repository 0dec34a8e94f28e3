"""What a fair model would show: the noise floor of a criterion, and how unlikely its value is.

Under fairness all groups share one distribution of what the criterion looks at, given what it
conditions on. Drawing counts from the pooled distribution, with the group sizes as they are, shows
what chance alone makes of it. The cost depends on the number of cells, not of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.statistics import Average, P, Ratio, Statistic
from evenhand.tally import Tally

COUNTS_AT_A_TIME = 1 << 22
BY_TRUTH = ({"tp", "fn"}, {"fp", "tn"})
BY_PREDICTION = ({"tp", "fp"}, {"tn", "fn"})


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
    asked = criterion if isinstance(criterion, Criterion) else named(criterion)
    statistic = asked.with_statistic(options.get("g")).statistic
    _check(counts, asked.name, statistic)
    value = float(asked.read(counts, **options))
    rng = np.random.default_rng(random_state)
    drawn = [asked(fair, **options) for fair in fair_tallies(counts, statistic, replicates, rng)]
    found = np.concatenate(drawn)
    found = found[~np.isnan(found)]
    if np.isnan(value) or not len(found):
        return Chance(value, np.nan, np.nan, np.nan, replicates)
    as_large = int(np.count_nonzero(found >= value - 1e-12))
    high = float(np.quantile(found, 0.95))
    return Chance(value, float(found.mean()), high, (1 + as_large) / (1 + len(found)), replicates)


def fair_tallies(
    counts: Tally, statistic: Statistic, replicates: int, rng: np.random.Generator
) -> Iterator[Tally]:
    """Draw tallies of a model that is fair in this respect; batches of replicates come first."""
    fixed = given(statistic)
    names = [axis.name for axis in counts.axes if axis.name != "group"]
    free = [name for name in names if name not in fixed]
    axes = [counts.axis(name) for name in (*fixed, "group", *free)]
    shape = [axis.size for axis in axes]
    table = counts.table(*(axis.name for axis in axes), of="rows").astype(np.int64)
    table = table.reshape(prod(shape[: len(fixed)]), shape[len(fixed)], -1)
    cells = np.array(np.unravel_index(np.arange(table.size), shape), dtype=np.intp)
    size = max(1, COUNTS_AT_A_TIME // table.size)
    for start in range(0, replicates, size):
        drawn = _draw(table, min(size, replicates - start), rng)
        sums = {"rows": drawn.reshape(len(drawn), -1)}
        yield replace(counts, axes=tuple(axes), cells=cells, sums=sums)


def given(statistic: Statistic) -> tuple[str, ...]:
    """The axes a statistic conditions on: their counts by group stay as they are."""
    if isinstance(statistic, Average):
        return given(statistic.one)
    if isinstance(statistic, P):
        return (statistic.given,) if statistic.given else ()
    if isinstance(statistic, Ratio) and statistic.denominator.keys() in BY_TRUTH:
        return ("y",)
    if isinstance(statistic, Ratio) and statistic.denominator.keys() in BY_PREDICTION:
        return ("yhat",)
    return ()


def _draw(table: NDArray[np.int64], times: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts (times, given, groups, outcomes) from the pooled outcomes of each given."""
    pooled = table.sum(axis=1)
    total = pooled.sum(axis=-1, keepdims=True)
    even = np.full(pooled.shape, 1 / pooled.shape[-1])  # for a given that was never observed
    shares = np.divide(pooled, total, out=even, where=total > 0)
    sizes = table.sum(axis=-1)
    return rng.multinomial(sizes, shares[:, None, :], size=(times, *sizes.shape))


def _check(counts: Tally, name: str, statistic: Statistic) -> None:
    if statistic.needs not in ("predictions", "labels", "strata"):
        raise TypeError(f"Chance is drawn for criteria of counts; {name} reads scores or sums.")
    if "weight" in counts.sums:
        raise ValueError(
            "Chance needs plain counts: a tally of weights does not say how many rows vary. "
            "Count again without sample_weight."
        )
