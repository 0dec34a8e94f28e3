"""What journeys found, each as the few rows that show it."""

import json
import re
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli.audit import audit

Y = [0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0]
P = [0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0]
G = [*"aabbaabbabab"]
NAMES = {"y_true": "y", "y_pred": "p", "sensitive_features": "g"}


@pytest.mark.slow
def test_a_regression_has_a_document_where_no_prediction_has_to_move():
    """The cost of moving nothing was −4e-13, and its root no JSON."""
    ours = [972, 974, 974, 973, 973, 973, 973, 971, 972, 972, 973, 974, 974, 974, 973, 971, 975]
    ours += [974, 972, 974, 973, 973, 974, 974, 975, 972, 973, 971, 974, 972, 970, 973, 973, 973]
    predicted = [ours[0], 1059, *ours[1:]]
    truth = [value + 0.5 for value in predicted]
    groups = ["M", "F", *["M"] * 33]
    found = eh.audit(truth, predicted, sensitive_features=groups, task="regression")
    assert json.loads(found.to_json())["frontier"] is not None


@pytest.mark.parametrize(
    "held",
    [
        lambda values: pa.array(values).dictionary_encode(),
        lambda values: pd.Series(values, dtype="category"),
    ],
    ids=["arrow", "pandas"],
)
@pytest.mark.parametrize("labels", [(False, True), (0, 1)], ids=["truth values", "numbers"])
def test_labels_in_a_dictionary_are_what_they_are_elsewhere(held, labels):
    """Arrow's dictionary of True and False was read as "true" and "false"."""
    truth, predicted = ([labels[k] for k in values] for values in (Y, P))
    asked = {"sensitive_features": G, "measure": "mpd"}
    plain = eh.evaluate("equal_opportunity", np.array(truth), np.array(predicted), **asked)
    assert eh.evaluate("equal_opportunity", held(truth), np.array(predicted), **asked) == plain


def test_a_statistic_is_named_with_its_criterion_at_every_door():
    """`audit` took "performance_parity(f1)", and other doors had no such criterion."""
    asked, name = {"sensitive_features": G, "measure": "mpd"}, "performance_parity(f1)"
    value = eh.evaluate("performance_parity", Y, P, g="f1", **asked)
    assert eh.evaluate(name, Y, P, **asked) == value
    assert eh.interval(name, Y, P, **asked).value == value
    found = eh.audit(Y, P, sensitive_features=G, criteria=name, measures="mpd")
    assert found.finding(name, "mpd").value == value
    models = eh.compare(Y, {"m": P}, sensitive_features=G, criteria=[name], measures=["mpd"])
    assert models.to_frame()[["criterion", "value"]].values.tolist() == [[name, value]]


def test_no_name_of_a_group_steers_the_terminal_when_an_audit_is_printed():
    groups = [{"a": "\x1b[31mred", "b": "b\x07"}[group] for group in G]
    found = eh.audit(Y, P, sensitive_features=groups, favorable=1)
    for text in (str(found), repr(found), found.summary):
        assert not {"\x1b", "\x07"} & set(text), text


def test_rows_that_weigh_nothing_leave_a_rate_in_its_interval():
    """A selection that weighs nothing kept the interval of a rate of 0 above 0."""
    decisions, groups = [1, 0, 0, 0, 0, 1, 1, 0, 0, 1], [*"aaaaabbbbb"]
    weight = [0.0, 1, 2, 1, 1, 1, 2, 1, 1, 2]
    asked = {"sensitive_features": groups, "sample_weight": weight, "favorable": 1}
    found = eh.audit(None, decisions, **asked, criteria="statistical_parity", measures="mpd")
    rates = found.by_group_frame("statistical_parity")
    assert rates["values"].tolist()[0] == 0
    assert (rates["low"] <= rates["values"]).all()


def test_one_hypothesis_has_one_p_value():
    """Accuracy and error rates are equal together; two draws gave an adjusted p below its own."""
    groups = ["a"] * 8 + ["b"] * 16 + ["c"] * 6
    right = [0] * 8 + [0] * 7 + [1] * 9 + [1] * 6
    asked = {"criteria": ["accuracy_parity", "error_parity"], "measures": "mpd", "favorable": 1}
    one, two = eh.audit([1] * 30, right, sensitive_features=groups, **asked).findings
    assert one.p_value == two.p_value <= two.p_adjusted


def test_a_stated_label_of_several_is_all_that_is_tested():
    """Nobody is given the label 3, and "b had 0% against 0% for a" was said to differ."""
    groups, predicted = ["a"] * 40 + ["b"] * 40, [1] * 40 + [2] * 40
    truth = [3] * 5 + predicted[5:75] + [3] * 5
    asked = {"criteria": ["statistical_parity", "equalized_odds"], "favorable": 3}
    for finding in eh.audit(truth, predicted, sensitive_features=groups, **asked).findings:
        assert finding["mpd"].value == 0
        assert finding.verdict != "differs", finding.criterion


@pytest.mark.slow
def test_a_gate_that_names_a_group_is_well_formed_whatever_its_name(tmp_path):
    """An escape in a name was no XML."""
    groups = ["a"] * 7 + ["b"] * 7 + ["\x1b[31m"] * 2
    table = pd.DataFrame({"p": [1, 0] * 8, "y": [1, 0] * 7 + [0, 0], "g": groups})
    table.to_parquet(tmp_path / "rows.parquet")
    names = ["--target", "y", "--prediction", "p", "--group", "g", "--favorable", "1"]
    gate = ["--fail-if", "equal_opportunity.mpd > 0.2", "--junit", str(tmp_path / "gates.xml")]
    CliRunner().invoke(audit, [str(tmp_path / "rows.parquet"), *names, *gate])
    assert ET.parse(tmp_path / "gates.xml").getroot().attrib["tests"] == "1"


@pytest.mark.parametrize("rows", [1, 50], ids=["of one row", "of fifty rows"])
def test_a_watch_ends_where_every_rate_of_many_groups_is_0_or_1(rows):
    """PQ of groups that show no noise was sought without end."""
    groups = np.repeat(np.arange(20), rows)
    truth = np.arange(20 * rows) % 2
    watch = eh.Watch("accuracy_parity", measures=["pq"])
    watch.update(eh.tally(truth, truth, sensitive_features=groups), part="1", at="2026-01-01")
    (finding,) = watch.status().findings
    interval = finding.intervals["pq"]
    assert 0 == interval.low == interval.value < interval.high


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [1, 4], ids=["one cluster", "clusters alike"])
def test_neither_the_order_of_rows_nor_the_names_of_clusters_move_an_interval(clusters):
    """Where clusters do not differ, what rounding left of them was taken for how they differ."""
    rng = np.random.default_rng(7)
    predicted = np.tile(rng.normal(10, 1, 20), clusters)
    groups = np.tile(np.repeat([0, 1, 2], [7, 6, 7]), clusters)
    predicted += np.array([0.0, -47.3, 7.1])[groups]
    together = np.repeat(np.arange(clusters), 20)
    asked = {"measure": "mpd", "y_true": None}

    def interval(order, names):
        return eh.interval(
            "weak_parity",
            y_pred=predicted[order],
            sensitive_features=groups[order],
            cluster=names[together[order]],
            **asked,
        )

    plain = interval(np.arange(len(groups)), np.arange(clusters))
    for _ in range(6):
        other = interval(rng.permutation(len(groups)), rng.permutation(clusters))
        assert (other.low, other.high) == pytest.approx((plain.low, plain.high), rel=1e-9)


def test_a_group_called_none_is_not_the_reference_that_nobody_named():
    groups = ["None" if group == "a" else "b" for group in G]
    found = eh.audit(Y, P, sensitive_features=groups, favorable=1)
    with pytest.raises(eh.InputError, match="Which group of 'group' is the reference"):
        found.to_json(standard="lending")


def test_what_an_arrow_dictionary_of_numbers_lacks_is_missing():
    """Arrow's own conversion took it for the last number of the dictionary."""
    numbers = [1.5, None, 2.5, 3.0]
    given = {"sensitive_features": [*"aabb"], "measure": "mpd"}
    for held in (pa.array(numbers), pa.chunked_array([numbers])):
        with pytest.raises(eh.InputError, match=r"1 value that is not finite, .* in row 1"):
            eh.evaluate("weak_parity", None, held.dictionary_encode(), **given)


@pytest.mark.parametrize(("seen", "favorable"), [(1, 2), ("no", "yes"), (0, "1"), (1, 1)])
def test_a_truth_of_one_label_has_no_area_whichever_label_is_favorable(seen, favorable):
    """Where the truth was 1 throughout, the other label was taken for 0 whatever was named."""
    asked = {"g": "auroc", "sensitive_features": G, "favorable": favorable}
    with pytest.warns(eh.UndefinedWarning):
        value = eh.evaluate("performance_parity", [seen] * 12, y_score=np.arange(12.0), **asked)
    assert np.isnan(value)


def test_one_answer_in_two_spellings_is_refused_and_never_four_labels(tmp_path):
    """Of files with 0 and 1, and with yes and no, half the rows were nobody's hits."""
    for name, (no, yes) in {"a": (0, 1), "b": ("no", "yes")}.items():
        labels = {"y": [[no, yes][k] for k in Y], "p": [[no, yes][k] for k in P], "g": G}
        pd.DataFrame(labels).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    done = CliRunner().invoke(audit, [*files, "--target=y", "--prediction=p", "--group=g"])
    assert done.exit_code == 2
    assert "'0', '1', 'no' and 'yes' are one answer, written in 2 ways" in done.output
    mixed = [["no", "yes", "0", "1"][k] for k in [0, 1, 2] * 4]
    with pytest.raises(eh.InputError, match="written in 2 ways"):
        eh.tally(None, mixed, sensitive_features=G)
    several = [["no", "yes", "maybe"][k] for k in [0, 1, 2] * 4]
    assert eh.tally(None, several, sensitive_features=G).labels("yhat") == ("maybe", "no", "yes")


def test_scores_beside_a_truth_of_one_word_are_audited():
    """ "y_score has 2 columns" was said of one, where nobody had the other label."""
    asked = {"sensitive_features": G, "favorable": "yes", "score_of": "yes"}
    found = eh.audit(["yes"] * 12, ["yes"] * 12, y_score=np.arange(12.0), **asked)
    assert found.finding("performance_parity(auroc)").verdict == "undefined"
    with pytest.raises(eh.InputError, match=r"y_score has one column, but y_true takes \[2\]"):
        eh.evaluate(
            "performance_parity", [2] * 12, y_score=np.arange(12.0), sensitive_features=G, g="auroc"
        )


def test_a_model_compared_with_itself_by_errors_that_hardly_vary_has_limits():
    """Where no error varies in any group, a tail of PQ's set was no number."""
    groups = np.repeat(np.arange(200), 2)
    error = np.repeat(np.random.default_rng(3).exponential(size=200), 2)
    truth = np.arange(400.0)
    options = {"criteria": "performance_parity(mae)", "measures": "pq", "task": "regression"}
    models = {"one": truth + error, "again": truth + error}
    found = eh.compare(truth, models, sensitive_features=groups, **options)
    assert found.differences["difference"].tolist() == [0.0]
    assert np.isfinite(found.differences[["low", "high"]].to_numpy(dtype=float)).all()


def test_an_audit_without_rates_has_a_figure():
    """ "There is no chart of this result" was said of every audit of amounts alone."""
    amounts = np.random.default_rng(2).normal(size=60)
    asked = {"sensitive_features": [*"ab"] * 30, "criteria": "wasserstein_parity"}
    drawn = eh.audit(None, amounts, **asked, task="regression").plot()
    assert "Wasserstein" in " ".join(text.get_text() for text in drawn.findobj(mpl.text.Text))


@pytest.mark.parametrize("how", ["plain", "weights", "clusters"])
def test_one_prediction_for_everyone_never_differs(how):
    """Means of one number came out a last digit apart, and constants have no standard error."""
    rng = np.random.default_rng(3)
    truth, group = rng.normal(-100, 9, 40), rng.choice(["a", "b", "c"], 40)
    names = ("weak_parity", "strong_parity", "wasserstein_parity")
    asked = {"sensitive_features": group, "task": "regression", "criteria": names}
    asked |= {"weights": {"sample_weight": rng.uniform(0.1, 1, 40)}}.get(how, {})
    asked |= {"clusters": {"cluster": np.arange(40)}}.get(how, {})
    for value in (-10.0, 0.1, -1e-8, 1e9):
        found = eh.audit(truth, np.full(40, value), **asked)
        for name in names:
            assert found.finding(name).verdict == "undefined", (name, value)
        assert found.finding("weak_parity").gap.high <= 1e-9 * abs(value)


def test_the_four_fifths_of_groups_that_are_all_too_small_are_refused_in_words():
    groups = np.repeat([f"g{n:02}" for n in range(75)], 2)
    found = eh.audit(None, np.tile([0, 1], 75), sensitive_features=groups, favorable=1)
    with pytest.raises(eh.InputError, match=r"None of the 75 groups has 2.*% .*least_share"):
        found.to_html(standard="ugesp")


def test_two_clusters_tell_nothing_of_standard_errors_without_end():
    """The square of Student's limits of one degree of freedom was beyond floats."""
    scores = [0.998, 0.801, 0.077, 0.331, 0.414, 0.248, 0.066, 0.132, 0.254, 0.125]
    found = eh.audit(
        [0] * 10,
        [1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        y_score=scores,
        sensitive_features=["x", "y", *["z"] * 8],
        cluster=[0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
        favorable=0,
        score_of=1,
    )
    assert all(np.isnan(f.p_value) or 0 <= f.p_value <= 1 for f in found.findings)


def test_two_labels_of_several_need_no_favorable_one():
    truth = ["high", "middle", "high", "middle", "high"]
    found = eh.audit(truth, truth[::-1], sensitive_features=[*"aabbb"], task="multiclass")
    assert found.finding("statistical_parity") is not None
    assert any("left out" in note for note in found.notes)


def test_labels_that_differ_in_capitals_or_spaces_alone_are_refused():
    for true, predicted in (("No ", "No"), ("no", "No")):
        y, p = np.array(["Yes", true] * 40), np.array(["Yes", predicted] * 40)
        with pytest.raises(eh.InputError, match=f"'{true}' and another '{predicted}'"):
            eh.audit(y, p, sensitive_features=["a", "a", "b", "b"] * 20, favorable="Yes")
    letters = np.array(["a", "A", "b", "B"] * 20)  # which are labels of both columns
    groups = ["x", "y", "y", "x"] * 20
    asked = {"sensitive_features": groups, "criteria": "statistical_parity", "measures": "mpd"}
    found = eh.audit(letters, letters[::-1].copy(), **asked)
    assert len(found.evidence.classes) == 4


def test_labels_that_are_only_true_beside_others_that_are_only_predicted_are_told():
    y, p = np.array([-1, 1] * 40), np.array([0, 1, 1, 0] * 20)
    asked = {"criteria": "statistical_parity", "measures": "mpd"}
    found = eh.audit(y, p, sensitive_features=["a", "a", "b", "b"] * 20, **asked)
    assert "“-1” is true and never predicted, and “0” is predicted and never true" in str(
        found.notes
    )
    few = {"sensitive_features": ["a", "b"] * 40, **asked}
    rare = eh.audit([0, 1, 2, 0] * 20, [0, 1, 0, 0] * 20, **few)
    assert "never" not in str(rare.notes)  # a model that never says 2 is nothing odd


def test_groups_of_several_parts_in_one_column_are_refused_with_the_way_out():
    pairs = pd.Series([("a", 1), ("b", 2)] * 30)
    with pytest.raises(eh.InputTypeError, match=r"sensitive_features=\[first, second\]"):
        eh.audit([0, 1, 1, 0] * 15, [1, 0] * 30, sensitive_features=pairs, favorable=1)


def test_a_column_of_two_dimensions_is_refused_with_the_way_out():
    with pytest.raises(eh.InputError, match=r"\(60, 1\)\. Pass y_true\.ravel\(\)"):
        eh.audit(np.array([[0], [1]] * 30), [1, 0] * 30, sensitive_features=["a", "b"] * 30)


@pytest.mark.usefixtures("few_folds")
def test_a_frontier_prints_no_empty_paragraph_and_calls_only_one_thing_a_gap():
    rng = np.random.default_rng(0)
    scores, group = rng.random(200), np.array(["a", "b"] * 100)
    found = eh.frontier(rng.random(200) < scores, y_score=scores, sensitive_features=group)
    assert "(empty)" not in str(found)
    assert " gap\n" not in str(found)
    assert "proof ±" in str(found)


def test_an_area_of_0_that_rounds_below_0_has_its_gini_index():
    scores = np.fromstring(
        "-1.56 -7.75 -7.71 -5.68 -6.02 -7.01 -5.58 -5.4 -7.43 -6.27 -6.11 -8.45 -7.41 -7.8 -6.17 "
        "-2.83 -4.69 -6.86 -7.18 -8.35 -7.11 -6.55 -6.68 -0.24 -7.78 -6.61 -6.36 -2.21 -4.89 -4.94",
        sep=" ",
    )
    y = np.array([int(sign) for sign in "111111000100100100110010001111"])
    group = np.where(np.isin(np.arange(30), [0, 15, 23, 27]), "b", "a")
    asked = {"y_score": scores, "sensitive_features": group, "threshold": -6, "favorable": 1}
    table = eh.evaluate("performance_parity(auroc)", y, measure="gini", **asked)
    assert float(table) == pytest.approx(0.5)
    audit = eh.audit(y, **asked, criteria="performance_parity(auroc)")
    assert audit.finding("performance_parity(auroc)", "pq").value > 0


def test_a_watch_of_nobody_selected_has_the_gap_that_intervals_have():
    rows = [0] * 35, [0] * 35
    groups = [*"abcde"] * 7
    for labels, favorable in (((0, 1), 1), (("no", "yes"), "yes")):
        truth, predicted = ([labels[value] for value in column] for column in rows)
        for name in ("statistical_parity", "equalized_odds"):
            watch = eh.Watch(name, measures="mpd", favorable=favorable)
            watch.update(eh.tally(truth, predicted, sensitive_features=groups))
            asked = {"sensitive_features": groups, "favorable": favorable, "measure": "mpd"}
            (finding,) = watch.status().findings
            assert finding.intervals["mpd"].value == eh.evaluate(name, truth, predicted, **asked)
            assert finding.verdict == "cannot tell"


def test_a_watch_refuses_the_favorable_label_in_another_spelling_as_every_door_does():
    groups = [*"ab"] * 20
    for labels in ([" yes"], [" yes", "no"]):
        column = labels * (40 // len(labels))
        watch = eh.Watch("statistical_parity", favorable="yes")
        with pytest.raises(eh.InputError, match="favorable label 'yes'"):
            watch.update(eh.tally(None, column, sensitive_features=groups))
        with pytest.raises(eh.InputError, match="favorable label 'yes'"):
            eh.evaluate(
                "statistical_parity", None, column, sensitive_features=groups, favorable="yes"
            )


@pytest.mark.long
def test_a_gap_that_one_row_makes_is_said_without_it():
    rng = np.random.default_rng(0)
    group = np.append(np.repeat(["a", "b"], 200), "c")
    scores = np.append(np.repeat([0.98, 0.68], 200) * rng.random(400).round(2) + 0.001, 0.99)
    y = np.append(rng.random(400) < scores[:400], True).astype(int)
    found = eh.frontier(y, scores, sensitive_features=group, truth="labels", values=2)
    chosen = [(scores[group == one] >= 0.5).mean() for one in "ab"]
    gap, rest = (100 * (1 - min(chosen)), 100 * np.ptp(chosen))
    first = found.sentences[0]
    assert f"the model's gap is {gap:.1f} points" in first
    assert first.endswith(f"; without c (1 row) it is {rest:.1f} points.")
    audited = eh.audit(y, y_score=scores, sensitive_features=group)
    said = " ".join(audited.document()["frontier"]["sentences"])
    assert f"; without c (1 row) it is {rest:.1f} points." in said
    large = eh.frontier(
        y[:400], scores[:400], sensitive_features=group[:400], truth="labels", values=2
    )
    assert "without" not in large.sentences[0]


def test_the_gap_of_distributions_at_a_cut_point_is_in_percentage_points():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], 300)
    scores = np.clip(rng.normal(0.4 + 0.3 * (group == "b"), 0.15), 0, 1).round(2)
    y = (rng.random(600) < scores).astype(int)
    asked = ["strong_parity", "wasserstein_parity"]
    found = eh.audit(y, y_score=scores, sensitive_features=group, criteria=asked)
    strong, area = found.document()["summary"]["criteria"]
    assert re.fullmatch(r"≥ \d+\.\d pts", strong["short"])
    assert re.search(r"the largest gap is at least \d+\.\d percentage points", strong["words"])
    assert "pts" not in area["short"]


def test_a_gap_of_which_no_hybrid_has_a_value_has_no_account_and_a_page():
    y, p = [1, 1, 0, 0, 1, 0] * 20, [1, 0, 0, 1, 1, 0] * 20
    group = ["a", "a", "b", "b", "c", "c"] * 20
    found = eh.audit(y, p, sensitive_features=group, favorable=1, criteria="performance_parity(f1)")
    assert found.document()["why"] is None
    assert "Why they differ" not in found.to_html()
    with pytest.raises(eh.InputError, match="would be 0/0 with the base rates of one of b and c"):
        found.explain(between=("b", "c"))
