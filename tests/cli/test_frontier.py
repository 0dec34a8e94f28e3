"""`evenhand frontier`: sentences, curve, rule and files from a file of scores."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.mitigation.optimal import DecisionRule
from frontier.people import people
from frontier.test_rising import misleading
from program import EVENHAND

ASKED = ["--target", "y", "--score", "p", "--group", "who"]


@pytest.fixture
def file(tmp_path):
    y, score, group = people(rows=500, groups=2)
    path = tmp_path / "scored.csv"
    pd.DataFrame({"y": y, "p": score, "who": group}).to_csv(path, index=False)
    return path


def run(*arguments):
    return CliRunner().invoke(EVENHAND, ["frontier", *map(str, arguments)])


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_it_prints_the_sentences_the_curve_and_the_rule(file):
    done = run(file, *ASKED, "--rule", "0.05", "--points", "4")
    assert done.exit_code == 0, done.output
    rows = pd.read_csv(file)
    curve = eh.frontier(rows["y"], rows["p"], sensitive_features=rows[["who"]], values=4)
    said = " ".join(done.output.split())
    for sentence in (*curve.sentences, *curve.rule(0.05).explain().splitlines()):
        assert sentence in said


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_it_writes_the_curve_the_rule_and_the_picture(file, tmp_path):
    paths = [tmp_path / name for name in ("curve.csv", "rule.json", "curve.png")]
    options = [f for pair in zip(("--csv", "--json", "--png"), paths, strict=True) for f in pair]
    done = run(
        file, *ASKED, "--quiet", "--rule", "0.1", "--held-out", "0.5", "--points", "4", *options
    )
    assert done.exit_code == 0, done.output
    assert done.output == ""
    table = pd.read_csv(paths[0])
    assert {"value", "cost", "gap", "test_value"} <= set(table)
    rule = DecisionRule.from_json(paths[1].read_text())
    assert rule.pools == 2
    assert "rules" in json.loads(paths[1].read_text())
    assert paths[2].read_bytes()[:4] == b"\x89PNG"


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_scores_are_recalibrated_on_request(file):
    done = run(file, *ASKED, "--recalibrate", "--points", "3")
    assert done.exit_code == 0, done.output
    assert "The scores were recalibrated" in " ".join(done.output.split())


@pytest.mark.long
def test_rules_are_rising_unless_the_optimum_of_all_is_asked_for(tmp_path):
    y, score, group = misleading(rows=400, small=150)
    path, rule = tmp_path / "scored.csv", tmp_path / "rule.json"
    pd.DataFrame({"y": y, "p": score, "who": group}).to_csv(path, index=False)
    asked = [path, *ASKED, "--points", "2", "--rule", "0.02", "--json", rule, "--quiet"]
    for options, rising in (([], True), (["--no-rising"], False)):
        done = run(*asked, *options)
        assert done.exit_code == 0, done.output
        assert DecisionRule.from_json(rule.read_text()).rising == rising


def test_what_is_wrong_is_said_in_one_line(file):
    for wrong in (["--criterion", "parity"], ["--measure", "mean"], ["--json", "rule.json"]):
        done = run(file, *ASKED, *wrong)
        assert done.exit_code == 2
        assert "Traceback" not in done.output


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_a_capacity_counts_rows_or_is_a_share(file):
    rows = pd.read_csv(file)
    options = {"sensitive_features": rows[["who"]], "capacity": 0.1, "values": 2}
    curve = eh.frontier(rows["y"], rows["p"], **options)
    for capacity in ("50", "0.1"):
        done = run(file, *ASKED, "--capacity", capacity, "--points", "2")
        assert done.exit_code == 0, done.output
        assert f"{curve.points[0].cost:.4f}" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("capacity", ["inf", "-inf", "-1", "1e308"])
def test_a_capacity_that_nobody_can_meet_is_refused(file, capacity):
    refused = run(file, *ASKED, "--points", "2", "--capacity", capacity)
    assert refused.exit_code == 2
    assert "cannot be selected" in refused.output


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_a_picture_that_cannot_be_written_is_status_4(file, tmp_path):
    failed = run(file, *ASKED, "--points", "2", "--png", tmp_path / "nowhere" / "curve.png")
    assert failed.exit_code == 4
    assert "was not written" in failed.output
