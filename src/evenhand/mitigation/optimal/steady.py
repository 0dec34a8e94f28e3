"""Rules that use a score only as far as a group has enough rows to estimate its rate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand.mitigation.optimal.scores import Codes, Floats, Population, Response


@dataclass(frozen=True, eq=False)
class Steady:
    """A population some of whose decisions are random, whatever the score.

    The rate of a threshold in a group of n rows is known to √(r (1 − r) / n); that of a lot is
    known. If a share λ of a group's decisions are made at random, its rate is known to (1 − λ) of
    that. `lot` is λ for each group: a pool of its own decides them.
    """

    rows: Population
    lot: Floats

    @property
    def rising(self) -> bool:
        """Whether the rows' rules are rising; random decisions prefer no one."""
        return self.rows.rising

    def unrestricted(self) -> Steady:
        """The same rows, with rules of any kind."""
        return replace(self, rows=self.rows.unrestricted())

    @property
    def mass(self) -> Floats:
        """The share of rows by group and class."""
        return self.rows.mass

    @property
    def pools(self) -> int:
        """The pools of the rows, and one for each group with random decisions."""
        return self.rows.pools + len(self._drawn)

    @property
    def owner(self) -> Codes:
        """The groups in order, then those with random decisions."""
        return np.concatenate([np.arange(self.rows.pools), self._drawn])

    @property
    def part(self) -> Floats:
        """The share of its owner's decisions that each pool makes."""
        return np.concatenate([1 - self.lot, self.lot[self._drawn]])

    def respond(self, prices: Floats) -> Response:
        """The rows' best rules, and for random decisions the class that is best for all."""
        by_class = np.einsum("ak,aky->ay", self.mass, prices)
        decided = by_class[self._drawn].argmin(axis=1)
        ours, classes = self._scaled(self.rows.respond(prices)), prices.shape[-1]
        matrices = -np.ones((1, ours.matrices.shape[1], 1)) * np.eye(classes)[decided][:, None, :]
        confusion = np.einsum("ak,ay->aky", self.mass[self._drawn], np.eye(classes)[decided])
        confusion *= self.lot[self._drawn][:, None, None]
        pool = self.rows.pools + np.arange(len(decided))
        return Response(
            np.concatenate([ours.pool, pool]),
            np.concatenate([ours.matrices, matrices]),
            np.concatenate([ours.confusion, confusion]),
        )

    def guesses(self) -> Response:
        """The guesses of the rows."""
        return self._scaled(self.rows.guesses())

    @property
    def _drawn(self) -> Codes:
        return np.flatnonzero(self.lot > 0)

    def _scaled(self, response: Response) -> Response:
        pool, matrices, confusion = response
        return Response(pool, matrices, confusion * (1 - self.lot)[pool][:, None, None])


def lot_share(size: Floats, rate: float, error: float) -> Floats:
    """The least share of random decisions that limits the standard errors of groups' rates.

    >>> lot_share(np.array([9.0, 100.0]), rate=0.5, error=0.05)
    array([0.7, 0. ])
    """
    errors = np.sqrt(rate * (1 - rate) / np.maximum(size, 1))
    if error <= 0 or not errors.any():
        return np.where(errors > error, 1.0, 0.0)
    return np.clip(1 - error / errors, 0, 1)
