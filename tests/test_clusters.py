"""Rows that go together: what they amount to, wherever rows are counted."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand._data.areas import auroc_influences
from evenhand._uncertainty.clusters import units_of
from evenhand._uncertainty.estimates import estimates_of
from evenhand.criteria import CRITERIA

ASKED = CRITERIA["selection_rate_ratio"]


def people(clusters: int = 80, size: int = 25, groups: str = "abc", seed: int = 0) -> pd.DataFrame:
    """Rows whose outcomes go together within a cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), size)
    rows = len(cluster)
    value = rng.normal(size=rows) + rng.normal(size=clusters)[cluster]
    score = 1 / (1 + np.exp(-value))
    return pd.DataFrame(
        {
            "y": (rng.random(rows) < score).astype(int),
            "p": (score > 0.5).astype(int),
            "score": score,
            "value": value,
            "target": value + rng.normal(size=rows),
            "group": rng.choice([*groups], rows),
            "sex": rng.choice(["F", "M"], rows),
            "school": cluster,
            "rater": rng.integers(0, 40, rows),
            "weight": rng.choice([1.0, 2.0, 5.0], rows),
        }
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_the_variance_of_a_rate_is_the_cluster_sandwich_of_statsmodels(weighted: bool) -> None:
    api = pytest.importorskip("statsmodels.api")
    rows = people(clusters=23, size=7)
    weight = rows.weight if weighted else pd.Series(np.ones(len(rows)))
    counts = eh.tally(
        None,
        rows.p,
        sensitive_features=rows.group,
        cluster=rows.school,
        sample_weight=rows.weight if weighted else None,
    )
    units, each = units_of(counts, "cluster")
    rate = ASKED.table(counts, 1).values[0]
    total = each.table("yhat", "group").sum(axis=0, keepdims=True)
    residuals = each.table("yhat", "group")[1:] - rate[units.owner] * total
    ours = units.sandwich(residuals, total)[0]
    for at, group in enumerate(counts.groups):
        chosen = rows.group == group
        fitted = api.WLS(rows.p[chosen], np.ones(chosen.sum()), weights=weight[chosen]).fit(
            cov_type="cluster", cov_kwds={"groups": rows.school[chosen]}
        )
        assert ours[at] == pytest.approx(float(fitted.cov_params().iloc[0, 0]), rel=1e-8)


def test_influences_on_an_area_have_the_standard_error_of_delong() -> None:
    rows = people()
    scores = eh.distribution(rows.score, sensitive_features=rows.group, y_true=rows.y)
    moved = auroc_influences(scores, 1)
    for at, (_, part) in enumerate(rows.groupby("group")):
        high, low = (part.score[part.y == y].to_numpy() for y in (1, 0))
        won = (high[:, None] > low) + 0.5 * (high[:, None] == low)
        by_hand = won.mean(1).var() / len(high) + won.mean(0).var() / len(low)
        chosen = moved[scores.codes == at]
        assert chosen.sum() == pytest.approx(0.0, abs=1e-8)
        assert (chosen**2).sum() / len(chosen) ** 2 == pytest.approx(by_hand)


@pytest.mark.parametrize("criterion", ["statistical_parity", "equalized_odds", "accuracy_parity"])
def test_rows_repeated_in_a_cluster_amount_to_single_ones(criterion: str) -> None:
    rows = people(clusters=900, size=1)
    again = pd.concat([rows] * 5)
    once, repeated, naive = (
        eh.interval(criterion, part.y, part.p, sensitive_features=part.group, cluster=cluster)
        for part, cluster in ((rows, None), (again, again.school), (again, None))
    )
    assert repeated.value == pytest.approx(once.value)
    assert repeated.high == pytest.approx(once.high, rel=0.06)
    assert naive.high < 0.8 * once.high


@pytest.mark.slow
@pytest.mark.parametrize("of", ["losses", "areas", "scores", "calibration", "means"])
def test_repeated_rows_amount_to_single_ones_beyond_rates(of: str) -> None:
    rows = people(clusters=1500, size=1, seed=3)
    again = pd.concat([rows] * 4)

    def width(part: pd.DataFrame, cluster: object) -> float:
        common = {"sensitive_features": part.group, "cluster": cluster}
        asked = {
            "losses": lambda: eh.interval(
                "performance_parity", part.target, part.value, g="mse", **common
            ),
            "areas": lambda: eh.interval(
                "performance_parity", part.y, y_score=part.score, g="auroc", **common
            ),
            "scores": lambda: eh.interval("strong_parity", None, part.value, **common),
            "calibration": lambda: eh.interval(
                "calibration_parity", part.y, y_score=part.score, **common
            ),
            "means": lambda: eh.interval("weak_parity", None, part.value, **common),
        }
        found = asked[of]()
        return found.high

    once, repeated, naive = width(rows, None), width(again, again.school), width(again, None)
    assert repeated == pytest.approx(once, rel=0.12)
    assert naive < repeated


@pytest.mark.slow
def test_an_audit_of_clusters_has_the_same_values_and_wider_intervals_of_groups() -> None:
    rows = people()
    common = {"sensitive_features": rows[["group", "sex"]], "y_score": rows.score}
    alone = eh.audit(rows.y, rows.p, **common)
    together = eh.audit(rows.y, rows.p, **common, cluster=rows.school)
    for before, after in zip(alone.findings, together.findings, strict=True):
        for name, value in before.values.items():
            assert after.values[name].value == pytest.approx(value.value)
    assert any("80 clusters" in note for note in together.notes)
    for one, other in zip(alone.group_values, together.group_values, strict=True):
        if np.isfinite(one.low).any():
            assert np.nanmean(other.high - other.low) >= 0.99 * np.nanmean(one.high - one.low)


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["statistical_parity", "equalized_odds", "treatment_equality"])
def test_units_with_the_same_counts_vary_as_if_each_had_a_pattern_of_its_own(asked: str) -> None:
    rows = people(clusters=300, size=7)
    columns = {"sensitive_features": rows.group, "cluster": rows.school}
    weight = np.full(len(rows), 3.0)  # then every unit has its own pattern
    plain = eh.tally(rows.y, rows.p, **columns)
    units, counts = units_of(plain, "cluster")
    assert len(units.owner) == len(counts.groups) < len(units.cluster) / 4
    weighted = eh.tally(rows.y, rows.p, sample_weight=weight, **columns)
    assert len(units_of(weighted, "cluster")[0].owner) == len(units.cluster)
    one, other = (eh.interval(asked, each, measure="mpd") for each in (plain, weighted))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)


@pytest.mark.slow
def test_every_door_gives_the_same_audit_of_clusters(tmp_path) -> None:
    rows = people(clusters=40, size=10)
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "group", "cluster": "school"}
    whole = eh.audit(rows.y, rows.p, sensitive_features=rows[["group"]], cluster=rows.school)
    wanted = json.loads(whole.to_json())["findings"]
    counted = rows.groupby(["y", "p", "group", "school"]).size().reset_index(name="n")
    found = {
        "frame": eh.audit(data=rows, **names),
        "counts": eh.audit(eh.tally(data=counted, rows="n", **names), sensitive_features=["group"]),
        "table of counts": eh.audit(data=counted, **names, rows="n"),
        "tally": eh.audit(eh.tally(data=rows, **names), sensitive_features=["group"]),
    }
    for door, audit in found.items():
        assert json.loads(audit.to_json())["findings"] == wanted, door


@pytest.mark.slow
def test_scores_counted_in_bins_know_their_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = people(clusters=60, size=10)
    rows["score"] = rows.score.round(2)
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "group", "y_score": "score"}
    exact = eh.audit(data=rows, **names, cluster="school")
    monkeypatch.setattr("evenhand._data.tables.ROWS_TO_BRING", 0)
    binned = eh.audit(data=rows, **names, cluster="school")
    for one, two in zip(exact.findings, binned.findings, strict=True):
        for name, value in one.values.items():
            assert two.values[name].high == pytest.approx(value.high, abs=1e-6), one.criterion


@pytest.mark.slow
@given(st.data())
@settings(max_examples=20, deadline=None)
def test_a_cluster_may_lie_in_several_parts(data: st.DataObject) -> None:
    rows = people(clusters=6, size=5, seed=data.draw(st.integers(0, 99)))
    part = np.array(data.draw(st.lists(st.integers(0, 2), min_size=30, max_size=30)))
    common = ["y", "p", "group", "school"]

    def counted(some: pd.DataFrame) -> eh.Tally:
        y, p, group, school = (some[name] for name in common)
        return eh.tally(y, p, sensitive_features=group, cluster=school)

    parts = [counted(rows[part == i]) for i in range(3) if (part == i).any()]
    whole, merged = counted(rows), sum(parts)
    shown = [estimates_of(each, ASKED, 1) for each in (whole, merged)]
    np.testing.assert_array_equal(whole.cells, merged.cells)
    np.testing.assert_allclose(shown[0].sizes, shown[1].sizes)


def test_a_clustering_inside_another_adds_nothing_to_it() -> None:
    rows = people()
    inside = [f"{school} {rater}" for school, rater in zip(rows.school, rows.rater, strict=True)]
    sizes = [
        estimates_of(
            eh.tally(None, rows.p, sensitive_features=rows.group, cluster=cluster), ASKED, 1
        ).sizes
        for cluster in (rows.school, pd.DataFrame({"school": rows.school, "inside": inside}))
    ]
    np.testing.assert_allclose(*sizes)


@pytest.mark.slow
def test_few_clusters_are_said_to_be_few() -> None:
    rows = people(clusters=12)
    audit = eh.audit(rows.y, rows.p, sensitive_features=rows.group, cluster=rows.school)
    assert any(note.startswith("12 clusters are too few") for note in audit.notes)


def test_a_group_that_is_one_cluster_tells_nothing() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], 500)
    p = np.concatenate([rng.random(500) < 0.2, rng.random(500) < 0.7]).astype(int)
    found = eh.interval("statistical_parity", None, p, sensitive_features=group, cluster=group)
    assert found.low == 0.0
    assert found.high > 0.95


def test_where_every_cluster_fills_places_differences_vary_as_the_hypergeometric_says() -> None:
    """Ten of twenty are chosen, of whom ten are of a group: 20 / 19 of the variance of 600 rows."""
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(60), 20)
    group = np.tile(np.repeat(["a", "b"], 10), 60)
    sizes = []
    for _ in range(20):
        p = np.concatenate([rng.permutation(np.repeat([1, 0], 10)) for _ in range(60)])
        counts = eh.tally(None, p, sensitive_features=group, cluster=cluster)
        sizes.append(estimates_of(counts, ASKED, 1).sizes)
    assert 0.9 * 570 < np.mean(sizes) <= 600


def test_a_place_that_one_of_two_gets_makes_differences_vary_more() -> None:
    """A man and a woman for each job: whoever is chosen, the other is not; twice the variance."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, 400)
    p = np.stack([first, 1 - first], axis=1).ravel()
    named = {"sensitive_features": [*"ab"] * 400, "cluster": np.repeat(np.arange(400), 2)}
    sizes = estimates_of(eh.tally(None, p, **named), ASKED, 1).sizes
    assert sizes == pytest.approx(200, rel=0.05)


def test_chance_makes_more_of_clusters_inside_of_groups() -> None:
    rows = people()
    inside = rows.school.astype(str) + rows.group.astype(str)
    common = {"sensitive_features": rows.group}
    for asked in (
        ("statistical_parity", None, rows.p),
        ("performance_parity", rows.y, rows.p),
        ("strong_parity", None, rows.value),
        ("weak_parity", None, rows.value),
    ):
        alone, together = (eh.chance(*asked, **common, cluster=c) for c in (None, inside))
        assert together.value == pytest.approx(alone.value)
        assert together.floor > 1.2 * alone.floor


@pytest.mark.slow
def test_a_comparison_of_repeated_rows_is_that_of_single_ones() -> None:
    rows = people(clusters=800, size=1)
    again = pd.concat([rows] * 5)

    def compared(part: pd.DataFrame, cluster: object) -> pd.DataFrame:
        models = {"one": part.p, "two": (part.score > 0.6).astype(int)}
        common = {"sensitive_features": part.group, "criteria": "statistical_parity"}
        return eh.compare(part.y, models, **common, cluster=cluster)

    once, repeated, naive = (
        compared(*each) for each in ((rows, None), (again, again.school), (again, None))
    )
    for column in ("low", "high"):
        np.testing.assert_allclose(
            repeated.differences[column], once.differences[column], rtol=0.15, atol=1e-3
        )
    widths = [(each.differences.high - each.differences.low).sum() for each in (naive, repeated)]
    assert widths[0] < 0.75 * widths[1]
    accuracy = [each.performance for each in (once, repeated)]
    np.testing.assert_allclose(accuracy[1].low, accuracy[0].low, atol=0.01)


@pytest.mark.slow
def test_models_of_numbers_are_compared_by_cluster() -> None:
    rows = people(clusters=400, size=1)
    again = pd.concat([rows] * 5)
    noise = np.random.default_rng(5).normal(size=len(rows)) / 2

    def compared(part: pd.DataFrame, cluster: object) -> pd.DataFrame:
        shift = np.tile(noise, len(part) // len(noise))
        models = {"one": part.value, "two": part.value + shift, "three": part.target + shift}
        columns = {"sensitive_features": part.group, "cluster": cluster}
        return eh.compare(part.target, models, **columns, criteria="weak_parity").differences

    once, repeated = compared(rows, None), compared(again, again.school)
    np.testing.assert_allclose(repeated.high, once.high, rtol=0.2, atol=0.02)


@pytest.mark.slow
def test_a_scan_of_clusters_finds_less() -> None:
    rows = people(clusters=300, size=20, seed=4)
    rows["p"] = (rows.value + 0.8 * (rows.sex == "F") > 0).astype(int)
    common = {"sensitive_features": rows[["group", "sex"]]}
    alone = eh.audit(rows.y, rows.p, **common)
    together = eh.audit(rows.y, rows.p, **common, cluster=rows.school)
    sure = [sum(subgroup.at_least for subgroup in audit.subgroups) for audit in (alone, together)]
    assert 0 < sure[1] < sure[0]


@pytest.mark.parametrize(
    ("cluster", "words"),
    [([1, None, 2, 2], "1 of 4 rows have no cluster"), ([1, 2, 3], "length|rows")],
)
def test_bad_clusters_are_refused(cluster: list[object], words: str) -> None:
    with pytest.raises(eh.InputError, match=words):
        eh.tally(None, [0, 1, 1, 0], sensitive_features=[*"abab"], cluster=cluster)


@pytest.mark.slow
def test_intervals_hold_where_rows_go_together() -> None:
    rng, true = np.random.default_rng(11), np.array([0.25, 0.35])
    held = np.zeros(2)
    for _ in range(60):
        cluster = np.arange(60)
        rate = np.array([rng.beta(3 * m, 3 * (1 - m)) for m in true[cluster % 2]])
        rows = np.repeat(cluster, 20)
        p = (rng.random(len(rows)) < rate[rows]).astype(int)
        for at, together in enumerate((rows, None)):
            found = eh.interval(
                "statistical_parity", None, p, sensitive_features=rows % 2, cluster=together
            )
            held[at] += found.low <= 0.1 <= found.high
    assert held[0] >= 53
    assert held[1] < 45
