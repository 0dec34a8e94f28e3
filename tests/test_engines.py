"""Laws that hold on every engine: what it counts is what the columns say, and no row leaves it."""

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evenhand as eh
from engines import FAR, watched
from evenhand._data import tables as readers

ROWS = 3000
LABELS = {
    "zeros and ones": np.array([0, 1]),
    "far apart": np.array([10, 40, 75]),
    "text": np.array(["no", "perhaps", "yes"], dtype=object),
    "truth values": np.array([False, True]),
    "whole floats": np.array([0.0, 1.0]),
}
NAMES = {"y_true": "truth", "y_pred": "guess", "sensitive_features": ["sex", "region"]}
SCORED = {"y_true": "event", "y_pred": "chosen", "sensitive_features": "sex", "y_score": "score"}


@st.composite
def tables(draw):
    """Tables whose labels, groups and weights are of any kind, some without a region."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = LABELS[draw(st.sampled_from(list(LABELS)))]
    sexes = np.array(["F", "M", "ß'\"", ""][: draw(st.integers(2, 4))], dtype=object)
    score = rng.beta(2, 3, ROWS).round(2)
    event = (rng.random(ROWS) < score).astype(int)
    frame = pd.DataFrame(
        {
            "truth": rng.choice(labels, ROWS),
            "guess": rng.choice(labels, ROWS),
            "sex": rng.choice(sexes, ROWS),
            "region": rng.choice(np.array(["n", "s", None], dtype=object), ROWS),
            "stratum": rng.integers(-1, 2, ROWS),
            "weight": rng.integers(0, 5, ROWS) / 4,
            "loss": rng.integers(-8, 9, ROWS) / 8,
            "event": event,
            "score": score,
            "chosen": (score >= 0.45).astype(int),
        }
    )
    frame.loc[0, "weight"] = 1.0
    return frame


def on_random_tables(engine, law):
    """Try a law on as many tables as the engine has time for."""
    run = settings(
        max_examples=engine.examples,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
    )(given(tables())(law))
    run()


def assert_equal_tallies(found, expected):
    assert found.axes == expected.axes
    assert (found.cells == expected.cells).all()
    assert found.notes == expected.notes
    assert set(found.sums) == set(expected.sums)
    for name, sums in expected.sums.items():
        np.testing.assert_allclose(found.sums[name], sums, rtol=1e-12, atol=1e-9, err_msg=name)


@pytest.mark.slow
def test_the_tally_of_a_table_is_that_of_its_columns(engine):
    def law(frame):
        found = eh.tally(
            data=engine(frame),
            **NAMES,
            sample_weight="weight",
            strata="stratum",
            sums={"loss": "loss"},
            missing="group",
        )
        crossed = eh.groups(frame[["sex", "region"]], missing="group")
        expected = eh.tally(
            frame.truth,
            frame.guess,
            sensitive_features=crossed,
            sample_weight=frame.weight,
            strata=frame.stratum,
            sums={"loss": frame.loss},
        )
        assert_equal_tallies(found, expected)

    on_random_tables(engine, law)


@pytest.mark.slow
def test_the_evidence_of_a_table_is_that_of_its_columns(engine):
    def law(frame):
        found = eh.Data(
            data=engine(frame), **NAMES, strata="stratum", sample_weight="weight", missing="group"
        ).counted
        expected = eh.Data(
            frame.truth,
            frame.guess,
            sensitive_features=eh.groups(frame[["sex", "region"]], missing="group"),
            strata=frame.stratum,
            sample_weight=frame.weight,
        ).counted
        assert (found.task, found.classes) == (expected.task, expected.classes)
        assert (found.favorable, found.groups) == (expected.favorable, expected.groups)
        assert set(found.sources) == set(expected.sources)
        for need, counts in expected.sources.items():
            assert_equal_tallies(found.sources[need], counts)

    on_random_tables(engine, law)


def scored_values(evidence):
    """What is said of scores: areas, losses, calibration and distributions, by group."""
    performance = eh.CRITERIA["performance_parity"]
    tables = [
        performance.with_statistic("auroc").table(evidence.sources["ranks"]),
        performance.with_statistic("cross_entropy").table(evidence.sources["losses"]),
        eh.CRITERIA["statistical_parity"].table(evidence.sources["predictions"]),
    ]
    bins = evidence.sources["bins"]
    return {
        "by group": np.concatenate([table.values for table in tables]),
        "calibration": [bins.table("bin", "group", of=name) for name in ("hits", "weight")],
        "distributions": eh.CRITERIA["strong_parity"](evidence.sources["steps"], measure="mpd"),
        "decided at": evidence.decided_at,
        "thresholds": evidence.thresholds.table("y", "group"),
    }


@pytest.mark.slow
def test_scores_of_two_decimals_are_counted_in_bins_as_if_they_were_ordered(engine, monkeypatch):
    monkeypatch.setattr(readers, "ROWS_TO_BRING", 0)

    def law(frame):
        found = eh.Data(data=engine(frame), **SCORED, sample_weight="weight").counted
        expected = eh.Data(
            frame.event,
            frame.chosen,
            sensitive_features=frame[["sex"]],
            y_score=frame.score,
            sample_weight=frame.weight,
        ).counted
        ours, theirs = scored_values(found), scored_values(expected)
        for name, values in theirs.items():
            np.testing.assert_allclose(ours[name], values, rtol=1e-9, atol=1e-12, err_msg=name)

    on_random_tables(engine, law)


def people():
    rng = np.random.default_rng(5)
    score = rng.beta(2, 3, ROWS).round(2)
    frame = pd.DataFrame({"score": score, "sex": rng.choice(["F", "M"], ROWS)})
    return frame.assign(
        event=(rng.random(ROWS) < score).astype(int),
        chosen=(score >= 0.45).astype(int),
        region=rng.choice(["n", "s"], ROWS),
        truth=rng.choice(LABELS["far apart"], ROWS),
        guess=rng.choice(LABELS["far apart"], ROWS),
        zone=rng.choice([1.0, 2.5], ROWS),
    )


@pytest.mark.slow
def test_an_audit_of_a_table_is_that_of_its_columns(engine):
    frame = people()
    quick = {"criteria": ["equalized_odds", "performance_parity"], "measures": ["mpd"]}
    found = eh.audit(data=engine(frame), **SCORED, **quick)
    expected = eh.audit(
        frame.event,
        frame.chosen,
        sensitive_features=frame[["sex"]],
        y_score=frame.score,
        **quick,
    )
    ours, theirs = found.document(), expected.document()
    assert ours["groups"] == theirs["groups"]
    assert [one.verdict for one in found.findings] == [one.verdict for one in expected.findings]
    for one, other in zip(found.measured, expected.measured, strict=True):
        assert (one.criterion, one.measure) == (other.criterion, other.measure)
        np.testing.assert_allclose(one.value, other.value, rtol=1e-9)


MOST_PASSES = {"tally": 1, "labels": 2, "labels far apart": 2, "scores": 2, "score alone": 2}
CALLS = {
    "tally": lambda table: eh.tally(data=table, **NAMES),
    "labels": lambda table: (
        eh.Data(
            data=table, y_true="event", y_pred="chosen", sensitive_features=["sex", "zone"]
        ).counted
    ),
    "labels far apart": lambda table: eh.Data(data=table, **NAMES).counted,
    "scores": lambda table: eh.Data(data=table, **SCORED).counted,
    "score alone": lambda table: eh.Data(data=table, **{**SCORED, "y_pred": None}).counted,
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", [engine.as_parameter for engine in FAR])
def test_rows_are_read_a_few_times_and_stay_where_they_are(engine, tmp_path, monkeypatch):
    frame = people()
    people_there = watched(engine, frame, tmp_path)
    answers = []
    collect = nw.LazyFrame.collect

    def collect_and_note(query, *arguments, **options):
        answer = collect(query, *arguments, **options)
        answers.append(len(answer))
        return answer

    monkeypatch.setattr(nw.LazyFrame, "collect", collect_and_note)
    for kind, call in CALLS.items():
        people_there.forget()
        answers.clear()
        call(people_there.table)
        assert 0 < people_there.passes <= MOST_PASSES[kind], kind
        assert people_there.passes == len(answers), "each answer is of one pass over the rows"
        cells = 2 * 2 * 101 if "score" in kind else 3 * 3 * 2 * 2
        assert max(answers) <= cells < len(frame), "what comes back are cells, not rows"
