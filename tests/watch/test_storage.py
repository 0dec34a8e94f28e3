"""A state is written whole, by one writer at a time, and killing the writer loses nothing."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import tracemalloc
import zlib
from base64 import b64encode
from contextlib import suppress

import numpy as np
import pytest

import evenhand as eh
from evenhand.watch.packing import packed
from evenhand.watch.storage import _checksum, locked


def counts():
    return eh.tally(None, [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"])


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_append_that_is_killed_loses_nothing(tmp_path, when):
    state = tmp_path / "watch.json"
    watched = eh.Watch("statistical_parity", favorable=1)
    watched.update(counts(), part="1", at="2026-02-01")
    watched.save(state)
    program = f"""
        import os, signal
        import evenhand as eh
        counts = eh.tally(None, [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"])
        watched = eh.Watch.load({str(state)!r})
        watched.update(counts, part="2", at="2026-02-02")
        replace = os.replace
        def killed(*paths):
            {"replace(*paths)" if when == "after" else "pass"}
            os.kill(os.getpid(), signal.SIGKILL)
        os.replace = killed
        watched.save({str(state)!r})
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert found.returncode == -signal.SIGKILL
    again = eh.Watch.load(state)
    assert again.status().parts == (2 if when == "after" else 1)
    assert again.update(counts(), part="2", at="2026-02-02") == (when == "before")
    again.save(state)
    assert eh.Watch.load(state).status().rows == 8


def _hold(path, begun, ended):
    with locked(path):
        begun.set()
        ended.wait(30)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="locks of files are POSIX's")
def test_a_second_writer_waits_or_is_refused(tmp_path):
    context = multiprocessing.get_context("spawn")
    begun, ended = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(tmp_path / "watch.json", begun, ended))
    other.start()
    try:
        assert begun.wait(30)
        with (
            pytest.raises(eh.InputError, match="Another process has been writing"),
            locked(tmp_path / "watch.json", patience=0.1),
        ):
            pass
    finally:
        ended.set()
        other.join()
    with locked(tmp_path / "watch.json", patience=0.1):
        pass


def test_a_criterion_of_ones_own_is_watched_but_not_stored(tmp_path):
    from evenhand.criteria import Criterion
    from evenhand.statistics import P

    watched = eh.Watch(Criterion("parity_of_mine", P("yhat")), favorable=1)
    watched.update(counts())
    assert watched.status().findings[0].criterion == "parity_of_mine"
    with pytest.raises(eh.InputError, match="a criterion of your own"):
        watched.save(tmp_path / "watch.json")


def test_labels_that_cannot_be_stored_are_refused(tmp_path):
    from datetime import date

    watched = eh.Watch("statistical_parity", favorable=1)
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    watched.update(eh.tally(None, [1, 0], sensitive_features=days))
    with pytest.raises(eh.InputError, match="make it text or a number"):
        watched.save(tmp_path / "watch.json")
    assert not (tmp_path / "watch.json").exists()


def stored(path):
    watch = eh.Watch(["statistical_parity", "equal_opportunity"], favorable=1)
    y, p, g = [1, 0, 1, 0] * 10, [1, 1, 0, 0] * 10, ["a", "b"] * 20
    watch.update(eh.tally(y, p, sensitive_features=g), part="monday", at="2026-03-02")
    watch.save(path)
    return path.read_bytes()


@pytest.mark.slow
def test_no_flipped_bit_is_read_as_another_state(tmp_path):
    path = tmp_path / "w.json"
    whole = stored(path)
    rng = np.random.default_rng(0)
    for place, bit in zip(rng.integers(0, len(whole), 300), rng.integers(0, 8, 300), strict=True):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        with suppress(eh.InputError):  # where it hits the checksum's own name, nothing is lost
            eh.Watch.load(path).save(path)
            assert path.read_bytes() == whole


def rewritten(path, change):
    """The state with other contents and the checksum that goes with them, as an attacker has it."""
    state = json.loads(stored(path))
    del state["checksum"]
    change(state)
    path.write_text(json.dumps({**state, "checksum": _checksum(state)}))
    return path


def test_a_state_without_its_checksum_is_refused(tmp_path):
    path = tmp_path / "w.json"
    state = json.loads(stored(path))
    for checksum in ({}, {"checksum": None}, {"checksum": "0" * 32}):
        path.write_text(json.dumps({**state, **checksum} if checksum else _without(state)))
        with pytest.raises(eh.InputError, match=r"w\.json is damaged: it has (no|the) checksum"):
            eh.Watch.load(path)


def _without(state):
    return {name: value for name, value in state.items() if name != "checksum"}


def test_a_state_of_an_earlier_format_is_refused_in_words(tmp_path):
    path = rewritten(tmp_path / "w.json", lambda state: state.update(schema="evenhand.watch/1"))
    with pytest.raises(eh.InputError, match=r"this version reads 'evenhand\.watch/3'"):
        eh.Watch.load(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("confidence", -1), ("confidence", None), ("method", "none"), ("window", 0)),
        *(("quiet_days", float("nan")), ("remember", "x"), ("favorable", [])),
        *(("criteria", {"strong_parity": ["mpd"]}), ("bounds", ["error_parity.mpd > 0.1"])),
        *(("span", 0), ("span", -1), ("span", True), ("span", 10**30), ("days", [1, 10**9])),
        *(("days", [None, 738000]), ("closed", "x"), ("counted", -1), ("counted", 10**40)),
        *(("since", [["a", 0]]), ("firsts", {"x": ["yes", 10**9]}), ("peaks", {"x": "1"})),
        *(("parts", {"738000": "x"}), ("history", [[1]]), ("columns", {"group": 1})),
        *(("counts", {}), ("counts", {"predictions": 1}), ("renamed", [1]), ("limits", [])),
    ],
)
def test_contents_of_a_file_are_checked_as_a_callers_are(tmp_path, name, value):
    path = rewritten(tmp_path / "w.json", lambda state: state.update({name: value}))
    with suppress(eh.InputError):  # what is harmless may be read
        eh.Watch.load(path).status().document()


def table(labels, groups, rows, spans):
    axes = [["yhat", "categories", labels], ["group", "categories", groups]]
    return {"predictions": {"axes": axes, "sums": ["rows"], "spans": {at: [rows] for at in spans}}}


BOMB = "i" + b64encode(zlib.compress(bytes(1 << 28), 9)).decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "counts",
    [
        table(list(range(30_000)), list(range(30_000)), packed(np.zeros(4)), ["739677"]),
        table([0, 1], ["a", "b"], BOMB, ["739677"]),
        table([0, 1], ["a", "b"], packed(np.zeros(3)), ["739677"]),
        table([0, 0], ["a", "b"], packed(np.zeros(4)), ["739677"]),
        table([0, 1], ["a", "b"], packed(np.array([1, 1, -1, 1])), ["739677"]),
        table([0, 1], ["a", "b"], packed(np.full(4, 2.0**62)), ["739677"]),
        table([0, 1], ["a", "b"], packed(np.array([1, 1, np.nan, 1])), ["739677"]),
        table([0, 1], ["a", "b"], packed(np.ones(4)), [str(day) for day in range(20_000)]),
        table([], ["a", "b"], packed(np.ones(0)), ["739677"]),
        {
            "apart statistical_parity": table([0, 1], ["a"], packed(np.ones(2)), ["1"])[
                "predictions"
            ]
        },
    ],
    ids=["huge", "bomb", "short", "twice", "negative", "overflow", "nan", "spans", "empty", "odd"],
)
def test_a_small_hostile_state_takes_no_memory_and_crashes_nothing(tmp_path, counts):
    path = rewritten(tmp_path / "w.json", lambda state: state.update(counts=counts))
    assert path.stat().st_size < 2e6
    tracemalloc.start()
    try:
        with pytest.raises(eh.InputError, match=r"w\.json (is damaged|cannot be used)"):
            eh.Watch.load(path)
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()


def test_a_file_that_is_too_large_or_too_deep_is_no_state(tmp_path):
    path = tmp_path / "w.json"
    with path.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(eh.InputError, match="a state has 16,777,216 at most"):
        eh.Watch.load(path)
    path.write_text('{"schema":' + "[" * 100_000)
    with pytest.raises(eh.InputError, match="is not the state of a watch"):
        eh.Watch.load(path)
    path.write_text(
        '{"schema":"evenhand.watch/3","groups":' + '{"parts":[' * 2000 + "]}" * 2000 + "}"
    )
    with pytest.raises(eh.InputError):
        eh.Watch.load(path)


def test_more_labels_than_can_be_kept_are_refused_before_memory_is_taken():
    labels = np.arange(30_000)
    many = eh.tally(None, labels, sensitive_features=labels.astype(str))
    watched = eh.Watch("statistical_parity")
    tracemalloc.start()
    try:
        with pytest.raises(eh.InputError, match="900,000,000 numbers to keep"):
            watched.update(many)
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()
    assert watched.status().parts == 0


def test_labels_that_are_no_characters_are_read_back(tmp_path):
    watched = eh.Watch("statistical_parity", favorable=1)
    odd = eh.tally(None, [1, 0, 1, 0], sensitive_features=["a\udc80", "b"] * 2)
    watched.update(odd, part="\udc80", at="2026-02-01")
    watched.save(tmp_path / "w.json")
    again = eh.Watch.load(tmp_path / "w.json")
    assert set(again.groups) == {"a\udc80", "b"}
    assert not again.update(odd, part="\udc80", at="2026-02-01")
