"""Ranks and agreement of rankings, against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, kendalltau, rankdata

from evenhand._compare.ranking import kendall, ranks
from evenhand._uncertainty.homogeneity import holm

values = st.lists(st.integers(0, 6).map(lambda k: k / 7), min_size=3, max_size=9)
pairs = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, 5, (2, 7)) / 5
)


@pytest.mark.slow
@given(values)
def test_ranks_are_those_of_scipy(numbers):
    assert ranks(numbers).tolist() == rankdata(numbers).tolist()


@pytest.mark.slow
@given(pairs)
def test_kendall_is_that_of_scipy(pair):
    one, two = pair
    expected = kendalltau(one, two).statistic
    assert kendall(one, two) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_undefined_values_rank_last_and_share_their_rank():
    assert ranks([np.nan, 0.2, np.nan, 0.1]).tolist() == [3.5, 2, 3.5, 1]


def test_kendall_leaves_undefined_models_out():
    one, two = [0.1, np.nan, 0.3, 0.2, 0.5], [0.2, 0.9, 0.1, 0.4, np.nan]
    assert kendall(one, two) == pytest.approx(kendalltau([0.1, 0.3, 0.2], [0.2, 0.1, 0.4])[0])


def test_a_batch_is_ranked_row_by_row():
    many = np.random.default_rng(0).random((2, 50, 6))
    found = kendall(many[0], many[1])
    assert found == pytest.approx([kendalltau(a, b)[0] for a, b in zip(*many, strict=True)])
    assert (ranks(many[0]) == rankdata(many[0], axis=-1)).all()


def test_values_that_differ_by_rounding_are_tied():
    assert ranks([0.3, 0.1 + 0.2, 0.5]).tolist() == [1.5, 1.5, 3]


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_by_its_definition(p_values):
    """A claim stands at a level if it and all smaller ones pass level / how many are left."""
    m, found = len(p_values), holm(p_values)
    for level in (0.01, 0.05, 0.3):
        order = np.argsort(p_values, kind="stable")
        passed = [p_values[i] * (m - k) <= level for k, i in enumerate(order)]
        first = passed.index(False) if False in passed else m
        assert set(np.flatnonzero(found <= level)) == set(order[:first].tolist())


def test_holm_is_stricter_than_false_discovery_control():
    p_values = np.array([0.001, 0.011, 0.02, 0.4])
    assert (holm(p_values) >= false_discovery_control(p_values) - 1e-12).all()
