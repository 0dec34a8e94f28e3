"""Hypergeometric tails: as SciPy has them, and to the last digits by whole numbers."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from evenhand._uncertainty.hypergeometric import hypergeometric_tails


def exact(seen, rows, hits, size):
    """Both tails, by counting all ways to deal; hits and size have the same part in it."""
    hits, size = sorted((hits, size), reverse=True)
    counts = range(max(0, size + hits - rows), min(size, hits) + 1)
    ways = {count: comb(hits, count) * comb(rows - hits, size - count) for count in counts}
    at_most = sum(number for count, number in ways.items() if count <= seen)
    at_least = sum(number for count, number in ways.items() if count >= seen)
    return [float(Fraction(part, comb(rows, size))) for part in (at_most, at_least)]


@st.composite
def designs(draw, most=400):
    rows = draw(st.integers(1, most))
    hits, size = (draw(st.integers(0, rows)) for _ in range(2))
    return draw(st.integers(-2, min(hits, size) + 2)), rows, hits, size


@given(designs())
def test_tails_are_those_of_counting_all_ways_to_deal(design):
    seen, rows, hits, size = design
    found = hypergeometric_tails([seen], rows, hits, [size])
    assert [float(tail[0]) for tail in found] == pytest.approx(
        exact(*design), rel=1e-12, abs=1e-299
    )


@pytest.mark.parametrize(
    "design",
    [
        (0, 10_000_000, 3, 1_000_000),  # few hits among many rows
        (3, 10_000_000, 3, 1_000_000),
        (9, 100_000, 10, 99_000),  # nearly all rows
        (9_901, 10_000, 9_990, 9_910),  # nearly all hits, so that few counts are possible
        (180, 4_000, 200, 2_000),  # a tail far beyond all draws
        (290, 3_000, 1_500, 300),
    ],
)
def test_tails_of_many_rows_are_exact(design):
    seen, rows, hits, size = design
    found = hypergeometric_tails([seen], rows, hits, [size])
    assert [float(tail[0]) for tail in found] == pytest.approx(exact(*design), rel=1e-12, abs=0)


def test_tails_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for rows in (2, 17, 300, 2_000):
        sizes, hits = rng.integers(0, rows + 1, 40), int(rng.integers(0, rows + 1))
        seen = np.clip(rng.integers(-1, rows + 2, 40), -1, np.minimum(sizes, hits) + 1)
        at_most, at_least = hypergeometric_tails(seen, rows, hits, sizes)
        law = hypergeom(rows, hits, sizes)
        np.testing.assert_allclose(at_most, law.cdf(seen), rtol=0, atol=1e-12)
        np.testing.assert_allclose(at_least, law.sf(seen - 1), rtol=0, atol=1e-12)


def test_more_groups_than_are_worked_on_at_once_have_each_its_own_tails(monkeypatch):
    sizes, seen = np.array([3, 50, 9, 1_000, 7]), np.array([1, 30, 0, 520, 7])
    whole = hypergeometric_tails(seen, 2_000, 1_000, sizes)
    monkeypatch.setattr("evenhand._uncertainty.hypergeometric.GROUPS_AT_ONCE", 2)
    monkeypatch.setattr("evenhand._uncertainty.hypergeometric.MOST_TERMS", 1)
    np.testing.assert_allclose(
        hypergeometric_tails(seen, 2_000, 1_000, sizes), whole, rtol=1e-13, atol=0
    )


def test_half_a_billion_rows_are_normal():
    rows, hits, size = 500_000_000, 250_000_000, 200_000_000
    spread = np.sqrt(size * 0.25 * (1 - size / rows))
    at_most, at_least = hypergeometric_tails([size / 2 - 2 * spread, size / 2], rows, hits, size)
    assert at_most[0] == pytest.approx(0.022750, abs=1e-5)  # of a table of the normal distribution
    assert at_least[1] == pytest.approx(0.5, abs=1e-4)
