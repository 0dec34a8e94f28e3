"""Groups compared with a reference: values by hand, limits against statsmodels and simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand._uncertainty.reference import compare_rates

HITS, ROWS = np.array([40.0, 60.0, 90.0]), np.array([100.0, 120.0, 150.0])
DECISIONS = np.concatenate(
    [np.repeat([1, 0], [int(h), int(n - h)]) for h, n in zip(HITS, ROWS, strict=True)]
)
GROUP = np.repeat(["a", "b", "c"], ROWS.astype(int))


def beside(**asked: object) -> list[eh.results.Contrast]:
    found = eh.contrasts("selection_rate_ratio", None, DECISIONS, sensitive_features=GROUP, **asked)
    return list(found)


def test_values_are_differences_and_ratios() -> None:
    rates = HITS / ROWS
    overall = HITS.sum() / ROWS.sum()
    for to, reference in {"a": rates[0], "best": rates.max(), "overall": overall}.items():
        differences = [each.value for each in beside(to=to)]
        ratios = [each.value for each in beside(to=to, by="ratio")]
        np.testing.assert_allclose(differences, rates - reference, atol=1e-12)
        np.testing.assert_allclose(ratios, rates / reference, atol=1e-12)


def test_one_group_beside_another_has_the_textbook_limits() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    hits, rows = np.array([300.0, 420.0]), np.array([1000.0, 1000.0])
    for how, compare in (("difference", "diff"), ("ratio", "ratio")):
        ours = compare_rates(hits, rows, 0, how, 0.05)
        low, high = proportion.confint_proportions_2indep(420, 1000, 300, 1000, compare=compare)
        assert ours.low[1] == pytest.approx(low, rel=0.02)
        assert ours.high[1] == pytest.approx(high, rel=0.02)


def test_exchanging_the_reference_mirrors_the_limits() -> None:
    first, second = (
        compare_rates(HITS[:2], ROWS[:2], 0, "ratio", 0.05),
        compare_rates(HITS[:2], ROWS[:2], 1, "ratio", 0.05),
    )
    assert first.low[1] == pytest.approx(1 / second.high[0], rel=1e-6)
    assert first.high[1] == pytest.approx(1 / second.low[0], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("to", [0, "best", "overall"])
@pytest.mark.parametrize("how", ["difference", "ratio"])
def test_limits_hold_for_all_groups_at_once(to: object, how: str) -> None:
    rng, rows = np.random.default_rng(3), np.array([1200, 600, 300, 80, 30])
    true = np.array([0.3, 0.25, 0.35, 0.2, 0.4])
    known = {0: true[0], "best": true.max(), "overall": true @ rows / rows.sum()}[to]
    wanted = true / known if how == "ratio" else true - known
    held = 0
    for _ in range(150):
        found = compare_rates(rng.binomial(rows, true), rows, to, how, 0.05)
        held += bool(((found.low <= wanted + 1e-9) & (wanted <= found.high + 1e-9)).all())
    assert held >= 136  # 95% of 150 is 142.5; less than 136 has a chance of 1 in 100


def test_the_farthest_group_is_between_its_limits() -> None:
    common = {"sensitive_features": GROUP}
    for to in ("a", "overall"):
        found = eh.interval("statistical_parity", None, DECISIONS, **common, measure="mpd", to=to)
        assert found.low <= found.value <= found.high
        ends = [abs(end) for each in beside(to=to) for end in (each.low, each.high)]
        assert found.high <= max(ends) + 1e-9
    ratio = eh.interval("selection_rate_ratio", None, DECISIONS, **common, to="a")
    assert ratio.low <= ratio.value <= ratio.high <= 1


def test_clusters_make_contrasts_wider() -> None:
    again, group = np.tile(DECISIONS, 3), np.tile(GROUP, 3)
    cluster = np.tile(np.arange(len(DECISIONS)), 3)
    widths = [
        sum(
            each.high - each.low
            for each in eh.contrasts(
                "statistical_parity", None, again, sensitive_features=group, to="a", cluster=name
            )
        )
        for name in (None, cluster)
    ]
    assert widths[1] > 1.5 * widths[0]


def test_groups_without_rows_have_no_contrast() -> None:
    found = compare_rates([5, 0, 9], [10, 0, 20], "best", "ratio", 0.05)
    assert np.isnan(found.values[1])
    assert np.isfinite(found.values[[0, 2]]).all()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"to": "z"}, "not a group"),
        ({"by": "odds"}, "'difference' or 'ratio'"),
        ({"confidence": 2.0}, "between 0 and 1"),
    ],
)
def test_bad_questions_are_refused(asked: dict[str, object], words: str) -> None:
    with pytest.raises(eh.InputError, match=words):
        beside(**asked)


def test_distributions_have_no_contrasts() -> None:
    with pytest.raises(eh.InputError, match="whole distributions"):
        eh.contrasts("strong_parity", None, [0.1, 0.2, 0.5], sensitive_features=[*"aab"])


@pytest.mark.parametrize("wrong", [{"to": np.array([1, 2])}, {"to": ["a"]}, {"by": None}])
def test_what_is_no_reference_is_refused_in_words(wrong: dict[str, object]) -> None:
    options = {"sensitive_features": [*"aabb"], **wrong}
    with pytest.raises(eh.InputTypeError, match="must be"):
        eh.contrasts("statistical_parity", None, [0, 1, 1, 0], **options)


@pytest.mark.parametrize("form", ["columns", "table", "data"])
def test_main_effects_are_the_contrasts_of_each_column_alone(form: str) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "question": np.repeat(np.arange(30), 8),
            "sex": rng.choice(["F", "M"], 240),
            "age": rng.choice([20, 40, 60], 240),
        }
    )
    rows["logit"] = rng.normal(rows["question"] % 5 + (rows["sex"] == "F"), 1)
    to = {"age": 60, "sex": "M"}
    asked = {"y_pred": "logit", "cluster": "question", "task": "regression", "data": rows}
    if form != "table":
        columns = {name: rows[name] for name in to}
        asked = {"y_pred": rows["logit"], "cluster": rows["question"], "task": "regression"}
        asked["sensitive_features"] = columns
    else:
        asked["sensitive_features"] = list(to)
    if form == "data":
        both = eh.contrasts("weak_parity", eh.Data(None, **asked), to=to)
    else:
        both = eh.contrasts("weak_parity", None, **asked, to=to)
    alone = [
        found._replace(column=column)
        for column, reference in to.items()
        for found in eh.contrasts(
            "weak_parity",
            None,
            rows["logit"],
            sensitive_features=rows[column],
            cluster=rows["question"],
            task="regression",
            to=reference,
        )
    ]
    assert [(each.column, each.group) for each in both] == [(e.column, e.group) for e in alone]
    for one, other in zip(both, alone, strict=True):
        np.testing.assert_allclose(one[2:6], other[2:6], rtol=1e-9, atol=1e-12)
    assert repr(both[0]).startswith("<Contrast: age=20 ")


@pytest.mark.parametrize(("to", "said"), [({"sx": "M"}, "sex"), ({}, "reference")])
def test_main_effects_of_a_column_that_is_not_there_are_refused(to: object, said: str) -> None:
    people = {"sex": [*"FMFM"] * 5, "age": [20, 20, 60, 60] * 5}
    with pytest.raises(eh.InputError, match=said):
        eh.contrasts("statistical_parity", None, [0, 1] * 10, sensitive_features=people, to=to)
