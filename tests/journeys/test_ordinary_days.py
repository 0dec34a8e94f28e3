"""Ordinary audits from end to end: what a user asks for in the first hour comes, or a reason."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import evenhand as eh


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


def test_a_model_whose_scores_alone_differ_is_reported_in_every_form(mitigated, tmp_path):
    truth, decided, score, group = mitigated
    audit = eh.audit(truth, decided, y_score=score, sensitive_features=group)
    verdicts = {finding.criterion: finding.verdict for finding in audit.findings}
    assert verdicts["strong_parity"] == "differs"
    assert "differs" not in {verdicts[name] for name in ("statistical_parity", "equalized_odds")}
    assert all(outputs(audit).values())
    assert audit.document()["frontier"] is None


@pytest.mark.parametrize("lone", ["A", "h", "z"], ids=["first", "middle", "last"])
@pytest.mark.parametrize("truth", ["labels", "scores"])
def test_a_group_of_one_row_has_a_frontier_wherever_it_sorts(lone, truth):
    group = np.array(["b"] * 15 + ["k"] * 15 + [lone])
    y, score = np.tile([0, 1, 1], 11)[:31], np.linspace(0.02, 0.98, 31)
    curve = eh.frontier(y, score, sensitive_features=group, truth=truth, values=2)
    assert "statistical_parity" in repr(curve)


def test_groups_of_one_row_each_have_a_frontier_or_a_reason():
    group = [f"g{i:02}" for i in range(60)]
    y, score = np.tile([0, 1], 30), np.linspace(0.01, 0.99, 60)
    curve = eh.frontier(y, score, sensitive_features=group, values=2)
    assert all(outputs(curve).values())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("measure", ["gini", "pq", "mpd"])
def test_clusters_of_identical_rates_have_an_interval(measure):
    # The ratio of errors grows without limit between what is in reach and what is not.
    cluster = np.repeat(np.arange(6), 6)
    group = np.array(["g0", "g1", "g2"])[cluster % 3]
    hits = np.array([4, 6, 2])[cluster % 3]
    p = (np.tile(np.arange(6), 6) < hits).astype(int)
    for start in range(2):
        y = (np.arange(36) + start) % 2
        asked = {"sensitive_features": group, "cluster": cluster, "measure": measure}
        interval = eh.interval("treatment_equality", y, p, **asked)
        assert not interval.low > interval.high


@pytest.mark.parametrize("rows", [[30, 20, 10, 40], [30.0, 20.0, 10.0, 40.0]])
def test_counts_in_the_types_of_arrow_are_read_in_pandas(rows):
    lines = {"sex": ["F", "F", "M", "M"], "y": [0, 1, 0, 1], "p": [0, 1, 1, 1], "n": rows}
    plain = pd.DataFrame(lines)
    arrow = plain.convert_dtypes(dtype_backend="pyarrow")
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "sex", "rows": "n"}
    counts = eh.tally_counts(arrow, **names)
    wanted = eh.tally_counts(plain, **names)
    np.testing.assert_array_equal(
        counts.table("y", "yhat", "group"), wanted.table("y", "yhat", "group")
    )
    found = eh.audit_frame(arrow, **names, criteria="statistical_parity")
    assert found.evidence.rows.sum() == 100
    with pytest.raises(eh.InputError, match=r"0\.5, which is not whole"):
        eh.tally_counts(arrow.assign(n=arrow["n"].astype("double[pyarrow]") / 20), **names)


PEOPLE = {"sensitive_features": np.repeat(["a", "b"], 60)}
Y, P = np.tile([0, 1, 1], 40), np.tile([0, 1, 0, 1, 1], 24)
SCORE = np.linspace(0.01, 0.99, 120)


def watched():
    watch = eh.Watch("statistical_parity", bounds=["statistical_parity.mpd > 0.1"], favorable=1)
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
    "statistics": lambda: list(eh.STATISTICS.values()),
    "measures": lambda: list(eh.MEASURES.values()),
    "standards": lambda: list(eh.STANDARDS.values()),
    "scorer": lambda: eh.make_scorer("statistical_parity", group="sex"),
}


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
        assert eh.audit_frame(frame, **named).evidence.favorable in (1, "yes")
        both = {"one": rows, "other": rows}
        assert "statistical_parity" in str(
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


@pytest.mark.parametrize("decision", [0, 1])
@pytest.mark.parametrize("truth", ["known", "unknown"])
def test_decisions_that_are_all_equal_are_not_called_alike(decision, truth):
    group = np.repeat(["a", "b"], 5000)  # enough rows for "alike"
    y = np.tile([0, 1], 5000) if truth == "known" else None
    asked = {"sensitive_features": group, "favorable": 1}
    audit = eh.audit(y, np.full(10_000, decision), **asked)
    said = f"Every row has the prediction {decision}, so there is nothing to compare."
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


def test_scores_that_are_all_equal_leave_the_decisions_to_be_compared():
    group, p = np.repeat(["a", "b"], 2000), np.tile([0, 1], 2000)
    audit = eh.audit(1 - p, p, y_score=np.full(4000, 0.5), sensitive_features=group)
    assert audit.finding("statistical_parity").verdict == "alike"
    assert audit.finding("strong_parity").verdict == "undefined"
