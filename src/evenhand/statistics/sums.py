"""Statistics of sums over rows in the literature's notation: expectations and functions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.tallies import Tally
from evenhand.statistics.arithmetic import Floats, ratio
from evenhand.statistics.statistic import SYMBOLS, Scale, Shares, Statistic, Table

SIGNED = ("yhat", "error")  # sums whose means may be negative


@dataclass(frozen=True)
class E(Statistic):
    """An expectation by group of a named sum: E("yhat"), E("squared_error").

    Parameters
    ----------
    of : str
        The sum of a tally.
    given : str, optional
        The axis on which the expectation is conditioned, in addition to the group.
    needs : str, default "moments"
        The kind of summary it reads.
    bounds : tuple of float, default (0.0, inf)
        Least and greatest possible value.
    per : str, optional
        Another sum of the tally: then it is the ratio of the two expectations.
    ceiling : str, optional
        The sum of each row's greatest possible amount, where it depends on the data.

    Examples
    --------
    >>> print(E("yhat").formula)
    E(ŷ | a)
    >>> print(E("exposure", per="relevance", needs="lists").formula)
    E(exposure | a) / E(relevance | a)

    """

    of: str
    given: str | None = None
    needs: str = "moments"
    bounds: tuple[float, float] = (0.0, np.inf)
    per: str | None = None
    ceiling: str | None = None
    is_partition = True

    @property
    def sums(self) -> frozenset[str]:
        """The named sums that it reads."""
        return frozenset({self.of} if self.per is None else {self.of, self.per})

    @property
    def relative_to(self) -> str | None:
        """The sum in the denominator, if it is a ratio of two."""
        return self.per

    @property
    def means(self) -> tuple[str, ...]:
        """The sum whose mean varies."""
        return (self.of,)

    @property
    def mean_of(self) -> str | None:
        """The sum whose mean by group it is, if it has no condition and no second sum."""
        return None if self.given or self.per else self.of

    @property
    def hit_sum(self) -> str | None:
        """The sum of hits, if every row adds between 0 and 1."""
        return self.of if self.given or (self.bounds == (0.0, 1.0) and not self.per) else None

    @property
    def is_share(self) -> bool:
        """Whether each row is a hit or a miss."""
        return self.hit_sum == "hits"

    @property
    def conditions(self) -> tuple[str, ...]:
        """The axis that it conditions on."""
        return (self.given,) if self.given else ()

    @property
    def over(self) -> str:
        """The symbols of its cells."""
        return SYMBOLS[self.given] if self.given else ""

    @property
    def formula(self) -> str:
        """The formula in symbols."""
        condition = f"{SYMBOLS[self.given]}, a" if self.given else "a"
        mean = f"E({SYMBOLS.get(self.of, self.of)} | {condition})"
        return f"{mean} / E({SYMBOLS.get(self.per, self.per)} | a)" if self.per else mean

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        means = ratio(*self.fraction(source))
        cells = _spans(source.labels(self.given)) if self.given else ("all",)
        return Table(means, cells, source.groups)

    def most(self, source: Tally) -> float:
        """The greatest possible value, from the bounds or the ceiling's sum."""
        if self.ceiling is None or self.ceiling not in source.sums:
            return self.bounds[1]
        weight = source.table("group")
        return float(np.nanmax(ratio(source.table("group", of=self.ceiling), weight)))

    def fraction(self, counts: Any) -> tuple[Floats, Floats]:
        """The sum, and the weight or the sum in the denominator."""
        return self._table(counts, self.of), self._table(counts, self.per or "weight")

    def _table(self, counts: Any, name: str) -> Floats:
        """A sum in every cell and group."""
        total: Floats = counts.table(*self.conditions, "group", of=name)
        return total if self.given else total[..., None, :]

    def shares(self, counts: Any, of: str = "weight") -> Shares | None:
        """The summed hits and the other rows, of each label of the condition."""
        if self.hit_sum is None:
            return None
        hits = self._table(counts, self.of)
        return Shares(hits, self._table(counts, of) - hits)

    def strata(self, cells: Sequence[Label]) -> NDArray[np.intp]:
        """A stratum for each label of the condition, since these have different rows."""
        return np.arange(len(cells), dtype=np.intp)


@dataclass(frozen=True)
class Derived(Statistic):
    """A function of the means by group of named sums (and of the groups' weights).

    Parameters
    ----------
    of : tuple of str
        The sums of a tally.
    formula : str
        The formula in symbols.
    function : callable
        A function of the means, in that order, and of the weights.
    bounds : tuple of float
        Least and greatest possible value.
    needs : str, default "moments"
        The kind of summary it reads.
    scale : Scale, optional
        Its variance-stabilizing scale, if all of its means vary; else only the first does.
    gradient : callable, optional
        Its derivatives by each mean, from the means; None if groups affect each other's values.

    """

    of: tuple[str, ...]
    formula: str
    function: Callable[..., Floats]
    bounds: tuple[float, float]
    needs: str = "moments"
    scale: Scale | None = None
    gradient: Callable[..., tuple[Floats, ...]] | None = None
    over = ""

    @property
    def sums(self) -> frozenset[str]:
        """The named sums that it reads."""
        return frozenset(self.of)

    @property
    def means(self) -> tuple[str, ...]:
        """The sums whose means it is a function of."""
        return self.of

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        weight = source.table("group")
        means = [ratio(source.table("group", of=name), weight) for name in self.of]
        return Table(self.function(*means, weight)[..., None, :], ("all",), source.groups)

    def influence(self, counts: Any, owner: NDArray[np.intp], whole: Any) -> Floats:
        """The influences on its means, times its derivatives by them."""
        return moved_by_means(self.of, self.gradient, counts, owner, whole)


def moved_by_means(
    names: Sequence[str],
    gradient: Callable[..., tuple[Floats, ...]] | None,
    counts: Any,
    owner: NDArray[np.intp],
    whole: Any,
) -> Floats:
    """First-order influence of parts of the groups (1, parts) on a function of means of sums."""
    if gradient is None:
        return np.full((1, len(owner)), np.nan)
    means = [E(name) for name in names]
    slopes = gradient(*(np.nan_to_num(mean.read(whole).values[0]) for mean in means))
    influences = [
        slope[owner] * mean.influence(counts, owner, whole)
        for slope, mean in zip(slopes, means, strict=True)
    ]
    return np.asarray(np.sum(influences, axis=0))


def _spans(edges: tuple[Label, ...]) -> tuple[Label, ...]:
    return tuple(f"{low:g} to {high:g}" for low, high in pairwise(edges))
