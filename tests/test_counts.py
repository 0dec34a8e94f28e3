"""Counts stand for the rows that were counted: every number of an audit is the same."""

import json
import math

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from engines import LOCAL
from evenhand._data import tables

ENGINES = {engine.name: engine for engine in LOCAL}


def counts_of(rows, *columns):
    """What GROUP BY makes of rows, in no order that means anything, with a line of nobody."""
    counted = rows.groupby(list(columns), dropna=False).size().rename("n").reset_index()
    return counted.sample(frac=1, random_state=0, ignore_index=True)


def assert_alike(found, expected, where="document"):
    """Every number, word and order of two documents, but for the last digits of sums."""
    assert type(found) is type(expected), where
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            assert_alike(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for at, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_alike(one, other, f"{where}[{at}]")
    elif isinstance(expected, float):
        assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12), (where, found, expected)
    else:
        assert found == expected, where


def assert_same_tally(found, expected):
    assert found.axes == expected.axes
    assert (found.cells == expected.cells).all()
    assert found.sums.keys() == expected.sums.keys()
    for name in expected.sums:
        np.testing.assert_allclose(found.sums[name], expected.sums[name], rtol=1e-12)
    assert found.notes == expected.notes


@st.composite
def people(draw, classes=2, most=300):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(40, most))
    a = rng.choice(["F", "M"], rows)
    truth = rng.integers(0, classes, rows)
    guess = np.where(rng.random(rows) < 0.6, truth, rng.integers(0, classes, rows))
    guess = np.where((a == "F") & (rng.random(rows) < 0.3), 0, guess)
    return pd.DataFrame(
        {
            "y": truth,
            "p": guess,
            "sex": a,
            "race": rng.choice(["b", "w", "x"], rows),
            "region": rng.integers(0, 2, rows),
            "weight": rng.choice([0.5, 1.0, 2.25], rows),
            "score": rng.choice([0.05, 0.25, 0.5, 0.75, 0.95], rows),
            "value": rng.integers(0, 12, rows) / 4,
            "amount": rng.integers(0, 12, rows) / 4,
        }
    )


NAMES = {"y_true": "y", "y_pred": "p", "sensitive_features": ["sex", "race"]}


@pytest.mark.slow
@settings(max_examples=20)
@given(people=people(classes=3), engine=st.sampled_from(list(ENGINES)))
def test_counts_give_an_audit_the_evidence_that_the_rows_give(people, engine):
    options = {**NAMES, "strata": "region"}
    counts = ENGINES[engine](counts_of(people, "y", "p", "sex", "race", "region"))
    found = eh.Data(data=counts, rows="n", **options).counted
    expected = eh.Data(data=people, **options).counted
    assert found.fingerprint == expected.fingerprint
    assert found.sources.keys() == expected.sources.keys()
    for need in expected.sources:
        assert_same_tally(found.sources[need], expected.sources[need])


@pytest.mark.slow
@settings(max_examples=3)
@given(people=people(), engine=st.sampled_from(list(ENGINES)))
def test_an_audit_of_counts_is_that_of_the_rows(people, engine):
    counts = counts_of(people, "y", "p", "sex", "race", "region")
    options = {**NAMES, "strata": "region"}
    found = eh.audit(data=ENGINES[engine](counts), rows="n", **options)
    expected = eh.audit(data=people, **options)
    assert found.document() == expected.document()


@pytest.mark.slow
@settings(max_examples=2)
@given(people=people(classes=3))
def test_an_audit_of_counts_of_several_classes_is_that_of_the_rows(people):
    counts = counts_of(people, "y", "p", "sex", "race")
    found = eh.audit(data=counts, rows="n", **NAMES)
    assert found.document() == eh.audit(data=people, **NAMES).document()


@pytest.mark.slow
@settings(max_examples=2)
@given(people=people())
def test_weights_are_those_of_each_row_of_a_line(people):
    counts = counts_of(people, "y", "p", "sex", "race", "weight")
    options = {**NAMES, "sample_weight": "weight"}
    found = eh.audit(data=counts, rows="n", **options)
    assert_alike(found.document(), eh.audit(data=people, **options).document())


@pytest.mark.slow
@settings(max_examples=2)
@given(people=people())
def test_an_audit_of_counted_scores_is_that_of_the_rows(people):
    counts = counts_of(people, "y", "score", "sex")
    options = {"y_true": "y", "y_score": "score", "sensitive_features": "sex", "threshold": 0.5}
    found = eh.audit(data=counts, rows="n", **options)
    assert_alike(found.document(), eh.audit(data=people, **options).document())


@pytest.mark.slow
@settings(max_examples=2)
@given(people=people())
def test_an_audit_of_counted_values_is_that_of_the_rows(people):
    counts = counts_of(people, "value", "amount", "sex")
    options = {"y_true": "value", "y_pred": "amount", "sensitive_features": "sex"}
    options["task"] = "regression"
    found = eh.audit(data=counts, rows="n", **options)
    assert_alike(found.document(), eh.audit(data=people, **options).document())


@pytest.mark.slow
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_counts_of_more_rows_than_are_brought_in_are_binned_as_the_rows(monkeypatch, task):
    monkeypatch.setattr(tables, "ROWS_TO_BRING", 50)
    frame = drawn()
    if task == "binary":
        names = {"y_true": "y", "y_score": "score", "y_pred": "p"}
    else:
        names = {"y_true": "value", "y_pred": "amount"}
    counts = counts_of(frame, *names.values(), "sex")
    options = {**names, "sensitive_features": "sex", "task": task}
    found = eh.audit(data=counts, rows="n", **options)
    assert_alike(found.document(), eh.audit(data=frame, **options).document())


def drawn(rows=600, seed=3):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], rows)
    truth = rng.integers(0, 2, rows)
    return pd.DataFrame(
        {
            "y": truth,
            "p": np.where(rng.random(rows) < 0.8 - 0.2 * (sex == "F"), truth, 1 - truth),
            "q": np.where(rng.random(rows) < 0.7, truth, 1 - truth),
            "r": np.where(rng.random(rows) < 0.6, truth, 1 - truth),
            "sex": sex,
            "race": rng.choice(["b", "w", "x"], rows),
            "age": rng.integers(18, 80, rows),
            "score": rng.choice([0.05, 0.25, 0.5, 0.75, 0.95], rows),
            "value": rng.integers(0, 12, rows) / 4,
            "amount": rng.integers(0, 12, rows) / 4,
        }
    )


@pytest.mark.slow
def test_quantile_bins_of_groups_are_those_of_the_rows():
    frame = drawn()
    counts = counts_of(frame, "y", "p", "age")
    options = {"y_true": "y", "y_pred": "p", "sensitive_features": "age", "bins": {"age": 4}}
    found = eh.audit(data=counts, rows="n", **options)
    assert found.document() == eh.audit(data=frame, **options).document()


@pytest.mark.slow
def test_a_tally_of_counts_is_that_of_the_rows(engine):
    frame = drawn()
    frame.loc[:9, "race"] = None
    counts = counts_of(frame, "y", "p", "sex", "race", "age")
    counts = pd.concat([counts, counts.iloc[:1].assign(n=0, sex="nobody")], ignore_index=True)
    options = {**NAMES, "missing": "group", "min_count": 20, "rare": "merge"}
    found = eh.tally(data=engine(counts), rows="n", **options)
    assert_same_tally(found, eh.tally(data=frame, **options))


def test_counts_may_be_decimals_and_whole_floats():
    frame = drawn()
    counts = counts_of(frame, "y", "p", "sex", "race")
    expected = eh.tally(data=frame, **NAMES)
    assert_same_tally(eh.tally(data=counts.astype({"n": float}), rows="n", **NAMES), expected)
    lines = duckdb.from_arrow(pa.Table.from_pandas(counts))
    query = lines.aggregate("y, p, sex, race, sum(n::decimal(18, 2)) as n")
    assert_same_tally(eh.tally(data=query, rows="n", **NAMES), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "message"),
    [
        (-3, "'n' has the count -3; counts are not negative"),
        (2.5, r"'n' has the count 2\.5, which is not whole"),
        (None, "'n' has 1 count that is missing"),
        (math.inf, "'n' has 1 count that is missing or not finite"),
        (2.0**60, r"reach 1,152,921,504,606,846,976"),
    ],
)
def test_what_is_no_count_is_refused_with_its_column_and_value(local_engine, count, message):
    counts = pd.DataFrame({"g": ["a", "b", "c"], "p": [0, 1, 1], "n": [4.0, 5.0, count]})
    with pytest.raises(eh.InputError, match=message):
        eh.tally(data=local_engine(counts), rows="n", y_pred="p", sensitive_features="g")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": "g"}, "'g' is the column of the counts, and cannot have another role too"),
        ({"rows": "word"}, "'word' must hold counts"),
        ({"rows": "none"}, "There are no rows to count"),
        ({"rows": ["n"]}, "rows must be the name of a column"),
        ({"y_pred": None}, "Name the column of the predictions"),
        ({"rate": "share"}, "Which says who was selected"),
        ({"digits": 2}, "digits=2 is about rates"),
        ({"sums": {"rows": "share"}}, "The number of rows is rows="),
        ({"sums": {"loss": "n"}}, "'n' is the column of the counts"),
        ({"sums": {"weight": "share"}}, "'weight' alone"),
        ({"sums": {"weight": "share", "weight²": "share"}, "sample_weight": "share"}, "Which"),
    ],
)
def test_what_makes_no_sense_is_refused(changed, message):
    counts = pd.DataFrame(
        {"g": ["a", "b"], "p": [0, 1], "n": [4, 5], "word": ["x", "y"], "share": [0.5, 0.6]}
    ).assign(none=0)
    options = {"rows": "n", "y_pred": "p", "sensitive_features": "g"} | changed
    with pytest.raises((eh.InputError, eh.InputTypeError), match=message):
        eh.tally(data=counts, **options)


def published(**columns):
    table = {"sex": ["F", "M"], "rate": [0.312, 0.5], "applicants": [1203, 600]}
    return pd.DataFrame(table | columns)


def rated(table, **options):
    return eh.tally(data=table, rows="applicants", rate="rate", sensitive_features="sex", **options)


@pytest.mark.slow
def test_a_published_rate_gives_the_whole_number_it_was_rounded_from(engine):
    counts = rated(engine(published()))
    assert counts.table("yhat", "group").tolist() == [[828, 300], [375, 300]]
    assert "3 decimals, and there is one such number for each" in counts.notes[0]


def test_a_note_says_how_far_off_counts_of_rates_may_be():
    counts = rated(published(applicants=[120_300, 60_000]))
    assert counts.table("yhat", "group")[1].tolist() == [37534, 30000]
    assert "a count may be off by up to 60." in counts.notes[0]


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(1, 5000), st.integers(0, 10**9), st.integers(1, 12))
def test_a_rounded_rate_never_loses_the_count_if_it_has_digits_enough(size, chosen, digits):
    selected = chosen % (size + 1)
    digits = max(digits, len(str(size)) + 1)
    table = published(rate=[round(selected / size, digits), 1.0], applicants=[size, 3])
    counts = rated(table, digits=digits)
    assert counts.table("yhat", "group").sum(axis=0)[0] == size
    chosen = dict(zip(counts.labels("yhat"), counts.table("yhat", "group")[:, 0], strict=True))
    assert chosen[1] == selected


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (published(rate=[31.2, 50.0]), "rate 31.2; rates lie between 0 and 1. Divide percentages"),
        (published(rate=[-0.1, 0.5]), "rate -0.1; rates lie between 0 and 1"),
        (published(rate=[None, 0.5]), "rate nan; rates lie"),
        (published(applicants=[10, 600]), "rate 0.312 of 10 in 'applicants', which is 3.12"),
        (published(rate=["low", "high"]), "'rate' must hold rates"),
    ],
)
def test_rates_that_no_number_of_people_has_are_refused(table, message):
    with pytest.raises((eh.InputError, eh.InputTypeError), match=message):
        rated(table)


@pytest.mark.slow
def test_an_audit_of_rates_is_that_of_the_people():
    found = eh.audit(
        data=published(), rows="applicants", rate="rate", y_true=None, sensitive_features="sex"
    )
    group = ["F"] * 1203 + ["M"] * 600
    decision = [1] * 375 + [0] * 828 + [1] * 300 + [0] * 300
    expected = eh.audit(None, decision, sensitive_features={"sex": group})
    document, rows = found.document(), expected.document()
    assert document.pop("notes")[1:] == rows.pop("notes")
    assert json.dumps(document) == json.dumps(rows)


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["y", None])
def test_an_audit_of_a_tally_is_that_of_its_rows(truth):
    frame = drawn()
    counts = counts_of(frame, "y", "p", "sex", "race", "age")
    names = {**NAMES, "y_true": truth, "strata": "age"}
    found = eh.audit(eh.tally(data=counts, rows="n", **names), sensitive_features=["sex", "race"])
    assert found.document() == eh.audit(data=frame, **names).document()
    assert "<html" in found.to_html()


@pytest.mark.slow
def test_a_tally_of_moments_is_audited_as_far_as_it_tells():
    frame = drawn()
    error = frame.value - frame.amount
    lines = frame.assign(
        **{"amount²": frame.amount**2, "value²": frame.value**2, "se": error**2, "se²": error**4},
        **{"amount³": frame.amount**3, "amount⁴": frame.amount**4},
        ae=abs(error),
        n=1,
    )
    lines = lines.groupby(["sex", "race"])[["amount", "value", *lines.columns[-8:]]].sum()
    sums = {"yhat": "amount", "yhat²": "amount²", "y": "value", "y²": "value²"}
    sums |= {"yhat³": "amount³", "yhat⁴": "amount⁴"}
    sums |= {"squared_error": "se", "squared_error²": "se²"}
    sums |= {"absolute_error": "ae", "absolute_error²": "se"}
    counts = eh.tally(
        data=lines.reset_index(), rows="n", sensitive_features=["sex", "race"], sums=sums
    )
    expected = eh.tally(
        frame.value, frame.amount, sensitive_features=frame[["sex", "race"]], task="regression"
    )
    assert counts.axes == expected.axes
    for name in counts.sums:
        np.testing.assert_allclose(counts.sums[name], expected.sums[name], rtol=1e-12)
    found = eh.audit(counts, sensitive_features=["sex", "race"])
    asked = {finding.criterion: finding for finding in found.findings}
    rows = eh.audit(frame.value, frame.amount, sensitive_features=frame[["sex", "race"]])
    assert set(asked) == {"weak_parity", "performance_parity(mse)", "performance_parity(mae)"}
    for name, finding in asked.items():
        assert finding.p_value == pytest.approx(rows.finding(name).p_value)
    assert "<html" in found.to_html()


def test_sums_of_squares_that_are_too_small_are_refused():
    lines = pd.DataFrame({"g": ["a", "b"], "n": [4, 4], "s": [8.0, 9.0], "ss": [16.0, 20.0]})
    with pytest.raises(eh.InputError, match=r"'ss' has the sum of squares 20, but 4 values .* 9"):
        eh.tally(data=lines, rows="n", sensitive_features="g", sums={"yhat": "s", "yhat²": "ss"})


def test_a_gate_reads_a_tally():
    counts = pd.DataFrame(
        {"sex": ["F", "F", "M", "M"], "p": [0, 1, 0, 1], "n": [9000, 1000, 7000, 3000]}
    )
    tally = eh.tally(data=counts, rows="n", y_pred="p", sensitive_features="sex")
    assert eh.assert_even(tally, fail_if="demographic_parity > 0.5").evidence.columns == ("group",)
    with pytest.raises(AssertionError, match="FAILED"):
        eh.assert_even(tally, sensitive_features="sex", fail_if="demographic_parity > 0.1")


def test_interval_and_chance_of_counts_are_those_of_the_rows():
    frame = drawn()
    counts = eh.tally(
        data=counts_of(frame, "y", "p", "sex"),
        rows="n",
        y_true="y",
        y_pred="p",
        sensitive_features="sex",
    )
    rows = (frame.y, frame.p)
    for criterion in ("statistical_parity", "equalized_odds", "accuracy_parity"):
        for ask in (eh.interval, eh.chance):
            assert ask(criterion, counts) == ask(criterion, *rows, sensitive_features=frame.sex)


def test_counts_have_an_interval_where_weights_have_none():
    counts = pd.DataFrame({"p": [0, 1, 0, 1], "g": [*"aabb"], "n": [900, 100, 800, 200]})
    as_weights = eh.interval(
        "statistical_parity", None, counts.p, sensitive_features=counts.g, sample_weight=counts.n
    )
    tally = eh.tally(data=counts, rows="n", y_pred="p", sensitive_features="g")
    as_rows = eh.interval("statistical_parity", tally)
    assert as_weights.value == pytest.approx(as_rows.value)
    assert as_weights.high - as_weights.low > 0.8
    assert as_rows.high - as_rows.low < 0.07


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y_pred": [1, 0]}, "already holds the columns; drop y_pred"),
        ({"strata": [1, 0]}, "drop strata"),
        ({"sensitive_features": ["sex", "race"]}, "made of 1 column"),
        ({"sensitive_features": np.array([1])}, "drop sensitive_features"),
        ({"task": "regression"}, "the tally counts labels"),
    ],
)
def test_what_cannot_stand_beside_a_tally_is_refused(options, message):
    counts = eh.tally([1, 0, 1], [1, 1, 0], sensitive_features=["a", "b", "b"])
    with pytest.raises((eh.InputError, eh.InputTypeError), match=message):
        eh.audit(counts, **options)


def test_an_audit_of_columns_without_groups_is_refused():
    with pytest.raises(TypeError, match="Pass sensitive_features"):
        eh.audit([1, 0], [1, 0])


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_models_are_compared_on_counts_as_on_the_rows(weighted):
    frame = drawn().assign(weight=lambda rows: (rows.score > 0.4) + 0.5)  # sums are exact
    keys = ["y", "p", "q", "r", "sex", "race", *(["weight"] if weighted else [])]
    counts = counts_of(frame, *keys)
    counts = pd.concat([counts, counts.iloc[:1].assign(n=0, sex="M")], ignore_index=True)

    def comparison(table, **options):
        weight = table.weight if weighted else None
        return eh.compare(
            table.y,
            table[["p", "q"] if weighted else ["p", "q", "r"]],
            sensitive_features=table[["sex", "race"]],
            sample_weight=weight,
            **options,
        )

    found, expected = comparison(counts, rows=counts.n), comparison(frame)
    assert_alike(json.loads(found.to_json()), json.loads(expected.to_json()))


@pytest.mark.slow
def test_models_of_numbers_are_compared_on_counts_as_on_the_rows():
    frame = drawn().assign(other=lambda rows: rows.amount * 0.9)
    counts = counts_of(frame, "value", "amount", "other", "sex")

    def comparison(table, **options):
        models = {"one": table.amount, "two": table.other}
        return eh.compare(table.value, models, sensitive_features=table.sex, **options)

    found, expected = comparison(counts, rows=counts.n), comparison(frame)
    assert_alike(json.loads(found.to_json()), json.loads(expected.to_json()))


def test_what_is_no_count_is_refused_by_a_comparison():
    with pytest.raises(eh.InputError, match=r"rows has the count 0\.5, which is not whole"):
        eh.compare([1, 0], {"m": [1, 1]}, sensitive_features=["a", "b"], rows=[1, 0.5])
    with pytest.raises(
        eh.InputError, match="there are 2 rows of sensitive_features, but 3 of rows"
    ):
        eh.compare([1, 0], {"m": [1, 1]}, sensitive_features=["a", "b"], rows=[1, 2, 3])


def in_bins(frame, width=0.1):
    edges = np.arange(0, 1 + width / 2, width).round(2)
    return frame.assign(
        lower=edges[np.digitize(frame.score, edges) - 1],
        score=pd.cut(frame.score, edges, right=False).astype(str),
    )


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(8)
    frame = drawn(900)
    return frame.assign(score=np.clip(frame.y * 0.3 + rng.random(900) * 0.6, 0, 0.999))


BY_SCORE = {"y_true": "y", "y_score": "score", "sensitive_features": "sex"}


@pytest.fixture(scope="module")
def of_rows(scored):
    """Audits by the lower ends of the bins, and by the scores themselves."""
    lower = eh.audit(data=in_bins(scored), threshold=0.4, **BY_SCORE | {"y_score": "lower"})
    return lower, eh.audit(data=scored, threshold=0.4, **BY_SCORE)


@pytest.mark.slow
def test_scores_in_bins_tell_what_the_rows_tell_at_the_ends_of_bins(local_engine, scored, of_rows):
    frame = in_bins(scored)
    counts = counts_of(frame, "y", "score", "sex")
    found = eh.audit(data=local_engine(counts), rows="n", threshold=0.4, **BY_SCORE)
    expected, exact = of_rows
    for criterion in ("equalized_odds", "calibration_parity"):
        assert found.finding(criterion).p_value == exact.finding(criterion).p_value
    for finding in found.findings:
        assert finding.p_value == expected.finding(finding.criterion).p_value
    asked = {finding.criterion for finding in found.findings}
    left_out = {finding.criterion for finding in exact.findings} - asked
    assert left_out == {"calibration_within_groups", "performance_parity(cross_entropy)"}
    assert any("'score' was given in 9 bins" in note for note in found.notes)


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (["[0, 0.5)", "[0.4, 1)"], {"threshold": 0.4}, "Bins of 'score' overlap"),
        (["[0, 0.5)", "[0.5, 1)"], {"threshold": 0.7}, "0.7 lies inside the bin from 0.5 to 1"),
        (["[0, 0.4)", "[0.4, 1)"], {}, "0.5 lies inside the bin from 0.4 to 1"),
        (["300-600", "600-850"], {}, "not a probability that could be cut"),
        (["low", "high"], {"threshold": 0.4}, "'score' holds 'low', which is neither"),
        (["0.5-0.1", "0.5-0.9"], {"threshold": 0.4}, "'score' holds '0.5-0.1'"),
    ],
)
def test_bins_that_cannot_be_cut_are_refused(labels, options, message):
    counts = pd.DataFrame(
        {"y": [0, 1] * 4, "sex": [*"FFFFMMMM"], "score": [labels[i % 4 // 2] for i in range(8)]}
    ).assign(n=20)
    with pytest.raises(eh.InputError, match=message):
        eh.audit(data=counts, rows="n", **BY_SCORE, **options)


@pytest.mark.slow
def test_bins_that_are_no_probabilities_are_cut_where_they_end():
    counts = pd.DataFrame(
        {
            "y": [0, 1] * 4,
            "sex": [*"FFFFMMMM"],
            "score": ["0-1", "0-1", "1-2", "1-2"] * 2,
            "n": [90, 10, 50, 60, 70, 30, 40, 80],
        }
    )
    found = eh.audit(data=counts, rows="n", threshold=1, **BY_SCORE)
    assert found.finding("statistical_parity", "mpd").value == pytest.approx(120 / 220 - 110 / 210)
    assert not any("calibration" in finding.criterion for finding in found.findings)
    assert any("runs from 0 to 2, so it is not a probability" in note for note in found.notes)
