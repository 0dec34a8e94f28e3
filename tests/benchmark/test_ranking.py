"""One number for each method, and which differences are more than noise."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand._uncertainty.homogeneity import holm
from evenhand.benchmark import (
    Problem,
    Question,
    Results,
    areas,
    rank,
    results,
    run,
    treatment,
    write_tables,
)
from evenhand.benchmark.figures import ranking_figure
from evenhand.benchmark.ranking.areas import Area, Curve, area_of
from evenhand.benchmark.ranking.inference import (
    average_ranks,
    critical_difference,
    friedman,
    inseparable_runs,
    paired_p_value,
    split_interval,
    wilcoxon_p_value,
)
from evenhand.benchmark.ranking.ranks import ranking_of
from evenhand.benchmark.scoring.empty import empty_cells
from evenhand.benchmark.scoring.floors import floors_of, with_floors
from evenhand.benchmark.tables import (
    area_table,
    empty_cell_table,
    pair_table,
    ranking_table,
    score_table,
)

ASKED = "statistical_parity.mpd"
RNG = np.random.default_rng(7)


def made(problems, methods, *, splits=5, kind="classification", seed=0, noise=0.004):
    """Results where method k of a problem removes about share[k] of a gap of 0.2, for a loss."""
    rng = np.random.default_rng(seed)
    runs, scores = [], []
    performance = "accuracy" if kind == "classification" else "rmse"
    for problem in problems:
        for split in range(splits):
            settings = [("Base", None, 0.0, 0.0)]
            settings += [
                (name, value, share * value, lost * value)
                for name, (share, lost) in methods.items()
                for value in (0.5, 1.0)
            ]
            for name, value, share, lost in settings:
                key = f"{problem} {name} {value} {split}"
                runs.append(
                    {"key": key, "problem": problem, "base": "b", "method": name}
                    | {"hyperparameter": value, "seed": split}
                )
                drawn = noise * rng.standard_normal(2)
                base, sign = (0.8, -1) if kind == "classification" else (0.1, 0.1)
                scores.append((key, performance, "expected", base + sign * lost + drawn[0] / 10))
                scores.append((key, ASKED, "expected", 0.2 * (1 - share) + drawn[1]))
    return Results.from_rows(
        runs=runs,
        questions=[Question(performance), Question("statistical_parity", "mpd")],
        problems=[
            {"problem": one, "kind": kind, "n_classes": 2, "n_groups": 2}
            | {"train": 800, "test": 200, "about": json.dumps({"sensitive": ["sex"]})}
            for one in problems
        ],
        scores=scores,
    )


def test_the_area_is_the_mean_of_what_is_removed_over_allowed_losses():
    # all of the gap for a loss of 0.02, or part of it for part of the loss, of at most 0.04
    curve = Curve(np.full((3, 2), [0.01, 0.02]), np.full((3, 2), [0.1, 0.0]))
    removed, lost = area_of(curve, np.full(3, 0.2), loss=0.04)
    assert removed == pytest.approx((0.02 * 0.5 + 0.02 * 1) / 0.04)
    assert lost == pytest.approx((0.02 * 0.01 + 0.02 * 0.02) / 0.04)


def test_more_settings_on_the_way_between_two_change_nothing():
    ends = np.array([[0.0, 0.03]]), np.array([[0.15, 0.01]])
    shares = np.linspace(0, 1, 20)
    path = [one[:, :1] + (one[:, 1:] - one[:, :1]) * shares for one in ends]
    few, many = (area_of(Curve(*some), np.array([0.2]), 0.05) for some in (ends, path))
    assert np.allclose(few, many, rtol=1e-12)


def test_a_setting_that_gains_accuracy_is_free():
    curve = Curve(np.full((2, 1), -0.02), np.full((2, 1), 0.05))
    removed, lost = area_of(curve, np.full(2, 0.2), loss=0.05)
    assert removed == pytest.approx(0.75)
    assert lost == pytest.approx(-0.02)


def test_a_method_that_only_harms_is_like_the_base_model():
    curve = Curve(np.full((2, 2), [0.0, 0.01]), np.full((2, 2), [0.3, 0.2]))
    assert area_of(curve, np.full(2, 0.2), loss=0.05)[0] == pytest.approx(0.0)


def test_a_costly_setting_may_decide_for_a_few_people():
    curve = Curve(np.full((2, 1), 0.5), np.zeros((2, 1)))
    removed, lost = area_of(curve, np.full(2, 0.2), loss=0.05)
    assert removed == pytest.approx(0.05)
    assert lost == pytest.approx(0.025)


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_areas_agree_with_a_fine_sum_over_losses(n_settings, splits, seed):
    rng = np.random.default_rng(seed)
    lost = np.round(rng.uniform(-0.02, 0.08, (splits, n_settings)), 3)
    gap, left = rng.uniform(0.1, 0.3, splits), rng.uniform(0, 0.4, (splits, n_settings))
    removed, _ = area_of(Curve(lost, left), gap, loss=0.05)
    allowed = (np.arange(1000) + 0.5) / 1000 * 0.05
    for split in range(splits):
        others = [one for one in range(splits) if one != split] or [0]
        means = [(0.0, gap[others].mean(), gap[split])] + [
            (lost[others, k].mean(), left[others, k].mean(), left[split, k])
            for k in range(n_settings)
        ]
        hull = [_mixture(means, a) for a in allowed]
        assert removed[split] == pytest.approx(1 - np.mean(hull) / gap.mean(), abs=2e-3)


def _mixture(means, allowed):
    """What the best of all mixtures of two settings leaves on the split that judges."""
    best = min((gap, own) for at, gap, own in means if max(at, 0) <= allowed)
    for at, gap, own in means:
        for more, other, others in means:
            if max(at, 0) <= allowed < more:
                share = (allowed - max(at, 0)) / (more - max(at, 0))
                best = min(best, (gap + share * (other - gap), own + share * (others - own)))
    return best[1]


def test_many_settings_of_pure_noise_win_nothing_when_chosen_on_other_splits():
    rng = np.random.default_rng(1)
    on_others, on_itself = [], []
    for _ in range(200):
        gap = 0.2 + 0.02 * rng.standard_normal(5)
        left = 0.2 + 0.02 * rng.standard_normal((5, 50))
        curve = Curve(np.zeros((5, 50)), left)
        on_others.append(area_of(curve, gap, 0.05)[0].mean())
        on_itself.append(1 - left.min(axis=1).mean() / gap.mean())
    assert abs(np.mean(on_others)) < 0.01
    assert np.mean(on_itself) > 0.15


def test_the_interval_over_splits_is_the_one_of_nadeau_and_bengio():
    values = [0.61, 0.64, 0.58, 0.70, 0.66]
    found = split_interval(values, ratio=0.25)
    half = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + 0.25) * np.var(values, ddof=1))
    assert found.value == pytest.approx(np.mean(values))
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))


def test_without_shared_rows_the_paired_test_is_the_usual_one():
    differences = RNG.normal(0.1, 0.2, 8)
    assert paired_p_value(differences, ratio=0.0) == pytest.approx(
        stats.ttest_1samp(differences, 0).pvalue
    )
    assert paired_p_value(differences, ratio=0.25) > paired_p_value(differences, ratio=0.0)
    assert np.isnan(paired_p_value([0.1], ratio=0.25))
    assert paired_p_value([0.0, 0.0], ratio=0.25) == 1


def test_splits_that_share_rows_fool_the_usual_test_and_hardly_the_corrected_one():
    """Both methods are coin tosses; test rows of 20 % are drawn again and again from 200."""
    rng = np.random.default_rng(3)
    usual = corrected = 0
    for _ in range(400):
        right = rng.integers(0, 2, (2, 200))
        splits = [rng.choice(200, 40, replace=False) for _ in range(10)]
        differences = [right[0, one].mean() - right[1, one].mean() for one in splits]
        usual += paired_p_value(differences, ratio=0.0) <= 0.05
        corrected += paired_p_value(differences, ratio=0.25) <= 0.05
    assert usual / 400 > 0.15
    assert corrected / 400 < 0.07


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(p_values):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    np.testing.assert_allclose(
        holm(p_values), multitest.multipletests(p_values, method="holm")[1], atol=1e-12
    )


def test_holm_does_not_count_what_is_missing():
    np.testing.assert_allclose(holm([0.02, np.nan, 0.03]), [0.04, np.nan, 0.04])


def test_the_critical_difference_is_the_one_in_the_literature():
    # Demšar 2006, section 3.2.4: four classifiers on 14 data sets, q = 2.569
    assert critical_difference(14, 4) == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    # Demšar 2006, table 5a
    for methods, quantile in {2: 1.960, 5: 2.728, 10: 3.164}.items():
        root = np.sqrt(methods * (methods + 1) / 6)
        assert critical_difference(1, methods) == pytest.approx(quantile * root, abs=2e-3)


def test_friedmans_test_is_that_of_scipy_in_the_form_of_iman_and_davenport():
    table = RNG.normal([0, 0.5, 1, 1.5], size=(9, 4))
    chi = stats.friedmanchisquare(*table.T).statistic
    wanted = 8 * chi / (9 * 3 - chi)
    assert friedman(table).statistic == pytest.approx(wanted)
    assert friedman(table).p_value == pytest.approx(stats.f.sf(wanted, 3, 24))
    assert friedman(np.ones((4, 3))).p_value == 1
    assert friedman([[1, 2, 3], [1, 2, 3], [1, 2, 3]]).p_value == 0
    assert np.isnan(friedman([[1, 2, 3]]).p_value)


def test_wilcoxons_test_is_that_of_scipy():
    differences = RNG.normal(0.3, 1, 9)
    wanted = stats.wilcoxon(differences, method="exact").pvalue
    assert wilcoxon_p_value(differences) == pytest.approx(wanted)
    assert wilcoxon_p_value([0, 0]) == 1


def test_ties_share_their_ranks():
    assert average_ranks([[0.9, 0.9, 0.1]]).tolist() == [[1.5, 1.5, 3.0]]


@given(st.lists(st.floats(1, 9), min_size=1, max_size=9).map(sorted), st.floats(0.01, 4))
def test_bars_cover_exactly_the_pairs_within_the_critical_difference(ranks, difference):
    bars = inseparable_runs(ranks, difference)
    joined = {(i, j) for a, b in bars for i in range(a, b + 1) for j in range(i + 1, b + 1)}
    n = len(ranks)
    near = {(i, j) for i in range(n) for j in range(i + 1, n) if ranks[j] - ranks[i] <= difference}
    assert joined == near


@pytest.fixture(scope="module")
def several():
    methods = {"good": (0.8, 0.01), "fair": (0.6, 0.01), "poor": (0.1, 0.04)}
    return made([f"p{at}" for at in range(12)], methods)


def test_methods_come_in_the_order_of_what_they_remove(several):
    (ranking,) = rank(several, ASKED)
    assert ranking.track == "binary, two groups"
    assert [one.method for one in ranking.entrants] == ["good", "fair", "poor", "Base"]
    assert [one.rank for one in ranking.entrants] == [1, 2, 3, 4]
    good = ranking.entrants[0]
    # setting 1 removes 0.8 for a loss of 0.01, and for less its share
    assert good.removed.value == pytest.approx((0.01 * 0.4 + 0.04 * 0.8) / 0.05, abs=0.02)
    assert good.removed.low < good.removed.value < good.removed.high
    assert ranking.friedman.p_value < 1e-6
    assert ranking.difference == critical_difference(12, 4)


def test_who_is_told_apart_is_said_for_every_pair(several):
    (ranking,) = rank(several, ASKED)
    pairs = {(pair.better, pair.worse): pair for pair in ranking.pairs}
    assert len(pairs) == 6
    assert pairs["good", "Base"].differs
    assert not pairs["good", "fair"].differs  # ranks differ by 1 only
    assert pairs["good", "fair"].wins == 12  # though the splits of every problem tell them apart
    assert pairs["good", "fair"].p_value == pytest.approx(6 * 2 / 2**12)
    assert "fair cannot be separated from it" in ranking.sentence
    assert pairs["poor", "Base"].wins + pairs["poor", "Base"].undecided == 12


@pytest.mark.slow
def test_equal_methods_are_hardly_ever_told_apart():
    wrong = 0
    for seed in range(20):
        same = {f"m{at}": (0.5, 0.01) for at in range(4)}
        (ranking,) = rank(made([f"p{at}" for at in range(8)], same, seed=seed), ASKED)
        wrong += any(pair.differs for pair in ranking.pairs if pair.worse != "Base")
    assert wrong <= 3


def test_a_method_that_lacks_a_problem_is_named_and_not_ranked():
    found = made(["p", "q"], {"a": (0.5, 0.01), "b": (0.3, 0.01)})
    runs = [one for one in found.runs.to_pylist() if not one["key"].startswith("q b")]
    less = Results(_table_of(found.runs, runs), found.questions, found.problems, found.scores)
    (ranking,) = rank(less, ASKED)
    assert [one.method for one in ranking.entrants] == ["a", "Base"]
    assert ranking.unranked == {"b": ("q",)}
    assert "Not ranked: b has no result on q." in ranking_table(less, ranking).note
    assert "b" in area_table(less, ranking).head


@pytest.mark.parametrize(
    ("removed", "told"),
    [
        # two of three problems make the first; the third makes the other's mean the larger
        (
            {"a": (0.3, 0.3, 0.1), "b": (0.2, 0.2, 0.9)},
            "a ranks first over the problems with 0.23 [0.23, 0.23] of the gap removed "
            "(on average b removes more, 0.43 [0.43, 0.43])",
        ),
        ({"a": (0.3, 0.3, 0.3), "b": (0.2, 0.2, 0.2)}, "a removes most of the gap, 0.30"),
        ({"a": (-0.3, -0.3, -0.3)}, "No method ranks before the base model as it is"),
    ],
)
def test_a_headline_says_what_its_table_does(removed, told):
    values = {"Base": (0.0, 0.0, 0.0), **removed}
    found = [
        Area(f"p{at}", "logistic", name, np.full(3, value), np.zeros(3), 0.2, 0.25, 1)
        for name, own in values.items()
        for at, value in enumerate(own)
    ]
    ranking = ranking_of("binary, two groups", ASKED, 0.05, found)
    assert ranking.sentence.startswith(told)
    assert {one.text for one in ranking.entrants if one.method == "Base"} == {"0 by definition"}


def _table_of(like, rows):
    import pyarrow as pa

    return pa.Table.from_pylist(rows, schema=like.schema)


def test_a_setting_that_failed_on_one_split_is_left_out_and_counted():
    found = made(["p"], {"a": (0.5, 0.01)})
    runs = [one for one in found.runs.to_pylist() if one["key"] != "p a 1.0 3"]
    less = Results(_table_of(found.runs, runs), found.questions, found.problems, found.scores)
    (own,) = [area for area in areas(less, ASKED) if area.method == "a"]
    assert (own.settings, own.incomplete) == (1, 1)


def test_a_regression_may_lose_a_share_of_its_error():
    found = made(["p"], {"a": (0.5, 0.02)}, kind="regression", noise=0.0)
    (own,) = [area for area in areas(found, ASKED) if area.method == "a"]
    # rmse 0.101 and 0.102 over 0.1: losses of 1 % and 2 %
    assert own.estimate.value == pytest.approx((0.02 * 0.25 + 0.03 * 0.5) / 0.05, abs=1e-4)


def test_of_a_ratio_the_gap_is_what_it_lacks_to_one():
    found = made(["p"], {"a": (0.5, 0.01)}, noise=0.0)
    scores = [
        (row["key"], "statistical_parity.ratio", "expected", 1 - row["value"])
        for row in found.scores.to_pylist()
        if row["question"] == ASKED
    ]
    both = Results.from_rows(
        runs=found.runs.to_pylist(),
        questions=[Question("accuracy"), Question("statistical_parity", "ratio")],
        problems=found.problems.to_pylist(),
        scores=[
            *scores,
            *(tuple(row.values()) for row in found.scores.to_pylist() if row["value"] > 0.5),
        ],
    )
    wanted = [area.estimate.value for area in areas(found, ASKED)]
    by_ratio = [area.estimate.value for area in areas(both, "statistical_parity.ratio")]
    assert by_ratio == pytest.approx(wanted, abs=1e-3)


def test_a_single_problem_is_decided_by_its_splits():
    (ranking,) = rank(made(["p"], {"good": (0.8, 0.01), "same": (0.8, 0.01)}), ASKED)
    assert np.isnan(ranking.difference)
    pairs = {frozenset((pair.better, pair.worse)): pair for pair in ranking.pairs}
    assert pairs[frozenset(("good", "Base"))].differs
    assert not pairs[frozenset(("good", "same"))].differs


def test_one_split_gives_a_number_without_an_interval():
    (ranking,) = rank(made(["p"], {"good": (0.8, 0.01)}, splits=1), ASKED)
    assert np.isnan(ranking.entrants[0].removed.low)
    assert not any(pair.differs for pair in ranking.pairs)
    drawing = ranking_figure(made(["p"], {"good": (0.8, 0.01)}, splits=1), ranking)
    assert "flatters many settings" in drawing.caption


def test_a_problem_with_fewer_splits_takes_none_from_the_others():
    gaps = {("whole", 0): 0.3, ("whole", 1): 0.1, ("part", 0): 0.2}
    runs, scores = [], []
    for (problem, seed), gap in gaps.items():
        for method, left in (("Base", gap), ("mine", gap / 2)):
            key = f"{problem}{seed}{method}"
            runs.append({"key": key, "problem": problem, "base": "b", "method": method})
            runs[-1]["seed"] = seed
            scores += [(key, "accuracy", "expected", 0.8)]
            scores += [(key, "statistical_parity.mpd", "expected", left)]
    found = Results.from_rows(
        runs=runs,
        questions=[Question("accuracy"), Question("statistical_parity", "mpd")],
        problems=[
            {"problem": one, "kind": "classification", "n_classes": 2, "n_groups": 2}
            for one in ("whole", "part")
        ],
        scores=scores,
    )
    (ranking,) = rank(found, "statistical_parity.mpd")
    removed = {one.method: one.removed.value for one in ranking.entrants}
    assert removed == pytest.approx({"Base": 0.0, "mine": 0.5})


def test_a_question_that_nobody_asked_is_refused(several):
    with pytest.raises(ValueError, match=r"statistical_parity\.pq.*Did you mean"):
        rank(several, "statistical_parity.pq")


@pytest.mark.slow
def test_the_picture_shows_the_numbers_of_the_ranking(several):
    (ranking,) = rank(several, ASKED)
    drawing = ranking_figure(several, ranking)
    assert drawing.data["removed"].tolist() == [one.removed.value for one in ranking.entrants]
    ranks, left, right = drawing.figure.axes
    shown = {one.get_label(): one for one in left.get_lines()}
    assert float(shown["good"].get_xdata()[0]) == ranking.entrants[0].removed.value
    assert list(shown["_bar of good"].get_xdata()) == list(ranking.entrants[0].removed[1:])
    assert f"critical difference {ranking.difference:.2f}" in [
        one.get_text() for one in ranks.texts
    ]
    titles = [axes.get_title(loc="left")[:3] for axes in (ranks, left, right)]
    assert titles == ["(a)", "(b)", "(c)"]
    assert right.get_title(loc="left") == "(c) accuracy lost"


@pytest.mark.slow
def test_tables_are_written_in_three_formats(several, tmp_path):
    (ranking,) = rank(several, ASKED)
    table = ranking_table(several, ranking)
    paths = write_tables([table, pair_table(several, ranking)], tmp_path / "new")
    assert {path.suffix for path in paths} == {".tex", ".md", ".csv"}
    first = (tmp_path / "new" / f"{table.name}.csv").read_text("utf-8").splitlines()
    assert first[1].startswith("good,1.00,")
    assert r"\toprule" in (tmp_path / "new" / f"{table.name}.tex").read_text("utf-8")
    with pytest.raises(ValueError, match="not as 'xls'"):
        write_tables([table], tmp_path, ["xls"])


def test_every_setting_is_in_the_table_of_scores_with_accuracy_beside_the_gap(several):
    table = score_table(several, [ASKED])
    assert table.head[-2:] == ("Accuracy", "Statistical parity by MPD")
    assert len(table.rows) == 12 * (1 + 3 * 2)
    assert all("±" in row[-1] for row in table.rows)


@pytest.fixture(scope="module")
def small_groups(tmp_path_factory):
    """Rows where one group has no positives in most test parts."""
    import pandas as pd

    folder = tmp_path_factory.mktemp("small")
    rng = np.random.default_rng(0)
    n = 400
    group = np.where(np.arange(n) < 12, "rare", np.where(rng.random(n) < 0.5, "a", "b"))
    x = rng.normal(size=n)
    y = np.where((group != "rare") & (x + rng.normal(size=n) > 0), "yes", "no")
    pd.DataFrame({"x": x, "group": group, "y": y}).to_csv(folder / "rows.csv", index=False)
    from benchmark.designs import design

    problem = Problem(
        "rare", str(folder / "rows.csv"), target="y", sensitive=("group",), favorable="yes"
    )
    run(design(*_treatments(), problems=(problem,), seeds=(0, 1)), folder / "store", n_jobs=1)
    return folder / "store"


def _treatments():
    from evenhand.benchmark import Treatment

    return Treatment(), treatment("LinearPost", grid=(0.01, 0.1))


@pytest.mark.slow
def test_no_score_is_decided_by_an_empty_cell_and_those_that_would_be_are_counted(small_groups):
    found = results(small_groups)
    counted = {one.question: one for one in empty_cells(found)}
    one = counted["equal_opportunity.mpd"]
    assert (one.scores, one.empty) == (6, 6)
    assert one.decided == 6
    assert "statistical_parity.mpd" not in counted  # every group has rows
    rates = found.query(
        "select lot, value from results where question = 'equal_opportunity.mpd' "
        "and method = 'Base' order by lot"
    )
    left_out = rates[rates["lot"] == "expected"]["value"].max()
    as_zero = rates[rates["lot"] == "empty as 0"]["value"].min()
    assert left_out < 0.35 < as_zero
    table = empty_cell_table(found)
    assert "would be decided by a group without any row" in table.note


@pytest.mark.slow
def test_floors_are_those_of_chance(small_groups):
    import evenhand as eh
    from evenhand.benchmark import Store

    found = with_floors(results(small_groups), small_groups, ["statistical_parity.mpd"])
    (row,) = floors_of(found).to_dict("records")
    store = Store(small_groups)
    entries = [one for one in store.entries().values() if one["method"] == "Base"]
    highs = [
        eh.chance(
            "statistical_parity",
            store.tally(entry),
            measure="mpd",
            replicates=400,
            random_state=0,
        ).high
        for entry in entries
    ]
    assert row["high"] == pytest.approx(np.mean(highs))
    assert 0 < row["floor"] < row["high"]
