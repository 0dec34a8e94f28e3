"""Uncertainty from the influence of rows: laws, textbook tests, and designs that are hard."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, norm, ttest_ind, ttest_rel

import evenhand as eh
from evenhand._uncertainty.clusters import Units
from evenhand._uncertainty.curves import student_limits
from evenhand._uncertainty.influence import ErrorEstimates, RowMoments, error_estimates, quasi_ratio
from evenhand.statistics import Table
from later import Later

sm = Later("statsmodels.api")

SIMULATIONS = 40


def p_value(criterion, **columns):
    """The p-value of the only criterion that is asked about."""
    y_true, y_pred = columns.pop("y_true", None), columns.pop("y_pred", None)
    (finding,) = eh.audit(y_true, y_pred, criteria=criterion, **columns).findings
    return finding.p_value


def rows_of(sizes, hits):
    """Decisions and groups with these counts."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    chosen = np.concatenate([np.arange(n) < k for n, k in zip(sizes, hits, strict=True)])
    return {"y_pred": chosen.astype(int), "sensitive_features": group, "favorable": 1}


@pytest.mark.slow
def test_a_p_value_does_not_depend_on_the_names_of_groups():
    sizes, hits = np.array([60, 45, 80, 33, 21]), np.array([22, 9, 30, 5, 9])
    rng = np.random.default_rng(3)
    orders = [rng.permutation(5) for _ in range(4)]
    known = {p_value("statistical_parity", **rows_of(sizes[o], hits[o])) for o in orders}
    assert len(known) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [{"sample_weight": np.ones(300)}, {"cluster": np.arange(300)}],
    ids=["weight", "cluster"],
)
@pytest.mark.parametrize("criterion", ["statistical_parity", "weak_parity", "strong_parity"])
def test_weights_of_1_and_clusters_of_one_row_change_nothing(criterion, more):
    rng = np.random.default_rng(1)
    group, value = rng.integers(0, 3, 300), rng.gamma(2.0, 1.0, 300)
    if criterion == "statistical_parity":
        value = (value > 2).astype(int)
    columns = {"y_pred": value, "sensitive_features": group}
    assert p_value(criterion, **columns, **more) == p_value(criterion, **columns)
    plain, same = (
        eh.interval(criterion, None, value, sensitive_features=group, measure="mpd", **options)
        for options in ({}, more)
    )
    assert (plain.low, plain.high) == (same.low, same.high)


def test_tiny_groups_of_a_sparse_table_are_no_certainty():
    """Permutations of the labels reach as far in one of 700."""
    found = p_value("statistical_parity", **rows_of([1500, 400, 12, 8], [30, 8, 2, 2]))
    assert 3e-4 < found < 5e-3


def templates(rng, gap):
    """Forty templates that are asked of two groups, six times each."""
    template = np.repeat(np.arange(40), 12)
    group = np.tile(np.repeat([0, 1], 6), 40)
    odds = rng.normal(0, 1.2, 40)[template] + gap * (group == 1)
    return template, group, (rng.random(480) < 1 / (1 + np.exp(-odds))).astype(int)


def test_groups_that_were_asked_the_same_questions_are_compared_within_them():
    for seed in range(5):
        template, group, answer = templates(np.random.default_rng(seed), 1.0)
        table = np.array(
            [[answer[(template == k) & (group == a)].mean() for a in (0, 1)] for k in range(40)]
        )
        textbook = ttest_rel(table[:, 1], table[:, 0]).confidence_interval(0.95)
        found = eh.interval(
            "statistical_parity",
            None,
            answer,
            sensitive_features=group,
            cluster=template,
            measure="mpd",
            favorable=1,
        )
        width = textbook.high - textbook.low
        assert found.high == pytest.approx(textbook.high, abs=0.06 * width)
        assert found.low == pytest.approx(max(textbook.low, 0.0), abs=0.06 * width)


def test_groups_that_share_a_dozen_clusters_have_the_p_value_of_the_paired_t_test():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        template, group = np.repeat(np.arange(12), 8), np.tile(np.repeat([0, 1], 4), 12)
        own = rng.normal(0, 0.6, (12, 2)) + np.array([0.0, 0.5])
        value = rng.normal(0, 1, 12)[template] + own[template, group] + rng.normal(0, 0.5, 96)
        table = np.bincount(template * 2 + group, value).reshape(12, 2) / 4
        expected = ttest_rel(table[:, 0], table[:, 1]).pvalue
        found = p_value("weak_parity", y_pred=value, sensitive_features=group, cluster=template)
        assert 0.9 <= found / expected <= 1.35  # by as much as rows and tails that are lent differ


@pytest.mark.parametrize("weighted", [False, True])
def test_the_variance_of_a_difference_is_the_cluster_sandwich_of_statsmodels(weighted):
    rng = np.random.default_rng(8)
    cluster, group = rng.integers(0, 25, 400), rng.integers(0, 2, 400)
    value = rng.normal(0, 1, 25)[cluster] + rng.normal(0, 1, 400)
    weight = rng.uniform(0.5, 3.0, 400) if weighted else np.ones(400)
    model = sm.WLS(value, sm.add_constant(group.astype(float)), weights=weight)
    options = {"groups": cluster, "use_correction": False}
    expected = model.fit(cov_type="cluster", cov_kwds=options).bse[1] ** 2
    means = [np.average(value[group == a], weights=weight[group == a]) for a in (0, 1)]
    total = np.bincount(group, weight)
    moved = weight * (value - np.take(means, group)) / total[group]
    known, unit = np.unique(group * 25 + cluster, return_inverse=True)
    units = Units(*np.divmod(known, 25), 2)
    covariance = units._covariance(np.bincount(unit, moved)[None])
    variance = np.diagonal(covariance[0])
    np.testing.assert_allclose(
        (quasi_ratio(covariance, np.zeros((1, 2)))[0] * variance).sum(), expected, rtol=1e-9
    )


@pytest.mark.parametrize("rate", [0.02, 0.5])  # of cells of clusters by groups that have rows
def test_products_over_clusters_are_those_of_all_pairs_of_units(rate):
    rng = np.random.default_rng(9)
    table = np.where(rng.random((2, 30, 50)) < rate, rng.normal(size=(2, 30, 50)), 0.0)
    table[1] *= table[0] != 0
    owner, cluster = np.nonzero(table[0])
    found = Units(owner, cluster, 30).products(table[:, owner, cluster])
    np.testing.assert_allclose(found, table @ np.swapaxes(table, 1, 2), atol=1e-12)


def zeros(rng):
    group = np.repeat([0, 1], [2000, 50])
    return {
        "y_pred": rng.lognormal(0, 1, 2050) * (rng.random(2050) > 0.95),
        "sensitive_features": group,
    }


def heavy(rng):
    weight = np.ones(440)
    weight[400] = 200.0
    return {
        "y_pred": (rng.standard_normal(440) > 0.5).astype(int),
        "sensitive_features": np.repeat([0, 1], [400, 40]),
        "sample_weight": weight,
        "favorable": 1,
    }


def tailed(rng):
    x = rng.standard_t(3, 600)
    y = x + rng.standard_normal(600)
    return {"y_true": y, "y_pred": x, "sensitive_features": np.repeat([0, 1], 300)}


def miscalibrated(rng):
    group = np.repeat(np.arange(5), 400)
    level = rng.integers(0, 4, 2000)
    score = np.array([0.02, 0.05, 0.6, 0.98])[level]
    truth = rng.random(2000) < np.array([0.01, 0.02, 0.98, 0.99])[level]
    columns = {"y_true": truth.astype(int), "y_pred": (score > 0.5).astype(int)}
    return columns | {"y_score": score, "score_of": 1, "sensitive_features": group}


def sampled_by_value(rng):
    group, value = np.repeat([0, 1], [600, 150]), rng.gamma(1.0, 1.0, 750)
    return {"y_pred": value, "sensitive_features": group, "sample_weight": 1 / (0.15 + value)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "draw"),
    [
        pytest.param("strong_parity", sampled_by_value, marks=pytest.mark.long),
        ("weak_parity", zeros),
        ("statistical_parity", heavy),
        ("performance_parity(r2)", tailed),
        ("calibration_within_groups", miscalibrated),
    ],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_equal_groups_seldom_differ_where_rows_are_hard(criterion, draw):
    found = [p_value(criterion, **draw(np.random.default_rng([i, 5]))) for i in range(SIMULATIONS)]
    assert np.mean(np.array(found) <= 0.05) <= 0.125  # 5 of 40: one of 300 tests at 5% has more


def test_the_variance_of_crossed_clusters_is_that_of_statsmodels():
    """Σ₁ + Σ₂ − Σ₁₂ of Cameron, Gelbach and Miller, without corrections for few clusters."""
    rng = np.random.default_rng(4)
    rater, item, group = rng.integers(0, 15, 300), rng.integers(0, 20, 300), rng.integers(0, 2, 300)
    value = rng.normal(0, 1, 15)[rater] + rng.normal(0, 1, 20)[item] + rng.normal(0, 1, 300)
    model = sm.OLS(value, sm.add_constant(group.astype(float)))
    options = {"groups": np.column_stack([rater, item]), "use_correction": False}
    expected = model.fit(cov_type="cluster", cov_kwds=options).bse[1] ** 2
    means = np.bincount(group, value) / np.bincount(group)
    moved = (value - means[group]) / np.bincount(group)[group]
    found = 0.0
    for sign, codes in ((1, rater), (1, item), (-1, rater * 20 + item)):
        known, unit = np.unique(group * 300 + codes, return_inverse=True)
        covariance = Units(*np.divmod(known, 300), 2)._covariance(np.bincount(unit, moved)[None])
        found += sign * (covariance[0].trace() - 2 * covariance[0, 0, 1])
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_standard_error_of_a_group_is_that_of_svyby(weighted):
    """The linearized variance of a domain mean: c / (c − 1) Σ z², z by cluster (with replacement).

    R's `survey` has a z of 0 for clusters without rows of the domain and counts them in c; ours
    counts the clusters of the domain, as `svymean` of the domain's rows alone does.
    """
    rng = np.random.default_rng(9)
    cluster, weight = rng.integers(0, 12, 90), rng.uniform(0.5, 3.0, 90)
    weight = weight if weighted else np.ones(90)
    value = rng.normal(0, 1, 12)[cluster] + rng.normal(0, 1, 90)
    mean = np.average(value, weights=weight)
    z = np.bincount(cluster, weight * (value - mean)) / weight.sum()
    expected = len(z) / (len(z) - 1) * (z**2).sum()
    units = Units(np.zeros(len(z), int), np.arange(len(z)), 1)
    sums = np.bincount(cluster, weight * (value - mean)), np.bincount(cluster, weight)
    found = units.sandwich(*(part[None] for part in sums))
    assert found[0, 0] == pytest.approx(expected, rel=1e-12)
    if not weighted:
        model = sm.OLS(value, np.ones(90))
        known = {"groups": cluster, "use_correction": True}  # c / (c − 1) (n − 1) / (n − 1)
        assert model.fit(cov_type="cluster", cov_kwds=known).bse[0] ** 2 == pytest.approx(expected)


UNSEEN = {
    "clusters across groups": lambda group, value: {"cluster": np.arange(len(group)) % 262},
    "clusters inside of groups": lambda group, value: {"cluster": group * 1000 + value.index // 3},
    "weights that follow the value": lambda group, value: {"sample_weight": 0.1 + value},
}


@pytest.mark.parametrize("how", UNSEEN)
def test_fifty_rows_without_a_claim_are_no_proof_that_there_are_none(how):
    """One row in twenty has an amount, so that one group of fifty in thirteen sees none."""
    group = np.repeat([0, 1], [1000, 50])
    amount = pd.Series(np.zeros(1050))
    amount[:1000:20] = np.random.default_rng(0).lognormal(0, 1, 50)
    more = UNSEEN[how](group, amount)
    p = p_value("weak_parity", y_pred=amount, sensitive_features=group, task="regression", **more)
    assert p > 0.05


def test_the_p_value_of_many_groups_that_differ_a_little_is_no_less_than_chi_squareds():
    """The same draws are the reference of all data, so that they must not lean to a side."""
    groups, rows = 60, 400
    group = np.repeat(np.arange(groups), rows)
    spread = np.tile(np.repeat([-1.0, 1.0], rows // 2), groups)
    error = 1 / np.sqrt(rows - 1)
    apart = error * np.sqrt(chi2.isf(0.01, groups - 1) / groups)
    value = spread + apart * np.where(group % 2 == 0, 1, -1)
    p = p_value("weak_parity", y_pred=value, sensitive_features=group, task="regression")
    assert 0.01 < p < 0.02


def test_two_groups_of_many_rows_have_the_p_value_of_welchs_test():
    rng = np.random.default_rng(5)
    one, two = rng.normal(0, 1, 400), rng.normal(0.14, 1.5, 600)
    value, group = np.concatenate([one, two]), np.repeat([0, 1], [400, 600])
    p = p_value("weak_parity", y_pred=value, sensitive_features=group, task="regression")
    assert p == pytest.approx(ttest_ind(one, two, equal_var=False).pvalue, rel=0.06)


def test_a_group_without_rare_rows_varies_as_it_would_at_the_supposed_mean():
    """None of 50 where 100 of 2,000 are 1: the score test of two rates says 0.11, Welch's 1e-24."""
    group = np.repeat([0, 1], [2000, 50])
    for flip in (False, True):
        value = (np.arange(2050) < 100).astype(float)
        value = 3 * (1 - value) if flip else value
        p = p_value("weak_parity", y_pred=value, sensitive_features=group, task="regression")
        assert 0.1 < p < 0.2


def test_limits_toward_the_tail_have_the_error_of_the_value_that_is_supposed():
    table = Table(np.zeros((1, 3)), ("all",), ("a", "b", "c"))
    error, none, free = np.array([[1e-9, 1e-9, 1.0]]), np.zeros((1, 3)), np.full((1, 3), 1e9)
    growth, usual = np.array([[0.02, 0.02, 0.0]]), np.array([[9.0, 0.01, 9.0]])
    known = ErrorEstimates(error, free, none, none, growth, usual)
    low, high = student_limits(table, table.values, known, (-9.0, 9.0)).exact(0.05)
    z = norm.isf(0.025)
    np.testing.assert_allclose(high, [[0.02 * z**2, 0.01 * z, z]], rtol=1e-6)  # δ² = z² g δ
    np.testing.assert_allclose(low, [[0.0, 0.0, -z]], atol=1e-6)
    halved = known.scaled(np.array([0.5]))
    assert (halved.growth[0, 0], halved.ceiling[0, 1], halved.error[0, 2]) == (0.005, 0.005, 0.5)


@pytest.mark.parametrize("side", [1, -1])
def test_a_tail_that_no_other_group_has_may_be_longer_than_fifty_rows_show(side):
    """Limits on its side are farther than those of groups that all have the tail."""
    shown = np.array([[4.0, 4.0]]) * side
    rows, ones = np.array([[1000.0, 50.0]]), np.ones((1, 2))

    def bent(skewness):
        known = error_estimates(RowMoments(ones / rows, skewness, 3 + 1.5 * shown**2, rows, ones))
        return (known.skew_above if side > 0 else known.skew)[0, 1]

    alone = shown * np.array([[0.0, 1.0]])
    assert abs(bent(alone)) > 1.5 * abs(bent(shown))
    assert bent(alone) * side > 0
