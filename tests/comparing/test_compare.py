"""Models side by side: values, ranks, laws and verdicts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata

import evenhand as eh
from comparing.models import QUICK, column, labeled, numbered, rows
from evenhand._compare.labels import Labels
from evenhand._compare.numbers import Numbers


@pytest.fixture(scope="module")
def three():
    y, made, group = labeled()
    return eh.compare(y, made, sensitive_features=group, **QUICK)


@pytest.mark.slow
def test_the_values_are_those_of_evaluate(three):
    y, made, group = labeled()
    for row in rows(three.values):
        expected = eh.evaluate(
            row["criterion"],
            y,
            made[row["model"]],
            sensitive_features=group,
            measure=row["measure"],
        )
        assert row["value"] == pytest.approx(expected, abs=1e-15)


@pytest.mark.slow
def test_the_values_of_numbers_are_those_of_evaluate():
    y, made, group = numbered(rows=120, models=2)
    found = eh.compare(y, made, sensitive_features=group)
    assert found.task == "regression"
    assert len(found.values) == 4 * 3 * 2
    for row in rows(found.values):
        g = "mse" if row["criterion"] == "performance_parity" else None
        options = {"sensitive_features": group, "measure": row["measure"], "g": g}
        expected = eh.evaluate(row["criterion"], y, made[row["model"]], **options)
        assert row["value"] == pytest.approx(expected, rel=1e-9)
        assert row["low"] <= row["high"]


def test_hand_arithmetic():
    """Selection rates 1/2 and 1/2, 3/4 and 1/4, 1 and 1/2: MPD 0, 1/2, 1/2."""
    group = [*"aaaabbbb"]
    models = {
        "even": [1, 1, 0, 0, 0, 1, 1, 0],
        "tilted": [1, 1, 1, 0, 0, 0, 0, 1],
        "steep": [1, 1, 1, 1, 1, 1, 0, 0],
    }
    found = eh.compare(None, models, sensitive_features=group, measures=["mpd"], **QUICK)
    assert column(found.values, "value") == [0, 0.5, 0.5]
    assert rows(found.ranks) == [
        {
            "criterion": "statistical_parity",
            "measure": "mpd",
            "even": 1,
            "tilted": 2.5,
            "steep": 2.5,
        }
    ]
    assert [row["difference"] for row in rows(found.differences)] == [-0.5, -0.5, 0]


@pytest.mark.slow
def test_ranks_and_kendall_are_those_of_scipy(three):
    values = {}
    for row in rows(three.values):
        values.setdefault((row["criterion"], row["measure"]), []).append(row["value"])
    for row in rows(three.ranks):
        expected = rankdata(values[row["criterion"], row["measure"]])
        assert [row[model] for model in three.models] == expected.tolist()
    assert len(three.kendall) == 9 * 8 / 2
    for row in rows(three.kendall):
        one = values[row["criterion"], row["measure"]]
        two = values[row["other_criterion"], row["other_measure"]]
        assert row["tau"] == pytest.approx(kendalltau(one, two)[0])
        assert -1 <= row["low"] <= row["high"] <= 1


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10_000))
def test_two_groups_are_ranked_alike_by_gini_and_pq(seed):
    """For two groups CV = 2 · Gini, and PQ(1, 2) grows with CV."""
    y, made, group = labeled(seed, rows=80, models=5, groups=2)
    options = {"measures": ["gini", "pq"], "criteria": ["statistical_parity"], **QUICK}
    found = eh.compare(y, made, sensitive_features=group, **options)
    assert column(found.kendall, "tau") == [pytest.approx(1)]
    assert column(found.kendall, "low") == [pytest.approx(1)]


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10_000))
def test_relabelling_groups_and_permuting_models_changes_nothing(seed):
    y, made, group = labeled(seed, rows=120, models=4)
    renamed = np.array([{"a": "zebra", "b": "b", "c": "ape"}[one] for one in group])
    turned = dict(reversed(made.items()))
    options = {"measures": ["pq"], "criteria": ["accuracy_parity", "equalized_odds"], **QUICK}
    one = eh.compare(y, made, sensitive_features=group, **options)
    two = eh.compare(y, turned, sensitive_features=renamed, **options)
    for model in made:
        for name in ("value", "rank"):
            found = [pytest.approx(row[name]) for row in rows(one.values, model=model)]
            assert [row[name] for row in rows(two.values, model=model)] == found
    assert column(two.kendall, "tau") == [pytest.approx(tau) for tau in column(one.kendall, "tau")]
    swapped = {
        (row["criterion"], row["other"], row["model"]): -row["difference"]
        for row in rows(two.differences)
    }
    for row in rows(one.differences):
        asked = (row["criterion"], row["model"], row["other"])
        assert swapped[asked] == pytest.approx(row["difference"])


@pytest.mark.slow
def test_a_real_difference_is_told_and_none_is_not():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 3000)
    draw = rng.random(3000)
    models = {
        "fair": draw < 0.4,
        "fair too": np.where(rng.random(3000) < 0.9, draw, rng.random(3000)) < 0.4,
        "uneven": draw < 0.3 + 0.2 * group,
    }
    options = {"measures": ["mpd", "pq"], "criteria": ["statistical_parity"]}
    found = eh.compare(None, models, sensitive_features=group, **options)
    for row in rows(found.differences):
        assert row["beyond_chance"] == ("uneven" in (row["model"], row["other"]))
    said = {(row["model"], row["verdict"]) for row in rows(found.values)}
    assert said == {("fair", "cannot tell"), ("fair too", "cannot tell"), ("uneven", "differs")}
    for row in rows(found.values, model="uneven", measure="mpd"):
        assert row["low"] < 0.2 < row["high"]
    assert " < uneven" in str(found)
    assert " ~ " in str(found)


@pytest.mark.slow
def test_weights_count_as_repeated_rows():
    y, made, group = labeled(rows=200)
    weight = np.random.default_rng(1).integers(1, 4, 200)
    again = np.repeat(np.arange(200), weight)
    repeated = {name: one[again] for name, one in made.items()}
    one = eh.compare(y, made, sensitive_features=group, sample_weight=weight, **QUICK)
    two = eh.compare(y[again], repeated, sensitive_features=group[again], **QUICK)
    assert column(one.values, "value") == [
        pytest.approx(value) for value in column(two.values, "value")
    ]
    assert all(0 < p <= 1 for p in column(one.values, "p_value"))


def test_one_model_is_assessed_alone():
    y, made, group = labeled(models=1)
    found = eh.compare(y, made, sensitive_features=group, **QUICK)
    assert len(found.differences) == len(found.kendall) == 0
    assert set(column(found.values, "rank")) == {1.0}
    assert "One model alone" in found.notes[0]


@pytest.mark.slow
def test_two_models_have_no_kendall():
    y, made, group = labeled(models=2)
    found = eh.compare(y, made, sensitive_features=group, **QUICK)
    assert len(found.kendall) == 0
    assert "Two models" in found.notes[0]
    assert len(found.differences) == 9


@pytest.mark.slow
def test_few_models_are_said_to_be_few(three):
    assert any("once in 6 times" in note for note in three.notes)


def test_an_undefined_model_ranks_last():
    y = [1, 1, 0, 0] * 3
    models = {"never": [0] * 12, "all": [1, 0, 1, 0] * 3, "some": [1, 1, 0, 0] * 3}
    options = {"criteria": ["predictive_parity"], "measures": ["mpd"], "favorable": 1, **QUICK}
    found = eh.compare(y, models, sensitive_features=[*"aabbab"] * 2, **options)
    row = rows(found.values, model="never")[0]
    assert np.isnan(row["value"])
    assert (row["rank"], row["verdict"]) == (3, "undefined")


def test_groups_of_ten_that_hide_a_difference_are_named_with_the_way_out():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "few", "fewer", "fewest"], [2000, 2000, 10, 10, 10])
    even = rng.random(len(group))
    again = np.where(rng.random(len(group)) < 0.7, even, rng.random(len(group)))
    tilt = 0.5 + 0.05 * (group == "a") - 0.05 * (group == "b")
    made = {"even": (even < 0.5).astype(int), "uneven": (again < tilt).astype(int)}
    asked = {"criteria": "statistical_parity", "measures": "mpd", "favorable": 1}
    found = eh.compare(None, made, sensitive_features=group, **asked)
    assert list(found.differences["beyond_chance"]) == [False]
    (note,) = (note for note in found.notes if "fewer than 30 rows" in note)
    assert "few, fewer and fewest" in note
    advised = eh.compare(None, made, sensitive_features=group, min_count=30, rare="drop", **asked)
    assert list(advised.differences["beyond_chance"]) == [True]
    assert not any("fewer than 30 rows" in note for note in advised.notes if "pass" in note)


@pytest.mark.slow
def test_rows_left_out_of_all_groups_are_left_out():
    y, made, group = labeled(rows=100)
    group[:3] = "rare"
    whom = eh.groups(group, min_count=10, rare="drop")
    found = eh.compare(y, made, sensitive_features=whom, **QUICK)
    rest = {name: one[3:] for name, one in made.items()}
    without = eh.compare(y[3:], rest, sensitive_features=group[3:], **QUICK)
    assert column(found.values, "value") == column(without.values, "value")
    assert "dropped" in found.notes[0]


@pytest.mark.slow
def test_predictions_are_coded_once_and_of_the_right_kind(three):
    assert isinstance(three.evidence, Labels)
    y, made, group = numbered()
    options = {"criteria": ["weak_parity"], "measures": ["mpd"], **QUICK}
    found = eh.compare(y, made, sensitive_features=group, **options)
    assert isinstance(found.evidence, Numbers)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_tables(three):
    y, made, group = labeled()
    again = eh.compare(y, made, sensitive_features=group, **QUICK)
    assert again.to_markdown() == three.to_markdown()
