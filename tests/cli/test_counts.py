"""Tables of counts on the command line: the verdicts and gates are those of the rows."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from evenhand.cli.audit import audit
from evenhand.cli.compare import compare


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


@pytest.mark.parametrize("bound", [0.01, 0.9])
def test_an_audit_of_counts_prints_and_judges_as_that_of_the_rows(folder, counts, bound):
    rows, lines = counts
    gate = ("--criterion", "statistical_parity", "--fail-if", f"statistical_parity > {bound}")
    expected, document = written(audit, rows, *AUDIT, *gate)
    found, same = written(audit, lines, *AUDIT, "--rows", "n", *gate)
    assert found.exit_code == expected.exit_code == int(bound < 0.5)
    assert found.output == expected.output
    assert same == document


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
    assert "violated" in result.output
    assert "F had 62% of the selection rate of M" in result.output


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
