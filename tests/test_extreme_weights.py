"""Weights of any size: rates, areas and distributions are those of exact arithmetic."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import evenhand as eh

ROWS = 60
RNG = np.random.default_rng(7)
Y, P, G = (RNG.integers(0, 2, ROWS) for _ in range(3))
S = RNG.random(ROWS).round(2)

SPREAD = {
    "by group": np.where(G == 0, 1e23, 1.0) * RNG.uniform(1, 2, ROWS),
    "by group, the other way": np.where(G == 1, 1e23, 1.0) * RNG.uniform(1, 2, ROWS),
    "by outcome": np.where(Y == P, 1e23, 1.0) * RNG.uniform(1, 2, ROWS),
    "by row": 10.0 ** RNG.uniform(0, 23, ROWS),
    "tiny": 10.0 ** RNG.uniform(-40, -30, ROWS),
}


def share(chosen, among, weight):
    """The weight of the chosen rows over that of all, exactly."""
    exact = [Fraction(value) for value in weight]
    above = sum(e for e, c, a in zip(exact, chosen, among, strict=True) if c and a)
    return above / sum(e for e, a in zip(exact, among, strict=True) if a)


def area(group, weight):
    rows = np.flatnonzero(group == G)
    exact = {i: Fraction(weight[i]) for i in rows}
    pairs = [(i, j) for i in rows if Y[i] for j in rows if not Y[j]]
    won = {True: Fraction(1), False: Fraction(0)}
    half = Fraction(1, 2)
    wins = sum(
        exact[i] * exact[j] * (half if S[i] == S[j] else won[bool(S[i] > S[j])]) for i, j in pairs
    )
    return wins / sum(exact[i] * exact[j] for i, j in pairs)


def wrong_ways(group, weight):
    exact = [Fraction(value) for value in weight]
    missed = sum(exact[i] for i in range(ROWS) if G[i] == group and Y[i] and not P[i])
    return missed / sum(exact[i] for i in range(ROWS) if G[i] == group and not Y[i] and P[i])


EXACT = {
    "statistical_parity": lambda a, w: share(P == 1, a == G, w),
    "equal_opportunity": lambda a, w: share(P == 1, (a == G) & (Y == 1), w),
    "predictive_parity": lambda a, w: share(Y == 1, (a == G) & (P == 1), w),
    "accuracy_parity": lambda a, w: share(P == Y, a == G, w),
    "error_parity": lambda a, w: share(P != Y, a == G, w),
}


@pytest.mark.parametrize("kind", SPREAD)
@pytest.mark.parametrize("criterion", EXACT)
def test_rates_lose_no_weight(kind, criterion):
    weight = SPREAD[kind]
    values = [EXACT[criterion](group, weight) for group in (0, 1)]
    found = eh.evaluate(
        criterion, Y, P, sensitive_features=G, sample_weight=weight, measure="mpd", favorable=1
    )
    assert found == pytest.approx(float(abs(values[0] - values[1])), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("kind", SPREAD)
def test_light_errors_beside_heavy_hits_are_counted(kind):
    weight = SPREAD[kind]
    reading = eh.CRITERIA["treatment_equality"].read(
        Y, P, sensitive_features=G, sample_weight=weight, measure="mpd"
    )
    expected = [wrong_ways(group, weight) for group in (0, 1)]
    assert float(reading) == pytest.approx(float(abs(expected[0] - expected[1])), rel=1e-12)


@pytest.mark.parametrize("kind", SPREAD)
def test_areas_lose_no_weight(kind):
    weight = SPREAD[kind]
    areas = [area(group, weight) for group in (0, 1)]
    found = eh.evaluate(
        "performance_parity",
        Y,
        y_score=S,
        g="auroc",
        sensitive_features=G,
        sample_weight=weight,
        measure="mpd",
    )
    assert found == pytest.approx(float(abs(areas[0] - areas[1])), abs=1e-12)


@pytest.mark.parametrize("kind", SPREAD)
def test_distributions_lose_no_weight(kind):
    weight = SPREAD[kind]
    largest = max(
        abs(share(cut >= S, G == 0, weight) - share(cut >= S, G == 1, weight)) for cut in set(S)
    )
    found = eh.evaluate(
        "strong_parity", None, S, sensitive_features=G, sample_weight=weight, measure="mpd"
    )
    assert found == pytest.approx(float(largest), abs=1e-13)


def test_everyone_else_is_nobody_light_beside_a_heavy_group():
    from evenhand.statistics.arithmetic import sum_of_others

    heavy = np.array([[1e30, 1.0, 2.0, 4.0], [5.0, 0.0, 1e30, 1.0]])
    expected = [[float(sum(map(Fraction, np.delete(row, i)))) for i in range(4)] for row in heavy]
    np.testing.assert_allclose(sum_of_others(heavy), expected, rtol=1e-15)


@pytest.mark.parametrize("size", [1e120, 1e300, 1e-120, 1e-300, 1e-310, 5e-324])
def test_weights_whose_squares_are_no_numbers_are_refused(size):
    weight = np.full(ROWS, size)
    with pytest.raises(eh.InputError, match="Multiply all weights by"):
        eh.tally(Y, P, sensitive_features=G, sample_weight=weight)
    with pytest.raises(eh.InputError, match="Multiply all weights by"):
        eh.distribution(S, sensitive_features=G, sample_weight=weight)


@pytest.mark.parametrize("size", [1e60, 1e-60, 1e-310, 5e-324])
def test_values_whose_fourth_powers_are_no_numbers_are_refused(size):
    with pytest.raises(eh.InputError, match=r"multiply it by \de[+-]\d+\."):
        eh.tally(None, np.full(ROWS, size), sensitive_features=G, task="regression")


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None, -1.0, 1e200, 1e-200])
def test_a_weight_that_is_none_is_refused_in_every_frame(kind, bad):
    rows = {"y": Y.tolist(), "p": P.tolist(), "g": G.tolist(), "w": [*[1.0] * (ROWS - 1), bad]}
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g", "sample_weight": "w"}
    with pytest.raises(eh.InputError, match="'w'"):
        eh.tally(data=FRAMES[kind](rows), **names)


@pytest.mark.parametrize(
    "criterion", ["statistical_parity", "strong_parity", "equal_opportunity", "performance_parity"]
)
def test_a_group_that_weighs_nothing_is_left_out_and_all_weights_of_0_are_undefined(criterion):
    three, more = np.arange(ROWS) % 3, {"g": "auroc"} if criterion == "performance_parity" else {}
    prediction = S if criterion == "strong_parity" else P
    common = {"measure": "mpd", **more} | ({"y_score": S} if more else {})
    kept = three < 2
    weight = np.where(kept, 1.0, 0.0)
    found = eh.CRITERIA[criterion].read(
        Y, prediction, sensitive_features=three, sample_weight=weight, **common
    )
    two = {name: value[kept] if name == "y_score" else value for name, value in common.items()}
    alone = eh.CRITERIA[criterion].read(
        Y[kept], prediction[kept], sensitive_features=three[kept], **two
    )
    assert float(found) == pytest.approx(float(alone))
    with pytest.raises(eh.InputError, match="have weight 0"):
        eh.evaluate(criterion, Y, prediction, sensitive_features=G, sample_weight=0.0 * S, **common)
