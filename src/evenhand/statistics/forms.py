"""The forms of statistics, as data in the papers' notation: of counts, of sums and of scores.

A statistic names what it needs to know of the rows, reads a table (…, cells, groups) from it, and
prints its formula. A cell is a class, a pair of labels, a stratum or a score bin. A quantity that
was not observed in a group (0/0) is NaN there. Tables are NumPy's, or tensors with gradients.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.distributions import RankedScores, auroc_by_group
from evenhand._data.tallies import Tally
from evenhand._errors import InputError, InputTypeError

Floats = NDArray[np.float64]

NUMPY = (np.ndarray, np.generic)  # a tuple: torch.compile cannot follow a union of types
OVER_ALL = {"correct", "wrong", "all"}  # outcomes of all classes at once
SIDES = {("y",): ({"tp", "fn"}, {"fp", "tn"}), ("yhat",): ({"tp", "fp"}, {"tn", "fn"})}
Terms = tuple[list[str], tuple[float, float]]
SYMBOLS = {"y": "y", "yhat": "ŷ", "stratum": "s", "bin": "score bin", "hits": "y = c"}
SYMBOLS |= {"error": "ŷ − y", "top": "place ≤ k", "first": "place = 1"}
SYMBOLS |= {"gain": "exposure · relevance", "won": "pairs won"}
STEP = 1e-6  # of a share, to see how a function of it follows
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


class Shares(NamedTuple):
    """Hits and misses (…, cells, groups): the rows of which a rate is the share of hits.

    Misses are counted, not taken from the whole: a light miss beside a heavy hit would be lost.

    Parameters
    ----------
    hits, misses : ndarray of shape (…, cells, groups)
        How many rows of each kind; with weights their sums.

    """

    hits: Floats
    misses: Floats

    @property
    def rows(self) -> Floats:
        """All rows."""
        return self.hits + self.misses


class Noise(NamedTuple):
    """Sums over the rows of values v = Σ w a / Σ w b (cells, groups), by which the values vary.

    `squares` are Σ w² (a − v b)², `weight` is Σ w b, and `rows` is how many rows have a b.
    """

    squares: Any
    weight: Any
    rows: Any


class Statistic:
    """What is compared between groups, as data; nobody asks which class of statistic it is.

    A statistic of your own is a subclass with `needs`, `formula`, `over`, `bounds` and `read`. With
    `shares`, the hits and the misses that it counts, it needs no `read`, has intervals and a test,
    and can be planned for with `power`; if it `is_share` of hits itself, it can be watched. The
    other members have defaults.

    Attributes
    ----------
    needs : str
        Which summary of the rows it reads: a name in `KINDS`.
    formula : str
        Itself, in symbols.
    over : str
        The symbols of its cells: c a class, k what is given; empty if it has a single cell.
    bounds : tuple of float
        Least and greatest possible value.

    """

    if TYPE_CHECKING:  # fields of some classes, which a property here would shadow

        @property
        def needs(self) -> str:
            """Which summary of the rows it reads: a name in `KINDS`."""

        @property
        def formula(self) -> str:
            """Itself, in symbols."""

        @property
        def over(self) -> str:
            """The symbols of its cells."""

        @property
        def bounds(self) -> tuple[float, float]:
            """Least and greatest possible value."""

    @property
    def hypothesis(self) -> str:
        """What is tested of it: statistics that are equal together have the same hypothesis."""
        return self.formula

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of a tally whose labels it counts, beside the group."""
        return ("y", "yhat")

    @property
    def conditions(self) -> tuple[str, ...]:
        """The axes it conditions on: how many rows have each of their labels is taken as given."""
        return ()

    @property
    def sums(self) -> frozenset[str]:
        """The named sums of a tally that it reads, beside its counts."""
        return frozenset()

    @property
    def sweeps(self) -> bool:
        """Whether it is a distribution, compared at every cut point."""
        return False

    @property
    def is_share(self) -> bool:
        """Whether it is the share of hits itself, and not another function of it."""
        return False

    @property
    def is_partition(self) -> bool:
        """Whether its cells divide the rows between them, so that they are tested as one table."""
        return False

    @property
    def hit_sum(self) -> str | None:
        """The named sum that holds its hits, where they are added up and not counted."""
        return None

    @property
    def mean_of(self) -> str | None:
        """The named sum whose mean by group it is, if it is one."""
        return None

    @property
    def means(self) -> tuple[str, ...]:
        """The named sums of whose means it is a function, the one that varies first."""
        return ()

    @property
    def relative_to(self) -> str | None:
        """The named sum below the line of a ratio of two, in place of the weight of the rows."""
        return None

    @property
    def scale(self) -> Scale | None:
        """The scale on which a function of several means varies evenly."""
        return None

    @property
    def gaps(self) -> tuple[str, str] | None:
        """The two named sums of whose absolute difference by bin it is the mean."""
        return None

    @property
    def parts(self) -> tuple[Statistic, ...]:
        """The statistics whose mean it is."""
        return ()

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
        shares = self.shares(source)
        if shares is None:
            raise NotImplementedError(f"{type(self).__name__} has neither read nor shares.")
        cells = source.labels(self.axes[-1]) if self.over else ("all",)
        values = self.of_share(ratio(shares.hits, shares.rows))
        return Table(values, cells, source.groups)

    def shares(self, counts: Any, of: str = "weight") -> Shares | None:  # noqa: ARG002
        """The hits and the misses of every cell and group, if it is a share or a function of one.

        Parameters
        ----------
        counts : Tally
            The summary that it `needs`.
        of : str, default "weight"
            Which sum says how many rows there are.

        Returns
        -------
        Shares or None
            In the order of the cells that `read` gives.

        """
        return None

    def of_share(self, share: Floats) -> Floats:
        """Its value, which never falls as the share of hits grows.

        Parameters
        ----------
        share : ndarray
            Shares of hits among rows.

        Returns
        -------
        ndarray
            Of the same shape.

        """
        return share

    def strata(self, cells: Sequence[Label]) -> NDArray[np.intp]:
        """Which cells are read from the same rows: all, unless something is given.

        Parameters
        ----------
        cells : sequence of labels
            Some of its cells.

        Returns
        -------
        ndarray of int
            Numbers of strata, from 0.

        """
        return np.zeros(len(cells), np.intp)

    def fraction(self, counts: Any) -> tuple[Floats, Floats] | None:
        """What is above and below the line (cells, groups), if it is a ratio of sums over rows.

        Parameters
        ----------
        counts : Tally
            The summary that it `needs`.

        Returns
        -------
        tuple of ndarray or None
            In the order of the cells that `read` gives.

        """
        shares = self.shares(counts) if self.is_share else None
        return None if shares is None else (shares.hits, shares.rows)

    def influence(self, counts: Any, owner: NDArray[np.intp], whole: Any) -> Floats:
        """By how much parts of the groups move its values, to first order.

        Parameters
        ----------
        counts : Tally
            The summary that it `needs`, in which every part is a group.
        owner : ndarray of int
            The place of the group that each of them is a part of.
        whole : Tally
            The summary of the groups.

        Returns
        -------
        ndarray of shape (cells, parts)
            It adds up to 0 over the parts of a group: of a ratio N / D it is (n − T d) / D. NaN
            where it is not known.

        """
        every, parts = self.fraction(whole), self.fraction(counts)
        if every is None or parts is None:
            return self._linked_influence(counts, owner, whole)
        return _moved(parts, every, owner)

    def _linked_influence(self, counts: Any, owner: NDArray[np.intp], whole: Any) -> Floats:
        """That on the share of hits, times how the value follows it, where it is one's function."""
        every, parts = self.shares(whole), self.shares(counts)
        if every is None or parts is None:
            return np.full((len(self.read(whole).cells), len(owner)), np.nan)
        share = np.nan_to_num(ratio(every.hits, every.rows))
        low, high = np.maximum(share - STEP, 0.0), np.minimum(share + STEP, 1.0)
        with np.errstate(all="ignore"):  # odds of 1 have no end
            slope = (self.of_share(high) - self.of_share(low)) / (high - low)
        moved = _moved((parts.hits, parts.rows), (every.hits, every.rows), owner)
        return np.asarray(moved * np.where(np.isfinite(slope), slope, 0.0)[..., owner])

    def noise(self, counts: Any, values: Any) -> Noise:  # noqa: ARG002
        """By how much single rows of a batch move its values.

        Parameters
        ----------
        counts : SoftTally
            Counts of shares of predictions, with squared weights.
        values : Tensor
            Its values (cells, groups), with 0 where they are undefined.

        Returns
        -------
        Noise
            Sums over the rows (cells, groups).

        """
        raise InputError(
            f"Noise of {self.formula} cannot be subtracted; use noise='memory', which works for "
            "every statistic."
        )


@dataclass(frozen=True)
class P(Statistic):
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
    is_share = True
    is_partition = True

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of a tally whose labels it counts: what is given, and the events."""
        return tuple(name for name in (self.given, self.event) if name)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The axis that it conditions on."""
        return (self.given,) if self.given else ()

    @property
    def needs(self) -> str:
        """Which summary of the rows it reads: a name in `KINDS`."""
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
        """Itself, in symbols."""
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
        """The rows of every event, and those of all others."""
        hits = counts.table(*self.axes, "group", of=of)
        misses = sum_of_others(hits, axis=-2)
        return Shares(_flat(hits), _flat(misses)) if self.given else Shares(hits, misses)

    def strata(self, cells: Sequence[Label]) -> NDArray[np.intp]:
        """Cells of the same condition are read from the same rows."""
        if not self.given:
            return super().strata(cells)
        given = [cell[0] if isinstance(cell, tuple) else None for cell in cells]
        order = list(dict.fromkeys(given))
        return np.array([order.index(each) for each in given], dtype=np.intp)

    def noise(self, counts: Any, values: Any) -> Noise:
        """By how much single rows move its values: of a share, s − v."""
        square, single = (
            counts.table(*self.conditions, "yhat", "group", of=of)
            for of in ("share² weight²", "share weight²")
        )
        heavy, weight, rows = (
            counts.table(*self.conditions, "group", of=of)[..., None, :]
            for of in ("weight²", "total", "rows")
        )
        rate = values.reshape(square.shape)
        squares = square - 2 * rate * single + rate**2 * heavy
        parts = (squares, weight + 0 * rate, rows + 0 * rate)
        return Noise(*(part.reshape(values.shape) for part in parts))


@dataclass(frozen=True)
class Ratio(Statistic):
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
        return "" if {*self.numerator, *self.denominator} <= OVER_ALL else "c"

    @property
    def formula(self) -> str:
        """Itself, in symbols."""
        return f"{_bracketed(self.above)} / {_bracketed(self.below)}"

    @property
    def hypothesis(self) -> str:
        """What is tested of it: accuracy and error rates are equal together."""
        return self.formula if self.over else "rows that are right"

    @property
    def conditions(self) -> tuple[str, ...]:
        """The label that all rows below the line have in common, true or predicted."""
        below = self.denominator.keys()
        return next((axes for axes, sides in SIDES.items() if below in sides), ())

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
        values = ratio(*self._sides(outcomes), outcomes["all"])
        return Table(values, source.labels("y") if self.over else ("all",), source.groups)

    def fraction(self, counts: Any) -> tuple[Floats, Floats]:
        """Both terms."""
        return self._sides(one_against_rest(counts.table("y", "yhat", "group")))

    def _sides(self, outcomes: dict[str, Floats]) -> tuple[Floats, Floats]:
        above, below = (
            reduce(add, (factor * outcomes[name] for name, factor in terms.items()))
            for terms in (self.numerator, self.denominator)
        )
        return above, below

    @cached_property
    def kinds(self) -> tuple[Terms, Terms] | None:
        """The outcomes that are hits and the others, each with its coefficients above and below.

        None where outcomes have more than two pairs of coefficients: then the ratio is not a
        function of the share of one kind among both.
        """
        above, below = dict(self.numerator), dict(self.denominator)
        every = ("tp", "fp", "fn", "tn") if self.over else ("correct", "wrong")
        for terms in (above, below):
            if "all" in terms:
                whole = terms.pop("all")
                for name in every:
                    terms[name] = terms.get(name, 0.0) + whole
        pairs: dict[tuple[float, float], list[str]] = {}
        for name in sorted(above.keys() | below.keys()):
            pairs.setdefault((above.get(name, 0.0), below.get(name, 0.0)), []).append(name)
        if len(pairs) != 2:
            return None
        (one, names), (two, others) = pairs.items()
        if one[0] * two[1] < two[0] * one[1]:
            return (others, two), (names, one)
        return (names, one), (others, two)

    @property
    def is_share(self) -> bool:
        """Whether what is above the line is part of what is below, each counted once."""
        return self.kinds is not None and [side[1] for side in self.kinds] == [(1, 1), (0, 1)]

    def shares(self, counts: Any, of: str = "weight") -> Shares | None:
        """One of two kinds of rows, and the other.

        So TPR is a share of the positives, F1 = 2 s / (1 + s) with s = tp / (tp + fp + fn), and
        fn / fp = s / (1 − s) with s = fn / (fn + fp).
        """
        if self.kinds is None:
            return None
        outcomes = one_against_rest(counts.table("y", "yhat", "group", of=of))
        hits, misses = (reduce(add, (outcomes[name] for name in side[0])) for side in self.kinds)
        return Shares(hits, misses)

    def of_share(self, share: Floats) -> Floats:
        """What the share of one kind of rows among both makes of their ratio."""
        assert self.kinds is not None
        (_, above), (_, below) = self.kinds
        top, bottom = (
            one * share + two * (1 - share) for one, two in zip(above, below, strict=True)
        )
        out = np.full(share.shape, np.inf)
        return np.asarray(np.divide(top, bottom, out=out, where=bottom > 0))

    def noise(self, counts: Any, values: Any) -> Noise:
        """By how much single rows move its values: a − v b, of their coefficients.

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
        heavy, weight, rows = (
            counts.table("y", "group", of=of) for of in ("weight²", "total", "rows")
        )
        own_square, own_single, own_shares = (
            each.diagonal(0, 0, 1).T for each in (square, single, shares)
        )
        if not self.over:
            slope, level = moved("correct") - moved("wrong"), moved("wrong") + moved("all")
            squares = slope**2 * own_square + 2 * slope * level * own_single + level**2 * heavy
            every = (each.sum(0)[None] for each in (squares, weight, rows))
            return Noise(*every)
        squares, total, counted = 0 * values, 0 * values, 0 * values
        for is_own, (hit, miss) in ((True, ("tp", "fn")), (False, ("fp", "tn"))):

            def of_class(own: Any, every: Any, is_own: bool = is_own) -> Any:
                return own if is_own else every.sum(0) - own

            slope, level = moved(hit) - moved(miss), moved(miss)
            squares = squares + slope**2 * of_class(own_square, square)
            squares = squares + 2 * slope * level * of_class(own_single, single)
            squares = squares + level**2 * of_class(heavy, heavy[:, None])
            part = of_class(own_shares, shares)
            rest = of_class(weight, weight[:, None]) - part
            total = total + below.get(hit, 0.0) * part + below.get(miss, 0.0) * rest
            if below.get(hit, 0.0) or below.get(miss, 0.0):
                counted = counted + of_class(rows, rows[:, None])
        return Noise(squares, total, counted)


@dataclass(frozen=True)
class Average(Statistic):
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
    def parts(self) -> tuple[Statistic, ...]:
        """The statistics whose mean it is."""
        return self.first, self.second

    @property
    def conditions(self) -> tuple[str, ...]:
        """The axes that the first conditions on."""
        return self.first.conditions

    @property
    def formula(self) -> str:
        """Itself, in symbols."""
        return f"½ [{self.first.formula} + {self.second.formula}]"

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        first, second = self.first.read(source), self.second.read(source)
        return Table((first.values + second.values) / 2, first.cells, first.groups)

    def influence(self, counts: Any, owner: NDArray[np.intp], whole: Any) -> Floats:
        """The mean of both influences."""
        first, second = (part.influence(counts, owner, whole) for part in self.parts)
        return np.asarray((first + second) / 2)


@dataclass(frozen=True)
class E(Statistic):
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
    per : str, optional
        Another sum of the tally: then it is the ratio of both expectations.

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
    is_partition = True

    @property
    def sums(self) -> frozenset[str]:
        """The named sums that it reads."""
        return frozenset({self.of} if self.per is None else {self.of, self.per})

    @property
    def relative_to(self) -> str | None:
        """The sum below the line, where it is a ratio of two."""
        return self.per

    @property
    def means(self) -> tuple[str, ...]:
        """The sum whose mean varies."""
        return (self.of,)

    @property
    def mean_of(self) -> str | None:
        """The sum whose mean by group it is, where nothing is given and there is no second sum."""
        return None if self.given or self.per else self.of

    @property
    def hit_sum(self) -> str | None:
        """The sum that holds the hits, where no row adds less than 0 or more than 1."""
        return self.of if self.given or (self.bounds == (0.0, 1.0) and not self.per) else None

    @property
    def is_share(self) -> bool:
        """Whether each row is a hit or none."""
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
        """Itself, in symbols."""
        condition = f"{SYMBOLS[self.given]}, a" if self.given else "a"
        mean = f"E({SYMBOLS.get(self.of, self.of)} | {condition})"
        return f"{mean} / E({SYMBOLS.get(self.per, self.per)} | a)" if self.per else mean

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        means = ratio(*self.fraction(source))
        cells = _spans(source.labels(self.given)) if self.given else ("all",)
        return Table(means, cells, source.groups)

    def fraction(self, counts: Any) -> tuple[Floats, Floats]:
        """The sum, and the weight or the sum below the line."""
        return self._table(counts, self.of), self._table(counts, self.per or "weight")

    def _table(self, counts: Any, of: str) -> Floats:
        """A sum in every cell and group."""
        total: Floats = counts.table(*self.conditions, "group", of=of)
        return total if self.given else total[..., None, :]

    def shares(self, counts: Any, of: str = "weight") -> Shares | None:
        """The hits that were added up, and the other rows, of each label of what is given."""
        if self.hit_sum is None:
            return None
        hits = self._table(counts, self.of)
        return Shares(hits, self._table(counts, of) - hits)

    def strata(self, cells: Sequence[Label]) -> NDArray[np.intp]:
        """Every label of what is given has rows of its own."""
        return np.arange(len(cells), dtype=np.intp)


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
class Derived(Statistic):
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
    gradient : callable, optional
        How it changes with each of the means, of the means; none where groups change each other's.

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
        """The sums of whose means it is a function."""
        return self.of

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        weight = source.table("group")
        means = [ratio(source.table("group", of=name), weight) for name in self.of]
        return Table(self.function(*means, weight)[..., None, :], ("all",), source.groups)

    def influence(self, counts: Any, owner: NDArray[np.intp], whole: Any) -> Floats:
        """Those on its means, times how it changes with each."""
        return moved_by_means(self.of, self.gradient, counts, owner, whole)


@dataclass(frozen=True)
class CalibrationError(Statistic):
    """How far scores are from the rates they promise, on average over the bins of each group.

    Parameters
    ----------
    needs : str, default "bins"
        The kind of summary it reads.

    """

    needs: str = "bins"
    over = ""
    bounds = (0.0, 1.0)
    sums = frozenset({"hits", "score"})
    gaps = ("hits", "score")
    formula = "E|P(y = c | score bin, a) − E(score | score bin, a)|"

    def read(self, source: Tally) -> Table:
        """Its value in every cell and group."""
        gaps = self._gaps(source)
        error = ratio(abs(gaps).sum(axis=-2), source.table("group"))
        return Table(error[..., None, :], ("all",), source.groups)

    def influence(self, counts: Any, owner: NDArray[np.intp], whole: Any) -> Floats:
        """A part adds to the gap of a bin, or takes from it."""
        gaps, weight = self._gaps(whole), whole.table("group")
        value = np.nan_to_num(ratio(abs(gaps).sum(axis=-2), weight))
        added = (np.sign(gaps)[:, owner] * self._gaps(counts)).sum(axis=0)
        moved = ratio(added - value[owner] * counts.table("group"), weight[owner])
        return np.nan_to_num(moved)[None]

    def _gaps(self, source: Tally) -> Floats:
        return source.table("bin", "group", of="hits") - source.table("bin", "group", of="score")


@dataclass(frozen=True)
class Auroc(Statistic):
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
class F(Statistic):
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
    sweeps = True
    bounds = (0.0, 1.0)

    @property
    def formula(self) -> str:
        """Itself, in symbols."""
        return f"P({SYMBOLS[self.of]} ≤ t | a)"

    def read(self, source: Any) -> Table:  # noqa: ARG002
        """Its value in every cell and group."""
        raise InputTypeError("A distribution is swept, not read; ask a criterion for its value.")


def _moved(
    parts: tuple[Floats, Floats], every: tuple[Floats, Floats], owner: NDArray[np.intp]
) -> Floats:
    """(n − T d) / D, for parts n and d of what is above and below the line."""
    value = np.nan_to_num(ratio(*every))[..., owner]
    return np.nan_to_num(ratio(parts[0] - value * parts[1], every[1][..., owner]))


def moved_by_means(
    of: Sequence[str],
    gradient: Callable[..., tuple[Floats, ...]] | None,
    counts: Any,
    owner: NDArray[np.intp],
    whole: Any,
) -> Floats:
    """By how much parts of the groups (1, parts) move a function of the means of sums."""
    if gradient is None:
        return np.full((1, len(owner)), np.nan)
    means = [E(name) for name in of]
    slopes = gradient(*(np.nan_to_num(mean.read(whole).values[0]) for mean in means))
    moved = [
        slope[owner] * mean.influence(counts, owner, whole)
        for slope, mean in zip(slopes, means, strict=True)
    ]
    return np.asarray(np.sum(moved, axis=0))


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
    if len(moved) == 2:
        return cast(Floats, library.moveaxis(library.flip(moved, (0,)), 0, axis))

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
    if library is np:
        return np.where(np.eye(counts.shape[-2], dtype=bool)[..., None], 0, counts)
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
