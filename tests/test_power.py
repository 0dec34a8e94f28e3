"""Whether `power` foretells what the test and the intervals do, and how many rows would tell."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import nct, ncx2, norm, t

import evenhand as eh
from evenhand._uncertainty.curves import rate_curves
from evenhand._uncertainty.geometry import Cloud, upper_limit
from evenhand._uncertainty.homogeneity import _independence
from lanes import one_in

DRAWS = "evenhand._uncertainty.monte_carlo.DRAWS"
ZIPF = (2000 / np.arange(1, 13)).round()

DESIGNS = {
    "two of a hundred": ([100, 100], [0.3, 0.5]),
    "two large, rare": ([1000, 1000], [0.02, 0.04]),
    "one tiny": ([1000, 20], [0.3, 0.6]),
    "one tiny, rare": ([5000, 5000, 5], [0.02, 0.027, 0.02]),
    "two large and three of ten": ([2000, 2000, 10, 10, 10], [0.3, 0.35, 0.3, 0.3, 0.3]),
    "a gradient": ([200] * 20, np.linspace(0.2, 0.3, 20)),
    "small groups": ([40, 30, 20, 10, 5], [0.02, 0.1, 0.2, 0.3, 0.3]),
    "twenty of ten": ([10] * 20, [0.7] * 10 + [0.4] * 10),
    "unequal, one apart": (ZIPF, [0.1] * 10 + [0.19] + [0.1]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(2, DESIGNS))
def test_power_is_how_often_the_test_rejects(name, monkeypatch):
    monkeypatch.setattr(DRAWS, 800)  # rougher p-values are below 0.05 as often
    sizes, rates = (np.asarray(part, dtype=float) for part in DESIGNS[name])
    rng, worlds = np.random.default_rng(7), 400
    rejected = 0
    for hits in rng.binomial(sizes.astype(int), rates, (worlds, len(sizes))):
        rejected += _independence([np.stack([sizes - hits, hits.astype(float)])]).p_value <= 0.05
    assert eh.power(sizes, rates).power == pytest.approx(rejected / worlds, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "rate", "margin"),
    [([400, 400], 0.3, 0.12), ([1000, 50, 80], 0.3, 0.25), ([200] * 10, 0.02, 0.075)],
)
def test_power_to_show_that_groups_are_alike_is_how_often_the_interval_ends_within(
    sizes, rate, margin
):
    sizes = np.asarray(sizes, dtype=float)
    within = []
    for hits in np.random.default_rng(8).binomial(sizes.astype(int), rate, (200, len(sizes))):
        curves = np.maximum.accumulate(rate_curves(hits, sizes), axis=0)
        within.append(
            upper_limit(Cloud(hits / sizes, curves), eh.MEASURES["mpd"], norm.ppf(0.975)) <= margin
        )
    answer = eh.power(sizes, rate=rate, margin=margin)
    assert answer.question == "alike"
    assert answer.power == pytest.approx(np.mean(within), abs=0.1)


def test_power_of_two_groups_is_that_of_the_textbook():
    error = np.sqrt(0.3 * 0.7 / 400 + 0.4 * 0.6 / 400)
    pooled = np.sqrt(2 * 0.35 * 0.65 / 400)
    textbook = norm.sf((norm.ppf(0.975) * pooled - 0.1) / error)
    assert eh.power([400, 400], [0.3, 0.4]).power == pytest.approx(textbook, abs=0.03)


@pytest.mark.slow
def test_rows_that_two_groups_need_are_those_of_the_textbook():
    reach = norm.ppf(0.975) * np.sqrt(2 * 0.35 * 0.65)
    reach += norm.ppf(0.8) * np.sqrt(0.3 * 0.7 + 0.4 * 0.6)
    textbook = (reach / 0.1) ** 2
    answer = eh.power([100, 100], [0.3, 0.4], power=0.8)
    assert answer.sizes["group 1"] == pytest.approx(textbook, rel=0.08)
    assert answer.at_least == pytest.approx(textbook, rel=0.08)


@pytest.mark.slow
def test_power_of_means_is_that_of_the_textbook():
    textbook = norm.sf(norm.ppf(0.975) - 0.3 / np.sqrt(2 / 200))
    answer = eh.power([200, 200], means=[0, 3], sd=10)
    assert answer.power == pytest.approx(textbook, abs=0.03)
    assert eh.power([200, 200], difference=3, sd=10).power == pytest.approx(textbook, abs=0.03)


@pytest.mark.slow
def test_many_large_groups_are_near_the_noncentral_chi_squared():
    sizes, rates = np.full(7, 3000.0), 0.3 + 0.012 * np.array([-1, -1, -1, 0, 1, 1, 1])
    away = float((sizes * (rates - 0.3) ** 2).sum() / 0.21)
    omnibus = ncx2.sf(ncx2.isf(0.05, 6, 0), 6, away)
    assert eh.power(sizes, rates).power == pytest.approx(omnibus, abs=0.06)


@pytest.mark.slow
def test_needed_sizes_have_the_power_that_was_asked_for():
    sizes = {"a": 800, "b": 300, "c": 30}
    answer = eh.power(sizes, rate=0.1, difference=0.15, power=0.9)
    again = eh.power(answer.sizes, rate=0.1, difference=0.15)
    assert again.power == pytest.approx(0.9, abs=0.03)
    filled = {group: max(rows, answer.at_least) for group, rows in sizes.items()}
    assert eh.power(filled, rate=0.1, difference=0.15, apart="c").power == pytest.approx(
        0.9, abs=0.03
    )
    assert answer.limiting == ("c",)
    assert "More rows of c (30) are needed most." in answer.summary


@pytest.mark.slow
def test_the_least_difference_is_found_as_often_as_was_asked_for():
    sizes = {"a": 800, "b": 300, "c": 60}
    answer = eh.power(sizes, rate=0.1)
    assert answer.power == pytest.approx(0.8, abs=0.03)
    least = answer.differences
    assert least["c"] == answer.difference
    assert max(least["a"], least["b"]) < least["c"]


@pytest.mark.slow
def test_the_narrowest_margin_is_shown_as_often_as_was_asked_for():
    sizes = [500, 500, 200]
    narrowest = eh.power(sizes, rate=0.2, margin=0.05).difference
    assert eh.power(sizes, rate=0.2, margin=narrowest).power == pytest.approx(0.8, abs=0.01)


def test_no_number_of_rows_shows_what_is_not_so():
    assert eh.power([100, 100], [0.3, 0.3]).factor == np.inf
    answer = eh.power([100, 100], [0.3, 0.4], margin=0.05)
    assert answer.factor == np.inf
    assert "No number of rows would" in answer.summary


def test_a_group_of_one_row_can_show_nothing():
    answer = eh.power({"a": 1000, "b": 1}, rate=0.3)
    assert np.isnan(answer.difference)
    assert "No difference of b (1 row)" in answer.summary


@pytest.mark.slow
def test_proportions_are_sizes_of_which_so_many_times_are_needed():
    by_share = eh.power({"a": 0.9, "b": 0.1}, rate=0.3, difference=0.1)
    by_rows = eh.power({"a": 900, "b": 100}, rate=0.3, difference=0.1)
    assert by_share.sizes["b"] == pytest.approx(by_rows.sizes["b"], rel=0.05)


@pytest.mark.slow
def test_billions_of_rows_are_no_obstacle():
    assert eh.power([10**10, 10**9], rate=0.3, difference=1e-3).power == 1


@pytest.mark.slow
def test_a_tally_brings_its_rows_and_rates():
    y = [1] * 60 + [0] * 40 + [1] * 20 + [0] * 30
    selected = [1] * 30 + [0] * 70 + [1] * 5 + [0] * 45
    counts = eh.tally(y, selected, sensitive_features=["a"] * 100 + ["b"] * 50)
    answer = eh.power(counts)
    assert answer.rows == {"a": 100, "b": 50}
    assert answer.values == {"a": 0.3, "b": 0.1}
    assert answer.power == eh.power({"a": 100, "b": 50}, {"b": 0.1, "a": 0.3}).power
    assert eh.power(counts, criterion="equal_opportunity").rows == {"a": 60, "b": 20}
    assert len(set(eh.power(counts, margin=0.1).values.values())) == 1
    with pytest.raises(eh.InputError, match="equal_opportunity"):
        eh.power(counts, criterion="equalized_odds")


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([100],), {"rate": 0.3}, "at least two groups"),
        (([100, 0],), {"rate": 0.3}, "above 0"),
        (([100, 100],), {}, "rate="),
        (([100, 100], [0.3, 1.3]), {}, "between 0 and 1"),
        (([100, 100], [0.3]), {}, "1 rates"),
        (([100, 100], ["x", "y"]), {}, "numbers"),
        (({"a": 9, "b": 9}, {"a": 0.3, "c": 0.1}), {}, "'c'"),
        (([100, 100], [0.3, 0.3]), {"difference": 0.1}, "not both"),
        (([100, 100], [0.3, 0.3]), {"rate": 0.1}, "not both"),
        (([100, 100],), {"rate": 0.5, "difference": 0.7}, "No rate is 0.7 from 0.5"),
        (([100, 100],), {"means": [1, 2]}, "sd="),
        (([100, 100], [0.3, 0.4]), {"sd": 1}, "or means with sd; not both"),
        (([100, 100],), {"rate": 0.3, "means": [1, 2], "sd": 1}, "or means with sd; not both"),
        (([100, np.inf],), {"rate": 0.3}, "above 0"),
        (([100, -3],), {"rate": 0.3}, "above 0"),
        (([100, 100], [0.3, np.nan]), {}, "finite"),
        (([100, 100j],), {"rate": 0.3}, "complex"),
        (([100, 100],), {"sd": 0}, "above 0"),
        (([100, 100],), {"rate": 0.3, "power": 80}, "power lies between"),
        (([100, 100],), {"rate": 0.3, "confidence": 1}, "confidence lies between"),
        (([100, 100],), {"rate": 0.3, "margin": 0}, "margin"),
        (({"men": 9, "women": 9},), {"rate": 0.3, "apart": "woman"}, "Did you mean 'women'"),
        (
            ([9, 9],),
            {"rate": 0.3, "criterion": "equal_opportunity"},
            "criterion='equal_opport.* not a tally",
        ),
        (
            ([9, 9],),
            {"rate": 0.3, "criterion": eh.CRITERIA["predictive_equality"]},
            "'predictive_equal",
        ),
        (({"a": 9, "b": 9},), {"rate": 0.3, "favorable": "yes"}, "favorable='yes' .* not a tally"),
        (({"a": 9, "b": 9},), {"rate": 0.3, "favorable": 0}, "favorable=0 .* not a tally"),
    ],
)
def test_what_cannot_be_is_refused(arguments, options, said):
    with pytest.raises(eh.EvenhandError, match=said):
        eh.power(*arguments, **options)


def audited(rows, rate=0.3, seed=0, **options):
    rng = np.random.default_rng(seed)
    group = np.repeat([*rows], [*rows.values()])
    selected = (rng.random(len(group)) < rate).astype(int)
    return eh.audit(
        None, selected, sensitive_features=group, criteria=["statistical_parity"], **options
    ).findings[0]


@pytest.mark.slow
def test_a_finding_that_cannot_tell_says_how_many_rows_would():
    rows = {"White": 600, "Black": 400, "Asian": 32, "Native American": 18}
    finding = audited(rows)
    assert finding.verdict == "cannot tell"
    needed = finding.needed
    assert [group for group, _ in needed.lacking] == ["Native American", "Asian"]
    assert "would show the observed difference, if it is real" in finding.sentence
    assert "alike within 5 percentage points, if they are" in finding.sentence
    assert "More rows of Native American (18) and Asian (32) are needed most." in finding.sentence
    alike = eh.power(rows, rate=0.3, margin=0.05)
    assert needed.alike == pytest.approx(alike.factor, rel=0.25)


@pytest.mark.slow
def test_a_finding_that_can_tell_needs_no_rows():
    assert audited({"a": 40_000, "b": 40_000}).needed is None
    assert "lacking" not in audited({"a": 40_000, "b": 40_000}).sentence


@pytest.mark.slow
def test_rows_needed_to_find_what_was_observed_are_those_of_power():
    finding = audited({"a": 500, "b": 120}, seed=3)
    assert finding.verdict == "cannot tell"
    rates = finding.estimates.values[-1]
    answer = eh.power([500, 120], rates, confidence=1 - 0.05 / finding.tests)
    assert finding.needed.differ == pytest.approx(answer.factor, rel=0.3)


def test_the_noise_of_many_groups_is_not_taken_for_a_difference_that_more_rows_would_show():
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(60), 40)
    y = (rng.random(2400) < 0.3).astype(int)
    options = {"sensitive_features": group, "criteria": ["statistical_parity"]}
    finding = eh.audit(None, y, favorable=1, **options).finding("statistical_parity")
    assert finding.verdict == "cannot tell"
    assert finding.p_value > 0.2
    assert finding.needed.differ > 3


def paired_power(difference, spread, clusters):
    """Of the paired t-test, where differences in clusters have this standard deviation."""
    shift, reach = difference / spread * np.sqrt(clusters), t.ppf(0.975, clusters - 1)
    return nct.sf(reach, clusters - 1, shift) + nct.cdf(-reach, clusters - 1, shift)


def test_power_of_templates_asked_of_both_groups_is_that_of_the_paired_t_test():
    """Six answers each: a mean of them varies by (1 + 5 ρ) / 6, and goes with the other by ρ'."""
    spread = np.sqrt(sum(p * (1 - p) * ((1 + 5 * 0.3) / 6 - 0.2) for p in (0.3, 0.38)))
    asked = {"rates": [0.3, 0.38], "correlation": (0.3, 0.2)}
    answer = eh.power([240, 240], cluster=40, **asked)
    assert answer.power == pytest.approx(paired_power(0.08, spread, 40), abs=0.03)
    needed = next(k for k in range(3, 999) if paired_power(0.08, spread, k) >= 0.8)
    assert answer.clusters == pytest.approx(needed, rel=0.06)
    assert answer.sizes["group 1"] == pytest.approx(6 * answer.clusters, abs=6)
    assert f"in {answer.clusters:.0f} clusters" in answer.summary
    few = eh.power([30, 30], cluster=5, **asked)
    assert few.power == pytest.approx(paired_power(0.08, spread, 5), abs=0.03)


def test_clusters_of_their_own_take_more_rows_and_shared_ones_fewer():
    rows, truth = [300, 300], {"rate": 0.3, "difference": 0.12}
    alone = eh.power(rows, cluster=[30, 30], correlation=0.1, **truth)
    independent = eh.power(rows, **truth)
    shared = eh.power(rows, cluster=30, correlation=0.1, **truth)
    assert alone.power + 0.1 < independent.power < shared.power
    effect = 1 + 9 * 0.1
    assert alone.factor == pytest.approx(effect * independent.factor, rel=0.12)
    assert alone.clusters == pytest.approx(60 * alone.factor, abs=2)


@pytest.mark.slow
@pytest.mark.parametrize("shared", one_in(2, [True, False]))
def test_power_of_clusters_is_how_often_an_audit_finds_the_difference(shared):
    clusters, each, gap = (30, 4, 0.35) if shared else (30, 4, 0.45)
    cluster = np.repeat(np.arange(2 * clusters), each)
    group = cluster // clusters
    if shared:
        cluster = cluster % clusters
    found = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        level = rng.normal(0, np.sqrt(0.3), 2 * clusters)[cluster]
        own = rng.normal(0, np.sqrt(0.2), (2 * clusters, 2))[cluster, group]
        value = level + own + rng.normal(0, np.sqrt(0.5), len(cluster)) + gap * group
        (finding,) = eh.audit(
            None, value, sensitive_features=group, cluster=cluster, criteria="weak_parity"
        ).findings
        found.append(finding.p_value <= 0.05)
    answer = eh.power(
        [clusters * each] * 2,
        means=[0, gap],
        sd=1,
        cluster=clusters if shared else [clusters, clusters],
        correlation=(0.5, 0.3) if shared else 0.5,
    )
    assert answer.power == pytest.approx(np.mean(found), abs=0.17)  # 2.4 deviations


def test_a_pilot_says_how_many_templates_are_needed():
    """The difference varies from template to template as the pilot's does."""
    rng = np.random.default_rng(1)
    template, group = np.repeat(np.arange(40), 12), np.tile(np.repeat([0, 1], 6), 40)
    level, own = rng.normal(0, 1, 40)[template], rng.normal(0, 0.5, (40, 2))[template, group]
    answers = (rng.random(480) < 1 / (1 + np.exp(1 - level - own))).astype(int)
    pilot = eh.tally(None, answers, sensitive_features=group, cluster=template)
    found = eh.power(pilot, favorable=1, rate=0.3, difference=0.1)
    assert found.rows == {0: 240, 1: 240}
    table = np.bincount(template * 2 + group, answers).reshape(40, 2) / 6
    spread = (table[:, 1] - table[:, 0]).std(ddof=1)
    needed = next(k for k in range(3, 999) if paired_power(0.1, spread, k) >= 0.8)
    assert found.clusters == pytest.approx(needed, rel=0.2)
    assert found.document()["clusters"] == found.clusters


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cluster": 40}, "need correlation="),
        ({"correlation": 0.3}, "say how many: cluster="),
        ({"cluster": 1, "correlation": 0.3}, "at least 2"),
        ({"cluster": 500, "correlation": 0.3}, "more clusters than rows"),
        ({"cluster": 40, "correlation": 1.3}, "between 0 and 1"),
        ({"cluster": 40, "correlation": (0.2, 0.3)}, "at most that of the same"),
        ({"cluster": [40, 40], "correlation": (0.3, 0.2)}, "one number"),
        ({"cluster": "template", "correlation": 0.3}, "cluster must be numbers"),
    ],
)
def test_clusters_that_cannot_be_are_refused(wrong, words):
    with pytest.raises(eh.EvenhandError, match=words):
        eh.power([240, 240], rate=0.3, difference=0.1, **wrong)


def test_a_tally_of_clusters_says_which_rows_go_together():
    pilot = eh.tally(
        None, [0, 1, 1, 0] * 5, sensitive_features=[*"aabb"] * 5, cluster=np.arange(20) // 4
    )
    with pytest.raises(eh.InputError, match="leave out cluster="):
        eh.power(pilot, favorable=1, difference=0.1, rate=0.5, cluster=5, correlation=0.1)


def scored(rows=1200, clusters=None):
    rng = np.random.default_rng(2)
    y, group = (rng.random(rows) < 0.4).astype(int), np.arange(rows) % 3 > 0
    cluster = None if clusters is None else np.arange(rows) * clusters // rows
    level = 0.0 if cluster is None else rng.standard_normal(clusters)[cluster]
    score = 1 / (1 + np.exp(-rng.standard_normal(rows) - y - level))
    return eh.Data(y, sensitive_features=group, y_score=score, cluster=cluster)


def placements_error(data, group):
    """DeLong's standard error of a group's area."""
    of = data.sensitive_features == group
    high, low = (data.y_score[of & (data.y_true == label)] for label in (1, 0))
    wins = high[:, None] > low
    parts = wins.mean(axis=1), wins.mean(axis=0)
    return np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts))


def test_power_of_areas_is_that_of_delongs_test():
    data = scored()
    error = np.hypot(*(placements_error(data, group) for group in (False, True)))
    answer = eh.power(data, criterion="performance_parity(auroc)", difference=0.08)
    normal = norm.sf(1.96 - 0.08 / error) + norm.cdf(-1.96 - 0.08 / error)
    assert answer.power == pytest.approx(normal, abs=0.03)
    assert answer.difference == pytest.approx(2.8 * error, rel=0.06)
    assert sum(answer.rows.values()) == 1200
    assert answer.summary.startswith("If the AUROCs lie between")


@pytest.mark.parametrize(
    "criterion",
    ["performance_parity(auroc)", "performance_parity(cross_entropy)", "calibration_within_groups"],
)
def test_power_of_scores_is_about_the_rows_and_clusters_of_the_data(criterion):
    alone = eh.power(scored(), criterion=criterion, difference=0.05)
    clustered = eh.power(scored(clusters=60), criterion=criterion, difference=0.05)
    assert alone.clusters is None
    assert clustered.clusters == pytest.approx(60 * clustered.factor, abs=1)
    survey = eh.survey_weights(np.ones(1200), strata=np.zeros(1200), cluster=np.arange(1200) // 20)
    data = replace(scored(clusters=60), cluster=None, sample_weight=survey)
    of_survey = eh.power(data, criterion=criterion, difference=0.05)
    assert of_survey.clusters is None
    assert of_survey.power == pytest.approx(clustered.power, abs=0.1)


def test_power_is_not_about_whole_distributions():
    with pytest.raises(eh.InputError, match="compares whole distributions"):
        eh.power(scored(), criterion="strong_parity")
