"""The six properties of sparsity measures (Hurley, Rickard 2009), looked for by machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.measures import MEASURES

Vector = NDArray[np.float64]
Measure = Callable[[Any], Any]
Property = Callable[[Measure, Vector, np.random.Generator], bool]
SMALL, TRIES = 1e-12, 400


def _robin_hood(measure: Measure, w: Vector, rng: np.random.Generator) -> bool:
    """A transfer from a larger to a smaller entry lowers it."""
    rich, poor = rng.permutation(len(w))[:2]
    step = rng.uniform(0.05, 0.45) * (w[rich] - w[poor])
    after = w.copy()
    after[[rich, poor]] += (-step, step)
    return bool(step <= 0 or measure(after) < measure(w) - SMALL)


def _scaling(measure: Measure, w: Vector, rng: np.random.Generator) -> bool:
    """A common factor leaves it as it is."""
    return bool(abs(measure(w * rng.uniform(0.1, 10)) - measure(w)) < SMALL)


def _rising_tide(measure: Measure, w: Vector, rng: np.random.Generator) -> bool:
    """The same amount added to all entries lowers it."""
    return bool(np.ptp(w) == 0 or measure(w + rng.uniform(0.1, 2)) < measure(w) - SMALL)


def _cloning(measure: Measure, w: Vector, _: np.random.Generator) -> bool:
    """All entries twice leave it as it is."""
    return bool(abs(measure(np.tile(w, 2)) - measure(w)) < SMALL)


def _bill_gates(measure: Measure, w: Vector, rng: np.random.Generator) -> bool:
    """Past some wealth, one entry that grows raises it."""
    rich, richer = w.copy(), w.copy()
    one = rng.integers(len(w))
    rich[one] += 10 * w.sum()
    richer[one] = rich[one] + rng.uniform(1, 5)
    return bool(measure(richer) > measure(rich) + SMALL)


def _babies(measure: Measure, w: Vector, _: np.random.Generator) -> bool:
    """A further entry of zero raises it."""
    return bool(measure(np.append(w, 0.0)) > measure(w) + SMALL)


PROPERTIES: dict[str, Property] = {
    "Robin Hood": _robin_hood,
    "Scaling": _scaling,
    "Rising Tide": _rising_tide,
    "Cloning": _cloning,
    "Bill Gates": _bill_gates,
    "Babies": _babies,
}


def counterexamples(measure: Measure, tries: int = TRIES) -> dict[str, Vector | None]:
    """For each property a vector where it fails, or None where none was found.

    >>> from evenhand import gini, mpd
    >>> [name for name, w in counterexamples(mpd).items() if w is None]
    ['Cloning', 'Bill Gates']
    >>> set(counterexamples(gini).values())
    {None}
    """
    found: dict[str, Vector | None] = {}
    for name, holds in PROPERTIES.items():
        rng = np.random.default_rng(7)
        failing = (w for w in _vectors(rng, tries) if not holds(measure, w, rng))
        found[name] = next(failing, None)
    return found


def _vectors(rng: np.random.Generator, tries: int) -> Any:
    """Some with zeros, some with ties; two entries at least are positive."""
    for _ in range(tries):
        w = rng.integers(0, 6, size=rng.integers(2, 8)) / 2 + rng.choice([0, 1]) * rng.random()
        if np.count_nonzero(w) >= 2:
            yield w


def checked() -> dict[str, dict[str, Vector | None]]:
    """Every measure of inequality in the registry; a ratio is one less the shortfall."""
    return {
        name: counterexamples(measure) for name, measure in MEASURES.items() if not measure.falls
    }
