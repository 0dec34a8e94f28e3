"""Answers about small designs: to the digit, and beside the bootstrap and textbook tests."""

import json

import numpy as np
import pytest
from scipy.stats import anderson_ksamp, chi2_contingency
from statsmodels.stats.oneway import anova_oneway

import evenhand as eh
from inference.answers import ANSWERS, ASKED, FEW, PLACE, known, labels, numbers

EXPECTED = json.loads(PLACE.read_text())
DRAWN = 3e-3  # p-values by draws: numbers that tie may fall on either side on another machine
BEYOND = 1e-4  # no draw reaches as far: a formula says how seldom
# Losses have long tails, of which a bootstrap sees too little; bands of distributions hold at once.
CAUTIOUS = {
    *("squared errors", "root of squared errors", "absolute errors", "calibration errors"),
    *("areas between distributions", "likelihood"),
    *("rates of few clusters", "means of few clusters"),  # of five clusters it draws too few kinds
}


def test_every_answer_is_written_down():
    assert list(EXPECTED) == list(ANSWERS)


@pytest.mark.filterwarnings("ignore::evenhand.UndefinedWarning")
@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_one_that_is_written_down(name):
    drawn = name.startswith(("test", "power", "chance", "estimates"))
    formula = name.startswith(("details", "normal"))
    near = {"rel": 2e-3, "abs": DRAWN} if drawn else {"rel": 2e-4, "abs": 1e-6}
    near = {"rel": 1e-6, "abs": 1e-8} if formula else near
    assert list(ANSWERS[name]()) == pytest.approx(EXPECTED[name], nan_ok=True, **near)


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.startswith("test")])
def test_a_p_value_beyond_all_draws_is_the_one_of_its_tail(name):
    (expected,) = EXPECTED[name]
    if expected < BEYOND:
        assert p_value(name.removeprefix("test: ")) == pytest.approx(expected, rel=1e-3)


def resampled(columns, rng):
    """Rows drawn again within their groups, or whole clusters."""
    group = columns["sensitive_features"]
    if "cluster" in columns:
        cluster = columns["cluster"]
        drawn = rng.integers(0, cluster.max() + 1, cluster.max() + 1)
        at = np.concatenate([np.flatnonzero(cluster == each) for each in drawn])
    else:
        parts = [np.flatnonzero(group == each) for each in np.unique(group)]
        at = np.concatenate([rng.choice(part, len(part)) for part in parts])
    return {name: column[at] for name, column in columns.items() if name != "cluster"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::evenhand.UndefinedWarning")
@pytest.mark.parametrize("name", [name for name in FEW if "survey" not in name])
def test_an_interval_reaches_about_as_far_as_the_bootstraps(name):
    make, design, *_ = ASKED[name]
    asked, source, _ = known(name)
    rng = np.random.default_rng(0)
    values = [asked(**resampled(make(design), rng), measure="mpd") for _ in range(200)]
    found = eh.interval(asked, source, measure="mpd")
    most, spread = np.nanquantile(values, 0.975) - found.value, np.nanstd(values)
    assert 0.6 <= (found.high - found.value) / most <= (5.0 if name in CAUTIOUS else 1.6)
    assert found.low <= max(found.value - 0.8 * 1.96 * spread, 0.0)


def p_value(name):
    (value,) = ANSWERS[f"test: {name}"]()
    return value


@pytest.mark.parametrize(
    ("name", "design", "hit", "among"),
    [
        ("two rates", "two", "y_pred", None),
        ("rates of twenty groups", "crowd", "y_pred", None),
        ("rates of many rows", "large", "y_pred", "y_true"),
        ("three classes", "three classes", "y_pred", None),
        ("precision", "three", "y_true", "y_pred"),
        ("accuracy", "three", "right", None),
    ],
)
def test_equal_rates_are_as_likely_as_by_pearsons_test(name, design, hit, among):
    columns = labels(design)
    columns = {**columns, "right": (columns["y_true"] == columns["y_pred"]).astype(int)}
    rows = slice(None) if among is None else columns[among] == 1
    hits, group = columns[hit][rows], columns["sensitive_features"][rows]
    counts = [[np.sum((hits == c) & (group == g)) for g in set(group)] for c in set(hits)]
    expected = chi2_contingency(counts, correction=len(counts) == len(counts[0]) == 2).pvalue
    if expected > 1e-6:
        assert 1 / 3 <= p_value(name) / expected <= 3
    else:
        assert p_value(name) <= 1e-5


@pytest.mark.parametrize(
    ("name", "design", "value", "slack"),
    [
        ("means", "four", lambda y, p: p, 1.2),
        ("means of few", "few", lambda y, p: p, 1.5),  # eight rows, which are lent some variance
        ("squared errors", "four", lambda y, p: (y - p) ** 2, 3.0),  # whose tails are long
    ],
)
def test_equal_means_are_as_likely_as_by_welchs_test(name, design, value, slack):
    columns = numbers(design)
    values, group = value(columns["y_true"], columns["y_pred"]), columns["sensitive_features"]
    found = anova_oneway([values[group == each] for each in np.unique(group)], use_var="unequal")
    assert np.log10(p_value(name)) == pytest.approx(np.log10(found.pvalue), abs=slack)


@pytest.mark.filterwarnings("ignore:p-value:UserWarning")
@pytest.mark.filterwarnings("ignore:Parameter `variant`:UserWarning")
def test_equal_distributions_are_as_unlikely_as_by_anderson_and_darlings_test():
    columns = numbers("few")
    group, values = columns["sensitive_features"], columns["y_pred"]
    found = anderson_ksamp([values[group == each] for each in np.unique(group)])
    assert 1 / 3 <= p_value("areas between distributions") / found.pvalue <= 3
