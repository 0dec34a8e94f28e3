"""A state is written whole, by one writer at a time, and killing the writer loses nothing."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap

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
