"""Distributions by group, and measures along them, against brute force and SciPy."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ks_2samp, wasserstein_distance
from sklearn.metrics import roc_auc_score

import evenhand as eh
from evenhand import _sweep
from evenhand._data.areas import auroc_by_group
from evenhand._data.distributions import ascending, distribution
from evenhand.measures import resolve, transformed


def supremum(scores, measure, **options):
    return _sweep.supremum(scores, resolve(measure), **options)


def integral(scores, measure, **options):
    return _sweep.integral(scores, resolve(measure), **options)


any_float = st.floats(allow_nan=False, allow_infinity=False)
MEASURES = {
    **{name: measure for name, measure in eh.MEASURES.items() if name != "ratio"},
    "pq(½, 3)": partial(eh.pq, p=0.5, q=3),
    "pq(0.9, 1.1)": partial(eh.pq, p=0.9, q=1.1),
    "standard deviation": lambda w: np.std(w, axis=-1),
}


def brute_curve(values, group, weight, measure):
    """S of the CDFs at every distinct value, all laid out."""
    cuts, names = np.unique(values), np.unique(group)
    below = values[None, :] <= cuts[:, None]
    mass = weight[:, None] * (group[:, None] == names)
    return cuts, measure(below @ mass / mass.sum(axis=0))


@st.composite
def scored(draw):
    """Values with and without ties, in up to twelve groups, with and without weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, groups = draw(st.integers(4, 90)), draw(st.integers(2, 12))
    values = rng.normal(size=rows).round(draw(st.sampled_from([0, 1, 12])))
    group = np.append([0, 1], rng.integers(0, groups, rows - 2))
    return values, group, rng.random(rows) + 0.1 if draw(st.booleans()) else np.ones(rows)


@pytest.mark.slow
@pytest.mark.parametrize("transform", [None, "exp"])
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
@given(data=st.data())
def test_supremum_and_integral_are_those_of_the_definition(measure, transform, data):
    values, group, weight = data.draw(scored())
    scores = distribution(values, sensitive_features=group, sample_weight=weight)
    cuts, curve = brute_curve(values, group, weight, transformed(measure, transform))
    found = supremum(scores, measure, transform=transform)
    assert found.value == pytest.approx(curve.max(), abs=1e-12)
    assert curve[np.searchsorted(cuts, found.at)] == pytest.approx(curve.max(), abs=1e-12)
    area = integral(scores, measure, transform=transform)
    assert area == pytest.approx(curve[:-1] @ np.diff(cuts), abs=1e-10)


@pytest.mark.slow
@given(data=st.data(), tau=st.floats(0, 1))
def test_tau_keeps_to_the_cut_points_above_it(data, tau):
    values, group, weight = data.draw(scored())
    scores = distribution(values, sensitive_features=group, sample_weight=weight)
    cuts, curve = brute_curve(values, group, weight, eh.pq)
    pooled = np.array([weight[values <= t].sum() / weight.sum() for t in cuts])
    if (abs(pooled - tau) > 1e-9).all():
        expected = curve[pooled >= tau].max()
        assert supremum(scores, eh.pq, tau=tau).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("measure", [eh.gini, eh.pq, eh.mpd])
def test_many_groups_of_unequal_sizes_are_swept_exactly(measure):
    rng = np.random.default_rng(0)
    group = np.append(np.arange(200), (200 * rng.random(3000) ** 3).astype(int))
    values = rng.normal(size=len(group)) + 0.002 * group
    scores = distribution(values, sensitive_features=group)
    _, curve = brute_curve(values, group, np.ones(len(group)), transformed(measure, "exp"))
    assert supremum(scores, measure, transform="exp").value == pytest.approx(curve.max(), abs=1e-12)


def test_two_groups_by_mpd_are_scipys_ks_and_wasserstein_distances():
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=300), rng.normal(0.3, 1.2, 411)
    scores = distribution(np.append(one, two), sensitive_features=np.repeat([0, 1], [300, 411]))
    assert supremum(scores, eh.mpd).value == pytest.approx(ks_2samp(one, two).statistic)
    assert integral(scores, eh.mpd) == pytest.approx(wasserstein_distance(one, two))


def test_the_raw_supremum_of_a_scale_free_measure_is_degenerate_for_every_predictor():
    values = np.random.default_rng(2).normal(size=1000)
    scores = distribution(values, sensitive_features=np.arange(1000) % 2)
    assert supremum(scores, eh.pq).value == pytest.approx(1 - 2**-0.5)
    assert supremum(scores, eh.gini).value == pytest.approx(0.5)
    assert supremum(scores, eh.pq, transform="exp").value < 0.001
    assert supremum(scores, eh.pq, tau=0.05).value < 0.02


@pytest.mark.slow
@given(data=st.data(), at=st.integers(1, 88))
def test_distributions_of_parts_add_up_to_that_of_the_whole(data, at):
    values, group, weight = data.draw(scored())
    truth = (values > 0).astype(int)

    def part(rows):
        options = {"y_true": truth[rows], "sample_weight": weight[rows]}
        return distribution(values[rows], sensitive_features=group[rows], **options)

    at = min(at, len(values) - 1)
    parts, whole = sum([part(slice(at)), part(slice(at, None))]), part(slice(None))
    assert parts.groups == whole.groups
    assert (parts.values == whole.values).all()
    for measure in (eh.mpd, eh.gini):
        assert integral(parts, measure) == pytest.approx(integral(whole, measure), abs=1e-10)
    np.testing.assert_allclose(auroc_by_group(parts, 1), auroc_by_group(whole, 1))


def test_distributions_with_and_without_weights_do_not_add_up():
    plain = distribution([1.0], sensitive_features=["a"])
    with pytest.raises(ValueError, match="only one has weights"):
        plain + distribution([1.0], sensitive_features=["a"], sample_weight=[1.0])


def test_rows_of_weight_zero_are_not_there():
    full = distribution(
        [0.0, 1.0, 2.0, 9.0], sensitive_features=[*"abac"], sample_weight=[1, 1, 1, 0]
    )
    some = distribution([0.0, 1.0, 2.0], sensitive_features=[*"aba"])
    assert integral(full, eh.mpd) == integral(some, eh.mpd)
    assert np.isnan(supremum(full, eh.mpd).levels[2])


def test_one_group_alone_has_no_inequality_to_speak_of():
    scores = distribution([0.1, 0.2], sensitive_features=["a", "a"])
    assert np.isnan(supremum(scores, eh.pq).value)
    assert np.isnan(integral(scores, eh.pq))


def test_constant_scores_are_equal():
    scores = distribution([1.0, 1.0, 1.0], sensitive_features=[*"aab"])
    assert supremum(scores, eh.gini).value == 0
    assert integral(scores, eh.gini) == 0


@pytest.mark.slow
@given(arrays(np.float64, st.integers(1, 200), elements=any_float))
def test_ascending_is_a_stable_argsort(values):
    order, placed = ascending(values)
    assert (placed == np.sort(values)).all()
    assert sorted(order) == list(range(len(values)))


def test_values_that_differ_in_their_last_bits_are_put_in_order():
    rng = np.random.default_rng(0)
    values = 1 + rng.permutation(5000) * np.finfo(float).eps
    order, placed = ascending(values)
    assert (np.diff(placed) > 0).all()
    assert (values[order] == placed).all()


@pytest.mark.slow
@given(data=st.data())
def test_auroc_by_group_is_scikit_learns(data):
    values, group, weight = data.draw(scored())
    truth = np.random.default_rng(len(values)).integers(0, 2, len(values))
    scores = distribution(values, sensitive_features=group, y_true=truth, sample_weight=weight)
    for found, name in zip(auroc_by_group(scores, 1), scores.groups, strict=True):
        here = group == name
        if len(set(truth[here])) < 2:
            assert np.isnan(found)
        else:
            area = roc_auc_score(truth[here], values[here], sample_weight=weight[here])
            assert found == pytest.approx(area, abs=1e-12)


def test_auroc_needs_the_truth():
    with pytest.raises(ValueError, match="needs y_true"):
        auroc_by_group(distribution([0.1], sensitive_features=["a"]), 1)


def test_a_transform_inside_a_measure_is_the_measures_own():
    rng = np.random.default_rng(0)
    values, group = rng.normal(size=200), rng.integers(0, 3, 200)
    scores = distribution(values, sensitive_features=group)
    for measure in (eh.pq, eh.gini):
        inside = partial(measure, transform="exp")
        outside = supremum(scores, measure, transform="exp").value
        assert supremum(scores, inside).value == pytest.approx(outside, abs=1e-12)
        expected = integral(scores, measure, transform="exp")
        assert integral(scores, inside) == pytest.approx(expected, abs=1e-12)
    by_place = partial(eh.pq, p=0.5, q=2)
    assert supremum(scores, by_place, transform="exp").value > 0


@pytest.mark.parametrize("tau", [-0.1, 1.5])
def test_tau_is_a_share(tau):
    with pytest.raises(ValueError, match="between 0 and 1"):
        supremum(distribution([1.0, 2.0], sensitive_features=[*"ab"]), eh.pq, tau=tau)
