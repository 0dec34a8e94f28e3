"""The report on the paper: every finding, its figures, and its tables."""

import re

import pytest

from evenhand.benchmark import read_results
from evenhand.benchmark.tables import data_sets, run_times
from evenhand.criteria import CRITERIA
from paper import report
from paper.tables import all_tables, hyperparameters
from paper.tests import invented
from paper.theme import THEME
from paper.words import task_name
from report.parsing import parsed

pytestmark = pytest.mark.slow

SOME = ("tradeoffs-communities", "ratios")


@pytest.fixture(scope="module")
def folder(results, verdicts, tmp_path_factory):
    """The report with a few of its figures."""
    made = tmp_path_factory.mktemp("report")
    figures = {name: make for name, make in report.FIGURES.items() if name in SOME}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "FIGURES", figures)
        patch.setattr(report, "findings", lambda found: verdicts)
        report.write(results, made, formats=())
    return made


@pytest.fixture(scope="module")
def seen(folder):
    return parsed((folder / "report.html").read_text("utf-8"))


def test_every_finding_is_there_with_its_verdict(verdicts, seen):
    told = [one.text for one in seen.all("td") if one.has_class("told")]
    assert sorted(told) == sorted(one.sentence for one in verdicts)


def test_the_papers_figures_come_before_ours(folder, seen):
    assert [one.attributes["id"] for one in seen.all("figure")] == list(SOME)
    made = sorted(path.stem for path in (folder / "figures").glob("*.csv"))
    assert made == sorted(SOME)


def test_the_head_warns_of_stand_ins(seen):
    (head,) = seen.all("header", id="short")
    assert invented.STAND_IN in head.text


def test_the_report_keeps_the_results(results, folder):
    assert len(read_results(folder / "results").scores) == len(results.scores)


def test_what_is_not_the_papers_claim_is_in_a_section_of_its_own(results, verdicts, seen):
    paper, ours, *_ = report.sections(results, verdicts, ())
    told = {one.sentence for one in verdicts if one.source == "ours"}
    assert {one.sentence for one in ours.findings} == told
    assert len(paper.findings) + len(ours.findings) == len(verdicts)
    assert "by theorem" in paper.text
    marks = [one for one in seen.all("td") if one.has_class("theorem")]
    assert len(marks) == sum(one.is_theorem for one in verdicts)


def test_the_page_of_a_quick_run_says_that_it_is_quick(verdicts, seen, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "FIGURES", {})
        patch.setattr(report, "findings", lambda found: verdicts)
        page = report.write(invented.results(seeds=1), tmp_path, formats=()).read_text("utf-8")
    assert "quick" in parsed(page).all("h1")[0].text
    (head,) = parsed(page).all("header", id="short")
    told = r"one split, at most \d points of each grid, and at most 1,000 rows"
    assert re.search(told, head.text)
    assert "quick" not in seen.all("header", id="short")[0].text


def test_further_runs_join_the_stored_ones_and_known_ones_stay():
    adult = invented.some(lambda run: run["problem"] == "adult", seeds=2)
    more = invented.some(lambda run: run["problem"] in ("adult", "compas"), seeds=2)
    both = report.joined(adult, more)
    assert both.runs.num_rows == more.runs.num_rows
    assert set(both.problems["problem"].to_pylist()) == {"adult", "compas"}
    assert len(both.wide(["accuracy"])) == len(more.wide(["accuracy"]))
    again = report.joined(both, more)
    assert (again.runs.num_rows, len(again.scores)) == (both.runs.num_rows, len(both.scores))


def test_without_any_result_the_lede_says_so():
    assert report.lede(()) == "There are no results yet."


def test_tables_are_made_from_the_runs_and_registries(results):
    named = {table.name: table for table in all_tables(results)}
    run = set(results.runs["method"].to_pylist()) - {"Base"}
    assert {row[0] for row in named["hyperparameters"].rows} == {THEME.label(one) for one in run}
    assert len(named["criteria"].rows) == len(CRITERIA)
    assert [row[0] for row in named["criteria"].rows][:3] == ["SP, S-SP", "EO", "S-EO"]
    ticks = {row[0]: row[1:].count("✓") for row in named["properties"].rows}
    assert ticks["PQ"] == ticks["Gini"] == 6
    assert ticks["MPD"] == 2
    for table in named.values():
        assert all(len(row) == len(table.head) for row in table.rows)


def test_the_values_that_were_run_are_in_the_table_of_hyperparameters(results):
    rows = {row[0]: row for row in hyperparameters(results).rows if row[1] == "statistical parity"}
    tried = {
        run["hyperparameter"]
        for run in results.runs.to_pylist()
        if run["method"] == "FairRR" and run["constraint"] == "statistical_parity"
    }
    assert rows["FairRR"][3] == ", ".join(f"{value:g}" for value in sorted(tried))
    assert rows["Reweight"][3] == "–"


def test_a_task_of_many_sizes_is_one_row_with_all_of_them(results):
    rows = {row[0]: row for row in data_sets(results, task_name).rows}
    assert rows["Simulated, many groups"][4] == "2, 5, 10, 20, 30, 40, 50"
    assert rows["HSLS†"][6] == invented.STAND_IN


def test_run_times_are_medians_of_processor_seconds(results):
    table = run_times(results, task_name)
    times = {row[0]: row[1:] for row in table.rows}
    assert set(times["Base"]) == {"0.5"}
    assert "–" in times["FairRR"]  # there is no regression by it
    assert f"All {len(results.runs):,} runs" in table.note
    total = sum(map(float, times["All runs together"]))
    assert total == pytest.approx(0.5 * len(results.runs), rel=0.02)  # of rounded numbers
