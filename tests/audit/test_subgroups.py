"""The scan: what it compares, how sure its bounds are, and who comes first."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import evenhand as eh
from evenhand._audit.subgroups import ranked
from evenhand._audit.views import views_of
from evenhand._uncertainty.differences import Binomials, difference_bounds, rate_bounds
from lanes import one_in


def scan(y, p, columns, control="familywise", depth=2, **options):
    evidence = eh.Data(y, p, sensitive_features=columns, **options).counted
    return ranked(list(views_of(evidence, depth)), 0.05, control)


def of(subgroups, label, statistic):
    return next(s for s in subgroups if s.label == label and s.statistic.startswith(statistic))


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], 3000), "race": rng.choice([*"abc"], 3000)})
    frame["y"] = rng.integers(0, 2, 3000)
    frame["p"] = (rng.random(3000) < np.where(frame["sex"] == "M", 0.6, 0.4)).astype(int)
    frame["weight"] = np.where(frame["p"] == 1, 10.0, 1.0) * rng.uniform(1, 2, 3000)
    return frame


def binomials(hits, size):
    hits = np.atleast_1d(np.asarray(hits, dtype=float))
    return Binomials(hits, np.full(hits.shape, float(size)), np.ones(hits.shape))


def error_of_bounds(sizes, rates, error):
    """The exact chance that the bound is above the true difference, or has the wrong sign."""
    first, second = (np.arange(n + 1) for n in sizes)
    x, y = (each.ravel() for each in np.meshgrid(first, second))
    chance = binom.pmf(x, sizes[0], rates[0]) * binom.pmf(y, sizes[1], rates[1])
    sure = difference_bounds(binomials(x, sizes[0]), binomials(y, sizes[1]), error)
    signed = sure * np.sign(x / sizes[0] - y / sizes[1])
    apart = rates[0] - rates[1]
    wrong = (sure > 0) & ((np.sign(signed) != np.sign(apart)) | (sure > abs(apart) + 1e-12))
    return chance[wrong].sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "sizes", "rates"),
    one_in(
        3,
        [0.05, 1e-3, 1e-5],
        [(5, 300), (10, 10), (20, 150), (90, 120)],
        [(0.01, 0.01), (0.1, 0.1), (0.5, 0.5), (0.995, 0.995), (0.6, 0.2), (0.02, 0.98)],
    ),
)
def test_bounds_of_a_difference_err_no_more_often_than_stated(sizes, rates, error):
    assert error_of_bounds(sizes, rates, error) <= error


def test_bounds_are_as_short_as_normal_ones_where_rows_are_many():
    half, less = binomials(5000, 10000), binomials(4500, 10000)
    normal = 0.05 - 1.96 * np.sqrt(0.25 / 10000 + 0.2475 / 10000)
    assert 0.94 * normal < difference_bounds(half, less, 0.05)[0] < normal


@pytest.mark.parametrize(("hits", "size"), [(80, 100), (500, 1500), (12, 14), (0, 90)])
def test_bounds_are_longer_than_two_exact_intervals_apart(hits, size):
    (low, high), (lower, higher) = (
        rate_bounds(h / n, n, 0.05 / 2) for h, n in ((hits, size), (4000, 10000))
    )
    apart = max(low - higher, lower - high)
    assert difference_bounds(binomials(hits, size), binomials(4000, 10000), 0.05)[0] > apart


def test_a_difference_is_the_same_from_either_side():
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 2000, (2, 200))
    sizes[:, :50] = sizes[0, :50]
    first, second = (
        Binomials(rng.binomial(n, p).astype(float), n.astype(float), np.ones(200))
        for n, p in zip(sizes, (0.7, 0.4), strict=True)
    )
    sure = difference_bounds(first, second, 0.01)
    assert (sure > 0).any()
    np.testing.assert_array_equal(sure, difference_bounds(second, first, 0.01))
    swapped = difference_bounds(second.complement, first.complement, 0.01)
    np.testing.assert_allclose(sure, swapped, rtol=1e-12)


def test_rates_are_those_of_the_subgroup_and_of_everybody_else(people):
    found = scan(people["y"], people["p"], people[["sex", "race"]])
    ours = (people["sex"] == "M") & (people["race"] == "b")
    wrong = people["y"] != people["p"]
    expected = {
        "selection rate of 1": (people["p"] == 1, ours | True),
        "error rate": (wrong, ours | True),
        "false positive rate": (wrong, people["y"] == 0),
        "false negative rate": (wrong, people["y"] == 1),
    }
    assert {s.statistic for s in found} == set(expected)
    for name, (hit, among) in expected.items():
        subgroup = of(found, ("M", "b"), name)
        assert subgroup.value == pytest.approx(hit[ours & among].mean())
        assert subgroup.rest == pytest.approx(hit[~ours & among].mean())
        assert subgroup.counted == (ours & among).sum()
        assert subgroup.rows == ours.sum()
        assert subgroup.people == subgroup.counted * subgroup.at_least


def test_the_others_are_weighted_by_their_own_weights(people):
    found = scan(people["y"], people["p"], people[["sex"]], sample_weight=people["weight"])
    for label in "FM":
        subgroup = of(found, label, "selection")
        ours = people["sex"] == label
        for value, chosen in ((subgroup.value, ours), (subgroup.rest, ~ours)):
            hits, weights = people["p"][chosen], people["weight"][chosen]
            assert value == pytest.approx(np.average(hits, weights=weights))


@pytest.mark.slow
def test_equal_weights_are_no_weights_and_their_unit_does_not_matter(people):
    arguments = people["y"], people["p"], people[["sex", "race"]]
    plain = scan(*arguments)
    for weight in (1.0, 0.25):
        weighted = scan(*arguments, sample_weight=np.full(3000, weight))
        for one, other in zip(plain, weighted, strict=True):
            assert one.at_least == pytest.approx(other.at_least)
            assert one.effective == pytest.approx(other.effective)
    weighted = scan(*arguments, sample_weight=people["weight"])
    thrice = scan(*arguments, sample_weight=3 * people["weight"])
    assert [s.at_least for s in weighted] == pytest.approx([s.at_least for s in thrice])


def test_weights_by_outcome_alone_bound_like_the_rows_themselves(people):
    weight = np.where(people["p"] == 1, 10.0, 1.0)
    arguments = None, people["p"], people[["sex"]]
    plain = of(scan(*arguments), "M", "selection")
    weighted = of(scan(*arguments, sample_weight=weight), "M", "selection")
    assert weighted.effective == pytest.approx(plain.effective)
    assert weighted.flagged
    assert 0 < weighted.at_least < weighted.difference


@pytest.mark.slow
@pytest.mark.parametrize("weights", one_in(2, ["none", "outcome", "chance"]))
def test_subgroups_that_are_alike_are_rarely_flagged(weights):
    rng = np.random.default_rng(7)
    share = 1 / np.arange(1, 13)
    flagged = 0
    for _ in range(25):
        columns = {"a": rng.choice(12, 3000, p=share / share.sum()), "b": rng.integers(0, 4, 3000)}
        p = (rng.random(3000) < 0.1).astype(int)
        weight = {
            "none": None,
            "outcome": np.where(p == 1, 10.0, 1.0),
            "chance": rng.lognormal(0, 0.8, 3000),
        }[weights]
        found = scan(rng.integers(0, 2, 3000), p, columns, sample_weight=weight)
        flagged += any(s.flagged for s in found)
    assert flagged <= 4


def test_a_few_light_hits_do_not_make_a_rate_low():
    group = np.repeat(["few", "many", "more"], [60, 2000, 2000])
    p = (np.arange(len(group)) % 10 == 0).astype(int)
    weight = np.where(p == 1, 2.0, 1.0)
    weight[(group == "few") & (p == 1)] = 0.01
    subgroup = of(scan(None, p, {"group": group}, sample_weight=weight), "few", "selection")
    assert subgroup.value < 0.01 < 0.15 < subgroup.rest
    assert not subgroup.flagged


def test_classes_none_of_which_is_favorable_are_compared_each():
    rng = np.random.default_rng(0)
    y, p = rng.choice([*"xyz"], 300), rng.choice([*"xyz"], 300)
    found = scan(y, p, {"group": rng.choice([*"ab"], 300)})
    assert {s.statistic for s in found} == {
        *(f"selection rate of {label}" for label in "xyz"),
        "error rate",
        *(f"error rate where the truth is {label}" for label in "xyz"),
    }


def test_two_classes_none_of_which_is_favorable_are_one_selection_rate():
    rng = np.random.default_rng(0)
    y, p = rng.choice([*"xy"], 300), rng.choice([*"xy"], 300)
    found = scan(y, p, {"group": rng.choice([*"ab"], 300)})
    assert [s.statistic for s in found if "selection" in s.statistic] == ["selection rate of y"] * 2


def test_a_subgroup_without_rows_to_ask_about_is_left_out():
    group = np.repeat(["a", "b", "c"], 100)
    y = np.where(group == "c", 1, np.arange(300) % 2)
    found = scan(y, np.arange(300) % 3 == 0, {"group": group}, favorable=True)
    assert {s.label for s in found if s.statistic == "false positive rate"} == {"a", "b"}
    assert {s.label for s in found if s.statistic == "false negative rate"} == {"a", "b", "c"}


def test_two_groups_are_one_question_and_all_questions_share_the_error(people):
    found = scan(people["y"], people["p"], people[["sex", "race"]])
    questions = 4 * (1 + 3 + 6)
    assert {s.comparisons for s in found} == {questions}
    assert {s.error for s in found} == {0.05 / questions}
    female, male = (of(found, label, "selection") for label in "FM")
    assert female.at_least == male.at_least > 0


def test_small_groups_never_lead():
    rng = np.random.default_rng(0)
    group = np.concatenate([np.repeat(["big", "large"], 4000), np.repeat([*"abcdefgh"], 6)])
    p = (rng.random(len(group)) < np.where(group == "big", 0.55, 0.45)).astype(int)
    p[group == "a"] = 1
    found = scan(None, p, {"group": group})
    tiny = [s.label for s in found if s.too_few]
    assert {s.label for s in found[:2]} == {"big", "large"}
    assert set(tiny) == {*"abcdefgh"}
    assert tiny == [s.label for s in found[2:]]
    subgroup = of(found, "a", "selection")
    assert subgroup.value == 1.0
    assert 500 < subgroup.rows_needed < 5000


def test_as_many_rows_as_are_needed_show_a_difference_of_five_points():
    group = np.repeat(["a", "b"], [3000, 500_000])
    hits = {"a": int(3000 * 0.25), "b": 100_000}
    p = np.concatenate([np.arange(3000) < hits["a"], np.arange(500_000) < hits["b"]]).astype(int)
    subgroup = of(scan(None, p, {"group": group}), "a", "selection")
    assert subgroup.flagged
    assert subgroup.rows_needed < 3000
    fewer = int(subgroup.rows_needed / 4)
    kept = np.concatenate([np.linspace(0, 2999, fewer).astype(int), np.arange(3000, len(p))])
    small = of(scan(None, p[kept], {"group": group[kept]}), "a", "selection")
    assert small.too_few


def test_means_are_compared_in_standard_deviations_and_may_be_negative():
    rng = np.random.default_rng(0)
    group = rng.choice([*"abcd"], 4000)
    prediction = rng.normal(-100, 1, 4000) - (group == "a")
    truth = prediction + rng.normal(0, 10, 4000) * np.where(group == "b", 2, 1)
    found = scan(truth, prediction, {"group": group}, task="regression")
    low, wrong = of(found, "a", "mean pred"), of(found, "b", "mean squared")
    assert low.value == pytest.approx(prediction[group == "a"].mean())
    assert low.rest == pytest.approx(prediction[group != "a"].mean())
    assert 0 < low.at_least < 1
    assert wrong.flagged
    assert low.scale == pytest.approx(prediction.std(), rel=1e-2)
    assert {found[0].label, found[1].label} == {"a", "b"}


@pytest.mark.slow
def test_skewed_errors_that_are_alike_are_rarely_flagged():
    rng = np.random.default_rng(0)
    flagged = 0
    for _ in range(25):
        columns = {"group": rng.choice(30, 1500), "other": rng.choice(5, 1500)}
        truth = rng.lognormal(0, 1, 1500)
        found = scan(truth, np.zeros(1500), columns, task="regression")
        flagged += any(s.flagged for s in found)
    assert flagged <= 4


def test_control_of_discoveries_finds_more_where_many_differ_and_few_falsely():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(200), 150)
    differs = group < 80
    p = (rng.random(len(group)) < np.where(differs, 0.5, 0.3)).astype(int)
    family, discovery = (
        [s for s in scan(None, p, {"group": group}, control) if s.flagged]
        for control in ("familywise", "false_discovery")
    )
    assert {s.label for s in family} < {s.label for s in discovery}
    rest = (p.sum() - 150 * np.array([0.5, 0.3])) / (len(p) - 150)
    low, high = ([s for s in discovery if (s.label < 80) == side] for side in (False, True))
    wrong = sum(s.at_least > abs(0.3 - rest[1]) for s in low)
    wrong += sum(s.at_least > abs(0.5 - rest[0]) for s in high)
    assert wrong <= 0.05 * len(discovery) + 2


def test_control_of_discoveries_loses_little_where_one_differs(people):
    arguments = people["y"], people["p"], people[["sex", "race"]]
    labels = [
        {s.label for s in scan(*arguments, control) if s.flagged}
        for control in ("familywise", "false_discovery")
    ]
    assert labels[0] == labels[1]
