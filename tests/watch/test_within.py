"""Gaps within parts: drift of the mix and of the common rate leaves a watch at rest."""

from datetime import date

import numpy as np
import pytest

import evenhand as eh

BOUND = {"statistical_parity.mpd": 0.1}


def table(groups, hits, sizes):
    """The counts of a part, from hits and rows of each group."""
    decided = np.concatenate([np.arange(n) < h for h, n in zip(hits, sizes, strict=True)])
    return eh.tally(None, decided.astype(int), sensitive_features=np.repeat([*groups], sizes))


def watched(parts, groups="ab", spread=1, **options):
    """A watch of parts, each with hits and rows of every group, one on each of the days."""
    watch = eh.Watch("statistical_parity", **{"favorable": 1, "measures": "mpd", **options})
    for number, (hits, sizes) in enumerate(parts):
        seen = [i for i, size in enumerate(sizes) if size]
        counts = table(*([each[i] for i in seen] for each in (groups, hits, sizes)))
        watch.update(counts, part=str(number), at=date.fromordinal(739_000 + number // spread))
    return watch


def drawn(rng, days, groups, gaps, rows=400):
    """Parts whose mix and common rate drift together; groups have gaps to it."""
    parts = []
    for day in range(days):
        place = day / max(days - 1, 1)
        mix = np.linspace(1.8, 0.2, groups) * (1 - place) + np.linspace(0.2, 1.8, groups) * place
        sizes = rng.multinomial(rows, mix / mix.sum())
        hits = rng.binomial(sizes, 0.1 + 0.4 * place + np.asarray(gaps))
        parts.append((hits.tolist(), sizes.tolist()))
    return parts


def least_squares(parts):
    """The largest gap of a regression on groups with a level of its own for every part."""
    lines, wishes, weights = [], [], []
    for at, (hits, sizes) in enumerate(parts):
        for group, (h, n) in enumerate(zip(hits, sizes, strict=True)):
            if n:
                line = np.zeros(len(sizes) + len(parts))
                line[[group, len(sizes) + at]] = 1
                lines.append(line)
                wishes.append(h / n)
                weights.append(np.sqrt(n))
    by = np.array(weights)
    found = np.linalg.lstsq(np.array(lines) * by[:, None], np.array(wishes) * by, rcond=None)[0]
    return np.ptp(found[: len(parts[0][1])])


@pytest.mark.slow
@pytest.mark.parametrize("groups", ["ab", "abc", "abcdef"])
@pytest.mark.parametrize("spread", [1, 4], ids=["one part a day", "four parts a day"])
def test_the_gap_is_that_of_least_squares_with_a_level_for_each_part(groups, spread):
    rng = np.random.default_rng(len(groups))
    parts = drawn(rng, 30, len(groups), np.linspace(0, 0.2, len(groups)))
    for at in range(0, 30, 3):  # some groups are not there on some days
        parts[at][0][at % len(groups)] = parts[at][1][at % len(groups)] = 0
    value = watched(parts, groups, spread).status().findings[0].intervals["mpd"].value
    assert value == pytest.approx(least_squares(parts), abs=1e-6)


def test_two_groups_have_the_mantel_haenszel_difference():
    parts = [((30, 5), (60, 20)), ((8, 70), (10, 90)), ((0, 9), (0, 30))]
    weights = np.array([60 * 20 / 80, 10 * 90 / 100])
    gaps = np.array([30 / 60 - 5 / 20, 8 / 10 - 70 / 90])
    value = watched(parts).status().findings[0].intervals["mpd"].value
    assert value == pytest.approx(weights @ gaps / weights.sum(), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["mpd", "gini", "pq", "shortfall"])
def test_one_part_and_parts_of_one_mix_have_the_pooled_gap(measure):
    one, ten = ((10, 24, 30), (40, 60, 90)), ((100, 240, 300), (400, 600, 900))
    once = watched([ten], "abc", measures=measure).status().findings[0].intervals[measure]
    often = watched([one] * 10, "abc", measures=measure).status().findings[0].intervals[measure]
    assert (once.value, once.low, once.high) == (often.value, often.low, often.high)
    rates = np.array([0.25, 0.4, 1 / 3])
    assert once.value == pytest.approx(float(eh.MEASURES[measure](rates)))


@pytest.mark.slow
@pytest.mark.parametrize("groups", ["ab", "abcde"])
@pytest.mark.parametrize("seed", range(3))
def test_drift_of_the_mix_and_of_the_common_rate_violates_no_bound(groups, seed):
    rng = np.random.default_rng(seed)
    parts = drawn(rng, 120, len(groups), np.zeros(len(groups)))
    status = watched(parts, groups, fail_if=BOUND).status()
    pooled = [rate.rate for rate in status.findings[0].rates]
    assert max(pooled) - min(pooled) > 0.1
    assert status.judgements[0].outcome == "pass"
    assert status.findings[0].verdict == "alike"
    assert not any(change.changed for change in status.changes)
    assert any("within parts it is" in note for note in status.notes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mean", "clusters"])
def test_so_it_is_for_means_and_for_clusters(kind):
    rng = np.random.default_rng(1)
    asked = {
        "criteria": "weak_parity",
        "limits": {"weak_parity": (0, 1)},
        "fail_if": {"weak_parity.mpd": 0.1},
    }
    if kind == "clusters":
        asked = {"criteria": "statistical_parity", "fail_if": BOUND, "favorable": 1}
    watch = eh.Watch(**asked, measures="mpd")
    for day in range(80):
        place = day / 79
        group = np.where(rng.random(200) < 0.2 + 0.6 * place, "a", "b")
        rate = 0.1 + 0.5 * place
        if kind == "mean":
            options, said = {"task": "regression"}, rng.beta(4 * rate, 4 * (1 - rate), 200)
        else:
            options, said = {"cluster": np.arange(200) // 2}, (rng.random(200) < rate).astype(int)
        counts = eh.tally(None, said, sensitive_features=group, **options)
        watch.update(counts, part=str(day), at=date.fromordinal(739_000 + day))
    status = watch.status()
    assert status.judgements[0].outcome == "pass"
    assert status.findings[0].verdict == "alike"
    assert not any(change.changed for change in status.changes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_steady_gap_within_its_bound_keeps_its_pass(seed):
    rng = np.random.default_rng(seed)
    parts = drawn(rng, 150, 2, (0, 0.05), rows=600)
    status = watched(parts, fail_if=BOUND).status()
    assert status.judgements[0].outcome == "pass"
    assert status.findings[0].verdict == "differs"
    assert not any(change.changed for change in status.changes)


def test_groups_that_no_part_compares_keep_no_bound():
    parts = [((40, 0, 0), (100, 0, 0)), ((0, 40, 40), (0, 100, 100))] * 20
    judged = watched(parts, "abc", fail_if=BOUND).status().judgements[0]
    assert judged.outcome == "inconclusive"
    assert "no part compares" in judged.sentence


def test_groups_that_join_are_as_if_they_had_been_one():
    rng = np.random.default_rng(2)
    parts = drawn(rng, 20, 3, (0, 0, 0.2))
    joined = [((h[0] + h[1], h[2]), (n[0] + n[1], n[2])) for h, n in parts]
    watch = watched(parts, "abc")
    watch.rename({"b": "a"})
    found, wanted = (
        each.status().findings[0].intervals["mpd"] for each in (watch, watched(joined, "ac"))
    )
    ends = [(each.value, each.low, each.high) for each in (found, wanted)]
    assert ends[0][0] == pytest.approx(ends[1][0], abs=1e-6)
    assert ends[0] == pytest.approx(ends[1], abs=0.005)  # whose level is known a little less well
