"""A slice of the days of a watch, and every write of a state with its n-th system call failing."""

import errno
import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from journeys.days import Days, fail_every_write

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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, which is POSIX's")
@pytest.mark.parametrize(
    ("how", "lasting"),
    [
        ("kill", False),
        (errno.EIO, False),
        (errno.EIO, True),
        ("full", False),
        pytest.param(errno.ENOSPC, False, marks=pytest.mark.long),
    ],
)
def test_every_write_with_its_nth_system_call_failing(tmp_path, how, lasting):
    fail_every_write(tmp_path, how, lasting)
