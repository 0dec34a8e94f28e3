"""Rows that go together: a cluster is one observation, whatever happens within it."""

from itertools import product

import numpy as np
import pytest

import evenhand as eh
from evenhand.measures import MEASURES as KNOWN
from evenhand.watch.clusters import (
    BETS,
    STAKES,
    UNIT,
    bets_of,
    contrasts_of,
    log_bets,
    means_of,
    pairs_of,
    rates_of_means,
    shaped,
)
from evenhand.watch.rates import Rates
from lanes import one_in
from watch.states import state_of

mpd, pq = (KNOWN[name] for name in ("mpd", "pq"))


def watch(criteria="statistical_parity", **options):
    return eh.Watch(criteria, **{"favorable": 1, "measures": "mpd", **options})


def part(rng, rates=(0.3, 0.3), people=15, spans=False):
    """People with one to six decisions that are much alike; of one group each, or of both."""
    person = np.repeat(np.arange(people), rng.integers(1, 7, people))
    place = rng.beta(0.3 * 4, 0.7 * 4, people)[person]
    group = rng.integers(0, len(rates), len(person)) if spans else person % len(rates)
    times = np.asarray(rates)[group] / 0.3
    decided = (rng.random(len(person)) < np.clip(place * times, 0, 1)).astype(int)
    return decided, np.array([*"abcdefghij"])[group], person


def counted(decided, group, person):
    return eh.tally(None, decided, sensitive_features=group, cluster=person)


def rates_by_pair(pairs):
    hits = pairs.counts.table("yhat", "group", of="rows")
    return Rates(hits[1:], hits.sum(axis=0)[None], (1,), pairs.counts.groups, np.zeros(1, np.intp))


def test_sums_of_clusters_are_those_of_their_shares():
    decided = [1, 1, 0, 1, 0, 0, 1]
    pairs = pairs_of(counted(decided, [*"aaabbab"], [1, 1, 1, 2, 2, 3, 3]))
    sums = shaped(means_of(rates_by_pair(pairs), pairs))
    assert sums["rows"].tolist() == [[4, 3]]
    assert sums["clusters"].tolist() == [[2, 2]]
    assert sums["shared"].tolist() == [[1 + 2, 1 + 2]]
    assert sums["total"][0] / UNIT == pytest.approx([2 / 3, 1.5], abs=1e-4)
    assert sums["squares"][0] / UNIT == pytest.approx([4 / 9, 1.25], abs=1e-4)


@pytest.mark.parametrize("group", [0, 1, 2])
def test_every_cluster_is_in_one_block_and_alike_ones_have_no_contrast(group):
    rng = np.random.default_rng(group)
    pairs = pairs_of(counted(*part(rng, rates=(0.3, 0.3, 0.3), spans=True)))
    sizes = rates_by_pair(pairs).sizes[0]
    assert contrasts_of(0.4 * sizes, sizes, pairs, group) == pytest.approx(0.0)
    contrasts = contrasts_of(rng.uniform(0, sizes), sizes, pairs, group)
    assert 0 < len(contrasts) <= len(np.unique(pairs.cluster))
    assert (np.abs(contrasts) <= 1).all()


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_bets_are_worth_one_on_average_where_groups_are_alike(rate):
    """All ways that five clusters fall, each of which has all of its rows selected, or none."""
    person, group = [1, 2, 2, 3, 4, 4, 5], [*"aabbbab"]
    mean = np.zeros((2, len(STAKES)))
    for ways in product([0, 1], repeat=5):
        chance = np.prod([rate if way else 1 - rate for way in ways])
        decided = [ways[p - 1] for p in person]
        pairs = pairs_of(
            eh.tally(
                None, [*decided, 1, 0], sensitive_features=[*group, *"cc"], cluster=[*person, 6, 6]
            )
        )
        mine = pairs.group < 2
        rates = rates_by_pair(pairs)
        rates = Rates(
            np.where(mine, rates.hits, 0),
            np.where(mine, rates.sizes, 0),
            rates.cells,
            rates.groups,
            rates.strata,
        )
        gains = shaped(bets_of(rates, pairs))
        mean += chance * np.stack([np.exp(gains[name][0, :2] / UNIT) for name in STAKES], axis=1)
    assert mean == pytest.approx(1.0, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("spans", one_in(2, [False, True]))
def test_fair_streams_of_people_hardly_ever_alarm(spans):
    rng, alarms, plain = np.random.default_rng(0), 0, 0
    for _ in range(25):
        watched, naive = watch(), watch()
        for day in range(20):
            rows = part(rng, spans=spans)
            watched.update(counted(*rows), part=str(day))
            naive.update(eh.tally(None, rows[0], sensitive_features=rows[1]), part=str(day))
        alarms += watched.status().findings[0].verdict == "differs"
        plain += naive.status().findings[0].verdict == "differs"
    assert alarms <= 0.05 * 25 + 2
    assert spans or plain >= alarms


@pytest.mark.slow
def test_people_of_two_groups_that_differ_are_said_to():
    rng = np.random.default_rng(0)
    watched = watch(fail_if={"statistical_parity.mpd": 0.02}, window=5)
    for day in range(1, 29):
        rows = part(rng, rates=(0.2, 0.4), people=20)
        watched.update(counted(*rows), part=str(day), at=f"2026-02-{day:02}")
    status = watched.status()
    (finding,) = status.findings
    assert finding.verdict == "differs"
    assert "2026-02-01" < finding.since < "2026-02-15"
    assert finding.intervals["mpd"].low < 0.2 < finding.intervals["mpd"].high
    assert [rate.rows for rate in finding.rates] == [28 * 10] * 2
    assert status.rows > 28 * 20
    assert status.judgements[0].outcome == "violation"
    assert {change.against for change in status.changes} == {"window", "any time"}
    assert "<svg" in watched.to_html()


@pytest.mark.slow
@pytest.mark.parametrize(("spans", "measure"), one_in(2, [False, True], [mpd, pq]))
def test_bands_of_clusters_hold_the_truth_at_all_looks_at_once(measure, spans):
    rng, streams, missed = np.random.default_rng(2), 15, 0
    rates = (0.2, 0.3)
    for _ in range(streams):
        watched, inside = watch(measures=measure.__name__), True
        for day in range(8):
            watched.update(counted(*part(rng, rates, people=20 * (1 + day % 3), spans=spans)))
            found = watched.status().findings[0].intervals[measure.__name__]
            inside &= found.low <= measure(np.array(rates)) <= found.high
        missed += not inside
    assert missed <= 0.05 * streams + 2


def test_rows_that_are_alike_within_clusters_count_once_and_others_for_more():
    person = np.repeat(np.arange(200), 5)
    rng = np.random.default_rng(0)
    alike = np.repeat(rng.random(200) < 0.3, 5).astype(int)
    apart = (rng.random(1000) < 0.3).astype(int)
    effective = []
    for decided in (alike, apart):
        pairs = pairs_of(counted(decided, np.array([*"ab"])[person % 2], person))
        question = watch()._memory.settings.questions[0]
        rates = rates_of_means(means_of(rates_by_pair(pairs), pairs), question, {})
        effective.append(rates.effective[0])
    assert effective[0] == pytest.approx([100, 100], rel=0.1)
    assert (effective[1] > 300).all()
    assert (effective[1] <= 500).all()


def test_the_order_of_parts_and_of_rows_is_nothing_and_a_correction_leaves_no_trace():
    rng = np.random.default_rng(3)
    parts = [part(rng, rates=(0.3, 0.4, 0.2), people=12, spans=day % 2) for day in range(4)]
    days = [f"2026-02-0{day}" for day in range(1, 5)]
    one, two = watch(["statistical_parity"]), watch(["statistical_parity"])
    for at in (0, 1, 2, 3):
        one.update(counted(*parts[at]), part=days[at], at=days[at])
    wrong = part(rng, people=5)
    for at in (2, 0, 3, 1):
        order = rng.permutation(len(parts[at][0]))
        rows = wrong if at == 0 else [column[order] for column in parts[at]]
        two.update(counted(*rows), part=days[at], at=days[at])
    two.correct(days[0], counted(*wrong), counted(*parts[0]))
    assert state_of(one)["counts"] == state_of(two)["counts"]


def test_truth_that_comes_later_and_bounded_means_are_watched_by_cluster(tmp_path):
    rng = np.random.default_rng(4)
    decided, group, person = part(rng, people=60)
    truth = rng.integers(0, 2, len(decided))
    watched = watch(["statistical_parity", "equalized_odds"])
    rows = eh.tally(truth, decided, sensitive_features=group, cluster=person)
    watched.update(rows, part="1", at="2026-02-01", late=True)
    assert [f.criterion for f in watched.status().findings] == ["equalized_odds"]
    assert watched.status().findings[0].rows == len(decided)
    watched.save(tmp_path / "watch.json")
    again = eh.Watch.load(tmp_path / "watch.json")
    assert repr(again.status()) == repr(watched.status())
    paid = watch("weak_parity", limits={"weak_parity": (0, 50)})
    wage = rng.uniform(10, 30, len(group)) + 10 * (group == "b")
    paid.update(eh.tally(None, wage, sensitive_features=group, cluster=person, task="regression"))
    finding = paid.status().findings[0]
    assert finding.intervals["mpd"].low < 10 < finding.intervals["mpd"].high
    assert finding.rates[0].rate == pytest.approx(20, abs=3)


def test_a_watch_has_clusters_in_all_parts_or_in_none():
    rows = part(np.random.default_rng(0))
    plain, together = eh.tally(None, rows[0], sensitive_features=rows[1]), counted(*rows)
    for first, second in ((plain, together), (together, plain)):
        watched = watch()
        watched.update(first, part="1")
        with pytest.raises(eh.InputError, match="others without"):
            watched.update(second, part="2")
        with pytest.raises(eh.InputError, match="others without"):
            watch(baseline=first).update(second, part="2")
    same = watch(baseline=together)
    same.update(together, part="1")
    assert {change.against for change in same.status().changes} == {"baseline", "any time"}


def test_groups_that_were_there_together_cannot_be_joined_by_name():
    watched = watch()
    watched.update(counted(*part(np.random.default_rng(0), rates=(0.3,) * 3)), part="1")
    watched.rename({"a": "A"})
    assert [rate.group for rate in watched.status().findings[0].rates] == ["A", "b", "c"]
    with pytest.raises(eh.InputError, match="would join groups"):
        watched.rename({"b": "c"})


def test_a_bet_that_was_right_has_grown():
    hits = {name: np.zeros((1, 2)) for name in STAKES}
    assert log_bets(hits) == pytest.approx(0.0)
    assert len(STAKES) == 2 * len(BETS)
    hits["+0.5"] = np.array([[5 * UNIT, 0.0]])
    assert log_bets(hits)[0, 0] > 2
