"""What a statistic is: what it needs, its value by cell and group, and how rows move it.

A statistic names what it needs to know of the rows, reads a table (…, cells, groups) from it, and
prints its formula. A cell is a class, a pair of labels, a stratum or a score bin. A quantity that
was not observed in a group (0/0) is NaN there. Tables are NumPy's, or tensors with gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._errors import InputError
from evenhand.statistics.arithmetic import Floats, ratio

SYMBOLS = {"y": "y", "yhat": "ŷ", "stratum": "s", "bin": "score bin", "hits": "y = c"}
SYMBOLS |= {"error": "ŷ − y", "top": "place ≤ k", "first": "place = 1"}
SYMBOLS |= {"gain": "exposure · relevance", "won": "pairs won"}
STEP = 1e-6  # of a share, to see how a function of it follows


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
    sweeps : bool
        Whether it is a distribution, compared at every cut point.

    """

    sweeps = False

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

    def most(self, source: Any) -> float:  # noqa: ARG002
        """The greatest value that is possible, where this was counted."""
        return self.bounds[1]

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


def _moved(
    parts: tuple[Floats, Floats], every: tuple[Floats, Floats], owner: NDArray[np.intp]
) -> Floats:
    """(n − T d) / D, for parts n and d of what is above and below the line."""
    value = np.nan_to_num(ratio(*every))[..., owner]
    return np.nan_to_num(ratio(parts[0] - value * parts[1], every[1][..., owner]))
