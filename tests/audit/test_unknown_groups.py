"""Audits, intervals and gates where groups are probable, partly known or missing."""

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

import evenhand as eh
from tests.program import EVENHAND

ROWS = 3000
CRITERIA = ["statistical_parity", "equal_opportunity", "accuracy_parity", "selection_rate_ratio"]


def people(gaps=200):
    """Truth, decisions, a column of groups with gaps, and probabilities of the groups."""
    random = np.random.default_rng(4)
    group = random.choice(["F", "M"], ROWS)
    region = np.where(random.random(ROWS) < 0.9, group, random.choice(["F", "M"], ROWS))
    y = (random.random(ROWS) < 0.4).astype(int)
    predicted = (random.random(ROWS) < np.where(group == "M", 0.6, 0.15) + 0.2 * y).astype(int)
    share = {name: np.mean(group[region == name] == "M") for name in ("F", "M")}
    men = np.array([share[name] for name in region])
    known = np.where(random.permutation(ROWS) < gaps, None, group)
    return y, predicted, known, np.column_stack([1 - men, men])


def ends(bounds):
    answer = bounds.answers["bounds"]
    return answer.least, answer.greatest, answer.low, answer.high


def same(one, other):
    return ends(one) == pytest.approx(ends(other), abs=1e-9)


def test_an_audit_of_probable_groups_says_of_each_criterion_what_bounds_say():
    y, predicted, _, matrix = people()
    whom = eh.probable(matrix, ["F", "M"])
    found = eh.audit(y, predicted, sensitive_features=whom, criteria=CRITERIA)
    assert [one.criterion for one in found.findings] == CRITERIA
    for criterion in CRITERIA:
        alone = eh.bounds(criterion, y, predicted, sensitive_features=whom, favorable=1)
        of_all = found.finding(criterion)
        assert ends(of_all)[:2] == pytest.approx(ends(alone)[:2], abs=1e-12)
        low, high = ends(of_all)[2:]
        assert low <= ends(alone)[2] + 1e-12, "the lower end allows for all criteria"
        assert high >= ends(alone)[3] - 1e-12
    assert found.finding("demographic_parity").verdict == "differs"
    assert found.summary.startswith("If the probabilities are right, the gap (statistical")


def test_by_default_an_audit_asks_all_that_has_bounds():
    y, predicted, _, matrix = people()
    found = eh.audit(y, predicted, sensitive_features=eh.probable(matrix, ["F", "M"]))
    asked = {one.criterion for one in found.findings}
    assert {*CRITERIA, "equalized_odds", "predictive_parity"} <= asked
    assert asked.isdisjoint({"treatment_equality", "average_odds"})
    with pytest.raises(eh.InputError, match="treatment_equality has no bounds"):
        eh.audit(
            y,
            predicted,
            sensitive_features=eh.probable(matrix, ["F", "M"]),
            criteria=["statistical_parity", "treatment_equality"],
        )


def test_an_audit_of_numbers_gives_the_bounds_of_means():
    y, _, known, matrix = people(2500)
    random = np.random.default_rng(1)
    amount = random.exponential(size=ROWS) + matrix[:, 1]
    whom = eh.probable(matrix, ["F", "M"], known=known)
    found = eh.audit(y, amount, sensitive_features=whom, task="regression", measures="mpd")
    names = [one.criterion for one in found.findings]
    assert names[0] == "weak_parity"
    assert {"performance_parity(mse)", "performance_parity(mae)"} <= {*names}
    alone = eh.bounds("weak_parity", y, amount, sensitive_features=whom, task="regression")
    assert ends(found.finding("weak_parity"))[:2] == ends(alone)[:2]
    assert "percentage points" not in found.summary
    assert "<table" in found.to_html()
    table = {"y": y, "p": amount, "sex": known}
    by_name = {"sensitive_features": "sex", "missing": "unknown", "task": "regression"}
    pandas = pytest.importorskip("pandas")
    by_name |= {"criteria": "weak_parity"}
    whole = eh.audit("y", "p", data=pandas.DataFrame(table), **by_name)
    rows = eh.audit(y, amount, **(by_name | {"sensitive_features": known}))
    assert same(whole.finding("weak_parity"), rows.finding("weak_parity"))


def test_scores_of_unknown_groups_have_bounds_of_their_loss():
    y, predicted, _, matrix = people()
    whom = eh.probable(matrix, ["F", "M"])
    score = np.where(predicted == 1, 0.8, 0.3)
    found = eh.audit(y, predicted, y_score=score, sensitive_features=whom)
    loss = found.finding("performance_parity(cross_entropy)")
    alone = -np.log(np.where(y == 1, score, 1 - score))
    expected = eh.bounds("weak_parity", None, alone, sensitive_features=whom, task="regression")
    assert ends(loss)[:2] == pytest.approx(ends(expected)[:2], abs=1e-12)


def test_every_form_of_a_partial_audit_can_be_made():
    y, predicted, known, matrix = people(2500)
    whom = eh.probable(matrix, ["F", "M"], known=known)
    gate = "equal_opportunity > 0.05"
    found = eh.audit(y, predicted, sensitive_features=whom, measures=["mpd", "gini"], fail_if=gate)
    assert found.groups == ("F", "M")
    assert (found.rows, found.known, found.decisive) == (ROWS, 500, "bounds")
    assert "What each answer assumes" in str(found)
    assert "Bounds that were stated" in found.to_markdown()
    assert "<table" in found.to_html()
    document = json.loads(found.to_json())
    assert document["schema"] == "evenhand.partial-audit/1"
    assert document["gates"][0]["outcome"] == found.judgements[0].outcome
    assert len(found.to_frame()) == 5 * len(found.findings)
    assert len(found.to_frame("rates")) == 10 * len(found.findings)
    assert found.finding("equalized_odds", "gini").measure == "gini"
    with pytest.raises(eh.InputError, match="no finding 'weak_parity'"):
        found.finding("weak_parity")


@pytest.mark.parametrize("criterion", CRITERIA)
def test_gaps_are_counted_alike_by_rows_tables_and_counts(criterion):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    y, predicted, known, _ = people()
    table = pandas.DataFrame({"y": y, "p": predicted, "sex": known})
    asked = {"favorable": 1}
    rows = eh.bounds(criterion, y, predicted, sensitive_features=known, **asked)
    assert same(
        rows,
        eh.bounds(criterion, y, predicted, sensitive_features=eh.probable(known=known), **asked),
    )
    for frame in (table, polars.from_pandas(table), duckdb.from_df(table)):
        named = {"sensitive_features": "sex", "data": frame, **asked}
        assert same(rows, eh.bounds(criterion, "y", "p", **named))
    counts = eh.tally(y, predicted, sensitive_features=known, missing="group")
    assert same(rows, eh.bounds(criterion, counts, **asked))
    lines = table.assign(n=1).groupby(["y", "p", "sex"], dropna=False)["n"].sum().reset_index()
    named = {"sensitive_features": "sex", "data": lines, "rows": "n", **asked}
    assert same(rows, eh.bounds(criterion, "y", "p", **named))


def test_clusters_of_gaps_are_counted_alike_by_rows_and_counts():
    y, predicted, known, _ = people()
    cluster = np.arange(ROWS) // 3
    asked = {"sensitive_features": known, "cluster": cluster}
    rows = eh.bounds("statistical_parity", y, predicted, **asked)
    whom = {**asked, "sensitive_features": eh.probable(known=known)}
    assert same(rows, eh.bounds("statistical_parity", y, predicted, **whom))
    counts = eh.tally(y, predicted, missing="group", **asked)
    assert same(rows, eh.bounds("statistical_parity", counts))


def test_a_part_of_a_group_that_is_known_narrows_what_it_may_be():
    """Of two columns one has gaps: every way to fill them is tried."""
    sex = ["F", "F", "F", "M", "M", "M", "F", "M", "F", "M", "M", "F"]
    race = ["b", "w", "b", "b", "w", "w", None, None, None, "b", None, "w"]
    hired = [1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1]
    gaps = [at for at, value in enumerate(race) if value is None]
    tried = []
    for filled in itertools.product("bw", repeat=len(gaps)):
        whole = list(race)
        for at, value in zip(gaps, filled, strict=True):
            whole[at] = value
        crossed = [f"{a}{b}" for a, b in zip(sex, whole, strict=True)]
        tried.append(
            eh.evaluate(
                "statistical_parity", None, hired, sensitive_features=crossed, measure="mpd"
            )
        )
    found = eh.bounds("statistical_parity", None, hired, sensitive_features={"s": sex, "r": race})
    answer = found.answers["bounds"]
    assert answer.greatest == pytest.approx(max(tried), abs=1e-12)
    assert answer.least <= min(tried) + 1e-12
    whole = eh.audit(
        None, hired * 40, sensitive_features={"s": sex * 40, "r": race * 40}, missing="unknown"
    )
    assert whole.finding("statistical_parity").answers["bounds"].greatest == pytest.approx(
        max(tried), abs=1e-12
    )


def test_an_audit_with_gaps_says_what_they_could_change():
    y, predicted, known, _ = people()
    with pytest.raises(eh.InputError, match='missing="unknown"'):
        eh.audit(y, predicted, sensitive_features=known)
    asked = {"sensitive_features": known, "criteria": "statistical_parity"}
    plain = eh.audit(y, predicted, **asked, missing="group")
    bounds = eh.bounds("statistical_parity", y, predicted, sensitive_features=known, favorable=1)
    assert bounds.summary.split(" is ")[1].split(".")[0] in plain.notes[-1]
    assert plain.notes[-1].startswith("If the 200 people without a recorded group were in other")
    unknown = eh.audit(y, predicted, **asked, missing="unknown")
    assert not any("group of their own" in note for note in unknown.notes)
    assert unknown.summary.startswith("200 people of 3,000 have no recorded group; whatever it is")


def test_without_gaps_nothing_is_unknown():
    y, predicted, known, _ = people(0)
    asked = {"sensitive_features": known, "favorable": 1}
    expected = eh.evaluate("equal_opportunity", y, predicted, **asked)
    assert eh.evaluate("equal_opportunity", y, predicted, missing="unknown", **asked) == (
        pytest.approx(expected, abs=1e-12)
    )
    one = {"criteria": "equal_opportunity", **asked}
    found = eh.audit(y, predicted, missing="unknown", **one).finding("equal_opportunity")
    assert found.summary.startswith("The gap (equal opportunity) is")
    with pytest.raises(eh.InputTypeError, match="not known for sure"):
        eh.bounds("equal_opportunity", y, predicted, **asked)


@pytest.mark.parametrize("assuming", ["weighted", "instrumental", "combined"])
def test_an_assumption_that_is_named_decides_at_every_door(assuming):
    y, predicted, known, matrix = people(2000)
    whom = eh.probable(matrix, ["F", "M"], known=known, assuming=assuming)
    asked = {"sensitive_features": whom, "favorable": 1}
    answer = eh.bounds("equal_opportunity", y, predicted, **asked).answers[assuming]
    assert eh.evaluate("equal_opportunity", y, predicted, **asked) == answer.value
    interval = eh.interval("equal_opportunity", y, predicted, **asked)
    assert (interval.value, interval.low, interval.high) == (answer.value, answer.low, answer.high)
    assert interval.method == assuming
    audit = eh.audit(y, predicted, criteria="equal_opportunity", **asked)
    assert audit.finding("equal_opportunity").answers[assuming].value == answer.value
    assert audit.decisive == assuming
    assert audit.summary.startswith("If ")


def test_without_an_assumption_there_is_an_interval_and_no_value():
    y, predicted, _, matrix = people()
    whom = eh.probable(matrix, ["F", "M"])
    found = eh.interval("statistical_parity", y, predicted, sensitive_features=whom)
    answer = eh.bounds("statistical_parity", y, predicted, sensitive_features=whom).answers[
        "bounds"
    ]
    assert (found.low, found.high, found.method) == (answer.low, answer.high, "bounds")
    assert np.isnan(found.value)
    with pytest.raises(eh.InputError, match="no single value, only the range 0"):
        eh.evaluate("statistical_parity", y, predicted, sensitive_features=whom)
    with pytest.raises(eh.InputError, match="aggregate= does not work"):
        eh.interval("statistical_parity", y, predicted, sensitive_features=whom, aggregate="mean")
    with pytest.raises(eh.InputError, match="method='guaranteed' does not work"):
        eh.interval(
            "statistical_parity", y, predicted, sensitive_features=whom, method="guaranteed"
        )


@pytest.mark.parametrize(
    ("bound", "assuming", "outcome"),
    [
        (0.9, None, "passes"),
        (0.4, None, "only knowing more groups"),
        (0.05, None, "FAILED"),
        (0.4, "weighted", "passes"),
        (0.3, "weighted", "FAILED"),
    ],
)
def test_a_gate_decides_on_the_bounds_unless_an_assumption_is_named(bound, assuming, outcome):
    y, predicted, _, matrix = people()
    whom = eh.probable(matrix, ["F", "M"], assuming=assuming)
    asked = {"sensitive_features": whom, "fail_if": f"statistical_parity > {bound}"}
    if outcome == "passes":
        assert eh.assert_even(y, predicted, **asked).judgements[0].outcome == "pass"
        return
    with pytest.raises(AssertionError, match=outcome):
        eh.assert_even(y, predicted, **asked)


def test_no_gate_passes_on_what_is_not_known():
    """Few rows, a group of nobody, and a sample that is not random."""
    gate = {"fail_if": "statistical_parity > 0.99"}
    few = eh.probable([[0.9, 0.1], [0.1, 0.9]] * 2, ["a", "b"], assuming="weighted")
    with pytest.raises(AssertionError, match="no fewer than"):
        eh.assert_even(None, [1, 0, 0, 1], sensitive_features=few, **gate)
    nobody = np.tile([0.5, 0.5, 0.0], (400, 1))
    with pytest.raises(AssertionError, match="no value of c"):
        eh.assert_even(
            None, [1, 0] * 200, sensitive_features=eh.probable(nobody, ["a", "b", "c"]), **gate
        )
    random = np.random.default_rng(1)
    hired = random.integers(2, size=2000)
    known = np.where(random.random(2000) < 0.1 + 0.4 * hired, random.choice(["a", "b"], 2000), None)
    whom = eh.probable(known=known, assuming="combined")
    with pytest.raises(AssertionError, match="do not look like a random sample"):
        eh.assert_even(None, hired, sensitive_features=whom, **gate)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    y, predicted, known, matrix = people()
    table = pandas.DataFrame({"y": y, "p": predicted, "sex": known})
    table[["p_f", "p_m"]] = matrix
    table.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


BY_COLUMN = ["audit", "people.csv", "--target", "y", "--prediction", "p"]
PROBABLE = [*BY_COLUMN, "--probable", "F=p_f", "--probable", "M=p_m"]


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ([*PROBABLE, "--fail-if", "statistical_parity > 0.05"], 1, "FAILED"),
        ([*PROBABLE, "--fail-if", "statistical_parity > 0.4"], 3, "only knowing more groups"),
        ([*PROBABLE, "--fail-if", "statistical_parity > 0.9"], 0, "passed"),
        (
            [*PROBABLE, "--assuming", "weighted", "--fail-if", "statistical_parity > 0.4"],
            0,
            "passed",
        ),
        ([*PROBABLE, "--group", "sex"], 0, "the group of 2,800 known"),
        ([*BY_COLUMN, "--group", "sex", "--missing", "unknown"], 0, "200 people of 3,000 have no"),
        ([*BY_COLUMN, "--group", "sex"], 2, "--missing unknown"),
        ([*PROBABLE, "--standard", "nyc-ll144", "--html", "x.html"], 2, "these are probable"),
        (
            [*BY_COLUMN, "--group", "sex", "--missing", "unknown", "--standard", "nyc-ll144"],
            2,
            "pass --missing group",
        ),
        ([*BY_COLUMN, "--probable", "p_f"], 2, "--probable takes GROUP=COLUMN"),
        ([*BY_COLUMN, "--probable", "F=p_g", "--probable", "M=p_m"], 2, "no column 'p_g'"),
        ([*BY_COLUMN, "--probable", "F=p_f"], 2, "at least two groups"),
        ([*BY_COLUMN, "--group", "sex", "--assuming", "combined"], 2, "--assuming needs"),
    ],
)
def test_the_command_line_audits_groups_that_are_not_known(folder, options, status, said):
    found = CliRunner().invoke(EVENHAND, options)
    assert found.exit_code == status, found.output
    assert said in " ".join(found.output.split())


def test_the_command_line_writes_the_page_of_a_partial_audit(folder):
    outputs = ["--html", "page.html", "--json", "found.json", "--junit", "gates.xml"]
    gate = ["--fail-if", "statistical_parity > 0.9"]
    found = CliRunner().invoke(EVENHAND, [*PROBABLE, *gate, *outputs, "--markdown", "page.md"])
    assert found.exit_code == 0, found.output
    document = json.loads((folder / "found.json").read_text())
    y, predicted, _, matrix = people()
    whom = eh.probable(matrix, ["F", "M"])
    expected = eh.audit(y, predicted, sensitive_features=whom, fail_if="statistical_parity > 0.9")
    assert document["gates"] == expected.document()["gates"]
    assert document["findings"] == expected.document()["findings"]
    assert "What each answer assumes" in (folder / "page.html").read_text()
    assert "Criteria" in (folder / "page.md").read_text()


@pytest.mark.parametrize("clustered", [False, True])
def test_groups_without_rows_of_a_label_are_no_numerical_accident(clustered):
    rng = np.random.default_rng(3157)
    groups = rng.choice(15, 60, p=rng.dirichlet(np.ones(15)))
    truth, decided = rng.integers(0, 2, (2, 60))
    asked = {"cluster": rng.integers(0, 12, 60)} if clustered else {}
    weight = rng.gamma(0.5, 2, 60) + 0.01
    gone = np.where(rng.random(60) < 0.1, None, groups.astype(object))
    for known in (groups, gone):  # all are known, or not
        found = eh.audit(
            truth,
            decided,
            sensitive_features=known,
            missing="unknown",
            sample_weight=weight,
            favorable=1,
            **asked,
        )
        assert "NaN" not in found.to_json()
