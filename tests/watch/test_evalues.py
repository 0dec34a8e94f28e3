"""E-values against all groups alike: exact where counts can be enumerated, simulated elsewhere."""

from itertools import product
from math import comb, prod

import numpy as np
import pytest
from scipy.stats import hypergeom

from evenhand.watch.evalues import (
    Excess,
    against_later,
    against_others,
    group_weights,
    log_against_equality,
    log_one_differs,
)

TILTS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)


def draws(sizes, hits):
    """Every way that hits fall on groups, and how likely it is where groups are alike."""
    total = comb(sum(sizes), hits)
    for ways in product(*(range(size + 1) for size in sizes)):
        if sum(ways) == hits:
            chance = prod(comb(size, way) for size, way in zip(sizes, ways, strict=True)) / total
            yield np.array(ways, dtype=float), chance


@pytest.mark.parametrize("rows", [3, 10, 41])
def test_the_bound_on_the_moment_generating_function_holds(rows):
    for hits, mine in product(range(1, rows, 3), range(1, rows, 3)):
        at = np.arange(mine + 1)
        chances = hypergeom.pmf(at, rows, hits, mine)
        found = against_others(
            np.stack([at, hits - at], axis=-1).astype(float),
            np.broadcast_to([float(mine), float(rows - mine)], (len(at), 2)),
        )
        beyond, variance, third = (part[:, 0] for part in found)
        assert np.allclose(variance, (chances * beyond**2).sum())
        assert np.allclose(third, (chances * beyond**3).sum())
        for tilt in (*TILTS, *(-tilt for tilt in TILTS)):
            exact = np.log((chances * np.exp(tilt * beyond)).sum())
            bound = variance[0] * (np.cosh(tilt) - 1) + third[0] * (np.sinh(tilt) - tilt)
            assert exact <= bound + 1e-9


@pytest.mark.parametrize("hits", [1, 4, 7])
@pytest.mark.parametrize("sizes", [(4, 5), (2, 3, 5), (3, 3, 3, 3)])
def test_an_e_value_is_at_most_one_on_average_where_groups_are_alike(sizes, hits):
    weights = group_weights(np.zeros(len(sizes), dtype=int))
    rows = np.array(sizes, dtype=float)
    mean = sum(
        chance
        * np.exp(
            log_against_equality(against_others(ways, rows), against_later(ways, rows), weights)
        )
        for ways, chance in draws(sizes, hits)
    )
    assert mean <= 1 + 1e-12


def test_two_parts_of_different_rates_are_no_evidence():
    weights, sizes = group_weights(np.zeros(2, dtype=int)), (4, 5)
    rows, mean = np.array(sizes, dtype=float), 0.0
    for one, chance in draws(sizes, 1):
        for two, other in draws(sizes, 7):
            single, joint = (
                Excess(*(a + b for a, b in zip(how(one, rows), how(two, rows), strict=True)))
                for how in (against_others, against_later)
            )
            mean += chance * other * np.exp(log_against_equality(single, joint, weights))
    assert mean <= 1 + 1e-12


def test_evidence_of_two_groups_is_the_same_from_both_sides():
    hits, sizes = np.array([30.0, 45.0]), np.array([100.0, 90.0])
    one, two = log_one_differs(against_others(hits, sizes))
    assert one == pytest.approx(two)


def test_a_part_with_one_group_or_no_hits_says_nothing():
    weights = group_weights(np.zeros(2, dtype=int))
    for hits, sizes in (([3.0, 0.0], [9.0, 0.0]), ([0.0, 0.0], [9.0, 4.0])):
        found = (how(np.array(hits), np.array(sizes)) for how in (against_others, against_later))
        assert log_against_equality(*found, weights) == pytest.approx(0.0, abs=1e-12)


def alarms(rates, rows, looks, streams, seed):
    """The first look at which each stream alarms; infinity where none does."""
    rng = np.random.default_rng(seed)
    groups = len(rates)
    sums = [[np.zeros((streams, groups)) for _ in range(3)] for _ in range(2)]
    weights = group_weights(np.zeros(groups, dtype=int))
    first = np.full(streams, np.inf)
    sizes = np.full((streams, groups), float(rows))
    for look in range(1, looks + 1):
        hits = rng.binomial(rows, rates, size=(streams, groups)).astype(float)
        for total, how in zip(sums, (against_others, against_later), strict=True):
            for part, more in zip(total, how(hits, sizes), strict=True):
                part += more
        found = log_against_equality(Excess(*sums[0]), Excess(*sums[1]), weights)
        first = np.where((found >= np.log(20)) & np.isinf(first), look, first)
    return first


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "rate"), [(2, 0.3), (10, 0.02), (50, 0.3)])
def test_fair_streams_hardly_ever_alarm(groups, rate):
    first = alarms(np.full(groups, rate), 10, 100, 100, seed=groups)
    assert np.isfinite(first).mean() <= 0.05


@pytest.mark.slow
def test_a_gap_of_a_tenth_is_found_in_about_four_hundred_rows_of_each_group():
    first = alarms(np.array([0.3, 0.4]), 10, 100, 150, seed=0)
    assert 10 * np.median(first) <= 450


def test_late_groups_have_less_weight_and_all_weights_add_up_to_less_than_one():
    weights = group_weights(np.array([0, 1, 0, 2, 3]))
    assert weights[0] > weights[1] > weights[3] > weights[4]
    assert weights.sum() < 1
