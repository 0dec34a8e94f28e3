import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from evenhand.mitigation import BarycenterRegressor, GivenScores
from evenhand.mitigation.barycenter import barycentric_quantiles, ordered
from mitigation.regressions import distance, people

NUMBERS = st.lists(st.integers(-50, 50), min_size=1, max_size=12)


def interpolation_by_highs(first, second, part):
    """The W2 barycenter of two samples: their best coupling, each pair at its weighted mean."""
    n, m = len(first), len(second)
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    found = linprog(
        np.square(np.subtract.outer(first, second)).ravel(),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)]),
    )
    points = np.add.outer((1 - part) * first, part * second).ravel()
    order = np.argsort(points)
    return points[order], np.cumsum(found.x[order])


def in_order(first, second):
    group = np.repeat([0, 1], [len(first), len(second)])
    return ordered(np.concatenate([first, second]), group, np.ones(len(group)), 2)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(NUMBERS, NUMBERS, st.floats(0, 1))
def test_two_samples_have_the_barycentre_of_linear_programming(first, second, part):
    first, second = np.array(first, float), np.array(second, float)
    points, levels = interpolation_by_highs(first, second, part)
    asked = (np.arange(60) + 0.5) / 60.37  # on no jump of either sample
    wanted = points[np.searchsorted(levels, asked - 1e-9)]
    found = barycentric_quantiles(in_order(first, second), np.array([1 - part, part]), asked)
    assert found == pytest.approx(wanted, abs=1e-9)


def test_two_samples_have_the_barycentre_of_pot():
    ot = pytest.importorskip("ot", reason="POT is the oracle")
    random = np.random.default_rng(0)
    first, second = np.sort(random.normal(size=9)), np.sort(random.gamma(2, size=14))
    i, j = np.nonzero(ot.emd_1d(first, second) > 1e-12)
    mass = ot.emd_1d(first, second)[i, j]
    asked = random.uniform(size=500)
    wanted = (0.3 * first[i] + 0.7 * second[j])[np.searchsorted(np.cumsum(mass), asked)]
    found = barycentric_quantiles(in_order(first, second), np.array([0.3, 0.7]), asked)
    assert found == pytest.approx(wanted)


def test_groups_of_equal_size_get_the_mean_of_equal_ranks():
    random = np.random.default_rng(1)
    scores, group = random.normal(size=(5, 40)), np.repeat(np.arange(5), 40)
    X = np.column_stack([group, scores.ravel()])
    values = BarycenterRegressor(GivenScores(1), group=0).fit(X, scores.ravel()).predict(X)
    ranks = scores.argsort(axis=1).argsort(axis=1)
    assert values == pytest.approx(np.sort(scores, axis=1).mean(axis=0)[ranks].ravel())


def test_parity_comes_with_rows():
    distances = []
    for rows in (200, 2000, 20_000):
        X, y = people(rows, seed=1)
        other, _ = people(20_000, seed=2)
        values = BarycenterRegressor(GivenScores("score"), group="group").fit(X, y).predict(other)
        distances.append(distance(values, other["group"].to_numpy()))
    assert distances[0] > 2 * distances[1] > 4 * distances[2]
    assert distances[2] < 0.03


@pytest.mark.slow
def test_all_rows_serve_better_than_halves():
    other, _ = people(20_000, seed=99)

    def reached(halves, seed):
        X, y = people(300, seed=seed)
        how = {"group": "group", "halves": halves, "random_state": seed}
        values = BarycenterRegressor(GivenScores("score"), **how).fit(X, y).predict(other)
        return distance(values, other["group"].to_numpy())

    whole, half = (
        np.mean([reached(halves, seed) for seed in range(8)]) for halves in (False, True)
    )
    assert whole < half < 3 * whole


def test_the_fraction_leads_from_the_base_model_to_parity():
    X, y = people(1000)
    group, base = X["group"].to_numpy(), X["score"].to_numpy()
    fitted = [
        BarycenterRegressor(GivenScores("score"), group="group", fraction=fraction).fit(X, y)
        for fraction in np.linspace(0, 1, 6)
    ]
    values = [model.predict(X) for model in fitted]
    assert (values[0] == base).all()
    moved = [np.sqrt(np.mean((one - base) ** 2)) for one in values]
    assert moved == pytest.approx(np.linspace(0, moved[-1], 6))  # a geodesic
    assert (np.diff([distance(one, group) for one in values]) < 0).all()


def test_mirrored_scores_have_mirrored_predictions():
    X, y = people(101)
    mirrored = X.assign(score=-X["score"].round(1))
    one = BarycenterRegressor(GivenScores("score"), group="group")
    there = one.fit(X.round(1), y).predict(X.round(1))
    assert one.fit(mirrored, y).predict(mirrored) == pytest.approx(-there)


def test_order_within_a_group_and_ties_are_kept():
    X, y = people(300)
    X["score"] = X["score"].round(1)
    values = BarycenterRegressor(GivenScores("score"), group="group").fit(X, y).predict(X)
    for one in range(3):
        members = (X["group"] == one).to_numpy()
        pairs = np.unique(np.column_stack([X["score"][members], values[members]]), axis=0)
        assert (np.diff(pairs[:, 0]) > 0).all()
        assert (np.diff(pairs[:, 1]) >= 0).all()


def test_unseen_scores_lie_between_their_neighbours_and_within_the_range():
    X = np.array([[0, 1.0], [0, 2.0], [1, 5.0], [1, 8.0]])
    model = BarycenterRegressor(GivenScores(1), group=0).fit(X, X[:, 1])
    asked = np.array([[0, 1.5], [1, 6.5], [0, -9.0], [1, 99.0]])
    assert model.predict(asked) == pytest.approx([4.0, 4.0, 3.0, 5.0])


def test_weights_count_like_repeated_rows():
    X, y = people(120)
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    model = BarycenterRegressor(GivenScores("score"), group="group")
    weighted = model.fit(X, y, times).predict(X)
    repeated = model.fit(X.loc[X.index.repeat(times)], np.repeat(y, times)).predict(X)
    assert weighted == pytest.approx(repeated)


def test_a_group_of_one_row_is_served_and_named():
    X = np.array([[0, 1.0], [0, 2.0], [0, 3.0], [1, 10.0]])
    model = BarycenterRegressor(GivenScores(1), group=0, halves=True, random_state=0)
    assert np.isfinite(model.fit(X, X[:, 1]).predict(X)).all()
    assert model.notes_ == ("one row only, used for ranks and quantiles alike: 1.0",)


def test_a_fraction_beyond_one_is_refused():
    X, y = people()
    with pytest.raises(
        ValueError, match="fraction of BarycenterRegressor must be a number from 0 to 1, not 2"
    ):
        BarycenterRegressor(group="group", fraction=2).fit(X, y)
