"""Gates fail closed: where nothing can be known, none passes, however loose its bound is."""

import json

import numpy as np
import pandas as pd
import pytest

LOOSEST = {"mpd": 0.999, "gini": 0.499, "pq": 0.292, "shortfall": 0.999}  # of two groups
OF_DECISIONS = ("statistical_parity", "selection_rate_ratio")
OF_TRUTH = (
    "equalized_odds",
    "average_odds",
    "equal_opportunity",
    "predictive_equality",
    "predictive_parity",
    "false_omission_rate_parity",
    "accuracy_parity",
    "error_parity",
    "treatment_equality",
    "performance_parity(f1)",
)
OF_POSITIVES = ("equalized_odds", "average_odds", "equal_opportunity")
OF_SCORES = (
    "performance_parity(auroc)",
    "performance_parity(cross_entropy)",
    "calibration_parity",
    "calibration_within_groups",
)
OF_NUMBERS = ("weak_parity", "performance_parity(mse)", "performance_parity(mae)")


def gates_of(criteria, unbounded=()):
    for criterion in criteria:
        if criterion == "selection_rate_ratio":
            yield f"{criterion}.shortfall > {LOOSEST['shortfall']}"
            continue
        for measure in ("mpd", "gini", "pq"):
            free = criterion == "treatment_equality" or criterion in unbounded
            bound = 1e6 if free and measure == "mpd" else LOOSEST[measure]
            yield f"{criterion}.{measure} > {bound}"


def rows_of(y, p, g, **more):
    return pd.DataFrame({"y": y, "p": p, "g": g, **more})


def few(rows, seed=0):
    """So many rows of each of two groups."""
    rng = np.random.default_rng(seed)
    draw = rng.integers(0, 2, (2, 2 * rows))
    draw[:, :2] = [[0, 1], [0, 1]]
    return rows_of(*draw, np.tile(["a", "b"], rows))


half = np.tile([0, 1], 40)
groups = np.repeat(["a", "b"], 40)
coin = np.random.default_rng(0).integers(0, 2, 80)

BLIND = {
    "every prediction is 1": (rows_of(half, 1, groups), OF_DECISIONS + OF_TRUTH),
    "every prediction is 0": (rows_of(half, 0, groups), OF_DECISIONS + OF_TRUTH),
    "every true label is 1": (rows_of(1, coin, groups), OF_TRUTH),
    "no group but one has positives": (
        rows_of(np.where(groups == "a", half, 0), coin, groups),
        OF_POSITIVES,
    ),
    "nobody in a group is predicted 1": (
        rows_of(half, np.where(groups == "a", half, 0), groups),
        ("predictive_parity",),
    ),
    **{
        f"{rows} rows of each group, drawn {seed}": (few(rows, seed), OF_DECISIONS + OF_TRUTH)
        for rows, seed in ((1, 0), (2, 1), (3, 0), (4, 1), (6, 0))
    },
    "two rows": (rows_of([0, 1], [1, 1], ["a", "b"]), OF_DECISIONS + OF_TRUTH),
}

REFUSED = {
    "everything is 1": rows_of(1, 1, groups),
    "one group": rows_of(half, coin, "a"),
    "a group that weighs nothing": rows_of(half, coin, groups, w=(groups == "a").astype(float)),
    "a missing group": rows_of(half, coin, np.where(np.arange(80) < 3, None, groups)),
    "a missing prediction": rows_of(half, np.where(np.arange(80) < 3, np.nan, coin), groups),
    "a missing truth": rows_of(np.where(np.arange(80) < 3, np.nan, half), coin, groups),
    "labels of which none is favorable": rows_of(
        np.where(half, "good", "bad"), np.where(coin, "good", "bad"), groups
    ),
    "a group for each row": rows_of(half, coin, [f"g{i}" for i in range(80)]),
    "no rows": rows_of(half, coin, groups).iloc[:0],
}


def outcomes(run, folder, rows, gates, *options, columns=None):
    """The outcome of every gate, and the exit status."""
    asked = [text for gate in gates for text in ("--fail-if", gate)]
    criteria = dict.fromkeys(gate.split(".")[0] for gate in gates)
    quick = [text for name in criteria for text in ("--criterion", name)]
    more = {} if columns is None else {"columns": columns}
    result = run(rows, *asked, *options, "--json", "out.json", quick=quick, **more)
    file = folder / "out.json"
    if not file.exists():
        return {}, result
    return {one["gate"]: one["outcome"] for one in json.loads(file.read_text())["gates"]}, result


@pytest.mark.slow
@pytest.mark.parametrize("name", BLIND)
def test_no_gate_passes_on_rows_that_cannot_show_anything(run, folder, name):
    rows, criteria = BLIND[name]
    gates = list(gates_of(criteria))
    found, result = outcomes(run, folder, rows, gates)
    assert result.exit_code in (1, 2, 3), result.output
    assert len(found) == len(gates)
    assert "pass" not in found.values(), found


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_an_input_that_cannot_be_audited_has_status_2_and_one_line(run, folder, name):
    rows = REFUSED[name]
    weighted = ("--weight", "w") if "w" in rows else ()
    found, result = outcomes(run, folder, rows, ["equal_opportunity.mpd > 0.999"], *weighted)
    assert result.exit_code == 2
    assert not found
    assert len(result.stderr.strip().splitlines()) <= 4
    assert result.stderr.count("Error: ") == 1


@pytest.mark.slow
@pytest.mark.parametrize("gate", ["0.01", "0.5", "0.999"])
def test_two_rows_pass_no_gate(run, folder, gate):
    (folder / "two.csv").write_text("y,p,g\n0,1,a\n1,1,b\n")
    result = run("two.csv", "--fail-if", f"statistical_parity.mpd > {gate}")
    assert result.exit_code == 2
    assert "every row has the prediction 1" in result.stdout


def test_scores_that_are_no_probabilities_are_not_cut_at_a_half(run, folder):
    rows = rows_of(half, coin, groups, s=np.tile(np.arange(1, 11), 8))
    columns = ("--target", "y", "--score", "s", "--group", "g")
    found, result = outcomes(run, folder, rows, ["statistical_parity.mpd > 0.999"], columns=columns)
    assert (result.exit_code, found) == (2, {})
    assert "it is not a probability" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows_with_scores_pass_no_gate(run, folder, rows):
    table = few(rows).assign(s=np.linspace(0.1, 0.9, 2 * rows))
    columns = ("--target", "y", "--prediction", "p", "--score", "s", "--group", "g")
    gates = list(gates_of(OF_SCORES, unbounded=("performance_parity(cross_entropy)",)))
    found, result = outcomes(run, folder, table, gates, columns=columns)
    assert result.exit_code in (1, 2, 3), result.output
    assert "pass" not in found.values(), found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two rows", "six rows", "constant"])
def test_regressions_without_evidence_pass_no_gate(run, folder, kind):
    count = {"two rows": 2, "six rows": 6, "constant": 80}[kind]
    truth = np.linspace(0.5, 9.7, count)
    predicted = np.full(count, 3.5) if kind == "constant" else truth[::-1] + 0.25
    rows = rows_of(truth, predicted, np.tile(["a", "b"], count // 2))
    gates = list(gates_of(OF_NUMBERS, unbounded=OF_NUMBERS))
    found, result = outcomes(run, folder, rows, gates, "--task", "regression")
    assert result.exit_code in (1, 2, 3), result.output
    assert "pass" not in found.values(), found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gate", "most"),
    [
        ("statistical_parity.gini > 0.5", "0.5"),
        ("statistical_parity.gini >= 0.51", "0.5"),
        ("accuracy_parity.gini > 0.6", "0.5"),
        ("statistical_parity.pq > 0.3", "0.2929"),
        ("performance_parity(f1).pq > 0.9", "0.2929"),
        ("treatment_equality.gini > 0.5", "0.5"),
    ],
)
def test_a_bound_beyond_what_two_groups_can_show_is_an_error(run, people, folder, gate, most):
    found, result = outcomes(run, folder, people, [gate])
    assert result.exit_code == 2
    assert list(found.values()) == ["error"]
    told = " ".join(result.stdout.split())
    assert f"cannot fail: {most} is the most that 2 groups can show" in told


def test_what_two_groups_cannot_show_three_can(run, people, folder):
    columns = ("--target", "y", "--prediction", "p", "--group", "h")
    found, result = outcomes(
        run, folder, people, ["statistical_parity.gini > 0.5"], columns=columns
    )
    assert (result.exit_code, list(found.values())) == (0, ["pass"])


@pytest.mark.parametrize(
    "gate", ["statistical_parity.mpd > 1", "equalized_odds.gini > 1", "error_parity.pq > 1"]
)
def test_a_bound_that_no_number_of_groups_exceeds_is_refused_before_reading(run, gate):
    result = run("nothing.csv", "--fail-if", gate)
    assert result.exit_code == 2
    assert "could never fail" in result.stderr


def test_enough_rows_that_are_alike_pass(run, folder):
    rows = rows_of(
        np.tile([0, 1, 0, 1], 200), np.tile([0, 1, 1, 1], 200), np.repeat(["a", "b"], 400)
    )
    found, result = outcomes(run, folder, rows, ["statistical_parity.mpd > 0.2"])
    assert (result.exit_code, list(found.values())) == (0, ["pass"])
