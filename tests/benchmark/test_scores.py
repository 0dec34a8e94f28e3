"""Scores from stored predictions, against other libraries and hand arithmetic."""

from dataclasses import replace

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics

import evenhand as eh
from benchmark.designs import CLASSIFIERS, SMALL, design, regression
from evenhand.benchmark import Store, Treatment, read_results, run
from evenhand.benchmark.design.questions import QUESTIONS, Question, add_questions
from evenhand.benchmark.design.studies import treatment
from evenhand.benchmark.scoring.from_store import results
from evenhand.benchmark.scoring.scores import scores

pytestmark = pytest.mark.slow  # every run is fitted first
ASKED = add_questions(
    [
        Question("statistical_parity", "pq", p=0.3, q=1.5),
        Question("statistical_parity", "pq", p=0.9, q=2.5),
        Question("statistical_parity", "pq", aggregate="total"),
        Question("statistical_parity", "pq", transform="exp"),
    ]
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    run(design(*CLASSIFIERS, seeds=(0, 1)), folder, n_jobs=1)
    run(regression(seeds=(0, 1)), folder, n_jobs=1)
    return Store(folder)


@pytest.fixture(scope="module")
def found(store):
    return results(store, questions=ASKED)


@pytest.fixture(scope="module")
def cases(store):
    """Every run: its key, row of the manifest, predictions and truth."""
    return [
        (key, entry, store.predictions(entry), store.truth(entry))
        for key, entry in store.entries().items()
    ]


@pytest.fixture(scope="module")
def value(found):
    table = found.to_frame().set_index(["key", "question", "lot"])["value"]
    return lambda key, question, lot="expected": table.get((key, question, lot), np.nan)


def classifiers(cases):
    return [case for case in cases if case[1]["problem"] == "small"]


def regressors(cases):
    return [case for case in cases if case[1]["problem"] == "small regression"]


def by_group(truth, column):
    return pd.Series(column).groupby(truth.group).mean().to_numpy()


def test_one_draw_is_scored_as_fairlearn_scores_it(cases, value):
    for key, entry, predictions, truth in classifiers(cases):
        lot = "drawn" if entry["by_lot"] else "expected"
        rows = {"y_true": truth.y, "y_pred": predictions.labels, "sensitive_features": truth.group}
        parity = fairlearn.demographic_parity_difference(**rows)
        odds = fairlearn.equalized_odds_difference(**rows)
        assert value(key, "statistical_parity.mpd", lot) == pytest.approx(parity, abs=1e-12)
        assert value(key, "equalized_odds.mpd", lot) == pytest.approx(odds, abs=1e-12)
        right = (truth.y == predictions.labels).mean()
        assert value(key, "accuracy", lot) == pytest.approx(right)


def test_decisions_by_lot_are_scored_by_their_chances(cases, value):
    some = [case for case in classifiers(cases) if case[1]["by_lot"]]
    assert some
    for key, _, predictions, truth in some:
        rates = by_group(truth, predictions.chances[:, 1])
        assert value(key, "statistical_parity.mpd") == pytest.approx(np.ptp(rates), abs=1e-9)
        right = predictions.chances[np.arange(len(truth.y)), truth.y].mean()
        assert value(key, "accuracy") == pytest.approx(right)


def test_the_mean_over_draws_is_that_of_drawn_tables(cases, value):
    some = [case for case in classifiers(cases) if case[1]["by_lot"]]
    for key, entry, predictions, truth in some:
        gaps = []
        for repeat in range(20):
            chance = np.random.default_rng([entry["seed"], repeat]).random(len(truth.y))
            gaps.append(np.ptp(by_group(truth, chance >= predictions.chances[:, 0])))
        assert value(key, "statistical_parity.mpd", "draws") == pytest.approx(np.mean(gaps))
        right = predictions.chances[np.arange(len(truth.y)), truth.y]
        error = np.sqrt(np.sum(right * (1 - right)) / 20) / len(right)
        assert abs(value(key, "accuracy", "draws") - right.mean()) < 5 * error + 1e-9


def test_a_gap_is_larger_by_draws_than_by_chances():
    """Equal chances for small groups have no gap; drawn decisions do."""
    from evenhand.benchmark.predictions import Predictions, Truth
    from evenhand.benchmark.scoring.scores import classification

    n, groups = 400, 40
    about = {"groups": [str(k) for k in range(groups)], "classes": ["no", "yes"], "seed": 0}
    about["favorable"] = None
    truth = Truth(np.arange(n), np.arange(n) % 2, np.arange(n) % groups, about)
    even = Predictions(labels=np.zeros(n, np.uint8), chances=np.full((n, 2), 0.5))
    asked = [Question("accuracy"), Question("statistical_parity", "mpd")]
    lots = classification(truth, [("expected", even), ("drawn", even), ("draws", even)], asked)
    assert lots[1, 0] == 0
    assert lots[1, 1] == 0  # the stored draw happens to be all zeros
    assert lots[1, 2] > 0.5
    assert lots[0, 2] == pytest.approx(0.5, abs=0.03)


def test_the_mean_over_draws_of_a_regressor_is_over_its_columns(cases, value):
    some = [case for case in regressors(cases) if case[1]["by_lot"]]
    assert some
    for key, _, predictions, truth in some:
        errors = (predictions.values - truth.y[:, None]) ** 2
        assert value(key, "rmse", "draws") == pytest.approx(np.sqrt(errors.mean(axis=0)).mean())
        assert value(key, "rmse") == pytest.approx(np.sqrt(errors.mean()))
        gaps = [np.ptp(by_group(truth, column)) for column in predictions.values.T]
        assert value(key, "weak_parity.mpd", "draws") == pytest.approx(np.mean(gaps))


def test_curves_are_of_any_lot(found):
    where = "question = 'accuracy'"
    for lot in ("expected", "drawn", "draws"):
        assert set(found.curves(where, lot=lot)["method"]) == {one.name for one in CLASSIFIERS}
    with pytest.raises(ValueError, match="lot is 'mean'; there are expected, drawn, draws"):
        found.curves(where, lot="mean")


@pytest.mark.slow
def test_pq_of_any_order_is_that_of_the_definition(cases, value):
    for key, entry, predictions, truth in classifiers(cases):
        if entry["by_lot"]:
            continue
        rates = by_group(truth, predictions.labels == 1)
        for p, q in ((0.3, 1.5), (0.9, 2.5)):
            each = [_pq(w, p, q) for w in (rates, 1 - rates)]
            name = f"statistical_parity.pq p={p} q={q}"
            assert value(key, name) == pytest.approx(max(each), abs=1e-9)
        each = [_pq(w, 1, 2) for w in (rates, 1 - rates)]
        assert value(key, "statistical_parity.pq aggregate=total") == pytest.approx(sum(each))
        each = [_pq(np.exp(w), 1, 2) for w in (rates, 1 - rates)]
        assert value(key, "statistical_parity.pq transform=exp") == pytest.approx(max(each))


def _pq(w, p, q):
    d = len(w)
    return 1 - d ** (1 / q - 1 / p) * np.sum(w**p) ** (1 / p) / np.sum(w**q) ** (1 / q)


def test_naming_a_favorable_class_changes_the_questions_about_one_class_only(tmp_path):
    about_one = {"equal_opportunity", "predictive_equality", "wasserstein_parity"}
    wide = {}
    for favorable in (None, "0"):
        folder = tmp_path / str(favorable)
        problem = replace(SMALL, favorable=favorable)
        run(design(Treatment(), treatment("Reweight"), problems=(problem,)), folder, n_jobs=1)
        frame = results(folder).to_frame()
        wide[favorable] = frame.pivot(index="question", columns="method", values="value")
    unlike = (wide[None] - wide["0"]).abs().max(axis=1) > 1e-12
    assert {name.partition(".")[0] for name in unlike[unlike].index} == about_one


def test_auroc_and_f1_are_those_of_scikit_learn(cases, value):
    for key, _, predictions, truth in classifiers(cases):
        if predictions.scores is None:
            assert np.isnan(value(key, "performance_parity.mpd g=auroc"))
            continue
        areas = [
            metrics.roc_auc_score(
                truth.y[truth.group == a], predictions.scores[truth.group == a, 1]
            )
            for a in range(2)
        ]
        found = value(key, "performance_parity.mpd g=auroc")
        assert found == pytest.approx(np.ptp(areas), abs=1e-9)
        f1 = [
            [
                metrics.f1_score(
                    truth.y[truth.group == a], predictions.labels[truth.group == a], pos_label=label
                )
                for a in range(2)
            ]
            for label in (0, 1)
        ]
        found = value(key, "performance_parity.mpd g=f1")
        assert found == pytest.approx(np.ptp(f1, axis=1).max(), abs=1e-12)


def test_regressions_are_scored_as_scipy_and_scikit_learn_score_them(cases, value):
    for key, entry, predictions, truth in regressors(cases):
        drawn = predictions.values[:, 0]
        lot = "drawn" if entry["by_lot"] else "expected"
        parts = [drawn[truth.group == a] for a in range(2)]
        distance = stats.ks_2samp(*parts).statistic
        assert value(key, "strong_parity.mpd", lot) == pytest.approx(distance, abs=1e-12)
        distance = stats.wasserstein_distance(*parts)
        assert value(key, "wasserstein_parity.mpd", lot) == pytest.approx(distance)
        error = metrics.root_mean_squared_error(truth.y, drawn)
        assert value(key, "rmse", lot) == pytest.approx(error)
        squared = by_group(truth, (truth.y - drawn) ** 2)
        found = value(key, "performance_parity.pq g=mse", lot)
        assert found == pytest.approx(_pq(squared, 1, 2), abs=1e-9)
        assert value(key, "r2", lot) == pytest.approx(metrics.r2_score(truth.y, drawn))


def test_the_expectation_of_a_regressor_is_the_mean_over_its_draws(cases, value):
    for key, entry, predictions, truth in regressors(cases):
        if entry["by_lot"]:
            squares = (predictions.values - truth.y[:, None]) ** 2
            assert value(key, "rmse") == pytest.approx(np.sqrt(squares.mean()))
            means = by_group(truth, predictions.values.mean(axis=1))
            assert value(key, "weak_parity.mpd") == pytest.approx(np.ptp(means))


def test_a_new_question_fits_nothing(store, monkeypatch):
    def refuse(*_):
        raise AssertionError("a fit")

    monkeypatch.setattr("evenhand.benchmark.running.jobs.Prepared", refuse)
    asked = {
        "classification": (Question("accuracy_parity", "mpd"),),
        "regression": (Question("weak_parity", "mpd"),),
    }
    found = results(store, questions=asked)
    assert set(found.to_frame()["question"]) == {"accuracy_parity.mpd", "weak_parity.mpd"}


def test_expected_scores_alone_are_the_same_and_labels_are_counted_once(store, found, monkeypatch):
    wanted = found.query("select * from scores where lot = 'expected' order by key, question")
    alone = results(store, questions=ASKED, lots="expected")
    assert set(alone.scores["lot"].to_pylist()) == {"expected"}
    got = alone.query("select * from scores order by key, question")
    pd.testing.assert_frame_equal(got, wanted)
    label = {**QUESTIONS, "classification": (Question("statistical_parity", "shortfall"),)}
    monkeypatch.setattr(Store, "predictions", lambda store, entry: pytest.fail("read again"))
    entries = [one for one in store.entries().values() if one["problem"] == "small"]
    again = scores(store, entries[:1], label["classification"], "expected")
    assert np.isfinite(again.values).all()


def test_counts_that_were_damaged_are_counted_again(tmp_path):
    run(design(Treatment(), seeds=(0,)), tmp_path, n_jobs=1)
    asked = {**QUESTIONS, "classification": (Question("statistical_parity", "mpd"),)}
    first = results(tmp_path, questions=asked, lots="expected")
    (kept,) = (tmp_path / "scores" / "counts").iterdir()
    kept.write_bytes(kept.read_bytes()[:-20])
    again = {**QUESTIONS, "classification": (Question("statistical_parity", "gini"),)}
    assert results(tmp_path, questions=again, lots="expected").scores.num_rows == 1
    assert first.scores.num_rows == 1


def test_scores_are_computed_once(store, found, monkeypatch):
    def refuse(*_):
        raise AssertionError("scored again")

    monkeypatch.setattr("evenhand.benchmark.scoring.cache.scores", refuse)
    again = results(store, questions=ASKED)
    by = ["key", "question", "lot"]
    pd.testing.assert_frame_equal(
        again.to_frame().sort_values(by, ignore_index=True),
        found.to_frame().sort_values(by, ignore_index=True),
    )


def test_results_of_a_design_leave_out_what_else_is_in_the_folder(store):
    part = results(store, design(treatment("Reweight")))
    assert set(part.to_frame()["method"]) == {"Reweight"}
    assert part.runs.num_rows == 1


def test_processes_score_alike(store, tmp_path, found):
    import shutil

    other = Store(shutil.copytree(store.folder, tmp_path / "other"))
    shutil.rmtree(other.folder / "scores")
    by = ["key", "question", "lot"]
    pd.testing.assert_frame_equal(
        results(other, questions=ASKED, n_jobs=2).to_frame().sort_values(by, ignore_index=True),
        found.to_frame().sort_values(by, ignore_index=True),
    )


def test_a_curve_has_mean_and_standard_error_over_the_seeds(found):
    where = "method = 'LinearPost' and question = 'accuracy'"
    curve = found.curves(where)
    each = found.to_frame(f"{where} and lot = 'expected'").groupby("hyperparameter")["value"]
    np.testing.assert_allclose(curve["mean"], each.mean())
    np.testing.assert_allclose(curve["error"], each.sem())
    assert curve["seeds"].tolist() == [2, 2]


def test_drawn_curves_have_the_methods_that_draw_nothing_too(found):
    methods = set(found.curves(lot="drawn")["method"])
    assert methods == set(found.curves()["method"])
    assert {"Base", "LinearPost", "LinearPost_R"} <= methods


@pytest.mark.parametrize("ending", ["parquet", "csv", "duckdb"])
def test_results_can_be_written(found, tmp_path, ending):
    import duckdb

    path = tmp_path / f"it's here.{ending}"
    found.write(path)
    if ending == "duckdb":
        with duckdb.connect(str(path), read_only=True) as database:
            count = database.execute("select count(*) from results").fetchall()[0][0]
    else:
        count = len(pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path))
    assert count == len(found.to_frame())


def test_other_endings_are_refused(found):
    with pytest.raises(ValueError, match=r"should end in \.parquet, \.csv or \.duckdb, or be"):
        found.write("scores.xlsx")


def test_every_question_has_its_own_name():
    for questions in QUESTIONS.values():
        assert len({one.name for one in questions}) == len(questions)


def test_an_order_of_pq_is_asked_as_such():
    how = Question("statistical_parity", "pq", p=0.5, q=1.5).how
    assert how.measure([1, 2, 4]) == pytest.approx(eh.pq([1, 2, 4], p=0.5, q=1.5))


def test_problems_say_where_their_rows_come_from(found):
    frame = found.query("select * from problems order by problem")
    assert frame["problem"].tolist() == ["small", "small regression"]
    assert frame["provenance"].tolist() == ["simulated", "simulated"]
    assert frame["n_groups"].tolist() == [2, 2]
    assert frame["n_classes"].tolist() == [2, 0]


def test_the_area_between_probabilities_is_the_wasserstein_distance(cases, value):
    compared = 0
    for key, _, predictions, truth in classifiers(cases):
        scores = predictions.scores if predictions.chances is None else predictions.chances
        found = value(key, "wasserstein_parity.mpd")
        if scores is None:
            assert np.isnan(found)
            continue
        first, second = (scores[truth.group == group, 1] for group in (0, 1))
        assert found == pytest.approx(stats.wasserstein_distance(first, second), abs=1e-12)
        largest = value(key, "strong_parity.mpd")
        assert largest == pytest.approx(stats.ks_2samp(first, second).statistic, abs=1e-12)
        assert np.isnan(value(key, "wasserstein_parity.mpd", "drawn"))
        compared += 1
    assert compared >= 4


def test_an_archive_holds_the_same_results(found, tmp_path):
    found.write(tmp_path / "kept")
    again = read_results(tmp_path / "kept")
    for name in ("runs", "questions", "problems"):
        assert getattr(again, name).equals(getattr(found, name))
    keys = ["key", "question", "lot"]
    here, there = (one.to_frame().set_index(keys)["value"].sort_index() for one in (found, again))
    assert here.index.equals(there.index)
    np.testing.assert_allclose(there, here, rtol=1e-5)


def test_a_folder_without_an_archive_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"runs\.parquet is not there: .* holds no results"):
        read_results(tmp_path)
