"""The commands, as one calls them."""

import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from evenhand.benchmark import Problem, Status, read_design
from evenhand.cli.benchmark import EXAMPLE, _say, bench
from evenhand.datasets import TASKS
from program import EVENHAND

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


@pytest.mark.slow
def test_a_design_is_run_and_exported(invoke, tmp_path):
    done = invoke(bench, "run", "mine.toml", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "mine: 3 of 3 runs to do" in done.output
    assert "mine: 3 of 3 runs have a result." in done.output
    done = invoke(bench, "run", "mine.toml", "--jobs", "1")
    assert "0 of 3 runs to do" in done.output
    done = invoke(bench, "export", "mine.toml", "--to", "scores.csv")
    assert done.exit_code == 0, done.output
    table = pd.read_csv(tmp_path / "scores.csv")
    assert set(table["method"]) == {"Base", "LinearPost"}


@pytest.fixture
def no_rows(monkeypatch):
    """Let whoever loads a data set fail."""

    def refuse(*arguments, **options):
        raise AssertionError("a data set is loaded")

    monkeypatch.setattr(Problem, "load", refuse)
    monkeypatch.setattr("evenhand.datasets.loader._assemble", refuse)


@pytest.mark.slow
def test_what_was_stored_is_shown_without_the_data(invoke, request):
    assert invoke(bench, "run", "mine.toml", "--jobs", "1").exit_code == 0
    request.getfixturevalue("no_rows")
    for command in ("status", "verify", "rank", "page"):
        done = invoke(bench, command, "mine.toml")
        assert done.exit_code == 0, done.output


@pytest.mark.usefixtures("no_rows")
def test_a_design_of_any_tasks_is_read_without_their_data(invoke, tmp_path):
    (tmp_path / "own.py").write_text(
        "from dataclasses import replace\nfrom evenhand.datasets import TASKS\n"
        "MINE = replace(TASKS['law_school'], description='mine')\n"
    )
    named = "".join(f"[problems.{name}]\n" for name in TASKS if "multigroup" not in name)
    own = "[problems.own]\nsource = 'own:MINE'\n[problems.compas]\nfavorable = 'no recidivism'\n"
    for problems in (named, own, "[problems.rows]\nsource = 'own:function'\n"):
        (tmp_path / "mine.toml").write_text(f"seeds = 1\n{problems}[methods.Reweight]\n")
        read_design(tmp_path / "mine.toml")
        if "function" not in problems:  # nothing but its rows says what a function's rows are
            done = invoke(bench, "status", "mine.toml")
            assert (done.exit_code, done.output[:10]) == (0, "mine: 0 of"), done.output


@pytest.mark.parametrize("command", ["export", "leaderboard"])
@pytest.mark.parametrize("read", ["mine.toml", "rows.csv"])
def test_no_output_replaces_a_design_or_its_data(invoke, tmp_path, command, read):
    pd.DataFrame({"y": [0, 1], "x": [1, 2], "g": ["a", "b"]}).to_csv(tmp_path / "rows.csv")
    design = '[problems.own]\nsource = "rows.csv"\ntarget = "y"\nsensitive = ["g"]\n'
    (tmp_path / "mine.toml").write_text(f"name = 'mine'\n{design}[methods.Reweight]\n")
    before = (tmp_path / read).read_bytes()
    done = invoke(bench, command, "mine.toml", "--to", read)
    assert (done.exit_code, "would overwrite" in done.output) == (2, True), done.output
    assert (tmp_path / read).read_bytes() == before


@pytest.mark.slow
def test_status_says_what_is_missing(invoke):
    done = invoke(bench, "status", "mine.toml", "--out", "elsewhere")
    assert (done.exit_code, done.output) == (0, "elsewhere: 0 of 3 runs have a result.\n")


def test_a_mistake_in_a_design_is_one_line_and_status_2(invoke, tmp_path):
    (tmp_path / "mine.toml").write_text("[problems.adult]\n[methods.Nothing]\n")
    for command in ("run", "status", "figures"):
        done = invoke(bench, command, "mine.toml")
        assert done.exit_code == 2
        assert done.output.startswith("Error: [methods.Nothing]: there is no method 'Nothing'")


@pytest.mark.slow
def test_failed_runs_are_listed_with_status_3(invoke, tmp_path):
    text = DESIGN + '[methods.LinearPost.settings]\ntolerance = "none"\n'
    (tmp_path / "mine.toml").write_text(text)
    done = invoke(bench, "run", "mine.toml", "--jobs", "1")
    assert done.exit_code == 3
    assert "failed: simulated, seed 0, logistic, LinearPost epsilon=0.01: " in done.output
    assert "mine: 1 of 3 runs have a result." in done.output
    assert "mine: 1 of 3 runs have a result." in invoke(bench, "status", "mine.toml").output


def test_status_has_a_line_for_every_method_that_failed_however_many_runs_did(capsys):
    failed = {"parameter": "epsilon", "base": "logistic", "error": "ValueError: no\nroot"}
    many = [
        {**failed, "problem": "people", "method": f"M{m}", "seed": seed, "hyperparameter": 0.1}
        for m in range(12)
        for seed in range(20)
    ]
    state = Status(runs=300, done=60, failures={str(key): one for key, one in enumerate(many)})
    _say(state, Path("mine"))
    lines = [line for line in capsys.readouterr().err.splitlines() if "failed" in line]
    assert len(lines) == 12
    assert lines[0] == (
        "  failed: people, seed 0, logistic, M0 epsilon=0.1: ValueError: no root "
        "(19 other runs of it likewise)"
    )


def test_there_is_no_command_for_one_article(invoke):
    done = invoke(EVENHAND, "paper")
    assert done.exit_code == 2
    assert "No such command 'paper'" in done.output


def test_the_help_shows_a_whole_design(invoke):
    text = invoke(bench, "--help").output
    for line in EXAMPLE.splitlines():
        assert line in text


@pytest.mark.slow
def test_progress_shows_the_runs_and_the_time_left(capsys, tmp_path):
    from benchmark.designs import design
    from evenhand.benchmark import run

    run(design(), tmp_path, n_jobs=1, progress=True)
    shown = capsys.readouterr().err
    assert "100%" in shown
    assert "6 of 6 runs, 0 failed" in shown
    assert "left" in shown


@pytest.mark.slow
def test_progress_is_shown_while_scoring_and_drawing(capsys, tmp_path, monkeypatch):
    from benchmark.designs import design
    from evenhand.benchmark import page, progress, results, run

    run(design(seeds=(0, 1)), tmp_path, n_jobs=1)
    found = results(tmp_path, progress=True)
    assert "2 of 2 splits scored" in capsys.readouterr().err
    monkeypatch.setattr(progress, "is_watched", lambda progress: True)
    figures = {"one": lambda results: 1, "two": lambda results: 2}
    monkeypatch.setattr(page, "drawn", lambda results, made: ((k, f(0)) for k, f in made.items()))
    section = page.Section("own", "Mine", figures=figures)
    assert page.drawings_of(found, [section]) == {"one": 1, "two": 2}
    assert "2 of 2 figures drawn" in capsys.readouterr().err


@pytest.mark.slow
def test_progress_is_silent_where_nobody_looks_on(capsys, tmp_path):
    from benchmark.designs import design
    from evenhand.benchmark import run

    run(design(), tmp_path, n_jobs=1)
    assert capsys.readouterr().err == ""
