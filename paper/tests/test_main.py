"""The command `python -m paper`."""

import pytest
from click.testing import CliRunner

from evenhand.benchmark import Problem, status
from paper import design, report
from paper.__main__ import main
from paper.tests import invented


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, arguments)


@pytest.mark.slow
def test_one_task_is_repeated_quickly_and_its_runs_are_added_to_a_report(
    invoke, monkeypatch, tmp_path
):
    monkeypatch.setattr(design, "QUICK_ROWS", 200)
    monkeypatch.setattr(design, "QUICK_POINTS", 1)
    monkeypatch.setattr(report, "FIGURES", {})
    asked = ("--quick", "--tasks", "simulated_regression", "--jobs", "1")
    with monkeypatch.context() as patch:
        patch.setattr(report, "write", lambda found, folder, store, formats: f"{folder}{formats}")
        done = invoke(*asked)
    assert done.exit_code == 0, done.output
    assert "evenhand-paper-quick: " in done.output
    assert "The report is evenhand-paper-quick/report()." in done.output
    assert list((tmp_path / "evenhand-paper-quick" / "runs").iterdir())

    few = ("Base", "LinearPost", "EqOdds")
    kept = invented.some(lambda run: run["problem"] == "adult" and run["method"] in few, seeds=2)
    kept.write(tmp_path / "mine" / "results")
    for _ in range(2):  # the second time adds nothing
        done = invoke(*asked, "--add-to", "mine")
        assert done.exit_code == 0, done.output
        assert "The report is mine/report.html." in done.output
        found = report.stored_results(tmp_path / "mine" / "results")
        problems = found.runs["problem"].to_pylist()
        assert problems.count("adult") == kept.runs.num_rows
        assert set(problems) == {"adult", "simulated_regression"}
        assert problems.count("simulated_regression") == len(
            list((tmp_path / "evenhand-paper-quick" / "runs").rglob("*.parquet"))
        )


def test_a_task_that_the_paper_does_not_have_is_refused(invoke):
    done = invoke("--tasks", "adlut")
    assert done.exit_code == 2
    assert "no problem 'adlut'" in done.output


def test_a_task_that_is_not_here_is_named_and_left_out(monkeypatch):
    simulated = property(lambda self: "simulated" in self.source)
    monkeypatch.setattr(Problem, "is_here", simulated)
    part, absent = design.at_hand(design.PAPER)
    assert {one.source for study in part.studies for one in study.problems} == {
        "simulated",
        "simulated_regression",
        "simulated_multigroup",
    }
    assert {"compas", "acs_income", "law_school"} <= set(absent)


def test_the_tasks_that_are_not_here_are_one_sentence(invoke, monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setattr("paper.__main__.run", lambda design, folder, n_jobs: status(design, folder))
    done = invoke("--quick", "--no-report")
    told = done.output.splitlines()
    assert told[0].startswith("Left out, since their rows are not on this computer: acs_income, ")
    assert "evenhand datasets fetch acs_income" in told[0]
    assert told[1].startswith("paper, quick: ")
