"""Groups that are probable, partly known or missing, against programs that try every assignment."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import chi2

import evenhand as eh
from evenhand._unknown.counted import cells_of
from evenhand.measures import resolve

CELLS = 5
LABELS = ["a", "b", "c", "d"]


def people(seed, groups=3, rows=60, sharp=1.0):
    """Cells of a proxy, truth and prediction of rows; every cell has every outcome."""
    random = np.random.default_rng(seed)
    proxy = random.dirichlet(np.full(groups, sharp), CELLS)
    cell = np.arange(rows * CELLS) % CELLS
    y = random.random(len(cell)) < 0.3 + 0.4 * proxy[cell, 0]
    predicted = random.random(len(cell)) < 0.2 + 0.3 * y + 0.4 * proxy[cell, 0]
    return proxy, cell, y.astype(int), predicted.astype(int)


def asked(criterion, y, predicted, matrix, measure=None, assuming=None, **options):
    groups = eh.probable(matrix, LABELS[: matrix.shape[1]], assuming=assuming)
    return eh.bounds(
        criterion,
        y,
        predicted,
        sensitive_features=groups,
        measure=measure,
        favorable=None if criterion == "accuracy_parity" else 1,
        **options,
    )


def make_scorer(groups):
    return eh.make_scorer("statistical_parity", sensitive_features=groups)


class Program:
    """All ways to put the rows of each cell and outcome into groups, by their shares.

    A variable is the weight of one outcome of one cell that is in one group.
    """

    def __init__(self, proxy, cell, outcome):
        self.shape = shape = (len(proxy), 3, proxy.shape[1])
        weight = np.zeros(shape[:2])
        np.add.at(weight, (cell, outcome), 1.0)
        rows, right = [], []
        for c in range(shape[0]):
            for k in range(3):
                rows.append(self.at((c, k, slice(None))))
                right.append(weight[c, k])
            for g in range(shape[2]):
                rows.append(self.at((c, slice(None), g)))
                right.append(weight[c].sum() * proxy[c, g])
        self.equal, self.right = np.array(rows), np.array(right)

    def at(self, where):
        row = np.zeros(self.shape)
        row[where] = 1.0
        return row.ravel()

    def hits(self, g):
        return self.at((slice(None), 0, g))

    def rows(self, g):
        return self.hits(g) + self.at((slice(None), 1, g))

    def extreme_rate(self, g, sign):
        """By Charnes and Cooper's substitution, with one variable for the scale."""
        equal = np.c_[self.equal, -self.right]
        equal = np.r_[equal, [np.r_[self.rows(g), 0.0]]]
        right = np.r_[np.zeros(len(self.right)), 1.0]
        found = linprog(np.r_[-sign * self.hits(g), 0.0], A_eq=equal, b_eq=right)
        return -sign * found.fun

    def rates(self, cost):
        """The rates at the solution of some linear cost: one of the possible assignments."""
        found = linprog(cost, A_eq=self.equal, b_eq=self.right).x
        groups = range(self.shape[2])
        return np.array([self.hits(g) @ found / (self.rows(g) @ found) for g in groups])


OUTCOMES = {  # 0 is a hit, 1 a miss, 2 neither
    "statistical_parity": lambda y, p: 1 - p,
    "equal_opportunity": lambda y, p: np.where(y == 1, 1 - p, 2),
    "predictive_equality": lambda y, p: np.where(y == 0, 1 - p, 2),
    "predictive_parity": lambda y, p: np.where(p == 1, 1 - y, 2),
    "accuracy_parity": lambda y, p: (y != p).astype(int),
}


@pytest.mark.parametrize("criterion", OUTCOMES)
@pytest.mark.parametrize("groups", [2, 3, 4])
def test_the_largest_gap_is_that_of_a_linear_program(criterion, groups):
    proxy, cell, y, predicted = people(groups, groups)
    program = Program(proxy, cell, OUTCOMES[criterion](y, predicted))
    high, low = (
        np.array([program.extreme_rate(g, sign) for g in range(groups)]) for sign in (1, -1)
    )
    gaps = (high[:, None] - low)[~np.eye(groups, dtype=bool)]
    found = asked(criterion, y, predicted, proxy[cell])
    assert found.answers["bounds"].greatest == pytest.approx(gaps.max(), abs=1e-6)


@pytest.mark.parametrize("criterion", OUTCOMES)
def test_the_largest_gap_is_attained_and_none_is_below_the_smallest(criterion):
    """A program whose cost favors hits in one group and misses in another gets there at once."""
    groups = 3
    proxy, cell, y, predicted = people(7, groups, sharp=0.3)
    program = Program(proxy, cell, OUTCOMES[criterion](y, predicted))
    answer = asked(criterion, y, predicted, proxy[cell]).answers["bounds"]
    gaps = []
    for top in range(groups):
        for bottom in range(groups):
            if top != bottom:
                cost = program.rows(top) - 2 * program.hits(top)
                cost += 2 * program.hits(bottom) - program.rows(bottom)
                gaps.append(np.ptp(program.rates(cost)))
    assert max(gaps) == pytest.approx(answer.greatest, abs=1e-6)
    random = np.random.default_rng(0)
    tried = [np.ptp(program.rates(random.normal(size=program.equal.shape[1]))) for _ in range(40)]
    assert min(gaps + tried) >= answer.least - 1e-9
    assert max(tried) <= answer.greatest + 1e-9


def least_gap(program, whole):
    """The smallest largest difference of rates, of groups of which so many rows count."""
    groups = program.shape[2]
    rates = np.array([program.hits(g) / whole[g] for g in range(groups)])
    upper = np.c_[rates, -np.ones(groups), np.zeros(groups)]
    lower = np.c_[-rates, np.zeros(groups), np.ones(groups)]
    equal = np.c_[program.equal, np.zeros((len(program.equal), 2))]
    cost = np.r_[np.zeros(program.equal.shape[1]), 1.0, -1.0]
    found = linprog(
        cost, A_ub=np.r_[upper, lower], b_ub=np.zeros(2 * groups), A_eq=equal, b_eq=program.right
    )
    return found.fun


@pytest.mark.parametrize("criterion", ["statistical_parity", "accuracy_parity"])
@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_gap_is_that_of_a_linear_program(criterion, seed):
    proxy, cell, y, predicted = people(seed, 3, sharp=0.05)
    outcome = OUTCOMES[criterion](y, predicted)
    expected = least_gap(Program(proxy, cell, outcome), 60 * proxy.sum(axis=0))
    found = asked(criterion, y, predicted, proxy[cell])
    assert found.answers["bounds"].least == pytest.approx(expected, abs=1e-6)
    assert found.is_sharp


@pytest.mark.parametrize("measure", ["gini", "pq", "ratio"])
def test_other_measures_are_largest_at_a_vertex(measure):
    """No assignment that a linear program finds is more uneven, and one is as uneven."""
    groups = 3
    proxy, cell, y, predicted = people(3, groups)
    program = Program(proxy, cell, OUTCOMES["statistical_parity"](y, predicted))
    answer = asked("statistical_parity", y, predicted, proxy[cell], measure).answers["bounds"]
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    costs = [sum(-at * program.hits(g) for at, g in enumerate(order)) for order in orders]
    values = [resolve(measure)(program.rates(cost)) for cost in costs]
    extreme = answer.least if measure == "ratio" else answer.greatest
    assert extreme == pytest.approx((min if measure == "ratio" else max)(values), abs=1e-6)


class Amounts:
    """All ways to put rows with values into groups, by their shares of the cells' weights."""

    def __init__(self, proxy, cell, value, weight):
        rows, groups = len(cell), proxy.shape[1]
        each = np.kron(np.eye(rows), np.ones(groups))
        inside = np.eye(len(proxy))[cell].T  # (cells, rows)
        shares = np.kron(inside, np.eye(groups))
        whole = inside @ weight
        self.equal = np.r_[each, shares]
        self.right = np.r_[weight, (whole[:, None] * proxy).ravel()]
        self.means = np.kron(value, np.eye(groups)) / (whole @ proxy)[:, None]

    def most(self, cost):
        return -linprog(-cost, A_eq=self.equal, b_eq=self.right).fun

    def least(self):
        groups = len(self.means)
        one, none = np.ones((groups, 1)), np.zeros((groups, 1))
        found = linprog(
            np.r_[np.zeros(self.equal.shape[1]), 1.0, -1.0],
            A_ub=np.r_[np.c_[self.means, -one, none], np.c_[-self.means, none, one]],
            b_ub=np.zeros(2 * groups),
            A_eq=np.c_[self.equal, np.zeros((len(self.equal), 2))],
            b_eq=self.right,
            bounds=[(0, None)] * self.equal.shape[1] + [(None, None)] * 2,
        )
        return found.fun


@pytest.mark.parametrize("criterion", ["weak_parity", "performance_parity(mse)"])
@pytest.mark.parametrize("sharp", [1.0, 0.02])
def test_bounds_of_means_are_those_of_a_linear_program(criterion, sharp):
    random = np.random.default_rng(3)
    proxy, cell = random.dirichlet(np.full(3, sharp), 4), np.arange(40) % 4
    value, weight = random.normal(size=40).round(1) + cell, random.random(40) + 0.5
    groups = eh.probable(proxy[cell], ["a", "b", "c"])
    asked = {"sensitive_features": groups, "sample_weight": weight, "task": "regression"}
    found = eh.bounds(criterion, np.zeros(40), value, **asked)
    value = value if criterion == "weak_parity" else value**2
    program = Amounts(proxy, cell, value, weight)
    pairs = [(g, h) for g in range(3) for h in range(3) if g != h]
    most = max(program.most(program.means[g] - program.means[h]) for g, h in pairs)
    answer = found.answers["bounds"]
    assert answer.greatest == pytest.approx(most, abs=1e-6)
    assert answer.least == pytest.approx(program.least(), abs=1e-6)
    assert found.is_sharp
    assert not found.is_share


@pytest.mark.parametrize("criterion", ["weak_parity", "performance_parity(mae)"])
def test_with_a_perfect_proxy_every_answer_of_a_mean_is_the_ordinary_one(criterion):
    random = np.random.default_rng(5)
    group = random.integers(3, size=300)
    y, predicted, weight = random.normal(size=(3, 300))
    asked = {"sample_weight": np.abs(weight) + 0.5, "task": "regression"}
    expected = eh.evaluate(criterion, y, predicted, sensitive_features=group, **asked)
    known = np.where(random.random(300) < 0.5, group, None)
    proxy = eh.probable(np.eye(3)[group], [0, 1, 2], known=known)
    found = eh.bounds(criterion, y, predicted, sensitive_features=proxy, **asked)
    for name in ("weighted", "instrumental", "combined", "cut"):
        assert found.answers[name].value == pytest.approx(expected, abs=1e-12), name
    bounds = found.answers["bounds"]
    assert (bounds.least, bounds.greatest) == pytest.approx((expected, expected), abs=1e-12)


def test_no_way_to_fill_gaps_takes_a_mean_beyond_its_bounds():
    value = np.array([1.0, 4.0, 2.0, 3.0, 9.0, 0.5, 2.5])
    known = ["a", "a", "b", "b", None, None, None]
    tried = []
    for filled in itertools.product("ab", repeat=3):
        whom = known[:4] + list(filled)
        tried.append(
            eh.evaluate("weak_parity", None, value, sensitive_features=whom, task="regression")
        )
    found = eh.bounds("weak_parity", None, value, sensitive_features=known, task="regression")
    answer = found.answers["bounds"]
    assert (answer.least, answer.greatest) == pytest.approx((0, 14 / 3 - 5.5 / 3), abs=1e-12)
    assert answer.least <= min(tried) < max(tried) <= answer.greatest
    assert not found.is_sharp
    counts = eh.tally(None, value, sensitive_features=known, task="regression", missing="group")
    with pytest.raises(eh.InputError, match="need the value of each row"):
        eh.bounds("weak_parity", counts)


def test_intervals_of_means_hold_the_truth():
    """Of 30 samples of groups drawn from the proxy, in cells of few rows."""
    random = np.random.default_rng(6)
    share = np.linspace(0.05, 0.95, 20)[np.arange(600) % 20]
    held = {"weighted": 0, "combined": 0, "bounds": 0}
    for _ in range(30):
        group = (random.random(600) < share).astype(int)
        value = random.exponential(size=600) + share
        known = np.where(np.arange(600) < 150, group, None)
        whom = eh.probable(np.column_stack([1 - share, share]), [0, 1], known=known)
        found = eh.bounds("weak_parity", None, value, sensitive_features=whom, task="regression")
        truth = np.average(share, weights=share) - np.average(share, weights=1 - share)
        for name in held:
            held[name] += found.answers[name].low <= truth <= found.answers[name].high
    assert min(held.values()) >= 26
    assert held["bounds"] == 30


def test_of_several_clusterings_none_makes_an_interval_narrower():
    proxy, cell, y, predicted = people(1, 2)
    rows = np.arange(len(cell))
    widths = {}
    for name, cluster in {
        "rows": None,
        "pairs": rows // 2,
        "tens": rows // 10,
        "both": {"pairs": rows // 2, "tens": rows // 10},
        "crossed": {"tens": rows // 10, "cells": rows % 17},
    }.items():
        found = asked("statistical_parity", y, predicted, proxy[cell], cluster=cluster)
        answer = found.answers["weighted"]
        widths[name] = answer.high - answer.low
    assert widths["both"] == pytest.approx(widths["tens"], abs=1e-9)  # pairs lie within tens
    assert widths["crossed"] >= widths["tens"] - 1e-9


CRITERIA = [*OUTCOMES, "equalized_odds", "selection_rate_ratio", "false_omission_rate_parity"]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("measure", ["mpd", "gini", "pq", "ratio"])
def test_with_a_perfect_proxy_every_answer_is_the_ordinary_one(criterion, measure):
    random = np.random.default_rng(5)
    group = random.integers(3, size=400)
    y, predicted = random.integers(2, size=400), random.integers(2, size=400)
    weight = random.random(400) + 0.5
    options = {"measure": measure, "favorable": 1, "sample_weight": weight}
    expected = eh.evaluate(criterion, y, predicted, sensitive_features=group, **options)
    known = np.where(random.random(400) < 0.5, group, None)
    proxy = eh.probable(np.eye(3)[group], [0, 1, 2], known=known)
    found = eh.bounds(criterion, y, predicted, sensitive_features=proxy, **options)
    for name in ("weighted", "instrumental", "combined", "cut"):
        assert found.answers[name].value == pytest.approx(expected, abs=1e-12), name
    bounds = found.answers["bounds"]
    assert (bounds.least, bounds.greatest) == pytest.approx((expected, expected), abs=1e-12)


@pytest.mark.parametrize("selected", [10, 30, 50, 90])
def test_an_uninformative_proxy_leaves_the_extremes(selected):
    """Of groups of 70 and 30, all that are selected can be in either, as far as they go."""
    predicted = np.array([1] * selected + [0] * (100 - selected))
    found = asked("statistical_parity", None, predicted, np.tile([0.7, 0.3], (100, 1)))
    most = max(
        min(selected / 70, 1) - max(selected - 70, 0) / 30,
        min(selected / 30, 1) - max(selected - 30, 0) / 70,
    )
    answer = found.answers["bounds"]
    assert (answer.least, answer.greatest) == pytest.approx((0, most), abs=1e-12)
    assert found.answers["weighted"].value == pytest.approx(0, abs=1e-12)
    assert np.isnan(found.answers["instrumental"].value)


def test_rows_without_a_group_may_be_in_any():
    """By hand: 50 and 20 of 100 selected, and of 10 others 6, who may all be in either group."""
    known = ["a"] * 100 + ["b"] * 100 + [None] * 10
    predicted = [1] * 50 + [0] * 50 + [1] * 20 + [0] * 80 + [1] * 6 + [0] * 4
    groups = eh.probable(known=known)
    found = eh.bounds("statistical_parity", None, predicted, sensitive_features=groups)
    answer = found.answers["bounds"]
    assert answer.least == pytest.approx(50 / 104 - 26 / 106, abs=1e-12)
    assert answer.greatest == pytest.approx(56 / 106 - 20 / 104, abs=1e-12)
    assert found.summary.startswith("10 people of 210 have no recorded group; whatever it is")
    plain = eh.bounds("statistical_parity", None, predicted, sensitive_features=known)
    assert plain.summary == found.summary
    for name, same in plain.answers.items():
        ends = same.least, same.greatest, same.low, same.high
        expected = found.answers[name]
        expected = expected.least, expected.greatest, expected.low, expected.high
        assert ends == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_the_combined_answer_of_a_random_sample_needs_no_proxy():
    known = ["a", "b", None, None] * 50
    groups = eh.probable(known=known)
    found = eh.bounds("statistical_parity", None, [1, 0, 1, 0] * 50, sensitive_features=groups)
    assert found.answers["combined"].value == pytest.approx(1.0)
    assert np.isnan(found.answers["weighted"].value)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), groups=st.integers(2, 4))
def test_the_truth_lies_within_the_bounds_and_a_proxy_narrows_them(seed, groups):
    random = np.random.default_rng(seed)
    proxy, cell, y, predicted = people(seed, groups, rows=40)
    group = np.array([random.choice(groups, p=proxy[c]) for c in cell])
    shown = np.array([np.bincount(group[cell == c], minlength=groups) for c in range(CELLS)])
    right = (shown / shown.sum(axis=1, keepdims=True))[cell]
    merged = np.tile(np.bincount(group, minlength=groups) / len(group), (len(group), 1))
    truth = eh.evaluate(
        "equal_opportunity", y, predicted, sensitive_features=group, measure="mpd", favorable=1
    )
    if len(np.unique(group[y == 1])) < groups:
        return
    fine = asked("equal_opportunity", y, predicted, right).answers["bounds"]
    wide = asked("equal_opportunity", y, predicted, merged).answers["bounds"]
    assert fine.least - 1e-9 <= truth <= fine.greatest + 1e-9
    assert wide.least <= fine.least + 1e-9
    assert fine.greatest <= wide.greatest + 1e-9


def test_rows_of_one_cluster_count_once():
    """Everybody twice, in clusters of two, is known no better than once."""
    proxy, cell, y, predicted = people(1, 2)
    twice = np.repeat(np.arange(len(cell)), 2)
    single = asked("statistical_parity", y, predicted, proxy[cell], assuming="weighted")
    double = eh.bounds(
        "statistical_parity",
        y[twice],
        predicted[twice],
        sensitive_features=eh.probable(proxy[cell][twice], ["a", "b"], assuming="weighted"),
        cluster=twice,
        favorable=1,
    )
    for name in ("weighted", "instrumental"):
        ends = [(each.answers[name].low, each.answers[name].high) for each in (single, double)]
        assert ends[1] == pytest.approx(ends[0], abs=0.004)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eh.probable([[0.5, 0.4]], "ab"), "groups must be a sequence"),
        (lambda: eh.probable([[0.5, 0.4]], ["a", "b"]), "row 0 add up to 0.9, not 1"),
        (lambda: eh.probable([[1.2, -0.2]], ["a", "b"]), "'b' is -0.2 in row 0"),
        (lambda: eh.probable([[np.nan, 1]], ["a", "b"]), "The probability of 'a'"),
        (lambda: eh.probable([[1.0, 0.0]]), "Name the groups"),
        (lambda: eh.probable([1.0, 0.0], ["a", "b"]), "a column for each group"),
        (lambda: eh.probable([[1.0]], ["a"]), "at least two groups"),
        (lambda: eh.probable([[1.0, 0.0]], ["a", "b", "c"]), "2 columns .* for 3 groups"),
        (lambda: eh.probable([[1.0, 0.0]], ["a", "a"]), "Name each group once"),
        (lambda: eh.probable([[1.0, 0.0]], ["a", "b"], known=["c"]), "'c', which is none of"),
        (lambda: eh.probable([[1.0, 0.0]], ["a", "b"], known=["a", "b"]), "1 row and known 2"),
        (lambda: eh.probable(), "Pass probabilities"),
        (lambda: eh.probable([[1.0, 0.0]], ["a", "b"], assuming="cut"), "assuming must be one of"),
        (lambda: eh.probable([[1.0, 0.0]], ["a", "b"], assuming="combined"), "needs people of"),
        (lambda: eh.probable(known=["a", "b"], assuming="weighted"), "needs the probabilities"),
        (lambda: eh.probable([[0.5, 0.4]] * 3, ["a", "b"]), "not 1, nor do those of 2 other rows"),
        (lambda: eh.probable(known=[None, None]), "Every group in known is missing"),
        (lambda: cells_of(((None,),)), "No group is recorded, and two are needed"),
        (lambda: cells_of((("a",), (None,))), "The only group that is recorded is a, and two"),
        (lambda: make_scorer(eh.probable(["p", "q"], ["a", "b"])), "name the assumption"),
        (
            lambda: make_scorer(eh.probable([[1.0, 0.0]], ["a", "b"], assuming="weighted")),
            "name th",
        ),
    ],
)
def test_bad_probabilities_get_one_clear_error(call, message):
    with pytest.raises(eh.EvenhandError, match=message):
        call()


def test_a_scorer_reads_probabilities_from_columns():
    pandas = pytest.importorskip("pandas")
    proxy, cell, y, predicted = people(2, 2)
    table = pandas.DataFrame({"a": proxy[cell, 0], "b": proxy[cell, 1], "p": predicted})
    scorer = make_scorer(eh.probable(["a", "b"], ["a", "b"], assuming="weighted"))

    class Model:
        def predict(self, X):
            return X["p"].to_numpy()

    expected = asked("statistical_parity", y, predicted, proxy[cell], assuming="weighted")
    assert scorer(Model(), table, y) == pytest.approx(-expected.answers["weighted"].value)


SURE = eh.probable([[0.5, 0.5]] * 2, ["a", "b"])


@pytest.mark.parametrize(
    "call",
    [
        lambda: eh.chance("statistical_parity", None, [1, 0], sensitive_features=SURE),
        lambda: eh.tally([1, 0], [1, 0], sensitive_features=SURE),
        lambda: eh.groups(SURE),
        lambda: eh.compare([1, 0], {"m": [1, 0]}, sensitive_features=SURE),
    ],
)
def test_where_groups_must_be_known_probable_ones_are_refused_with_the_way_out(call):
    with pytest.raises(eh.InputTypeError, match=r"evenhand\.bounds"):
        call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sensitive_features": ["a", "b"]}, "not known for sure"),
        ({"confidence": 2.0}, "confidence"),
        ({"measure": np.std}, "Bounds are for mpd"),
        (
            {"criterion": "performance_parity(rmse)", "task": "regression"},
            "neither a share of rows nor",
        ),
        ({"criterion": "performance_parity(f1)"}, "neither a share of rows nor"),
        ({"criterion": "treatment_equality"}, "neither a share of rows nor"),
        ({"cluster": [1, 2, 3]}, "differ in length"),
        ({"fail_if": "> 0.05"}, "fail_if is a number here, such as 0.05, not '> 0.05'"),
        ({"fail_if": True}, "fail_if is a number here"),
        ({"fail_if": np.nan}, "fail_if is a number of at least 0, such as 0.05; it is nan"),
    ],
)
def test_what_has_no_bounds_is_refused(options, message):
    given = {"criterion": "statistical_parity", "sensitive_features": SURE, **options}
    with pytest.raises(eh.EvenhandError, match=message):
        eh.bounds(given.pop("criterion"), [1, 0], [1, 0], **given)


def test_columns_of_a_table_are_named():
    pandas = pytest.importorskip("pandas")
    proxy, cell, y, predicted = people(2, 2)
    known = np.where(np.arange(len(cell)) % 4 == 0, "a", None)
    table = pandas.DataFrame({"a": proxy[cell, 0], "b": proxy[cell, 1], "y": y, "p": predicted})
    table["group"] = known
    by_name = eh.bounds(
        "equal_opportunity",
        "y",
        "p",
        sensitive_features=eh.probable(["a", "b"], known="group"),
        data=table,
    )
    matrix = eh.probable(table[["a", "b"]], known=known)
    by_column = eh.bounds("equal_opportunity", y, predicted, sensitive_features=matrix)
    assert by_name.document() == by_column.document()


@pytest.mark.parametrize(
    ("fail_if", "verdict"),
    [(None, "differs"), (0.3, "differs"), (0.9, "alike"), (0.6, "more groups")],
)
def test_the_verdict_is_about_all_that_the_bounds_allow(fail_if, verdict):
    hired = [1] * 700 + [0] * 300 + [1] * 100 + [0] * 900
    proxy = eh.probable([[0.95, 0.05]] * 1000 + [[0.05, 0.95]] * 1000, groups=["a", "b"])
    found = eh.bounds("statistical_parity", None, hired, sensitive_features=proxy, fail_if=fail_if)
    assert found.verdict == verdict
    assert (found.needed is not None) == (verdict == "more groups")


def test_known_rows_that_are_no_random_sample_are_noticed():
    random = np.random.default_rng(2)
    predicted = random.integers(2, size=2000)
    group = np.where(random.random(2000) < 0.5, "a", "b")
    known = np.where(random.random(2000) < 0.1 + 0.3 * predicted, group, None)
    proxy = eh.probable(np.full((2000, 2), 0.5), ["a", "b"], known=known)
    found = eh.bounds("statistical_parity", None, predicted, sensitive_features=proxy)
    assert found.random_p_value < 1e-6
    assert "do not look like a random sample" in found.summary


@pytest.mark.parametrize("group", [1, 2])
def test_probabilities_that_do_not_fit_the_known_rows_are_noticed(group):
    """By a test of a logistic regression on the log odds of the proxy; no gate passes on these."""
    random = np.random.default_rng(group)
    share = random.choice([0.1, 0.3, 0.6, 0.9], 4000)
    sex = (random.random(4000) < share).astype(int)
    hired = random.integers(2, size=4000)
    known = np.where(np.arange(4000) < 600, sex, None)
    wrong = share**group / (share**group + (1 - share) ** group)

    def found(chance, **options):
        whom = eh.probable(np.column_stack([1 - chance, chance]), [0, 1], known=known)
        return eh.audit(None, hired, sensitive_features=whom, **options)

    fitted = found(wrong).findings[0]
    odds = np.log(wrong[:600] / (1 - wrong[:600]))
    off = np.stack([sex[:600] - wrong[:600], odds * (sex[:600] - wrong[:600])])
    square = wrong[:600] * (1 - wrong[:600])
    spread = np.array([[(square * a * b).sum() for b in (1, odds)] for a in (1, odds)])
    expected = chi2.sf(off.sum(axis=1) @ np.linalg.solve(spread, off.sum(axis=1)), 2)
    assert (fitted.proxy_p_value < 0.01) == (expected < 0.01) == (group == 2)
    gate = found(wrong, fail_if="statistical_parity > 0.99").judgements[0]
    assert gate.outcome == ("pass" if group == 1 else "inconclusive")
    assert ("do not fit the people" in gate.sentence) == (group == 2)
    assert ("do not fit the people" in fitted.summary) == (group == 2)


def test_what_would_settle_it_is_not_what_is_known_already():
    """Six hundred are known: they would tell, or more than these are needed."""
    random = np.random.default_rng(0)
    share = random.choice([0.2, 0.8], 6000)
    sex = (random.random(6000) < share).astype(int)
    known = np.where(np.arange(6000) < 600, sex, None)
    whom = eh.probable(np.column_stack([1 - share, share]), [0, 1], known=known)
    for gap, tells in ((0.3, True), (0.02, False)):
        hired = (random.random(6000) < 0.3 + gap * sex).astype(int)
        found = eh.bounds("statistical_parity", None, hired, sensitive_features=whom)
        assert found.verdict == "more groups"
        assert ("then the gap is" in found.summary) == found.known_would_tell == tells
        assert (found.needed is None) if tells else (found.needed > 600)


def test_a_sample_drawn_by_strata_is_right_within_them():
    """Stratum 1 is known four times as often, and its groups differ; the truth is between."""
    stratum = np.repeat([0, 1], 1000)
    group = np.tile(["a", "b"], 1000)
    predicted = np.where((stratum == 1) & (group == "a"), 1, 0)
    at = np.arange(2000)
    known = np.where((stratum == 1) & (at % 10 < 8) | (at % 10 < 2), group, None)
    groups = eh.probable(known=known, groups=["a", "b"])
    options = {"sensitive_features": groups, "favorable": 1}
    plain = eh.bounds("statistical_parity", None, predicted, **options)
    within = eh.bounds("statistical_parity", None, predicted, strata=stratum, **options)
    assert within.answers["combined"].value == pytest.approx(0.5, abs=0.01)
    assert plain.answers["combined"].value > 0.5
    assert within.random_p_value > 0.01 > plain.random_p_value


def test_every_form_of_the_result_can_be_made():
    proxy, cell, y, predicted = people(1, 3)
    known = np.where(np.arange(len(cell)) % 4 == 0, "a", None)
    groups = eh.probable(proxy[cell], ["a", "b", "c"], known=known)
    found = eh.bounds("equalized_odds", y, predicted, sensitive_features=groups)
    assert list(found.answers) == ["weighted", "instrumental", "bounds", "combined", "cut"]
    assert "What it assumes" in str(found)
    assert "What it assumes" in found.to_markdown()
    assert "<table" in found.to_html()
    assert len(found.to_frame()) == 5
    assert len(found.to_frame("rates")) == 15
    assert found.to_json().startswith('{"schema": "evenhand.bounds/1"')


def test_many_rows_of_a_useless_proxy_are_not_told_that_more_would_help():
    """Rounding of sums over many cells is not a difference of groups."""
    random = np.random.default_rng(0)
    cells = random.dirichlet(np.ones(6), 40)[random.integers(40, size=4000)]
    predicted = random.integers(2, size=4000)
    groups = eh.probable(cells, [*"abcdef"])
    found = eh.bounds("statistical_parity", None, predicted, sensitive_features=groups)
    assert found.answers["bounds"].least == 0
    assert found.verdict == "more groups"


@pytest.mark.parametrize("criterion", ["statistical_parity", "equalized_odds", "accuracy_parity"])
def test_of_several_classes_the_worst_one_counts(criterion):
    """The bounds of all classes are those of the class that has the widest."""
    random = np.random.default_rng(8)
    cells = random.dirichlet(np.ones(3), 6)[np.arange(900) % 6]
    y, predicted = (random.choice([*"uvw"], 900, p=[0.5, 0.3, 0.2]) for _ in range(2))
    groups = eh.probable(cells, ["a", "b", "c"])
    options = {"sensitive_features": groups, "sample_weight": random.random(900) + 0.5}
    whole = eh.bounds(criterion, y, predicted, **options).answers["bounds"]
    if criterion == "accuracy_parity":
        assert 0 < whole.greatest <= 1
        return
    each = [
        eh.bounds(criterion, y, predicted, favorable=one, **options).answers["bounds"].greatest
        for one in "uvw"
    ]
    assert whole.greatest == pytest.approx(max(each), abs=1e-12)


def test_the_combined_answer_is_no_wider_than_the_known_rows_alone():
    """Where the proxy is worth nothing it costs nothing, and where it is worth much it gains."""
    random = np.random.default_rng(3)
    group = random.integers(2, size=4000)
    y = random.integers(2, size=4000)
    predicted = (random.random(4000) < 0.3 + 0.2 * group + 0.2 * y).astype(int)
    known = np.where(np.arange(4000) < 400, group, None)
    asked = {"measure": "mpd", "favorable": 1}
    alone = eh.interval(
        "equal_opportunity",
        y[:400],
        predicted[:400],
        sensitive_features=group[:400],
        **asked,
    )
    widths = []
    for right in (0.5, 0.95):
        men = np.where(random.random(4000) < right, group, 1 - group)
        share = np.where(men == 1, right, 1 - right)
        whom = eh.probable(np.column_stack([1 - share, share]), [0, 1], known=known)
        answer = eh.bounds(
            "equal_opportunity", y, predicted, sensitive_features=whom, **asked
        ).answers["combined"]
        widths.append((answer.high - answer.low) / (alone.high - alone.low))
    assert widths[0] < 1.03
    assert widths[1] < 0.75
