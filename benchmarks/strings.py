"""Statistical parity and equalized odds of a million people in 50 groups, all of it strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from peers import PEERS, Run
from people import KINDS, People, draw
from timing import Timed, readable, take_turns

from evenhand import CRITERIA, tally
from report import Bar, Line

BARS = {"fairlearn": Bar("≥", 100), "aequitas": Bar("≥", 2)}
ALL_STRINGS, SAME_LABELS = "evenhand", "evenhand, 0/1 labels"


def lines(scale: float) -> Iterator[Line]:
    """Every kind of string against the peers with a bar; the first kind against all of them."""
    people = draw(int(1_000_000 * scale))
    for number, kind in enumerate(KINDS):
        yield from _against(people, kind, list(PEERS) if number == 0 else list(BARS))


def _against(people: People, kind: str, names: Sequence[str]) -> Iterator[Line]:
    truth, predicted, group = people.written(kind)
    contestants = {
        ALL_STRINGS: _evenhand(truth, predicted, group),
        SAME_LABELS: _evenhand(people.truth, people.predicted, group),
    }
    for name in names:
        try:
            contestants[name] = PEERS[name](people.truth, people.predicted, group)
        except ImportError as error:
            yield Line(kind, name, f"skipped: {error}")
    timed = take_turns(contestants)
    for one in timed.values():
        np.testing.assert_allclose(one.result, timed[ALL_STRINGS].result, rtol=0, atol=1e-12)
    yield from _compared(kind, timed)


def _evenhand(truth: Any, predicted: Any, group: Any) -> Run:
    def run() -> tuple[float, float]:
        counts = tally(truth, predicted, sensitive_features=group)
        names = ("statistical_parity", "equalized_odds")
        return tuple(CRITERIA[name](counts, measure="mpd") for name in names)

    return run


def _compared(kind: str, timed: dict[str, Timed]) -> Iterator[Line]:
    ours, alike = timed.pop(ALL_STRINGS).seconds, timed.pop(SAME_LABELS).seconds
    yield Line(kind, ALL_STRINGS, readable(ours))
    yield Line(kind, SAME_LABELS, readable(alike))
    for name, peer in timed.items():
        took, bar = readable(peer.seconds), BARS.get(name)
        yield Line(kind, name, took, peer.seconds / ours, bar)
        if bar:
            yield Line(kind, f"{name}, against 0/1 labels", took, peer.seconds / alike, bar)
