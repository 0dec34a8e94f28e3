"""Scores that are off: said, recalibrated, and the map taken into the rule."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.mitigation import lots
from evenhand.mitigation.crossfit.calibration import Calibration, Mixing, Monotone, calibration
from evenhand.mitigation.crossfit.rows import read_rows
from evenhand.mitigation.optimal import DecisionRule
from frontier.people import people
from later import Later

onnxruntime = Later("onnxruntime")


def skewed(y, score, group):
    """Scores of three classes that are off in group g2."""
    wrong = np.where((group == "g2")[:, None], score * [4.0, 1.0, 0.25], score)
    return y, wrong / wrong.sum(axis=1, keepdims=True), group


def curve(y, score, group, **options):
    return eh.frontier(y, score, sensitive_features=group, **{"rate_error": None} | options)


def rows_of(**options):
    y, score, group = people(**options)
    return read_rows(y, score, group)


def test_a_threshold_on_calibrated_scores_is_one_on_scores_as_they_come():
    rows = rows_of(rows=900, groups=3)
    rising = Monotone.fitted(rows)
    maps = Calibration((rising, None, rising), ("own", "none", "common"))
    cuts = np.array([-0.5, 0.2, 0.37, 0.5, 0.81, 1.5])
    for sign in (1.0, -1.0):
        prices = sign * np.stack([np.zeros((6, 2)), np.column_stack([cuts, cuts - 1])], axis=-1)
        rule = DecisionRule(prices, np.arange(6) % 3, np.full(6, 0.5))
        there = rule.probabilities(maps.applied(rows).scores, rows.group)
        here = maps.taken_in(rule).probabilities(rows.scores, rows.group)
        assert np.array_equal(here, there)


def test_always_and_never_stay_what_they_are():
    rising = Monotone.fitted(rows_of(rows=200))
    for prices in (np.array([[0.0, -1.0], [0.0, -1.0]]), np.array([[-1.0, 0.0], [-1.0, 0.0]])):
        assert np.array_equal(rising.taken_in(prices), prices)


@pytest.mark.parametrize("blind", [False, True])
def test_prices_take_a_mixing_in(blind):
    random = np.random.default_rng(0)
    y, score, group = people(rows=500, groups=2, classes=3)
    proba = random.dirichlet([1, 1], 500) if blind else None
    rows = read_rows(y, score, group, group_proba=proba)
    maps = calibration(rows, 0)
    maps = Calibration(tuple(Mixing(random.dirichlet([1] * 3, 3).T) for _ in maps.maps), ())
    size, pools = (6, 1) if blind else (3, 2)
    rule = DecisionRule(random.normal(size=(pools, size, 3)), np.arange(pools), np.ones(pools))
    there = rule.probabilities(maps.applied(rows).features, rows.known)
    here = maps.taken_in(rule).probabilities(rows.features, rows.known)
    assert np.array_equal(here, there)


def test_isotonic_maps_make_every_group_as_frequent_as_it_is():
    rows = rows_of(rows=2000, groups=2)
    rising = Monotone.fitted(rows)
    assert rising.of(rows.scores)[:, 1].mean() == pytest.approx(rows.onehot[:, 1].mean(), abs=1e-5)
    assert np.all(np.diff(rising.values) > 0)


def test_mixing_recovers_the_matrix_that_made_the_labels():
    random = np.random.default_rng(0)
    true = np.array([[0.7, 0.1, 0.0], [0.2, 0.8, 0.3], [0.1, 0.1, 0.7]])
    score = random.dirichlet([0.5] * 3, 40_000)
    edges = np.cumsum(score @ true.T, axis=1)
    y = np.minimum((random.random(40_000)[:, None] > edges).sum(axis=1), 2)
    found = Mixing.fitted(read_rows(y, score, ["all"] * 40_000))
    assert np.allclose(found.matrix, true, atol=0.03)
    assert np.allclose(found.matrix.sum(axis=0), 1)


@pytest.mark.slow
def test_scores_that_are_off_are_recalibrated_on_request():
    everyone = skewed(*people(rows=12_000, classes=3, seed=1))
    fit, new = (tuple(column[half::2] for column in everyone) for half in (0, 1))
    believed = curve(*fit, test=new, values=4)
    corrected = curve(*fit, test=new, values=4, recalibrate=True)
    assert any("recalibrate=True corrects them" in note for note in believed.notes)
    assert any("recalibrated: " in note for note in corrected.notes)
    assert not any("not calibrated" in note for note in corrected.notes)
    assert corrected.points[-1].test.cost < believed.points[-1].test.cost
    # what the curve says is what new rows show
    drift = [abs(at.points[-1].test.cost - at.points[-1].cost) for at in (believed, corrected)]
    assert drift[1] < drift[0] / 2


def in_duckdb(rule, score, group):
    names = [f"p{place}" for place in range(score.shape[1])]
    people = pd.DataFrame(score, columns=names).assign(group=group, id=np.arange(len(score)))
    query = rule.to_sql("duckdb", scores=names, row_id="id", key=1)
    with duckdb.connect() as connection:
        connection.register("people", people)
        found = connection.execute(query).df().sort_values("id")
    return found.filter(like="chance_").to_numpy(), found["decision"].tolist()


def in_onnx(rule, score, group):
    session = onnxruntime.InferenceSession(rule.to_onnx().SerializeToString())
    given = {"scores": score, "lot": lots(np.arange(len(score)), key=1)}
    (name,) = {column.name for column in session.get_inputs()} - set(given)
    chances, decisions = session.run(
        ["probabilities", "decision"], given | {name: group.astype(object)}
    )
    return chances, decisions.tolist()


@pytest.mark.slow
def test_a_recalibrated_rule_decides_by_scores_as_they_come_wherever_it_is_taken():
    y, score, group = skewed(*people(rows=3000, classes=3))
    rule = curve(y, score, group, values=3, recalibrate=True).rule(0.05)
    source = {}
    exec(rule.to_python(), source)
    here = rule.predict(score[:100], group[:100], ids=np.arange(100), key=1)
    there = [source["decide"](score[i].tolist(), group[i], i, 1) for i in range(100)]
    assert there == here.tolist()
    chances, decisions = in_duckdb(rule, score[:100], group[:100])
    np.testing.assert_allclose(chances, rule.predict_proba(score[:100], group[:100]), atol=1e-6)
    assert decisions == here.tolist()
    chances, decisions = in_onnx(rule, score[:100], group[:100])
    np.testing.assert_allclose(chances, rule.predict_proba(score[:100], group[:100]), atol=1e-6)
    assert decisions == here.tolist()
    again = DecisionRule.from_json(rule.to_json())
    code = np.searchsorted(np.unique(group), group)
    assert np.allclose(again.probabilities(score, code), rule.predict_proba(score, group))


@pytest.mark.slow
def test_two_classes_are_told_that_order_is_all_that_counts():
    y, score, group = people(rows=3000)
    wrong = np.where(group == "g1", score**3, score)
    assert not any("calibrated" in note for note in curve(y, score, group, values=2).notes)
    found = curve(y, wrong, group, values=3)
    assert any("moves no point of the curve" in note for note in found.notes)
    assert found.fitted_to == "labels"
    mapped = curve(y, wrong, group, values=3, recalibrate=True)
    assert not any("not calibrated" in note for note in mapped.notes)
    assert np.allclose(mapped.to_dict()["cost"], found.to_dict()["cost"], atol=1e-6)
    assert mapped.rule(0.05).explain().startswith("Group g0: select scores above 0.")


def test_scores_of_any_scale_can_be_believed_once_they_are_calibrated():
    y, score, group = people(rows=3000)
    stretched = 20 * score - 7
    with pytest.raises(eh.InputError, match="recalibrate=True"):
        curve(y, stretched, group, truth="scores")
    found = curve(y, stretched, group, truth="scores", recalibrate=True, values=3)
    chances = found.rule(0.05).predict_proba(stretched, group)
    assert 0.1 < chances[:, 1].mean() < 0.9


@pytest.mark.slow
def test_rules_that_do_not_know_the_group_believe_each_groups_own_scores():
    y, score, group = people(rows=4000, groups=2, seed=3)
    wrong = np.where(group == "g1", 0.3 + 0.4 * score, score)
    known = (group == "g1").astype(float)
    proba = np.column_stack([0.9 - 0.8 * known, 0.1 + 0.8 * known])
    options = {"group_proba": proba, "values": 3, "rate_error": None}
    plain = eh.frontier(y, wrong, sensitive_features=group, **options)
    found = eh.frontier(y, wrong, sensitive_features=group, recalibrate=True, **options)
    truth = eh.frontier(y, score, sensitive_features=group, **options)
    assert abs(found.points[0].cost - truth.points[0].cost) < abs(
        plain.points[0].cost - truth.points[0].cost
    )
    chances = found.rule(0.05).predict_proba(wrong, group_proba=proba)
    assert chances.shape == (4000, 2)


def test_a_group_too_small_for_a_map_of_its_own_takes_the_common_one():
    y, score, group = people(rows=6000, groups=2)
    group = np.where(np.arange(6000) < 12, "few", group)
    found = calibration(read_rows(y, score**3, group), 0)
    assert found.kinds[0] in ("common", "none")
    assert found.kinds[1:] == ("own", "own") or "common" in found.kinds[1:]


def test_labels_are_needed_to_recalibrate():
    _, score, group = people(rows=100)
    with pytest.raises(eh.InputError, match="pass y_true"):
        curve(None, score, group, recalibrate=True)
    with pytest.raises(eh.InputError, match="amounts are not"):
        curve(1 - score, score, group, criterion="weak_parity", recalibrate=True)
