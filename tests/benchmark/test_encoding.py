"""Features for base models, against scikit-learn's encoders."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

from evenhand.benchmark.running.preparation import MOST_CATEGORIES, codes, indicators


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    kinds = pd.Categorical(rng.choice(["a", "b", "c"], 60), categories=["a", "b", "c", "never"])
    holes = pd.Categorical(np.where(rng.random(60) < 0.2, None, rng.choice(["x", "y"], 60)))
    x = rng.normal(size=60)
    x[3] = np.nan
    return pd.DataFrame({"x": x, "kind": kinds, "same": 1.0, "holes": holes})


def test_indicators_are_scikit_learns_without_the_first_of_each(table):
    found = indicators(table, np.arange(60)).toarray()
    text = table[["kind", "holes"]].astype(object).where(table[["kind", "holes"]].notna(), "~")
    expected = OneHotEncoder(drop="first", sparse_output=False).fit_transform(text)
    np.testing.assert_array_equal(found[:, 1:], expected)
    np.testing.assert_array_equal(found[:, 0], table["x"].fillna(0))


def test_a_category_that_training_rows_lack_has_no_column(table):
    table = table.assign(kind=pd.Categorical(["a"] * 50 + ["b"] * 10))
    assert indicators(table, np.arange(50)).shape[1] == 1 + 2


def test_codes_number_the_categories_and_say_which_they_are(table):
    matrix, is_category = codes(table)
    assert is_category.tolist() == [False, True, False, True]
    np.testing.assert_array_equal(matrix[:, 1], table["kind"].cat.codes)
    assert set(matrix[table["holes"].isna(), 3]) == {2.0}


def test_more_categories_than_boosting_takes_are_numbers():
    many = pd.DataFrame({"many": pd.Categorical(np.arange(MOST_CATEGORIES + 1))})
    assert codes(many)[1].tolist() == [False]
