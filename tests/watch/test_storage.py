"""A state is written whole, by one writer at a time, and killing the writer loses nothing."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress

import numpy as np
import pytest

import evenhand as eh
from evenhand.watch.storage import locked


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


def test_a_state_of_before_there_were_checksums_is_read(tmp_path):
    path = tmp_path / "w.json"
    state = json.loads(stored(path))
    del state["checksum"]
    path.write_text(json.dumps(state, indent=1))
    assert eh.Watch.load(path).status().rows == 40


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("confidence", -1), ("confidence", None), ("method", "none"), ("window", 0)),
        *(("quiet_days", float("nan")), ("remember", "x"), ("favorable", [])),
    ],
)
def test_settings_of_a_file_are_checked_as_a_callers_are(tmp_path, name, value):
    path = tmp_path / "w.json"
    state = json.loads(stored(path))
    del state["checksum"]
    path.write_text(json.dumps(state | {name: value}))
    with pytest.raises(eh.EvenhandError):
        eh.Watch.load(path)
