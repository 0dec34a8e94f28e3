"""One object for the data: columns, a table of any engine, counts and a model answer alike."""

import inspect
from dataclasses import fields

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand._data.roles import ROLES, Columns
from evenhand.cli.audit import audit as audit_command
from lanes import one_in

RNG = np.random.default_rng(5)
ROWS = 400
SEX, RACE = RNG.choice(["F", "M"], ROWS), RNG.choice(["x", "y", "z"], ROWS)
SCORE = np.clip(RNG.normal(0.5 + 0.15 * (SEX == "M"), 0.2, ROWS), 0.01, 0.99).round(3)
TRUTH = (RNG.random(ROWS) < SCORE).astype(int)
PEOPLE = pd.DataFrame(
    {
        "y": TRUTH,
        "p": (SCORE >= 0.5).astype(int),
        "s": SCORE,
        "sex": SEX,
        "race": RACE,
        "w": RNG.integers(1, 4, ROWS).astype(float),
        "firm": RNG.integers(0, 40, ROWS),
    }
)
TABLES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": lambda frame: duckdb.from_df(frame),
}
NAMES = {"sensitive_features": ["sex", "race"], "sample_weight": "w", "cluster": "firm"}
GIVEN = {
    "sensitive_features": PEOPLE[["sex", "race"]],
    "sample_weight": PEOPLE.w,
    "cluster": PEOPLE.firm,
}
QUESTIONS = {
    "evaluate": lambda *of, **how: eh.evaluate("equalized_odds", *of, **how, measure="gini"),
    "interval": lambda *of, **how: eh.interval("statistical_parity", *of, **how),
    "contrasts": lambda *of, **how: eh.contrasts("equal_opportunity", *of, **how),
    "audit": lambda *of, **how: [
        (found.criterion, found.measure, found.value, found.low)
        for found in eh.audit(*of, **how, criteria=["accuracy_parity"]).measured
    ],
    "gate": lambda *of, **how: [
        found.value
        for found in eh.assert_even(*of, **how, fail_if="statistical_parity > 0.99").measured
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "question"), one_in(2, TABLES, QUESTIONS))
def test_names_of_columns_answer_as_the_columns_do(question, kind):
    ask, table = QUESTIONS[question], TABLES[kind](PEOPLE)
    expected = ask(PEOPLE.y, PEOPLE.p, **GIVEN)
    found = [ask("y", "p", data=table, **NAMES), ask(eh.Data("y", "p", data=table, **NAMES))]
    for answer in found:
        assert np.allclose(flat(answer), flat(expected), rtol=1e-9, atol=1e-12, equal_nan=True)


def flat(answer):
    """The numbers of an answer, in order."""
    if isinstance(answer, float | int):
        return [float(answer)]
    if isinstance(answer, eh.results.ConfidenceInterval):
        return [answer.value, answer.low, answer.high]
    if isinstance(answer, tuple | list):
        return [number for part in answer for number in flat(part)]
    return []


@pytest.mark.parametrize("needs", ["auroc", "cross_entropy"])
def test_scores_of_a_table_answer_as_columns_do(needs):
    columns = eh.evaluate(
        "performance_parity", TRUTH, y_score=SCORE, sensitive_features=SEX, g=needs
    )
    named = eh.evaluate(
        "performance_parity", "y", y_score="s", sensitive_features="sex", g=needs, data=PEOPLE
    )
    assert named == pytest.approx(columns, rel=1e-12)


def test_a_loss_of_ones_own_reads_the_columns_of_a_table():
    def loss(truth, predicted):
        return np.abs(np.asarray(truth) - np.asarray(predicted))

    named = eh.evaluate(
        "performance_parity", "y", "p", sensitive_features="sex", data=PEOPLE, g=loss
    )
    wrong = (PEOPLE.y != PEOPLE.p).groupby(PEOPLE.sex).mean()
    assert named == pytest.approx(wrong.max() - wrong.min())


def test_names_and_columns_go_together_beside_a_dataframe():
    mixed = eh.evaluate("equalized_odds", TRUTH, "p", sensitive_features="sex", data=PEOPLE)
    assert mixed == eh.evaluate("equalized_odds", TRUTH, PEOPLE.p, sensitive_features=SEX)


@pytest.mark.slow
def test_a_threshold_decides_at_every_door():
    cut = {"y_score": SCORE, "threshold": 0.5, "sensitive_features": SEX}
    expected = eh.evaluate("equalized_odds", TRUTH, PEOPLE.p, sensitive_features=SEX)
    assert eh.evaluate("equalized_odds", TRUTH, **cut) == expected
    assert eh.interval("equalized_odds", TRUTH, **cut).value == expected
    assert eh.audit(TRUTH, **cut).finding("equalized_odds", "mpd").value == expected
    assert eh.evaluate("equalized_odds", eh.tally(TRUTH, **cut)) == expected


def test_bins_and_rare_groups_are_settled_at_every_door():
    age = np.arange(ROWS) % 70
    policy = {"sensitive_features": {"age": age}, "bins": {"age": 4}}
    expected = eh.evaluate(
        "statistical_parity",
        None,
        PEOPLE.p,
        sensitive_features=eh.groups({"age": age}, bins={"age": 4}),
    )
    assert eh.evaluate("statistical_parity", None, PEOPLE.p, **policy) == expected
    assert eh.interval("statistical_parity", None, PEOPLE.p, **policy).value == expected
    models = eh.compare(None, {"m": PEOPLE.p}, **policy, criteria="statistical_parity", favorable=1)
    assert models.values["value"][0] == pytest.approx(expected)


@pytest.mark.slow
def test_parts_add_up_to_the_data():
    whole = eh.Data(TRUTH, PEOPLE.p, y_score=SCORE, sensitive_features=SEX)
    parts = [
        eh.Data(part.y, part.p, y_score=part.s, sensitive_features=part.sex)
        for part in (PEOPLE[:150], PEOPLE[150:])
    ]
    added = sum(parts)
    for criterion in ("equalized_odds", "calibration_parity", "strong_parity"):
        found = eh.evaluate(criterion, added)
        assert found == pytest.approx(eh.evaluate(criterion, whole), rel=1e-12)
    assert eh.audit(added).finding("equalized_odds", "mpd").value == pytest.approx(
        eh.audit(whole).finding("equalized_odds", "mpd").value
    )


def test_parts_that_do_not_agree_do_not_add_up():
    one = eh.Data(None, [1, 0, 1, 0], sensitive_features=[*"aabb"])
    other = eh.Data(None, [1, 0, 1, 0], sensitive_features=[*"aabb"], favorable=0)
    with pytest.raises(eh.InputError, match=r"agree in favorable; here are 1 and 0"):
        one + other


class Scored:
    """A model that looks at the score alone."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (np.asarray(X["s"]) >= 0.5).astype(int)

    def predict_proba(self, X):
        return np.column_stack([1 - X["s"], X["s"]])


@pytest.mark.slow
def test_a_model_predicts_from_the_table():
    expected = eh.evaluate("equalized_odds", TRUTH, PEOPLE.p, sensitive_features=SEX)
    named = {"sensitive_features": "sex", "data": PEOPLE}
    assert eh.evaluate("equalized_odds", "y", Scored(), **named) == expected
    assert eh.audit("y", Scored(), **named).finding("equalized_odds", "mpd").value == expected
    models = eh.compare("y", {"m": Scored(), "n": "p"}, **named, criteria="equalized_odds")
    assert models.values["value"][:2].tolist() == pytest.approx([expected, expected])


def test_a_watch_counts_a_table_by_itself():
    one, other = (eh.Watch("equal_opportunity", favorable=1) for _ in range(2))
    one.update(eh.tally(TRUTH, PEOPLE.p, sensitive_features=SEX), part="a", at="2026-01-01")
    other.update("y", "p", sensitive_features="sex", data=PEOPLE, part="a", at="2026-01-01")
    assert one.status().findings == other.status().findings


PAPER = {  # the paper's names, and ours
    "SP": "statistical_parity",
    "S-SP": "statistical_parity",
    "EO": "equalized_odds",
    "S-EO": "average_odds",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "measure"), one_in(2, PAPER, ["MPD", "Gini", "PQ"]))
def test_the_papers_names_are_understood(name, measure):
    columns, ours = {"sensitive_features": SEX}, {"measure": measure.lower()}
    expected = eh.evaluate(PAPER[name], TRUTH, PEOPLE.p, **columns, **ours)
    assert eh.evaluate(name, TRUTH, PEOPLE.p, **columns, measure=measure) == expected
    found = eh.audit(TRUTH, PEOPLE.p, **columns, criteria=name, measures=measure)
    assert found.finding(PAPER[name], measure.lower()).value == expected
    gate = {"fail_if": f"{name}.{measure} > 0.28", "inconclusive": "pass"}
    assert eh.assert_even(TRUTH, PEOPLE.p, **columns, **gate).measured[0].value == expected
    models = eh.compare(TRUTH, {"m": PEOPLE.p}, **columns, criteria=name, measures=measure)
    assert models.values["value"][0] == pytest.approx(expected)


@pytest.mark.parametrize(("name", "ours"), [("max", "worst"), ("sum", "total"), ("mean", "mean")])
def test_the_papers_aggregates_are_understood(name, ours):
    how = {"sensitive_features": RACE, "measure": "pq"}
    expected = eh.evaluate("equalized_odds", TRUTH, PEOPLE.p, aggregate=ours, **how)
    assert eh.evaluate("equalized_odds", TRUTH, PEOPLE.p, aggregate=name, **how) == expected


DOORS = {
    name: getattr(eh, name)
    for name in ("audit", "evaluate", "interval", "contrasts", "assert_even", "tally", "chance")
}


@pytest.mark.parametrize("door", DOORS)
def test_every_role_is_offered_and_explained_at_every_door(door):
    shown = inspect.signature(DOORS[door]).parameters
    for name, role in ROLES.items():
        assert shown[name].default is role.default
        assert f"\n    {name} : {role.kind}\n" in DOORS[door].__doc__


def test_every_role_with_a_flag_is_an_option_of_the_command():
    said = CliRunner().invoke(audit_command, ["--help"]).output
    assert [one.name for one in fields(Columns)] == list(ROLES)
    for role in ROLES.values():
        assert not role.option or role.option in said


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eh.audit(data=PEOPLE, y_pred="p"), "sensitive_features"),
        (
            lambda: eh.evaluate(
                "statistical_parity", "y", "q", sensitive_features="sex", data=PEOPLE
            ),
            "'q'",
        ),
        (lambda: eh.audit(eh.Data(None, [1, 0]), y_score=[1, 2]), "drop y_score"),
        (lambda: eh.Data(eh.Data(None, [1])), "data already"),
        (lambda: eh.audit("y", Scored(), sensitive_features="sex"), "predicts from data="),
        (
            lambda: eh.audit(TRUTH, TRUTH.copy(), sensitive_features=SEX, rows=TRUTH),
            "about a table",
        ),
        (lambda: eh.evaluate("weak_parity", eh.tally(None, [1], sensitive_features=["a"])), "sum"),
    ],
)
def test_what_does_not_fit_is_told(call, message):
    with pytest.raises(eh.EvenhandError, match=message):
        call()


def by_rows(table, **of_rows):
    """What answers that read each row say of a table's columns by name."""
    names = {"sensitive_features": "sex", "data": table}
    fitted = {"values": 2, "rate_error": None, "truth": "labels"}
    guess = eh.probable(["pF", "pM"], groups=["F", "M"])
    compared = eh.compare("y", {"model": "p"}, **names, measures="mpd", replicates=5, **of_rows)
    curve = eh.frontier("y", "s", y_pred="p", **names, **fitted, **of_rows)
    account = eh.explain("statistical_parity", "y", "p", **names, by=["race", "s"], **of_rows)
    known = eh.bounds("statistical_parity", "y", "p", sensitive_features=guess, data=table)
    mixed = eh.evaluate("equalized_odds", TRUTH, "p", **names, **of_rows)
    values = [*map(float, compared.values["value"]), curve.model.value, mixed]
    return [*values, str(account), known.summary]


@pytest.mark.parametrize("kind", ["lazy", "duckdb"])
def test_tables_that_are_not_in_memory_answer_where_single_rows_are_read(kind):
    people = PEOPLE.assign(pF=np.clip(PEOPLE.s, 0.1, 0.9), pM=1 - np.clip(PEOPLE.s, 0.1, 0.9))
    weighted = {"sample_weight": "w"}
    assert by_rows(TABLES[kind](people), **weighted) == by_rows(people, **weighted)


@pytest.mark.parametrize("kind", TABLES)
def test_a_tally_of_a_table_cuts_amounts_and_scores_as_that_of_columns_does(kind):
    named = {"data": TABLES[kind](PEOPLE), "strata": "race", "cluster": "firm"}
    given = {"strata": PEOPLE.race, "cluster": PEOPLE.firm}
    cut = {"sensitive_features": "s", "bins": {"s": 3}}
    whole = eh.tally("y", "p", **cut, **named)
    assert whole.groups == eh.tally(TRUTH, PEOPLE.p, **given, **cut | GROUPS).groups
    decided = eh.tally("y", y_score="s", threshold=0.4, sensitive_features="sex", **named)
    expected = eh.tally(TRUTH, PEOPLE.s >= 0.4, sensitive_features=SEX, **given)
    assert np.array_equal(decided.table("yhat", "group"), expected.table("yhat", "group"))


GROUPS = {"sensitive_features": PEOPLE[["s"]]}


def test_one_group_has_no_value_and_no_verdict_however_the_rows_are_passed():
    alone, people = {"sensitive_features": np.full(ROWS, "F")}, PEOPLE.assign(sex="F")
    named = {"sensitive_features": "sex", "data": people}
    counts = eh.tally(TRUTH, PEOPLE.p, **alone)
    for rows in (((TRUTH, PEOPLE.p), alone), (("y", "p"), named), ((counts,), {})):
        with pytest.warns(eh.UndefinedWarning):
            assert np.isnan(eh.evaluate("statistical_parity", *rows[0], **rows[1]))
    for ask in (
        lambda: eh.audit("y", "p", **named),
        lambda: eh.assert_even(counts, fail_if="statistical_parity > 0.1"),
        lambda: eh.compare(TRUTH, {"model": PEOPLE.p}, **alone),
        lambda: eh.frontier(TRUTH, SCORE, **alone),
    ):
        with pytest.raises(eh.InputError, match="There is only one group, 'F', so"):
            ask()


@pytest.mark.parametrize("how", [{"y_pred": "p"}, {"y_score": "s", "threshold": 0.5}], ids=len)
def test_a_part_of_the_data_may_hold_one_group_alone(how):
    women, men = (PEOPLE[sex == SEX] for sex in "FM")
    asked = {**how, "sensitive_features": "sex"}
    parts = eh.Data("y", data=women, **asked) + eh.Data("y", data=men, **asked)
    whole = eh.Data("y", data=PEOPLE, **asked)
    pd.testing.assert_frame_equal(eh.audit(parts).to_frame(), eh.audit(whole).to_frame())


def test_a_watch_and_sample_sizes_read_data_as_every_function_does():
    asked = {"sensitive_features": "sex", "data": PEOPLE, "y_score": "s", "threshold": 0.4}
    watch = eh.Watch("statistical_parity", favorable=1)
    watch.update("y", **asked, at="2026-01-01")
    (found,) = watch.status().findings
    expected = eh.evaluate("statistical_parity", "y", **asked)
    assert found.intervals["mpd"].value == pytest.approx(expected, abs=1e-12)
    data = eh.Data("y", "p", sensitive_features="sex", data=PEOPLE, favorable=0)
    counts, about = eh.tally(data), {"criterion": "equal_opportunity"}
    assert eh.power(data, **about).sizes == eh.power(counts, **about, favorable=0).sizes
    with pytest.raises(eh.InputError, match="names a measure"):
        eh.power(counts, criterion="equal_opportunity.gini")


def test_what_a_function_does_not_read_is_said_so():
    with pytest.raises(eh.InputTypeError, match=r"^compare does not read exposure= and y_pred="):
        eh.compare(TRUTH, {"m": PEOPLE.p}, sensitive_features=SEX, exposure=SCORE, y_pred=PEOPLE.p)
    for door in (eh.contrasts, eh.explain):
        with pytest.raises(
            eh.InputError, match=r"names a measure, and .* Ask 'statistical_parity'"
        ):
            door("statistical_parity.ratio", TRUTH, PEOPLE.p, sensitive_features=SEX)
    counts = PEOPLE.groupby(["sex", "p"]).size().rename("n").reset_index()
    for names in ({"data": PEOPLE}, {"data": counts, "rows": "n"}):
        with pytest.raises(eh.InputError, match="pass y_true, or explaining columns as by="):
            eh.explain("statistical_parity", None, "p", sensitive_features="sex", **names)
