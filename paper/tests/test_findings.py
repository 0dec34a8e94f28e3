"""Findings: verdicts on constructed results where the answer is known, numbers by hand."""

from dataclasses import replace
from itertools import combinations
from zlib import crc32

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from evenhand import evaluate, gini, mpd, pq
from evenhand.benchmark import BASES, Design, Problem, Study, Treatment, read_results, run
from evenhand.benchmark import results as scored
from paper.design import OWN
from paper.findings import findings
from paper.findings.best import winners
from paper.findings.criteria import ASKED
from paper.findings.estimates import Estimate, at_least, at_most, estimate
from paper.findings.floors import floor_of, with_floors
from paper.findings.many_groups import _jackknifed, variation
from paper.findings.properties import checked
from paper.findings.published import column, mended
from paper.findings.ranks import Level, agreement
from paper.findings.regressors import disregard
from paper.findings.shapes import EO, MSE, MSE_EXP, S_EO, consistent, intuitive
from paper.findings.statistics import REGRESSED, of_regressors
from paper.findings.theorems import theorem
from paper.tests import invented
from test_axioms import OBEYED


def settings(first, second) -> pd.DataFrame:
    """Rows of (splits × settings) for two questions, as the findings read them."""
    splits, number = np.shape(first)
    seed, at = np.indices((splits, number)).reshape(2, -1)
    return pd.DataFrame(
        {
            "method": "m",
            "constraint": "",
            "hyperparameter": at.astype(float),
            "seed": seed,
            "one": np.ravel(first),
            "two": np.ravel(second),
        }
    )


def changed(found, wanted, change):
    """Results whose scores of some questions are others, by a function of the run's values."""
    runs = {one["key"]: one for one in found.runs.to_pylist()}
    rows = found.scores.to_pandas()
    for name in wanted:
        here = rows["question"] == name
        rows.loc[here, "value"] = [change(runs[key]) for key in rows.loc[here, "key"]]
    return replace(found, scores=pa.Table.from_pandas(rows, preserve_index=False))


def about(found, claim, where):
    return [one for one in findings(found) if claim in one.claim and one.where == where]


def strictness(run) -> float:
    setting = repr((run["method"], run["constraint"], run["hyperparameter"]))
    return crc32(setting.encode()) % 10_007 / 10_007


def test_tau_and_swaps_are_those_of_counting_pairs():
    first, second = np.random.default_rng(0).random((2, 4, 9))
    found = agreement(settings(first, second), "one", "two")
    taus, swaps = [], []
    for a, b in zip(first, second, strict=True):
        pairs = [(a[i] - a[j]) * (b[i] - b[j]) for i, j in combinations(range(9), 2)]
        swaps.append(np.mean([product < 0 for product in pairs]))
        taus.append(1 - 2 * swaps[-1])
    assert found.tau.value == pytest.approx(np.mean(taus))
    assert found.swapped.value == pytest.approx(np.mean(swaps))
    again = [stats.kendalltau(a, b).statistic for a, b in combinations(first, 2)]
    assert found.again.value == pytest.approx(np.mean(again))
    assert (found.settings, found.seeds) == (9, 4)


def test_differences_of_rounding_are_ties():
    first = np.array([[1.0, 1.0, 2.0, 3.0, 4.0]])
    second = first + np.array([0.0, 1e-15, 0.0, 0.0, 0.0])
    assert agreement(settings(first, second), "one", "two").tau.value == pytest.approx(1)


def test_few_settings_have_no_order():
    assert agreement(settings([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]]), "one", "two") is None


def test_settings_without_both_answers_are_left_out():
    rows = settings(np.arange(12.0).reshape(2, 6), np.arange(12.0).reshape(2, 6))
    rows.loc[rows["hyperparameter"] == 0, "two"] = np.nan
    assert agreement(rows, "one", "two").settings == 5


def test_the_interval_widens_by_the_rows_that_splits_share():
    seen = np.array([0.2, 0.5, 0.4, 0.3])
    found = estimate(seen, ratio=0.25)
    scale = np.sqrt((1 / 4 + 0.25) * np.var(seen, ddof=1))
    assert (found.low, found.high) == pytest.approx(
        stats.t.interval(0.95, df=3, loc=seen.mean(), scale=scale)
    )
    plain = stats.t.interval(0.95, df=3, loc=seen.mean(), scale=stats.sem(seen))
    assert found.low < plain[0]
    assert estimate(seen, bounds=(0.3, 0.4)) == (pytest.approx(0.35), 0.3, 0.4)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.7, 0.9, "agrees"), (0.1, 0.5, "differs"), (0.5, 0.7, "cannot tell")],
)
def test_a_verdict_needs_the_whole_interval_on_one_side(low, high, verdict):
    assert at_least(Estimate((low + high) / 2, low, high), 0.6) == verdict
    assert at_most(Estimate(-(low + high) / 2, -high, -low), -0.6) == verdict


def test_one_split_settles_nothing():
    assert at_least(estimate([1.0]), 0.6) == "cannot tell"


@pytest.mark.slow
@pytest.mark.parametrize(("power", "verdict", "tau"), [(2, "agrees", 1.0), (-1, "differs", -1.0)])
def test_criteria_in_the_same_order_agree_and_in_the_opposite_differ(power, verdict, tau):
    found = invented.some(lambda run: run["problem"] == "adult")
    found = changed(found, ["statistical_parity.mpd"], lambda run: 0.1 + strictness(run))
    found = changed(found, ["statistical_parity.pq"], lambda run: (0.1 + strictness(run)) ** power)
    (one,) = [
        each
        for each in about(found, "SP by MPD and S-SP by PQ order the settings alike", "Adult")
        if each.question == "Q1"
    ]
    assert (one.verdict, one.number) == (verdict, pytest.approx(tau))


@pytest.mark.slow
def test_growth_with_the_number_of_groups_is_judged_by_its_ratio():
    def value(run) -> float:
        return run_groups(run) / 100 + run["seed"] / 1000

    def run_groups(run) -> int:
        return int(run["problem"].rpartition(" ")[2])

    found = invented.some(lambda run: "multigroup" in run["problem"] and run["method"] == "Base")
    found = changed(found, ["statistical_parity.mpd"], lambda run: 0.4 + run["seed"] / 1000)
    found = changed(found, ["statistical_parity.pq"], value)
    (level,) = about(found, "SP by MPD of Base stays", "Simulated, many groups")
    (falls,) = about(found, "S-SP by PQ of Base falls", "Simulated, many groups")
    (rises,) = about(found, "S-SP by PQ of Base rises", "Adult, many groups")
    assert (level.verdict, level.number) == ("agrees", pytest.approx(1))
    assert falls.verdict == "differs"
    assert rises.verdict == "agrees"
    ratios = [(0.5 + seed / 1000) / (0.02 + seed / 1000) for seed in range(3)]
    assert rises.number == pytest.approx(np.mean(ratios))


def test_the_winner_keeps_its_accuracy():
    rows = pd.DataFrame(
        [
            ("Base", 0, 0.80, 0.30),
            ("cheap", 0, 0.795, 0.20),
            ("strict", 0, 0.70, 0.01),
            ("Base", 1, 0.70, 0.30),
            ("cheap", 1, 0.60, 0.20),
            ("strict", 1, 0.70, 0.25),
        ],
        columns=["method", "seed", "accuracy", "score"],
    )
    assert winners(rows, "score") == {0: "cheap", 1: "strict"}
    assert winners(rows, "score", slack=0.5) == {0: "strict", 1: "cheap"}


def one_curve(method, problem, base, columns) -> pd.DataFrame:
    """A method's settings on three splits; columns are functions of split and setting."""
    seed, at = np.indices((3, 5)).reshape(2, -1)
    rows = {"problem": problem, "base": base, "family": "all", "method": method, "constraint": ""}
    values = {name: column(seed, at) for name, column in columns.items()}
    return pd.DataFrame({"hyperparameter": at.astype(float), "seed": seed, **values}).assign(**rows)


def rising(seed, at):
    return at


def falling(seed, at):
    return -at


def test_a_curve_is_intuitive_where_accuracy_rises_with_the_criterion():
    columns = {"accuracy": rising, EO: falling, S_EO: rising}
    (one,) = intuitive(one_curve("Rejection", "adult", "logistic", columns))
    assert (one.verdict, one.number) == ("agrees", pytest.approx(2))
    columns = {"accuracy": rising, EO: rising, S_EO: falling}
    (one,) = intuitive(one_curve("Rejection", "adult", "logistic", columns))
    assert (one.verdict, one.number) == ("differs", pytest.approx(-2))


def test_splits_are_consistent_where_they_order_settings_alike():
    columns = {MSE: lambda seed, at: (at * (seed + 2)) % 5, MSE_EXP: lambda seed, at: at + seed}
    columns |= {S_EO: rising, f"{S_EO} transform=exp": rising}
    (one,) = consistent(one_curve("LinearPost_R", "law_school", "linear", columns))
    orders = [(np.arange(5) * (seed + 2)) % 5 for seed in range(3)]
    means = [sum(orders) - order for order in orders]
    before = [stats.kendalltau(*both).statistic for both in zip(orders, means, strict=True)]
    assert one.number == pytest.approx(1 - np.mean(before))


def test_statistics_of_regressors_are_compared_by_method():
    found = invented.some(lambda run: run["problem"] == "communities")
    mse, mae, r2 = REGRESSED.values()
    columns = {mse: rising, mae: rising, r2: falling}
    by_mae, apart = of_regressors(found, one_curve("FairReg", "communities", "linear", columns))
    assert (by_mae.verdict, by_mae.number) == ("agrees", pytest.approx(1))
    assert (apart.claim, apart.verdict) == ("g = R² leaves g = MSE for FairReg", "agrees")
    assert apart.number == pytest.approx(-1)


def test_variation_is_the_inverse_of_pq():
    w = np.random.default_rng(1).random((50, 7)) + 0.01
    np.testing.assert_allclose(variation(pq(w)), w.std(axis=1) / w.mean(axis=1))


def test_only_settings_that_perform_alike_are_compared_at_matched_accuracy():
    first = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
    rows = settings(first, [[2.0, 1.0, 4.0, 3.0, 6.0, 5.0]])
    rows["accuracy"] = [0.70, 0.701, 0.75, 0.751, 0.80, 0.801]
    everywhere = agreement(rows, "one", "two")
    assert everywhere.tau.value == pytest.approx(1 - 2 * 3 / 15)
    rows = pd.concat([rows, rows.assign(seed=1)])
    assert agreement(rows, "one", "two", Level("accuracy", 0.002)) is None  # too few pairs
    wide = agreement(rows, "one", "two", Level("accuracy", 0.06))
    assert wide.tau.value == pytest.approx((8 - 3) / 11)


def two_groups(rng, number=60):
    """Scores by MPD, Gini and PQ, plain and of exponentials, of random rates of two groups."""
    rates = rng.uniform(0.05, 0.95, (number, 3, 2))  # the worst of three classes counts
    measures = {"mpd": mpd, "gini": gini, "pq": pq}
    plain = {f"statistical_parity.{name}": one(rates) for name, one in measures.items()}
    raised = {
        f"statistical_parity.{name} transform=exp": one(np.exp(rates))
        for name, one in measures.items()
        if name != "mpd"
    }
    return {name: values.max(axis=1) for name, values in (plain | raised).items()}


@pytest.mark.parametrize("groups", [2, 5])
def test_what_is_called_a_theorem_holds_for_any_two_groups_and_what_is_not_fails(groups):
    scores = two_groups(np.random.default_rng(0))
    asked = ASKED[0]
    for first, second in combinations(scores, 2):
        tau = stats.kendalltau(scores[first], scores[second]).statistic
        assert bool(theorem(asked, first, second, groups)) == (groups == 2 and tau > 1 - 1e-12)


def test_parity_of_regressions_of_two_groups_is_a_function_of_the_gap():
    rng = np.random.default_rng(0)
    group = np.arange(200) % 2
    samples = [rng.normal(size=200) + shift * group for shift in np.linspace(0, 2, 30)]
    by = [
        [
            evaluate("strong_parity", None, one, sensitive_features=group, measure=name)
            for one in samples
        ]
        for name in ("mpd", "pq")
    ]
    assert stats.kendalltau(*np.round(by, 9)).statistic == pytest.approx(1)
    parity = next(one for one in ASKED if one.mpd == "strong_parity.mpd")
    assert theorem(parity, parity.mpd, parity.pq, 2)
    assert not theorem(parity, parity.mpd, parity.plain, 2)


def test_verdicts_by_theorem_and_claims_of_ours_are_told_apart(verdicts):
    theorems = [one for one in verdicts if one.is_theorem]
    assert {one.question for one in theorems if not one.source} == {"Q1", "Gini index"}
    assert all("theorem" in one.sentence for one in theorems)
    assert {one.source for one in verdicts} == {"", "ours"}
    assert {one.question for one in verdicts if one.source} >= {
        "Q1, at matched accuracy",
        "Q1, with evenhand’s methods",
        "Q1, on gradient boosting",
        "Base model",
    }


@pytest.mark.slow
def test_the_papers_claims_are_judged_without_our_own_methods():
    results = invented.some(lambda run: run["problem"] == "adult")

    def scores_of_ours(run):
        return 9.0 if run["method"] in OWN else strictness(run)

    spoiled = changed(results, ["statistical_parity.mpd"], scores_of_ours)
    plain = changed(results, ["statistical_parity.mpd"], strictness)
    ours, theirs = (
        {
            one.where: one.number
            for one in findings(some)
            if " by PQ order" in one.claim and one.question == "Q1"
        }
        for some in (spoiled, plain)
    )
    assert ours
    assert ours == theirs


def test_a_post_processor_disregards_the_fit_where_no_setting_comes_near():
    def one(base, method, rmse):
        rows = one_curve(method, "law_school", base, {"rmse": rmse})
        return rows if method != "Base" else rows[rows["hyperparameter"] == 0]

    found = invented.some(lambda run: run["problem"] == "law_school")
    rows = [
        one("linear", "Base", lambda seed, at: 0.2 + 0 * at),
        one("linear", "LinearPost_R", lambda seed, at: 0.2 + at / 100),
        one("linear", "WassBC", lambda seed, at: 0.3 + at / 100),
        one("targets", "WassBC", lambda seed, at: 0.05 + at / 1000),
    ]
    told = {(one.claim.split()[0], one.where): one for one in disregard(found, pd.concat(rows))}
    assert told["LinearPost_R", "LawSchool"].verdict == "differs"
    assert told["WassBC", "LawSchool"].number == pytest.approx(0.5)
    on_truth = told["WassBC", "LawSchool, on the true targets"]
    assert (on_truth.verdict, on_truth.source) == ("agrees", "ours")
    assert "between −75.0% and −73.0%" in on_truth.sentence


def test_a_repair_is_the_mean_difference_over_the_same_settings():
    rows = [
        one_curve(name, "adult", "logistic", {"statistical_parity.mpd": mpd, "accuracy": rising})
        for name, mpd in {
            "FairRR": lambda seed, at: 0.1 + 0.01 * at,
            "FairRR, published": lambda seed, at: 0.15 + 0.01 * at + 0.001 * seed,
        }.items()
    ]
    found = invented.some(lambda run: run["problem"] == "adult")
    (one,) = mended(found, pd.concat(rows).assign(**{"strong_parity.mpd": 0.0, "rmse": 0.0}))
    assert (one.where, one.verdict, one.source) == ("Adult", "differs", "ours")
    assert one.number == pytest.approx(0.051)
    assert "flips that are drawn once" in one.sentence


def test_a_column_that_changes_the_problem_is_said_to():
    scores = {"law_school": (0.95, 0.16), "law_school_predicted": (0.55, 0.125)}
    rows = [
        one_curve("Base", problem, "linear", {"rmse": lambda seed, at, r=rmse: r + 0 * at}).assign(
            **{"strong_parity.mpd": gap}
        )
        for problem, (gap, rmse) in scores.items()
    ]
    (one,) = column(pd.concat(rows))
    assert (one.verdict, one.number) == ("differs", pytest.approx(-0.4))
    assert "0.125 and SP by MPD 0.55; without it, as everywhere else here, 0.160 and 0.95" in (
        one.sentence
    )


def test_stability_compares_the_spread_over_splits_on_one_scale():
    rng = np.random.default_rng(0)
    steady = 0.2 + 0.001 * rng.normal(size=(6, 5))
    found = _jackknifed(steady * rng.uniform(0.5, 1.5, 5), steady)
    assert found.high < 1
    assert found.value < 0.1


@pytest.mark.slow
def test_no_results_give_no_findings():
    assert findings(invented.some(lambda run: False)) == ()


@pytest.mark.slow
def test_every_finding_is_told_in_a_sentence(verdicts):
    assert {one.question for one in verdicts} >= {
        "Q1",
        "Q2",
        "Gini index",
        "Positivity",
        "Aggregation",
    }
    for one in verdicts:
        assert one.sentence.endswith(".")
        assert one.verdict in ("agrees", "differs", "cannot tell")
        assert np.isnan(one.low) or one.low <= one.number <= one.high


@pytest.mark.slow
def test_properties_found_by_machine_are_those_of_the_axiom_tests():
    seen = {
        measure: {name.lower().replace(" ", "_") for name, w in found.items() if w is None}
        for measure, found in checked().items()
    }
    assert seen == {measure: OBEYED[measure] for measure in seen}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    problem = Problem("few", "simulated", rows=500)
    study = Study(
        name="one",
        problems=(problem,),
        bases=(BASES["logistic"],),
        treatments=(Treatment(),),
        seeds=(0,),
    )
    run(Design("tiny", (study,)), folder, n_jobs=1, progress=False)
    return folder


@pytest.mark.slow
def test_the_noise_floor_is_what_binomial_draws_show(stored):
    from evenhand.benchmark import Store

    store = Store(stored)
    (entry,) = store.entries().values()
    truth, predictions = store.truth(entry), store.predictions(entry)
    rate, sizes = predictions.labels.mean(), np.bincount(truth.group)
    drawn = np.random.default_rng(3).binomial(sizes, rate, (20_000, len(sizes))) / sizes
    gaps = np.ptp(drawn, axis=1)
    found = floor_of(with_floors(scored(stored), store), ["statistical_parity.mpd"])
    assert found["floor"].iloc[0] == pytest.approx(gaps.mean(), rel=0.08)
    assert found["high"].iloc[0] == pytest.approx(np.quantile(gaps, 0.95), rel=0.12)


@pytest.mark.slow
def test_floors_leave_the_scores_as_they_are(stored):
    plain = scored(stored)
    more = with_floors(plain, stored)
    kept = more.scores.to_pandas()
    kept = kept[kept["lot"] == "expected"].reset_index(drop=True)
    before = plain.scores.to_pandas().astype({"key": str, "question": str, "lot": str})
    after = kept.astype({"key": str, "question": str, "lot": str})
    pd.testing.assert_frame_equal(after, before)
    assert floor_of(plain, ["statistical_parity.mpd"]).empty


@pytest.mark.slow
def test_findings_are_the_same_from_an_archive(tmp_path):
    found = invented.some(lambda run: run["problem"] in ("adult", "communities"))
    found.write(tmp_path / "kept")
    here, there = findings(found), findings(read_results(tmp_path / "kept"))
    assert [(one.claim, one.where, one.verdict) for one in here] == [
        (one.claim, one.where, one.verdict) for one in there
    ]
    np.testing.assert_allclose([one.number for one in there], [one.number for one in here], 1e-4)
