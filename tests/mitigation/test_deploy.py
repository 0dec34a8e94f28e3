"""A rule decides alike in SQL, in ONNX, in plain Python and here."""

import builtins
import hashlib
import json
import sqlite3
import sys
from contextlib import suppress
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand._data.sql import DIALECTS
from evenhand.mitigation import (
    CalibratedOddsClassifier,
    EqualizedOddsClassifier,
    GivenProbabilities,
    LinearPostClassifier,
    RateConstrainedClassifier,
    RejectOptionClassifier,
    lots,
)
from evenhand.mitigation.deploy import Grouping
from evenhand.mitigation.optimal import DecisionRule
from later import Later

onnxruntime = Later("onnxruntime")
KEY = 11
MANY = 8_000
SEXES = ["F", 'M"; DROP TABLE people; --', "é'\\"]


def people(count, seed, classes=2, coarse=False):
    """Groups, an id and class probabilities, whose distribution differs by group."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": random.choice(SEXES, count, p=[0.5, 0.3, 0.2])})
    frame["old"] = random.random(count) < 0.4
    frame["age"] = random.integers(18, 90, count)
    logits = random.normal(size=(count, classes)) * 1.5
    logits[:, -1] += frame["sex"].map(dict(zip(SEXES, (1.0, 0.0, -1.0), strict=True)))
    logits[:, -1] += 0.5 * frame["old"]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    if coarse and classes == 2:
        p[:, 1] = p[:, 1].round(1)
        p[:, 0] = 1 - p[:, 1]
    for place in range(classes):
        frame[f"p{place}"] = p[:, place]
    truth = (random.random((count, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return frame.assign(id=random.permutation(10 * count)[:count]), truth


def fitted(kind):
    """A model, its rule, the columns of scores that the rule reads, and new people."""
    classes = 3 if kind in ("three classes", "blind") else 2
    labels = np.array(["no", "yes", "may'be"][:classes])
    X, truth = people(3000, 0, classes, coarse=kind in ("coarse", "two columns"))
    rows = MANY if kind in ("coarse", "three classes") else MANY // 10
    new, _ = people(rows, 1, classes, coarse=kind in ("coarse", "two columns"))
    scores = [f"p{place}" for place in range(classes)]
    given = GivenProbabilities(scores, classes=sorted(labels))
    options = {"group": "sex", "row_id": "id", "random_state": KEY}
    y = np.array(sorted(labels))[truth]
    if kind == "two columns":
        options["group"], options["bins"] = ["sex", "age", "old"], {"age": 3}
    if kind in ("coarse", "two columns"):
        model = LinearPostClassifier(given, **options, epsilon=0.01)
    elif kind == "three classes":
        model = RateConstrainedClassifier(given, **options, measure="gini", epsilon=0.02)
    elif kind == "blind":
        blind = {"group_estimator": LogisticRegression(), "sees_group": False}
        X, new = (frame[["sex", "id", *scores]] for frame in (X, new))
        model = LinearPostClassifier(given, **options, **blind, epsilon=0.01)
    elif kind == "labels":
        model = EqualizedOddsClassifier(given, **options)
    else:
        two = X["sex"].isin(SEXES[:2]).to_numpy()
        X, y, new = X[two], y[two], new[new["sex"].isin(SEXES[:2])]
        if kind == "withheld":
            model = CalibratedOddsClassifier(given, **options, favorable="yes")
        else:
            model = RejectOptionClassifier(given, group="sex", favorable=kind, epsilon=0.02)
    return model.fit(X, y), new.reset_index(drop=True)


KINDS = ["coarse", "two columns", "three classes", "blind", "labels", "withheld", "no", "yes"]


@pytest.fixture(scope="module", params=KINDS)
def deployed(request):
    model, new = fitted(request.param)
    if request.param == "labels":
        table = new.assign(label=(model.estimator_.predict(new) == "yes").astype(float))
        read = ["label"]
    elif request.param == "blind":
        joint = model._joint(new)
        read = [f"joint {place}" for place in range(joint.shape[1])]
        table = pd.concat([new[["id"]], pd.DataFrame(joint, columns=read)], axis=1)
    elif request.param == "three classes":
        table, read = new, ["p0", "p1", "p2"]
    else:
        table, read = new, ["p1"]
    return model, new, table, read


def registered():
    """A connection to SQLite that knows SHA-256, as the query asks for it."""
    connection = sqlite3.connect(":memory:")
    connection.create_function(
        "sha256", 1, lambda text: hashlib.sha256(text.encode()).hexdigest(), deterministic=True
    )
    return connection


def answers(engine, query, table):
    if engine == "duckdb":
        with duckdb.connect() as connection:
            connection.register("people", table)
            return connection.execute(query).df()
    with registered() as connection:
        table.to_sql("people", connection, index=False)
        return pd.read_sql(query, connection)


def agree(model, new, chances, decisions):
    """Chances to 1e-6, and the same decision for everyone."""
    np.testing.assert_allclose(chances, model.predict_proba(new), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(decisions, model.predict(new))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_a_database_decides_as_the_model_does(deployed, engine):
    model, new, table, read = deployed
    query = model.rule_.to_sql(engine, scores=read, row_id="id", key=KEY)
    there = answers(engine, query, table).set_index("id").loc[new["id"]]
    chances = there[[f"chance_{label}" for label in model.classes_]].to_numpy()
    agree(model, new, chances, there["decision"].to_numpy())
    np.testing.assert_array_equal(there["lot"], lots(new["id"], key=KEY))


@pytest.mark.slow
def test_onnx_decides_as_the_model_does(deployed):
    model, new, table, read = deployed
    session = onnxruntime.InferenceSession(model.rule_.to_onnx().SerializeToString())
    scores = table[read].to_numpy(np.float64)
    given = {"scores": np.column_stack([1 - scores, scores]) if len(read) == 1 else scores}
    for column in session.get_inputs():
        if column.name in table:
            text = column.type == "tensor(string)"
            given[column.name] = table[column.name].to_numpy(object if text else np.float64)
    given["lot"] = lots(new["id"], key=KEY)
    chances, decisions = session.run(["probabilities", "decision"], given)
    agree(model, new, chances, decisions)


@pytest.mark.slow
def test_python_without_us_decides_as_the_model_does(deployed, monkeypatch):
    model, new, table, read = deployed
    module = alone(model.rule_.to_python(), monkeypatch)
    scores = [row[0] if len(row) == 1 else row for row in table[read].to_numpy().tolist()]
    columns = module["COLUMNS"]
    groups = [*zip(*(new[name] for name in columns), strict=True)] if columns else [None] * len(new)
    chances = [module["probabilities"](*row) for row in zip(scores, groups, strict=False)]
    decisions = [
        module["decide"](*row, KEY) for row in zip(scores, groups, new["id"], strict=False)
    ]
    agree(model, new, chances, decisions)


def alone(source, monkeypatch):
    """What the source defines where nothing but Python's own library can be imported."""

    def importing(name, *rest, **more):
        assert name in sys.stdlib_module_names
        return imported(name, *rest, **more)

    imported = builtins.__import__
    with monkeypatch.context() as patched:
        patched.setattr(builtins, "__import__", importing)
        module = {}
        exec(compile(source, "rule", "exec"), module)
    return module


@pytest.mark.slow
def test_rates_of_lots_are_within_three_standard_errors(deployed):
    model, new, _, _ = deployed
    chance = model.predict_proba(new)[:, 1]
    error = np.sqrt((chance * (1 - chance)).sum())
    chosen = (model.predict(new) == model.classes_[1]).sum()
    assert abs(chosen - chance.sum()) <= 3 * error + 1e-9


@pytest.mark.slow
def test_json_keeps_all_names(deployed):
    model, _, _, read = deployed
    again = DecisionRule.from_json(model.rule_.to_json())
    assert again.explain() == model.rule_.explain()
    assert again.to_python() == model.rule_.to_python()
    assert again.to_sql(scores=read) == model.rule_.to_sql(scores=read)


LOTTERY = DecisionRule(
    np.array([[[0, 0.42], [0, -0.58]], [[0, 0.40], [0, -0.60]], [[0, 0.5], [0, -0.5]]]),
    np.array([0, 0, 1]),
    np.array([0.7, 0.3, 1.0]),
).named(["no", "yes"], ["sex"], ["A", "B"])


def test_a_rule_is_explained_in_words():
    assert LOTTERY.explain() == (
        "Group A: select scores above 0.42; between 0.40 and 0.42 select 3 in 10.\n"
        "Group B: select scores above 0.50.\n"
        "A score is the probability of 'yes'; to select is to decide 'yes'."
    )
    assert LOTTERY.explain(selected="no").startswith(
        "Group A: between 0.40 and 0.42 select 7 in 10; select scores up to 0.40."
    )
    with pytest.raises(eh.InputError, match="selected='maybe' is not among"):
        LOTTERY.explain(selected="maybe")
    model, _ = fitted("labels")
    assert "of those the model selects, select" in model.rule_.explain()


def test_the_nearest_rule_without_chance_is_the_most_frequent():
    assert LOTTERY.nearest().explain().startswith("Group A: select scores above 0.42.\n")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["coarse", "three classes", "blind"])
def test_what_the_nearest_rule_costs_is_told_exactly(kind):
    model, new = fitted(kind)
    classes = len(model.classes_)
    X, _ = people(3000, 0, classes, coarse=kind == "coarse")
    X = X[[*new.columns]]
    decided = model.set_params(draw=False).predict(X)
    place = np.searchsorted(model.classes_, decided)
    p = X[[f"p{k}" for k in range(classes)]].to_numpy()
    assert model.nearest_.objective == pytest.approx(1 - p[np.arange(len(p)), place].mean())
    assert model.nearest_.objective <= model.objective_ + 0.05
    if kind != "blind":
        rates = [
            [(place[X["sex"] == sex] == k).mean() for sex in sorted(SEXES)] for k in range(classes)
        ]
        np.testing.assert_allclose(model.nearest_.rates, rates[-len(model.nearest_.rates) :])
    alone = [model.predict(X.iloc[[row]])[0] for row in range(20)]
    np.testing.assert_array_equal(alone, decided[:20])


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_quotes_names_and_labels(dialect):
    import sqlglot

    model, _ = fitted("coarse")
    odd = {"table": "a.b", "scores": "the score", "row_id": ["id", "day"], "key": "it's"}
    query = model.rule_.to_sql(dialect, **odd)
    parsed = sqlglot.parse(query, read=dialect)
    assert len(parsed) == 1
    kind = sqlglot.exp.National if dialect == "tsql" else sqlglot.exp.Literal
    texts = {text.this for text in parsed[0].find_all(kind)}
    assert {*SEXES, "no", "yes", "it's:", "|"} <= texts
    assert {"the score", "sex"} <= {
        column.name for column in parsed[0].find_all(sqlglot.exp.Column)
    }
    with pytest.raises(eh.InputError, match="cannot be the name"):
        model.rule_.to_sql(dialect, scores="a\nb")


def test_a_stranger_or_a_missing_score_gets_no_decision():
    table = pd.DataFrame({"sex": ["A", "C", None, "A", "B", "B"], "id": range(6)})
    table["score"] = [0.9, 0.9, 0.9, None, np.nan, 1.5]
    for engine in ("duckdb", "sqlite"):
        there = answers(engine, LOTTERY.to_sql(engine, row_id="id", key=0), table)
        assert there.sort_values("id")["decision"].tolist()[0] == "yes"
        assert there.sort_values("id")["decision"].isna().tolist()[1:] == [True] * 5
    session = onnxruntime.InferenceSession(LOTTERY.to_onnx().SerializeToString())
    scores = np.array([[0.1, 0.9], [0.1, 0.9], [np.nan, np.nan], [-0.5, 1.5]])
    given = {"scores": scores, "sex": np.array(["A", "C", "A", "A"], object), "lot": np.zeros(4)}
    chances, decisions = session.run(None, given)
    assert decisions.tolist() == ["yes", "", "", ""]
    assert np.isnan(chances[1:]).all()
    module = {}
    exec(LOTTERY.to_python(), module)
    with pytest.raises(ValueError, match="knows no group 'C'"):
        module["decide"](0.9, "C", 1, 0)
    with pytest.raises(ValueError, match="Expected 2 probabilities"):
        module["decide"](float("nan"), "A", 1, 0)
    with pytest.raises(ValueError, match="Chance decides here"):
        module["decide"](0.41, "A")


def test_without_ids_a_query_gives_chances_alone():
    table = pd.DataFrame({"gender": ["A"], "score": [0.41]})
    there = answers("duckdb", LOTTERY.to_sql(group="gender"), table)
    assert there.columns.tolist() == ["gender", "score", "chance_no", "chance_yes"]
    assert there["chance_yes"].tolist() == [0.3]
    with pytest.raises(eh.InputError, match="pass both row_id= and key="):
        LOTTERY.to_sql(row_id="id")
    with pytest.raises(eh.InputError, match="reads 1 or 2 columns of scores, and scores= names 3"):
        LOTTERY.to_sql(scores=["a", "b", "c"])
    with pytest.raises(eh.InputError, match="is read from 1 columns"):
        LOTTERY.to_sql(group=["a", "b"])
    with pytest.raises(eh.InputError, match=r"no dialect 'duckbd'.*Did you mean 'duckdb'"):
        LOTTERY.to_sql("duckbd")


@pytest.mark.parametrize(("package", "export"), [("onnx", "to_onnx"), ("sqlglot", "to_sql")])
def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch, package, export):
    real = eh._errors.find_spec
    monkeypatch.setattr(
        "evenhand._errors.find_spec", lambda name: None if name == package else real(name)
    )
    extra = "sql" if package == "sqlglot" else package
    with pytest.raises(eh.MissingExtraError, match=rf'pip install "evenhand\[{extra}\]"'):
        getattr(LOTTERY, export)()


def test_numbers_and_truth_values_name_groups_and_classes_too():
    rule = DecisionRule(LOTTERY.prices, LOTTERY.pool, LOTTERY.share)
    by_number = rule.named([0, 1], ["scores"], [1, 2])
    by_truth = rule.named([-1.5, 1.0], ["old"], [True, False])
    table = pd.DataFrame({"scores": [1, 2, 2], "old": [True, False, False], "id": [1, 2, 3]})
    table["score"] = [0.41, 0.6, 0.1]
    for named, column in ((by_number, "group_scores"), (by_truth, "old")):
        there = answers("duckdb", named.to_sql(row_id="id", key=0), table)
        assert there.iloc[:, -3].tolist() == [0.3, 1.0, 0.0]
        session = onnxruntime.InferenceSession(named.to_onnx().SerializeToString())
        given = {"lot": lots(table["id"], key=0)}
        given["scores"] = np.column_stack([1 - table["score"], table["score"]])
        given[column] = table[named.grouping.columns[0]].to_numpy(np.float64)
        _, decisions = session.run(None, given)
        assert decisions.tolist() == there["decision"].astype(float).tolist()


def test_negative_numbers_are_doubles_in_sql_as_positive_ones_are():
    prices = np.array([[[0.0, -1.25], [-0.5, 0.0]]])
    rule = DecisionRule(prices, np.zeros(1, int), np.ones(1)).named([-0.5, 2**53 - 1], [], [()])
    query = rule.to_sql("duckdb", scores=["s0", "s1"], row_id="id", key="k")
    table = pd.DataFrame({"id": ["a", "b"], "s0": [1.0, 0.0], "s1": [0.0, 1.0]})
    assert "-0.5e0" in query
    assert sorted(answers("duckdb", query, table)["decision"]) == [-0.5, 2**53 - 1]


def test_labels_that_no_language_can_write_are_refused_when_exported_not_before():
    dated = LOTTERY.named(
        ["no", "yes"], ["day"], list(pd.to_datetime(["2020-01-01", "2021-01-01"]))
    )
    for export in (dated.to_sql, dated.to_python, dated.to_onnx):
        with pytest.raises(eh.InputTypeError, match="Make the column text"):
            export()
    assert "Group 2020-01-01" in dated.explain()


ODD = [float("nan"), float("inf"), "half \ud800", 1 << 63, -(1 << 63)]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_labels_that_a_format_has_no_words_for_are_refused_by_name(odd):
    large = isinstance(odd, int)
    for named in (LOTTERY.named(["no", odd]), LOTTERY.named(["no", "yes"], ["sex"], ["A", odd])):
        for export in (named.to_sql, named.to_onnx):
            with pytest.raises(eh.InputError, match="The label"):
                export()
        for export in (named.to_python, named.to_json):
            if large:
                export()
                continue
            with pytest.raises(eh.InputError, match="The label"):
                export()


@pytest.mark.slow
def test_a_score_at_a_cut_is_decided_alike_in_every_language(monkeypatch):
    """Prices whose cut is no short number, and the doubles next to it."""
    random = np.random.default_rng(4)
    cuts = random.random(200)
    scale = random.normal(size=200)[:, None] * 3  # upward rules and downward ones
    column = scale * np.column_stack([cuts, cuts - 1])
    prices = np.stack([np.zeros_like(column), column], axis=-1)
    groups = [f"g{place}" for place in range(100)]
    rule = DecisionRule(prices, np.arange(200) % 100, np.tile([0.25, 0.75], (100, 1)).T.ravel())
    rule = rule.named([0, 1], ["who"], groups)
    at = np.concatenate([[rule._described().steps(place).cuts for place in range(100)]])
    at = np.stack([np.nextafter(at, 0), at, np.nextafter(at, 1)], axis=-1)
    table = pd.DataFrame({"who": np.repeat(groups, 6), "score": at.ravel()})
    codes = np.repeat(np.arange(100), 6)
    here = rule.probabilities(np.column_stack([1 - table["score"], table["score"]]), codes)[:, 1]
    for engine in ("duckdb", "sqlite"):
        np.testing.assert_array_equal(answers(engine, rule.to_sql(engine), table)["chance_1"], here)
    session = onnxruntime.InferenceSession(rule.to_onnx().SerializeToString())
    given = {"who": table["who"].to_numpy(object), "lot": np.zeros(600)}
    given["scores"] = np.column_stack([1 - table["score"], table["score"]])
    np.testing.assert_array_equal(session.run(None, given)[0][:, 1], here)
    module = alone(rule.to_python(), monkeypatch)
    there = [module["probabilities"](score, who)[1] for who, score in table.to_numpy()]
    np.testing.assert_array_equal(there, here)


@pytest.mark.slow
@pytest.mark.parametrize("cut", [-0.3, 0.0, 1.0, 1.4])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_cut_at_or_beyond_the_ends_is_for_all_scores_alike(cut, side, monkeypatch):
    prices = side * np.array([[[0.0, cut], [0.0, cut - 1]]])
    rule = DecisionRule(prices, np.array([0]), np.ones(1)).named([0, 1])
    scores = np.array([0.0, 0.4, 1.0])
    expected = (scores > cut) == (side > 0)
    here = rule.probabilities(np.column_stack([1 - scores, scores]))[:, 1]
    assert here.tolist() == expected.tolist()
    there = answers("duckdb", rule.to_sql("duckdb"), pd.DataFrame({"score": scores}))
    assert there["chance_1"].tolist() == expected.tolist()
    module = alone(rule.to_python(), monkeypatch)
    assert [module["decide"](score) for score in scores.tolist()] == expected.tolist()


def test_a_rule_of_scores_on_any_scale_decides_alike_in_every_language(monkeypatch):
    prices = np.array([[[0.0, 649.5], [0.0, 648.5]], [[0.0, -1.0], [0.0, -1.0]]])
    rule = DecisionRule(prices, np.array([0, 1]), np.ones(2), reads="numbers")
    rule = DecisionRule.from_json(rule.named(["no", "yes"], ["who"], ["a", "b"]).to_json())
    scores = np.array([-1e300, 649.5, 650.0, 1e300])
    expected = [0, 0, 1, 1]
    table = pd.DataFrame({"who": ["a"] * 4 + ["b"] * 4, "score": np.tile(scores, 2)})
    features = np.column_stack([1 - table["score"], table["score"]])
    here = rule.probabilities(features, np.repeat([0, 1], 4))[:, 1]
    assert here.tolist() == expected + [1] * 4
    for engine in ("duckdb", "sqlite"):
        there = answers(engine, rule.to_sql(engine), table.sort_index())["chance_yes"]
        assert there.tolist() == here.tolist()
    session = onnxruntime.InferenceSession(rule.to_onnx().SerializeToString())
    given = {"who": table["who"].to_numpy(object), "lot": np.zeros(8), "scores": features}
    assert session.run(None, given)[0][:, 1].tolist() == here.tolist()
    decide = alone(rule.to_python(), monkeypatch)["decide"]
    assert [decide(score, "a") for score in scores.tolist()] == ["no", "no", "yes", "yes"]
    with pytest.raises(ValueError, match="2 numbers"):
        decide(float("inf"), "a")
    assert "above 649.50" in rule.explain()
    assert "A higher score speaks for 'yes'" in rule.explain()


def test_ids_of_several_columns_have_one_lot_in_every_language(monkeypatch):
    table = pd.DataFrame({"a": ["x|y", "x", "^", "é"], "b": ["z", "y|z", "|", ""]})
    expected = lots(table, key="k")
    assert len({*expected.tolist()}) == 4
    table = table.assign(sex="A", score=0.41)
    for engine in ("duckdb", "sqlite"):
        query = LOTTERY.to_sql(engine, row_id=["a", "b"], key="k")
        np.testing.assert_array_equal(answers(engine, query, table)["lot"], expected)
    module = alone(LOTTERY.to_python(), monkeypatch)
    own = [module["lot"](person, "k") for person in zip(table["a"], table["b"], strict=True)]
    assert own == expected.tolist()


def test_sql_server_is_given_text_of_any_language():
    rule = LOTTERY.named(["いいえ", "はい"], ["sex"], ["女", "男"])
    query = rule.to_sql("tsql", row_id="id", key="鍵")
    for text in ("いいえ", "はい", "女", "男", "鍵:"):
        assert f"N'{text}'" in query
    assert query.count("'") == 2 * (query.count("N'") + query.count("'SHA2_256'"))
    assert "UTF8 AS VARCHAR(MAX)" in query  # what is hashed


@pytest.mark.slow
def test_a_score_that_is_no_probability_gets_no_decision_anywhere():
    rule = a_rule()
    for bad in (1.5, -0.1):
        with pytest.raises(eh.InputError, match=f"and {bad} is none"):
            rule.predict([bad], ["a"])
    with pytest.raises(eh.InputError, match="no rule decides without it"):
        rule.probabilities(np.array([[np.nan, np.nan]]), np.array([0]))


def test_classes_that_a_database_would_confuse_are_refused():
    with pytest.raises(eh.InputError, match="differ by more than capitals"):
        LOTTERY.named(["a", "A"], ["sex"], ["A", "B"]).to_sql()


def signed(content):
    """A rule as anyone could write it who wants it to be believed."""
    own = {name: value for name, value in content.items() if name != "checksum"}
    text = json.dumps(own)
    return json.dumps({**own, "checksum": hashlib.sha256(text.encode()).hexdigest()[:32]})


def test_a_rule_without_a_checksum_is_refused():
    content = json.loads(LOTTERY.to_json())
    assert DecisionRule.from_json(signed(content)).explain() == LOTTERY.explain()
    del content["checksum"]
    with pytest.raises(eh.InputError, match="has no checksum"):
        DecisionRule.from_json(json.dumps(content))


def hostile(pools, count, **more):
    each = {"share": 1.0, "prices": [[0.0, 0.4], [0.0, -0.6]]}
    content = {"format": "evenhand decision rule 1", "reads": "scores"}
    content["rules"] = [{"pool": pool, **each} for pool in range(pools)]
    content["rules"] += [{"pool": 0, **each, "share": 0.0}] * (count - pools)
    return content | more


@pytest.mark.parametrize(
    "content",
    [
        hostile(9000, 20_000),  # ranks × pools: 99 million tables
        hostile(1, 1, rules=[{"pool": 1 << 40, "share": 1.0, "prices": [[0.0, 0.4], [0.0, -0.6]]}]),
        hostile(1, 1, rules=[{"pool": -1, "share": 1.0, "prices": [[0.0, 0.4], [0.0, -0.6]]}]),
        hostile(1, 1, rules=[{"pool": 0, "share": 1.0, "prices": [[]]}]),
        hostile(1, 1, rules=[{"pool": 0, "share": 1.0, "prices": [[0.0], [0.0]]}]),
        hostile(1, 1, rules=[{"pool": 0, "share": 1.0, "prices": [[0.0, 10**400], [0.0, 0.0]]}]),
        hostile(1, 1, classes="ab"),
        hostile(1, 1, classes=[[1], [2]]),
        hostile(1, 1, classes=[1, 1.0]),
        hostile(1, 1, classes=["a", "\ud800"]),
        hostile(2, 2, groups={"columns": "s", "labels": ["a", "b"], "cuts": {}, "names": []}),
        hostile(2, 2, groups={"columns": ["s"], "labels": [[1], [1]], "cuts": {}, "names": []}),
        hostile(
            2, 2, groups={"columns": ["s"], "labels": [[0], [9]], "cuts": {"s": [1]}, "names": []}
        ),
        hostile(
            2, 2, groups={"columns": ["s"], "labels": [[0], [1]], "cuts": {"s": "1"}, "names": []}
        ),
    ],
)
def test_a_hostile_rule_is_refused_before_it_takes_memory(content):
    with pytest.raises(eh.EvenhandError):
        DecisionRule.from_json(signed(content))


def test_numbers_that_json_does_not_have_are_refused_in_a_rule():
    for odd in ("NaN", "Infinity", "1e999"):
        text = signed(json.loads(LOTTERY.to_json())).replace("0.42", odd)
        with pytest.raises(eh.InputError):
            DecisionRule.from_json(text)
    with pytest.raises(eh.InputError, match="none has 67,108,865 characters"):
        DecisionRule.from_json(" " * ((1 << 26) + 1))


def test_groups_of_bins_are_numbered_by_their_edges():
    grouping = Grouping.of(["age"], [eh.Bin(0, 0, True), eh.Bin(0, 7)], {"age": [0, 0, 7]})
    assert grouping.labels == ((0,), (1,))
    assert grouping.cuts == {"age": (0.0,)}


@cache
def a_rule():
    random = np.random.default_rng(0)
    score, group = random.random(200), random.choice(["a", "b"], 200)
    y = (random.random(200) < score).astype(int)
    options = {"values": 2, "rate_error": None}
    people = pd.DataFrame({"who": group})
    return eh.frontier(y, score, sensitive_features=people, **options).rule(0.02)


@pytest.mark.slow
def test_no_flipped_bit_is_read_as_another_rule():
    rule = a_rule()
    whole = rule.to_json().encode()
    random = np.random.default_rng(1)
    for place, bit in random.integers([0, 0], [len(whole), 7], (200, 2)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(bit)
        with suppress(eh.InputError):  # 1e-5 and 1E-5 are one number
            assert DecisionRule.from_json(damaged.decode()).to_json() == rule.to_json()


@pytest.mark.parametrize(
    "change",
    [
        *({"rules": None}, {"rules": []}, {"rules": [{}]}, {"reads": "lies"}, {"classes": [1]}),
        *({"groups": {}}, {"groups": 3}, {"format": None}, {"classes": "abc"}),
    ],
)
def test_a_rule_whose_parts_do_not_fit_is_refused(change):
    content = json.loads(a_rule().to_json())
    assert DecisionRule.from_json(signed(content)).explain() == a_rule().explain()
    with pytest.raises(eh.InputError):
        DecisionRule.from_json(signed(content | change))


@pytest.mark.slow
@pytest.mark.parametrize("field", ["pool", "share", "prices"])
@pytest.mark.parametrize("value", [None, "x", -1, 1e300, [], {}, 0.5])
def test_a_rule_of_strange_numbers_is_refused(field, value):
    content = json.loads(a_rule().to_json())
    content["rules"][0][field] = value
    with pytest.raises(eh.InputError):
        DecisionRule.from_json(signed(content))


@pytest.mark.parametrize("text", [None, 3, "", "[]", "null", "{", "[" * 100_000])
def test_text_that_is_no_rule_is_refused(text):
    with pytest.raises(eh.InputError, match="not an"):
        DecisionRule.from_json(text)


@pytest.mark.parametrize("name", ["chance_1", "CHANCE_0", "lot", "decision"])
def test_a_query_makes_no_column_that_it_reads(name):
    with pytest.raises(eh.InputError, match="reads one of that name"):
        a_rule().to_sql("duckdb", table="t", scores="s", group=name, row_id="id", key=1)


def test_text_with_a_zero_byte_is_not_written_in_sql():
    rule = a_rule().named([0, 1], ["who"], ["a", "b\0"])
    with pytest.raises(eh.InputError, match="zero byte"):
        rule.to_sql("duckdb", table="t", scores="s")


def test_ids_of_other_rows_are_refused():
    with pytest.raises(eh.InputError, match="2 rows and ids of 3"):
        a_rule().predict([0.5, 0.6], ["a", "b"], ids=[1, 2, 3])
