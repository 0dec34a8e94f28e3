"""What could turn an answer around is asked, and the numbers are those of the printed command."""

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from evenhand.app.desk import Desk, StoppedError
from evenhand.app.questions import Interview
from evenhand.app.screens import reopened
from evenhand.cli.audit import audit
from lanes import one_in

DECIDED = {
    "lines": ["people"],
    "target": ["outcome"],
    "prediction": ["decision"],
    "favorable": ["1"],
    "group": ["sex"],
}
SCORED = {
    "lines": ["people"],
    "target": ["outcome"],
    "prediction": ["none"],
    "score": ["score"],
    "favorable": ["1"],
    "score_of": ["1"],
    "threshold": ["0.5"],
    "group": ["sex", "race"],
}
AMOUNTS = {
    "lines": ["people"],
    "target": ["income"],
    "prediction": ["predicted"],
    "group": ["sex"],
}
CLASSES = {
    "lines": ["repeated"],
    "cluster": ["person"],
    "target": ["grade"],
    "prediction": ["given"],
    "favorable": ["none"],
    "group": ["sex", "age"],
    "bins": ["3"],
}
MISSING = {**DECIDED, "group": ["region"], "missing": ["group"]}
WALKS = {
    "decided": DECIDED,
    "scored": SCORED,
    "amounts": AMOUNTS,
    "classes": CLASSES,
    "missing": MISSING,
}
NAMES = ("target", "prediction", "score", "group", "cluster", "rows")


def form(opened, answers):
    """The answers as a form sends them: positions in place of names."""
    at = {column.name: str(column.at) for column in opened.columns}
    sent = {
        key: [at.get(value, value) for value in values]
        for key, values in answers.items()
        if key in (*NAMES, "lines")
    }
    judged = [*sent.get("target", ()), *sent.get("prediction", ())]
    judged, score = [one for one in judged if one != "none"], sent.get("score", [])
    about = {"favorable": judged, "task": judged, "score_of": judged + score, "threshold": score}
    about |= {"bins": [at.get("age")], "missing": [at.get("region")]}
    sent |= {key + "-".join(about[key]): answers[key] for key in answers.keys() & about.keys()}
    return sent


def opened(desk, frame, tmp_path, name="loans.csv"):
    path = tmp_path / name
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    return desk.files[desk.open(path, name)]


@pytest.fixture
def work(desk, loans, tmp_path):
    return opened(desk, loans, tmp_path)


@pytest.mark.parametrize("walk", WALKS)
def test_whatever_is_not_answered_is_missing_and_nothing_is_audited(work, walk):
    whole = form(work.table, WALKS[walk])
    assert Interview(work.table, whole).missing == []
    optional = {"score"} if walk in ("decided", "missing") else set()
    for left_out in whole.keys() - optional:
        part = {key: value for key, value in whole.items() if key != left_out}
        interview = Interview(work.table, part)
        assert interview.choices is None, left_out
        assert interview.missing


def test_no_direction_is_reached_that_nobody_confirmed(work):
    """Every mixture of answers that can be audited names the good outcome and the score's label."""
    whole = form(work.table, SCORED)
    for many in range(len(whole) + 1):
        for keys in itertools.combinations(whole, many):
            choices = Interview(work.table, {key: whole[key] for key in keys}).choices
            if choices is not None:
                assert {"favorable", "score_of", "threshold"} <= choices.reading.keys()
                assert "lines" in keys


@pytest.mark.parametrize("walk", WALKS)
def test_no_direction_goes_over_to_another_column(desk, loans, tmp_path, walk):
    """A form's answers stay while a column is changed, of which another outcome may be good."""
    renamed = {name: f"other {name}" for name in ("outcome", "decision", "score", "grade", "given")}
    work = opened(
        desk, pd.concat([loans, loans[[*renamed]].rename(columns=renamed)], axis=1), tmp_path
    )
    whole = form(work.table, WALKS[walk])
    at = {column.name: str(column.at) for column in work.table.columns}
    for key in ("target", "prediction", "score"):
        for name in renamed.keys() & {*WALKS[walk].get(key, ())}:
            interview = Interview(work.table, {**whole, key: [at[renamed[name]]]})
            assert interview.choices is None, key
            assert any("good" in one or "points" in one for one in interview.missing)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({**DECIDED, "prediction": ["predicted"]}, "'predicted' as the score"),
        ({**AMOUNTS, "score": ["score"]}, "for amounts choose no score"),
    ],
)
def test_a_score_that_has_another_part_is_told_apart(work, answers, said):
    """Fractions beside two outcomes are a score, and amounts have none."""
    interview = Interview(work.table, form(work.table, answers))
    assert interview.choices is None
    assert any(said in one for one in interview.missing)


def test_the_direction_of_a_score_comes_with_its_evidence(work, loans):
    repaid, lost = (loans.score[loans.outcome == label] for label in ("repaid", "default"))
    higher = np.subtract.outer(repaid.to_numpy(), lost.to_numpy())
    share = ((higher > 0) + 0.5 * (higher == 0)).mean()
    asked = direction(work, SCORED)
    assert f"go with “repaid” in {share:.0%} of pairs" in asked.why
    assert asked.caution == ""
    asked = direction(work, {**SCORED, "score_of": ["0"]})
    assert "Keep your answer only if" in asked.caution
    decided = {**SCORED, "target": ["none"], "prediction": ["decision"]}
    asked = direction(work, decided)
    assert "“repaid” in 100% of pairs of people with different decisions" in asked.why


def direction(work, answers):
    asked = Interview(work.table, form(work.table, answers)).questions
    return next(one for one in asked if one.key.startswith("score_of"))


def test_scores_of_counted_lines_are_paired_as_often_as_they_count(desk, tmp_path):
    lines = {"y": ["a", "b", "b"], "s": [0.2, 0.1, 0.3], "n": [1, 3, 1], "g": [*"xyx"]}
    table = opened(desk, pd.DataFrame(lines), tmp_path).table
    (a, b) = table.directions("y", "s", ["a", "b"], "n")
    assert (a.share, b.share) == (0.75, 0.25)


@pytest.mark.parametrize("walk", one_in(2, WALKS))
def test_the_command_and_the_python_lines_give_the_same_numbers(work, walk, tmp_path, monkeypatch):
    choices = Interview(work.table, form(work.table, WALKS[walk])).choices
    ours = work.audit(choices)
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(choices.command("--json", "numbers.json"))[2:]
    done = CliRunner().invoke(audit, arguments)
    assert done.exit_code == 0, done.output
    numbers = json.loads(Path("numbers.json").read_text())
    assert {**numbers, "gates": None} == {**json.loads(ours.to_json()), "gates": None}
    names = {}
    exec(choices.python, names)
    theirs = names["report"]
    assert theirs.summary == ours.summary
    assert _findings(theirs) == _findings(ours)


@pytest.mark.parametrize("walk", WALKS)
def test_saved_choices_open_again_on_the_same_file_and_ask_anew_on_another(work, walk, tmp_path):
    whole = form(work.table, WALKS[walk])
    choices = Interview(work.table, whole).choices
    back = reopened(work, choices.toml.encode())
    again = Interview(work.table, back).choices
    assert (again.key, again.auditing) == (choices.key, choices.auditing)
    other = choices.toml.replace(work.table.fingerprint, "0" * 64)
    interview = Interview(work.table, reopened(work, other.encode()))
    assert interview.choices is None
    assert any("line of the file" in one for one in interview.missing)


def test_saved_choices_are_a_configuration_of_the_command(work, tmp_path, monkeypatch):
    choices = Interview(work.table, form(work.table, CLASSES)).choices
    monkeypatch.chdir(tmp_path)
    Path("choices.toml").write_text(choices.toml)
    done = CliRunner().invoke(audit, ["--config", "choices.toml", "--json", "numbers.json"])
    assert done.exit_code == 0, done.output
    document = json.loads(Path("numbers.json").read_text())
    assert document["provenance"]["data"] == work.audit(choices).evidence.fingerprint


def random_file(rng, tmp_path):
    """A file that nobody planned, and answers to its questions."""
    n = int(rng.integers(150, 400))
    labels = [["no", "yes"], [0, 1], ["x", "y", "z"], [True, False]][rng.integers(4)]
    truth = rng.choice(labels, n)
    decision = np.where(rng.random(n) < 0.7, truth, rng.choice(labels, n))
    frame = pd.DataFrame({"y": truth, "p": decision})
    odd = ["a b", "sex,race", 'quo"te', "-dash", "ä=1", "<b>"][rng.integers(6)]
    frame[odd] = rng.choice(["u", "v", "w"], n)
    frame["h"] = rng.choice(["1", "2"] if rng.random() < 0.5 else ["k", "l"], n)
    write, kind = [
        (partial(frame.to_csv, index=False), "csv"),
        (frame.to_parquet, "parquet"),
        (partial(frame.to_json, orient="records", lines=True), "jsonl"),
    ][rng.integers(3)]
    name = f"f{rng.integers(1000)}.{kind}"
    write(tmp_path / name)
    several = len(labels) > 2
    favorable = "none" if several and rng.random() < 0.5 else str(rng.integers(len(labels)))
    asked = {"lines": ["people"], "target": ["0"], "prediction": ["1"], "favorable0-1": [favorable]}
    asked |= {"group": ["2", "3"][: int(rng.integers(1, 3))], "confidence": ["0.9"]}
    return tmp_path / name, asked


@pytest.mark.parametrize(
    "seed",
    [
        0,
        *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4)),
        *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 50)),
    ],
)
def test_the_numbers_of_a_file_that_nobody_planned_are_those_of_the_command(
    desk, tmp_path, monkeypatch, seed
):
    path, asked = random_file(np.random.default_rng(seed), tmp_path)
    work = desk.files[desk.open(path, path.name)]
    choices = Interview(work.table, asked).choices
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(choices.command("--json", "numbers.json"))[2:]
    done = CliRunner().invoke(audit, arguments)
    assert done.exit_code == 0, done.output
    numbers = json.loads(Path("numbers.json").read_text())
    ours = _findings(work.audit(choices))
    assert numbers["findings"] == ours
    names = {}
    exec(choices.python, names)
    assert _findings(names["report"]) == ours


def _findings(report):
    return json.loads(report.to_json())["findings"]


@pytest.mark.parametrize(
    "step",
    [
        lambda _, told: told(1, 2),
        lambda work, _: work.database.sql("select count(*) from range(200000)").fetchall(),
    ],
    ids=["an audit", "many short queries"],
)
def test_a_newer_question_stops_an_older_one(work, step):
    begun = threading.Event()

    def older():
        with work.turn("Auditing") as told:
            while True:
                step(work, told)
                begun.set()

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(older)
        assert begun.wait(60)
        with work.turn("Auditing") as told:
            assert isinstance(asked.exception(60), StoppedError)
            told(1, 2)
            assert work.progress() == {"doing": "Auditing", "share": 0.5}


CRASH = """
import os, pathlib
from evenhand.app.desk import Desk
desk = Desk()
desk.place(".csv").write_text("y,p,g")
print(desk.folder, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")
def test_what_was_dropped_on_the_page_is_gone_after_a_crash():
    done = subprocess.run(
        [sys.executable, "-c", CRASH], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    folder, end = Path(done.stdout.strip()), time.monotonic() + 60
    while folder.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not folder.exists()


@pytest.mark.skipif(os.name != "posix", reason="a folder is held on POSIX systems")
def test_folders_that_nobody_uses_any_more_are_gone_at_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left, new, other = (
        tmp_path / name for name in ("evenhand-app-left", "evenhand-app-new", "other")
    )
    desk = Desk()
    used = desk.folder
    for folder in (left, new, other):
        folder.mkdir()
        (folder / "1.csv").write_text("y,p,g")
    for folder in (used, left, other):
        os.utime(folder, (0, 0))
    Desk().close()
    try:
        assert {*tmp_path.iterdir()} == {used, new, other}
    finally:
        desk.close()
