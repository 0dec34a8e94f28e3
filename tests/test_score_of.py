"""A score says which label it is of, and no answer is turned around."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import evenhand as eh
from evenhand._data import tables
from evenhand._data.areas import area_of_all
from evenhand.cli.audit import audit as audit_command
from evenhand.cli.compare import compare
from evenhand.cli.frontier import frontier_
from evenhand.cli.sql import sql
from evenhand.cli.watch import watch
from lanes import one_in

pytestmark = pytest.mark.usefixtures("few_folds")

COMMANDS = {"audit": audit_command, "compare": compare, "frontier": frontier_, "sql": sql}
ASKED = "Of which label is the score\\?.*score_of=1 or score_of=0"


def people(rows=800, seed=0):
    """People whose loans were repaid (1) or not (0), and the probability that they are."""
    random = np.random.default_rng(seed)
    group = random.choice(["no", "yes"], rows)
    score = 1 / (1 + np.exp(-random.normal(0.9 * (group == "yes"))))
    y = (random.random(rows) < score).astype(int)
    return pd.DataFrame({"y": y, "s": score.round(3), "g": group})


def bring(monkeypatch, exact):
    """Whether scores are ordered row by row, or counted in bins."""
    monkeypatch.setattr(tables, "ROWS_TO_BRING", 10**6 if exact else 0)


def rates(found, label):
    """The groups' rates of one decision."""
    table = next(one for one in found.group_values if one.criterion == "statistical_parity")
    return dict(zip(table.groups, table.values[table.cells.index(label)], strict=True))


QUICK = {"criteria": ["statistical_parity", "performance_parity(auroc)"], "measures": ["mpd"]}
DOORS = {
    "audit": lambda rows, **named: eh.audit(
        rows.y, y_score=rows.s, sensitive_features=rows.g, **QUICK | named
    ),
    "assert_even": lambda rows, **named: eh.assert_even(
        rows.y,
        y_score=rows.s,
        sensitive_features=rows.g,
        fail_if="statistical_parity > 0.9",
        **named,
    ),
    "audit_frame": lambda rows, **named: eh.audit(
        data=rows, y_true="y", y_score="s", sensitive_features="g", **QUICK | named
    ),
    "audit_frame, lazily": lambda rows, **named: eh.audit(
        data=pl.from_pandas(rows).lazy(),
        y_true="y",
        y_score="s",
        sensitive_features="g",
        **QUICK | named,
    ),
    "audit_frame, duckdb": lambda rows, **named: eh.audit(
        data=duckdb.sql("select * from rows"),
        y_true="y",
        y_score="s",
        sensitive_features="g",
        **QUICK | named,
    ),
    "evaluate": lambda rows, **named: eh.evaluate(
        "calibration_parity", rows.y, y_score=rows.s, sensitive_features=rows.g, **named
    ),
    "interval": lambda rows, **named: eh.interval(
        "performance_parity", rows.y, y_score=rows.s, sensitive_features=rows.g, g="auroc", **named
    ),
    "contrasts": lambda rows, **named: eh.contrasts(
        "performance_parity", rows.y, y_score=rows.s, sensitive_features=rows.g, g="auroc", **named
    ),
    "chance": lambda rows, **named: eh.chance(
        "performance_parity",
        rows.y,
        y_score=rows.s,
        sensitive_features=rows.g,
        g="cross_entropy",
        replicates=20,
        **named,
    ),
    "frontier": lambda rows, **named: eh.frontier(
        rows.y, rows.s, sensitive_features=rows.g, values=2, rate_error=None, **named
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_where_two_conventions_disagree_the_label_of_the_score_is_asked_for(
    door, exact, monkeypatch
):
    bring(monkeypatch, exact)
    rows = people()
    with pytest.raises(eh.InputError, match=ASKED):
        door(rows, favorable=0)
    door(rows, favorable=0, score_of=1)
    door(rows, favorable=1)
    with pytest.raises(eh.InputError, match="score_of='two' is not among the labels"):
        door(rows, score_of="two")


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_scores_that_rank_against_their_label_are_refused_with_the_way_out(
    door, exact, monkeypatch
):
    bring(monkeypatch, exact)
    rows = people()
    rows["s"] = 1 - rows.s
    words = r"rank against the label 1: AUROC 0\.2\d \(0\.\d\d to 0\.2\d\).*score_of=0.*score_of=1"
    with pytest.raises(eh.InputError, match=words):
        door(rows)
    door(rows, score_of=0)
    stated = door(rows, score_of=1)
    if isinstance(stated, eh.Audit):
        assert any("rank against 1" in note for note in stated.notes)


def test_scores_that_say_nothing_are_audited():
    rows = people(400)
    rows["s"] = np.random.default_rng(3).random(len(rows))
    assert not [note for note in DOORS["audit"](rows).notes if "rank against" in note]
    two = pd.DataFrame({"y": [1, 0] * 2, "s": [0.1, 0.9] * 2, "g": [*"aabb"]})
    assert DOORS["audit"](two).findings  # four rows in the wrong order show nothing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("door", "scale", "exact"),
    one_in(
        2,
        ["audit", "audit_frame", "audit_frame, duckdb"],
        ["probabilities", "points"],
        [True, False],
    ),
)
def test_a_favorable_label_that_sorts_first_has_its_own_rates(door, scale, exact, monkeypatch):
    bring(monkeypatch, exact)
    rows, cut = people(), 0.5
    if scale == "points":
        rows["s"], cut = 300 + 550 * rows.s, 575.0
    named = {"favorable": 0, "score_of": 1, "threshold": cut}
    found = DOORS[door](rows, **named)
    below = rows.assign(chosen=rows.s < cut).groupby("g").chosen.mean()  # ties are decided 1
    assert rates(found, 0) == pytest.approx(below.to_dict())
    assert found.evidence.decided_at == cut
    area = found.finding("performance_parity(auroc)", "mpd").value
    each = [roc_auc_score(part.y, part.s) for _, part in rows.groupby("g")]
    assert area == pytest.approx(abs(each[0] - each[1]), abs=1e-12 if exact else 1e-3)
    at = found.thresholds.at
    curve = next(one for one in found.thresholds.curves if one.measure == "mpd")
    gaps = [abs(np.diff([(part.s < t).mean() for _, part in rows.groupby("g")])[0]) for t in at]
    assert curve.values == pytest.approx(gaps, abs=1e-9)


@pytest.mark.slow
def test_a_score_of_the_other_label_says_what_one_minus_it_says():
    rows = people()
    named = {"favorable": 0, "criteria": None, "measures": ["mpd", "gini", "pq"]}
    one = DOORS["audit"](rows, score_of=1, **named)
    two = DOORS["audit"](
        rows.assign(s=(1 - rows.s).round(3)), score_of=0, threshold=0.5001, **named
    )
    distributions = ("strong_parity", "wasserstein_parity")  # of the score as it was given
    for finding in one.findings:
        for measure, value in finding.values.items():
            if finding.criterion not in distributions or measure == "mpd":
                other = two.finding(finding.criterion, measure).value
                assert value.value == pytest.approx(other, abs=1e-9), (finding.criterion, measure)


@pytest.mark.slow
def test_a_fitted_model_knows_the_label_of_its_scores():
    rows = people()
    X = rows[["s"]].assign(g=(rows.g == "yes").astype(int))
    model = LogisticRegression().fit(X, rows.y)
    chance = model.predict_proba(X)[:, 1]
    columns = {"sensitive_features": rows.g, "favorable": 0}
    by_hand = eh.audit(rows.y, model.predict(X), y_score=chance, score_of=1, **columns)
    found = eh.audit(rows.y, model, data=X, **columns)
    for criterion in ("calibration_parity", "performance_parity(auroc)", "statistical_parity"):
        for measure in ("mpd", "gini", "pq"):
            value = by_hand.finding(criterion, measure).value
            assert found.finding(criterion, measure).value == pytest.approx(value, abs=1e-9)
    value = by_hand.finding("calibration_parity", "gini").value
    scorer = eh.make_scorer(
        "calibration_parity", sensitive_features="g", measure="gini", favorable=0
    )
    assert -scorer(model, X, rows.y) == pytest.approx(value, abs=1e-9)
    upside_down = LogisticRegression().fit(X, 1 - rows.y)  # a bad model, and no mistake of ours
    assert eh.audit(rows.y, upside_down, data=X, sensitive_features=rows.g).notes


@pytest.mark.slow
def test_labels_in_an_order_of_their_own_are_asked_about():
    rows = people()
    order = pd.CategoricalDtype(["repaid", "lost"], ordered=True)
    y = pd.Series(np.where(rows.y == 1, "repaid", "lost")).astype(order)
    columns = {"y_score": rows.s, "sensitive_features": rows.g}
    with pytest.raises(eh.InputError, match="score_of='repaid' or score_of='lost'"):
        eh.audit(y, **columns)
    assert eh.audit(y, score_of="repaid", **columns).evidence.score_of == "repaid"


@pytest.mark.slow
def test_the_interval_of_the_area_holds_the_truth_about_as_often_as_it_says():
    random, missed = np.random.default_rng(0), 0
    for _ in range(200):
        y, score = random.integers(0, 2, 60), random.random(60).round(2)
        area = area_of_all(eh.distribution(score, sensitive_features=0 * y, y_true=y), 1)
        assert area.value == pytest.approx(roc_auc_score(y, score))
        missed += area.is_reversed
    assert missed <= 12  # one in forty, of two hundred


@pytest.fixture
def file(tmp_path):
    people().assign(p=lambda rows: (rows.s >= 0.5).astype(int)).to_csv(tmp_path / "rows.csv")
    return str(tmp_path / "rows.csv")


@pytest.mark.slow
def test_the_command_asks_and_is_told(file, tmp_path):
    given = [file, "--target", "y", "--score", "s", "--group", "g", "--favorable", "0"]
    given += ["--criterion", "statistical_parity"]
    asked = CliRunner().invoke(audit_command, given)
    assert asked.exit_code == 2
    assert "pass --score-of 1 or --score-of 0" in asked.stderr
    out = tmp_path / "out.json"
    (tmp_path / "options.toml").write_text("score-of = 1\n")
    for told in (["--score-of", "1"], ["--config", str(tmp_path / "options.toml")]):
        found = CliRunner().invoke(audit_command, [*given, *told, "--json", str(out)])
        assert found.exit_code == 0, found.output
        pair = json.loads(out.read_text())["findings"][0]["pair"]
        assert (pair["cell"], pair["high"]["group"]) == ("0", "g=no")
    traced = [file, "--target", "y", "--score", "s", "--group", "g", "--favorable", "0"]
    assert CliRunner().invoke(frontier_, traced).exit_code == 2
    assert (
        CliRunner().invoke(frontier_, [*traced, "--score-of", "1", "--points", "2"]).exit_code == 0
    )


def test_a_query_decides_for_the_label_of_the_score():
    rows = people()
    given = {"y_true": "y", "y_score": "s", "sensitive_features": "g", "threshold": 0.5}
    query = eh.count_query("rows", **given, score_of=0)
    counts = duckdb.sql(query).df()
    selected = counts[counts.selected == 0].groupby("g").n.sum()
    assert selected.to_dict() == rows[rows.s >= 0.5].groupby("g").size().to_dict()
    with pytest.raises(eh.InputError, match="'selected' is 1 or 0"):
        eh.count_query("rows", **given, score_of="yes")


TWICE = [
    ("audit", "--target p --prediction p --group g"),
    ("audit", "--target y --prediction p --group g --group p"),
    ("audit", "--target s --score s --group g"),
    ("compare", "--target p --prediction p --group g"),
    ("frontier", "--target y --score y --group g"),
    ("sql", "--target p --prediction p --group g"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "named"), TWICE)
def test_one_column_in_two_roles_passes_no_gate(command, named, file):
    first = "rows" if command == "sql" else file
    gate = ["--fail-if", "equalized_odds > 0.5"] if command == "audit" else []
    found = CliRunner().invoke(COMMANDS[command], [first, *named.split(), *gate])
    assert found.exit_code == 2
    assert "is named twice" in found.stderr


def test_a_watch_refuses_one_column_in_two_roles(file, tmp_path):
    state = str(tmp_path / "state.json")
    given = ["--criterion", "equalized_odds", "--target", "p", "--prediction", "p", "--group", "g"]
    begun = CliRunner().invoke(watch, ["init", "--state", state, *given])
    assert begun.exit_code == 0, begun.output
    found = CliRunner().invoke(watch, ["append", file, "--state", state])
    assert found.exit_code == 2
    assert "is named twice" in found.stderr


def test_one_array_in_two_roles_is_refused_and_a_perfect_model_is_not():
    rows = people()
    twice = "are one and the same column"
    for y in (rows.y.to_numpy(), rows.y, list(rows.y)):
        with pytest.raises(eh.InputError, match=twice):
            eh.audit(y, y, sensitive_features=rows.g)
        with pytest.raises(eh.InputError, match=twice):
            eh.compare(y, {"model": y}, sensitive_features=rows.g)
        with pytest.raises(eh.InputError, match=twice):
            eh.audit(None, y, sensitive_features=y)
    with pytest.raises(eh.InputError, match=twice):
        eh.audit(rows["y"], rows["y"], sensitive_features=rows.g)
    perfect = rows.assign(p=rows.y)
    assert eh.audit(perfect.y, perfect.p, sensitive_features=perfect.g, criteria="error_parity")
