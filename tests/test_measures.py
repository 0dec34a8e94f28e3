"""The measures against their definitions, at their edges, and along batch axes."""

import copy
import pickle
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime

import evenhand as eh
from evenhand.measures import MEASURES, exponential, resolve, transformed

vectors = arrays(np.float64, st.integers(2, 12), elements=st.floats(0, 1e3, allow_subnormal=False))


def gini_by_definition(w):
    return sum(abs(a - b) for a in w for b in w) / (2 * len(w) * sum(w))


def pq_by_definition(w, p, q):
    norm = {k: sum(x**k for x in w) ** (1 / k) for k in (p, q)}
    return 1 - len(w) ** (1 / q - 1 / p) * norm[p] / norm[q]


@pytest.mark.slow
@given(vectors)
def test_gini_is_the_double_sum(w):
    if w.sum() > 1e-3:
        assert eh.gini(w) == pytest.approx(gini_by_definition(w.tolist()), abs=1e-9)


@pytest.mark.parametrize(("p", "q"), [(1, 2), (0.5, 2), (1, 3), (0.3, 1), (0.9, 1.1)])
def test_pq_is_the_ratio_of_norms(p, q):
    rng = np.random.default_rng(1)
    for w in rng.random((50, 7)):
        assert eh.pq(w, p, q) == pytest.approx(pq_by_definition(w.tolist(), p, q), abs=1e-12)


@pytest.mark.slow
@given(vectors)
def test_mpd_is_the_largest_pairwise_difference(w):
    assert eh.mpd(w) == max(abs(a - b) for a in w for b in w)


@pytest.mark.slow
@given(vectors)
def test_shortfall_is_one_minus_min_over_max(w):
    if w.max() > 0:
        assert eh.measures.shortfall(w) == pytest.approx(1 - w.min() / w.max(), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_what_is_known_of_our_measures_is_what_doubling_shows(measure):
    assert resolve(measure).is_relative == resolve(lambda values: measure(values)).is_relative


def test_a_small_measure_that_doubles_with_its_entries_is_not_scale_free():
    assert not resolve(lambda values: 1e-6 * np.std(values, axis=-1)).is_relative
    assert resolve(lambda values: 1e-6 * np.std(values) / np.mean(values)).is_relative


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
class TestEveryMeasure:
    def test_is_exactly_zero_for_equal_entries_and_a_ratio_one(self, measure):
        assert measure([0.1] * 3) == int(resolve(measure).falls)
        assert measure([1 / 3] * 7) == int(resolve(measure).falls)

    def test_takes_all_zeros_for_equal(self, measure):
        assert measure([0.0, 0.0, 0.0]) == int(resolve(measure).falls)

    def test_works_along_the_last_axis_of_a_batch(self, measure):
        batch = np.random.default_rng(2).random((3, 4, 5))
        assert measure(batch).shape == (3, 4)
        assert measure(batch)[1, 2] == pytest.approx(measure(batch[1, 2]), abs=1e-15)

    def test_leaves_out_what_was_not_observed(self, measure):
        w = np.random.default_rng(3).random((6, 5))
        holes = w.copy()
        holes[:, 2] = np.nan
        expected = measure(np.delete(w, 2, axis=-1))
        np.testing.assert_allclose(measure(holes), expected, atol=1e-15)

    def test_of_fewer_than_two_observed_entries_is_nan(self, measure):
        assert np.isnan(measure([0.3, np.nan]))
        assert np.isnan(measure([np.nan, np.nan]))
        assert np.isnan(measure([0.3]))

    def test_does_not_change_its_input(self, measure):
        w = np.array([3.0, 1.0, 2.0])
        measure(w)
        assert w.tolist() == [3.0, 1.0, 2.0]

    def test_refuses_infinite_values(self, measure):
        with pytest.raises(ValueError, match="finite"):
            measure([0.1, np.inf])

    def test_refuses_an_empty_vector(self, measure):
        with pytest.raises(ValueError, match="vector of groups"):
            measure([])

    def test_does_not_overflow(self, measure):
        assert measure(np.array([1e300, 2e300, 3e300])) == pytest.approx(
            measure(np.array([1.0, 2.0, 3.0])) * (1 if resolve(measure).is_relative else 1e300)
        )


@pytest.mark.parametrize("measure", [eh.gini, eh.pq, eh.measures.shortfall])
def test_scale_free_measures_refuse_negative_values_and_name_the_way_out(measure):
    with pytest.raises(ValueError, match=r"smallest is -0\.5.*transform=\"exp\""):
        measure([0.2, -0.5])


def test_pq_keeps_its_digits_for_nearly_equal_entries():
    spread = 1e-9
    w = np.array([1 - spread, 1 + spread])
    assert eh.pq(w) == pytest.approx(spread**2 / 2, rel=1e-6, abs=0)


class TestTransform:
    def test_is_the_exponential_for_scale_free_measures(self):
        w = np.array([-0.3, 0.2, 1.5])
        for measure in (eh.gini, eh.pq, partial(eh.pq, p=0.5, q=3)):
            assert transformed(measure, "exp")(w) == pytest.approx(measure(np.exp(w)), abs=1e-14)
        assert eh.gini(w, transform="exp") == pytest.approx(eh.gini(np.exp(w)), abs=1e-14)
        assert eh.pq(w, transform="exp") == pytest.approx(eh.pq(np.exp(w)), abs=1e-14)

    def test_never_touches_mpd(self):
        assert transformed(eh.mpd, "exp") is eh.mpd

    def test_does_not_overflow(self):
        assert eh.pq([5000.0, 5000.0 + np.log(2)], transform="exp") == pytest.approx(
            eh.pq([1.0, 2.0])
        )

    def test_keeps_what_was_not_observed(self):
        assert np.isnan(exponential(np.array([1.0, np.nan]))).tolist() == [False, True]

    def test_of_another_name_is_refused(self):
        with pytest.raises(ValueError, match="no transform 'log'"):
            eh.gini([1.0, 2.0], transform="log")


def test_measures_are_found_by_name_or_taken_as_functions():
    assert resolve("gini") is resolve(eh.gini) is MEASURES["gini"]
    assert resolve(np.std).function is np.std
    with pytest.raises(ValueError, match="no measure 'theil'"):
        resolve("theil")


@pytest.mark.parametrize("name", ["mpd", "gini", "pq", "shortfall", "cv"])
def test_a_gradient_is_that_of_finite_differences(name):
    measure = MEASURES.get(name) or resolve(lambda x: x.std(axis=-1) / x.mean(axis=-1))
    values = np.array([[0.3, 0.9, 0.5, 0.7], [2.0, 1.0, 3.0, 0.5]])
    expected = [approx_fprime(row, lambda x: float(measure(x)), 1e-7) for row in values]
    np.testing.assert_allclose(measure.gradient(values), expected, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.2, 0.9), (0.0, np.inf)])
def test_no_vector_is_more_unequal_than_the_greatest_value(name, bounds):
    measure, top = MEASURES[name], min(bounds[1], 7.0)
    corners = np.array(list(product((bounds[0], top), repeat=5)))[1:]
    worst = measure(corners).min() if measure.falls else measure(corners).max()
    greatest = measure.greatest(bounds, None, 5)
    if np.isfinite(bounds[1]):
        assert worst == pytest.approx(greatest)
    else:
        assert not measure.written(worst) > measure.written(greatest) + 1e-12


@pytest.mark.parametrize("name", MEASURES)
def test_the_shares_of_the_groups_add_up_to_one(name):
    shares = MEASURES[name].shares(np.array([0.1, np.nan, 0.4, 0.1, 0.3]))
    assert np.isnan(shares[1])
    assert np.nansum(shares) == pytest.approx(1.0)
    assert MEASURES[name].shares(np.full(3, 0.2)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_survives_pickling_and_copying(name):
    assert pickle.loads(pickle.dumps(MEASURES[name])) == MEASURES[name]
    assert copy.deepcopy(MEASURES[name]) == MEASURES[name]
