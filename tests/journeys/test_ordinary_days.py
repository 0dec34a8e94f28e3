"""Ordinary audits from end to end: what a user asks for in the first hour comes, or a reason."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.compat import fairlearn

pytestmark = pytest.mark.usefixtures("few_folds")


def outputs(result):
    """Every form that a result takes."""
    forms = ("to_markdown", "to_html", "to_json", "to_model_card", "_repr_html_", "to_openmetrics")
    texts = {name: getattr(result, name)() for name in forms if hasattr(result, name)}
    return {"str": str(result), "repr": repr(result), **texts}


@pytest.fixture(scope="module")
def mitigated():
    """Decisions that are even, on scores that are not: as many of each group at or above 0.5."""
    rng = np.random.default_rng(3)
    group = np.repeat(["a", "b"], 2000)
    decided = np.tile([0, 1], 2000)
    truth = np.where(np.tile([0, 0, 0, 0, 1, 1, 1, 1], 500), decided, 1 - decided)
    width = np.where(group == "a", 0.5, 0.05)
    score = 0.5 + np.where(decided, 1, -1) * rng.uniform(1e-6, 1, 4000) * width
    return truth, decided, score, group


@pytest.mark.slow
def test_a_model_whose_scores_alone_differ_is_reported_in_every_form(mitigated, tmp_path):
    truth, decided, score, group = mitigated
    audit = eh.audit(truth, decided, y_score=score, sensitive_features=group)
    verdicts = {finding.criterion: finding.verdict for finding in audit.findings}
    assert verdicts["strong_parity"] == "differs"
    assert "differs" not in {verdicts[name] for name in ("statistical_parity", "equalized_odds")}
    assert all(outputs(audit).values())
    assert audit.document()["frontier"] is None


@pytest.mark.slow
@pytest.mark.parametrize("lone", ["A", "h", "z"], ids=["first", "middle", "last"])
@pytest.mark.parametrize("truth", ["labels", "scores"])
def test_a_group_of_one_row_has_a_frontier_wherever_it_sorts(lone, truth):
    group = np.array(["b"] * 15 + ["k"] * 15 + [lone])
    y, score = np.tile([0, 1, 1], 11)[:31], np.linspace(0.02, 0.98, 31)
    curve = eh.frontier(y, score, sensitive_features=group, truth=truth, values=2)
    assert "statistical_parity" in repr(curve)


@pytest.mark.slow
def test_groups_of_one_row_each_have_a_frontier_or_a_reason():
    group = [f"g{i:02}" for i in range(60)]
    y, score = np.tile([0, 1], 30), np.linspace(0.01, 0.99, 60)
    curve = eh.frontier(y, score, sensitive_features=group, values=2)
    assert all(outputs(curve).values())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("measure", ["gini", "pq"])
def test_clusters_of_identical_rates_have_an_interval(measure):
    # The ratio of errors grows without limit between what is in reach and what is not.
    cluster = np.repeat(np.arange(6), 6)
    group = np.array(["g0", "g1", "g2"])[cluster % 3]
    hits = np.array([4, 6, 2])[cluster % 3]
    p = (np.tile(np.arange(6), 6) < hits).astype(int)
    for seed in range(4):
        y = np.random.default_rng(seed).integers(0, 2, 36)
        asked = {"sensitive_features": group, "cluster": cluster, "measure": measure}
        interval = eh.interval("treatment_equality", y, p, **asked)
        assert not interval.low > interval.high


@pytest.mark.slow
@pytest.mark.parametrize("rows", [[30, 20, 10, 40], [30.0, 20.0, 10.0, 40.0]])
def test_counts_in_the_types_of_arrow_are_read_in_pandas(rows):
    lines = {"sex": ["F", "F", "M", "M"], "y": [0, 1, 0, 1], "p": [0, 1, 1, 1], "n": rows}
    plain = pd.DataFrame(lines)
    arrow = plain.convert_dtypes(dtype_backend="pyarrow")
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "sex", "rows": "n"}
    counts = eh.tally(data=arrow, **names)
    wanted = eh.tally(data=plain, **names)
    np.testing.assert_array_equal(
        counts.table("y", "yhat", "group"), wanted.table("y", "yhat", "group")
    )
    found = eh.audit(data=arrow, **names, criteria="statistical_parity")
    assert found.evidence.rows.sum() == 100
    with pytest.raises(eh.InputError, match=r"0\.5, which is not whole"):
        eh.tally(data=arrow.assign(n=arrow["n"].astype("double[pyarrow]") / 20), **names)


PEOPLE = {"sensitive_features": np.repeat(["a", "b"], 60)}
Y, P = np.tile([0, 1, 1], 40), np.tile([0, 1, 0, 1, 1], 24)
SCORE = np.linspace(0.01, 0.99, 120)


def watched():
    watch = eh.Watch("statistical_parity", fail_if=["statistical_parity.mpd > 0.1"], favorable=1)
    watch.update(eh.tally(Y, P, **PEOPLE), at="2026-01-01")
    return watch


RESULTS = {
    "audit": lambda: eh.audit(Y, P, y_score=SCORE, **PEOPLE),
    "audit of a regression": lambda: eh.audit(
        Y * 1.5,
        SCORE,
        task="regression",
        criteria=["weak_parity", "performance_parity(rmse)", "performance_parity(r2)"],
        **PEOPLE,
    ),
    "audit of clusters": lambda: eh.audit(
        Y, P, cluster=np.arange(120) // 4, criteria="average_odds", **PEOPLE
    ),
    "comparison": lambda: eh.compare(
        Y, {"one": P, "other": 1 - P}, criteria="statistical_parity", **PEOPLE
    ),
    "frontier": lambda: eh.frontier(Y, SCORE, values=3, **PEOPLE),
    "frontier of amounts": lambda: eh.frontier(
        None, 9 * SCORE, criterion="strong_parity", values=3, **PEOPLE
    ),
    "watch": watched,
    "status": lambda: watched().status(),
    "tally": lambda: eh.tally(Y, P, **PEOPLE),
    "distribution": lambda: eh.distribution(SCORE, **PEOPLE),
    "groups": lambda: eh.groups({"age": SCORE}, bins={"age": 3}),
    "interval": lambda: eh.interval("statistical_parity", Y, P, **PEOPLE),
    "contrasts": lambda: eh.contrasts("statistical_parity", Y, P, **PEOPLE),
    "chance": lambda: eh.chance("statistical_parity", Y, P, **PEOPLE),
    "power": lambda: eh.power({"a": 100, "b": 200}, rate=0.3),
    "survey weights": lambda: eh.survey_weights(
        np.ones(8), replicate_weights=np.ones((8, 4)), method="acs"
    ),
    "criteria": lambda: list(eh.CRITERIA.values()),
    "statistics": lambda: list(eh.statistics.STATISTICS.values()),
    "measures": lambda: list(eh.MEASURES.values()),
    "standards": lambda: list(eh.standards.STANDARDS.values()),
    "scorer": lambda: eh.make_scorer("statistical_parity", sensitive_features="sex"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_says_the_same_after_it_was_pickled(name):
    result = RESULTS[name]()
    fresh = pickle.loads(pickle.dumps(result))
    before = outputs(result)
    assert outputs(fresh) == before
    assert outputs(pickle.loads(pickle.dumps(result))) == before  # with all that was cached
    assert outputs(copy.deepcopy(result)) == before


def test_a_pickled_audit_fills_in_a_standard():
    audit = eh.audit(None, P, favorable=1, **PEOPLE)
    fresh = pickle.loads(pickle.dumps(audit))
    assert fresh.to_html(standard="nyc-ll144") == audit.to_html(standard="nyc-ll144")
    assert fresh.by_group.equals(audit.by_group)


@pytest.mark.slow
def test_where_nobody_is_selected_every_door_knows_the_favorable_label():
    group, nobody = np.repeat(["a", "b"], 50), np.zeros(100, int)
    counts = eh.tally(None, nobody, sensitive_features=group)
    for label, rows in ((1, nobody), ("1", nobody), ("yes", np.full(100, "no"))):
        asked = {"sensitive_features": group, "favorable": label}
        for criterion, equal in (("statistical_parity", 0), ("selection_rate_ratio", 1)):
            assert eh.evaluate(criterion, None, rows, **asked) == equal
            interval = eh.interval(criterion, None, rows, **asked)
            assert interval.value == equal
            assert interval.low < interval.high  # of 100 rows nobody knows that nobody ever is
        assert all(
            one.value == 0 for one in eh.contrasts("statistical_parity", None, rows, **asked)
        )
        assert "nothing to compare" in str(eh.audit(None, rows, **asked))
        frame = pd.DataFrame({"p": rows, "g": group})
        named = {"y_true": None, "y_pred": "p", "sensitive_features": "g", "favorable": label}
        assert eh.audit(data=frame, **named).evidence.favorable in (1, "yes")
        both = {"one": rows, "other": rows}
        assert "tied in statistical parity" in str(
            eh.compare(None, both, criteria="statistical_parity", **asked)
        )
    assert eh.interval("statistical_parity", counts, favorable=1).value == 0
    assert eh.audit(counts, favorable=1).evidence.favorable == 1
    with pytest.raises(eh.InputError, match="'No' is not among"):
        eh.evaluate(
            "statistical_parity",
            None,
            np.full(100, "no"),
            sensitive_features=group,
            favorable="No",
        )


@pytest.mark.slow
@pytest.mark.parametrize("decision", [0, 1])
@pytest.mark.parametrize("truth", ["known", "unknown"])
def test_decisions_that_are_all_equal_are_not_called_alike(decision, truth):
    group = np.repeat(["a", "b"], 5000)  # enough rows for "alike"
    y = np.tile([0, 1], 5000) if truth == "known" else None
    asked = {"sensitive_features": group, "favorable": 1}
    audit = eh.audit(y, np.full(10_000, decision), **asked)
    said = f"Every row has the prediction {decision}, so there is nothing to compare in decisions."
    document = audit.document()
    assert document["summary"]["sentence"] == said
    assert "alike" not in document["summary"]["counts"]
    assert document["summary"]["impact_ratio"] is None
    verdicts = {line["name"]: line["verdict"] for line in document["summary"]["criteria"]}
    assert verdicts["statistical_parity"] == verdicts["selection_rate_ratio"] == "undefined"
    assert {one["conclusion"] for one in document["findings"] if one["verdict"] == "undefined"} == {
        said
    }
    for text in outputs(audit).values():
        assert "nothing to compare" in text
    for gate in ("statistical_parity.mpd > 0.9", "selection_rate_ratio.ratio < 0.1"):
        with pytest.raises(AssertionError, match="nothing to compare"):
            eh.assert_even(y, np.full(10_000, decision), fail_if=gate, **asked)


def test_no_view_of_decisions_that_are_all_equal_says_more_than_that():
    people = {"sex": np.tile(["a", "b"], 100), "race": np.repeat(["u", "v"], 100)}
    audit = eh.audit(np.tile([0, 1, 1, 0], 50), np.ones(200), sensitive_features=people)
    views = audit.document()["views"]
    assert len(views) == 3
    assert {finding["verdict"] for view in views for finding in view["findings"]} == {"undefined"}


@pytest.mark.slow
def test_scores_that_are_all_equal_leave_the_decisions_to_be_compared():
    group, p = np.repeat(["a", "b"], 2000), np.tile([0, 1], 2000)
    audit = eh.audit(1 - p, p, y_score=np.full(4000, 0.5), sensitive_features=group)
    assert audit.finding("statistical_parity").verdict == "alike"
    assert audit.finding("strong_parity").verdict == "undefined"


ROWS = 60
TRUTH, DECIDED = np.tile([0, 1, 1], 20), np.tile([0, 1, 0, 1, 1], 12)
SCORES = np.linspace(0.02, 0.98, ROWS)
SEX, RACE = np.repeat(["F", "M"], 30), np.tile(["x", "y"], 30)
PARITY = "statistical_parity"


def doors(y=TRUTH, p=DECIDED, s=SCORES):
    """Every function that takes columns, as a function of the columns that name the groups."""
    models = {"one": p, "other": 1 - p}
    return {
        "audit": lambda **k: eh.audit(y, p, criteria=PARITY, **k),
        "assert_even": lambda **k: eh.assert_even(y, p, fail_if=f"{PARITY}.mpd > 0.99", **k),
        "evaluate": lambda **k: eh.evaluate(PARITY, y, p, **k),
        "interval": lambda **k: eh.interval(PARITY, y, p, **k),
        "contrasts": lambda **k: eh.contrasts(PARITY, y, p, **k),
        "chance": lambda **k: eh.chance(PARITY, y, p, replicates=10, **k),
        "compare": lambda **k: eh.compare(y, models, criteria=PARITY, replicates=20, **k),
        "frontier": lambda **k: eh.frontier(y, s, values=2, **k),
        "tally": lambda **k: eh.tally(y, p, **k),
        "moments": lambda **k: eh.tally(y, s, **k, task="regression"),
        "distribution": lambda **k: eh.distribution(s, **k),
        "tally of probabilities": lambda **k: eh.tally(
            y, np.column_stack([1 - SCORES, SCORES]), classes=[0, 1], **k
        ),
    }


DOORS = list(doors())


@pytest.mark.parametrize("door", DOORS)
def test_a_name_in_place_of_a_column_is_refused_with_the_way_out(door):
    with pytest.raises(eh.InputTypeError, match=r"is 'black', one value.*data\['black'\]"):
        doors()[door](sensitive_features="black")


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_a_list_of_arrays_is_several_columns(door):
    both = doors()[door](sensitive_features={"sex": SEX, "race": RACE})
    for several in ([SEX, RACE], (pd.Series(SEX, name="sex"), pd.Series(RACE, name="race"))):
        found = doors()[door](sensitive_features=several)
        names = getattr(getattr(found, "evidence", None), "columns", ())
        said = str(found).replace("column 0", "sex").replace("column 1", "race")
        same = said.split() == str(both).split()  # lines may break elsewhere
        assert same or names  # an audit of named columns names them in its tables


def test_a_list_of_series_keeps_their_names():
    names = eh.groups([pd.Series(SEX, name="sex"), pd.Series(RACE, name="race")]).names
    assert names == ("sex", "race")
    with pytest.raises(eh.InputError, match="two columns of one name"):
        eh.groups([pd.Series(SEX, name="sex"), pd.Series(RACE, name="sex")])


SHUFFLED = {
    "features of a frame": lambda y, p, g, w: fairlearn.MetricFrame(
        metrics=fairlearn.count, y_true=y, y_pred=p, sensitive_features=g[::-1]
    ),
    "controls of a frame": lambda y, p, g, w: fairlearn.MetricFrame(
        metrics=fairlearn.count,
        y_true=y,
        y_pred=p,
        sensitive_features=g,
        control_features={"c": g[::-1]},
    ),
    "weights of a frame": lambda y, p, g, w: fairlearn.MetricFrame(
        metrics={"rate": fairlearn.selection_rate},
        y_true=y,
        y_pred=p,
        sensitive_features=g,
        sample_params={"rate": {"sample_weight": w[::-1]}},
    ),
    "a difference": lambda y, p, g, w: fairlearn.demographic_parity_difference(
        y, p, sensitive_features=g[::-1]
    ),
    "a rate": lambda y, p, g, w: fairlearn.true_positive_rate(y, p[::-1]),
    "a weighted rate": lambda y, p, g, w: fairlearn.selection_rate(y, p, sample_weight=w[::-1]),
    "strata": lambda y, p, g, w: eh.tally(y, p, sensitive_features=g, strata=g[::-1]),
    "sums": lambda y, p, g, w: eh.tally(y, p, sensitive_features=g, sums={"w": w[::-1]}),
    "weights of a survey": lambda y, p, g, w: eh.audit(
        y, p, sensitive_features=g, sample_weight=eh.survey_weights(w[::-1], fpc=0.1)
    ),
    "replicate weights": lambda y, p, g, w: eh.survey_weights(
        w, replicate_weights=pd.DataFrame({"a": w, "b": w})[::-1], method="acs"
    ),
}


@pytest.mark.parametrize("asked", SHUFFLED)
def test_every_column_beside_the_groups_is_refused_in_another_order_too(asked):
    columns = (pd.Series(values) for values in (TRUTH, DECIDED, SEX, SCORES))
    with pytest.raises(eh.InputError, match="same index in another order"):
        SHUFFLED[asked](*columns)


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_an_index_in_another_order_is_refused_and_never_silent(door):
    y, p, s, sex = map(pd.Series, (TRUTH, DECIDED, SCORES, SEX))
    known = doors(y, p, s)[door]
    same = known(sensitive_features=sex)
    with pytest.raises(eh.InputError, match=r"same index in another order.*reindex.*to_numpy"):
        known(sensitive_features=sex[::-1])
    with pytest.raises(eh.InputError, match="same index in another order"):
        known(sensitive_features=pd.DataFrame({"sex": sex, "race": RACE})[::-1])
    assert str(known(sensitive_features=sex.set_axis(range(1000, 1060)))) == str(same)
    assert str(known(sensitive_features=sex[::-1][::-1])) == str(same)
    assert str(known(sensitive_features=sex.to_numpy())) == str(same) or door == "audit"


def test_an_estimator_says_that_the_group_is_a_column_of_X():
    from sklearn.linear_model import LogisticRegression

    from evenhand.mitigation import EqualizedOddsClassifier

    X = pd.DataFrame({"x": SCORES, "sex": SEX})
    base = LogisticRegression()
    with pytest.raises(eh.InputTypeError, match=r"Series of 60 values.*group='sex'"):
        EqualizedOddsClassifier(base, group=X["sex"]).fit(X, TRUTH)
    with pytest.raises(
        eh.InputTypeError, match=r"fit has no argument 'sensitive_features'.*group="
    ):
        EqualizedOddsClassifier(base, group="sex").fit(X, TRUTH, sensitive_features=SEX)
    with pytest.raises(eh.InputError, match="X and y have the same index in another order"):
        EqualizedOddsClassifier(base, group="sex").fit(X, pd.Series(TRUTH)[::-1])


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("target", "y_true"),
        ("prediction", "y_pred"),
        ("score", "y_score"),
        ("group", "sensitive_features"),
        ("weights", "sample_weight"),
    ],
)
def test_an_argument_by_the_name_of_the_command_line_is_named(given, meant):
    for ask in (eh.audit, eh.assert_even, eh.evaluate, eh.tally):
        with pytest.raises(eh.InputTypeError, match=f"'{given}'. Did you mean '{meant}'"):
            ask(**{given: TRUTH})


def test_columns_in_place_of_a_criterion_are_not_printed():
    for column in (pd.Series(TRUTH), TRUTH):
        with pytest.raises(eh.InputTypeError, match=r"of 60 values\. It comes before") as refused:
            eh.evaluate(column, DECIDED, sensitive_features=SEX)
        assert len(str(refused.value)) < 250


def test_a_watch_writes_its_reports(tmp_path):
    watch = watched()
    for name, write in (
        ("page.html", watch.to_html),
        ("status.md", watch.to_markdown),
        ("metrics.txt", watch.to_openmetrics),
    ):
        text = write(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text == write()


def test_a_margin_of_percentage_points_is_refused():
    with pytest.raises(eh.InputError, match=r"For 5 percentage points pass margin=0\.05"):
        eh.audit(TRUTH, DECIDED, sensitive_features=SEX, margin=5)
    with pytest.raises(eh.InputError, match="margin=5"):
        eh.power([100, 100], rate=0.3, margin=5)
    amounts = eh.audit(10.5 * TRUTH, 9.5 * DECIDED, sensitive_features=SEX, margin=5)
    assert amounts.margin == 5


def test_bins_that_do_not_fit_are_refused_with_the_way_out():
    def cut(bins, name="age"):
        return eh.audit(TRUTH, DECIDED, sensitive_features={name: 100 * SCORES}, bins={"age": bins})

    with pytest.raises(eh.InputError, match=r"outside its bins.*-inf"):
        cut([20, 40])
    assert len(cut([-np.inf, 20, 40, np.inf]).evidence.groups) == 3
    for bins in (0, -1):
        with pytest.raises(eh.InputError, match=f"'age': {bins}.*such as 4"):
            cut(bins)
    with pytest.raises(
        eh.InputError, match=r"bins names \['age'\], but the columns are \['years'\]"
    ):
        cut(3, "years")


@pytest.mark.slow
def test_a_test_case_says_what_passes(tmp_path):
    from evenhand.cli import main

    rows = pd.DataFrame({"y": TRUTH, "p": DECIDED, "sex": SEX})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    gates = ["statistical_parity.mpd > 0.9", "selection_rate_ratio < 0.01"]
    columns = ["--target", "y", "--prediction", "p", "--group", "sex"]
    asked = [word for gate in gates for word in ("--fail-if", gate)]
    words = [
        "audit",
        str(tmp_path / "rows.csv"),
        *columns,
        *asked,
        "--junit",
        str(tmp_path / "j.xml"),
    ]
    with pytest.raises(SystemExit):
        main(words)
    text = (tmp_path / "j.xml").read_text(encoding="utf-8")
    assert 'name="statistical_parity.mpd &lt;= 0.9"' in text
    assert 'name="selection_rate_ratio.ratio &gt;= 0.01"' in text
    assert 'name="not ' not in text
