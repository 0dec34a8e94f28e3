"""The page on the command line says what the command does."""

import re
import tomllib
from pathlib import Path

import pytest

from evenhand._audit.gate import gate_of
from evenhand._data.binned import MOST_BINS
from evenhand._files.files import KINDS
from evenhand.cli.audit import audit
from evenhand.cli.failures import STATUSES
from evenhand.cli.options import defaults
from evenhand.cli.program import main

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "command-line.md").read_text()


def test_every_option_it_names_exists():
    known = {option for one in audit.params for option in one.opts}
    assert set(re.findall(r"(--[a-z][a-z-]+)", PAGE)) <= known


def test_its_statuses_are_those_of_the_command():
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert {int(status): meaning for status, meaning in rows} == STATUSES


def test_its_file_of_options_can_be_used():
    text = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    section = tomllib.loads(text)["tool"]["evenhand"]["audit"]
    found = defaults(section, audit, Path("pyproject.toml"))
    assert [gate_of(gate).bound for gate in found["fail_if"]] == [0.05, 0.1]


def test_its_gates_and_files_exist():
    for gate in re.findall(r"\w+(?:\(\w+\))?\.(?:pq|mpd|gini) > [\d.]+\d", PAGE):
        gate_of(gate)
    suffixes = {suffix for endings in KINDS.values() for suffix in endings}
    assert set(re.findall(r"`(\.[a-z]+)`", PAGE)) - {".gz"} <= suffixes
    assert f"{MOST_BINS:,} bins" in PAGE


@pytest.mark.parametrize("command", [(), ("bench",), ("datasets",), ("watch",)], ids=" ".join)
def test_no_list_of_commands_is_cut_short(capsys, command):
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--help"])
    listed = capsys.readouterr().out.split("Commands:")[1].split("\n\n")[0]
    assert "..." not in listed
