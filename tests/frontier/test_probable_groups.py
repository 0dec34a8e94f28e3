"""Rules where groups are only probable, beside linear programs over everyone and every group."""

import itertools

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import linprog

import evenhand as eh
from evenhand.mitigation import FrontierClassifier, LinearPostClassifier, RateConstrainedClassifier
from tests.program import EVENHAND

LABELS = ["a", "b", "c"]
LOOKS = {"statistical_parity": [(1, 1)], "equal_opportunity": [(0, 1)]}
LOOKS["equalized_odds"] = [(1, 0), (0, 1)]


def people(seed=0, groups=3, rows=24, cells=4):
    """Scores, and the probabilities of groups in the cells of a proxy."""
    random = np.random.default_rng(seed)
    proxy = 0.9 * random.dirichlet(np.full(groups, 0.3), cells) + 0.1 / groups
    cell = np.arange(rows) % cells
    score = np.clip(0.2 + 0.5 * proxy[cell, 0] + random.normal(0, 0.2, rows), 0.02, 0.98).round(3)
    return score, proxy[cell], cell


def least_cost(score, matrix, cell, criterion, epsilon):
    """The error of the best chances that do not fall as scores rise in a cell, in one program.

    The greatest sum over members of a cell is a value at risk, least over its own multiplier
    (Rockafellar and Uryasev 2000); of a rate u it is that of what is above u.
    """
    rows, groups = matrix.shape
    cells = cell.max() + 1
    truth = np.column_stack([1 - score, score])
    sides = [
        (look, g, sign) for look in LOOKS[criterion] for g in range(groups) for sign in (1, -1)
    ]
    width = 1 + cells + 2 * rows  # of a side: its rate, multipliers, and what is above these
    total = rows + width * len(sides)
    upper, right = [], []
    for at, (look, g, sign) in enumerate(sides):
        first = rows + at * width
        bound = np.zeros(total)
        for c in range(cells):
            bound[first + 1 + c] = matrix[cell == c, g].sum()
        for i in range(rows):
            for k in range(2):
                place = first + 1 + cells + 2 * i + k
                bound[place] = truth[i, k]
                row = np.zeros(total)
                row[place] = row[first + 1 + cell[i]] = -1
                row[i], row[first] = sign * look[k], -sign * look[k]
                upper.append(row)
                right.append(0)
        upper.append(bound)
        right.append(0)
    for at, (look, g, sign) in enumerate(sides):
        for other, (look_2, h, sign_2) in enumerate(sides):
            if look == look_2 and g != h and sign == 1 and sign_2 == -1:
                row = np.zeros(total)
                row[rows + at * width], row[rows + other * width] = 1, -1
                upper.append(row)
                right.append(epsilon)
    for c in range(cells):
        mine = np.flatnonzero(cell == c)
        for low, high in itertools.pairwise(mine[np.argsort(score[mine])]):
            row = np.zeros(total)
            row[low], row[high] = 1, -1
            upper.append(row)
            right.append(0)
    free = [(0, 1)] + [(None, None)] * cells + [(0, None)] * (2 * rows)
    found = linprog(
        np.append((1 - 2 * score) / rows, np.zeros(total - rows)),
        A_ub=np.array(upper),
        b_ub=right,
        bounds=[(0, 1)] * rows + free * len(sides),
    )
    return found.fun + score.mean()


@pytest.mark.slow
@pytest.mark.parametrize("criterion", LOOKS)
@pytest.mark.parametrize("groups", [2, 3])
def test_no_rule_is_cheaper_in_the_worst_case(criterion, groups):
    score, matrix, cell = people(groups, groups)
    whom = eh.probable(matrix, LABELS[:groups])
    values = [0.0, 0.15, 0.4]
    found = eh.frontier(
        None, score, sensitive_features=whom, criterion=criterion, values=values
    ).to_dict()
    assert max(found["gap"]) < 1e-6
    assert np.all(np.subtract(found["value"], values) < 1e-6)
    assert found["value"] == pytest.approx(found["rule_value"], abs=1e-9)
    for epsilon, cost in zip(values, found["cost"], strict=True):
        assert cost == pytest.approx(least_cost(score, matrix, cell, criterion, epsilon), abs=1e-6)


def extreme(chance, truth, matrix, cell, look, g, sign):
    """The greatest rate of a group, over all members (by truth) and a scale (Charnes, Cooper)."""
    rows = len(chance)
    counted = (truth * look).ravel()
    equal = [np.append(counted, 0.0)]
    for c in np.unique(cell):
        members = (truth * (cell == c)[:, None]).ravel()
        equal.append(np.append(members, -matrix[cell == c, g].sum()))
    at_most = np.c_[np.eye(2 * rows), -np.ones(2 * rows)]
    hits = (truth * look * chance[:, None]).ravel()
    found = linprog(
        np.append(-sign * hits, 0.0),
        A_ub=at_most,
        b_ub=np.zeros(2 * rows),
        A_eq=np.array(equal),
        b_eq=np.r_[1.0, np.zeros(len(equal) - 1)],
    )
    return -sign * found.fun


@pytest.mark.parametrize("criterion", LOOKS)
def test_the_worst_gap_of_a_rule_is_that_of_a_linear_program(criterion):
    """Any decisions, of which some are made at random, and labels of the truth."""
    score, matrix, cell = people(5)
    random = np.random.default_rng(1)
    y = np.where(np.arange(24) < 12, 1, random.integers(2, size=24))
    whom = eh.probable(matrix, LABELS)
    curve = eh.frontier(y, score, sensitive_features=whom, criterion=criterion, values=[0.2])
    chance = curve.rule(0.2).predict_proba(score, whom)[:, 1]
    assert ((chance > 0) & (chance < 1)).any()
    truth = np.eye(2)[y]
    gaps = []
    for look in LOOKS[criterion]:
        rates = np.array(
            [
                [extreme(chance, truth, matrix, cell, look, g, sign) for g in range(3)]
                for sign in (1, -1)
            ]
        )
        gaps.append((rates[0][:, None] - rates[1])[~np.eye(3, dtype=bool)].max())
    assert curve.points[0].fitted.value == pytest.approx(max(gaps), abs=1e-6)


@pytest.mark.parametrize("criterion", LOOKS)
def test_the_worst_gap_of_a_model_is_that_of_bounds(criterion):
    score, matrix, _ = people(6, rows=200)
    y = np.random.default_rng(2).integers(2, size=200)
    decided = (score > 0.5).astype(int)
    whom = eh.probable(matrix, LABELS)
    curve = eh.frontier(
        y, score, y_pred=decided, sensitive_features=whom, criterion=criterion, values=[0.9]
    )
    bounds = eh.bounds(criterion, y, decided, sensitive_features=whom)
    assert curve.model.value == pytest.approx(bounds.answers["bounds"].greatest, abs=1e-9)


@pytest.mark.parametrize("assuming", [None, "weighted"])
def test_with_a_perfect_proxy_the_frontier_is_that_of_known_groups(assuming):
    score, _, _ = people(3, rows=400)
    group = np.arange(400) % 3
    whom = eh.probable(np.eye(3)[group], [0, 1, 2], assuming=assuming)
    options = {"values": [0.0, 0.05, 0.2], "rate_error": None}
    expected = eh.frontier(None, score, sensitive_features=group, **options).to_dict()
    found = eh.frontier(None, score, sensitive_features=whom, **options).to_dict()
    step = 0.02 if assuming is None else 1e-5  # a cell has fifty cuts
    assert found["cost"] == pytest.approx(expected["cost"], abs=step)
    assert np.all(np.subtract(found["value"], options["values"]) < 1e-6)


def test_the_weighted_frontier_counts_people_by_their_probabilities():
    score, matrix, _ = people(4, rows=300)
    y = np.random.default_rng(3).integers(2, size=300)
    whom = eh.probable(matrix, LABELS, assuming="weighted")
    curve = eh.frontier(y, score, sensitive_features=whom, criterion="equal_opportunity", values=3)
    chance = curve.rule(0.1).predict_proba(score, whom)[:, 1]
    rates = (matrix * (y * chance)[:, None]).sum(axis=0) / (matrix * y[:, None]).sum(axis=0)
    assert curve.rule(0.1).value == pytest.approx(np.ptp(rates), abs=1e-9)
    decided = (score > 0.5).astype(int)
    asked = {"sensitive_features": whom, "favorable": 1}
    ordinary = eh.evaluate("equal_opportunity", y, decided, **asked)
    assert curve.model.value == pytest.approx(ordinary, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("assuming", [None, "weighted"])
def test_rules_hold_on_other_rows_and_are_written_down(assuming):
    score, matrix, _ = people(8, groups=2, rows=800)
    y = (np.random.default_rng(4).random(800) < score).astype(int)
    whom = eh.probable(matrix, LABELS[:2], assuming=assuming)
    curve = eh.frontier(y, score, sensitive_features=whom, values=3, held_out=0.3)
    found = curve.to_dict()
    assert np.all(np.isfinite(found["test_value"]))
    assert np.all(np.array(found["test_low"]) <= np.array(found["test_high"]))
    rule = curve.rule(0.05)
    assert rule.value <= 0.05 + 1e-6
    assert set(rule.predict(score[:9], whom_of(matrix[:9], assuming))) <= {0, 1}
    assert "Groups are not known for everyone" in str(curve)
    if assuming is None:
        assert "%" in rule.explain()
        assert '"cell"' in rule.to_sql()
    with pytest.raises(eh.InputError, match="goes by probabilities of groups"):
        rule.predict(score[:9], ["a"] * 9)


def whom_of(matrix, assuming):
    return eh.probable(matrix, LABELS[:2], assuming=assuming)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "gini"}, "cannot go with measure='gini'"),
        ({"criterion": "average_odds"}, "not average_odds"),
        ({"capacity": 5}, "cannot go with capacity="),
        ({"also": {"equal_opportunity": 0.1}}, "cannot go with also="),
        ({"rising": False}, "cannot go with rising=False"),
        ({"recalibrate": True}, "where all groups are known"),
        ({"group_proba": np.ones((24, 1))}, "leave out group_proba"),
        ({"criterion": "strong_parity"}, "where all groups are known"),
    ],
)
def test_what_has_no_worst_case_is_refused(options, words):
    score, matrix, _ = people()
    y = np.arange(24) % 2
    whom = eh.probable(matrix, LABELS)
    with pytest.raises(eh.InputError, match=words):
        eh.frontier(y, score, sensitive_features=whom, **options)


@pytest.mark.parametrize("assuming", ["instrumental", "combined"])
def test_only_one_assumption_goes_with_rules(assuming):
    score, matrix, _ = people()
    known = ["a", *[None] * 23]
    whom = eh.probable(matrix, LABELS, known=known, assuming=assuming)
    with pytest.raises(eh.InputError, match="cannot go with rules"):
        eh.frontier(None, score, sensitive_features=whom)
    with pytest.raises(eh.InputError, match="only known groups were given"):
        eh.frontier(None, score, sensitive_features=eh.probable(known=["a", "b", *[None] * 22]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "criterion", "assuming"),
    [
        (RateConstrainedClassifier, "statistical_parity", None),
        (RateConstrainedClassifier, "equal_opportunity", "weighted"),
        (LinearPostClassifier, "equal_opportunity", None),
    ],
)
def test_an_estimator_goes_by_columns_of_probabilities(assuming, criterion, kind):
    """It finds the rule of the frontier of its base model's probabilities."""
    pandas = pytest.importorskip("pandas")
    score, matrix, _ = people(9, groups=2, rows=400)
    X = pandas.DataFrame({"score": score, "p_a": matrix[:, 0], "p_b": matrix[:, 1]})
    y = (np.random.default_rng(5).random(400) < score).astype(int)
    whom = eh.probable(["p_a", "p_b"], ["a", "b"], assuming=assuming)
    fair = kind(group=whom, epsilon=0.05, criterion=criterion).fit(X, y)
    base = fair.estimator_.predict_proba(X)
    curve = eh.frontier(
        None,
        base,
        sensitive_features=eh.probable(matrix, ["a", "b"], assuming=assuming),
        criterion=criterion,
        values=[0.05],
        rate_error=None,
    )
    assert fair.value_ == pytest.approx(curve.points[0].value, abs=1e-6)
    assert fair.objective_ == pytest.approx(curve.points[0].cost, abs=2e-6)
    assert fair.predict_proba(X) == pytest.approx(
        curve.rule(0.05).predict_proba(base, whom.read(X)), abs=1e-2
    )
    assert set(fair.predict(X)) <= {0, 1}


def test_other_estimators_need_the_group_of_every_row():
    score, matrix, _ = people(9, groups=2, rows=400)
    X, y = np.column_stack([score, matrix]), (score > 0.4).astype(int)
    others = "LinearPostClassifier, RateConstrainedClassifier can do"
    with pytest.raises(eh.InputTypeError, match=f"needs the group of every row; {others}"):
        FrontierClassifier(group=eh.probable(["p_a", "p_b"], ["a", "b"])).fit(X, y)
    with pytest.raises(eh.InputError, match=r"was given a matrix\. Name the columns of X"):
        RateConstrainedClassifier(group=eh.probable(matrix, ["a", "b"])).fit(X, y)


@pytest.mark.parametrize(
    ("assuming", "gap"), [(None, "worst-case gap"), ("weighted", "weighted gap")]
)
def test_the_command_line_traces_rules_for_probable_groups(tmp_path, assuming, gap):
    pandas = pytest.importorskip("pandas")
    score, matrix, _ = people(9, groups=2, rows=400)
    y = (np.random.default_rng(5).random(400) < score).astype(int)
    known = np.where(np.arange(400) < 40, "a", None)
    table = {"y": y, "s": score, "p_a": matrix[:, 0], "p_b": matrix[:, 1], "sex": known}
    pandas.DataFrame(table).to_csv(tmp_path / "people.csv", index=False)
    asked = ["frontier", str(tmp_path / "people.csv"), "--target", "y", "--score", "s"]
    asked += ["--probable", "a=p_a", "--probable", "b=p_b", "--group", "sex", "--points", "2"]
    found = CliRunner().invoke(EVENHAND, asked + (["--assuming", assuming] if assuming else []))
    whom = eh.probable(matrix, ["a", "b"], known=known, assuming=assuming)
    expected = eh.frontier(y, score, sensitive_features=whom, values=2)
    assert found.exit_code == 0, found.output
    assert gap in expected.sentences[0]
    assert expected.sentences[0] in " ".join(found.output.split())
