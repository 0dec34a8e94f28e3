"""The commands of a watch: init, append, status, report."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from evenhand import Watch
from evenhand.cli.watch import watch

COLUMNS = ("--prediction", "decision", "--target", "truth", "--group", "sex")
ASKED = ("--criterion", "statistical_parity", "--favorable", "yes", "--measure", "mpd")


def rows(rate, number=300, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], number)
    decision = np.where(rng.random(number) < np.where(sex == "F", rate, 0.5), "yes", "no")
    truth = rng.choice(["yes", "no"], number)
    return pd.DataFrame({"sex": sex, "decision": decision, "truth": truth})


def call(*arguments):
    return CliRunner().invoke(watch, [str(each) for each in arguments], catch_exceptions=False)


@pytest.fixture
def state(folder):
    made = call(
        "init", "--state", "w.json", *ASKED, *COLUMNS, "--fail-if", "statistical_parity > 0.1"
    )
    assert made.exit_code == 0
    return folder / "w.json"


def append(name, *more):
    return call("append", name, "--state", "w.json", *more)


@pytest.mark.slow
def test_days_are_appended_until_a_bound_is_violated(state):
    statuses = []
    for day in range(1, 9):
        name = f"decisions-2026-03-{day:02}.csv"
        rows(0.28, seed=day).to_csv(name, index=False)
        statuses.append(append(name).exit_code)
    assert statuses[0] == 3
    assert statuses[-1] == 1
    assert statuses == sorted(statuses, reverse=True)
    shown = call("status", "--state", "w.json")
    assert shown.exit_code == 1
    assert "8 parts, 2,400 rows, 2026-03-01 to 2026-03-08" in " ".join(shown.output.split())
    assert "significantly since 2026-03-0" in shown.output
    assert "violated" in shown.output


def test_a_file_is_counted_once(state):
    rows(0.2).to_parquet("day.parquet")
    append("day.parquet")
    before = state.read_text()
    again = append("day.parquet")
    assert "day.parquet was counted before; nothing has changed." in again.output
    assert state.read_text() == before
    rows(0.3).to_parquet("day.parquet")
    changed = append("day.parquet")
    assert changed.exit_code == 2
    assert "was counted before with other numbers" in changed.output


@pytest.mark.slow
def test_a_part_can_be_corrected_by_the_file_it_was_made_of(state):
    rows(0.2).to_csv("old.csv", index=False)
    rows(0.4).to_csv("new.csv", index=False)
    append("old.csv", "--part", "1", "--date", "2026-03-01")
    append("new.csv", "--part", "1", "--correct", "old.csv")
    corrected = json.loads(state.read_text())["counts"]
    state.unlink()
    call("init", "--state", "w.json", *ASKED, *COLUMNS, "--fail-if", "statistical_parity > 0.1")
    append("new.csv", "--part", "1", "--date", "2026-03-01")
    assert json.loads(state.read_text())["counts"] == corrected


def test_counts_are_read_as_rows_are(state):
    people = rows(0.2)
    people.to_csv("rows.csv", index=False)
    counted = people.value_counts(["sex", "decision", "truth"]).rename("n").reset_index()
    counted.to_csv("counts.csv", index=False)
    append("rows.csv", "--part", "1", "--date", "2026-03-01")
    found = json.loads(state.read_text())["counts"]
    state.unlink()
    call("init", "--state", "w.json", *ASKED, *COLUMNS, "--fail-if", "statistical_parity > 0.1")
    append("counts.csv", "--rows", "n", "--part", "1", "--date", "2026-03-01")
    assert json.loads(state.read_text())["counts"] == found


@pytest.mark.slow
def test_a_report_is_a_page_a_message_metrics_and_json(state, folder):
    for day in range(1, 4):
        rows(0.2, seed=day).to_csv(f"2026-03-0{day}.csv", index=False)
        append(f"2026-03-0{day}.csv")
    outputs = ("--html", "w.html", "--markdown", "w.md", "--metrics", "w.prom", "--json", "w.out")
    assert call("report", "--state", "w.json", *outputs).exit_code == 0
    page = (folder / "w.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Statistical parity" in page
    assert "bound: 0.1" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "| Statistical parity | differs | 2026-0" in (folder / "w.md").read_text()
    metrics = (folder / "w.prom").read_text()
    assert metrics.endswith("# EOF\n")
    assert 'evenhand_watch_value{criterion="statistical_parity",measure="mpd"}' in metrics
    assert json.loads((folder / "w.out").read_text())["schema"] == "evenhand.watch-report/1"
    assert call("report", "--state", "w.json").exit_code == 2


def test_a_baseline_is_compared_with(folder):
    rows(0.5, 3000).to_csv("release.csv", index=False)
    call("init", "--state", "w.json", *ASKED, *COLUMNS, "--baseline", "release.csv")
    rows(0.2, 2000, seed=1).to_csv("2026-03-01.csv", index=False)
    found = append("2026-03-01.csv")
    assert found.exit_code == 0
    assert "has changed since the baseline: F from" in found.output


def test_a_state_is_not_made_twice_nor_missing(state):
    again = call("init", "--state", "w.json", *ASKED, *COLUMNS)
    assert again.exit_code == 2
    assert "w.json exists" in again.output
    missing = call("status", "--state", "none.json")
    assert missing.exit_code == 2
    assert "There is no state none.json" in missing.output


def test_columns_that_were_not_named_are_asked_for(folder):
    rows(0.2).to_csv("day.csv", index=False)
    call("init", "--state", "w.json", *ASKED)
    assert "--group" in append("day.csv").output
    assert "--prediction" in append("day.csv", "--group", "sex").output


def test_people_with_several_decisions_are_counted_once(folder):
    table = rows(0.2, number=600).assign(person=lambda frame: frame.index // 3)
    table.to_csv("people-2026-03-01.csv", index=False)
    made = call(
        "init", "--state", "p.json", "--criterion", "statistical_parity", "--prediction",
        "decision", "--group", "sex", "--favorable", "yes", "--cluster", "person",
    )  # fmt: skip
    assert made.exit_code == 0
    assert call("append", "people-2026-03-01.csv", "--state", "p.json").exit_code == 0
    watched = Watch.load("p.json")
    assert sum(rate.rows for rate in watched.status().findings[0].rates) < 600
    both = call("append", "people-2026-03-01.csv", "--state", "p.json", "--rows", "person")
    assert both.exit_code == 2


@pytest.mark.slow
def test_decisions_may_come_without_the_truth_that_init_named(folder):
    state = folder / "watch.json"
    rows(0.5).drop(columns="truth").to_csv(folder / "decisions-2026-03-01.csv", index=False)
    rows(0.5).to_csv(folder / "labels-2026-03-01.csv", index=False)
    asked = (*ASKED, "--criterion", "equal_opportunity", "--fail-if", "equal_opportunity > 0.9")
    assert call("init", "--state", state, *asked, *COLUMNS).exit_code == 0
    decided = call("append", folder / "decisions-2026-03-01.csv", "--state", state)
    assert decided.exit_code == 3
    assert "no column 'truth'" in decided.output
    assert "nothing was counted" in " ".join(decided.output.split())
    late = call("append", folder / "labels-2026-03-01.csv", "--state", state, "--late")
    assert late.exit_code == 0
    named = call(
        "append", folder / "decisions-2026-03-01.csv", "--state", state, "--part", "x",
        "--target", "truth",
    )  # fmt: skip
    assert named.exit_code == 2


def test_groups_are_renamed_on_the_command_line(folder):
    state = folder / "watch.json"
    rows(0.5).to_csv(folder / "2026-03-01.csv", index=False)
    rows(0.5).replace({"sex": {"F": "Female"}}).to_csv(folder / "2026-03-02.csv", index=False)
    call("init", "--state", state, *ASKED, *COLUMNS)
    for day in ("2026-03-01", "2026-03-02"):
        call("append", folder / f"{day}.csv", "--state", state)
    assert set(Watch.load(state).groups) == {"F", "M", "Female"}
    assert call("rename", "F=Female", "--state", state).exit_code == 0
    assert set(Watch.load(state).groups) == {"M", "Female"}
    assert call("rename", "Q=Female", "--state", state).exit_code == 2
    assert call("rename", "Female", "--state", state).exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--html", "--markdown", "--metrics", "--json"])
@pytest.mark.parametrize("name", ["w.json", "./w.json", "link.json", "hard.json", ".w.json.lock"])
def test_a_report_is_never_written_over_the_state(state, option, name):
    rows(0.2).to_csv("day.csv", index=False)
    append("day.csv")
    (state.parent / "link.json").symlink_to(state)
    (state.parent / "hard.json").hardlink_to(state)
    before = state.read_bytes()
    refused = call("report", "--state", "w.json", option, name)
    assert refused.exit_code == 2
    assert "would overwrite" in refused.output
    assert state.read_bytes() == before


def test_two_reports_are_not_written_to_one_file(state):
    refused = call("report", "--state", "w.json", "--html", "r.txt", "--markdown", "./r.txt")
    assert refused.exit_code == 2
    assert "the output of --html" in refused.output


def test_a_state_is_appended_to_through_a_link(state):
    rows(0.2).to_csv("day.csv", index=False)
    (state.parent / "link.json").symlink_to("w.json")
    call("append", "day.csv", "--state", "link.json")
    assert (state.parent / "link.json").is_symlink()
    assert Watch.load(state).status().rows == 300
