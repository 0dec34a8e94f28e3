"""Labels or numbers, and the favorable label: what the columns show, and what must be said."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand._data.tasks import MOST_CLASSES, favorable_label, task_of

FEW, MANY = list(range(MOST_CLASSES)), list(range(MOST_CLASSES + 1))
KINDS = {
    "list": list,
    "array": np.array,
    "object array": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


@pytest.mark.parametrize(
    ("truth", "task"),
    [
        ([0, 1, 0], "binary"),
        ([0.0, 1.0, 0.0], "binary"),
        ([True, False, True], "binary"),
        (["no", "yes", "no"], "binary"),
        ([0, 1, 2], "multiclass"),
        (["1.5", "2.5", "3.5"], "multiclass"),
        ([str(n) for n in MANY], "multiclass"),
        (FEW, "multiclass"),
        ([0.5, 1.0, 2.0], "regression"),
        ([1.0, 2.0, 0.5], "regression"),
    ],
)
def test_the_task_is_seen_in_any_kind_of_column(kind, truth, task):
    assert task_of(kind(truth)) == task


def test_decimals_are_numbers():
    assert task_of([Decimal("0.5"), Decimal("1.5")]) == "regression"
    assert task_of([Decimal("0"), Decimal("1")]) == "binary"


@pytest.mark.parametrize("values", [MANY, [float(n) for n in MANY]], ids=["int", "float"])
def test_many_whole_numbers_can_be_either_so_the_caller_is_asked(kind, values):
    many = kind(values)
    message = f'{len(MANY)} different whole numbers.*pass task="regression" or task="multiclass"'
    with pytest.raises(ValueError, match=message):
        task_of(many)
    assert task_of(many, task="regression") == "regression"
    assert task_of(many, task="multiclass") == "multiclass"


def test_predicted_fractions_show_that_whole_numbers_are_amounts():
    assert task_of(MANY, [n + 0.5 for n in MANY]) == "regression"
    assert task_of([1, 2, 3], [1.5, 2.5, 2.9]) == "regression"
    assert task_of([0.5, 1.5, 2.5], [1, 1, 1]) == "regression"


@pytest.mark.parametrize(
    ("truth", "predicted"),
    [([0, 1, 1], [0.2, 0.7, 0.9]), (["a", "b", "c"], [0.2, 0.7, 0.9]), ([0.5, 1.5], ["a", "b"])],
)
def test_labels_beside_fractions_are_refused(truth, predicted):
    with pytest.raises(ValueError, match=r"holds labels, and y_\w+ numbers such as"):
        task_of(truth, predicted)


def test_labels_in_truth_and_prediction_count_together():
    assert task_of([0, 1], [1, 2]) == "multiclass"
    with pytest.raises(ValueError, match="two labels; here are 3"):
        task_of([0, 1], [1, 2], task="binary")


@pytest.mark.parametrize("word", ["classification", "binray", "clustering"])
def test_any_other_word_for_a_task_is_refused(word):
    with pytest.raises(ValueError, match="'binary', 'multiclass', 'regression' or 'ranking'"):
        task_of([0, 1], task=word)


def test_the_nearest_word_for_a_task_is_suggested():
    with pytest.raises(ValueError, match="Did you mean 'binary'"):
        task_of([0, 1], task="binray")


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), (0.0, 1.0)])
def test_one_is_favorable_without_saying(labels):
    assert favorable_label(labels) == 1


@pytest.mark.parametrize("labels", [(1, 2), ("no", "yes"), ("0", "1"), (0, 1, 2), (1,)])
def test_any_other_favorable_label_must_be_named(labels):
    with pytest.raises(ValueError, match="is the favorable one"):
        favorable_label(labels)
    assert favorable_label(labels, required=False) is None
    assert favorable_label(labels, labels[0]) == labels[0]


def test_a_favorable_label_that_is_not_there_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"'yess' is not among .* Did you mean 'yes'"):
        favorable_label(["no", "yes"], "yess", required=False)


def test_a_favorable_label_may_be_given_as_it_is_written():
    assert favorable_label([0, 1], "0") == 0
    assert favorable_label(["0", "1"], 1) == "1"
