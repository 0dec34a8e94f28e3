"""Statistics of scores: ranking, calibration and distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._data.areas import RankedScores, auroc_by_group
from evenhand._data.tallies import Tally
from evenhand._errors import InputTypeError
from evenhand.statistics.arithmetic import Floats, ratio
from evenhand.statistics.statistic import SYMBOLS, Statistic, Table


@dataclass(frozen=True)
class CalibrationError(Statistic):
    """Mean absolute gap between scores and outcome rates, over the bins of each group.

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
        """First-order influence of parts, which widen or narrow the gap of a bin."""
        gaps, weight = self._gaps(whole), whole.table("group")
        value = np.nan_to_num(ratio(abs(gaps).sum(axis=-2), weight))
        added = (np.sign(gaps)[:, owner] * self._gaps(counts)).sum(axis=0)
        influence = ratio(added - value[owner] * counts.table("group"), weight[owner])
        return np.nan_to_num(influence)[None]

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
        """The formula in symbols."""
        return f"P({SYMBOLS[self.of]} ≤ t | a)"

    def read(self, source: Any) -> Table:  # noqa: ARG002
        """Its value in every cell and group."""
        raise InputTypeError("A distribution is swept, not read; ask a criterion for its value.")
