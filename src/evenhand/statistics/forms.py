"""The forms of statistics, as data in the papers' notation: of counts, of sums and of scores.

A statistic names what it needs to know of the rows, reads a table (…, cells, groups) from it, and
prints its formula. A cell is a class, a pair of labels, a stratum or a score bin. A quantity that
was not observed in a group (0/0) is NaN there. Tables are NumPy's, or tensors with gradients.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.distributions import RankedScores, auroc_by_group
from evenhand._data.tallies import Tally
from evenhand._errors import InputTypeError

Floats = NDArray[np.float64]

NUMPY = (np.ndarray, np.generic)  # a tuple: torch.compile cannot follow a union of types
SYMBOLS = {"y": "y", "yhat": "ŷ", "stratum": "s", "bin": "score bin", "hits": "y = c"}
SYMBOLS |= {"error": "ŷ − y"}
SIGNED = ("yhat", "error")  # sums whose means may be negative


@dataclass(frozen=True, eq=False)
class Table:
    """A statistic of each group in each cell.

    Parameters
    ----------
    values : ndarray of shape (…, cells, groups)
        The statistic; NaN where it is undefined. Batch axes come first.
    cells : tuple of labels
        What the cells are: classes, pairs (given, class), strata or bins.
    groups : tuple of labels
        The groups.

    """

    values: Floats
    cells: tuple[Label, ...]
    groups: tuple[Label, ...]


class Statistic(Protocol):
    """Anything that reads a table of group values from what it needs.

    A statistic of your own is a class with these five members; see `P` or `Ratio`.
    """

    @property
    def needs(self) -> str:
        """Which summary of the rows it reads: a name in `KINDS`."""

    @property
    def formula(self) -> str:
        """Itself, in symbols."""

    @property
    def over(self) -> str:
        """The symbols of its cells: c a class, k what is given; empty if it has a single cell."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest possible value."""

    def read(self, source: Any) -> Table:
        """Its value in every cell and group.

        Parameters
        ----------
        source : Tally, Distribution or RankedScores
            The summary that it `needs`.

        Returns
        -------
        Table
            Values (…, cells, groups).

        """


@dataclass(frozen=True)
class P:
    """A probability by group: P("yhat"), or given something: P("yhat", given="y").

    Parameters
    ----------
    event : str
        The axis of a tally whose labels are the events.
    given : str, optional
        The axis on which the probability is conditioned, beside the group.

    Examples
    --------
    >>> print(P("yhat", given="y").formula)
    P(ŷ = c | y = k, a)

    """

    event: str
    given: str | None = None
    bounds = (0.0, 1.0)

    @property
    def needs(self) -> str:
        """Which summary of the rows it reads: a name in `KINDS`."""
        axes = {self.event, self.given} - {None}
        if "stratum" in axes:
            return "strata"
        return "predictions" if axes == {"yhat"} else "labels"

    @property
    def over(self) -> str:
        """The symbols of its cells."""
        return "k, c" if self.given else "c"

    @property
    def formula(self) -> str:
        """Itself, in symbols."""
        condition = f"{SYMBOLS[self.given]} = k, a" if self.given else "a"
        return f"P({SYMBOLS[self.event]} = c | {condition})"

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        axes = [name for name in (self.given, self.event) if name]
        counts = source.table(*axes, "group")
        rates = ratio(counts, counts.sum(axis=-2, keepdims=True))
        events = source.labels(self.event)
        if not self.given:
            return Table(rates, events, source.groups)
        cells = tuple((k, c) for k in source.labels(self.given) for c in events)
        return Table(_flat(rates), cells, source.groups)


@dataclass(frozen=True)
class Ratio:
    """A ratio of outcomes of one class against the rest: Ratio("tp", "tp + fn").

    Outcomes are tp, fp, fn and tn of each class, and over all classes: correct, wrong, all. Both
    terms are linear in the counts, and `numerator` and `denominator` give their coefficients.

    Parameters
    ----------
    above, below : str
        The terms above and below the line, such as "2 tp + fp".
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
        return "" if self.below == "all" else "c"

    @property
    def formula(self) -> str:
        """Itself, in symbols."""
        return f"{_bracketed(self.above)} / {_bracketed(self.below)}"

    @property
    def numerator(self) -> dict[str, float]:
        """Coefficients of the outcomes above the line."""
        return _coefficients(self.above)

    @property
    def denominator(self) -> dict[str, float]:
        """Coefficients of the outcomes below the line."""
        return _coefficients(self.below)

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        outcomes = one_against_rest(source.table("y", "yhat", "group"))
        above, below = (
            reduce(add, (factor * outcomes[name] for name, factor in terms.items()))
            for terms in (self.numerator, self.denominator)
        )
        values = ratio(above, below, outcomes["all"])
        return Table(values, source.labels("y") if self.over else ("all",), source.groups)


@dataclass(frozen=True)
class Average:
    """The mean of two ratios; values that cancel hide from it.

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
    def formula(self) -> str:
        """Itself, in symbols."""
        return f"½ [{self.first.formula} + {self.second.formula}]"

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        first, second = self.first.read(source), self.second.read(source)
        return Table((first.values + second.values) / 2, first.cells, first.groups)


@dataclass(frozen=True)
class E:
    """An expectation by group of a named sum: E("yhat"), E("squared_error").

    Parameters
    ----------
    of : str
        The sum of a tally.
    given : str, optional
        The axis on which the expectation is conditioned, beside the group.
    needs : str, default "moments"
        The kind of summary it reads.
    bounds : tuple of float, default (0.0, inf)
        Least and greatest possible value.

    Examples
    --------
    >>> print(E("yhat").formula)
    E(ŷ | a)

    """

    of: str
    given: str | None = None
    needs: str = "moments"
    bounds: tuple[float, float] = (0.0, np.inf)

    @property
    def over(self) -> str:
        """The symbols of its cells."""
        return SYMBOLS[self.given] if self.given else ""

    @property
    def formula(self) -> str:
        """Itself, in symbols."""
        condition = f"{SYMBOLS[self.given]}, a" if self.given else "a"
        return f"E({SYMBOLS.get(self.of, self.of)} | {condition})"

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        axes = (self.given, "group") if self.given else ("group",)
        means = ratio(source.table(*axes, of=self.of), source.table(*axes))
        if self.given:
            return Table(means, _spans(source.labels(self.given)), source.groups)
        return Table(means[..., None, :], ("all",), source.groups)


@dataclass(frozen=True)
class Scale:
    """A scale on which a function of several means varies evenly.

    Parameters
    ----------
    at : callable
        The place on the scale, of the means.
    gradient : callable
        How the place changes with each of the means, of the means.
    value : callable
        The statistic at a place.
    products : tuple of tuple of str
        The sums of the products of each two of the means' columns: those of the first with all,
        then of the second with the later ones, and so on.

    """

    at: Callable[..., Floats]
    gradient: Callable[..., tuple[Floats, ...]]
    value: Callable[[Floats], Floats]
    products: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Derived:
    """A function of the means by group of named sums (and of the groups' weights).

    Parameters
    ----------
    of : tuple of str
        The sums of a tally.
    formula : str
        Itself, in symbols.
    function : callable
        Of the means, in that order, and of the weights.
    bounds : tuple of float
        Least and greatest possible value.
    needs : str, default "moments"
        The kind of summary it reads.
    scale : Scale, optional
        The scale on which it varies evenly, where all of its means vary; else the first does.

    """

    of: tuple[str, ...]
    formula: str
    function: Callable[..., Floats]
    bounds: tuple[float, float]
    needs: str = "moments"
    scale: Scale | None = None
    over = ""

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        weight = source.table("group")
        means = [ratio(source.table("group", of=name), weight) for name in self.of]
        return Table(self.function(*means, weight)[..., None, :], ("all",), source.groups)


@dataclass(frozen=True)
class CalibrationError:
    """How far scores are from the rates they promise, on average over the bins of each group.

    Parameters
    ----------
    needs : str, default "bins"
        The kind of summary it reads.

    """

    needs: str = "bins"
    over = ""
    bounds = (0.0, 1.0)
    formula = "E|P(y = c | score bin, a) − E(score | score bin, a)|"

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        gaps = source.table("bin", "group", of="hits") - source.table("bin", "group", of="score")
        error = ratio(abs(gaps).sum(axis=-2), source.table("group"))
        return Table(error[..., None, :], ("all",), source.groups)


@dataclass(frozen=True)
class Auroc:
    """Area under the ROC curve by group: P(score of a positive > score of a negative).

    Parameters
    ----------
    needs : str, default "ranks"
        The kind of summary it reads.

    """

    needs: str = "ranks"
    over = "c"
    bounds = (0.0, 1.0)
    formula = "P(score⁺ > score⁻ | a) + ½ P(score⁺ = score⁻ | a)"

    def read(self, source: RankedScores) -> Table:
        """Its value in every cell and group."""
        rows = [
            auroc_by_group(scores, label)
            for label, scores in zip(source.classes, source.scores, strict=True)
        ]
        return Table(np.array(rows), source.classes, source.scores[0].groups)


@dataclass(frozen=True)
class F:
    """The cumulative distribution of a score by group: F("yhat").

    Parameters
    ----------
    of : str
        What is distributed.
    needs : str, default "steps"
        The kind of summary it reads.

    """

    of: str
    needs: str = "steps"
    over = "t"
    bounds = (0.0, 1.0)

    @property
    def formula(self) -> str:
        """Itself, in symbols."""
        return f"P({SYMBOLS[self.of]} ≤ t | a)"

    def read(self, source: Any) -> Table:  # noqa: ARG002
        """Its value in every cell and group."""
        raise InputTypeError("A distribution is swept, not read; ask a criterion for its value.")


def sums_of(statistic: Statistic) -> set[str]:
    """The named sums of a tally that a statistic reads, beside its counts.

    >>> sums_of(E("squared_error")), sums_of(P("yhat"))
    ({'squared_error'}, set())
    """
    if isinstance(statistic, Derived):
        return set(statistic.of)
    if isinstance(statistic, CalibrationError):
        return {"hits", "score"}
    return {statistic.of} if isinstance(statistic, E) else set()


def one_against_rest(counts: Floats) -> dict[str, Floats]:
    """Outcomes (…, classes, groups) of each class against the rest from (…, y, ŷ, groups).

    Nothing is subtracted: a light error beside a heavy hit would be lost.
    """
    library = library_of(counts)
    tp = library.moveaxis(library.diagonal(counts, 0, -3, -2), -1, -2)
    wrong = _without_diagonal(counts)
    fp, fn = wrong.sum(axis=-3), wrong.sum(axis=-2)
    tn = _without_diagonal(sum_of_others(counts, axis=-3)).sum(axis=-2)
    over_all = {
        "correct": tp.sum(axis=-2, keepdims=True),
        "wrong": fp.sum(axis=-2, keepdims=True),
        "all": counts.sum(axis=(-3, -2))[..., None, :],
    }
    return {"tp": tp, "fp": fp, "fn": fn, "tn": tn, **over_all}


def sum_of_others(values: Floats, axis: int = -1) -> Floats:
    """For each entry the sum of all others along an axis, without taking it from the whole.

    >>> sum_of_others(np.array([1e30, 1.0, 2.0]))
    array([3.e+00, 1.e+30, 1.e+30])
    """
    library = library_of(values)
    moved = library.moveaxis(values, axis, 0)

    def before(parts: Any) -> Any:
        return library.concatenate([0 * parts[:1], library.cumsum(parts[:-1], 0)])

    others = before(moved) + library.flip(before(library.flip(moved, (0,))), (0,))
    return cast(Floats, library.moveaxis(others, 0, axis))


def ratio(above: Floats, below: Floats, whole: Floats | None = None) -> Floats:
    """The quotient, and NaN where nothing was observed.

    Of tensors, "nothing" is also what vanishes in the `whole` when both are added: shares of rows,
    unlike rows, may be as small as to let the gradient overflow.
    """
    library = library_of(below)
    if library is np:
        out = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
        np.divide(above, below, out=out, where=below > 0)
        return out
    seen = below > (0 if whole is None else library.finfo(below.dtype).eps * whole)
    return cast(Floats, library.where(seen, above / library.where(seen, below, 1.0), np.nan))


def library_of(values: Any) -> Any:
    """NumPy, or the library whose tensors these are; what is asked of it, both have."""
    if isinstance(values, NUMPY):
        return np
    return sys.modules[type(values).__module__.partition(".")[0]]


def _without_diagonal(counts: Floats) -> Floats:
    """Counts (…, y, ŷ, groups) where the two labels differ."""
    library = library_of(counts)
    labels = library.moveaxis(counts, -1, -3)
    differ = library.tril(labels, -1) + library.triu(labels, 1)
    return cast(Floats, library.moveaxis(differ, -3, -1))


def _coefficients(terms: str) -> dict[str, float]:
    parts = [term.split() for term in terms.split("+")]
    return {part[-1]: float(part[0]) if len(part) == 2 else 1.0 for part in parts}


def _bracketed(terms: str) -> str:
    return f"({terms})" if "+" in terms else terms


def _flat(rates: Floats) -> Floats:
    return rates.reshape(*rates.shape[:-3], -1, rates.shape[-1])


def _spans(edges: tuple[Label, ...]) -> tuple[Label, ...]:
    return tuple(f"{low:g} to {high:g}" for low, high in pairwise(edges))
