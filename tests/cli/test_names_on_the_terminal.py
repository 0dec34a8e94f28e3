"""No name of a file, column, key, option, state or group steers the terminal."""

import json
import os

import pandas as pd
import pytest

import evenhand as eh
from evenhand.cli import main

EVIL = "n\x1b[8m\x9b2J\x7f\r\x07\u202e\u2028e"
ROWS = ("--target", "y", "--prediction", "p", "--group", "g")
GATED = ("--criterion", "statistical_parity", "--measure", "mpd")


def csv(name, *columns):
    pd.DataFrame({column: [0, 1] * 20 for column in columns}).to_csv(name, index=False)
    return name


def text(name, content):
    with open(name, "w", encoding="utf-8") as file:
        file.write(content)
    return name


def state(name, *more):
    csv("day.csv", "p", "g")
    asked = ("--criterion", "statistical_parity", "--prediction", "p", "--group", "g")
    return ["watch", "init", "--state", name, *asked, *more]


COMMANDS = {
    "a file that is not there": lambda: ["audit", f"{EVIL}.csv", *ROWS],
    "a file of an unknown kind": lambda: ["audit", text(f"{EVIL}.txt", "x"), *ROWS],
    "an empty file": lambda: ["audit", text(f"{EVIL}.csv", ""), *ROWS],
    "a folder": lambda: [os.mkdir(EVIL) or "audit", EVIL, *ROWS],
    "a header": lambda: ["audit", csv("a.csv", EVIL, "y", "p"), *ROWS],
    "a column twice": lambda: ["audit", text("a.csv", f"{EVIL},{EVIL}\n1,2\n".replace("\r", ""))],
    "a column asked for": lambda: ["audit", csv("a.csv", "y", "p"), *ROWS, "--score", EVIL],
    "a damaged compressed file": lambda: ["audit", text(f"{EVIL}.csv.gz", "no gzip"), *ROWS],
    "no Parquet": lambda: ["audit", text(f"{EVIL}.parquet", "no"), *ROWS],
    "no Arrow": lambda: ["audit", text(f"{EVIL}.arrow", "no"), *ROWS],
    "a JSON key": lambda: [
        "audit",
        text("a.jsonl", json.dumps({"y": {EVIL: 1}, "p": 1, "g": "a"}) + "\n"),
        *ROWS,
    ],
    "a JSON field": lambda: [
        "audit",
        text("a.jsonl", json.dumps({"y": {EVIL: 1}, "p": 1, "g": "a"}) + "\n"),
        *("--target", "y.no", "--prediction", "p", "--group", "g"),
    ],
    "broken JSON": lambda: ["audit", text(f"{EVIL}.jsonl", '{"y": \x1b[8m'), *ROWS],
    "a TOML key": lambda: [
        "audit",
        csv("a.csv", "y", "p", "g"),
        *("--config", text("o.toml", '"n\\u001b[8m\\u202e" = 1')),
    ],
    "a TOML file": lambda: ["audit", csv("a.csv", "y"), "--config", text(f"{EVIL}.toml", "x =")],
    "options read": lambda: [
        "audit",
        csv("a.csv", "y", "p", "g"),
        *("--config", text(f"{EVIL}.toml", 'target = "y"')),
        *(*ROWS, *GATED),
    ],
    "a value in TOML": lambda: [
        "audit",
        csv("a.csv", "y", "p", "g"),
        *("--config", text("o.toml", 'task = "n\\u001b[8m"'), *ROWS),
    ],
    "an option": lambda: ["audit", f"--{EVIL}"],
    "a command": lambda: [EVIL],
    "a choice": lambda: ["audit", csv("a.csv", "y"), "--task", EVIL],
    "a gate": lambda: ["audit", csv("a.csv", "y", "p", "g"), *ROWS, "--fail-if", f"{EVIL} > 1"],
    "a criterion": lambda: ["audit", csv("a.csv", "y", "p", "g"), *ROWS, "--criterion", EVIL],
    "an output": lambda: [
        *("audit", csv("a.csv", "y", "p", "g"), *ROWS, *GATED),
        *("--json", f"{EVIL}/out.json"),
    ],
    "groups, title and table": lambda: [
        "audit",
        text("a.csv", f"y,p,g\n1,1,{EVIL}\n0,0,b\n".replace("\r", "")),
        *(*ROWS, *GATED, "--title", EVIL, "--full"),
    ],
    "counters": lambda: ["audit", text(f"{EVIL}.prom", 'x{a="\x1b[8m"} 1\n'), *ROWS, "--rows", "n"],
    "no counters": lambda: ["audit", text(f"{EVIL}.prom", "\x1b[8m\n"), *ROWS, "--rows", "n"],
    "a comparison": lambda: [
        *("compare", csv(f"{EVIL}.csv", "y"), "--target", "y", "--group", "g"),
        *("--prediction", EVIL),
    ],
    "a frontier": lambda: [
        *("frontier", csv(f"{EVIL}.csv", "y"), "--target", "y", "--group", "g", "--score", EVIL),
    ],
    "a query": lambda: ["sql", EVIL, "--prediction", "p", "--group", "g"],
    "a new state": lambda: state(f"{EVIL}.json"),
    "a state's baseline": lambda: state("s.json", "--baseline", f"{EVIL}.csv"),
    "a state in no folder": lambda: state(f"{EVIL}/s.json"),
    "no state": lambda: ["watch", "status", "--state", f"{EVIL}.json"],
    "a state that is none": lambda: ["watch", "status", "--state", text(f"{EVIL}.json", "{}")],
    "a schema": lambda: [
        *("watch", "status", "--state"),
        text("s.json", json.dumps({"schema": EVIL})),
    ],
    "a part": lambda: [
        *("watch", "append", csv(f"{EVIL}.csv", "p"), "--state", "s.json"),
        *("--part", EVIL, "--date", EVIL),
    ],
    "a rename": lambda: ["watch", "rename", EVIL, "--state", "s.json"],
    "a data set": lambda: ["datasets", "fetch", EVIL],
    "a design": lambda: ["bench", "run", text(f"{EVIL}.toml", "x =")],
    "no design": lambda: ["bench", "run", f"{EVIL}.toml"],
    "a key of a design": lambda: ["bench", "run", text("d.toml", '"n\\u001b[8m" = 1')],
}


@pytest.mark.slow
@pytest.mark.parametrize("what", COMMANDS)
def test_what_a_command_prints_steers_no_terminal(what, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    arguments = COMMANDS[what]()
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    printed = "".join(capsys.readouterr())
    assert stop.value.code in (0, 1, 2, 3, 4), printed
    assert printed
    assert all(c == "\n" or c.isprintable() for c in printed), repr(printed)


@pytest.mark.parametrize(
    "act",
    [
        lambda: eh.Watch.load(f"{EVIL}.json"),
        lambda: eh.evaluate(EVIL, [1], [1], sensitive_features=["a"]),
        lambda: eh.audit([1, 0], [1, 0], sensitive_features=["a", "b"]).to_json(f"{EVIL}/a.json"),
    ],
    ids=["state", "criterion", "output"],
)
def test_an_error_that_names_a_file_steers_no_terminal(act):
    with pytest.raises(eh.EvenhandError) as raised:
        act()
    assert all(c == "\n" or c.isprintable() for c in str(raised.value))
