"""Scores on the command line are cut where one says; a gate that could not fail never passes."""

import json
from functools import cache
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from lanes import one_in

GATES = (
    "statistical_parity.mpd",
    "statistical_parity.pq",
    "equal_opportunity.mpd",
    "selection_rate_ratio.shortfall",
    "equalized_odds.gini",
)
DECILE = ("--target", "y", "--score", "decile", "--group", "g")
ROWS = 3000


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    decile = rng.integers(1, 11, ROWS)
    return pd.DataFrame(
        {
            "y": (rng.random(ROWS) < decile / 12).astype(int),
            "decile": decile,
            "chance": decile / 11,
            "g": rng.choice(["a", "b"], ROWS),
        }
    )


def test_a_score_that_is_no_probability_passes_no_gate(run, scored):
    result = run(scored, "--fail-if", "statistical_parity.mpd > 0.01", columns=DECILE)
    assert result.exit_code == 2
    assert "'decile' runs from 1 to 10, so it is not a probability" in result.output
    assert "Pass --threshold, the lowest score that is selected, or --prediction" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("way", ["option", "file"])
def test_a_threshold_decides_and_is_said_everywhere(run, scored, folder, way):
    (folder / "options.toml").write_text("[audit]\nthreshold = 5\n")
    how = ("--threshold", "5") if way == "option" else ("--config", "options.toml")
    outputs = ("--json", "out.json", "--html", "out.html", "--markdown", "out.md")
    gate = ("--fail-if", "statistical_parity.mpd > 0.3")
    result = run(scored, *how, *outputs, *gate, columns=DECILE)
    assert result.exit_code == 0, result.output
    words = "Selected: score at least 5, the given threshold."
    assert words in " ".join(result.stdout.split())
    for name in ("out.json", "out.html", "out.md"):
        assert words in (folder / name).read_text()
    found = json.loads((folder / "out.json").read_text())
    assert found["decided_at"] == 5
    rates = scored.groupby("g").decile.agg(lambda values: (values >= 5).mean())
    assert found["findings"][0]["value"] == pytest.approx(abs(rates["a"] - rates["b"]))


def test_probabilities_are_cut_at_a_half_and_that_is_said(run, scored):
    columns = ("--target", "y", "--score", "chance", "--group", "g")
    result = run(scored, columns=columns)
    assert result.exit_code == 0
    assert "Selected: score at least 0.5, because no predictions" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--prediction", "y", "--threshold", "4"), "decides, --prediction or --threshold 4?"),
        (("--threshold", "nan"), "'nan' is not a number in plain digits"),
        (("--threshold", "five"), "'five' is not a number in plain digits"),
        (("--threshold", "4", "--criterion", "calibration_parity"), "calibration_parity cannot"),
    ],
)
def test_a_threshold_that_cannot_be_meant_is_an_error_in_one_line(run, scored, arguments, message):
    result = run(scored, *arguments, columns=DECILE, quick=())
    assert result.exit_code == 2
    assert message in result.output


def test_a_threshold_without_a_score_is_refused_before_the_file_is_opened(run):
    columns = ("--target", "y", "--group", "g", "--threshold", "1", "--prediction", "p")
    result = run("absent.csv", columns=columns)
    assert result.exit_code == 2
    assert "--threshold 1" in result.output


def rows_of(y, p, g, w=1.0):
    return pd.DataFrame({"y": y, "p": p, "g": g, "w": w})


@cache
def moot():
    """Rows by which no gate can be judged, by name."""
    rng = np.random.default_rng(1)
    group, flip = rng.choice(["a", "b", "c"], ROWS), rng.integers(0, 2, ROWS)
    truth, ones = rng.integers(0, 2, ROWS), np.ones(ROWS, dtype=int)
    big = 200_000
    return {
        "two rows with one prediction": rows_of([0, 1], [1, 1], ["a", "b"]),
        "two rows with two": rows_of([0, 1], [0, 1], ["a", "b"]),
        "all selected": rows_of(truth, ones, group),
        "none selected": rows_of(truth, 0 * ones, group),
        "very many selected": rows_of(
            rng.integers(0, 2, big), np.ones(big, dtype=int), rng.choice(["a", "b"], big)
        ),
        "one group": rows_of(truth, flip, "a"),
        "a group that weighs nothing": rows_of(truth, flip, group, np.where(group == "c", 0.0, 1)),
        "one text label": rows_of(np.where(truth, "yes", "no"), "yes", group),
        "no truth but one": rows_of(0 * ones, 0 * ones, group),
        "weight on one label only": rows_of(truth, flip, group, flip.astype(float)),
        "groups of one row": rows_of(truth, flip, [f"n{i}" for i in range(ROWS)]),
        "amounts as groups": rows_of(truth, flip, rng.normal(size=ROWS)),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("name", "gate"), one_in(3, moot(), GATES))
def test_a_gate_with_nothing_to_judge_never_passes(run, folder, name, gate):
    """By bounds so wide that only the refusal is left to stop it, but for want of rows."""
    rows = moot()[name]
    bound = 0.01 if name.startswith("two rows") else 0.45
    outputs = ("--junit", "out.xml", "--json", "out.json")
    arguments = ("--weight", "w", "--fail-if", f"{gate} > {bound}", *outputs)
    result = run(rows, *arguments, quick=("--criterion", "accuracy_parity"))
    assert result.exit_code in (2, 3), result.output
    if (folder / "out.json").exists():
        agreed(folder, result)


def agreed(folder, result):
    """The files, the table and the exit status say the same."""
    (gate,) = json.loads((folder / "out.json").read_text())["gates"]
    case = ET.parse(folder / "out.xml").getroot().find("testsuite/testcase")
    assert [(child.tag, child.text) for child in case] == [("error", gate["sentence"])]
    assert {"error": 2, "inconclusive": 3}[gate["outcome"]] == result.exit_code
    told = " ".join(result.stdout.split("Gates")[1].split())
    assert told == " ".join(gate["sentence"].split())
    judged = [
        finding["judged"]
        for finding in json.loads((folder / "out.json").read_text())["findings"]
        if finding["tolerance"] is not None
    ]
    assert judged == ["inconclusive"]


@pytest.mark.slow
@pytest.mark.parametrize("gate", ["equal_opportunity.mpd", "equalized_odds.gini"])
def test_a_group_without_positives_keeps_a_gate_on_them_from_passing(run, people, folder, gate):
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b", "c"], ROWS)
    truth = np.where(group == "c", 0, rng.integers(0, 2, ROWS))
    rows = rows_of(truth, rng.integers(0, 2, ROWS), group)
    outputs = ("--junit", "out.xml", "--json", "out.json")
    result = run(rows, "--fail-if", f"{gate} > 0.5", *outputs, quick=("--measure", "mpd"))
    assert result.exit_code == 3
    assert "there is no value of c" in result.stdout
    gates = json.loads((folder / "out.json").read_text())["gates"]
    assert [one["outcome"] for one in gates] == ["inconclusive"]
    assert run(rows, "--fail-if", "statistical_parity.mpd > 0.5").exit_code == 0


@pytest.mark.slow
def test_a_violation_stands_though_a_group_has_no_value(run):
    y = np.tile([0, 1, 0, 1, 0, 0], 500)
    group = np.tile(["a", "a", "b", "b", "c", "c"], 500)
    rows = rows_of(y, np.where(group == "a", y, 0), group)
    assert run(rows, "--fail-if", "equal_opportunity.mpd > 0.1").exit_code == 1


@pytest.mark.slow
def test_an_error_goes_before_an_inconclusive_gate_and_after_a_violation(run):
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], 200)
    truth = np.where(group == "a", 1, 0)
    rows = rows_of(truth, 1, group).assign(s=rng.random(400))
    error, wide = "statistical_parity.mpd > 0.9", "performance_parity(auroc).mpd > 0.1"
    violated = "accuracy_parity.mpd > 0.1"
    columns = ("--target", "y", "--prediction", "p", "--score", "s", "--group", "g")
    for gates, status in (((error, violated), 1), ((error, wide), 2), ((error,), 2)):
        options = [text for gate in gates for text in ("--fail-if", gate)]
        assert run(rows, *options, columns=columns).exit_code == status


@pytest.mark.slow
def test_the_gates_in_the_file_are_those_of_the_table(run, people, folder):
    gates = [f"statistical_parity.mpd > {bound}" for bound in ("0.01", "0.31", "0.99")]
    options = [text for gate in gates for text in ("--fail-if", gate)]
    run(people, *options, "--json", "out.json")
    found = json.loads((folder / "out.json").read_text())["gates"]
    assert [one["gate"] for one in found] == gates
    assert [one["outcome"] for one in found] == ["violation", "inconclusive", "pass"]
    assert all(one["low"] <= one["high"] for one in found)


def test_a_bound_that_no_value_can_exceed_is_refused(run, people):
    result = run(people, "--fail-if", "statistical_parity.mpd > 5")
    assert result.exit_code == 2
    assert "could never fail: statistical_parity.mpd is at most 1" in result.output
