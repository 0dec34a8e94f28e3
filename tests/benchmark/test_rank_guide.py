"""The commands of the guide run as they are written there, from the ranking of methods on."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand.cli.benchmark import bench

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "benchmark.md"


@pytest.mark.slow
def test_the_commands_of_the_guide_run(tmp_path, monkeypatch):
    text = GUIDE.read_text("utf-8").partition("\n## Rank methods\n")[2]
    first, submission = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (script,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    commands = re.findall(r"^\$ evenhand bench (.*)$", text, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(first, "utf-8")
    outputs = []
    for command in commands:
        done = CliRunner().invoke(bench, shlex.split(command))
        assert done.exit_code == 0, (command, done.output)
        outputs.append(done.output)
        if command.startswith("splits"):
            exec(script, {})
            (tmp_path / "mine" / "submission.toml").write_text(submission, "utf-8")
    board = (tmp_path / "small" / "leaderboard.html").read_text("utf-8")
    assert '<th scope="row">MyMethod</th>' in board
    assert "A. Author" in board
    assert "removes most of the gap" in outputs[1]
    assert "equalized odds by Gini" in outputs[2]
    names = {path.name for path in (tmp_path / "small").iterdir()}
    assert {"figures", "tables", "report", "leaderboard.html"} <= names
    assert all(
        path.stat().st_size > 2000 for path in (tmp_path / "small" / "figures").glob("*.png")
    )
    page = (tmp_path / "small" / "report" / "report.html").read_text("utf-8")
    assert "[methods.LinearPost]" in page  # the design


def test_a_folder_that_is_not_there_says_what_to_run_first(tmp_path):
    (tmp_path / "mine.toml").write_text("seeds = 1\n[problems.simulated]\n[methods.Reweight]\n")
    done = CliRunner().invoke(bench, ["rank", str(tmp_path / "mine.toml")])
    assert done.exit_code == 2
    assert "evenhand bench run" in done.output
