"""The fitting rows as the optimiser sees them: prices in, best decisions and their confusion out.

A price matrix says what it costs to decide y for a row of true class k; the best response takes for
each row the class of least expected price. Rows of different groups do not interact, so each pool
of rows (a group; or everybody, where the group is not known) answers for itself.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class Response(NamedTuple):
    """Rules: whose, their prices (features, classes), and the confusion of deciding by them."""

    pool: Codes
    matrices: Floats
    confusion: Floats


class Population(Protocol):
    """Anything that answers prices with decisions."""

    @property
    def mass(self) -> Floats:
        """The share of rows by group and class, under the model."""

    @property
    def pools(self) -> int:
        """How many pools decide for themselves."""

    def respond(self, prices: Floats) -> Response:
        """The best decisions at prices (groups, true class, decision): a rule for each pool."""

    def guesses(self) -> Response:
        """Some rules that may turn out useful, and cost little to try."""
