"""The base of all statistics: their summary, values by cell and group, and influences of rows.

A statistic names the summary of the rows that it needs, reads a table (…, cells, groups) from it,
and prints its formula. A cell is a class, a pair of labels, a stratum or a score bin. A value that
is undefined in a group (0/0) is NaN there. Tables are NumPy arrays, or tensors with gradients.
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
STEP = 1e-6  # of a share, for numerical derivatives


@dataclass(frozen=True, eq=False)
class Table:
    """A statistic of each group in each cell.

    Parameters
    ----------
    values : ndarray of shape (…, cells, groups)
        The statistic; NaN where it is undefined. Batch axes come first.
    cells : tuple of labels
        Classes, pairs (given, class), strata or bins.
    groups : tuple of labels
        The groups.

    """

    values: Floats
    cells: tuple[Label, ...]
    groups: tuple[Label, ...]


class Shares(NamedTuple):
    """Hits and misses (…, cells, groups) of a rate, which is the share of hits.

    Misses are counted, not computed as a difference, which would round away a light miss.

    Parameters
    ----------
    hits, misses : ndarray of shape (…, cells, groups)
        Numbers of rows; with weights, their sums.

    """

    hits: Floats
    misses: Floats

    @property
    def rows(self) -> Floats:
        """All rows."""
        return self.hits + self.misses


class Noise(NamedTuple):
    """Sums over the rows of values v = Σ w a / Σ w b (cells, groups), for their variances.

    `squares` are Σ w² (a − v b)², `weight` is Σ w b, and `rows` the number of rows with a b.
    """

    squares: Any
    weight: Any
    rows: Any


@dataclass(frozen=True)
class Scale:
    """A variance-stabilizing scale of a function of several means.

    Parameters
    ----------
    at : callable
        The value on the scale, from the means.
    gradient : callable
        The derivatives of `at` by each mean, from the means.
    value : callable
        The statistic, from a value on the scale.
    products : tuple of tuple of str
        The sums of the products of each two of the means' columns: those of the first with all,
        then of the second with the later ones, and so on.

    """

    at: Callable[..., Floats]
    gradient: Callable[..., tuple[Floats, ...]]
    value: Callable[[Floats], Floats]
    products: tuple[tuple[str, ...], ...]


class Statistic:
    """A statistic that is compared between groups.

    A statistic of your own is a subclass with `needs`, `formula`, `over`, `bounds` and `read`. With
    `shares`, the hits and the misses that it counts, it needs no `read`, and has intervals, a test
    and `power`; if it `is_share` of hits itself, it can be watched. All other members have
    defaults.

    Attributes
    ----------
    needs : str
        The kind of summary that it reads: a name in `KINDS`.
    formula : str
        The formula in symbols.
    over : str
        The symbols of its cells: c for a class, k for a condition; empty if it has a single cell.
    bounds : tuple of float
        Least and greatest possible value.
    sweeps : bool
        Whether it is a distribution, compared at every cut point.

    """

    sweeps = False

    if TYPE_CHECKING:  # fields of some classes, which a property here would shadow

        @property
        def needs(self) -> str:
            """The kind of summary that it reads: a name in `KINDS`."""

        @property
        def formula(self) -> str:
            """The formula in symbols."""

        @property
        def over(self) -> str:
            """The symbols of its cells."""

        @property
        def bounds(self) -> tuple[float, float]:
            """Least and greatest possible value."""

    @property
    def hypothesis(self) -> str:
        """The hypothesis of a test: statistics that imply each other's equality share it."""
        return self.formula

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of a tally whose labels it counts, in addition to the group."""
        return ("y", "yhat")

    @property
    def conditions(self) -> tuple[str, ...]:
        """The axes it conditions on: the number of rows with each of their labels is fixed."""
        return ()

    @property
    def sums(self) -> frozenset[str]:
        """The named sums of a tally that it reads, in addition to counts."""
        return frozenset()

    @property
    def is_share(self) -> bool:
        """Whether it is the share of hits itself, and not another function of it."""
        return False

    @property
    def is_partition(self) -> bool:
        """Whether its cells partition the rows, so that they are tested as one table."""
        return False

    @property
    def hit_sum(self) -> str | None:
        """The named sum of its hits, where these are summed and not counted."""
        return None

    @property
    def mean_of(self) -> str | None:
        """The named sum whose mean by group it is, if it is one."""
        return None

    @property
    def means(self) -> tuple[str, ...]:
        """The named sums whose means it is a function of, the varying one first."""
        return ()

    @property
    def relative_to(self) -> str | None:
        """The named sum in the denominator of a ratio of two, in place of the rows' weight."""
        return None

    @property
    def scale(self) -> Scale | None:
        """The variance-stabilizing scale of a function of several means."""
        return None

    @property
    def gaps(self) -> tuple[str, str] | None:
        """The two named sums whose mean absolute difference over bins it is."""
        return None

    @property
    def parts(self) -> tuple[Statistic, ...]:
        """The statistics that it averages."""
        return ()

    def most(self, source: Any) -> float:  # noqa: ARG002
        """The greatest possible value for this summary."""
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
            The sum that holds the number of rows.

        Returns
        -------
        Shares or None
            In the order of the cells that `read` gives.

        """
        return None

    def of_share(self, share: Floats) -> Floats:
        """Its value as a nondecreasing function of the share of hits.

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
        """The strata of cells that are read from the same rows: one, unless there is a condition.

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
        """The numerator and denominator (cells, groups), if it is a ratio of sums over rows.

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
        """First-order influence of parts of the groups on its values.

        Parameters
        ----------
        counts : Tally
            The summary that it `needs`, in which every part is a group.
        owner : ndarray of int
            The index of each part's group.
        whole : Tally
            The summary of the groups.

        Returns
        -------
        ndarray of shape (cells, parts)
            It adds up to 0 over the parts of a group; for a ratio N / D it is (n − T d) / D. NaN
            where unknown.

        """
        totals, parts = self.fraction(whole), self.fraction(counts)
        if totals is None or parts is None:
            return self._linked_influence(counts, owner, whole)
        return _moved(parts, totals, owner)

    def _linked_influence(self, counts: Any, owner: NDArray[np.intp], whole: Any) -> Floats:
        """The influence on the share of hits times the value's derivative, if it is a function."""
        totals, parts = self.shares(whole), self.shares(counts)
        if totals is None or parts is None:
            return np.full((len(self.read(whole).cells), len(owner)), np.nan)
        share = np.nan_to_num(ratio(totals.hits, totals.rows))
        low, high = np.maximum(share - STEP, 0.0), np.minimum(share + STEP, 1.0)
        with np.errstate(all="ignore"):  # the odds of 1 are infinite
            slope = (self.of_share(high) - self.of_share(low)) / (high - low)
        influence = _moved((parts.hits, parts.rows), (totals.hits, totals.rows), owner)
        return np.asarray(influence * np.where(np.isfinite(slope), slope, 0.0)[..., owner])

    def noise(self, counts: Any, values: Any) -> Noise:  # noqa: ARG002
        """The noise that single rows of a batch add to its values.

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
    parts: tuple[Floats, Floats], totals: tuple[Floats, Floats], owner: NDArray[np.intp]
) -> Floats:
    """(n − T d) / D, for parts n and d of the numerator and denominator."""
    value = np.nan_to_num(ratio(*totals))[..., owner]
    return np.nan_to_num(ratio(parts[0] - value * parts[1], totals[1][..., owner]))
