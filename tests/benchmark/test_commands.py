"""The commands, as one calls them."""

import sys

import pandas as pd
import pytest
from click.testing import CliRunner
from evenhand.benchmark.design.example import EXAMPLE

from evenhand.benchmark import commands, page
from evenhand.benchmark.design import paper

DESIGN = """
seeds = 1
[problems.simulated]
rows = 300
[methods.LinearPost]
grid = [0.01, 0.1]
"""


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.toml").write_text(DESIGN)
    return lambda command, *arguments: CliRunner().invoke(command, arguments)


def test_a_design_is_run_and_exported(invoke, tmp_path):
    done = invoke(commands.bench, "run", "mine.toml", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "mine: 3 of 3 runs to do" in done.output
    assert "mine: 3 of 3 runs have a result." in done.output
    done = invoke(commands.bench, "run", "mine.toml", "--jobs", "1")
    assert "0 of 3 runs to do" in done.output
    done = invoke(commands.bench, "export", "mine.toml", "--to", "scores.csv")
    assert done.exit_code == 0, done.output
    table = pd.read_csv(tmp_path / "scores.csv")
    assert set(table["method"]) == {"Base", "LinearPost"}


def test_status_says_what_is_missing(invoke):
    done = invoke(commands.bench, "status", "mine.toml", "--out", "elsewhere")
    assert (done.exit_code, done.output) == (0, "elsewhere: 0 of 3 runs have a result.\n")


def test_a_mistake_in_a_design_is_one_line_and_status_2(invoke, tmp_path):
    (tmp_path / "mine.toml").write_text("[problems.adult]\n[methods.Nothing]\n")
    for command in ("run", "status", "figures"):
        done = invoke(commands.bench, command, "mine.toml")
        assert done.exit_code == 2
        assert done.output.startswith("Error: [methods.Nothing]: there is no method 'Nothing'")


def test_failed_runs_are_listed_with_status_3(invoke, tmp_path):
    text = DESIGN + '[methods.LinearPost.settings]\ntolerance = "none"\n'
    (tmp_path / "mine.toml").write_text(text)
    done = invoke(commands.bench, "run", "mine.toml", "--jobs", "1")
    assert done.exit_code == 3
    assert "failed: simulated, seed 0, logistic, LinearPost epsilon=0.01: " in done.output
    assert "mine: 1 of 3 runs have a result." in done.output


def test_the_paper_can_be_repeated_for_one_task_quickly(invoke, monkeypatch, tmp_path):
    monkeypatch.setattr(paper, "QUICK_ROWS", 300)
    monkeypatch.setattr(page, "write_report", lambda found, folder, store: f"{folder} of {store}")
    arguments = ("--quick", "--tasks", "simulated_regression", "--jobs", "1")
    done = invoke(commands.paper, *arguments)
    assert done.exit_code == 0, done.output
    assert "evenhand-paper-quick: " in done.output
    assert "evenhand-paper-quick/report of evenhand-paper-quick." in done.output
    assert list((tmp_path / "evenhand-paper-quick" / "runs").iterdir())


def test_a_task_that_the_paper_does_not_have_is_refused(invoke):
    done = invoke(commands.paper, "--tasks", "adlut")
    assert done.exit_code == 2
    assert "no task 'adlut'" in done.output


def test_a_task_that_is_not_here_is_named_and_left_out(monkeypatch):
    def only_simulated(origin):
        return origin.simulate is not None

    monkeypatch.setattr(paper, "is_here", only_simulated)
    design, absent = paper.at_hand(paper.PAPER)
    assert {one.source for study in design.studies for one in study.problems} == {
        "simulated",
        "simulated_regression",
        "simulated_multigroup",
    }
    assert {"compas", "acs_income", "law_school"} <= set(absent)


def test_the_help_shows_a_whole_design(invoke):
    text = invoke(commands.bench, "--help").output
    for line in EXAMPLE.splitlines():
        assert line in text


def test_progress_shows_the_runs_and_the_time_left(capsys, tmp_path):
    from benchmark.designs import design
    from evenhand.benchmark import run

    run(design(), tmp_path, n_jobs=1, progress=True)
    shown = capsys.readouterr().err
    assert "100%" in shown
    assert "6 of 6 runs, 0 failed" in shown
    assert "left" in shown


def test_progress_is_silent_where_nobody_looks_on(capsys, tmp_path):
    from benchmark.designs import design
    from evenhand.benchmark import run

    run(design(), tmp_path, n_jobs=1)
    assert capsys.readouterr().err == ""
