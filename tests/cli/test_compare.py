"""The command `evenhand compare`: columns in, a ranking, a page and JSON out."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli.compare import compare

ASK = ("--criterion", "statistical_parity", "--measure", "mpd")


@pytest.fixture
def call(folder, people):
    people["q"] = 1 - people["p"]
    people.to_csv(folder / "rows.csv", index=False)

    def run(*arguments, ask=ASK):
        return CliRunner().invoke(compare, ["rows.csv", "--group", "g", *ask, *arguments])

    return run


def test_the_files_answer_as_the_columns_do(call, people, folder):
    done = call(
        "--target", "y", "--prediction", "p", "--prediction", "other=q", "--json", "found.json"
    )
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    expected = eh.compare(
        people.y,
        {"p": people.p, "other": people.q},
        sensitive_features=people[["g"]],
        criteria="statistical_parity",
        measures="mpd",
    )
    assert done.exit_code == 0
    assert found["tables"] == json.loads(expected.to_json())["tables"]
    assert expected.summary in " ".join(done.stdout.split())
    assert str(expected).split("\n", 1)[1] in done.stdout


def test_the_page_is_written_without_a_word_where_nobody_wants_one(call, folder):
    done = call("--target", "y", "--prediction", "p", "--html", "page.html", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert (folder / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--prediction", "pp"), "There is no column 'pp'"),
        (("--prediction", "p", "--prediction", "p=q"), "Two models have the same name"),
        (("--prediction", "p", "--target", "nowhere"), "There is no column 'nowhere'"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_line_and_status_2(call, arguments, message):
    done = call(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unwritable_page_is_status_4(call):
    done = call("--prediction", "p", "--html", "nowhere/page.html")
    assert done.exit_code == 4
    assert "was not written" in done.stderr


def test_an_input_is_not_overwritten(call, folder):
    before = (folder / "rows.csv").read_bytes()
    done = call("--prediction", "p", "--html", "rows.csv")
    assert done.exit_code == 2
    assert "would overwrite" in done.stderr
    assert (folder / "rows.csv").read_bytes() == before


@pytest.mark.slow
def test_the_page_is_written_though_nobody_reads_the_table(call, folder):
    command = (
        f"{sys.executable} -m evenhand compare rows.csv --prediction p --group g --html p.html"
    )
    done = subprocess.run(
        f"{command} | head -c 0",
        shell=True,
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert (folder / "p.html").stat().st_size
