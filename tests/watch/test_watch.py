"""A watch: parts in any order, once each; late labels, new groups, corrections."""

import json
from datetime import date, datetime

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import evenhand as eh
from watch.states import state_of


def counts(a=20, b=30, rows=50, truth=None):
    """Two groups of so many rows, of which so many were selected."""
    decisions = [1] * a + [0] * (rows - a) + [1] * b + [0] * (rows - b)
    return eh.tally(truth, decisions, sensitive_features=["a"] * rows + ["b"] * rows)


def watch(criteria="statistical_parity", **options):
    return eh.Watch(criteria, **{"favorable": 1, "measures": "mpd", **options})


def labeled(rng, rows=60, groups=("a", "b", "c"), labels=(0, 1)):
    columns = (rng.choice(labels, rows), rng.choice(labels, rows))
    return eh.tally(*columns, sensitive_features=rng.choice(groups, rows))


@pytest.mark.slow
def test_groups_that_differ_are_said_to_and_when_that_was_clear():
    watched = watch(fail_if={"statistical_parity.mpd": 0.05})
    for day in range(1, 29):
        assert watched.update(counts(), part=str(day), at=date(2026, 2, day))
        watched.status()
    status = watched.status()
    (finding,) = status.findings
    assert (finding.criterion, finding.verdict) == ("statistical_parity", "differs")
    assert "2026-02-01" < finding.since < "2026-02-20"
    found = finding.intervals["mpd"]
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(0.2)
    assert status.judgements[0].outcome == "violation"
    assert finding.since < status.since["statistical_parity.mpd > 0.05"] <= "2026-02-28"
    assert finding.p_value < 0.001
    assert status["statistical_parity"] is finding


def test_groups_that_are_alike_come_to_keep_a_bound():
    watched = watch(fail_if=["statistical_parity.mpd > 0.1"])
    assert watched.status().findings == ()
    for day in range(1, 29):
        watched.update(counts(25, 25), part=str(day), at=f"2026-02-{day:02}")
    (finding,) = watched.status().findings
    assert finding.verdict == "alike"
    assert finding.e_value < 1


def test_a_few_rows_tell_nothing():
    watched = watch(fail_if={"statistical_parity.mpd": 0.1})
    watched.update(counts(3, 4, rows=8))
    status = watched.status()
    assert status.findings[0].verdict == "cannot tell"
    assert status.judgements[0].outcome == "inconclusive"


def test_a_part_is_counted_once():
    watched = watch()
    assert watched.update(counts(), part="Monday", at="2026-02-02")
    before = state_of(watched)
    assert not watched.update(counts(), part="Monday", at="2026-02-02")
    assert state_of(watched) == before
    with pytest.raises(eh.InputError, match=r"'Monday' was counted before with other numbers"):
        watched.update(counts(1), part="Monday", at="2026-02-02")


def test_a_corrected_part_is_as_if_it_had_been_so_from_the_start():
    wrong, right = watch(), watch()
    for day in range(1, 6):
        wrong.update(counts(40 if day == 2 else 20), part=str(day), at=f"2026-02-{day:02}")
        right.update(counts(), part=str(day), at=f"2026-02-{day:02}")
    wrong.correct("2", counts(40), counts())
    assert state_of(wrong)["counts"] == state_of(right)["counts"]
    assert wrong.status().findings[0].intervals == right.status().findings[0].intervals
    with pytest.raises(eh.InputError, match="not the numbers that part '3' was counted with"):
        wrong.correct("3", counts(7), counts())
    with pytest.raises(eh.InputError, match="'9' was not counted"):
        wrong.correct("9", counts(7), counts())


def test_late_labels_count_for_criteria_that_need_the_truth_alone():
    rng = np.random.default_rng(0)
    truth, decided = rng.integers(0, 2, 100), rng.integers(0, 2, 100)
    group = rng.choice(["a", "b"], 100)
    late = watch(["statistical_parity", "equal_opportunity"])
    late.update(eh.tally(None, decided, sensitive_features=group), part="decisions")
    assert [finding.criterion for finding in late.status().findings] == ["statistical_parity"]
    known = eh.tally(truth, decided, sensitive_features=group)
    late.update(known, part="labels", late=True)
    once = watch(["statistical_parity", "equal_opportunity"])
    once.update(known, part="both")
    for one, two in zip(late.status().findings, once.status().findings, strict=True):
        assert (one.intervals, one.rows) == (two.intervals, two.rows)
        assert one.e_value == pytest.approx(two.e_value, rel=1e-4)


def test_a_day_may_lack_a_group_and_a_group_may_be_new():
    watched = watch()
    watched.update(counts(), part="1", at="2026-02-01")
    only = eh.tally(None, [1, 0, 0], sensitive_features=["b"] * 3)
    watched.update(only, part="2", at="2026-02-02")
    new = eh.tally(None, [1] * 9 + [0] * 31, sensitive_features=["c"] * 20 + ["b"] * 20)
    watched.update(new, part="3", at="2026-02-03")
    status = watched.status()
    assert [rate.group for rate in status.findings[0].rates] == ["a", "b", "c"]
    assert any("1 group came after the first day" in note for note in status.notes)


def test_a_day_on_which_nobody_was_selected_is_counted():
    watched = watch()
    watched.update(eh.tally(None, [0] * 6, sensitive_features=[*"aabbbb"]), part="1")
    watched.update(counts(), part="2")
    assert {rate.rows for rate in watched.status().findings[0].rates} == {52.0, 54.0}


def test_a_group_that_is_renamed_goes_on():
    watched, plain = watch(), watch()
    watched.update(counts(), part="1", at="2026-02-01")
    watched.rename({"b": "B"})
    watched.update(counts(), part="2", at="2026-02-02")
    for part in ("1", "2"):
        plain.update(counts(), part=part, at=f"2026-02-0{part}")
    assert [rate.group for rate in watched.status().findings[0].rates] == ["B", "a"]
    one, two = (each.status().findings[0].intervals["mpd"] for each in (watched, plain))
    assert (one.value, one.high) == pytest.approx((two.value, two.high))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_the_order_of_parts_does_not_matter(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    parts = []
    for number in range(data.draw(st.integers(2, 7))):
        groups = data.draw(st.sampled_from([("a", "b"), ("b", "c", "d"), ("a", "e"), ("a",)]))
        labels = data.draw(st.sampled_from([(0, 1), (0,), (0, 1, 2)]))
        day = data.draw(st.integers(738_000, 738_900))
        late = data.draw(st.booleans())
        parts.append((labeled(rng, 20, groups, labels), f"p{number}", date.fromordinal(day), late))
    states, findings = [], []
    for order in (parts, data.draw(st.permutations(parts))):
        watched = watch(["statistical_parity", "equalized_odds", "equal_opportunity"])
        for tally, name, day, late in order:
            watched.update(tally, part=name, at=day, late=late)
        state = state_of(watched)
        for name in ("peaks", "firsts", "history"):  # what was said when
            del state[name]
        states.append(state)
        findings.append([(f.criterion, f.intervals, f.e_value) for f in watched.status().findings])
    assert states[0] == states[1]
    assert repr(findings[0]) == repr(findings[1])


def test_a_state_is_read_back_as_it_was(tmp_path):
    rng = np.random.default_rng(0)
    groups = [("a", 1), ("b", 2)]
    rows = eh.tally(
        rng.integers(0, 2, 40),
        rng.integers(0, 2, 40),
        sensitive_features={"x": [*"ab"] * 20, "y": [1, 2] * 20},
    )
    watched = watch(["statistical_parity", "equal_opportunity"], baseline=rows, groups=groups)
    watched.update(rows, part="1", at=datetime(2026, 2, 1, 12))
    watched.status()
    watched.save(tmp_path / "watch.json")
    again = eh.Watch.load(tmp_path / "watch.json")
    assert state_of(again) == state_of(watched)
    assert repr(again.status()) == repr(watched.status())
    assert "2 parts" not in repr(again)
    assert json.loads((tmp_path / "watch.json").read_text())["schema"] == "evenhand.watch/3"


def test_a_file_that_is_no_state_is_refused(tmp_path):
    with pytest.raises(eh.InputError, match="There is no state"):
        eh.Watch.load(tmp_path / "none.json")
    for text in ("{", "[]", '{"schema": "evenhand.watch/99"}', '{"schema": "evenhand.watch/3"}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(eh.InputError, match=r"bad\.json"):
            eh.Watch.load(tmp_path / "bad.json")


@pytest.mark.slow
def test_the_state_stays_small_whatever_the_history(tmp_path):
    rng = np.random.default_rng(0)
    watched = watch(["statistical_parity", "equal_opportunity"], remember=500)
    part = eh.tally(
        rng.integers(0, 2, 20_000),
        rng.integers(0, 2, 20_000),
        sensitive_features=rng.integers(0, 200, 20_000),
    )
    for day in range(520):
        watched.update(part, part=f"{day}", at=date.fromordinal(738_000 + 3 * day))
    watched.save(tmp_path / "watch.json")
    assert (tmp_path / "watch.json").stat().st_size <= 100_000
    with pytest.raises(eh.InputError, match="are closed"):
        watched.update(part, part="very old", at=date.fromordinal(738_000))


def test_bounded_means_are_watched_within_the_limits_stated():
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b"], 4000)
    paid = rng.uniform(10, 30, 4000) + 4 * (group == "b")
    watched = watch("weak_parity", limits={"weak_parity": (0, 50)})
    watched.update(eh.tally(None, paid, sensitive_features=group, task="regression"))
    (finding,) = watched.status().findings
    assert finding.verdict == "differs"
    assert finding.intervals["mpd"].low < 4 < finding.intervals["mpd"].high
    assert [round(rate.rate) for rate in finding.rates] == [20, 24]
    with pytest.raises(eh.InputError, match="not within"):
        watch("weak_parity", limits={"weak_parity": (0, 5)}).update(
            eh.tally(None, paid, sensitive_features=group, task="regression")
        )


@pytest.mark.parametrize(
    ("criteria", "options", "message"),
    [
        ("weak_parity", {}, "state its least and greatest possible value"),
        ("weak_parity", {"limits": {"weak_parity": (1, 1)}}, "low < high"),
        ("average_odds", {}, "is not a share of rows"),
        ("wasserstein_parity", {}, "sums over cut points"),
        ("strong_parity", {}, "is not a share of rows"),
        ("performance_parity(f1)", {}, "is not a share of rows"),
        ("statistical_parity", {"confidence": 95}, "between 0.5 and 1"),
        ("statistical_parity", {"method": "exact"}, "no method 'exact'"),
        ("statistical_parity", {"window": 0}, "window is a number of at least 1"),
        (
            "statistical_parity",
            {"fail_if": {"error_parity.mpd": 0.1}},
            "on no criterion that is asked about",
        ),
        ("statistical_parity", {"fail_if": ["statistical_parity.mpd < 0.1"]}, "treated alike"),
    ],
)
def test_what_cannot_be_watched_is_refused(criteria, options, message):
    with pytest.raises(eh.InputError, match=message):
        watch(criteria, **options)


def test_what_is_no_count_of_rows_is_refused():
    watched = watch()
    with pytest.raises(eh.InputError, match="Pass sensitive_features"):
        watched.update([1, 0])
    weighted = eh.tally(None, [1, 0], sensitive_features=["a", "b"], sample_weight=[1, 2])
    with pytest.raises(eh.InputError, match="Weighted rows"):
        watched.update(weighted)
    ways = {"school": [1, 1], "rater": [1, 2]}
    together = eh.tally(None, [1, 0], sensitive_features=["a", "b"], cluster=ways)
    with pytest.raises(eh.InputError, match="in several ways"):
        watched.update(together)
    with pytest.raises(eh.InputError, match="Nothing can be learned"):
        watch("equal_opportunity").update(counts())
    with pytest.raises(eh.InputError, match="at is a day"):
        watched.update(counts(), at="yesterday")


def test_what_a_look_shows_later_is_what_was_known_then():
    watched = watch()
    watched.update(counts(), part="1", at="2026-02-01")
    watched.update(counts(), part="2", at="2026-03-20")
    early, same = watched.status(), watched.status()
    known = repr(same.findings), same.changes, same.findings[0].rates
    for day in range(1, 29):
        watched.update(counts(5, 45), part=f"day {day}", at=f"2026-04-{day:02}")
    assert (repr(early.findings), early.changes, early.findings[0].rates) == known
    assert list(early.findings[0].intervals) == ["mpd"]
    with pytest.raises(KeyError):
        early.findings[0].intervals["gini"]


def test_a_look_can_be_pickled():
    import pickle

    watched = watch()
    watched.update(counts(), part="1", at="2026-02-01")
    status = watched.status()
    assert repr(pickle.loads(pickle.dumps(status))) == repr(status)


def test_a_ratio_is_watched_too():
    watched = watch("selection_rate_ratio", fail_if={"selection_rate_ratio": 0.9})
    for day in range(30):
        watched.update(counts(), part=str(day))
    status = watched.status()
    found = status.findings[0].intervals["ratio"]
    assert found.low < 2 / 3 < found.high
    assert status.judgements[0].outcome == "violation"


def test_a_timeline_has_a_point_for_each_span():
    watched = watch()
    for day in range(1, 11):
        watched.update(counts(), part=str(day), at=f"2026-02-{day:02}")
    times = watched.timeline("statistical_parity", "mpd")
    assert [day for day, _ in times] == [f"2026-02-{day:02}" for day in range(1, 11)]
    assert times[-1][1] == watched.status().findings[0].intervals["mpd"]
    with pytest.raises(eh.InputError, match="is not watched"):
        watched.timeline("error_parity")


def test_a_bound_on_a_criterion_that_nothing_was_counted_for_is_not_kept():
    bounds = {"statistical_parity.mpd": 0.9, "equal_opportunity.mpd": 0.9}
    watch = eh.Watch(["statistical_parity", "equal_opportunity"], fail_if=bounds, favorable=1)
    empty = watch.status()
    assert [each.outcome for each in empty.judgements] == ["inconclusive"] * 2
    assert set(empty.since.values()) == {None}
    counts = eh.tally(None, [1, 0] * 100, sensitive_features=["a"] * 100 + ["b"] * 100)
    watch.update(counts, at="2026-03-01")
    status = watch.status()
    assert [each.outcome for each in status.judgements] == ["pass", "inconclusive"]
    assert "nothing was counted" in status.judgements[1].sentence
    assert status.since["equal_opportunity.mpd > 0.9"] == "2026-03-01"


def test_a_watch_knows_its_groups_by_when_they_came():
    watch = eh.Watch("statistical_parity", favorable=1, groups=["a", "z"])
    assert watch.groups == ("a", "z")
    watch.update(eh.tally(None, [1, 0], sensitive_features=["b", "a"]), at="2026-03-02")
    watch.update(eh.tally(None, [1, 0], sensitive_features=["c", "a"]), at="2026-03-01")
    assert watch.groups == ("a", "c", "b", "z")
