"""What the page "Theory" says in numbers, computed. The doctests of that page call this file.

Run it for all of them at once: `python docs/evidence.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import MEASURES, gini, interval, mpd, pq, tally
from evenhand.measures import pq_bound_of_gini

sys.path.insert(0, str(Path(__file__).parents[1]))

from paper.findings.properties import PROPERTIES, counterexamples

Vector = NDArray[np.float64]
Measure = Callable[[Any], Any]

GOLDEN = (1 + 5**0.5) / 2
SMALL = 1e-12


def one_apart(d: int, share: float) -> Vector:
    """One entry holds `share` of the total, the others the rest in equal parts."""
    return np.append(share, np.full(d - 1, (1 - share) / (d - 1)))


def excess(d: int) -> float:
    """PQ(1, 2) − Gini of one entry apart from d − 1 equal ones, where it is most critical."""
    w = one_apart(d, GOLDEN**-2 + 1 / d)
    return float(pq(w) - gini(w))


def most_excess(d: int, tries: int = 200_000) -> float:
    """The largest PQ(1, 2) − Gini among random vectors, from nearly equal to nearly one-hot."""
    rng = np.random.default_rng(d)
    w = rng.gamma(10 ** rng.uniform(-2, 2, (tries, 1)), size=(tries, d)) + 1e-9
    return float((pq(w) - gini(w)).max())


def slack_of_bounds(d: int, tries: int = 200_000) -> dict[str, float]:
    """The least distance of random vectors from each corrected bound; never negative."""
    rng = np.random.default_rng(d)
    w = rng.gamma(10 ** rng.uniform(-1, 2, (tries, 1)), size=(tries, d)) + 1e-9
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    index, inequality, spread = pq(w), gini(w), mpd(w)
    room = {
        "PQ by Gini": pq_bound_of_gini(inequality, d) - index,
        "MPD by PQ": np.sqrt(2 * index * (2 - index)) - spread,
        "Gini by MPD": (d * d // 4) * spread / (d * w.sum(axis=1)) - inequality,
    }
    return {name: float(values.min()) for name, values in room.items()}


def transfers_that_raise(p: float, q: float, d: int = 3, tries: int = 20_000) -> float:
    """The share of random Robin Hood transfers between uniform entries that raise PQ(p, q)."""
    rng = np.random.default_rng(0)
    before = rng.random((tries, d))
    before[:, :2] = -np.sort(-before[:, :2], axis=1)
    moved = rng.uniform(0, 0.5, tries) * (before[:, 0] - before[:, 1])
    after = before.copy()
    after[:, 0] -= moved
    after[:, 1] += moved
    index = partial(pq, p=p, q=q, any_order=True)
    return float((index(after) > index(before) + SMALL).mean())


def many_small(p: float, q: float) -> tuple[float, float]:
    """PQ(p, q) before and after a transfer between two large entries among many small ones."""
    small = np.full(100, 1e-3)
    index = partial(pq, p=p, q=q, any_order=True)
    return float(index(np.append([1.5, 1.0], small))), float(index(np.append([1.3, 1.2], small)))


def breaks_of_convexity(measure: Measure, d: int = 5, tries: int = 200_000) -> int:
    """How many random pairs of rates have a midpoint worse than the worse of both."""
    one, two = np.random.default_rng(0).random((2, tries, d)) ** 2
    midpoint = measure((one + two) / 2)
    return int((midpoint > np.maximum(measure(one), measure(two)) + SMALL).sum())


def classes_halfway() -> tuple[Vector, Vector, Vector]:
    """Rates (classes, groups) of two classifiers, and of the one that tosses a coin for them."""
    one = np.array([[0.05, 0.05], [0.00, 0.90], [0.95, 0.05]])
    two = one[[1, 0, 2]]
    return one, (one + two) / 2, two


def noise(groups: int, rows: int, rate: float = 0.25, draws: int = 20_000) -> dict[str, float]:
    """What a model with the same rate everywhere shows on average, with `rows` in each group."""
    rng = np.random.default_rng(0)
    rates = rng.binomial(rows, rate, (draws, groups)) / rows
    return {name: float(MEASURES[name](rates).mean()) for name in ("mpd", "gini", "pq")}


def expected_noise(groups: int, rows: int, rate: float = 0.25) -> float:
    """The approximation of PQ(1, 2) on the page: half of (1 − 1/d)(1 − r) / (r n)."""
    return (1 - 1 / groups) * (1 - rate) / (2 * rate * rows)


def axioms(measure: Measure) -> list[bool]:
    """Whether each axiom held on every one of some hundred random vectors."""
    return [failing is None for failing in counterexamples(measure).values()]


def bootstrap_holds(groups: int, rows: int = 500, worlds: int = 100, resamples: int = 200) -> float:
    """How often the 95 % percentile bootstrap holds an MPD of 0.2: rates evenly from 0.2 to 0.4."""
    rng, rates = np.random.default_rng(groups), np.linspace(0.2, 0.4, groups)
    held = 0
    for seen in rng.binomial(rows, rates, (worlds, groups)) / rows:
        again = mpd(rng.binomial(rows, seen, (resamples, groups)) / rows)
        low, high = np.quantile(again, [0.025, 0.975])
        held += int(low <= 0.2 <= high)
    return held / worlds


def interval_holds(groups: int, rows: int = 500, repeats: int = 100) -> float:
    """How often `evenhand.interval` at 95% holds the same true MPD, from rows as above."""
    rng, rates = np.random.default_rng(groups), np.linspace(0.2, 0.4, groups)
    people, held = np.repeat(np.arange(groups), rows), 0
    for selected in rng.binomial(rows, rates, (repeats, groups)):
        decided = (np.tile(np.arange(rows), groups) < np.repeat(selected, rows)).astype(int)
        counts = tally(None, decided, sensitive_features=people)
        found = interval("statistical_parity", counts, measure="mpd")
        held += int(found.low <= 0.2 <= found.high)
    return held / repeats


def everything() -> Iterator[str]:
    """All of it, a line each."""
    for name, measure in MEASURES.items():
        yield f"axioms of {name}: {dict(zip(PROPERTIES, axioms(measure), strict=True))}"
        yield f"{name}: {breaks_of_convexity(measure)} midpoints worse than both ends"
    for d in (2, 3, 5, 9, 10, 11, 20, 100):
        yield f"d = {d}: PQ − Gini of one apart {excess(d):.6f}, of random {most_excess(d):.6f}"
        yield f"d = {d}: room under the bounds {slack_of_bounds(d)}"
    for p, q in ((2, 3), (1, 2), (0.5, 2)):
        yield f"PQ({p}, {q}): raised by {transfers_that_raise(p, q):.1%} of transfers"
    yield f"PQ(¼, ¾) among many small entries, before and after: {many_small(0.25, 0.75)}"
    for d in (2, 10, 50):
        held = bootstrap_holds(d), interval_holds(d)
        yield f"{d} groups: MPD held by the bootstrap {held[0]:.2f}, by our interval {held[1]:.2f}"
    yield f"mean over classes: {[float(np.mean(pq(rates))) for rates in classes_halfway()]}"
    for d, rows in ((2, 100), (10, 100), (50, 100), (2, 2500), (10, 500), (250, 20)):
        seen, formula = noise(d, rows), expected_noise(d, rows)
        yield f"noise of {d} groups of {rows}: {seen}, by formula PQ = {formula:.4f}"


if __name__ == "__main__":
    print(*everything(), sep="\n")
