"""The doors of an audit: what they take, what they refuse, and that they give the same."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand as eh

QUICK = {"criteria": ["statistical_parity"], "measures": ["mpd"]}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "sex": rng.integers(0, 2, 400)})
    y = (rng.random(400) < 0.3 + 0.2 * frame.sex).astype(int)
    return frame.assign(y=y, p=y)


def test_a_misspelt_option_is_refused_with_the_nearest(people):
    model = LogisticRegression().fit(people[["x", "sex"]], people.y)
    calls = [
        lambda: eh.audit(people.y, people.y.copy(), sensitive_features=people.sex, measure=["pq"]),
        lambda: eh.audit(data=people, y_true="y", y_pred="p", sensitive_features="sex", measure=1),
        lambda: eh.audit(
            people.y, model, data=people[["x", "sex"]], sensitive_features="sex", measure=["pq"]
        ),
        lambda: eh.compare(
            people.y, {"m": people.y.copy()}, sensitive_features=people.sex, measure=1
        ),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"no argument 'measure'\. Did you mean 'measures'"):
            call()
    with pytest.raises(TypeError, match="Did you mean 'sample_weight'"):
        eh.tally(data=people, y_true="y", y_pred="p", sensitive_features="sex", weight="x")


@pytest.mark.parametrize("door", [eh.audit, eh.evaluate, eh.tally, eh.compare, eh.frontier])
def test_every_parameter_is_spelt_out_and_documented(door):
    parameters = inspect.signature(door).parameters
    assert not [p for p in parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    for name in parameters:
        assert f"\n    {name} : " in door.__doc__


def test_a_task_that_the_labels_contradict_is_refused(people):
    three = np.arange(len(people)) % 3
    with pytest.raises(ValueError, match="two labels; here are 3"):
        eh.audit(three, three.copy(), sensitive_features=people.sex, task="binary")
    table = people.assign(y=three, p=three)
    with pytest.raises(ValueError, match="two labels; here are 3"):
        eh.audit(data=table, y_true="y", y_pred="p", sensitive_features="sex", task="binary")


@pytest.mark.slow
def test_a_classifier_of_many_whole_numbers_needs_no_task():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=600), "sex": rng.integers(0, 2, 600)})
    y = np.arange(600) % 30
    found = eh.audit(
        y, _Constant(y), data=X, sensitive_features="sex", criteria=["accuracy_parity"]
    )
    assert found.evidence.task == "multiclass"


class _Constant:
    def __init__(self, y):
        self.classes_ = np.unique(y)

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.slow
@pytest.mark.parametrize("door", ["columns", "table", "model"])
def test_one_criterion_and_one_measure_may_stand_alone(people, door):
    one = {"criteria": "statistical_parity", "measures": "mpd"}
    calls = {
        "columns": lambda asked: eh.audit(
            people.y, people.y.copy(), sensitive_features=people.sex, **asked
        ),
        "table": lambda asked: eh.audit(
            data=people, y_true="y", y_pred="p", sensitive_features="sex", **asked
        ),
        "model": lambda asked: eh.audit(
            people.y,
            LogisticRegression().fit(people[["x", "sex"]], people.y),
            data=people[["x", "sex"]],
            sensitive_features="sex",
            **asked,
        ),
    }
    assert calls[door](one).to_json() == calls[door](QUICK).to_json()
    itself = calls[door]({**QUICK, "criteria": eh.CRITERIA["statistical_parity"]})
    assert itself.to_json() == calls[door](QUICK).to_json()


GROUPINGS = [
    {"bins": {"age": 4}},
    {"bins": {"age": [0, 30, 60, 100]}},
    {"bins": {"age": 3}, "min_count": 60, "rare": "merge"},
    {"missing": "group"},
    {"missing": "group", "min_count": 100, "rare": "drop"},
]


@pytest.fixture(scope="module")
def aged():
    rng = np.random.default_rng(1)
    age = rng.gamma(6, 7, 900).clip(0, 100).round(1)
    region = rng.choice(["north", "south", None], 900, p=[0.6, 0.3, 0.1])
    return pd.DataFrame(
        {"age": age, "region": region, "y": rng.integers(0, 2, 900), "p": rng.integers(0, 2, 900)}
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", GROUPINGS, ids=str)
def test_rows_and_tables_are_grouped_alike(aged, options):
    column = "age" if "bins" in options else "region"
    rows = eh.audit(aged.y, aged.p, sensitive_features=aged[[column]], **QUICK, **options)
    table = eh.audit(
        data=aged, y_true="y", y_pred="p", sensitive_features=column, **QUICK, **options
    )
    before = eh.audit(
        aged.y, aged.p, sensitive_features=eh.groups(aged[[column]], **options), **QUICK
    )
    assert rows.to_json() == before.to_json()
    assert table.document()["groups"] == rows.document()["groups"]
    assert table.document()["findings"] == rows.document()["findings"]
    with_scores = {"y_score": "score", **QUICK, **options}
    aged = aged.assign(score=aged.p)
    exact = eh.audit(data=aged, y_true="y", y_pred="p", sensitive_features=column, **with_scores)
    assert exact.document()["groups"] == rows.document()["groups"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["polars", "arrow", "duckdb"])
def test_amounts_are_cut_alike_in_every_engine(aged, engine):
    table = {
        "polars": lambda: pytest.importorskip("polars").from_pandas(aged).lazy(),
        "arrow": lambda: pytest.importorskip("pyarrow").Table.from_pandas(aged),
        "duckdb": lambda: pytest.importorskip("duckdb").from_df(aged),
    }[engine]()
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "age", "bins": {"age": 4}}
    found = eh.audit(data=table, **names, **QUICK).document()["groups"]
    assert found == eh.audit(data=aged, **names, **QUICK).document()["groups"]


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ({"income": 4}, r"bins names \['income'\], but the columns are \['age'\]"),
        ({"age": [50, 20]}, "must increase"),
        ({"age": [20, 50]}, "outside its"),
    ],
)
def test_bins_that_cannot_be_are_refused_at_every_door(aged, bins, message):
    with pytest.raises(eh.InputError, match=message):
        eh.audit(aged.y, aged.p, sensitive_features=aged[["age"]], bins=bins)
    with pytest.raises(eh.InputError, match=message):
        eh.audit(data=aged, y_true="y", y_pred="p", sensitive_features="age", bins=bins)
    made = eh.groups(aged[["age"]], bins={"age": 4})
    with pytest.raises(eh.InputError, match="made already"):
        eh.audit(aged.y, aged.p, sensitive_features=made, bins=bins)


@pytest.mark.slow
def test_the_scan_says_what_it_controls_and_over_how_many_comparisons():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 40, 20_000).astype(str)
    decision = (rng.random(20_000) < 0.3 + 0.02 * (group.astype(int) % 8)).astype(int)
    found = {
        control: eh.audit(None, decision, sensitive_features=group, control=control, **QUICK)
        for control in ("familywise", "false_discovery")
    }
    scans = {control: report.document()["scan"] for control, report in found.items()}
    assert scans["familywise"]["sentence"] == (
        "Significant at 95%, corrected, over 40 comparisons."
    )
    assert scans["false_discovery"]["sentence"] == (
        "An expected 5% at most of these are flagged wrongly, over 40 comparisons."
    )
    assert scans["false_discovery"]["flagged"] > scans["familywise"]["flagged"] > 0
    for control, report in found.items():
        assert scans[control]["control"] == control
        assert scans[control]["error"] == 0.05
        assert scans[control]["sentence"] in report.to_markdown()
        assert scans[control]["sentence"] in report.to_html()
    assert found["familywise"].findings[0].p_value == found["false_discovery"].findings[0].p_value


def test_an_unknown_error_rate_is_refused_with_the_nearest(people):
    with pytest.raises(eh.InputError, match="Did you mean 'false_discovery'"):
        eh.audit(
            people.y, people.y.copy(), sensitive_features=people.sex, control="false_discoveries"
        )
