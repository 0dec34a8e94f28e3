"""What is printed: readable at 80 columns, colored on a terminal only."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console

from evenhand import CRITERIA, MEASURES
from evenhand.cli import main
from evenhand.cli.registries import criteria, measures
from evenhand.cli.summary import show


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_the_table_keeps_to_the_width_and_every_number_whole(run, people, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    long = people.assign(g=people.g.map({"a": "A very long name " * 4, "b": "ab" * 60}))
    names = ("statistical_parity", "false_omission_rate_parity", "conditional_statistical_parity")
    asked = [text for name in names for text in ("--criterion", name)]
    result = run(long, *asked, "--stratum", "h", "--full", quick=())
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert max(len(line) for line in lines if "eh." not in line) <= width  # code is not broken
    head = next(line for line in lines if line.startswith("Criterion") and "Value" in line)
    for word in ("Measure", "Value", "95% interval", "p", "Verdict"):
        assert word in head
    rates = people.groupby("g").p.mean()
    assert f"{rates.max() - rates.min():.3f}" in result.stdout
    for name in names:
        assert name.replace("_", " ").capitalize() in " ".join(result.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("groups", [2, 60])
def test_the_summary_takes_at_most_45_lines_of_eighty_columns(run, people, monkeypatch, groups):
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(0)
    names = [f"Region {i} of the country × kind-of-place-{i % 7}" for i in range(groups)]
    many = pd.concat([people] * 8).assign(g=rng.choice(names, 8 * len(people)))
    result = run(many, "--score", "s", "--json", "out.json", quick=())
    lines = result.stdout.splitlines()
    assert result.exit_code == 0, result.stderr
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    summary = json.loads(Path("out.json").read_text())["summary"]
    told = " ".join(result.stdout.split())
    assert summary["sentence"] in told
    assert summary["about"] in told
    for word in (
        "base",
        "selected",
        "TPR",
        "FPR",
        "prec.",
        "acc.",
        "Everyone",
        "Largest difference, pts",
    ):
        assert word in told
    assert "Statistical parity" in told
    assert "--full" in told


@pytest.mark.slow
def test_names_of_groups_are_whole_words(run, people, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = people.assign(g=people.g.map({"a": "Married with an absent spouse", "b": "Other"}))
    words = run(long).stdout.split()
    assert {"Married", "absent", "spouse"} <= set(words)


@pytest.mark.slow
def test_quietly_only_the_gates_are_printed(run, people):
    assert run(people, "--quiet").stdout == ""
    loud = run(people, "--fail-if", "statistical_parity.mpd > 0.01")
    quiet = run(people, "--fail-if", "statistical_parity.mpd > 0.01", "--quiet")
    assert quiet.exit_code == loud.exit_code == 1
    assert quiet.stdout.startswith("Gates")
    assert loud.stdout.endswith(quiet.stdout)
    assert len(quiet.stdout.splitlines()) == 2


def test_quiet_and_full_exclude_each_other(run, people):
    result = run(people, "--quiet", "--full")
    assert result.exit_code == 2
    assert "--full or --quiet" in result.stderr


@pytest.mark.slow
def test_numbers_that_name_groups_carry_their_column(run, people):
    codes = people.assign(g=(people.g == "a").astype(int))
    told = run(codes).stdout
    assert "g=0" in told
    assert "g=1" in told


@pytest.mark.slow
def test_nothing_is_colored_where_nobody_looks_on(run, people):
    result = run(people, "--fail-if", "statistical_parity.mpd > 0.01")
    assert "\x1b" not in result.stdout + result.stderr


@pytest.mark.slow
def test_verdicts_are_colored_on_a_terminal(run, people, folder):
    run(people, "--json", "out.json")
    console = Console(force_terminal=True, width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        show(json.loads((folder / "out.json").read_text()), (), console)
        text = console.export_text(styles=True)
        assert "\x1b[31mThe groups differ" in text
        show(json.loads((folder / "out.json").read_text()), (), console, full=True)
        assert "\x1b[31mStatistical parity" in console.export_text(styles=True)


@pytest.mark.slow
def test_what_was_left_out_and_noted_is_told(run, people):
    odd = people.assign(p=people.p.where(people.g == "a", 0))
    result = run(odd, "--criterion", "predictive_parity", "--full")
    assert "Left out" in result.stdout
    assert "Predictive parity is undefined for b (at 1)" in result.stdout


@pytest.mark.parametrize(("command", "registry"), [(criteria, CRITERIA), (measures, MEASURES)])
def test_a_registry_is_listed_with_formula_and_what_it_is_not(command, registry):
    table = CliRunner().invoke(command, [])
    assert table.exit_code == 0
    found = json.loads(CliRunner().invoke(command, ["--json"]).stdout)
    assert [one["name"] for one in found] == list(registry)
    for one in found:
        assert one["name"] in table.stdout
        assert one["formula"]
        assert one["is_not"].endswith(".")


@pytest.mark.parametrize("command", ["audit", "demo", "measures", "criteria"])
def test_help_has_an_example(capsys, command):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"evenhand {command}" in capsys.readouterr().out.split("Example")[1]


def test_help_of_the_audit_tells_every_status(capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    told = capsys.readouterr().out.split("Exit status:")[1]
    assert [line.split()[0] for line in told.splitlines() if line.strip()] == [
        "0",
        "1",
        "2",
        "3",
        "4",
        "130",
    ]
