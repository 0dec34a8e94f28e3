"""One test a question: exact in small samples, powerful against any pattern, and no floor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import comb
from scipy.stats import chi2_contingency, fisher_exact, hypergeom, ks_2samp

import evenhand as eh
from evenhand._data.summaries import Rows
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.homogeneity import homogeneity

DRAWS = "evenhand._uncertainty.monte_carlo.DRAWS"


def p_value(criterion, *columns, g=None, favorable=None, **more):
    asked = eh.CRITERIA[criterion].with_statistic(g)
    source = asked.kind.summarize(Rows(*columns, **more))
    return homogeneity(source, asked, estimates_of(source, asked, favorable)).p_value


def selected(hits, rows):
    group = np.repeat(np.arange(len(rows)), rows)
    y = np.concatenate([np.arange(n) < k for k, n in zip(hits, rows, strict=True)])
    return p_value("statistical_parity", None, y.astype(int), sensitive_features=group)


def test_two_small_groups_have_the_p_value_of_fisher():
    assert selected([9, 2], [12, 9]) == pytest.approx(
        fisher_exact([[9, 3], [2, 7]]).pvalue, abs=0.02
    )


@given(st.data())
def test_two_groups_have_the_p_value_of_all_tables_as_far_from_alike(data):
    rows = np.array([data.draw(st.integers(1, 40)) for _ in range(2)])
    hits = np.array([data.draw(st.integers(0, n)) for n in rows])
    if not 0 < hits.sum() < rows.sum():
        return
    tables = np.arange(max(0, hits.sum() - rows[1]), min(rows[0], hits.sum()) + 1)
    chances = hypergeom(rows.sum(), hits.sum(), rows[0]).pmf(tables)
    expected = hits.sum() * rows[0] / rows.sum()
    as_far = np.abs(tables - expected) >= abs(hits[0] - expected) - 1e-9
    assert selected(hits, rows) == pytest.approx(chances[as_far].sum(), rel=1e-9)


def test_many_rows_have_about_the_p_value_of_chi_squared_however_small_it_is():
    p = chi2_contingency([[900, 400], [1100, 1600]], correction=False).pvalue
    assert p < 1e-30
    assert np.log10(selected([900, 400], [2000, 2000])) == pytest.approx(np.log10(p), abs=1.5)


def test_tiny_groups_do_not_hide_large_ones():
    assert selected([600, 700], [2000, 2000]) < 0.002
    assert selected([600, 700, 3, 4, 2], [2000, 2000, 10, 10, 10]) < 0.01


def test_the_measure_has_no_say_and_neither_have_labels():
    rng = np.random.default_rng(0)
    y, p, group = rng.integers(0, 2, (3, 400))
    accuracy = p_value("accuracy_parity", y, p, sensitive_features=group)
    assert p_value("error_parity", y, p, sensitive_features=group) == accuracy
    renamed = p_value("accuracy_parity", y, p, sensitive_features=1 - group)
    assert renamed == pytest.approx(accuracy, abs=0.03)


def test_rows_in_another_order_change_no_p_value_where_groups_tie_but_for_rounding():
    rng = np.random.default_rng(0)
    for _ in range(7):
        values = np.round(rng.random(7), 2)
        others = np.round(rng.random(40), 2)
    values = np.concatenate([others, np.tile(values, 7)])  # two means are the same, of 2 and 5
    group = np.repeat([*"abc"], [40, 14, 35])
    orders = [np.random.default_rng(seed).permutation(len(group)) for seed in range(5)]
    found = {
        round(p_value("weak_parity", None, values[order], sensitive_features=group[order]), 9)
        for order in orders
    }
    assert len(found) == 1


NULLS = {
    "unequal and rare": ([4000, 300, 40, 5], 0.01),
    "near one": ([1000, 100, 20], 0.995),
    "many small": ([12] * 25, 0.2),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", NULLS)
def test_groups_that_are_alike_are_seldom_called_different(design, monkeypatch):
    monkeypatch.setattr(DRAWS, 800)  # rougher p-values are below 0.05 as often
    rows, rate = NULLS[design]
    rng = np.random.default_rng(1)
    p = np.array([selected(rng.binomial(rows, rate), rows) for _ in range(250)])
    p = np.nan_to_num(p, nan=1.0)
    assert np.mean(p <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 250)


@pytest.mark.slow
@pytest.mark.parametrize("g", ["f1", "auroc"])
def test_equal_performance_with_other_base_rates_is_seldom_called_different(g):
    """F1 of 2/3 with base rates of 0.5 and 0.05; areas of groups of 30 rows."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(150):
        if g == "f1":
            outcome = [
                rng.choice(4, 400, p=[0.25, 0.125, 0.125, 0.5]),
                rng.choice(4, 400, p=[0.05, 0.025, 0.025, 0.9]),
            ]
            y = np.concatenate([np.isin(o, [0, 1]) for o in outcome]).astype(int)
            p = np.concatenate([np.isin(o, [0, 2]) for o in outcome]).astype(int)
            group = np.repeat(["a", "b"], 400)
            found.append(
                p_value("performance_parity", y, p, sensitive_features=group, g=g, favorable=1)
            )
        else:
            y = rng.integers(0, 2, 90)
            score = rng.normal(size=90) + 1.2 * y
            group = np.repeat([*"abc"], 30)
            columns = {"sensitive_features": group, "y_score": score, "g": g}
            found.append(p_value("performance_parity", y, None, **columns))
    assert np.mean(np.array(found) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.slow
def test_weights_that_go_with_the_outcome_are_allowed_for():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(200):
        y, group = rng.integers(0, 2, 300), rng.choice([*"abc"], 300)
        weight = np.where(y == 1, 10.0, 1.0)
        columns = {"sensitive_features": group, "sample_weight": weight}
        found.append(p_value("statistical_parity", None, y, **columns))
    assert np.mean(np.array(found) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_disjoint_scores_are_told_apart_and_like_ones_are_not():
    rng = np.random.default_rng(4)
    group = np.repeat([*"ab"], 40)
    apart = np.where(group == "a", rng.random(80), 2 + rng.random(80))
    assert p_value("strong_parity", None, apart, sensitive_features=group) < 1e-8
    like = rng.random(80)
    p = p_value("strong_parity", None, like, sensitive_features=group)
    assert p > ks_2samp(like[:40], like[40:]).pvalue / 4


def test_one_group_has_nothing_to_test():
    assert np.isnan(selected([3], [9]))


@pytest.mark.slow
def test_a_ratio_of_errors_of_weighted_rows_is_tested_though_it_may_be_endless():
    rng = np.random.default_rng(0)
    group, truth = rng.choice([*"ab"], 3000), rng.integers(0, 2, 3000)
    alarm = np.where(group == "a", 0.1, 0.5)
    predicted = np.where(rng.random(3000) < np.where(truth == 1, 0.7, alarm), 1, 0)
    columns = {"sensitive_features": group, "criteria": ["treatment_equality"]}
    plain = eh.audit(truth, predicted, **columns).findings[0]
    weighted = eh.audit(
        truth, predicted, **columns, sample_weight=rng.uniform(0.9, 1.1, 3000)
    ).findings[0]
    assert weighted.verdict == plain.verdict == "differs"
    assert max(weighted.p_value, plain.p_value) < 1e-10


def test_a_ratio_to_none_is_left_out_of_the_test_as_of_the_value():
    """Half of the groups have errors of one kind, half of the other: no ratio above 0 is known."""
    group = np.repeat(np.arange(40).astype(str), 4)
    truth = np.tile([0, 1, 0, 1], 40)
    predicted = np.where(np.arange(160) // 4 % 2 == 0, 1, 0)  # false positives, false negatives
    found = eh.audit(truth, predicted, sensitive_features=group, criteria="treatment_equality")
    finding = found.finding("treatment_equality")
    assert finding["mpd"].value == 0
    assert finding.verdict != "differs"


def audited(hits, rows):
    group = np.repeat(np.arange(len(rows)), rows)
    y = np.concatenate([np.arange(n) < k for k, n in zip(hits, rows, strict=True)]).astype(int)
    columns = {"y_pred": y, "sensitive_features": group, "favorable": 1}
    return eh.audit(**columns, criteria="statistical_parity").findings[0]


def by_enumeration(hits, rows):
    """The p-value by all tables of three groups with the same totals, each by its chance."""
    total, rows = sum(hits), np.array(rows)
    tables = [
        (a, b, total - a - b)
        for a in range(min(total, rows[0]) + 1)
        for b in range(min(total - a, rows[1]) + 1)
        if total - a - b <= rows[2]
    ]
    chances = np.array([np.prod(comb(rows, table)) for table in tables]) / comb(rows.sum(), total)
    share, tables = total / rows.sum(), np.array(tables)
    squares = (tables - share * rows) ** 2 / (share * (1 - share) * rows)
    statistics = squares.sum(axis=1), (squares / (1 - rows / rows.sum())).max(axis=1)
    parts = [
        np.array([chances[values >= value - 1e-9].sum() for value in values]) / part
        for values, part in zip(statistics, (0.6, 0.4), strict=True)
    ]
    smallest = np.minimum(*parts)
    observed = smallest[(tables == np.array(hits)).all(axis=1)]
    return chances[smallest <= observed + 1e-12].sum()


@pytest.mark.parametrize("hits", [(8, 1, 4), (7, 2, 6), (9, 2, 4)])
def test_a_drawn_p_value_is_as_far_from_the_exact_one_as_its_error_says(hits):
    finding = audited(hits, (12, 9, 14))
    assert 0 < finding.p_error < 0.02
    assert abs(finding.p_value - by_enumeration(hits, (12, 9, 14))) < 4 * finding.p_error


def test_near_the_usual_levels_there_are_more_draws():
    near, far = audited((8, 1, 4), (12, 9, 14)), audited((7, 2, 6), (12, 9, 14))
    draws = [each.p_value * (1 - each.p_value) / each.p_error**2 for each in (near, far)]
    assert near.p_value < 0.1 < far.p_value
    np.testing.assert_allclose(draws, [10_000, 2_000])


def test_an_exact_p_value_and_one_of_a_tail_have_no_error_of_draws():
    assert audited((9, 2), (12, 9)).p_error == 0
    assert audited((600, 100, 300), (1000, 1000, 1000)).p_error == 0


@pytest.mark.slow
def test_equal_distributions_of_rows_in_shared_clusters_seldom_differ():
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 4])
        cluster = np.repeat(np.arange(40), 4)
        values = 3 * rng.standard_normal(40)[cluster] + rng.standard_normal(160)
        columns = {"sensitive_features": np.tile([0, 1], 80), "cluster": cluster}
        rejected += p_value("strong_parity", None, values, **columns) <= 0.05
    assert rejected <= 9  # of 3 that are expected; 21 by shares that are taken to be independent
