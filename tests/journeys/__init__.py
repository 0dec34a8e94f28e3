"""Journeys: everyday data, through every door and every output, beside a brute force.

A journey is a number: the same one makes the same rows, doors and outputs, so that a failure is
told in one line. `python -m fuzz journeys --seed 1234 --cases 1` walks journey 1234 again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import evenhand as eh
from journeys import doors, outputs, said
from journeys.generator import Journey, journey_of


def walk(number: int) -> None:
    """One journey: an audit, what is said of it, and the same question at other doors."""
    journey = journey_of(number)
    with named(journey), only_our_warnings():
        audit = doors.audited(journey)
        if audit is not None:
            said.agrees(journey, audit)
            for output in journey.pick(outputs.OUTPUTS, 2):
                output(journey, audit)
        for door in journey.pick(doors.DOORS, 2):
            door(journey, audit)


@contextmanager
def named(journey: Journey) -> Iterator[None]:
    """Say in any failure which journey it was."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, KeyboardInterrupt):
            error.add_note(f"journey {journey.number}: {journey}")
        raise


@contextmanager
def only_our_warnings() -> Iterator[None]:
    """A warning that is not ours is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", eh.UndefinedWarning)
        yield
