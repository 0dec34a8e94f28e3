"""The paper's theorems, in the form in which they are true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand import measures as bounds
from evenhand.measures import gini, mpd, pq

positive = arrays(
    np.float64, st.integers(2, 15), elements=st.floats(0.001, 100, allow_subnormal=False)
)


def one_apart(d, share):
    """One entry holds `share` of the total, the others the rest in equal parts."""
    return np.append(np.full(d - 1, (1 - share) / (d - 1)), share)


@pytest.mark.parametrize("d", [2, 3, 10, 100])
def test_theorem_3_1_a_single_entry_attains_the_maximum(d):
    w = np.eye(d)[0]
    assert pq(w) == pytest.approx(bounds.greatest_pq(d))
    assert pq(w, 0.5, 3) == pytest.approx(bounds.greatest_pq(d, 0.5, 3))
    assert gini(w) == pytest.approx(bounds.greatest_gini(d))
    everyone = np.random.default_rng(0).dirichlet(np.full(d, 0.1), size=500)
    assert (pq(everyone) <= bounds.greatest_pq(d) + 1e-12).all()
    assert (gini(everyone) <= bounds.greatest_gini(d) + 1e-12).all()


@pytest.mark.slow
@given(positive)
def test_theorem_3_2_only_equal_entries_give_zero(w):
    assert pq(np.full_like(w, w[0])) == 0
    if np.ptp(w) > 1e-6 * w.max():
        assert pq(w) > 0


@pytest.mark.slow
@given(positive)
def test_theorem_3_3_pq_is_half_the_squared_distance_to_the_uniform_direction(w):
    distance = np.linalg.norm(w / np.linalg.norm(w) - len(w) ** -0.5)
    assert distance == pytest.approx(np.sqrt(2 * pq(w)), abs=1e-7)


@pytest.mark.slow
@given(positive, st.floats(0.01, 0.99))
def test_theorem_3_4_sharing_the_largest_entry_lowers_every_measure(w, share):
    w = np.sort(w)[::-1]
    if w[0] - w[1] < 1e-3:
        return
    most = (w[0] - w[1]) * (len(w) - 1) / len(w)  # the largest gift that leaves it the largest
    gift = share * most
    after = np.append(w[0] - gift, w[1:] + gift / (len(w) - 1))
    assert all(measure(after) < measure(w) for measure in (pq, gini, mpd))


@pytest.mark.slow
@given(positive)
def test_theorem_3_5_corrected_bounds(w):
    d, slack = len(w), 1 + 1e-9
    assert mpd(w) <= bounds.mpd_bound_of_pq(pq(w), np.linalg.norm(w)) * slack + 1e-12
    assert gini(w) <= bounds.gini_bound_of_mpd(mpd(w), w.sum(), d) * slack + 1e-12
    assert pq(w) <= bounds.pq_bound_of_gini(gini(w), d) * slack + 1e-15
    low, high = bounds.cv_range_of_gini(gini(w), d)
    assert low / slack - 1e-9 <= w.std() / w.mean() <= high * slack + 1e-9


@pytest.mark.parametrize("d", [2, 3, 9, 10, 100])
def test_theorem_3_5_corrected_bounds_are_attained(d):
    apart = one_apart(d, 0.7)
    assert pq(apart) == pytest.approx(bounds.pq_bound_of_gini(gini(apart), d))
    assert bounds.cv_range_of_gini(gini(apart), d)[1] == pytest.approx(apart.std() / apart.mean())
    even = np.arange(1.0, d + 1)
    for w in (even, np.maximum(even - d / 3, 0), np.maximum(even - d + 0.5, 0)):
        assert bounds.cv_range_of_gini(gini(w), d)[0] == pytest.approx(w.std() / w.mean())
    middle = np.append([1.0, 3.0], np.full(d - 2, 2.0))
    assert mpd(middle) == pytest.approx(bounds.mpd_bound_of_pq(pq(middle), np.linalg.norm(middle)))
    levels = np.repeat([1.0, 2.0], [d - d // 2, d // 2])
    total = levels.sum()
    assert gini(levels) == pytest.approx(bounds.gini_bound_of_mpd(mpd(levels), total, d))


def test_theorem_3_5_pq_exceeds_gini_at_100_groups():
    w = one_apart(100, 0.3)
    assert pq(w) == pytest.approx(0.675, abs=5e-4)
    assert gini(w) == pytest.approx(0.290, abs=5e-4)


@pytest.mark.parametrize("d", range(2, 14))
def test_pq_is_at_most_gini_exactly_up_to_nine_groups(d):
    """The bound is attained, so searching it alone is a proof up to the grid."""
    index = np.linspace(0, bounds.greatest_gini(d), 200_001)[1:]
    holds = bool((bounds.pq_bound_of_gini(index, d) <= index + 1e-12).all())
    assert holds == (d <= 9)


def test_theorem_3_6_the_middle_entries_decide_between_equal_extremes():
    first, second = np.array([0.5, 0.5]), np.array([0.1, 0.7])
    assert (first**2).sum() == pytest.approx((second**2).sum())
    extremes = np.array([0.05, 0.95])
    assert mpd(np.append(extremes, first)) == mpd(np.append(extremes, second))
    assert pq(np.append(extremes, first)) < pq(np.append(extremes, second))
    assert pq(first) < pq(second)


@pytest.mark.slow
@given(positive)
def test_pq_is_the_coefficient_of_variation_in_disguise(w):
    cv = w.std() / w.mean()
    assert bounds.pq_of_cv(cv) == pytest.approx(pq(w), abs=1e-12)
    assert bounds.cv_of_pq(pq(w)) == pytest.approx(cv, abs=1e-6)


def test_two_groups_have_a_cv_of_twice_their_gini():
    w = np.array([0.2, 0.7])
    assert w.std() / w.mean() == pytest.approx(2 * gini(w))
    low, high = bounds.cv_range_of_gini(gini(w), 2)
    assert low == pytest.approx(high)
