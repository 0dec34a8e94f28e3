"""What the gates decide: the exit status, the table, and the files."""

import json
from xml.etree import ElementTree as ET

import pytest

from evenhand.measures import MEASURES

pytestmark = pytest.mark.slow

VIOLATED, PASSED, UNDECIDED = (f"statistical_parity.mpd > {b}" for b in ("0.01", "0.99", "0.31"))
STATUS = {
    (VIOLATED,): 1,
    (PASSED,): 0,
    (UNDECIDED,): 3,
    (PASSED, UNDECIDED): 3,
    (UNDECIDED, VIOLATED, PASSED): 1,
}


@pytest.mark.parametrize("gates", STATUS, ids=" and ".join)
def test_a_violation_goes_before_an_inconclusive_gate_and_that_before_a_pass(run, people, gates):
    result = run(people, *(text for gate in gates for text in ("--fail-if", gate)))
    assert result.exit_code == STATUS[gates], result.output


def test_the_interval_of_the_finding_decides(run, people, folder):
    run(people, "--json", "out.json")
    one = json.loads((folder / "out.json").read_text())["findings"][0]
    for bound, status in ((one["low"] * 0.99, 1), (one["value"], 3), (one["high"] * 1.01, 0)):
        result = run(people, "--fail-if", f"statistical_parity.mpd > {bound}")
        assert result.exit_code == status


def test_outputs_are_written_even_when_a_gate_is_violated(run, people, folder):
    outputs = {name: folder / f"out.{name}" for name in ("html", "json", "markdown", "junit")}
    asked = [text for name, path in outputs.items() for text in (f"--{name}", str(path))]
    result = run(people, "--fail-if", "statistical_parity.mpd > 0.01", *asked)
    assert result.exit_code == 1
    assert outputs["html"].read_text().lstrip().lower().startswith("<!doctype html>")
    assert json.loads(outputs["json"].read_text())["schema"] == "evenhand.audit/4"
    assert outputs["markdown"].read_text().startswith("# ")
    assert ET.parse(outputs["junit"]).getroot().tag == "testsuites"
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["rows.parquet", *(path.name for path in outputs.values())]
    )


def test_a_gate_adds_its_criterion_and_measure_to_what_is_asked(run, people, folder):
    result = run(people, "--fail-if", "accuracy_parity.gini > 0.45", "--json", "out.json")
    assert result.exit_code == 0
    found = json.loads((folder / "out.json").read_text())["findings"]
    assert {(one["criterion"], one["measure"]) for one in found} == {
        (criterion, measure)
        for criterion in ("statistical_parity", "accuracy_parity")
        for measure in ("mpd", "gini")
    }


def test_a_gate_outside_the_usual_criteria_keeps_those(run, people, folder):
    gate = ("--fail-if", "performance_parity(f1).mpd > 0.9")
    run(people, *gate, "--measure", "mpd", "--json", "out.json", quick=())
    found = {one["criterion"] for one in json.loads((folder / "out.json").read_text())["findings"]}
    assert {"performance_parity(f1)", "statistical_parity", "equalized_odds"} <= found


def test_the_gates_are_told_at_the_end_of_the_table(run, people):
    result = run(people, "--fail-if", "statistical_parity.mpd > 0.01")
    told = " ".join(result.stdout.split("Gates")[1].split())
    assert told.startswith("statistical_parity.mpd > 0.01: FAILED: the interval 0.")


def test_junit_says_failure_for_violated_and_error_for_inconclusive(run, people, folder):
    bounds = {"0.01": "failure", "0.31": "error", "0.99": None}
    gates = [text for b in bounds for text in ("--fail-if", f"statistical_parity.mpd > {b}")]
    run(people, *gates, "--junit", "out.xml", "--title", "a < b & c \x00 \x1b")
    root = ET.parse(folder / "out.xml").getroot()
    suite = root.find("testsuite")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    assert suite.get("name").startswith("a < b & c")
    for case, outcome in zip(suite.findall("testcase"), bounds.values(), strict=True):
        assert case.get("classname") == "evenhand.statistical_parity"
        assert [child.tag for child in case] == ([outcome] if outcome else [])
        assert all(child.get("message") and child.text for child in case)


def test_junit_without_gates_is_an_empty_suite(run, people, folder):
    run(people, "--junit", "out.xml")
    assert ET.parse(folder / "out.xml").getroot().find("testsuite").get("tests") == "0"


def test_the_word_of_a_gate_stands_beside_the_verdict_in_every_form(run, people, folder):
    gates = [f"statistical_parity.{gate}" for gate in ("mpd > 0.99", "gini > 0.01", "pq > 0.06")]
    asked = [text for gate in gates for text in ("--fail-if", gate)]
    files = ("--markdown", "out.md", "--html", "out.html", "--json", "out.json")
    table = run(people, *asked, *files, "--full").stdout
    words = {"mpd": "within tolerance", "gini": "exceeds", "pq": "inconclusive"}
    for measure, word in words.items():
        title = {"mpd": "Largest"}.get(measure, MEASURES[measure].title)
        lines = table.split("All values by measure")[1].splitlines()
        line = next(line for line in lines if f" {title} " in line)
        assert "differs" in line
        assert word in line
        row = next(
            line
            for line in (folder / "out.md").read_text().split("All values")[1].splitlines()
            if f"| {MEASURES[measure].title} |" in line
        )
        assert row.count("differs") == row.count(word) == 1
    page = (folder / "out.html").read_text().split('id="values"')[1]
    rows = [part.split("</tbody>")[0] for part in page.split("<tr data-measure=")[1:4]]
    assert all(row.count(" differs<td") == 1 for row in rows)
    assert [word in row for row, word in zip(rows, words.values(), strict=True)] == [True] * 3
    for one in json.loads((folder / "out.json").read_text())["findings"]:
        assert (one["verdict"], one["judged"]) == ("differs", words[one["measure"]])


def test_margin_control_and_bins_are_options_and_keys(run, people, folder):
    (folder / "c.toml").write_text('margin = 0.4\ncontrol = "false_discovery"\nbins = "w=3"\n')
    columns = ("--target", "y", "--prediction", "p", "--group", "w")
    options = ("--margin", "0.4", "--control", "false_discovery", "--bins", "w=3")
    for given in (options, ("--config", "c.toml")):
        result = run(people, *given, "--json", "out.json", columns=columns)
        assert result.exit_code == 0, result.output
        document = json.loads((folder / "out.json").read_text())
        assert [one["margin"] for one in document["findings"]] == [0.4]
        assert document["scan"]["control"] == "false_discovery"
        assert [one["rows"] for one in document["groups"]] == [200, 200, 200]


@pytest.mark.parametrize("bins", ["w", "w=", "w=x", "=4", "w=1", "w=2.5"])
def test_bins_that_cannot_be_read_are_refused(run, people, bins):
    result = run(people, "--bins", bins)
    assert result.exit_code == 2
    assert "--bins takes COLUMN=BINS" in result.stderr


def test_amounts_as_groups_are_refused_with_the_option_that_cuts_them(run, people):
    columns = ("--target", "y", "--prediction", "p", "--group", "w")
    result = run(people, columns=columns)
    assert result.exit_code == 2
    assert "--bins w=4" in " ".join(result.stderr.split())
