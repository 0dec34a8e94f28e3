"""Killed at any moment, a benchmark goes on where it was."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmark.endless import RUNS, long_design
from evenhand.benchmark import Store, run, status

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("endless.py")


def started(folder, at_least, workers=1):
    """The process, once it has left some results."""
    running = subprocess.Popen(
        [sys.executable, SCRIPT, folder, str(workers)],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    until = time.monotonic() + 120
    while len(list(folder.glob("runs/*/*.parquet"))) < at_least:
        assert running.poll() is None, running.returncode
        assert time.monotonic() < until
        time.sleep(0.01)
    return running


def test_a_killed_benchmark_loses_at_most_the_run_in_flight(tmp_path):
    running = started(tmp_path, 9)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    kept = {path: path.read_bytes() for path in tmp_path.glob("runs/*/*.parquet")}
    assert 9 <= len(kept) < RUNS
    for path in kept:  # every file is whole
        assert pq.read_table(path).num_rows == 80
    state = run(long_design(), tmp_path, n_jobs=1)
    assert (state.done, state.missing) == (RUNS, 0)
    assert all(path.read_bytes() == content for path, content in kept.items())


@pytest.mark.parametrize(
    "kill",
    [
        pytest.param(os.kill, id="parent alone"),
        pytest.param(os.killpg, id="all at once", marks=pytest.mark.long),
    ],
)
@pytest.mark.long
def test_so_does_one_whose_workers_go_on_or_die_with_it(tmp_path, kill):
    running = started(tmp_path, 10, workers=2)
    kill(running.pid, signal.SIGKILL)
    running.communicate()
    kept = {path: path.read_bytes() for path in tmp_path.glob("runs/*/*.parquet")}
    assert len(kept) >= 10
    state = run(long_design(seeds=2), tmp_path, n_jobs=1)  # beside workers that may still write
    assert (state.done, state.missing) == (2 * RUNS, 0)
    assert len(Store(tmp_path).entries()) == 2 * RUNS
    for path in tmp_path.glob("runs/*/*.parquet"):
        assert pq.read_table(path).num_rows == 80


@pytest.mark.long
def test_ctrl_c_keeps_what_was_done(tmp_path):
    running = started(tmp_path, 1)
    running.send_signal(signal.SIGINT)
    running.communicate()
    assert running.returncode != 0
    done = status(long_design(), tmp_path).done
    assert 1 <= done < RUNS
    assert len(Store(tmp_path).entries()) == done
