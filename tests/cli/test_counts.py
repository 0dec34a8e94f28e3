"""Tables of counts on the command line: the verdicts and gates are those of the rows."""

import json

import duckdb
import pandas as pd
import pytest
from click.testing import CliRunner

from evenhand.cli.audit import audit
from evenhand.cli.compare import compare
from program import EVENHAND


@pytest.fixture
def counts(people):
    named = people.assign(q=people.p.where(people.s > 0.2, 0), age=(people.s * 50).round())
    keys = ["y", "p", "q", "g", "h", "age"]
    return named, named.groupby(keys).size().rename("n").reset_index()


def written(command, rows, *arguments):
    rows.to_csv("rows.csv", index=False)
    result = CliRunner().invoke(command, ["rows.csv", *arguments, "--json", "out.json"])
    with open("out.json") as file:
        return result, json.load(file)


AUDIT = ("--target", "y", "--prediction", "p", "--group", "g", "--group", "h")


@pytest.mark.slow
@pytest.mark.parametrize("bound", [0.01, 0.9])
def test_an_audit_of_counts_prints_and_judges_as_that_of_the_rows(folder, counts, bound):
    rows, lines = counts
    gate = ("--criterion", "statistical_parity", "--fail-if", f"statistical_parity > {bound}")
    expected, document = written(audit, rows, *AUDIT, *gate)
    found, same = written(audit, lines, *AUDIT, "--rows", "n", *gate)
    assert found.exit_code == expected.exit_code == int(bound < 0.5)
    assert found.output == expected.output
    assert same == document


@pytest.mark.slow
def test_a_comparison_on_counts_is_that_on_the_rows(folder, counts):
    rows, lines = counts
    options = ("--target", "y", "--prediction", "p", "--prediction", "q", "--group", "g")
    options += ("--group", "age", "--bins", "age=3")
    expected, document = written(compare, rows, *options)
    found, same = written(compare, lines, *options, "--rows", "n")
    assert found.exit_code == expected.exit_code == 0
    assert same == document


def test_rates_with_sizes_are_audited(run):
    table = pd.DataFrame(
        {"sex": ["F", "M"], "share": [0.312, 0.5], "applicants": [1203, 600], "extra": [1, 2]}
    )
    columns = ("--rows", "applicants", "--rate", "share", "--group", "sex")
    result = run(table, "--fail-if", "selection_rate_ratio < 0.8", columns=columns, quick=())
    assert result.exit_code == 1
    assert "FAILED" in result.output
    assert "F were selected 62% as often as M" in result.output


def test_a_count_that_is_none_is_refused_in_one_line(run):
    table = pd.DataFrame({"g": ["a", "b"], "p": [0, 1], "n": [3.0, 0.5]})
    result = run(table, columns=("--prediction", "p", "--group", "g", "--rows", "n"))
    assert result.exit_code == 2
    assert "'n' has the count 0.5, which is not whole" in result.output


def test_a_rate_without_sizes_is_refused(run):
    table = pd.DataFrame({"g": ["a", "b"], "p": [0.5, 1]})
    result = run(table, columns=("--rate", "p", "--group", "g"))
    assert result.exit_code == 2
    assert "--rate needs --rows" in result.output


METRICS = """\
# HELP decisions_total Decisions, by group and what came of them.
# TYPE decisions_total counter
decisions_total{group="a",decision="1",outcome="0",pod="x"} 123 1395066363000
decisions_total{group="a",decision="0",outcome="1",pod="x"} 1.77e+02
decisions_total{group="a",decision="1",outcome="1",pod="y",} 400 # {trace_id="KOO5S4vxi0o"} 0.67
decisions_total{ group = "b \\"q\\" \\\\ \\n" , decision="0",outcome="0",pod="y"} 250
decisions_total{group="b \\"q\\" \\\\ \\n",decision="1",outcome="1",pod="y"} 50

up 1
http_requests_total{code="200"} 7
"""
COUNTERS = ("--target", "outcome", "--prediction", "decision", "--group", "group")
COUNTERS += ("--rows", "decisions_total")


def test_labeled_counters_are_read_as_counts(run, folder):
    (folder / "metrics.prom").write_text(METRICS)
    result = run("metrics.prom", "--json", "out.json", columns=COUNTERS)
    assert result.exit_code == 0, result.output
    document = json.loads((folder / "out.json").read_text())
    assert document["rows"] == 1000
    assert [group["label"] for group in document["groups"]] == ["a", 'b "q" \\ \n']
    assert document["favorable"] == "1"


def test_parts_of_a_service_add_up(run, folder):
    for part in ("one", "two"):
        (folder / f"{part}.prom").write_text(METRICS)
    run("*.prom", "--json", "out.json", columns=COUNTERS)
    assert json.loads((folder / "out.json").read_text())["rows"] == 2000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (METRICS + "decisions_total{group=a} 3\n", "line 11 is 'decisions_total{group=a} 3'"),
        (METRICS + 'decisions_total{group="a"}\n', "line 11"),
        (METRICS + 'x{a="1",a="2"} 3\n', "a label twice in line 11"),
        (METRICS + "decisions_total3\n", "line 11"),
        ("up 1\n", "has the metrics ['up']"),
        (METRICS.replace(" 123 ", " NaN "), "missing or not finite"),
        (METRICS.replace(" 123 ", " 12.5 "), "12.5, which is not whole"),
        (METRICS.replace('decision="1",', "", 1), "'decision' has 123 missing labels"),
    ],
)
def test_what_is_no_dump_of_counters_is_refused(run, folder, text, message):
    (folder / "metrics.prom").write_text(text)
    result = run("metrics.prom", columns=COUNTERS)
    assert result.exit_code == 2
    assert message in result.output.replace("--prediction", "y_pred")


@pytest.mark.slow
def test_a_query_its_csv_and_a_gate_follow_one_another(folder, people):
    """As docs/how-to/counts.md has it, with DuckDB in place of a server."""
    query = CliRunner().invoke(
        EVENHAND, ["sql", "decisions", "--target", "y", "--prediction", "p", "--group", "g"]
    )
    database = duckdb.connect()
    database.register("decisions", people)
    database.sql(query.output.rstrip(";\n")).write_csv("counts.csv", header=True)
    options = ["--target", "y", "--prediction", "p", "--group", "g", "--rows", "n"]
    gate = ["--fail-if", "statistical_parity.mpd > 0.1"]
    found = CliRunner().invoke(EVENHAND, ["audit", "counts.csv", *options, *gate, "--quiet"])
    people.to_csv("rows.csv", index=False)
    same = CliRunner().invoke(EVENHAND, ["audit", "rows.csv", *options[:-2], *gate, "--quiet"])
    assert found.exit_code == same.exit_code == 1
    assert found.output == same.output


def test_sums_of_values_are_audited_from_a_file(folder, people):
    lines = people.assign(n=1, sum_prediction=people.s, sum_prediction_squared=people.s**2)
    sums = lines.groupby("g")[["n", "sum_prediction", "sum_prediction_squared"]].sum()
    sums.reset_index().to_csv("sums.csv", index=False)
    options = ["--rows", "n", "--task", "regression", "--group", "g", "--json", "out.json"]
    result = CliRunner().invoke(audit, ["sums.csv", *options])
    assert result.exit_code == 0, result.output
    document = json.loads((folder / "out.json").read_text())
    assert [criterion["name"] for criterion in document["criteria"]] == ["weak_parity"]
    assert document["rows"] == len(people)
