"""Sequences of days of a watch: twenty of them in a case."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from journeys.days import Days

SEQUENCES = 20
SETTINGS = settings(
    max_examples=SEQUENCES,
    stateful_step_count=8,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def attack(case: int) -> None:
    """What the state says after every step is what all rows say, or the step was refused."""

    class Case(Days):
        """The same machine, with the seed of this case."""

    run_state_machine_as_test(seed(case)(Case), settings=SETTINGS)
