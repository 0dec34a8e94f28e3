"""Replicate weights and finite populations: variances are the published ones, and go everywhere."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand._data import tables
from evenhand._uncertainty.curves import curve_at
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.replicates import deviations, rates_amount, replicates_of
from evenhand.cli.audit import audit as audit_command

REPLICATES = 80


@pytest.fixture(scope="module")
def people():
    """People in 60 places, which are left out one at a time."""
    rng = np.random.default_rng(7)
    place = rng.integers(0, 60, 3000)
    tilt = rng.normal(0, 0.8, 60)[place]
    weight = rng.uniform(0.5, 2, 3000)
    table = pd.DataFrame(
        {
            "y": rng.integers(0, 2, 3000),
            "p": (rng.random(3000) < 1 / (1 + np.exp(1 - tilt))).astype(int),
            "score": np.round(rng.random(3000), 3),
            "group": rng.choice([*"abc"], 3000, p=[0.6, 0.3, 0.1]),
            "place": place,
            "w": weight,
        }
    )
    left_out = {f"w{k}": np.where(place == k, 0.0, weight * 60 / 59) for k in range(60)}
    return pd.concat([table, pd.DataFrame(left_out)], axis=1)


NAMES = [f"w{k}" for k in range(60)]


@pytest.fixture(scope="module")
def weights(people):
    return eh.survey_weights(people.w, replicate_weights=people[NAMES], method="jackknife")


def census(rng, rows):
    """Weights with replicates by successive differences, in the way of the Census Bureau."""
    weight = rng.uniform(10, 200, rows)
    factors = rng.choice([0.3, 1.0, 1.7], (rows, REPLICATES))
    return weight, weight[:, None] * factors


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_the_variance_of_a_rate_is_that_of_the_census_bureau(seed):
    rng = np.random.default_rng(seed)
    selected, group = rng.integers(0, 2, 200), rng.choice([*"ab"], 200)
    weight, replicates = census(rng, 200)
    survey = eh.survey_weights(weight, replicate_weights=replicates, method="acs")
    counts = eh.tally(None, selected, sensitive_features=group, sample_weight=survey)

    def rate(tally):
        table = tally.table("yhat", "group")
        return table[-1] / table.sum(axis=0)

    moved = deviations(map(rate, replicates_of(counts)), rate(counts), counts.scale)
    found = (moved**2).sum(axis=0)
    for at, name in enumerate("ab"):
        ours = group == name
        each = (replicates[ours] * selected[ours, None]).sum(axis=0) / replicates[ours].sum(axis=0)
        whole = (weight[ours] * selected[ours]).sum() / weight[ours].sum()
        assert found[at] == pytest.approx(4 / 80 * ((each - whole) ** 2).sum(), rel=1e-9)


def test_the_limits_of_a_large_group_are_as_far_apart_as_the_variance_says():
    rng = np.random.default_rng(1)
    selected, group = rng.integers(0, 2, 40_000), rng.choice([*"ab"], 40_000)
    weight, replicates = census(rng, 40_000)
    survey = eh.survey_weights(weight, replicate_weights=replicates, method="acs")
    counts = eh.tally(None, selected, sensitive_features=group, sample_weight=survey)
    known = estimates_of(counts, eh.CRITERIA["statistical_parity"], 1)
    half = (curve_at(known.curves, 1.0) - curve_at(known.curves, -1.0))[0] / 2
    ours = group == "a"
    each = (replicates[ours] * selected[ours, None]).sum(axis=0) / replicates[ours].sum(axis=0)
    whole = (weight[ours] * selected[ours]).sum() / weight[ours].sum()
    error = np.sqrt(4 / 80 * ((each - whole) ** 2).sum())
    assert half[0] == pytest.approx(error, rel=0.08)  # other groups lend a tenth of the variance


def test_leaving_out_clusters_one_at_a_time_says_the_same_as_clusters(people, weights):
    columns = {"y_true": people.y, "y_pred": people.p, "sensitive_features": people.group}
    columns |= {"measure": "mpd"}
    for criterion in ("statistical_parity", "equal_opportunity", "accuracy_parity"):
        plain = eh.interval(criterion, **columns, sample_weight=people.w)
        survey = eh.interval(criterion, **columns, sample_weight=weights)
        clusters = eh.interval(criterion, **columns, sample_weight=people.w, cluster=people.place)
        assert survey.value == plain.value == pytest.approx(clusters.value)
        assert survey.high == pytest.approx(clusters.high, rel=0.12)
        assert survey.high > 0.95 * plain.high


@pytest.mark.slow
def test_replicates_are_read_by_every_criterion(people, weights):
    asked = {"sensitive_features": people.group, "y_score": people.score}
    audit = eh.audit(people.y, people.p, **asked, sample_weight=weights)
    plain = eh.audit(people.y, people.p, **asked, sample_weight=people.w)
    clusters = eh.audit(people.y, people.p, **asked, sample_weight=people.w, cluster=people.place)
    assert "replicate weights" in " ".join(audit.notes)
    wider = 0
    for mine, theirs, other in zip(audit.findings, plain.findings, clusters.findings, strict=True):
        for name, value in mine.values.items():
            assert value.value == theirs.values[name].value
            assert value.low <= value.value <= value.high
        high = mine.values[next(iter(mine.values))].high
        assert high == pytest.approx(other.values[next(iter(mine.values))].high, rel=0.15, abs=0.01)
        wider += high > theirs.values[next(iter(mine.values))].high
    assert wider >= len(audit.findings) / 2


@pytest.mark.slow
def test_numbers_are_read_with_replicates_too(people, weights):
    columns = {"sensitive_features": people.group, "task": "regression"}
    audit = eh.audit(people.y + people.score, people.score, **columns, sample_weight=weights)
    clusters = eh.audit(
        people.y + people.score,
        people.score,
        **columns,
        sample_weight=people.w,
        cluster=people.place,
    )
    for mine, other in zip(audit.findings, clusters.findings, strict=True):
        assert mine.values["mpd"].high == pytest.approx(other.values["mpd"].high, rel=0.15)


def test_tallies_of_parts_of_a_survey_add_up(people, weights):
    def counted(rows):
        return eh.tally(
            people.y[rows],
            people.p[rows],
            sensitive_features=people.group[rows],
            sample_weight=weights[rows],
        )

    half = np.arange(3000) < 1234
    both, whole = counted(half) + counted(~half), counted(np.ones(3000, bool))
    np.testing.assert_allclose(both.sums["replicates"], whole.sums["replicates"])
    assert both.scale == whole.scale
    merged = whole.regrouped(np.array([0, 0, 1]), ("ab", "c"))
    assert merged.sums["replicates"].shape == (60, merged.cells.shape[1])
    with pytest.raises(eh.InputError, match="Cannot add tallies"):
        _ = whole + eh.tally([1], [1], sensitive_features=["a"], sample_weight=[1.0])


@pytest.mark.slow
def test_a_table_or_file_of_a_survey_is_read_by_the_names_of_its_columns(
    people, weights, tmp_path, monkeypatch
):
    labels = {"y_true": "y", "y_pred": "p", "sensitive_features": "group", "sample_weight": "w"}
    named = {"replicate_weights": "w0-59", "replicate_method": "jackknife"}
    direct = eh.audit(
        people.y, people.p, sensitive_features=people[["group"]], sample_weight=weights
    )
    found = eh.audit(data=people, **labels, **named)
    for mine, theirs in zip(found.findings, direct.findings, strict=True):
        for name, value in mine.values.items():
            assert value.high == pytest.approx(theirs.values[name].high, rel=1e-9)
    scored = eh.audit(data=people, **labels, y_score="score", **named)
    assert scored.finding("strong_parity").values["mpd"].high > 0
    monkeypatch.chdir(tmp_path)
    people.to_csv("people.csv", index=False)
    options = ["--target", "y", "--prediction", "p", "--group", "group", "--weight", "w"]
    options += ["--replicate-weights", "w0-59", "--replicate-method", "jackknife"]
    result = CliRunner().invoke(audit_command, ["people.csv", *options, "--json", "out.json"])
    assert result.exit_code == 0, result.output
    assert "60 replicate weights" in Path("out.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_replicates_of_many_rows_are_added_up_where_they_are(people, weights, monkeypatch):
    monkeypatch.setattr(tables, "ROWS_TO_BRING", 10)
    labels = {"y_true": "y", "y_pred": "p", "sensitive_features": "group", "sample_weight": "w"}
    named = {"replicate_weights": NAMES, "replicate_method": "jackknife"}
    table = pl.from_pandas(people).lazy()
    found = eh.audit(data=table, **labels, **named)
    direct = eh.audit(
        people.y, people.p, sensitive_features=people[["group"]], sample_weight=weights
    )
    for mine, theirs in zip(found.findings, direct.findings, strict=True):
        for name, value in mine.values.items():
            assert value.high == pytest.approx(theirs.values[name].high, rel=1e-9)
    with pytest.raises(eh.InputError, match="With replicate weights"):
        eh.audit(data=table, **labels, y_score="score", **named)
    broken = table.with_columns(w3=pl.lit(float("nan")))
    with pytest.raises(eh.InputError, match="'w3' has 3,000 values that are missing"):
        eh.audit(data=broken, **labels, **named)


def test_a_sampled_part_of_a_population_leaves_less_to_chance():
    rng = np.random.default_rng(3)
    group = rng.choice([*"ab"], 4000)
    selected = (rng.random(4000) < np.where(group == "a", 0.5, 0.4)).astype(int)
    columns = {"sensitive_features": group, "measure": "mpd"}
    plain = eh.interval("statistical_parity", None, selected, **columns)
    part = eh.survey_weights(np.ones(4000), fpc=0.75)
    known = eh.interval("statistical_parity", None, selected, **columns, sample_weight=part)
    assert known.value == plain.value
    assert known.high - known.low == pytest.approx((plain.high - plain.low) / 2, rel=0.02)
    means = {"y_true": None, "y_pred": rng.normal(5, 1, 4000), "sensitive_features": group}
    plain = eh.interval("weak_parity", **means, measure="mpd")
    known = eh.interval("weak_parity", **means, measure="mpd", sample_weight=part)
    assert (known.high - known.low) < 0.7 * (plain.high - plain.low)


@pytest.mark.parametrize(
    ("method", "scale"),
    [
        ({"method": "acs"}, 4 / 5),
        ({"method": "jackknife"}, 4 / 5),
        ({"method": "paired jackknife"}, 1.0),
        ({"method": "brr"}, 1 / 5),
        ({"method": "fay", "fay": 0.5}, 4 / 5),
        ({"scale": 0.3}, 0.3),
    ],
)
def test_every_way_of_making_replicates_has_its_scale(method, scale):
    made = eh.survey_weights(np.ones(3), replicate_weights=np.ones((3, 5)), **method)
    assert made.scale == pytest.approx((scale,) * 5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"replicate_weights": np.ones((3, 5))}, "Say how the replicates were made"),
        ({"replicate_weights": np.ones((3, 5)), "method": "acss"}, "Did you mean 'acs'"),
        ({"replicate_weights": np.ones((4, 5)), "method": "acs"}, "differ in length"),
        ({"replicate_weights": np.ones(3), "method": "acs"}, "needs a row for each row"),
        ({"replicate_weights": np.full((3, 5), np.nan), "method": "acs"}, "not finite"),
        ({"replicate_weights": np.ones((3, 1)), "method": "acs"}, "at least two"),
        ({"replicate_weights": np.ones((3, 5)), "method": "fay"}, "Fay's coefficient"),
        ({"replicate_weights": np.ones((3, 5)), "scale": -1.0}, "positive"),
        ({"method": "acs"}, "pass them"),
        ({"fpc": 1.0}, "nothing is left to chance"),
        ({"fpc": [0.1, 0.2]}, "2 values for 3 rows"),
    ],
)
def test_what_cannot_be_read_is_refused(options, words):
    with pytest.raises(eh.InputError, match=words):
        eh.survey_weights(np.ones(3), **options)


def test_clusters_beside_replicates_are_refused(people, weights):
    columns = {"sensitive_features": people.group, "sample_weight": weights}
    with pytest.raises(eh.InputError, match="leave out cluster="):
        eh.tally(people.y, people.p, **columns, cluster=people.place)
    with pytest.raises(eh.InputError, match="is not a range"):
        eh.audit(
            data=people,
            y_true="y",
            y_pred="p",
            sensitive_features="group",
            sample_weight="w",
            replicate_weights="w*",
            replicate_method="acs",
        )


def test_a_group_whose_outcomes_are_alike_borrows_the_design_of_the_others(people, weights):
    selected = np.where(people.group == "c", 0, people.p)
    counts = eh.tally(None, selected, sensitive_features=people.group, sample_weight=weights)

    def read(tally):
        table = np.array([tally.table("yhat", "group", of=name) for name in ("weight", "weight²")])
        return table[:, 1:], table.sum(axis=1, keepdims=True)

    def read_any(tally):
        if "weight²" in tally.sums:
            return read(tally)
        table = tally.table("yhat", "group")[None]
        return table[:, 1:], table.sum(axis=1, keepdims=True)

    rows = rates_amount(counts, read_any).alone[0]
    independent = counts.table("group") ** 2 / counts.table("group", of="weight²")
    effects = independent / rows
    assert effects[2] == pytest.approx(effects[:2].mean(), rel=0.3)
    assert effects[2] > 1.2
