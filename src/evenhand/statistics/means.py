"""Statistics of sums and of scores: expectations, errors, areas and distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._distributions.ranks import RankedScores, auroc_by_group
from evenhand._errors import InputTypeError
from evenhand._tally import Tally
from evenhand.statistics.forms import SYMBOLS, Floats, Table, ratio


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

    """

    of: tuple[str, ...]
    formula: str
    function: Callable[..., Floats]
    bounds: tuple[float, float]
    needs: str = "moments"
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
        error = ratio(np.abs(gaps).sum(axis=-2), source.table("group"))
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


def _spans(edges: tuple[Label, ...]) -> tuple[Label, ...]:
    return tuple(f"{low:g} to {high:g}" for low, high in pairwise(edges))
