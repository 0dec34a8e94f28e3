"""What is printed: readable at 80 columns, colored on a terminal only."""

import json

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
    result = run(long, *asked, "--stratum", "h", quick=())
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= width
    head = next(line for line in lines if line.startswith("criterion"))
    for word in ("measure", "value", "95% interval", "p", "verdict"):
        assert word in head
    rates = people.groupby("g").p.mean()
    assert f"{rates.max() - rates.min():.3f}" in result.stdout
    for name in names:
        assert all(part in result.stdout for part in name.replace("_", "_ ").split())


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
        assert "\x1b[31mdiffers" in console.export_text(styles=True)


@pytest.mark.slow
def test_what_was_left_out_and_noted_is_told(run, people):
    odd = people.assign(p=people.p.where(people.g == "a", 0))
    result = run(odd, "--criterion", "predictive_parity")
    assert "Left out" in result.stdout
    assert "predictive_parity is undefined for b (at 1)" in result.stdout


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
