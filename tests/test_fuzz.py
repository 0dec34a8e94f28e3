"""A slice of `make fuzz`: the same cases every time, and those that once failed."""

import json

import pytest

from fuzz.__main__ import main
from fuzz.targets import TARGETS

SLICES = {
    "counting": 20,
    "counts": 20,
    "commands": 20,
    "stores": 20,
    "downloads": 20,
    "exports": 2,
    "states": 20,
    "penalties": 20,
}
ONCE = {"counting": [196, 706, 801, 1068, 2912, 19470], "exports": [6, 17, 43]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "first"),
    [(name, first) for name, cases in SLICES.items() for first in range(0, cases, 20)],
)
def test_no_attack_succeeds(target, first):
    for seed in range(first, min(first + 20, SLICES[target])):
        TARGETS[target](seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "seed"), [(name, seed) for name, seeds in ONCE.items() for seed in seeds]
)
def test_what_failed_once_is_mended(target, seed):
    TARGETS[target](seed)


def test_every_target_has_a_slice():
    elsewhere = {"journeys", "days"}  # whose slices are tests of their own
    assert SLICES.keys() | elsewhere == TARGETS.keys()


@pytest.mark.parametrize(
    ("runs", "ran", "following"),
    [
        ([[]], [0, 1, 2], 3),
        ([[], []], [0, 1, 2, 3, 4, 5], 6),
        ([["--seed", "10"], []], [10, 11, 12, 13, 14, 15], 16),
        ([[], ["--seed", "1", "--cases", "1"], []], [0, 1, 2, 1, 3, 4, 5], 6),
    ],
)
def test_a_run_goes_on_where_the_last_one_ended(tmp_path, monkeypatch, runs, ran, following):
    seeds = []
    monkeypatch.setitem(TARGETS, "counting", seeds.append)
    for options in runs:
        assert main(["counting", "--folder", str(tmp_path), "--cases", "3", *options]) == 0
    assert seeds == ran
    assert json.loads((tmp_path / "counting.json").read_text()) == {"next": following}


def test_a_failure_is_kept_with_its_number(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(TARGETS, "counting", lambda seed: 1 // (seed - 11))
    assert main(["counting", "--folder", str(tmp_path), "--seed", "10", "--cases", "3"]) == 1
    assert "counting --seed 11 --cases 1: ZeroDivisionError" in capsys.readouterr().out
    failure = json.loads((tmp_path / "failures.jsonl").read_text())
    assert (failure["target"], failure["seed"]) == ("counting", 11)
