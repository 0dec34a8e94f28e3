"""Recommended rules never prefer a lower score to a higher one of the same group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.mitigation import (
    EqualizedOddsClassifier,
    GivenProbabilities,
    LinearPostClassifier,
    RateConstrainedClassifier,
)
from evenhand.mitigation.optimal import Curves, DecisionRule, Thresholds, problem, solve
from frontier import programs

GRID = np.linspace(0, 1, 101)


def misleading(seed=3, rows=200, small=12):
    """Scores that mislead in a small group, where lower ones are better."""
    random = np.random.default_rng(seed)
    group = np.repeat(["A", "B"], [rows - small, small])
    score = random.random(rows).round(2)
    y = (random.random(rows) < np.where(group == "A", score, 1 - score)).astype(int)
    y[-2:] = 0, 1
    return y, score, group


def rises(rule, groups=("A", "B")):
    chances = [rule.predict_proba(GRID, [group] * len(GRID))[:, 1] for group in groups]
    return all((np.diff(chance) >= -1e-9).all() for chance in chances)


@pytest.mark.long
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["statistical_parity", "equal_opportunity"]))
def test_no_recommended_rule_prefers_lower_scores(seed, criterion):
    y, score, group = misleading(seed)
    found = eh.frontier(y, score, sensitive_features=group, criterion=criterion, values=3)
    for bound in (0.0, 0.05, 1.0):
        rule = found.rule(bound)
        assert rises(rule)
        assert rule.rising
        assert rises(found.rule(bound, draw=False))


@pytest.mark.slow
def test_the_optimum_of_all_rules_is_there_for_the_asking():
    y, score, group = misleading()
    options = {"sensitive_features": group, "rate_error": None, "truth": "labels"}
    free = eh.frontier(y, score, **options, rising=False, values=[0.02])
    assert not rises(free.rule(0.02))
    assert not free.rule(0.02).rising
    assert free.points[0].fitted.cost == pytest.approx(free.points[0].cost, abs=2e-6)
    assert "higher score" not in " ".join(free.sentences)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["mpd", "gini", "pq", "shortfall"])
@pytest.mark.parametrize(
    "criterion",
    ["statistical_parity", "equal_opportunity", "predictive_equality", "equalized_odds"],
)
def test_what_rising_costs_is_what_a_general_solver_says(criterion, measure):
    y, score, group = misleading(rows=90)
    score = score.round(1)
    bounds = [0.0, 0.1]
    options = {"sensitive_features": group, "rate_error": None, "truth": "labels"}
    found = eh.frontier(y, score, **options, criterion=criterion, measure=measure, values=bounds)
    for point, bound in zip(found.points, bounds, strict=True):
        program = programs.Thresholds(y, score, group, rising=True)
        program.evenly(criterion, measure, bound)
        least = program.least_cost()
        assert point.cost + point.rising_cost == pytest.approx(least, abs=5e-6)
        assert point.fitted.cost == pytest.approx(least, abs=5e-6)
        assert point.rising_cost > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["labels", "scores"])
def test_rising_rules_meet_floors_and_a_capacity_as_cheaply_as_they_can(truth):
    """Labels of a group mislead; or right decisions cost, and believed scores should be low."""
    y, score, group = misleading(rows=120, small=60)
    believed, wrong = (y.astype(float), 1.0) if truth == "labels" else (score, -1.0)
    costs = [[0.0, 1.0], [1.0, 0.0]] if truth == "labels" else [[1.0, 0.0], [0.0, 1.0]]
    floor = {"at_least": {"false_positive_rate": 0.2}, "capacity": 44, "truth": truth}
    options = {"sensitive_features": group, "rate_error": None, "values": [0.05], "cost": costs}
    found = eh.frontier(y, score, **options, **floor)
    least = {}
    for rising in (False, True):
        program = programs.Thresholds(believed, score, group, rising=rising)
        program.evenly("statistical_parity", "mpd", 0.05)
        program.requirements += [
            program.rates("predictive_equality")[0] >= 0.2,
            sum(program.counts(k).sum() for k in (0, 1)) == 44,
        ]
        least[rising] = program.least_cost(wrong, wrong) + (1 - wrong) / 2
    point = found.points[0]
    assert point.cost == pytest.approx(least[False], abs=5e-6)
    assert point.rising_cost == pytest.approx(least[True] - least[False], abs=1e-5)
    assert point.rising_cost > 1e-3
    assert found.rule(0.05).rising


@pytest.mark.slow
def test_what_rising_costs_is_shown():
    y, score, group = misleading()
    options = {"sensitive_features": group, "rate_error": None, "truth": "labels"}
    found = eh.frontier(y, score, **options, values=[0.0, 0.05])
    said = next(line for line in found.sentences if "a higher score is never worse" in line)
    most = max(found.to_dict()["rising_cost"])
    assert f"costs up to {most:.4f} of accuracy" in said
    assert "a higher score is never worse, which costs 0.0" in found.rule(0.0).explain()
    even, odd = np.random.default_rng(0).random((2, 400))
    options["sensitive_features"] = np.arange(400) % 2
    plain = eh.frontier((odd < even).astype(int), even, **options, values=[0.1, 0.2])
    assert "higher score" not in " ".join(plain.sentences)


def test_what_no_rising_rule_can_meet_says_so():
    y = np.array([1, 0] * 50)
    group = np.repeat(["a", "b"], [80, 20])
    score = np.where((y == 1) == (group == "a"), 0.8, 0.2)  # in group b lower ones are better
    floors = {"at_least": {"true_positive_rate": 0.9}, "at_most": {"false_positive_rate": 0.1}}
    fit = {"truth": "labels", "values": [0.1], "rate_error": None}
    options = {"sensitive_features": group, **fit, **floors}
    with pytest.raises(eh.InputError, match=r"that prefers higher ones .* or pass rising=False"):
        eh.frontier(y, score, **options)
    assert eh.frontier(y, score, **options, rising=False).points[0].cost < 1e-6


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_the_best_rising_rule_at_any_prices_is_that_of_all_cuts(seed, labels):
    random = np.random.default_rng(seed)
    score, group = random.random(40).round(1), random.integers(0, 3, 40)
    group[:3] = 0, 1, 2
    positive = (random.random(40) < 0.5).astype(float) if labels else score
    weight = random.random(40) + 0.1
    if labels:
        population = Curves.of(score, positive, group, weight, 3, rising=True)
    else:
        both = np.column_stack([1 - score, score])
        population = Thresholds.of(both, group, weight, 3, rising=True)
    prices = random.normal(size=(3, 2, 2))
    answer = population.respond(prices)
    extra = prices[:, :, 1] - prices[:, :, 0]
    for own in range(3):
        mine = group == own
        each = ((1 - positive) * extra[own, 0] + positive * extra[own, 1]) * weight / weight.sum()
        cuts = [-np.inf, *np.unique(score[mine])]
        least = min(float(each[mine & (score > cut)].sum()) for cut in cuts)
        found = (answer.confusion[own] * prices[own]).sum()
        none = (answer.confusion[own].sum(axis=1) * prices[own, :, 0]).sum()
        assert found - none == pytest.approx(least, abs=1e-9)
    assert DecisionRule(answer.matrices, answer.pool, np.ones(3)).rising


@pytest.mark.parametrize("estimator", [RateConstrainedClassifier, LinearPostClassifier])
def test_estimators_rise_by_default_and_tell_what_it_costs(estimator):
    """Odds that believed scores make equal need no falling rule: rising costs nothing."""
    y, score, group = misleading(rows=300, small=100)
    score = np.where(group == "B", score / 2, score)
    X = np.column_stack([group == "B", 1 - score, score]).astype(float)
    given = GivenProbabilities([1, 2])
    model = estimator(given, group=0, criterion="equalized_odds", epsilon=0.01).fit(X, y)
    assert model.rule_.rising
    assert model.rising_cost_ == 0
    free = estimator(given, group=0, criterion="equalized_odds", epsilon=0.01, rising=False)
    assert free.fit(X, y).objective_ == pytest.approx(model.objective_, abs=3e-6)


def test_an_estimator_whose_costs_prefer_low_scores_rises_all_the_same():
    y, score, group = misleading(rows=300, small=100)
    score = np.where(group == "B", score / 2, score)
    X = np.column_stack([group == "B", 1 - score, score]).astype(float)
    options = {"group": 0, "cost": [[1.0, 0.0], [0.0, 1.0]], "epsilon": 0.1, "measure": "mpd"}
    given = GivenProbabilities([1, 2])
    rising = RateConstrainedClassifier(given, **options).fit(X, y)
    free = RateConstrainedClassifier(given, **options, rising=False).fit(X, y)
    assert rising.rule_.rising
    assert not free.rule_.rising
    assert free.rising_cost_ == 0
    assert rising.rising_cost_ == pytest.approx(rising.objective_ - free.objective_, abs=1e-9)
    assert any("a higher score is never worse" in note for note in rising.notes_)
    program = programs.Thresholds(score, score, group, rising=True)
    program.evenly("statistical_parity", "mpd", 0.1)
    right = 1 - program_cost(program)
    assert rising.objective_ == pytest.approx(right, abs=1e-5)


def program_cost(program):
    """The share of wrong decisions, when they are sought: the cost is that of right ones."""
    wrong = programs.cp.sum(program.counts(0)) + program.mass[:, 1].sum()
    wrong -= programs.cp.sum(program.counts(1))
    program = programs.cp.Problem(programs.cp.Maximize(wrong / program.size), program.requirements)
    program.solve(solver=programs.cp.CLARABEL)
    return program.value


def test_equal_odds_never_let_those_fare_worse_whom_the_model_selects():
    random = np.random.default_rng(0)
    group = np.repeat([0, 1], [300, 60])
    label = random.integers(0, 2, 360)
    truth = np.where(random.random(360) < 0.9, label, 1 - label)
    truth[300:] = 1 - truth[300:]  # the labels of the second group mislead
    X = np.column_stack([group, 1 - label, label]).astype(float)
    given = GivenProbabilities([1, 2])
    model = EqualizedOddsClassifier(given, group=0).fit(X, truth)
    free = EqualizedOddsClassifier(given, group=0, rising=False).fit(X, truth)
    assert (model.chances_[:, 1] >= model.chances_[:, 0] - 1e-9).all()
    assert free.chances_[1, 1] < free.chances_[1, 0]
    assert model.rising_cost_ > 0.3
    assert "never fare worse" in model.notes_[-1]
    accuracy = [
        np.mean([one.predict_proba(X)[truth == k, k].mean() for k in (0, 1)])
        for one in (free, model)
    ]
    assert accuracy[0] - accuracy[1] == pytest.approx(model.rising_cost_, abs=1e-6)


def test_rising_rules_are_optimal_where_no_rule_falls():
    random = np.random.default_rng(2)
    score, group = random.random(500), random.integers(0, 3, 500)
    both = np.column_stack([1 - score, score])
    for rising in (False, True):
        population = Thresholds.of(both, group, np.ones(500), 3, rising=rising)
        solution = solve(problem(population, "statistical_parity", "mpd", 0.01))
        assert solution.rising_gap <= 3e-6
        assert solution.rule.rising
