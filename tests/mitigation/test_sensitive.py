import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from evenhand import groups
from evenhand._columns import Bin
from evenhand._errors import InputTypeError
from evenhand.mitigation.groups import Sensitive

PEOPLE = {"sex": ["F", "M", "F", "M"], "age": [20, 30, 40, 50], "x": [1.0, 2.0, 3.0, 4.0]}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.fixture(params=FRAMES)
def people(request):
    return FRAMES[request.param](PEOPLE)


def test_one_column_gives_its_values_as_groups(people):
    by_sex, _ = Sensitive.read(people, "sex")
    assert by_sex.labels == ("F", "M")
    np.testing.assert_array_equal(by_sex.codes(people), [0, 1, 0, 1])


def test_many_columns_give_the_observed_combinations(people):
    both, _ = Sensitive.read(people, ["sex", "age"], bins=2)
    assert [str(label[1]) for label in both.labels] == ["[20, 35]", "(35, 50]"] * 2
    np.testing.assert_array_equal(both.codes(people), [0, 2, 1, 3])


def test_bins_cut_numbers_only_and_may_be_given_by_column(people):
    assert Sensitive.read(people, "sex", bins=2)[0].labels == ("F", "M")
    assert len(Sensitive.read(people, ["sex", "age"], bins={"age": 4})[0].labels) == 4
    assert Sensitive.read(people, "age", bins={"x": 2})[0].labels == (20, 30, 40, 50)


@pytest.mark.parametrize("bins", ["three", 2.5, {"age": [30, 40]}])
def test_bins_that_are_no_number_of_bins_are_named(people, bins):
    with pytest.raises(InputTypeError, match=r"bins of column 'age' is .*into how many"):
        Sensitive.read(people, "age", bins=bins)


def test_what_lies_beyond_the_fitting_rows_falls_in_the_outermost_bins():
    by_age, _ = Sensitive.read(np.array([[20.0], [30], [40], [50]]), 0, bins=2)
    np.testing.assert_array_equal(
        by_age.codes(np.array([[-5.0], [35], [35.1], [99]])), [0, 0, 1, 1]
    )


def test_a_value_that_most_rows_share_is_a_bin_of_its_own():
    by_amount, _ = Sensitive.read(np.array([[0.0], [0], [0], [7]]), 0, bins=2)
    assert by_amount.labels == (Bin(0.0, 0.0, lowest=True), Bin(0.0, 7.0))


@pytest.mark.parametrize("bins", [2, 3, 5])
@pytest.mark.parametrize(
    "values",
    [[0, 0, 0, 0, 0, 1, 2], [0, 0, 0, 7], [0, 5, 9, 9, 9, 9], [1, 2, 2, 2, 2, 3], range(20)],
    ids=str,
)
def test_bins_are_those_of_groups_whatever_the_ties(values, bins):
    column = np.array(values, dtype=float)
    whole = groups({"amount": column}, bins={"amount": bins})
    learned, _ = Sensitive.read(column[:, None], 0, bins=bins)
    assert learned.labels == whole.labels
    np.testing.assert_array_equal(learned.codes(column[:, None]), whole.codes)


def test_a_value_that_most_rows_share_leaves_the_others_to_be_compared_with():
    for values in ([0, 0, 0, 0, 0, 7, 8], [8, 8, 8, 8, 8, 1, 0]):
        found = groups({"amount": np.array(values, dtype=float)}, bins={"amount": 3})
        assert len(found.labels) == 2
        np.testing.assert_array_equal(found.codes == found.codes[0], np.array(values) == values[0])


def test_a_group_not_seen_at_fit_has_no_code(people):
    by_sex, _ = Sensitive.read(people, "sex")
    later = people.__class__({"sex": ["X", "F"]})
    np.testing.assert_array_equal(by_sex.codes(later), [-1, 0])
    assert by_sex.unseen(later) == ("X",)


def test_the_base_model_may_be_kept_from_seeing_the_group(people):
    by_sex, _ = Sensitive.read(people, "sex")
    assert list(by_sex.features(people, sees_group=False).columns) == ["age", "x"]
    assert by_sex.features(people, sees_group=True) is people


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix])
def test_arrays_and_sparse_matrices_go_by_position(make):
    X = make(np.array([[1.0, 5, 0], [0, 6, 1], [1, 7, 1]]))
    last, _ = Sensitive.read(X, -1)
    assert last.columns == (2,)
    np.testing.assert_array_equal(last.codes(X), [0, 1, 1])
    rest = last.features(X, sees_group=False)
    np.testing.assert_array_equal(
        rest.toarray() if sparse.issparse(rest) else rest, X[:, :2] @ np.eye(2)
    )


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ("race", "no column 'race'; its columns are"),
        (None, "Pass group="),
        ([], "Pass group="),
        ("same", r"hold one group only \(a\)"),
        ("gone", "2 of 4 rows have no value of 'gone'"),
    ],
)
def test_what_cannot_name_groups_is_refused(people, group, message):
    wrong = people.__class__({**PEOPLE, "same": ["a"] * 4, "gone": ["a", None, "b", None]})
    with pytest.raises(ValueError, match=message):
        Sensitive.read(wrong, group)


@pytest.mark.parametrize("group", ["sex", 7, [0, -4]])
def test_a_position_that_an_array_does_not_have_is_refused(group):
    with pytest.raises(ValueError, match="an array of 3 columns without names"):
        Sensitive.read(np.zeros((4, 3)), group)


def test_one_bin_is_refused(people):
    with pytest.raises(ValueError, match="at least 2"):
        Sensitive.read(people, "age", bins=1)
