"""The command `python -m paper`."""

import pytest
from click.testing import CliRunner

from evenhand.benchmark import Problem
from paper import design, report
from paper.__main__ import main


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, arguments)


@pytest.mark.slow
def test_the_paper_can_be_repeated_for_one_task_quickly(invoke, monkeypatch, tmp_path):
    monkeypatch.setattr(design, "QUICK_ROWS", 200)
    monkeypatch.setattr(design, "QUICK_POINTS", 1)
    monkeypatch.setattr(report, "write", lambda found, folder, store: f"{folder} of {store}")
    done = invoke("--quick", "--tasks", "simulated_regression", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "evenhand-paper-quick: " in done.output
    assert "evenhand-paper-quick/report of evenhand-paper-quick." in done.output
    assert list((tmp_path / "evenhand-paper-quick" / "runs").iterdir())


def test_a_task_that_the_paper_does_not_have_is_refused(invoke):
    done = invoke("--tasks", "adlut")
    assert done.exit_code == 2
    assert "no task 'adlut'" in done.output


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
