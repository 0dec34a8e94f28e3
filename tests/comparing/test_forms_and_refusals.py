"""What a comparison looks like, and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand as eh
from comparing.models import QUICK, labeled, numbered


@pytest.fixture(scope="module")
def three():
    y, made, group = labeled()
    return eh.compare(y, made, sensitive_features=group, **QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pd", "pl", "pa"])
def test_a_dataframe_of_predictions_gives_dataframes_of_its_kind(frame):
    y, made, group = labeled()
    found = eh.compare(y, frame(made), sensitive_features=group, **QUICK)
    assert found.models == tuple(made)
    assert isinstance(found.to_frame(), type(frame({"a": [1]})))
    for table in (found.values, found.ranks, found.differences, found.kendall):
        assert isinstance(table, type(frame({"a": [1]})))
    assert isinstance(found.to_frame(like="pandas", table="ranks"), pd.DataFrame)
    assert isinstance(found.to_frame(like=pl.DataFrame(), table="kendall"), pl.DataFrame)
    assert isinstance(found.sensitivity(orders=[], verdicts=False), type(frame({"a": [1]})))


@pytest.mark.slow
def test_without_a_dataframe_it_is_pandas(three):
    frame = three.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["value"]) == list(three.values["value"])


@pytest.mark.slow
def test_it_prints_as_text_markdown_and_escaped_html():
    group = [*"ab"] * 20
    models = {"<b>|x": [1, 0] * 20, "y": [1, 1, 0, 0] * 10}
    found = eh.compare(None, models, sensitive_features=group, **QUICK)
    assert "<b>|x" in str(found)
    assert "\\<b\\>\\|x" in found.to_markdown()
    assert "<summary>Every criterion by every measure</summary>" in found.to_markdown()
    assert "&lt;b&gt;|x" in found._repr_html_()
    assert "<b>" not in found._repr_html_()


def test_models_that_predict_other_rows_are_named():
    y, made, group = labeled()
    made["model 1"] = made["model 1"][:-1]
    with pytest.raises(ValueError, match=r"400 rows of sensitive_features, but 399 of.*'model 1'"):
        eh.compare(y, made, sensitive_features=group)


def test_labels_and_numbers_are_not_mixed():
    y, made, group = labeled()
    made["scored"] = np.linspace(0.1, 0.9, len(y))
    with pytest.raises(
        ValueError, match=r"y_true holds labels, and predictions\['scored'\] numbers such as 0\.1"
    ):
        eh.compare(y, made, sensitive_features=group)
    with pytest.raises(ValueError, match=r"'model 0'\] holds labels, and predictions\['scored'\]"):
        eh.compare(None, made, sensitive_features=group)
    with pytest.raises(ValueError, match=r"'text'\] holds labels, and y_true numbers"):
        eh.compare(y + 0.5, {"text": np.where(y, "a", "b")}, sensitive_features=group)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_the_words_for_a_task_are_those_of_an_audit(task):
    y, made, group = labeled()
    options = {"task": task, "criteria": ["accuracy_parity"], "measures": ["mpd"], **QUICK}
    assert eh.compare(y, made, sensitive_features=group, **options).task == task
    with pytest.raises(ValueError, match="'binary', 'multiclass', 'regression' or 'ranking'"):
        eh.compare(y, made, sensitive_features=group, task="classification")


def test_many_whole_numbers_must_be_explained():
    y, _, group = labeled()
    with pytest.raises(ValueError, match='pass task="regression" or task="multiclass"'):
        eh.compare(None, {"ages": np.arange(len(y))}, sensitive_features=group)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [None, np.random.default_rng(0), 7])
def test_any_random_state_will_do(seed):
    y, made, group = labeled(models=2)
    options = {"criteria": ["accuracy_parity"], "measures": ["mpd"], **QUICK}
    found = eh.compare(y, made, sensitive_features=group, random_state=seed, **options)
    again = eh.compare(y, made, sensitive_features=group, random_state=found.seed, **options)
    assert again.to_markdown() == found.to_markdown()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"intervals": "resampled"}, "compare has no argument 'intervals'"),
        ({"replicate": 10}, "Did you mean 'replicates'"),
        ({"confidence": 95}, "between 0"),
    ],
)
def test_settings_that_do_not_exist_are_refused(options, message):
    y, made, group = labeled()
    with pytest.raises((ValueError, TypeError), match=message):
        eh.compare(y, made, sensitive_features=group, **options)


@pytest.mark.slow
def test_whole_numbers_may_be_numbers():
    y, made, group = labeled()
    options = {"task": "regression", "criteria": ["weak_parity"], **QUICK}
    assert eh.compare(y, made, sensitive_features=group, **options).task == "regression"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criteria": ["equal_odds"]}, "Did you mean 'equalized_odds'"),
        ({"measures": ["ginny"]}, "There is no measure 'ginny'"),
        ({"criteria": ["strong_parity"]}, "strong_parity cannot be asked of predicted labels"),
        ({"criteria": ["calibration_parity"]}, "it needs y_score=, the scores of every model"),
    ],
)
def test_unknown_names_are_refused(options, message):
    y, made, group = labeled()
    with pytest.raises(ValueError, match=message):
        eh.compare(y, made, sensitive_features=group, **options)


def test_what_needs_the_truth_says_so():
    _, made, group = labeled()
    with pytest.raises(ValueError, match="equalized_odds compares with the truth"):
        eh.compare(None, made, sensitive_features=group, criteria=["equalized_odds"])
    _, made, group = numbered()
    with pytest.raises(ValueError, match=r"performance_parity\(mse\) compares with the truth"):
        eh.compare(None, made, sensitive_features=group, criteria=["performance_parity"])


def test_models_must_have_names():
    y, _, group = labeled()
    with pytest.raises(TypeError, match="it must name the models"):
        eh.compare(y, y, sensitive_features=group)
    with pytest.raises(ValueError, match="no models"):
        eh.compare(y, {}, sensitive_features=group)
