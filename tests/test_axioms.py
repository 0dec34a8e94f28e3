"""Every measure obeys exactly the axioms listed for it: the rest must fail somewhere."""

from functools import partial

import numpy as np
import pytest

from evenhand.measures import MEASURES, pq, ratio

TOLERANCE = 1e-12


def robin_hood(measure, w, rng):
    """A transfer from a larger to a smaller entry lowers it."""
    rich, poor = rng.permutation(len(w))[:2]
    if w[rich] <= w[poor]:
        return True
    after = w.copy()
    moved = rng.uniform(0.05, 0.45) * (w[rich] - w[poor])
    after[rich] -= moved
    after[poor] += moved
    return measure(after) < measure(w) - TOLERANCE


def scaling(measure, w, rng):
    return abs(measure(w * rng.uniform(0.1, 10)) - measure(w)) < TOLERANCE


def rising_tide(measure, w, rng):
    return measure(w + rng.uniform(0.1, 2)) < measure(w) - TOLERANCE or np.ptp(w) == 0


def cloning(measure, w, rng):
    return abs(measure(np.concatenate([w, w])) - measure(w)) < TOLERANCE


def bill_gates(measure, w, rng):
    """Past some wealth, one entry that grows raises it."""
    rich, richer = w.copy(), w.copy()
    chosen = rng.integers(len(w))
    rich[chosen] += 10 * w.sum()
    richer[chosen] += 10 * w.sum() + rng.uniform(1, 5)
    return measure(richer) > measure(rich) + TOLERANCE


def babies(measure, w, rng):
    return measure(np.append(w, 0.0)) > measure(w) + TOLERANCE


AXIOMS = [robin_hood, scaling, rising_tide, cloning, bill_gates, babies]
ALL = {axiom.__name__ for axiom in AXIOMS}
OBEYED = {
    "mpd": {"cloning", "bill_gates"},
    "gini": ALL,
    "pq": ALL,
    "shortfall": {"scaling", "rising_tide", "cloning"},
    "ratio": {"scaling", "rising_tide", "cloning"},
    "pq(½, 2)": ALL,
    "pq(1, 3)": ALL,
    "pq(½, 1)": ALL,
}
CASES = {
    **MEASURES,
    "ratio": lambda w: 1 - ratio(w),  # 1 is equal, so that inequality is what is missing
    "pq(½, 2)": partial(pq, p=0.5, q=2),
    "pq(1, 3)": partial(pq, p=1, q=3),
    "pq(½, 1)": partial(pq, p=0.5, q=1),
}


def vectors(rng, count=400):
    """Vectors of two to seven entries, some with zeros and ties.

    Two entries at least are positive: a single one is the maximum already, and cannot get worse.
    """
    for _ in range(count):
        w = rng.integers(0, 6, size=rng.integers(2, 8)) / 2 + rng.choice([0, 1]) * rng.random()
        if np.count_nonzero(w) >= 2:
            yield w


@pytest.mark.slow
@pytest.mark.parametrize("axiom", AXIOMS, ids=lambda axiom: axiom.__name__)
@pytest.mark.parametrize("name", CASES)
def test_measure_obeys_exactly_its_axioms(name, axiom):
    rng = np.random.default_rng(7)
    held = [bool(axiom(CASES[name], w, rng)) for w in vectors(rng)]
    assert all(held) == (axiom.__name__ in OBEYED[name])


def test_every_registered_measure_has_its_axioms_listed():
    assert set(MEASURES) <= set(OBEYED)


def test_orders_that_break_robin_hood_are_refused_unless_asked_for():
    with pytest.raises(ValueError, match="any_order=True"):
        pq([1.0, 2.0], p=2, q=3)
    rng = np.random.default_rng(0)
    steep = partial(pq, p=2, q=3, any_order=True)
    held = [bool(robin_hood(steep, rng.random(3), rng)) for _ in range(400)]
    assert not all(held)


@pytest.mark.parametrize(("p", "q"), [(2, 1), (1, 1), (0, 2), (-1, 2)])
def test_orders_must_be_positive_and_increasing(p, q):
    with pytest.raises(ValueError, match="0 < p < q"):
        pq([1.0, 2.0], p=p, q=q, any_order=True)
