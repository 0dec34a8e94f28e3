"""The frontier against a general solver, against rules at random, and against its own laws."""

import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.mitigation.crossfit import advice
from evenhand.mitigation.optimal import Curves, Steady, Thresholds, problem, solve
from frontier import programs
from frontier.people import people
from mitigation.programs import whole_program

MEASURES = ("mpd", "gini", "pq", "shortfall")
CRITERIA = (
    "statistical_parity",
    "selection_rate_ratio",
    "equal_opportunity",
    "predictive_equality",
    "equalized_odds",
)
SHORT = {"truth": "labels", "values": 2}  # where the rule is asked about, and not the curve


def curve(y, score, group, **options):
    """Without cross-fitting, which chooses recommended rules and leaves the proved curve alone."""
    truth = "labels" if np.ndim(score) == 1 and y is not None else None
    plain = {"rate_error": None, "truth": truth}
    return eh.frontier(y, score, sensitive_features=group, **plain | options)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_least_cost_is_that_of_a_general_solver(criterion, measure):
    y, score, group = people(rows=140)
    if criterion == "equalized_odds":
        score = score.round(1)  # ties
    bounds = [0.0, 0.05, 0.15]
    found = curve(y, score, group, criterion=criterion, measure=measure, values=bounds)
    for point, bound in zip(found.points, bounds, strict=True):
        program = programs.Thresholds(y, score, group)
        program.evenly(criterion, measure, bound)
        assert point.cost == pytest.approx(program.least_cost(), abs=1e-6)
        assert point.value <= bound + 1e-9
        assert 0 <= point.gap <= 2e-6


@pytest.mark.slow
def test_requirements_together_are_those_of_a_general_solver():
    y, score, group = people(rows=160, seed=3)
    found = curve(
        y,
        score,
        group,
        measure="mpd",
        values=[0.05, 0.1],
        also=[("equal_opportunity", "pq", 0.02)],
        at_least={"true_positive_rate": 0.5},
        at_most={"false_positive_rate": 0.6},
        capacity=90,
        cost={"false_positive": 1.0, "false_negative": 3.0},
    )
    for point, bound in zip(found.points, (0.05, 0.1), strict=True):
        program = programs.Thresholds(y, score, group)
        program.evenly("statistical_parity", "mpd", bound)
        program.evenly("equal_opportunity", "pq", 0.02)
        program.requirements += [
            program.rates("equal_opportunity")[0] >= 0.5,
            program.rates("predictive_equality")[0] <= 0.6,
            sum(program.counts(k).sum() for k in (0, 1)) == 90,
        ]
        assert point.cost == pytest.approx(program.least_cost(1.0, 3.0), abs=2e-6)


@pytest.mark.parametrize("measure", ["mpd", "shortfall"])
def test_a_reference_group_binds_the_others(measure):
    y, score, group = people(rows=160, seed=4)
    found = curve(y, score, group, measure=measure, reference="g2", values=[0.05])
    program = programs.Thresholds(y, score, group)
    for rates in program.rates("statistical_parity")[: 1 if measure == "mpd" else 2]:
        own = rates[2]
        program.requirements.append(
            (rates >= 0.95 * own)
            if measure == "shortfall"
            else (programs.cp.abs(rates - own) <= 0.05)
        )
    assert found.points[0].cost == pytest.approx(program.least_cost(), abs=1e-6)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(MEASURES), st.sampled_from(CRITERIA[:4]))
def test_no_thresholds_at_random_lie_below(seed, measure, criterion):
    y, score, group = people(rows=200, groups=4, seed=seed % 97)
    random = np.random.default_rng(seed)
    labels = np.unique(group)
    cut = random.random(4)[np.searchsorted(labels, group)]
    decided = (score >= cut).astype(int)
    value = eh.evaluate(
        criterion,
        y,
        decided,
        sensitive_features=group,
        measure=measure,
        favorable=1 if criterion != "statistical_parity" else None,
    )
    if np.isnan(value):
        return
    found = curve(y, score, group, measure=measure, criterion=criterion, values=[float(value)])
    assert found.points[0].cost <= (decided != y).mean() + 1e-6


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(MEASURES), st.sampled_from(CRITERIA))
def test_less_disparity_never_costs_less(seed, measure, criterion):
    y, score, group = people(rows=150, seed=seed)
    found = curve(y, score, group, measure=measure, criterion=criterion, values=7)
    columns = found.to_dict()
    assert np.all(np.diff(columns["cost"]) <= 2e-6)
    assert np.all(np.array(columns["value"]) <= np.array(columns["bound"]) + 1e-9)
    assert np.allclose(columns["cost"], 1 - np.array(columns["accuracy"]), atol=1e-9)


@pytest.mark.slow
def test_the_cost_of_a_rule_is_what_its_decisions_cost():
    y, score, group = people(rows=2000, groups=5)
    found = curve(y, score, group, measure="gini")
    rule = found.rule(value=0.03)
    chances = rule.predict_proba(score, group)
    assert np.where(y == 1, chances[:, 0], chances[:, 1]).mean() == pytest.approx(rule.cost)
    counts = eh.tally(y, chances, classes=[0, 1], sensitive_features=group)
    assert eh.evaluate("statistical_parity", counts, measure="gini") == pytest.approx(0.03)


@pytest.mark.parametrize("criterion", ["statistical_parity", "equal_opportunity", "equalized_odds"])
def test_many_classes_are_judged_by_their_probabilities(criterion):
    y, score, group = people(rows=60, classes=3, seed=1)
    found = curve(y, score, group, criterion=criterion, values=[0.05])
    joint = np.eye(3)[np.searchsorted(np.unique(group), group)][:, :, None] * score[:, None, :]
    least = whole_program(joint, criterion, 0.05)
    assert found.points[0].cost == pytest.approx(least, abs=2e-6)


def test_rules_that_do_not_know_the_group_are_those_of_the_whole_program():
    y, score, group = people(rows=80, groups=2, seed=2)
    known = (group == "g1").astype(float)
    proba = np.column_stack([0.2 + 0.6 * (1 - known), 0.2 + 0.6 * known])
    found = eh.frontier(
        y, score, sensitive_features=group, group_proba=proba, values=[0.02], rate_error=None
    )
    joint = proba[:, :, None] * np.column_stack([1 - score, score])[:, None, :]
    least = whole_program(joint, "statistical_parity", 0.02)
    assert found.points[0].cost == pytest.approx(least, abs=2e-6)
    assert "do not know the group" in found.notes[0]
    assert "on average, and at most, for g" in found.notes[0]
    chances = found.rule(0.02).predict_proba(score, group_proba=proba)
    assert chances.shape == (80, 2)
    with pytest.raises(eh.InputError, match="group_proba"):
        found.rule(0.02).predict_proba(score, group)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["statistical_parity", "equal_opportunity"])
@pytest.mark.parametrize("kind", ["curves", "thresholds", "steady"])
def test_many_groups_by_gini_cost_what_all_pairs_cost(monkeypatch, criterion, kind):
    y, score, group = people(rows=900, groups=12, seed=5)
    code = np.searchsorted(np.unique(group), group)
    code = np.unique(code, return_inverse=True)[1]
    groups, weight = code.max() + 1, np.ones(len(y))
    population = Curves.of(score, y.astype(float), code, weight, groups)
    if kind == "thresholds":
        both = np.column_stack([1 - score, score])
        population = Thresholds.of(both, code, weight, groups)
    if kind == "steady":
        population = Steady(population, np.where(np.arange(groups) < 4, 0.5, 0.0))
    for bound in (0.3, 0.1, 0.02):
        asked = (population, criterion, "gini", bound)
        pairs = solve(problem(*asked, favorable=1))
        monkeypatch.setattr(sys.modules["evenhand.mitigation.optimal.problem"], "MANY", 2)
        levels = solve(problem(*asked, favorable=1))
        monkeypatch.undo()
        assert levels.cost == pytest.approx(pairs.cost, abs=2e-6)
        assert levels.value <= bound + 1e-9
        assert levels.gap <= 3e-6


def test_two_cells_that_bind_at_once_fall_back_on_pairs(monkeypatch):
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(6), 100)
    score = np.clip(random.normal(0.5, 0.2, 600) + np.linspace(-0.4, 0.4, 6)[group], 0.01, 0.99)
    y = (random.random(600) < score).astype(float)
    population = Curves.of(score, y, group, np.ones(600), 6)
    asked = (population, "statistical_parity", "gini", 0.02)
    pairs = solve(problem(*asked))
    monkeypatch.setattr(sys.modules["evenhand.mitigation.optimal.problem"], "MANY", 2)
    levels = solve(problem(*asked))
    assert levels.cost == pytest.approx(pairs.cost, abs=2e-6)
    assert levels.value <= 0.02 + 1e-9


def test_what_conflicts_is_named_and_nothing_else():
    y, score, group = people(rows=400)
    with pytest.raises(eh.InputError) as failure:
        curve(
            y,
            score,
            group,
            at_least={"true_positive_rate": 0.95},
            at_most={"false_positive_rate": 0.05, "selection_rate": 0.99},
        )
    said = str(failure.value)
    assert "true positive rate ≥ 0.95 and false positive rate ≤ 0.05" in said
    assert "selection" not in said
    assert "mpd" not in said


def test_a_capacity_is_met_exactly():
    y, score, group = people(rows=500, groups=2)
    found = curve(y, score, group, capacity=120, values=[0.02])
    chances = found.rule(0.02).predict_proba(score, group)
    assert chances[:, 1].sum() == pytest.approx(120, abs=1e-5)


@pytest.mark.slow
def test_the_least_disparity_at_the_models_cost_is_proved():
    y, score, group = people(rows=3000, groups=3)
    found = curve(y, score, group)
    least = found.least_at_model_cost
    below, above = max(least - 2e-3, 0), least + 2e-3
    assert curve(y, score, group, values=[below]).points[0].cost > found.model.cost - 2e-6
    assert curve(y, score, group, values=[above]).points[0].cost <= found.model.cost + 2e-6
    assert found.sentences[0].startswith("By statistical parity, the model's gap is ")


def test_a_person_gets_the_same_decision_in_any_company():
    y, score, group = people(rows=400, groups=6)
    rule = eh.frontier(y, score, sensitive_features=group, rate_error=0.02, **SHORT).rule(0.01)
    ids = np.arange(400)
    together = rule.predict(score, group, ids=ids, key=3)
    order = np.random.default_rng(0).permutation(400)
    shuffled = rule.predict(score[order], group[order], ids=ids[order], key=3)
    alone = [rule.predict(score[[i]], group[[i]], ids=[i], key=3)[0] for i in range(40)]
    assert np.array_equal(together[order], shuffled)
    assert np.array_equal(together[:40], alone)
    assert not np.array_equal(together, rule.predict(score, group, ids=ids, key=4))
    by_self = rule.predict(score, group)
    assert np.array_equal(by_self[order], rule.predict(score[order], group[order]))


@pytest.mark.slow
def test_without_chance_the_rule_says_what_it_gives_up():
    y, score, group = people(rows=3000, groups=4)
    found = curve(y, score, group)
    drawn, fixed = found.rule(0.02), found.rule(0.02, draw=False)
    chances = fixed.predict_proba(score, group)
    assert set(np.unique(chances)) <= {0.0, 1.0}
    decided = fixed.predict(score, group)
    assert fixed.cost == pytest.approx((decided != y).mean())
    value = eh.evaluate("statistical_parity", y, decided, sensitive_features=group, measure="mpd")
    assert fixed.value == pytest.approx(float(value))
    assert abs(fixed.value - drawn.value) < 0.05


@pytest.mark.slow
def test_random_decisions_are_as_frequent_as_their_chances():
    y, score, group = people(rows=20_000, groups=3)
    rule = eh.frontier(y, score, sensitive_features=group, rate_error=0.001, **SHORT).rule(0.05)
    chances = rule.predict_proba(score, group)[:, 1]
    decided = rule.predict(score, group, ids=np.arange(20_000))
    spread = np.sqrt((chances * (1 - chances)).sum())
    assert spread > 10
    assert abs(decided.sum() - chances.sum()) < 3 * spread


@pytest.mark.slow
def test_lots_bound_the_error_of_every_rate():
    y, score, group = people(rows=3000, groups=8)
    found = eh.frontier(y, score, sensitive_features=group, rate_error=0.02, **SHORT)
    chances = found.rule(0.05).predict_proba(score, group)[:, 1]
    for label in np.unique(group):
        own = chances[group == label]
        assert own.std() / np.sqrt(len(own)) <= 0.025
    assert found.lot.max() > 0.3
    assert any("at random" in sentence for sentence in found.sentences)


@pytest.mark.slow
def test_large_groups_are_left_to_their_scores():
    y, score, group = people(rows=20_000, groups=2)
    found = eh.frontier(y, score, sensitive_features=group)
    assert not found.lot.any()
    assert found.rate_error == np.inf


@pytest.mark.long
def test_the_strength_is_chosen_by_rows_left_out():
    y, score, group = people(rows=400, groups=4, shift=0.4)
    found = eh.frontier(y, score, sensitive_features=group, values=2)
    assert found.rate_error in (np.inf, *advice.ERRORS)
    again = eh.frontier(y, score, sensitive_features=group, values=2)
    assert found.rate_error == again.rate_error


@pytest.mark.long
def test_tighter_bounds_have_as_many_lots_or_more_and_turn_no_test_rows_back():
    fit = people(rows=2000, groups=20, shift=0.4)
    y, score, group = fit
    found = eh.frontier(
        y,
        score,
        sensitive_features=group,
        measure="pq",
        values=5,
        test=people(rows=2000, groups=20, shift=0.4, seed=1),
    )
    errors = [found.advice.error(point.bound) for point in found.points]
    assert errors == sorted(errors)
    assert found.rate_error < np.inf
    values = np.array([point.test.value for point in found.points])
    noise = np.median([(point.test.high - point.test.low) / 3.92 for point in found.points])
    assert np.all(values <= np.minimum.accumulate(values[::-1])[::-1] + noise)


@pytest.mark.slow
def test_rules_follow_labels_where_scores_mislead():
    y, score, group = people(rows=3000)
    timid = score.copy()
    for label in np.unique(group):  # as frequent as they are, and far too close to their mean
        own = group == label
        timid[own] = y[own].mean() + 0.05 * (score[own] - score[own].mean())
    found = curve(y, timid, group, values=3, truth=None)
    assert not any("not calibrated" in note for note in found.notes)
    assert found.fitted_to == "labels"
    assert curve(y, timid, group, values=3, truth="scores").fitted_to == "scores"


@pytest.mark.parametrize(("noise", "chosen"), [(0.001, "labels"), (0.05, "scores")])
def test_labels_must_win_by_more_than_a_standard_error(noise, chosen):
    value = np.array(advice.TRIED)
    by_fold = np.array([2, -1, -2, 1, 0])[:, None] * noise
    judged = {}
    for truth, dearer in (("scores", 0.01), ("labels", 0.0)):
        cost = 0.2 - 0.1 * value + dearer + (by_fold if truth == "labels" else 0 * by_fold)
        judged[truth, np.inf] = np.stack([np.broadcast_to(value, cost.shape), cost], axis=-1)
    assert advice._best(judged) == (chosen, (np.inf,) * len(value))


@pytest.mark.slow
def test_rows_held_out_judge_the_rules_with_intervals():
    y, score, group = people(rows=4000, groups=2)
    table = eh.frontier(
        y, score, sensitive_features=pl.DataFrame({"sex": group}), held_out=0.5, values=4
    ).to_frame()
    assert isinstance(table, pl.DataFrame)
    assert {"value", "cost", "accuracy", "gap", "test_value", "test_cost"} <= set(table.columns)
    assert (table["test_low"] <= table["test_high"]).all()
    assert (table["test_error"] > 0).all()
    drift = (table["test_cost"] - table["rule_cost"]).abs() / table["test_error"]
    assert drift.max() < 4


def test_beside_a_reference_group_there_is_an_interval_too():
    y, score, group = people(rows=1500)
    test = people(rows=1500, seed=1)
    found = curve(y, score, group, reference="g2", test=test, values=[0.05])
    drawn = found.points[0].test
    assert drawn.low < drawn.value < drawn.high
    alone = curve(y, score, group, test=test, values=[0.05]).points[0].test
    assert (drawn.low, drawn.high) != (alone.low, alone.high)


def test_test_rows_are_judged_like_the_fitting_rows():
    y, score, group = people(rows=800)
    found = curve(y, score, group, test=(y, score, group), values=5)
    for point in found.points:
        assert point.test.value == pytest.approx(point.fitted.value)
        assert point.test.cost == pytest.approx(point.cost)


@pytest.mark.slow
def test_a_rule_leaves_python_and_decides_the_same():
    y, score, group = people(rows=2000, groups=3)
    people_ = pl.DataFrame({"who": group})
    rule = eh.frontier(y, score, sensitive_features=people_, rate_error=0.02, **SHORT).rule(0.05)
    ids = [f"n{at}" for at in range(200)]
    here = rule.predict(score[:200], people_[:200], ids=ids, key=5)
    source = {}
    exec(rule.to_python(), source)
    there = [
        source["decide"]([1 - s, s], g, i, 5)
        for s, g, i in zip(score[:200].tolist(), group[:200].tolist(), ids, strict=True)
    ]
    assert there == here.tolist()
    assert rule.explain().startswith("Group g0: ")
    assert "who" in rule.to_sql()
    stretched = eh.frontier(y, 10 * score, sensitive_features=group, rate_error=None).rule(0.05)
    with pytest.raises(eh.InputError, match="scale them"):
        stretched.to_sql()


def test_scores_of_any_scale_will_do_where_labels_judge():
    y, score, group = people(rows=500)
    stretched = np.log(score / (1 - score)) * 7 + 40
    one, other = curve(y, score, group, values=4), curve(y, stretched, group, values=4)
    assert np.allclose(one.to_dict()["cost"], other.to_dict()["cost"], atol=1e-9)


def test_weights_count_as_rows():
    y, score, group = people(rows=300)
    weight = np.random.default_rng(0).integers(1, 4, 300)
    repeated = [np.repeat(column, weight) for column in (y, score, group)]
    weighted = curve(y, score, group, sample_weight=weight, values=[0.05])
    assert weighted.points[0].cost == pytest.approx(curve(*repeated, values=[0.05]).points[0].cost)


@pytest.mark.slow
def test_scores_that_are_off_in_a_group_are_named():
    y, score, group = people(rows=3000, classes=3)
    honest = curve(y, score, group, values=2)
    assert not any("calibrated" in note for note in honest.notes)
    skewed = np.where((group == "g2")[:, None], score * [2.0, 1.0, 0.5], score)
    skewed /= skewed.sum(axis=1, keepdims=True)
    notes = curve(y, skewed, group, values=2).notes
    assert any("not calibrated in 1 group: of g2" in note for note in notes)


@pytest.mark.slow
@pytest.mark.parametrize("favorable", [0, 1])
def test_a_column_for_each_class_is_read_alike_at_fit_test_and_decision(favorable):
    """Where the favorable label sorts first the columns changed places, but in the fit only."""
    y, score, group = people(rows=300, groups=2)
    both = np.column_stack([1 - score, score])
    asked = {"sensitive_features": group, "favorable": favorable, "values": [0.05]}
    asked |= {"rate_error": None}
    found = eh.frontier(y, both, **asked, test=(y, both, group))
    point, rule = found.points[0], found.rule(0.05)
    assert point.test.cost == pytest.approx(point.fitted.cost, abs=1e-9)
    decided = rule.predict(both, group, ids=np.arange(300))
    assert np.corrcoef(decided, score)[0, 1] > 0.5
    single = eh.frontier(y, score, **asked, score_of=1).rule(0.05)
    chances = single.predict_proba(score, group)
    np.testing.assert_allclose(rule.predict_proba(both, group), chances, atol=1e-9)
    if favorable == 0:
        with pytest.raises(eh.InputError, match="two columns of scores, of 0 and 1"):
            rule.predict(score, group)


def test_scores_whose_cuts_would_be_lost_are_refused_at_fit_and_decision():
    """Beyond 1e15, 1 − s is −s: rules decided against everyone."""
    y, score, group = people(rows=100, groups=2)
    asked = {"sensitive_features": group, "values": [0.1], "rate_error": None}
    rule = eh.frontier(y, score * 1e14, **asked).rule(0.1)
    plain = eh.frontier(y, score * 100, **asked).rule(0.1)  # no probabilities either
    chances = plain.predict_proba(score * 100, group)
    np.testing.assert_allclose(rule.predict_proba(score * 1e14, group), chances, atol=1e-9)
    for ask in (
        lambda: eh.frontier(y, score * 1e17, **asked),
        lambda: rule.predict(score * 1e17, group),
    ):
        with pytest.raises(eh.InputError, match=r"beyond 1e\+15.*scale them"):
            ask()


def test_the_favorable_label_may_be_the_first():
    y, score, group = people(rows=300)
    words = np.where(y == 1, "accept", "reject")
    options = {"criterion": "equal_opportunity", "values": 3}
    one = curve(y, score, group, **options)
    named = {"favorable": "accept", "score_of": "accept"}
    other = curve(words, score, group, **named, **options)
    assert np.allclose(one.to_dict()["cost"], other.to_dict()["cost"])
    assert other.rule(0.1).classes == ("reject", "accept")


def test_the_picture_shows_the_curve_and_the_model():
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    y, score, group = people(rows=300)
    (ax,) = curve(y, score, group, held_out=0.4, values=4).plot().axes
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    pyplot.close(ax.figure)
    assert names[0] == "no rule can do better, on the fitting rows"
    assert "the model, on test rows" in names


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"criterion": "accuracy_parity"}, "not traced for the criterion 'accuracy_parity'"),
        ({"measure": "variance"}, "There is no measure 'variance'"),
        ({"cost": [[0, 1, 2]]}, "2 × 2 numbers"),
        ({"cost": {"wrong": 1}}, "false_positive"),
        ({"values": 1}, "at least 2 points"),
        ({"values": [-0.1]}, "from 0 on"),
        ({"values": [np.nan, 0.1]}, "not finite"),
        ({"values": 10**9}, "at most 10,000"),
        ({"also": {"equal_opportunity": np.nan}}, "bounds from 0 on"),
        ({"cost": {"false_positive": np.nan}}, "2 × 2 numbers"),
        ({"confidence": 2, "held_out": 0.5}, "confidence lies between 0 and 1"),
        ({"classes": [0, 1, 1]}, "every class once"),
        ({"sensitive_features": ["a"] * 100}, "nothing to compare"),
        ({"y_true": [0] * 100, "classes": [0, 1], "criterion": "equal_opportunity"}, "to compare"),
        ({"group_proba": [[2, -1, 0]] * 100}, "the probability of each"),
        ({"y_score": np.ma.array([[0.5, 0.5]] * 100, mask=[[0, 1]] * 100)}, "not finite numbers"),
        (
            {"sample_weight": [0, 1] * 50, "sensitive_features": ["b", "a"] * 50},
            "group b have weight 0",
        ),
        ({"reference": "g9"}, "none of the groups"),
        ({"reference": "g1", "measure": "pq"}, "'mpd' or 'shortfall'"),
        ({"capacity": 10_000}, "cannot be selected"),
        ({"at_least": {"precision": 0.5}}, "not traced for the rate 'precision'"),
        ({"at_least": {"selection_rate": 2}}, "between 0 and 1"),
        ({"rate_error": -1}, "positive number"),
        ({"held_out": 2}, "between 0 and 1"),
        ({"truth": "guess"}, "'labels' or 'scores'"),
        ({"test": (1, 2)}, "of other rows"),
        ({"y_pred": [7] * 100}, "none of the classes"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(wrong, message):
    y, score, group = people(rows=100)
    given = {"y_true": y, "y_score": score, "sensitive_features": group} | wrong
    with pytest.raises((eh.InputError, eh.InputTypeError), match=message):
        eh.frontier(**given)


@pytest.mark.slow
def test_test_rows_of_one_group_have_no_disparity():
    y, score, group = people(rows=200)
    other = y[:20], score[:20], [group[0]] * 20
    curve = eh.frontier(y, score, sensitive_features=group, values=2, test=other, rate_error=None)
    assert np.isnan(curve.to_dict()["test_value"]).all()


@pytest.mark.slow
def test_rows_that_weigh_nothing_are_not_there():
    y, score, group = people(rows=200)
    weight = np.tile([1.0, 0.0], 100)
    settings = {"values": 3, "rate_error": None}
    weighted = eh.frontier(y, score, sensitive_features=group, sample_weight=weight, **settings)
    fewer = eh.frontier(y[::2], score[::2], sensitive_features=group[::2], **settings)
    assert weighted.to_dict() == fewer.to_dict()


def test_a_score_without_truth_must_be_a_probability():
    _, score, group = people(rows=100)
    found = curve(None, score, group, values=3)
    assert found.points[0].cost >= found.points[-1].cost
    with pytest.raises(eh.InputError, match="must be probabilities"):
        curve(None, 100 * score, group)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "measure"),
    [
        ("strong_parity", "mpd"),
        ("wasserstein_parity", "mpd"),
        *(("weak_parity", measure) for measure in ("mpd", "gini", "pq", "shortfall")),
    ],
)
def test_amounts_move_as_little_as_can_be(criterion, measure):
    random = np.random.default_rng(1)
    group = random.choice(["a", "b", "c"], 600)
    y = random.gamma(3.0, 1 + 0.5 * (group == "b"), 600)
    found = eh.frontier(
        y,
        y.copy(),
        sensitive_features=group,
        criterion=criterion,
        measure=measure,
        values=4,
        test=(y, y.copy(), group),
    )
    columns = found.to_dict()
    assert np.all(np.diff(columns["cost"]) <= 1e-9)
    assert columns["cost"][-1] == pytest.approx(0, abs=1e-3)
    assert max(columns["gap"]) <= 1e-4
    if criterion == "weak_parity":
        assert np.allclose(columns["value"], columns["bound"], atol=1e-6)
        assert np.allclose(np.square(columns["error"]), columns["cost"], atol=1e-6)
    assert columns["test_value"] == columns["value"]
    assert found.sentences[0].startswith(f"By {criterion.replace('_', ' ')}, the model's ")
    assert found.rule(0.1).cost >= 0
    with pytest.raises(eh.InputError, match="'ratio'"):
        eh.frontier(y, y.copy(), sensitive_features=group, criterion=criterion, measure="ratio")


def test_shifts_of_two_means_are_by_hand():
    y = np.array([0.0, 2.0, 3.0, 5.0])
    group = ["a", "a", "b", "b"]
    found = eh.frontier(
        y, y.copy(), sensitive_features=group, criterion="weak_parity", values=[0.0, 1.0, 3.0]
    )
    assert np.allclose(found.to_dict()["cost"], [1.5**2, 1.0, 0.0])


def test_of_very_many_groups_fits_to_labels_are_not_tried(monkeypatch):
    random = np.random.default_rng(0)
    group, score = random.integers(0, 4, 4000), random.random(4000)
    y = (random.random(4000) < score).astype(int)
    tried = []
    monkeypatch.setattr(advice, "_held_out", lambda *rest, **_: tried.append(rest) or {})
    monkeypatch.setattr(advice, "_best", lambda _: ("labels", (np.inf,) * len(advice.TRIED)))
    asked = {"sensitive_features": group, "values": 2, "rate_error": None}
    assert eh.frontier(y, score, **asked).fitted_to == "labels"
    assert len(tried) == 1
    monkeypatch.setattr(advice, "MOST_GROUPS", 3)
    assert eh.frontier(y, score, **asked).fitted_to == "scores"
    assert len(tried) == 1


def test_looser_bounds_that_cost_no_less_are_not_shown():
    score = np.tile(np.linspace(0.05, 0.95, 10), 40)
    y = (np.arange(400) % 10 > 4).astype(int)
    curve = eh.frontier(y, score, sensitive_features=np.arange(400) % 4 < 2, values=8)
    assert np.ptp(curve.to_dict()["cost"]) < 1e-9
    table = curve.to_markdown().split("Value")[1].splitlines()
    assert sum(line.startswith("|") for line in table[1:]) == 2  # the rule below the heads, a point
