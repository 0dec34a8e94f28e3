"""A lot belongs to a person: it does not depend on who else is asked about, when, or where."""

import datetime
import hashlib
import pickle
import struct
import subprocess
import sys
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import (
    check_fit_idempotent,
    check_methods_sample_order_invariance,
    check_methods_subset_invariance,
)

import evenhand as eh
from evenhand.mitigation import (
    METHODS,
    BarycenterRegressor,
    EqualizedOddsClassifier,
    GivenProbabilities,
    GivenScores,
    LabelFlippingClassifier,
    LinearPostClassifier,
    TransportRegressor,
    lots,
)
from evenhand.mitigation._lots import drawn
from lanes import one_in
from mitigation.regressions import distance

pytestmark = pytest.mark.filterwarnings("ignore::evenhand.UnboundWarning")  # bounds by PQ

DRAWING = {  # a name for each estimator that draws, or can be told to
    method.estimator: name
    for name, method in METHODS.items()
    if "row_id" in method.estimator._get_param_names()
}
CHEAP = {"levels": 9, "max_iter": 3, "support": 20, "tolerance": 1e-4, "rate_error": 0.05}
ROWS = 150
IDS = np.random.default_rng(3).permutation(10 * ROWS)[:ROWS]
orders = st.permutations(range(ROWS))


def rows(seed=0, count=ROWS):
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"age": random.normal(size=count), "hours": random.normal(size=count)})
    X["sex"] = np.where(random.random(count) < 0.5, "F", "M")
    value = X["age"] + X["hours"] + 2 * (X["sex"] == "M") + random.logistic(size=count)
    return X, value.to_numpy()


X, VALUE = rows()


def made(name, **parameters):
    known = METHODS[name].estimator._get_param_names()
    cheap = {key: value for key, value in CHEAP.items() if key in known}
    settings = {"group": "sex", "sees_group": False, "draw": True, **cheap, **parameters}
    return METHODS[name](**settings)


def target(name):
    classified = METHODS[name].task == "classification"
    return np.where(VALUE > 0.5, "yes", "no") if classified else VALUE


@cache
def fitted(name, by):
    """A method fitted to the people, who are named by their values, a column or the index."""
    if by == "values":
        people, row_id = X, None
    elif by == "column":
        people, row_id = X.assign(person=IDS), "person"
    else:
        people, row_id = X.set_index(pd.Index(IDS)), "index"
    return made(name, row_id=row_id, random_state=5).fit(people, target(name)), people


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by"), one_in(3, DRAWING.values(), ["values", "column", "index"]))
@settings(max_examples=max(settings.default.max_examples // 4, 1))
@given(order=orders, sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_a_person_gets_one_answer_in_any_batch_and_any_order(name, by, order, sizes):
    model, people = fitted(name, by)
    together = model.predict(people)
    start = 0
    for size in [*sizes, ROWS]:
        batch = list(order[start : start + size])
        if batch:
            np.testing.assert_array_equal(model.predict(people.iloc[batch]), together[batch])
        start += size


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWING.values())
def test_served_one_by_one_people_get_what_they_get_together(name):
    model, people = fitted(name, "values")
    alone = [model.predict(people.iloc[[place]])[0] for place in range(40)]
    np.testing.assert_array_equal(alone, model.predict(people)[:40])


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWING.values())
def test_two_calls_agree_whatever_the_random_state(name):
    for random_state in (None, 3, np.random.default_rng(0), np.random.RandomState(0)):
        model = made(name, random_state=random_state).fit(X, target(name))
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(model.predict(X), model.predict(X))
        np.testing.assert_array_equal(model.predict(X), again.predict(X))
        assert model.key_ == again.key_


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWING.values())
def test_lots_can_be_told_from_the_key_and_the_id_alone(name):
    model, people = fitted(name, "column")
    np.testing.assert_array_equal(model.lots(people), lots(IDS, key=5))
    if METHODS[name].task == "classification":
        chosen = drawn(model.predict_proba(people), lots(IDS, key=5))
        np.testing.assert_array_equal(model.predict(people), model.classes_[chosen])


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWING.values())
def test_another_key_draws_other_lots_and_a_clone_keeps_its_own(name):
    model, people = fitted(name, "column")
    assert clone(model).get_params()["row_id"] == "person"
    other = clone(model).set_params(random_state=6).fit(people, target(name))
    assert not np.isin(other.lots(people), model.lots(people)).any()
    np.testing.assert_array_equal(other.set_params(random_state=5).lots(people), model.lots(people))


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWING.values())
def test_no_model_sees_the_column_that_names_the_person(name):
    model, people = fitted(name, "column")
    others = people.assign(person=IDS[::-1])
    by_values, _ = fitted(name, "values")
    answer = "predict_proba" if METHODS[name].task == "classification" else "predict"
    if answer == "predict":
        model, by_values = (
            pickle.loads(pickle.dumps(one)).set_params(draw=False) for one in (model, by_values)
        )
    np.testing.assert_allclose(getattr(model, answer)(others), getattr(by_values, answer)(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "check"),
    one_in(
        3,
        DRAWING.values(),
        [
            check_methods_sample_order_invariance,
            check_methods_subset_invariance,
            check_fit_idempotent,
        ],
    ),
)
def test_scikit_learn_finds_decisions_by_lot_invariant(name, check):
    check(name, made(name, group=-1, bins=2, sees_group=True))


@pytest.mark.slow
def test_another_process_draws_the_same_lots():
    code = "from evenhand.mitigation import lots; print(lots(['ann', 3, 0.1], key='k').tolist())"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert told.strip() == str(lots(["ann", 3, 0.1], key="k").tolist())


@pytest.mark.slow
@given(
    st.lists(st.text(st.characters(codec="utf-8")) | st.integers(), min_size=1),
    st.integers() | st.text(st.characters(codec="utf-8")),
)
def test_a_lot_is_the_first_52_bits_of_sha_256(ids, key):
    by_hand = [
        int(hashlib.sha256(f"{key}:{one}".encode()).hexdigest()[:13], 16) / 16**13 for one in ids
    ]
    assert lots(np.array(ids, dtype=object), key=key).tolist() == by_hand


PARTS = st.floats(0, 1, exclude_min=True, exclude_max=True)
FRACTIONS = st.builds(lambda whole, part: whole + part, st.integers(-(2**20), 2**20), PARTS).filter(
    lambda x: x % 1
) | PARTS.map(lambda part: -part)


@pytest.mark.slow
@given(st.lists(FRACTIONS))
def test_a_fraction_is_written_as_the_bits_of_a_single(values):
    for value in values:
        single = struct.unpack(">f", struct.pack(">f", value))[0]
        text = str(int(single)) if single == int(single) else struct.pack(">f", value).hex()
        assert lots([value], key=0) == lots([text], key=0)


def test_duckdb_draws_the_same_lots():
    query = """
        SELECT ('0x' || substr(sha256('k:' || id), 1, 13))::BIGINT / 4503599627370496.0
        FROM range(1000) AS people(id)
    """
    there = [lot for (lot,) in duckdb.sql(query).fetchall()]
    assert there == lots(np.arange(1000), key="k").tolist()


def test_a_value_has_the_same_lot_in_every_type_and_library():
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "part": [0.1, -2.5, np.nan],
            "text": ["x", "é|", None],
            "kind": pd.Categorical(["u", "v", "u"]),
            "code": pd.Categorical([3, 4, 3]),
            "when": pd.to_datetime(["2020-01-01", "2020-01-02T03:00", None], format="ISO8601"),
            "gap": pd.array([1, None, 3], dtype="Int64"),
            "yes": [True, False, True],
        }
    )
    others = [
        frame.astype({"whole": "float32", "part": "float32", "yes": int}),
        frame.astype(object),
        frame.convert_dtypes(),
        frame.astype({"kind": str, "code": "float64"}),
        frame.to_numpy(),
        pl.from_pandas(frame),
        pl.from_pandas(frame).with_columns(pl.col("kind").cast(pl.String)),
        pl.from_pandas(frame).to_arrow(),
    ]
    for other in others:
        np.testing.assert_array_equal(lots(other, key=0), lots(frame, key=0))


def test_single_precision_agrees_with_the_doubles_it_came_from():
    values = np.random.default_rng(0).normal(size=(500, 3)) * 10.0 ** np.arange(-3, 9, 4)
    single = values.astype(np.float32)
    np.testing.assert_array_equal(lots(single, key=0), lots(values, key=0))
    np.testing.assert_array_equal(lots(sparse.csr_matrix(values), key=0), lots(values, key=0))


def test_special_values_have_lots_of_their_own():
    assert lots([-0.0], key=0) == lots([0], key=0)
    assert lots([None], key=0) == lots([np.nan], key=0) == lots([""], key=0) == lots([pd.NA], key=0)
    assert lots([datetime.date(2020, 1, 1)], key=0) == lots(["2020-01-01"], key=0)
    assert lots(np.array(["2020-01-01"], "datetime64[D]"), key=0) == lots(["2020-01-01"], key=0)
    assert lots([b"ann"], key=0) == lots(["ann"], key=0)
    assert len({*lots([2**62, 2**62 + 1, 1e300, np.inf], key=0)}) == 3  # the last two as singles
    both = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    np.testing.assert_array_equal(lots(both, key=0), lots(["a|1", "b|2"], key=0))


def test_lots_are_uniform_and_keys_independent():
    first, second = (lots(np.arange(20_000), key=key) for key in (0, 1))
    assert stats.kstest(first, "uniform").pvalue > 0.001
    assert abs(stats.spearmanr(first, second).statistic) < 3 / np.sqrt(20_000)
    assert 0 <= first.min() < first.max() < 1


def test_a_key_is_a_whole_number_or_text():
    for bad in (1.5, None, True):
        with pytest.raises(eh.InputTypeError, match="key of the draws is a whole number or text"):
            lots([1], key=bad)


def test_an_index_that_counts_the_rows_of_a_call_names_no_one():
    model, people = fitted("EqOdds", "index")
    with pytest.raises(eh.InputError, match="counts the rows of this call, from 0 to 149"):
        model.predict(people.reset_index(drop=True))
    with pytest.raises(eh.InputError, match="for dataframes of pandas"):
        made("EqOdds", row_id="index").fit(pl.from_pandas(X), target("EqOdds"))


def test_a_column_named_index_holds_the_same_ids_as_the_index():
    model, people = fitted("EqOdds", "index")
    moved = people.reset_index()
    again = made("EqOdds", row_id="index", random_state=5).fit(moved, target("EqOdds"))
    np.testing.assert_array_equal(again.predict(moved), model.predict(people))


def test_an_id_that_is_not_there_is_asked_for():
    with pytest.raises(eh.InputError, match=r"X has no column 'persn'.*Did you mean 'person'"):
        made("EqOdds", row_id="persn").fit(X.assign(person=IDS), target("EqOdds"))
    array = np.column_stack([X["sex"] == "M", X["age"]])
    with pytest.raises(eh.InputError, match="row_id names 'person'"):
        EqualizedOddsClassifier(group=0, row_id="person").fit(array, target("EqOdds"))
    assert not hasattr(METHODS["Rejection"](group="sex"), "lots")


def coarse(count=2000, seed=0):
    """Rounded scores, of which many people share one, and whose rates differ by group."""
    random = np.random.default_rng(seed)
    sex = random.choice(["F", "M"], count)
    score = (random.random(count) ** np.where(sex == "F", 1.6, 0.8)).round(1)
    people = pd.DataFrame({"sex": sex, "no": 1 - score, "yes": score})
    return people, (random.random(count) < score).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("key", [0, 1, "a"])
@pytest.mark.usefixtures("few_folds")
def test_a_bound_holds_in_one_call_where_people_share_group_and_score(key):
    people, y = coarse()
    rule = eh.frontier(y, people["yes"], sensitive_features=people["sex"]).rule(0.02)
    decided = rule.predict(people["yes"], people["sex"], key=key)
    how = {"sensitive_features": people["sex"], "measure": "mpd"}
    assert eh.evaluate("statistical_parity", None, decided, **how) <= 0.022
    seed = 7 if key == "a" else key
    options = {"group": "sex", "random_state": seed}
    given = GivenProbabilities(["no", "yes"])
    model = LinearPostClassifier(given, epsilon=0.02, **options).fit(people, y)
    assert eh.evaluate("statistical_parity", None, model.predict(people), **how) <= 0.022
    moved = TransportRegressor(GivenScores("yes"), **options).fit(people, y.astype(float))
    values = moved.predict(people)
    assert distance(values, people["sex"].to_numpy()) <= 0.005


@pytest.mark.long
@pytest.mark.usefixtures("few_folds")
def test_what_ties_do_to_a_bound_is_told_at_fit_and_served_one_by_one():
    people, y = coarse(count=700)
    options = {"group": "sex", "random_state": 0}
    given = GivenProbabilities(["no", "yes"])
    model = LinearPostClassifier(given, epsilon=0.02, **options).fit(people, y)
    served = [people.iloc[[place]] for place in range(len(people))]
    with pytest.warns(UserWarning, match="One row was decided at random without an id"):
        alone = np.concatenate([*map(model.predict, served)])
    how = {"sensitive_features": people["sex"], "measure": "mpd"}
    value = eh.evaluate("statistical_parity", None, alone, **how)
    assert value > 0.04
    assert f"bounded by 0.020 becomes {value:.3f}" in model.notes_[-1]
    moved = TransportRegressor(GivenScores("yes"), **options).fit(people, y.astype(float))
    with pytest.warns(UserWarning, match="without an id"):
        alone = np.concatenate([*map(moved.predict, served)])
    far = distance(alone, people["sex"].to_numpy())
    assert f"bounded by 0 becomes {far:.3f}" in moved.notes_[-1]
    odds = EqualizedOddsClassifier(given, **options).fit(people, y)
    assert "bounded by 0 becomes" in odds.notes_[-1]
    people, y = coarse()
    rule = eh.frontier(y, people["yes"], sensitive_features=people["sex"]).rule(0.02)
    assert "served one by one without ids" in rule.explain()
    with pytest.warns(UserWarning, match="pass ids="):
        rule.predict([0.6], ["M"])
    scores = {"sensitive_features": people["sex"], "criterion": "strong_parity"}
    amounts = eh.frontier(None, people["yes"], **scores).rule(0.02)
    assert "served one by one without ids" in amounts.explain()
    with pytest.warns(UserWarning, match="pass ids="):
        amounts.predict([0.6], ["M"])
    values = amounts.predict(people["yes"], people["sex"])
    assert distance(values, people["sex"].to_numpy()) <= 0.025


def test_people_with_ids_or_without_ties_are_told_nothing():
    people, y = coarse()
    given = GivenProbabilities(["no", "yes"])
    named = people.assign(person=range(len(people)))
    options = {"group": "sex", "random_state": 0, "epsilon": 0.02}
    assert LinearPostClassifier(given, row_id="person", **options).fit(named, y).notes_ == ()
    exact = X.assign(yes=stats.norm.cdf(VALUE), no=stats.norm.sf(VALUE))
    model = LinearPostClassifier(given, **options).fit(exact, (VALUE > 0.5).astype(int))
    assert model.notes_ == ()
    model.predict(exact.iloc[[0]])


def test_equal_rows_of_one_call_have_lots_of_their_own_and_the_same_in_any_order():
    twice = pd.concat([X, X], ignore_index=True)
    y = np.tile(target("EqOdds"), 2)
    model = made("EqOdds", random_state=0).fit(twice, y)
    one, other = np.split(model.lots(twice), 2)
    np.testing.assert_array_equal(one, lots(X, key=0))
    np.testing.assert_allclose(other, (one + (5**0.5 - 1) / 2) % 1)
    order = np.random.default_rng(0).permutation(2 * ROWS)
    assert sorted(model.lots(twice.iloc[order])) == sorted(model.lots(twice))
    moved = model.lots(twice.iloc[order])
    np.testing.assert_array_equal(
        np.sort(moved[np.argsort(order)].reshape(2, -1), axis=0),
        np.sort(model.lots(twice).reshape(2, -1), axis=0),
    )


@given(st.integers(1, 400), st.integers(0, 10**6), st.floats(0, 1))
def test_of_equal_rows_a_share_falls_below_any_share_to_within_a_few_rows(count, key, share):
    own = lots(["ann"] * count, key=key, distinct=True)
    assert len({*own.tolist()}) == count
    assert abs((own < share).sum() - count * share) <= 3


@given(st.lists(st.tuples(st.text("|^a"), st.text("|^a"), st.text("|^a")), unique=True))
def test_no_two_rows_of_several_columns_have_the_same_lot(ids):
    if ids:
        table = pd.DataFrame(ids, columns=["x", "y", "z"])
        assert len({*lots(table, key=0).tolist()}) == len(ids)


def test_the_group_need_not_be_there_for_a_lot_where_no_decision_reads_it():
    model, people = fitted("Reduction", "values")
    np.testing.assert_array_equal(model.lots(people.drop(columns="sex")), model.lots(people))


@pytest.mark.long
def test_served_row_by_row_odds_and_distributions_are_as_equal_as_they_should_be():
    people, value = rows(seed=1, count=800)
    unlike = 1 / (1 + np.exp(-value - 2.0 * (people["sex"] == "M")))
    people = people.assign(score=value, no=1 - unlike, yes=unlike)
    y, sex = (value > 0.5).astype(int), people["sex"].to_numpy()
    served = [people.iloc[[place]] for place in range(len(people))]
    given = GivenProbabilities(["no", "yes"])
    odds = EqualizedOddsClassifier(given, group="sex", random_state=0).fit(people, y)
    labels = np.concatenate([*map(odds.predict, served)])
    how = {"sensitive_features": sex, "measure": "mpd"}
    before, after = (
        eh.evaluate("equalized_odds", y, one, **how) for one in ((unlike > 0.5).astype(int), labels)
    )
    assert after < before / 2
    moved = TransportRegressor(GivenScores("score"), group="sex", epsilon=0.05, support=8)
    values = np.concatenate([*map(moved.fit(people, value).predict, served)])
    assert distance(values, sex) < distance(value, sex) / 2


def test_the_order_of_fitting_rows_moves_no_flip_and_no_half():
    order = np.random.default_rng(0).permutation(ROWS)
    y = target("EqOdds")
    flips = {
        "group": "sex",
        "sees_group": False,
        "flips": "drawn",
        "random_state": 0,
        "epsilon": 0.05,
    }
    one = LabelFlippingClassifier(**flips).fit(X, y)
    other = LabelFlippingClassifier(**flips).fit(X.iloc[order], y[order])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-3)
    halves = {"group": "sex", "halves": True, "random_state": 0}
    scored = X.assign(score=VALUE)
    one = BarycenterRegressor(GivenScores("score"), **halves).fit(scored, VALUE)
    other = BarycenterRegressor(GivenScores("score"), **halves).fit(
        scored.iloc[order], VALUE[order]
    )
    np.testing.assert_allclose(one.predict(scored), other.predict(scored))


def test_a_method_of_equal_outcomes_by_lot_has_rates_within_three_standard_errors():
    people, value = rows(seed=2, count=20_000)
    model = made("LinearPost", random_state=0, epsilon=0.0).fit(people, (value > 0.5).astype(int))
    chance = model.predict_proba(people)[:, 1]
    error = np.sqrt((chance * (1 - chance)).sum())
    assert abs(model.predict(people).sum() - chance.sum()) <= 3 * error


def test_base_models_of_regressors_do_not_see_ids():
    people = X.assign(person=IDS)
    model = made("LinearPost_R", row_id="person", sees_group=False).fit(people, VALUE)
    base = LinearRegression().fit(X[["age", "hours"]], VALUE)
    np.testing.assert_allclose(model.estimator_.coef_, base.coef_)
