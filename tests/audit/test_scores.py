"""Where a score decides, it is said where; scores that are not probabilities are not guessed at."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand._data import tables

ROWS = 1200
NAMES = {"y_true": "y", "y_pred": None, "sensitive_features": "sex"}
QUICK = {"criteria": ["statistical_parity"], "measures": ["mpd"]}


@pytest.fixture(params=[0, 10**6], ids=["in bins", "exactly"])
def bring(request, monkeypatch):
    monkeypatch.setattr(tables, "ROWS_TO_BRING", request.param)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(2)
    decile = rng.integers(1, 11, ROWS)
    return pd.DataFrame(
        {
            "sex": rng.choice(["a", "b", "c"], ROWS),
            "y": (rng.random(ROWS) < decile / 12).astype(int),
            "decile": decile,
            "margin": (decile - 5.5) * 3.0 + rng.normal(size=ROWS),
            "chance": (decile / 11 + rng.normal(size=ROWS) / 50).clip(0, 1),
        }
    )


def selected(evidence):
    return evidence.sources["predictions"].table("yhat", "group", of="rows")[1].tolist()


@pytest.mark.parametrize("score", ["decile", "margin"])
def test_scores_that_are_no_probabilities_are_refused_without_a_threshold(
    local_engine, people, bring, score
):
    low, high = people[score].min(), people[score].max()
    message = f"'{score}' runs from {low:g} to {high:g}, .* Pass threshold=.* or y_pred"
    with pytest.raises(eh.InputError, match=message):
        eh.Data(data=local_engine(people), **NAMES, y_score=score).counted
    with pytest.raises(eh.InputError, match=message.replace(f"'{score}'", "y_score")):
        eh.audit(people.y, y_score=people[score], sensitive_features=people.sex)


@pytest.mark.slow
@pytest.mark.parametrize(("score", "at"), [("decile", 5), ("margin", -2.5), ("chance", 0.3)])
def test_a_threshold_decides_for_scores_of_any_range(local_engine, people, bring, score, at):
    found = eh.Data(data=local_engine(people), **NAMES, y_score=score, threshold=at).counted
    chosen = (people[score] >= at).groupby(people.sex).sum().tolist()
    assert 0 < sum(chosen) < ROWS
    assert selected(found) == chosen
    assert found.decided_at == at
    assert found.notes[0].startswith(f"Selected: score at least {at:g}, the given threshold.")
    rows = eh.Data(
        people.y, None, sensitive_features=people.sex, y_score=people[score], threshold=at
    ).counted
    assert (selected(rows), rows.decided_at, rows.notes[0]) == (chosen, at, found.notes[0])


@pytest.mark.slow
@pytest.mark.parametrize("score", ["decile", "margin", "chance"])
def test_criteria_of_probabilities_are_left_out_with_a_note_where_there_are_none(
    local_engine, people, bring, score
):
    found = eh.Data(data=local_engine(people), **NAMES, y_score=score, threshold=0.5).counted
    probable = score == "chance"
    assert ({"losses", "bins"} <= set(found.sources)) == probable
    assert {"ranks", "steps"} <= set(found.sources)
    low, high = people[score].min(), people[score].max()
    note = f"from {low:g} to {high:g}, so it is not a probability: calibration and cross-entropy"
    assert any(note in one for one in found.notes) != probable


@pytest.mark.slow
def test_predictions_beside_a_score_that_is_no_probability_need_no_threshold(people):
    decided = (people.decile > 6).astype(int)
    found = eh.audit(people.y, decided, sensitive_features=people.sex, y_score=people.decile)
    asked = {finding.criterion for finding in found.findings}
    assert "performance_parity(auroc)" in asked
    assert not {"calibration_parity", "performance_parity(cross_entropy)"} & asked
    assert "so it is not a probability" in " ".join(found.notes)
    assert not any(note.startswith("Selected") for note in found.notes)
    assert found.document()["decided_at"] == 7


def test_a_criterion_of_probabilities_is_refused_by_name_where_there_are_none(people):
    with pytest.raises(eh.InputError, match="calibration_parity cannot be asked here: it needs"):
        eh.audit(
            people.y,
            y_score=people.decile,
            threshold=4,
            sensitive_features=people.sex,
            criteria=["calibration_parity"],
        )


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [None, 0.5, 0.31])
def test_the_cut_is_said_in_every_form(people, threshold):
    pytest.importorskip("jinja2")
    found = eh.audit(
        people.y,
        y_score=people.chance,
        threshold=threshold,
        sensitive_features=people.sex,
        **QUICK,
    )
    words = f"Selected: score at least {threshold or 0.5}, "
    words += "because no predictions" if threshold is None else "the given threshold"
    for text in (found.notes[0], found.to_markdown(), found.to_json(), found.to_html()):
        assert words in text
    assert "predicted 1" in found.notes[0]
    assert found.document()["decided_at"] == (threshold or 0.5)


def test_the_cut_is_where_it_was_asked_for_and_not_at_the_next_score():
    y, score = [0, 1, 0, 1], [0.1, 0.9, 0.2, 0.8]
    for at in (0.21, 0.5, 0.79):
        found = eh.Data(
            y, None, sensitive_features=list("aabb"), y_score=score, threshold=at
        ).counted
        assert found.decided_at == at


def test_a_threshold_is_a_least_score_and_itself_selected():
    y, score = [0, 1, 0, 1], [1, 3, 2, 3]
    found = eh.Data(y, None, sensitive_features=list("aabb"), y_score=score, threshold=3).counted
    assert selected(found) == [1, 1]


def test_the_favorable_label_is_the_one_selected(local_engine, people, bring):
    named = people.assign(y=np.where(people.y == 1, "paid", "late"))
    found = eh.Data(
        data=local_engine(named), **NAMES, y_score="decile", threshold=8, favorable="paid"
    ).counted
    assert selected(found) == (people.decile >= 8).groupby(people.sex).sum().tolist()
    assert "count as predicted paid" in found.notes[0]


def test_of_a_column_for_each_label_the_favorable_one_decides(people):
    both = np.column_stack([1 - people.chance, people.chance])
    for favorable, column in ((1, people.chance), (0, 1 - people.chance)):
        found = eh.Data(
            people.y,
            None,
            sensitive_features=people.sex,
            y_score=both,
            threshold=0.4,
            favorable=favorable,
        ).counted
        counts = found.sources["predictions"].table("yhat", of="rows")
        assert counts[favorable] == (column >= 0.4).sum()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"y_pred": [0, 1, 1, 1]}, ValueError, r"Which one decides, y_pred or threshold=2\?"),
        ({"y_pred": [0, 1, 1, 1], "y_score": None}, ValueError, "Which one decides"),
        ({"y_score": None}, ValueError, "threshold=2 needs y_score"),
        ({"threshold": np.nan}, ValueError, "finite number, not nan"),
        ({"threshold": -np.inf}, ValueError, "finite number, not -inf"),
        ({"threshold": "2"}, TypeError, "must be a number.*'2'"),
        ({"threshold": True}, TypeError, "must be a number.*True"),
        ({"y_true": None}, ValueError, "Pass y_pred: a score alone decides only between two"),
        ({"y_true": [0, 1, 2, 1]}, ValueError, "Pass y_pred: a score alone decides only"),
    ],
)
def test_a_threshold_that_cannot_be_meant_is_refused(given, error, message):
    base = {"y_true": [0, 1, 0, 1], "y_score": [1, 2, 3, 4], "threshold": 2}
    with pytest.raises(error, match=message):
        eh.audit(**base | given, sensitive_features=list("aabb"))


@pytest.mark.parametrize("number", [4, 4.0, np.float32(4), np.int64(4)])
def test_a_threshold_may_be_any_real_number(people, number):
    found = eh.audit(data=people, **NAMES, y_score="decile", threshold=number, **QUICK)
    assert found.evidence.decided_at == 4.0


def test_a_model_is_cut_at_the_threshold_instead_of_its_own_decision(people):
    X = people[["margin"]].assign(sex=(people.sex == "a").astype(int))
    model = LogisticRegression().fit(X, people.y)
    found = eh.audit(people.y, model, data=X, sensitive_features="sex", threshold=0.8, **QUICK)
    counts = found.evidence.sources["predictions"].table("yhat", of="rows")
    assert counts[1] == (model.predict_proba(X)[:, 1] >= 0.8).sum()
    assert found.evidence.decided_at == 0.8


def test_predictions_or_scores_that_are_all_equal_are_noted_and_never_within_tolerance(people):
    tolerances = {"statistical_parity.mpd": 0.9}
    found = eh.audit(
        people.y,
        y_score=people.decile,
        threshold=1,
        sensitive_features=people.sex,
        fail_if=tolerances,
        **QUICK,
    )
    assert (
        "Every row has the prediction 1, so there is nothing to compare in decisions."
        in found.notes
    )
    value = found.finding("statistical_parity", "mpd")
    assert (value.value, value.judged) == (0.0, "inconclusive")
    assert value.obstacle.is_error
    assert "every row has the prediction 1" in value.sentence


@pytest.mark.slow
def test_equal_scores_are_an_obstacle_to_questions_about_scores_only(people):
    found = eh.audit(
        people.y,
        (people.decile > 5).astype(int),
        y_score=np.full(ROWS, 0.5),
        sensitive_features=people.sex,
        measures=["mpd"],
    )
    assert "Every row has the score 0.5, so there is nothing to compare in scores." in found.notes
    obstacles = {one.criterion: one.obstacle for one in found.measured}
    assert obstacles["strong_parity"].is_error
    assert obstacles["performance_parity(auroc)"].is_error
    assert obstacles["statistical_parity"] is None


@pytest.mark.parametrize("values", [np.full(60, 2.5), np.linspace(1.5, 9.5, 60)])
def test_a_regression_that_predicts_one_number_is_noted(values):
    y = np.linspace(0.5, 2.5, 60)
    found = eh.audit(y, values, sensitive_features=["a", "b"] * 30, criteria=["weak_parity"])
    constant = "Every row has the prediction 2.5, so there is nothing to compare." in found.notes
    assert constant == (values[0] == values[-1])


def test_a_tolerance_is_not_met_while_a_group_has_no_value():
    y = np.tile([0, 1, 0, 1, 0, 0], 1000)
    group = np.tile(["a", "a", "b", "b", "c", "c"], 1000)
    p = np.where(np.arange(6000) % 7 == 0, 1 - y, y)
    tolerances = {"equal_opportunity.mpd": 0.5, "statistical_parity.mpd": 0.9}
    found = eh.audit(
        y,
        p,
        sensitive_features=group,
        criteria=["equal_opportunity", "statistical_parity"],
        measures=["mpd"],
        fail_if=tolerances,
    )
    unknown = found.finding("equal_opportunity", "mpd")
    assert unknown.high < 0.5
    assert unknown.judged == "inconclusive"
    assert "there is no value of c at 1" in unknown.obstacle.reason
    assert not unknown.obstacle.is_error
    assert found.finding("statistical_parity", "mpd").judged == "within tolerance"


def test_a_group_that_is_missing_in_some_stratum_is_no_obstacle():
    rng = np.random.default_rng(0)
    stratum = rng.integers(0, 2, 4000)
    group = np.where((stratum == 1) & (rng.random(4000) < 0.5), "c", rng.choice(["a", "b"], 4000))
    p = rng.integers(0, 2, 4000)
    found = eh.audit(
        None,
        p,
        sensitive_features=group,
        strata=stratum,
        criteria=["conditional_statistical_parity"],
        measures=["mpd"],
        fail_if={"conditional_statistical_parity.mpd": 0.9},
    )
    value = found.finding("conditional_statistical_parity", "mpd")
    assert value.left_out
    assert value.judged == "within tolerance"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [float, lambda value: Decimal(str(value))], ids=["float", "decimal"]
)
def test_amounts_are_not_taken_for_groups(local_engine, kind):
    rng = np.random.default_rng(0)
    income = [kind(value) for value in rng.normal(size=300).round(2)]
    frame = pd.DataFrame({"income": income, "y": rng.integers(0, 2, 300)}).assign(p=1)
    message = r"column 'income' takes \d+ different values, such as .*bins=\{'income': 4"
    with pytest.raises(eh.InputError, match=message):
        eh.audit(data=local_engine(frame), y_true="y", y_pred="p", sensitive_features="income")
    with pytest.raises(eh.InputError, match=message):
        eh.audit(frame.y, frame.y.copy(), sensitive_features=frame[["income"]].assign(sex="F"))
    whom = eh.groups({"income": frame.income.astype(float)}, bins={"income": 4})
    assert (
        len(eh.audit(frame.y, frame.y.copy(), sensitive_features=whom, **QUICK).evidence.groups)
        == 4
    )


@pytest.mark.parametrize("values", [[0.5, 1.5, 2.5], range(40)], ids=["few fractions", "whole"])
def test_a_few_fractions_and_many_whole_numbers_can_name_groups(values):
    group = np.tile(np.array(values), 100)
    y = np.random.default_rng(0).integers(0, 2, len(group))
    assert len(eh.audit(y, y.copy(), sensitive_features=group, **QUICK).evidence.groups) == len(
        values
    )


def test_an_identifier_is_not_taken_for_a_group(people):
    numbered = people.assign(person=[f"n{i}" for i in range(ROWS)], yhat=people.y)
    names = {"y_true": "y", "y_pred": "yhat"}
    message = '1,200 of the 1,200 groups by .*person have one row.*rare="merge"'
    for columns in ("person", ["sex", "person"], ["sex", "decile", "person"]):
        with pytest.raises(eh.InputError, match=message):
            eh.audit(data=numbered, **names, sensitive_features=columns, **QUICK)


@pytest.mark.slow
def test_many_columns_may_cross_to_single_rows_where_they_are_not_crossed_so_far():
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.integers(0, 3, 300) for i in range(6)}
    y = rng.integers(0, 2, 300)
    found = eh.audit(y, y.copy(), sensitive_features=columns, **QUICK)
    assert len(found.evidence.groups) <= 9
