"""Answers about small designs: laws, and the numbers of the bootstrap and of textbook tests."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import anderson_ksamp, chi2_contingency

import evenhand as eh
from engines import ENGINES, LOCAL
from inference.small_designs import ASKED, FEW, labels, numbers, question
from lanes import one_in
from later import Later

oneway = Later("statsmodels.stats.oneway")

MEASURES = ("mpd", "gini", "pq", "ratio")
# Losses have long tails, of which a bootstrap sees too little; bands of distributions hold at once.
CAUTIOUS = {
    *("squared errors", "root of squared errors", "absolute errors", "calibration errors"),
    *("areas between distributions", "likelihood"),
    *("rates of few clusters", "means of few clusters"),  # of five clusters it draws too few kinds
}
BY_ROWS = [  # no weights, clusters, replicates, bands of distributions or bins of scores
    name
    for name in FEW
    if not {"sample_weight", "cluster"} & set(question(name)[1])
    and not ("distributions" in name or "calibration" in name)
]

MAIN = ("two rates", "precision", "weighted rates", "clustered rates", "areas", "means")

pytestmark = pytest.mark.filterwarnings("ignore::evenhand.UndefinedWarning")


def each(names):
    """The designs, all but the main ones marked slow."""
    return [pytest.param(one, marks=[pytest.mark.slow] * (one not in MAIN)) for one in names]


def options_of(name):
    """Every measure that the design has, with a transform where values may be below 0."""
    asked, _ = question(name)
    below = name in ("means below 0", "likelihood", "variance explained")
    for measure in MEASURES:
        if measure != "ratio" or asked.across != "integral":
            yield {"measure": measure} | (
                {"transform": "exp"} if below * (measure != "mpd") else {}
            )


@pytest.mark.parametrize("turn", one_in(2, [0, 1]))
@pytest.mark.parametrize("name", each(FEW))
def test_an_interval_holds_the_value_and_widens_with_the_confidence(name, turn):
    """By two methods in turn, measure after measure."""
    asked, columns = question(name)
    for place, options in enumerate(options_of(name)):
        method = ("calibrated", "guaranteed")[(place + turn) % 2]
        wide, narrow = (
            eh.interval(asked, **columns, **options, method=method, confidence=confidence)
            for confidence in (0.99, 0.8)
        )
        value = asked(**columns, **options)
        assert narrow.value == wide.value == pytest.approx(value, rel=1e-9, nan_ok=True)
        ends = [wide.low, narrow.low, value, narrow.high, wide.high]
        assert ends == sorted(ends)


def renamed(columns, rng):
    """The same rows in another order, of groups that are named the other way round."""
    order = rng.permutation(len(columns["sensitive_features"]))
    other = {name: column[order] for name, column in columns.items()}
    return other | {"sensitive_features": -other["sensitive_features"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(2, [name for name in FEW if "survey" not in name]))
def test_neither_the_order_of_rows_nor_the_names_of_groups_matter(name):
    asked, columns = question(name)
    other = renamed(columns, np.random.default_rng(5))
    for options in list(options_of(name))[:2]:
        one, two = (eh.interval(asked, **rows, **options) for rows in (columns, other))
        expected = (one.value, one.low, one.high)
        assert (two.value, two.low, two.high) == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert p_value(name, other) == pytest.approx(p_value(name), rel=1e-3, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "engine"),
    one_in(19, [name for name in FEW if "survey" not in name], [each.name for each in LOCAL]),
)
def test_no_engine_answers_otherwise(name, engine):
    asked, columns = question(name)
    table = {"data": ENGINES[engine](pd.DataFrame(columns)), **{role: role for role in columns}}
    one, two = (eh.interval(asked, **given) for given in (columns, table))
    expected = (one.value, one.low, one.high)
    assert (two.value, two.low, two.high) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert p_value(name, table) == pytest.approx(p_value(name), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", each(BY_ROWS))
def test_four_times_the_rows_halve_the_distance_to_the_upper_limit(name):
    asked, columns = question(name)
    more = {key: np.repeat(column, 4) for key, column in columns.items()}
    one, four = (eh.interval(asked, **rows, measure="mpd") for rows in (columns, more))
    assert four.value == pytest.approx(one.value)
    assert 0.25 <= (four.high - four.value) / (one.high - one.value) <= 0.75
    assert one.low <= four.low <= four.value


@pytest.mark.slow
@pytest.mark.parametrize("name", each(name for name in BY_ROWS if name != "hardly anyone"))
def test_the_noise_floor_is_the_mean_value_of_groups_drawn_at_random(name):
    asked, columns = question(name)
    rng = np.random.default_rng(6)
    drawn = [
        asked(**columns | {"sensitive_features": rng.permutation(columns["sensitive_features"])})
        for _ in range(60)
    ]
    found = eh.chance(asked, **columns, replicates=150)
    assert found.floor == pytest.approx(np.nanmean(drawn), rel=0.35)


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
@pytest.mark.parametrize("name", one_in(4, [name for name in FEW if "survey" not in name]))
def test_an_interval_reaches_about_as_far_as_the_bootstraps(name):
    asked, columns = question(name)
    rng = np.random.default_rng(0)
    values = [asked(**resampled(columns, rng), measure="mpd") for _ in range(200)]
    found = eh.interval(asked, **columns, measure="mpd")
    most, spread = np.nanquantile(values, 0.975) - found.value, np.nanstd(values)
    assert 0.6 <= (found.high - found.value) / most <= (5.0 if name in CAUTIOUS else 1.6)
    assert found.low <= max(found.value - 0.8 * 1.96 * spread, 0.0)


def p_value(name, columns=None):
    """The p-value of an audit that asks one question."""
    make, design, criterion, g = ASKED[name]
    asked = criterion if g is None else f"{criterion}({g})"
    (finding,) = eh.audit(**(columns or make(design)), criteria=[asked], measures=["mpd"]).findings
    return finding.p_value


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
        ("means of few", "few", lambda y, p: p, 1.7),  # eight rows, lent a variance and a tail
        ("squared errors", "four", lambda y, p: (y - p) ** 2, 3.0),  # whose tails are long
    ],
)
def test_equal_means_are_as_likely_as_by_welchs_test(name, design, value, slack):
    columns = numbers(design)
    values, group = value(columns["y_true"], columns["y_pred"]), columns["sensitive_features"]
    found = oneway.anova_oneway(
        [values[group == each] for each in np.unique(group)], use_var="unequal"
    )
    assert np.log10(p_value(name)) == pytest.approx(np.log10(found.pvalue), abs=slack)


@pytest.mark.filterwarnings("ignore:p-value:UserWarning")
@pytest.mark.filterwarnings("ignore:Parameter `variant`:UserWarning")
def test_equal_distributions_are_as_unlikely_as_by_anderson_and_darlings_test():
    columns = numbers("few")
    group, values = columns["sensitive_features"], columns["y_pred"]
    found = anderson_ksamp([values[group == each] for each in np.unique(group)])
    assert 1 / 3 <= p_value("areas between distributions") / found.pvalue <= 3
