"""One word for each thing, at every door; other words of the field are taken or answered."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand.compat import fairlearn as compat
from evenhand.mitigation import METHODS, tradeoff

ORDER = ["young", "middle", "old"]
DOORS = {
    name: thing
    for name in eh.__all__
    if inspect.isfunction(thing := getattr(eh, name)) or name == "Criterion"
} | {
    "Criterion": eh.Criterion.__call__,
    "Criterion.read": eh.Criterion.read,
    "tradeoff": tradeoff,
    "MetricFrame.audit": compat.MetricFrame.audit,
}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"score": rng.normal(size=300), "sex": rng.choice(["F", "M"], 300)})
    y = (X["score"] + (X["sex"] == "M") + rng.normal(size=300) > 0.5).astype(int)
    return X, y


@pytest.mark.parametrize("door", DOORS)
def test_who_takes_groups_takes_them_as_sensitive_features(door):
    parameters = inspect.signature(DOORS[door]).parameters
    assert "group" not in parameters or "sensitive_features" in parameters


def test_scikit_learns_word_for_the_label_is_understood():
    with pytest.raises(TypeError, match=r"no argument 'pos_label'\. Did you mean 'favorable'"):
        eh.evaluate("selection_rate_ratio", None, [1, 0], sensitive_features=[*"ab"], pos_label=1)


def test_a_label_that_was_named_is_said_to_be():
    rng = np.random.default_rng(0)
    y, group = rng.choice(["no", "yes"], 200), rng.choice(["a", "b"], 200)
    found = eh.audit(
        y, y.copy(), sensitive_features=group, criteria="selection_rate_ratio", favorable="yes"
    )
    assert found.document()["favorable"] == "yes"
    assert not found.document()["favorable_assumed"]
    compared = eh.compare(
        y,
        {"m": y.copy()},
        sensitive_features=group,
        criteria="selection_rate_ratio",
        favorable="yes",
    )
    assert compared.values["value"].tolist() == [found.findings[0]["ratio"].value]


def test_a_label_that_was_assumed_is_said_to_be(people):
    _, y = people
    group = np.where(np.arange(300) % 3 == 0, "a", "b")
    found = eh.audit(y, y.copy(), sensitive_features=group, criteria="statistical_parity")
    words = "Favorable label: 1 (assumed; if 1 is the unwanted outcome, name 0 as favorable)."
    assert words in repr(found).replace("\n", " ")
    assert words in found.document()["summary"]["about"]
    assert words in found.to_markdown()
    assert words in found.to_html()
    for favorable in (0, 1):
        named = eh.audit(
            y,
            y.copy(),
            sensitive_features=group,
            criteria="statistical_parity",
            favorable=favorable,
        )
        assert "assumed" not in repr(named)


def test_labels_of_text_are_asked_about_by_both_names():
    with pytest.raises(ValueError, match=r"\['no recid', 'recid'\].*Pass favorable="):
        eh.evaluate(
            "selection_rate_ratio",
            None,
            ["recid", "no recid", "recid", "recid"],
            sensitive_features=[*"aabb"],
        )


def test_a_model_is_audited_by_the_name_of_a_column_or_the_column_itself(people):
    X, y = people
    model = LogisticRegression().fit(X[["score"]], y)
    asked = {"criteria": "statistical_parity", "measures": "mpd"}
    values = [
        eh.audit(y, model, data=X[["score"]], sensitive_features=X["sex"], **asked),
        eh.audit(y, model, data=X[["score"]], sensitive_features=[*X["sex"]], **asked),
    ]

    class Scored(LogisticRegression):
        def predict(self, X):
            return super().predict(X[["score"]])

        def predict_proba(self, X):
            return super().predict_proba(X[["score"]])

    whole = Scored().fit(X[["score"]], y)
    values += [
        eh.audit(y, whole, data=X, sensitive_features="sex", **asked),
        eh.audit(y, whole, data=X, sensitive_features=["sex"], **asked),
    ]
    assert len({found.findings[0]["mpd"].value for found in values}) == 1


def test_groups_are_named_once(people):
    X, y = people
    model = LogisticRegression().fit(X[["score"]], y)
    with pytest.raises(TypeError, match="Pass sensitive_features"):
        eh.audit(y, model, data=X[["score"]])
    with pytest.raises(TypeError, match="whose rows differ from fold to fold"):
        eh.make_scorer("equalized_odds", sensitive_features=X["sex"])


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_an_estimator_says_what_it_calls_the_words_of_functions(method):
    with pytest.raises(TypeError, match="Did you mean 'group'"):
        method.estimator(sensitive_features="sex")
    if "favorable" in inspect.signature(method.estimator).parameters:
        with pytest.raises(TypeError, match="Did you mean 'favorable'"):
            method.estimator(pos_label=1)


def test_one_criterion_may_stand_alone_everywhere(people):
    X, y = people
    options = {"sensitive_features": X["sex"], "criteria": "statistical_parity", "measures": "mpd"}
    assert len(eh.audit(y, y.copy(), **options).findings) == 1
    assert len(eh.compare(y, {"m": y.copy()}, **options).values) == 1
    curve = tradeoff(
        METHODS["LinearPost"](group="sex", sees_group=False),
        X,
        y,
        grid=[1.0],
        criteria="statistical_parity",
        measures="mpd",
    )
    assert "statistical_parity mpd" in curve.points[0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical([*ORDER, "old"], categories=ORDER, ordered=True)),
        pl.Series([*ORDER, "old"], dtype=pl.Enum(ORDER)),
    ],
    ids=["pandas", "polars"],
)
def test_ordered_categories_keep_their_order(column):
    y = [0, 1, 1, 0]
    assert list(eh.groups(column).labels) == ORDER
    counts = eh.tally(column, column, sensitive_features=y)
    assert list(counts.labels("y")) == ORDER
    named = eh.tally(None, y, sensitive_features=column)
    text = eh.tally(None, y, sensitive_features=[*column])
    assert list((named + text).groups) == list((text + named).groups) == ORDER
    kind = pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame
    found = eh.audit(
        data=kind({"age": column, "p": y}),
        y_true=None,
        y_pred="p",
        sensitive_features="age",
        criteria="statistical_parity",
    )
    assert list(found.evidence.groups) == ORDER
    assert [group["label"] for group in found.document()["groups"]] == ORDER


def test_categories_without_an_order_are_sorted():
    column = pd.Series(pd.Categorical(ORDER, categories=ORDER))
    assert list(eh.groups(column).labels) == sorted(ORDER)
