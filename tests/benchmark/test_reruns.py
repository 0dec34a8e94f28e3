"""Stored results are run again, and only what no longer follows from the code is named."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.designs import design
from evenhand.benchmark import Problem, Treatment, read_results, results, run, treatment
from evenhand.benchmark.reruns import moved, sample
from evenhand.mitigation import ReweightingClassifier

STALE = Path(__file__).parents[2] / "tools" / "stale.py"


@pytest.mark.slow
def test_what_no_longer_follows_is_named_and_nothing_else(tmp_path, monkeypatch):
    methods = (Treatment(), treatment("Reweight"), treatment("LinearPost", grid=(0.01, 0.1)))
    planned = design(*methods, problems=(Problem("people", "simulated", rows=400),), seeds=(0, 1))
    run(planned, tmp_path / "store", n_jobs=1)
    results(tmp_path / "store", planned).write(tmp_path / "kept")
    stored = read_results(tmp_path / "kept")
    chosen = sample(planned)
    assert len(chosen.runs()) == 3
    assert moved(stored, chosen) == []
    fit = ReweightingClassifier.fit

    def otherwise(self, X, y, **options):
        return fit(self, X, 1 - y, **options)

    monkeypatch.setattr(ReweightingClassifier, "fit", otherwise)
    found = moved(stored, chosen)
    assert [(one.method, one.problem) for one in found] == [("Reweight", "people")]
    assert "as stored" in str(found[0])


def test_settings_of_a_path_are_done_again_from_its_start():
    grid = (0.001, 0.01, 0.02, 0.1, 1.0)
    methods = (treatment("LinearPost", grid=grid), treatment("FairProj-KL", grid=grid))
    people = Problem("people", "simulated", rows=400)
    (study,) = sample(design(*methods, problems=(people,), seeds=(0, 1))).studies
    assert [one.grid for one in study.treatments[-2:]] == [grid[:2], (0.02,)]


def test_a_sample_has_every_method_with_every_base_and_on_every_kind_of_problem_but_not_crosswise():
    people = (
        Problem("two groups", "simulated", rows=400),
        Problem("five groups", "simulated_multigroup", n_groups=5, rows=800),
    )
    planned = [
        design(treatment("Reweight"), problems=people, base=base)
        for base in ("logistic", "boosting")
    ]
    both = replace(planned[0], studies=(*planned[0].studies, *planned[1].studies))
    done = {(one.problem.name, one.base.name) for one in sample(both).runs().values()}
    assert done == {
        ("two groups", "logistic"), ("five groups", "logistic"), ("two groups", "boosting")
    }  # fmt: skip


def test_runs_that_are_older_than_the_code_are_named_by_problem_and_no_others_are():
    """Runs that were done again have a day; of methods that moved all others are named.

    A problem of which all runs were done again says nothing of which methods moved.
    """
    tool = runpy.run_path(str(STALE))
    older = tool["made"](tool["PAPER"])["older"]
    runs = read_results(STALE.parents[1] / tool["SCORES"]).runs.to_pandas()
    is_dated = runs["date"].notna()
    is_whole = is_dated.groupby(runs["problem"]).transform("all")
    again = set(runs["method"][is_dated & ~is_whole]) - {"Base"}
    old = runs[runs["method"].isin(again) & runs["date"].isna()]
    named = {(problem, method) for problem, methods in older.items() for method in methods}
    assert set(zip(old["problem"], old["method"], strict=True)) == named
    assert {"LinearPost", "FairRR, published", "WassBC, published"} <= again


def test_only_runs_that_are_named_as_older_are_left_out():
    methods = (treatment("LinearPost", grid=(0.1,)), treatment("Reweight"))
    people = (Problem("one", "simulated", rows=400), Problem("two", "simulated", rows=500))
    planned = design(*methods, problems=people)
    left = runpy.run_path(str(STALE))["without"](planned, {"two": ["LinearPost"]})
    before, after = (
        {(one.problem.name, one.treatment.name) for one in plan.runs().values()}
        for plan in (planned, left)
    )
    assert before - after == {("two", "LinearPost")}
    assert after < before


def test_only_what_moves_alike_by_other_routines_is_judged():
    tool = runpy.run_path(str(STALE))
    run = {"method": "A", "problem": "one", "question": "accuracy", "stored": 0.7, "now": 0.8}
    none = {**run, "now": float("nan")}
    assert tool["repeatable"](run, [{**run, "now": 0.80001}])
    assert tool["repeatable"](none, [dict(none)])
    assert not tool["repeatable"](run, [{**run, "now": 0.75}, none])
    assert not tool["repeatable"](run, [{**run, "problem": "two"}])


def test_runs_that_moved_are_found_in_the_design_again():
    people = (Problem("one", "simulated", rows=400), Problem("two", "simulated", rows=500))
    planned = design(Treatment(), treatment("LinearPost", "equalized_odds"), problems=people)
    asked = {"problem": "two", "base": "logistic", "method": "LinearPost"}
    part = runpy.run_path(str(STALE))["only"](planned, [{**asked, "constraint": "equalized_odds"}])
    assert {(one.problem.name, one.treatment.name) for one in part.runs().values()} == {
        ("two", "LinearPost")
    }
    assert not runpy.run_path(str(STALE))["only"](planned, [{**asked, "constraint": ""}]).studies


def test_scores_are_judged_only_by_the_versions_that_they_were_made_with():
    told = runpy.run_path(str(STALE))["other_versions"]
    stored = ["python 3.11.7, numpy 2.4.6, scipy 1.17.1", "numpy 2.5.0, scipy 1.17.1", ""]
    assert told(stored, {"numpy": "2.5.0", "scipy": "1.17.1"}.get) == []
    assert told(stored, {"numpy": "2.5.0", "scipy": "2.0"}.get) == ["scipy 2.0, stored with 1.17.1"]


def test_every_table_that_shows_a_method_is_named_and_no_other():
    tool = runpy.run_path(str(STALE))
    page = (STALE.parents[1] / "docs/leaderboard/page/leaderboard.html").read_text("utf-8")
    tables = list(tool["board_parts"]({"WassBC"}, page))
    assert tables
    assert all("regression" in one for one in tables)
    assert list(tool["stale"](set())) == []
    figures = (
        '<figure id="a" data-methods="Base; FairRR, published"><figure id="b" data-methods="*">'
    )
    assert list(tool["report_parts"]({"FairRR, published"}, figures)) == ["a", "b"]
    assert list(tool["report_parts"]({"FairRR"}, figures)) == ["b"]
