"""Statistics of counted labels in the literature's notation: probabilities and ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.tallies import Tally
from evenhand.statistics.arithmetic import Floats, one_against_rest, ratio, sum_of_others
from evenhand.statistics.statistic import SYMBOLS, Noise, Shares, Statistic, Table

OVER_ALL = {"correct", "wrong", "all"}  # outcomes of all classes at once
SIDES = {("y",): ({"tp", "fn"}, {"fp", "tn"}), ("yhat",): ({"tp", "fp"}, {"tn", "fn"})}
Terms = tuple[list[str], tuple[float, float]]


@dataclass(frozen=True)
class P(Statistic):
    """A probability by group: P("yhat"), or given something: P("yhat", given="y").

    Parameters
    ----------
    event : str
        The axis of a tally whose labels are the events.
    given : str, optional
        The axis on which the probability is conditioned, in addition to the group.

    Examples
    --------
    >>> print(P("yhat", given="y").formula)
    P(ŷ = c | y = k, a)

    """

    event: str
    given: str | None = None
    bounds = (0.0, 1.0)
    is_share = True
    is_partition = True

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of a tally whose labels it counts: the condition and the events."""
        return tuple(name for name in (self.given, self.event) if name)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The axis that it conditions on."""
        return (self.given,) if self.given else ()

    @property
    def needs(self) -> str:
        """The kind of summary that it reads: a name in `KINDS`."""
        axes = set(self.axes)
        if "stratum" in axes:
            return "strata"
        return "predictions" if axes == {"yhat"} else "labels"

    @property
    def over(self) -> str:
        """The symbols of its cells."""
        return "k, c" if self.given else "c"

    @property
    def formula(self) -> str:
        """The formula in symbols."""
        condition = f"{SYMBOLS[self.given]} = k, a" if self.given else "a"
        return f"P({SYMBOLS[self.event]} = c | {condition})"

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        counts = source.table(*self.axes, "group")
        rates = ratio(counts, counts.sum(axis=-2, keepdims=True))
        events = source.labels(self.event)
        if not self.given:
            return Table(rates, events, source.groups)
        cells = tuple((k, c) for k in source.labels(self.given) for c in events)
        return Table(_flat(rates), cells, source.groups)

    def shares(self, counts: Any, of: str = "weight") -> Shares:
        """The rows of every event, and those of all other events."""
        hits = counts.table(*self.axes, "group", of=of)
        misses = sum_of_others(hits, axis=-2)
        return Shares(_flat(hits), _flat(misses)) if self.given else Shares(hits, misses)

    def strata(self, cells: Sequence[Label]) -> NDArray[np.intp]:
        """Cells of the same condition are read from the same rows."""
        if not self.given:
            return super().strata(cells)
        conditions = [cell[0] if isinstance(cell, tuple) else None for cell in cells]
        order = list(dict.fromkeys(conditions))
        return np.array([order.index(condition) for condition in conditions], dtype=np.intp)

    def noise(self, counts: Any, values: Any) -> Noise:
        """The noise that single rows add to its values; a share s moves v by s − v."""
        square, single = (
            counts.table(*self.conditions, "yhat", "group", of=of)
            for of in ("share² weight²", "share weight²")
        )
        squared_weights, weight, rows = (
            counts.table(*self.conditions, "group", of=of)[..., None, :]
            for of in ("weight²", "total", "rows")
        )
        rate = values.reshape(square.shape)
        squares = square - 2 * rate * single + rate**2 * squared_weights
        parts = (squares, weight + 0 * rate, rows + 0 * rate)
        return Noise(*(part.reshape(values.shape) for part in parts))


@dataclass(frozen=True)
class Ratio(Statistic):
    """A ratio of outcomes of one class against the rest: Ratio("tp", "tp + fn").

    Outcomes are tp, fp, fn and tn of each class, or correct, wrong and all over all classes. Both
    terms are linear in the counts, and `numerator` and `denominator` are their coefficients.

    Parameters
    ----------
    above, below : str
        The numerator and the denominator, such as "2 tp + fp".
    bounds : tuple of float, default (0.0, 1.0)
        Least and greatest possible value.
    needs : str, default "labels"
        The kind of summary it reads.

    Examples
    --------
    >>> f1 = Ratio("2 tp", "2 tp + fp + fn")
    >>> f1.denominator
    {'tp': 2.0, 'fp': 1.0, 'fn': 1.0}

    """

    above: str
    below: str
    bounds: tuple[float, float] = (0.0, 1.0)
    needs: str = "labels"

    @property
    def over(self) -> str:
        """The symbols of its cells."""
        return "" if {*self.numerator, *self.denominator} <= OVER_ALL else "c"

    @property
    def formula(self) -> str:
        """The formula in symbols."""
        return f"{_bracketed(self.above)} / {_bracketed(self.below)}"

    @property
    def hypothesis(self) -> str:
        """The hypothesis of a test: if accuracies are equal, so are error rates."""
        return self.formula if self.over else "rows that are right"

    @property
    def conditions(self) -> tuple[str, ...]:
        """The axis whose label all rows of the denominator share, true or predicted."""
        below = self.denominator.keys()
        return next((axes for axes, sides in SIDES.items() if below in sides), ())

    @property
    def numerator(self) -> dict[str, float]:
        """Coefficients of the outcomes in the numerator."""
        return _coefficients(self.above)

    @property
    def denominator(self) -> dict[str, float]:
        """Coefficients of the outcomes in the denominator."""
        return _coefficients(self.below)

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        outcomes = one_against_rest(source.table("y", "yhat", "group"))
        values = ratio(*self._sides(outcomes), outcomes["all"])
        return Table(values, source.labels("y") if self.over else ("all",), source.groups)

    def fraction(self, counts: Any) -> tuple[Floats, Floats]:
        """The numerator and the denominator."""
        return self._sides(one_against_rest(counts.table("y", "yhat", "group")))

    def _sides(self, outcomes: dict[str, Floats]) -> tuple[Floats, Floats]:
        above, below = (
            reduce(add, (factor * outcomes[name] for name, factor in terms.items()))
            for terms in (self.numerator, self.denominator)
        )
        return above, below

    @cached_property
    def kinds(self) -> tuple[Terms, Terms] | None:
        """The outcomes that are hits, and the misses, each with coefficients in both terms.

        None if outcomes have more than two pairs of coefficients: then the ratio is not a function
        of the share of hits.
        """
        above, below = dict(self.numerator), dict(self.denominator)
        outcomes = ("tp", "fp", "fn", "tn") if self.over else ("correct", "wrong")
        for terms in (above, below):
            if "all" in terms:
                coefficient = terms.pop("all")
                for name in outcomes:
                    terms[name] = terms.get(name, 0.0) + coefficient
        pairs: dict[tuple[float, float], list[str]] = {}
        for name in sorted(above.keys() | below.keys()):
            pairs.setdefault((above.get(name, 0.0), below.get(name, 0.0)), []).append(name)
        if len(pairs) != 2:
            return None
        (first, first_names), (second, second_names) = pairs.items()
        if first[0] * second[1] < second[0] * first[1]:
            return (second_names, second), (first_names, first)
        return (first_names, first), (second_names, second)

    @property
    def is_share(self) -> bool:
        """Whether the numerator is a subset of the denominator, each row counted once."""
        return self.kinds is not None and [side[1] for side in self.kinds] == [(1, 1), (0, 1)]

    def shares(self, counts: Any, of: str = "weight") -> Shares | None:
        """The hits and the misses.

        So TPR is a share of the positives, F1 = 2 s / (1 + s) with s = tp / (tp + fp + fn), and
        fn / fp = s / (1 − s) with s = fn / (fn + fp).
        """
        if self.kinds is None:
            return None
        outcomes = one_against_rest(counts.table("y", "yhat", "group", of=of))
        hits, misses = (reduce(add, (outcomes[name] for name in side[0])) for side in self.kinds)
        return Shares(hits, misses)

    def of_share(self, share: Floats) -> Floats:
        """The ratio as a function of the share of hits."""
        assert self.kinds is not None
        (_, above), (_, below) = self.kinds
        top, bottom = (
            hit * share + miss * (1 - share) for hit, miss in zip(above, below, strict=True)
        )
        out = np.full(share.shape, np.inf)
        return np.asarray(np.divide(top, bottom, out=out, where=bottom > 0))

    def noise(self, counts: Any, values: Any) -> Noise:
        """The noise that single rows add to its values: a − v b, of their coefficients.

        A prediction is a share s of a class, and a − v b is A s + B with A and B by the true label,
        so sums of s², s and 1 by cell are enough.
        """
        above, below = self.numerator, self.denominator

        def moved(name: str) -> Any:
            return above.get(name, 0.0) - values * below.get(name, 0.0)

        square, single, shares = (
            counts.table("y", "yhat", "group", of=of)
            for of in ("share² weight²", "share weight²", "weight")
        )
        squared_weights, weight, rows = (
            counts.table("y", "group", of=of) for of in ("weight²", "total", "rows")
        )
        own_square, own_single, own_shares = (
            table.diagonal(0, 0, 1).T for table in (square, single, shares)
        )
        if not self.over:
            slope, level = moved("correct") - moved("wrong"), moved("wrong") + moved("all")
            squares = (
                slope**2 * own_square + 2 * slope * level * own_single + level**2 * squared_weights
            )
            sums = (table.sum(0)[None] for table in (squares, weight, rows))
            return Noise(*sums)
        squares, total, counted = 0 * values, 0 * values, 0 * values
        for is_own, (hit, miss) in ((True, ("tp", "fn")), (False, ("fp", "tn"))):

            def of_class(own: Any, sums: Any, is_own: bool = is_own) -> Any:
                return own if is_own else sums.sum(0) - own

            slope, level = moved(hit) - moved(miss), moved(miss)
            squares = squares + slope**2 * of_class(own_square, square)
            squares = squares + 2 * slope * level * of_class(own_single, single)
            squares = squares + level**2 * of_class(squared_weights, squared_weights[:, None])
            part = of_class(own_shares, shares)
            remaining = of_class(weight, weight[:, None]) - part
            total = total + below.get(hit, 0.0) * part + below.get(miss, 0.0) * remaining
            if below.get(hit, 0.0) or below.get(miss, 0.0):
                counted = counted + of_class(rows, rows[:, None])
        return Noise(squares, total, counted)


@dataclass(frozen=True)
class Average(Statistic):
    """The mean of two ratios; differences of opposite sign cancel.

    Parameters
    ----------
    first, second : Ratio
        The ratios.
    needs : str, default "labels"
        The kind of summary it reads.

    """

    first: Ratio
    second: Ratio
    bounds = (0.0, 1.0)
    needs: str = "labels"
    over = "c"

    @property
    def parts(self) -> tuple[Statistic, ...]:
        """The statistics that it averages."""
        return self.first, self.second

    @property
    def conditions(self) -> tuple[str, ...]:
        """The axes that the first one conditions on."""
        return self.first.conditions

    @property
    def formula(self) -> str:
        """The formula in symbols."""
        return f"½ [{self.first.formula} + {self.second.formula}]"

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        first, second = self.first.read(source), self.second.read(source)
        return Table((first.values + second.values) / 2, first.cells, first.groups)

    def influence(self, counts: Any, owner: NDArray[np.intp], whole: Any) -> Floats:
        """The mean of the two influences."""
        first, second = (part.influence(counts, owner, whole) for part in self.parts)
        return np.asarray((first + second) / 2)


def _coefficients(terms: str) -> dict[str, float]:
    parts = [term.split() for term in terms.split("+")]
    return {part[-1]: float(part[0]) if len(part) == 2 else 1.0 for part in parts}


def _bracketed(terms: str) -> str:
    return f"({terms})" if "+" in terms else terms


def _flat(rates: Floats) -> Floats:
    return rates.reshape(*rates.shape[:-3], -1, rates.shape[-1])
