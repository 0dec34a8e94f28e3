"""What becomes of predicted amounts is the same in SQL, in ONNX, in plain Python and here."""

import hashlib
import json
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

from evenhand import InputError
from evenhand._data.sql import DIALECTS
from evenhand.mitigation import (
    AmountRule,
    BarycenterRegressor,
    GivenScores,
    ParityConstrainedRegressor,
    TransportRegressor,
)
from later import Later

onnxruntime = Later("onnxruntime")
MANY = 8_000
KEY = 11
SEXES = ["F", 'M"; DROP TABLE people; --', "é'\\"]
MODELS = {
    "barycenter": BarycenterRegressor(GivenScores("p"), group=["sex", "old"]),
    "halfway": BarycenterRegressor(GivenScores("p"), group="sex", fraction=0.4),
    "corridor": TransportRegressor(
        GivenScores("p"), group="sex", epsilon=0.1, support=60, row_id="id", random_state=KEY
    ),
    "corridor by place": TransportRegressor(
        GivenScores("p"), group="sex", epsilon=0.1, support=60, draw=False
    ),
    "corridor of values": TransportRegressor(
        GivenScores("p"),
        group="sex",
        epsilon=0.1,
        support="exact",
        row_id="id",
        random_state=KEY,
    ),
    "means": ParityConstrainedRegressor(
        GivenScores("p"), group="sex", criterion="weak_parity", measure="mpd", epsilon=0.2
    ),
    "wasserstein": ParityConstrainedRegressor(
        GivenScores("p"),
        group="sex",
        criterion="wasserstein_parity",
        measure="mpd",
        epsilon=0.2,
        row_id="id",
        random_state=KEY,
    ),
    "ages": BarycenterRegressor(GivenScores("p"), group="age", bins={"age": 3}),
}


def people(count, seed, coarse=False):
    """Groups, an id and predictions, whose distribution differs by group."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": random.choice(SEXES, count, p=[0.5, 0.3, 0.2])})
    frame["old"] = random.random(count) < 0.4
    frame["age"] = random.integers(18, 90, count)
    shift = frame["sex"].map(dict(zip(SEXES, (1.0, 0.0, -1.0), strict=True)))
    frame["p"] = random.normal(shift) + 0.5 * frame["old"]
    if coarse:
        frame["p"] = frame["p"].round(1)
    return frame.assign(id=random.permutation(10 * count)[:count])


@pytest.fixture(scope="module", params=MODELS)
def deployed(request):
    """A fitted model, its rule, and new people."""
    coarse = request.param == "corridor of values"
    X = people(400, 0, coarse)
    rows = MANY if request.param in ("corridor", "means") else MANY // 10
    model = MODELS[request.param].fit(X, X["p"])
    return model, people(rows, 1, coarse)


def how(model):
    return {"row_id": "id", "key": model.key_} if model.rule_.draws else {}


@pytest.mark.slow
def test_the_rule_is_what_predict_does(deployed):
    model, new = deployed
    codes = model.sensitive_.codes(new)
    lot = model.lots(new) if model.rule_.draws else np.zeros(len(new))
    assert np.allclose(model.rule_.amounts(new["p"], codes, lot), model.predict(new), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_a_database_predicts_as_the_model_does(deployed, engine):
    model, new = deployed
    query = model.rule_.to_sql(engine, amount="p", **how(model))
    if engine == "duckdb":
        base = duckdb.connect()
        base.register("people", new)
        answers = base.execute(query).df()
    else:
        base = sqlite3.connect(":memory:")
        base.create_function("sha256", 1, lambda text: hashlib.sha256(text.encode()).hexdigest())
        new.to_sql("people", base, index=False)
        answers = pd.read_sql(query, base)
    answers = answers.set_index("id").loc[new["id"], "prediction"]
    assert np.allclose(answers, model.predict(new), atol=1e-6)


@pytest.mark.slow
def test_onnx_predicts_as_the_model_does(deployed):
    model, new = deployed
    session = onnxruntime.InferenceSession(model.rule_.to_onnx().SerializeToString())
    given = {"amount": new["p"].to_numpy(), "lot": None}
    if model.rule_.draws:
        given["lot"] = model.lots(new)
    inputs = {}
    for each in session.get_inputs():
        column = given.get(each.name)
        column = new[each.name].to_numpy() if column is None else column
        inputs[each.name] = column if column.dtype == object else column.astype(np.float64)
    (answers,) = session.run(["prediction"], inputs)
    assert np.allclose(answers, model.predict(new), atol=1e-6)


@pytest.mark.slow
def test_python_without_us_predicts_as_the_model_does(deployed):
    model, new = deployed
    space = {}
    exec(model.rule_.to_python(), space)
    some = new.head(2000)
    columns = model.rule_.moves.grouping.columns
    answers = [
        space["predict"](row["p"], tuple(row[c] for c in columns), row["id"], model.key_)
        for row in some.to_dict("records")
    ]
    assert np.allclose(answers, model.predict(some), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_a_query(dialect):
    X = people(200, 0)
    rule = MODELS["corridor"].fit(X, X["p"]).rule_
    assert "DROP TABLE" in rule.to_sql(dialect, row_id="id", key=KEY)


def test_a_stranger_or_a_missing_amount_gets_no_prediction():
    X = people(300, 0)
    rule = MODELS["means"].fit(X, X["p"]).rule_
    new = pd.DataFrame({"sex": ["F", "?"], "p": [None, 1.0]})
    base = duckdb.connect()
    base.register("people", new)
    answers = base.execute(rule.to_sql(amount="p")).df()["prediction"]
    assert answers.isna().all()
    session = onnxruntime.InferenceSession(rule.to_onnx().SerializeToString())
    given = {"amount": np.array([np.nan, 1.0]), "sex": np.array(["F", "?"], object)}
    assert np.isnan(session.run(None, given)[0]).all()


def test_lots_need_an_id_and_a_key():
    X = people(300, 0)
    rule = MODELS["corridor"].fit(X, X["p"]).rule_
    with pytest.raises(InputError, match="row_id"):
        rule.to_sql()


def test_fewer_pieces_are_off_by_no_more_than_the_tolerance():
    X = people(3000, 0)
    rule = MODELS["barycenter"].fit(X, X["p"]).rule_
    fewer = rule.simplified(0.01)
    at = np.linspace(-5, 6, 4001)
    for pool in range(rule.moves.pools):
        codes = np.full(len(at), pool)
        assert np.abs(rule.amounts(at, codes) - fewer.amounts(at, codes)).max() <= 0.01 + 1e-12
    assert fewer.pieces < rule.pieces / 5


@pytest.mark.slow
def test_too_many_pieces_are_refused_with_the_way_out():
    X = people(12_000, 0)
    rule = BarycenterRegressor(GivenScores("p"), group="old").fit(X, X["p"]).rule_
    with pytest.raises(InputError, match="simplified"):
        rule.to_sql()
    assert len(rule.simplified(0.001).to_sql()) > 0


def test_amounts_without_lots_are_means_over_lots():
    X = people(500, 0)
    rule = MODELS["wasserstein"].fit(X, X["p"]).rule_
    before, codes = np.repeat([0.2, -0.4], 2000), np.repeat([0, 1], 2000)
    lots = np.tile((np.arange(2000) + 0.5) / 2000, 2)
    drawn = rule.amounts(before, codes, lots).reshape(2, -1).mean(axis=1)
    assert np.allclose(drawn, rule.amounts(before, codes)[[0, 2000]], atol=1e-3)


def test_a_rule_of_amounts_is_told_in_words_and_kept_as_json():
    X = people(300, 0)
    rule = MODELS["means"].fit(X, X["p"]).rule_
    assert rule.explain().splitlines()[0].startswith("Group F: subtract ")
    content = json.loads(rule.to_json())
    assert [each["cuts"] for each in content["rules"]] == [[], [], []]
    drawn = MODELS["corridor"].fit(X, X["p"]).rule_
    assert "one is drawn at random" in drawn.explain()


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_rule_of_amounts_that_is_read_again_is_the_same(name):
    X = people(300, 0)
    rule = MODELS[name].fit(X, X["p"]).rule_
    again = AmountRule.from_json(rule.to_json())
    random = np.random.default_rng(1)
    before, codes = random.normal(size=500), random.integers(0, rule.moves.pools, 500)
    lots = random.random(500)
    assert again.amounts(before, codes, lots).tolist() == rule.amounts(before, codes, lots).tolist()
    assert (again.explain(), again.to_json()) == (rule.explain(), rule.to_json())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rule: rule.pop("checksum"), "no checksum"),
        (lambda rule: rule["rules"][0]["pieces"][0].update(anchor=7), "other contents"),
        (lambda rule: signed(rule, format="evenhand decision rule 1"), "not an 'evenhand amount"),
        (lambda rule: signed(rule, rules=rule["rules"][:2]), "groups do not fit"),
        (lambda rule: signed(rule, groups=None), "none is named"),
        (lambda rule: signed(rule, rules=[{"cuts": [1.0], "pieces": []}] * 3), "damaged"),
        (lambda rule: signed(rule, rules=[bad([[0.5, 1, 1]])] * 3), "do not rise to 1"),
        (
            lambda rule: signed(rule, rules=[bad([[1, 1, 1]], cuts=[2.0])] * 3),
            "do not fit its cuts",
        ),
        (lambda rule: signed(rule, rules=[bad([[1, "x", 1]])] * 3), "damaged"),
        (lambda rule: signed(rule, rules=5), "is not a list"),
    ],
)
def test_a_rule_of_amounts_that_was_changed_is_refused(change, said):
    X = people(300, 0)
    content = json.loads(MODELS["means"].fit(X, X["p"]).rule_.to_json())
    change(content)
    with pytest.raises(InputError, match=said):
        AmountRule.from_json(json.dumps(content))


def bad(outcomes, cuts=()):
    return {"cuts": [*cuts], "pieces": [{"anchor": 0.0, "outcomes": outcomes}]}


def signed(content, **changes):
    """The same content with changes, and the checksum of those."""
    del content["checksum"]
    content |= changes
    text = json.dumps(content)
    content["checksum"] = hashlib.sha256(text.encode()).hexdigest()[:32]
