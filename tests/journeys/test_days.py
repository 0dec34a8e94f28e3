"""A slice of the days of a watch, and every write of a state with its n-th system call failing."""

import errno
import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import evenhand as eh
from journeys.days import DONE, REFUSED, SURVIVED, Days, Part, failing, rows_of

QUICK = settings(
    max_examples=8,
    stateful_step_count=8,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
def test_after_any_days_a_watch_says_what_all_rows_say():
    run_state_machine_as_test(Days, settings=QUICK)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, which is POSIX's")
@pytest.mark.parametrize("how", ["kill", errno.ENOSPC, errno.EIO, "full"])
def test_every_write_with_its_nth_system_call_failing(tmp_path, how):
    path = tmp_path / "w.json"
    part = Part(rows_of(0, 30, ("a", "b"), True, 0.5), 739_000, late=False)
    watched = eh.Watch("statistical_parity", favorable=1)
    watched.update(part.counts(), part="1", at="2026-01-01")
    watched.save(path)
    old, outcomes = path.read_bytes(), set()
    for at in range(1, 200):
        path.write_bytes(old)
        status = failing(path, how, at, lambda watch: watch.update(part.counts(), part="2"))
        parts = eh.Watch.load(path).status().parts
        outcomes.add((status, parts))
        assert (status, parts) in {(DONE, 2), (SURVIVED, 2), (REFUSED, 1), (-9, 1), (-9, 2)}, at
        assert status == -9 or not [*tmp_path.glob(".*.unfinished")]
        for left in tmp_path.glob(".*.unfinished"):
            left.unlink()
        if status == DONE:
            break
    else:
        raise AssertionError("it never ends")
    assert outcomes & {(REFUSED, 1), (-9, 1)}
