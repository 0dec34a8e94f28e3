import hashlib
from dataclasses import replace

import numpy as np
import pytest

from evenhand.datasets import load, split

PINNED = {
    ("adult", 0): "6f1c6ff2f3a0c6e7",
    ("adult", 7): "bd018fadc57ea038",
    ("simulated", 0): "0f5bb78ba9104a03",
    ("simulated_regression", 0): "831e5ac9ce0c9ecd",
}


def digest(rows) -> str:
    return hashlib.sha256(np.asarray(rows, dtype="<i8").tobytes()).hexdigest()[:16]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), PINNED)
def test_a_seed_gives_the_same_rows_on_every_run_and_platform(name, seed):
    assert digest(split(load(name), seed=seed).test) == PINNED[name, seed]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "simulated", "simulated_regression"])
def test_every_row_is_in_one_part_and_a_fifth_is_for_testing(name):
    dataset = load(name)
    both = split(dataset, seed=3)
    rows = np.concatenate([both.train, both.test])
    assert np.array_equal(np.sort(rows), np.arange(dataset.n_rows))
    assert len(both.test) == round(0.2 * dataset.n_rows)


def test_another_seed_gives_other_rows():
    dataset = load("simulated")
    assert not np.array_equal(split(dataset, seed=0).test, split(dataset, seed=1).test)


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [2, 10, 50])
def test_each_group_and_class_is_split_in_proportion_to_within_one_row(n_groups):
    dataset = load("adult_multigroup", n_groups=n_groups)
    strata = dataset.groups.assign(y=dataset.y)
    keys = list(strata.columns)
    sizes = strata.groupby(keys, observed=True).size()
    tested = strata.iloc[split(dataset, seed=0).test].groupby(keys, observed=True).size()
    large = sizes[sizes >= 5]
    assert (tested.reindex(large.index) - 0.2 * large).abs().max() < 1


def test_a_regression_is_split_by_group():
    dataset = load("simulated_regression")
    tested = dataset.groups.iloc[split(dataset, seed=0).test]["group"].value_counts()
    assert tested.to_list() == [500, 500]


def test_strata_too_small_to_divide_are_divided_together():
    simulated = load("simulated")
    names = np.array(["rare 1"] * 2 + ["rare 2"] * 3 + ["common"] * 4995)
    dataset = replace(simulated, X=simulated.X.assign(group=names))
    both = split(dataset, seed=0)
    assert np.isin(both.test, np.arange(5)).sum() == 1


def test_a_missing_group_is_a_group_of_its_own():
    simulated = load("simulated")
    group = simulated.X["group"].where(simulated.X["group"] == "group 0")
    dataset = replace(simulated, X=simulated.X.assign(group=group))
    tested = split(dataset, seed=0).test
    assert (tested >= 2500).sum() == 500


@pytest.mark.slow
def test_scales_are_learnt_from_the_training_rows_alone():
    adult = load("adult")
    both = split(adult, seed=0)
    parts = both.normalized()
    numeric = list(adult.numeric)
    np.testing.assert_allclose(parts.X_train[numeric].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(parts.X_train[numeric].std(ddof=0), 1)
    raw = both.parts()
    age = raw.X_train["age"]
    by_hand = (raw.X_test["age"] - age.mean()) / age.std(ddof=0)
    np.testing.assert_allclose(parts.X_test["age"], by_hand)
    assert parts.X_test["workclass"].equals(raw.X_test["workclass"])
    assert parts.y_train.equals(raw.y_train)


def test_a_constant_feature_becomes_zero_and_a_missing_value_stays_missing():
    simulated = load("simulated")
    X = simulated.X.assign(x1=3.0, x2=simulated.X["x2"].mask(simulated.X.index == 0))
    parts = split(replace(simulated, X=X), seed=0).normalized()
    assert parts.X_train["x1"].eq(0).all()
    assert parts.X_train["x2"].isna().sum() + parts.X_test["x2"].isna().sum() == 1


def test_a_regression_target_is_scaled_to_the_range_of_the_training_rows():
    both = split(load("simulated_regression"), seed=0)
    parts, raw = both.normalized(), both.parts()
    assert (parts.y_train.min(), parts.y_train.max()) == (0, 1)
    low, high = raw.y_train.min(), raw.y_train.max()
    np.testing.assert_allclose(parts.y_test, (raw.y_test - low) / (high - low))


def test_the_metadata_of_a_split_say_where_the_rows_come_from():
    simulated = load("simulated")
    stand_in = replace(simulated, origin=replace(simulated.origin, stand_in="half the rows"))
    metadata = split(stand_in, seed=4).metadata
    assert metadata["is_stand_in"]
    assert metadata["provenance"] == "stand-in: half the rows"
    assert metadata["split"] == {"seed": 4, "train": 4000, "test": 1000}
