"""Change: beside a baseline, in the last window, and since a day that nobody knows."""

from datetime import date

import numpy as np
import pytest

import evenhand as eh


def part(rng, rates, rows=200):
    decided = np.concatenate([rng.random(rows) < rate for rate in rates]).astype(int)
    groups = np.repeat([f"g{i}" for i in range(len(rates))], rows)
    return eh.tally(None, decided, sensitive_features=groups)


def fed(rates_by_day, *, baseline=None, seed=0, **options):
    rng = np.random.default_rng(seed)
    watched = eh.Watch(
        "statistical_parity", favorable=1, measures="mpd", baseline=baseline, **options
    )
    for day, rates in enumerate(rates_by_day):
        watched.update(part(rng, rates), part=str(day), at=date.fromordinal(739_000 + day))
    return {change.against: change for change in watched.status().changes}


def test_a_group_that_fell_behind_is_named_with_both_gaps():
    baseline = part(np.random.default_rng(5), (0.4, 0.4, 0.4), rows=5000)
    changes = fed([(0.4, 0.4, 0.25)] * 20, baseline=baseline)
    found = changes["baseline"]
    assert found.changed
    assert found.groups[0] == "g2"
    assert "g2 from 0." in found.sentence
    assert "percentage points below the others" in found.sentence


@pytest.mark.slow
def test_nothing_is_said_to_change_where_nothing_does():
    baseline = part(np.random.default_rng(5), (0.4, 0.3), rows=5000)
    changes = fed([(0.4, 0.4)] * 40)
    assert not any(change.changed for change in changes.values())
    changes = fed([(0.4, 0.3)] * 40, baseline=baseline)
    assert not changes["baseline"].changed
    assert not changes["window"].changed
    assert "no sign that gaps between groups have changed" in changes["any time"].sentence


@pytest.mark.slow
def test_a_rate_that_changes_for_everybody_is_no_change_of_gaps():
    baseline = part(np.random.default_rng(5), (0.2, 0.2), rows=5000)
    changes = fed([(0.2, 0.2)] * 30 + [(0.5, 0.5)] * 30, baseline=baseline)
    assert len(changes) == 3
    assert not any(change.changed for change in changes.values())


@pytest.mark.slow
def test_groups_that_come_apart_are_dated():
    changes = fed([(0.4, 0.4, 0.4)] * 60 + [(0.4, 0.4, 0.25)] * 30)
    found = changes["any time"]
    assert found.changed
    assert found.groups[0] == "g2"
    day = date.fromisoformat(found.since).toordinal() - 739_000
    assert 50 <= day <= 66


@pytest.mark.slow
def test_a_bound_is_not_kept_by_rows_from_before_a_change():
    rng = np.random.default_rng(0)
    watched = eh.Watch(
        "statistical_parity", favorable=1, measures="mpd", fail_if={"statistical_parity.mpd": 0.1}
    )
    for day in range(120):
        rates = (0.4, 0.4) if day < 100 else (0.4, 0.2)
        watched.update(part(rng, rates), part=str(day), at=date.fromordinal(739_000 + day))
        if day == 99:
            assert watched.status().judgements[0].outcome == "pass"
    status = watched.status()
    assert status.findings[0].intervals["mpd"].high < 0.1
    assert status.judgements[0].outcome == "inconclusive"
    assert "are not about now" in status.judgements[0].sentence


@pytest.mark.slow
def test_the_last_window_is_beside_what_was_before():
    changes = fed([(0.4, 0.4)] * 40 + [(0.4, 0.2)] * 20, window=20)
    found = changes["window"]
    assert found.changed
    assert {*found.groups} == {"g0", "g1"}  # the gap of two groups is that of both
    assert found.sentence.count("the others") == 2
    assert "the last 20 days" in found.sentence
