"""The summary: one sentence, one table, the same in every form."""

import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics

import evenhand as eh
from evenhand import report
from evenhand._audit import result
from evenhand._audit.naming import Names


def hired(rates, rows=2000, names=("Female", "Male")):
    """Exactly these shares of each group are selected; the truth is half and half."""
    group = np.repeat(names, rows)
    decision = np.concatenate([np.arange(rows) < round(rate * rows) for rate in rates]).astype(int)
    truth = np.tile([0, 1], len(group) // 2)
    return truth, decision, pd.DataFrame({"sex": group})


def audited(rates, rows=2000, **options):
    truth, decision, group = hired(rates, rows)
    asked = {"criteria": ["statistical_parity", "selection_rate_ratio"], "measures": "mpd"}
    return eh.audit(truth, decision, sensitive_features=group, **{**asked, **options})


def test_two_groups_that_differ_are_told_in_a_sentence_of_people_and_points():
    told = audited([0.1, 0.2]).document()["summary"]
    pattern = (
        r"Female were selected about half as often as Male \(10% against 20%\)\. "
        r"The gap is at least (\d\.\d) percentage points\."
    )
    found = re.fullmatch(pattern, told["sentence"])
    assert found
    assert 5 < float(found[1]) <= 10
    assert told["about"].startswith("4,000 rows in 2 groups by sex. Favorable label: 1 (assumed;")


def test_the_bound_in_the_sentence_is_that_of_the_finding():
    audit = audited([0.1, 0.2])
    low = audit.finding("statistical_parity").gap.low
    told = float(re.search(r"at least ([\d.]+) percentage points", audit.summary)[1])
    assert 100 * low - 0.1 < told <= 100 * low + 1e-9


def test_groups_that_are_alike_and_rows_that_cannot_tell_are_told_as_plainly():
    alike = audited([0.2, 0.2], rows=40_000).summary
    assert alike.startswith("The groups are alike in selection rate: they differ by at most ")
    unsure = audited([0.2, 0.3], rows=50).summary
    assert unsure.startswith(
        "Inconclusive: these rows do not show whether the groups differ in sel"
    )
    assert "(20% for Female and 30% for Male)" in unsure
    assert "in both a difference of 5 percentage points could be missed." in unsure


def test_a_group_that_is_never_selected_is_told_with_its_rate():
    assert "Female had a selection rate of 0%, against 20% for Male" in audited([0, 0.2]).summary


@pytest.mark.slow
def test_where_selection_is_alike_another_difference_is_told():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], 20_000)
    truth = rng.integers(0, 2, 40_000)
    right = rng.random(40_000) < np.where(group == "a", 0.9, 0.6)
    told = eh.audit(truth, np.where(right, truth, 1 - truth), sensitive_features=group).summary
    assert told.startswith("Rows of b had a")
    assert "The groups are alike in selection rate" in told


@pytest.mark.slow
def test_a_regression_is_told_in_the_unit_of_its_target():
    group = np.repeat(["north", "south"], 500)
    noise = np.tile(np.linspace(-100, 100, 500), 2)
    predicted = np.where(group == "north", 52_000, 41_000) + noise
    told = eh.audit(predicted + noise, predicted, sensitive_features=group).summary
    assert "South had a mean prediction of 41,000, against 52,000 for north" in told
    assert "%" not in told


@pytest.mark.slow
def test_of_several_classes_the_one_that_differs_most_surely_is_told():
    truth = np.tile(["A", "B", "C"], 2000)
    group = np.repeat(["x", "y"], 3000)
    predicted = np.where((group == "y") & (np.arange(6000) % 6 == 0), "C", truth)
    told = eh.audit(truth, predicted, sensitive_features=group).document()["summary"]
    assert re.match("“[AC]” was predicted .* as often for [xy] as for [xy]", told["sentence"])
    assert told["headline"]["metric"] == f"selection_rate({told['sentence'][1]})"
    assert told["table"]["of_class"] is None


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    sex, race = rng.choice(["F", "M"], 3000), rng.choice(["r", "s", "t"], 3000)
    truth = rng.integers(0, 2, 3000)
    predicted = np.where(rng.random(3000) < np.where(sex == "F", 0.7, 0.9), truth, 1 - truth)
    return pd.DataFrame({"sex": sex, "race": race, "y": truth, "p": predicted})


QUICK = {"criteria": "statistical_parity", "measures": "mpd"}
KEYS = {
    "selection_rate": lambda y, p: np.mean(p),
    "base_rate": lambda y, p: np.mean(y),
    "true_positive_rate": metrics.recall_score,
    "false_positive_rate": lambda y, p: metrics.recall_score(1 - y, p),
    "precision": metrics.precision_score,
    "accuracy": metrics.accuracy_score,
}


@pytest.mark.slow
def test_rates_by_group_are_scikit_learns(people):
    table = eh.audit(
        people.y, people.p, sensitive_features=people[["sex", "race"]], **QUICK
    ).by_group
    assert list(table.index.names) == ["sex", "race"]
    assert list(table.columns) == [
        "n",
        "base_rate",
        "selection_rate",
        "true_positive_rate",
        "false_positive_rate",
        "precision",
        "accuracy",
    ]
    for group, rows in people.groupby(["sex", "race"]):
        assert table.loc[group, "n"] == len(rows)
        for key, metric in KEYS.items():
            assert table.loc[group, key] == pytest.approx(metric(rows.y, rows.p))


def graded(rows=3000, classes=("poor", "fair", "good")):
    rng = np.random.default_rng(5)
    group, truth = rng.choice(["east", "west"], rows), rng.choice(classes, rows)
    leaning = np.where(group == "west", classes[0], rng.choice(classes, rows))
    return truth, np.where(rng.random(rows) < 0.7, truth, leaning), group


@pytest.mark.slow
def test_without_a_favorable_outcome_every_class_has_a_column():
    truth, grade, group = graded()
    found = eh.audit(truth, grade, sensitive_features=group, measures="mpd")
    by_group = found.by_group
    shares = pd.crosstab(group, grade, normalize="index")
    for label in shares:
        assert by_group[f"selection_rate({label})"].tolist() == pytest.approx(shares[label])
    right = pd.Series(truth == grade).groupby(group).mean()
    assert by_group["accuracy"].tolist() == pytest.approx(right)
    assert "precision" not in by_group
    told = found.document()["summary"]
    keys = [metric["key"] for metric in told["table"]["metrics"]]
    assert told["headline"]["metric"] == "selection_rate(poor)"
    west = told["table"]["groups"][1]
    assert west["apart"][keys.index("selection_rate(poor)")] == 1
    assert "how often each is predicted" in report.page(found.document())
    assert "“poor”" in found.to_markdown()


def test_a_favorable_outcome_or_many_classes_give_the_rates_of_one():
    truth, grade, group = graded()
    options = {"sensitive_features": group, "criteria": "statistical_parity", "measures": "mpd"}
    assert "precision" in eh.audit(truth, grade, favorable="good", **options).by_group
    truth, grade, group = graded(classes=tuple("abcdefghi"))
    assert "precision" in eh.audit(truth, grade, **options | {"sensitive_features": group}).by_group


def test_means_and_errors_by_group_are_scikit_learns():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"g": rng.choice(["a", "b"], 500), "y": rng.normal(10, 3, 500)})
    rows["p"] = rows.y + rng.normal(0.5, 1, 500)
    found = eh.audit(
        rows.y, rows.p, sensitive_features=rows[["g"]], criteria="weak_parity", task="regression"
    )
    for group, part in rows.groupby("g"):
        told = found.by_group.loc[group]
        assert told["mean_error"] == pytest.approx(np.mean(part.p - part.y))
        assert told["mae"] == pytest.approx(metrics.mean_absolute_error(part.y, part.p))
        assert told["rmse"] == pytest.approx(metrics.root_mean_squared_error(part.y, part.p))
        assert told["r2"] == pytest.approx(metrics.r2_score(part.y, part.p))


def paid(errors, rows=400, **options):
    """Predictions that are off by these amounts on average, in groups whose true pay is alike."""
    rng = np.random.default_rng(0)
    group = np.repeat([*errors], rows)
    noise = np.tile(rng.permutation(np.linspace(-3, 3, rows)), len(errors))
    truth = np.tile(rng.normal(50, 10, rows), len(errors))
    predicted = truth + noise + np.repeat([*errors.values()], rows)
    return eh.audit(truth, predicted, sensitive_features={"sex": group}, measures="mpd", **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("errors", "said"),
    [
        (
            {"women": -2.25, "men": 1.5},
            "Women were under-predicted by 2.250 on average, men over-predicted by 1.500. The gap",
        ),
        (
            {"women": 0.5, "men": 3.25},
            "Men were over-predicted by 3.250 on average, women only by 0.500. The gap is at least",
        ),
        (
            {"women": 0.0, "men": 3.25},
            "Men were over-predicted by 3.250 on average; women were not.",
        ),
    ],
)
def test_of_numbers_the_first_sentence_says_who_is_over_and_under_predicted(errors, said):
    found = paid(errors)
    assert found.summary.startswith(said)
    assert found.document()["summary"]["headline"]["metric"] == "mean_error"
    table = found.document()["summary"]["table"]
    assert (
        dict(zip([one["key"] for one in table["metrics"]], table["ratio"], strict=True))[
            "mean_error"
        ]
        is None
    )
    steps = [step["found"] for step in found.document()["next"]]
    assert steps[0] == "Some groups are over- or under-predicted compared with others."


@pytest.mark.slow
def test_the_rmse_that_a_correction_would_leave_is_that_of_corrected_predictions():
    found = paid({"women": -2.0, "men": 1.5})
    rest = np.std(np.linspace(-3, 3, 400))
    assert f"to {rest:.3f}." in found.document()["next"][0]["cost"]


@pytest.mark.parametrize("weighted", [False, True])
def test_signed_errors_are_compared_as_means_of_the_errors_are(weighted):
    rng = np.random.default_rng(1)
    y, group = rng.normal(50, 10, 600), rng.choice([*"abc"], 600)
    p = y + rng.gamma(2, 2, 600) - 3 + (group == "a")
    given = {"sensitive_features": group, "measure": "mpd"}
    given |= {"sample_weight": rng.uniform(0.5, 2, 600)} if weighted else {}
    signed = eh.interval("performance_parity(mean_error)", y, p, **given)
    means = eh.interval("weak_parity", None, p - y, **given)
    assert (signed.low, signed.value, signed.high) == pytest.approx(
        (means.low, means.value, means.high)
    )


def test_weights_count_in_rates_and_not_in_rows(people):
    weight = np.where(people.p == 1, 2.0, 1.0)
    table = eh.audit(
        people.y, people.p, sensitive_features=people[["sex"]], sample_weight=weight, **QUICK
    ).by_group
    women = people.sex == "F"
    assert table.loc["F", "n"] == women.sum()
    rate = np.average(people.p[women], weights=weight[women])
    assert table.loc["F", "selection_rate"] == pytest.approx(rate)


def test_the_table_is_a_dataframe_of_the_users_kind(people):
    frame = pl.from_pandas(people)
    table = eh.audit(
        frame["y"], frame["p"], sensitive_features=frame[["sex", "race"]], **QUICK
    ).by_group
    assert isinstance(table, pl.DataFrame)
    assert table.columns[:3] == ["sex", "race", "n"]


def test_a_sensitive_column_may_have_the_name_of_a_metric(people):
    frame = pl.from_pandas(people).rename({"sex": "n"})
    table = eh.audit(frame["y"], frame["p"], sensitive_features=frame[["n"]], **QUICK).by_group
    assert table.columns[:2] == ["n", "n (metric)"]


def test_without_the_truth_there_is_the_selection_rate(people):
    found = eh.audit(None, people.p, sensitive_features=people[["sex"]], **QUICK)
    assert list(found.by_group.columns) == ["n", "selection_rate"]


@pytest.mark.slow
def test_the_table_in_the_document_has_the_gap_the_ratio_and_flags(people):
    found = eh.audit(people.y, people.p, sensitive_features=people[["sex"]])
    table, frame = found.document()["summary"]["table"], found.by_group
    at = [metric["key"] for metric in table["metrics"]].index("accuracy")
    assert table["difference"][at] == pytest.approx(np.ptp(frame.accuracy))
    assert table["ratio"][at] == pytest.approx(frame.accuracy.min() / frame.accuracy.max())
    right = metrics.accuracy_score(people.y, people.p)
    assert table["overall"]["values"][at] == pytest.approx(right)
    assert [group["apart"][at] for group in table["groups"]] == [-1, 1]


def test_the_impact_ratio_stands_beside_four_fifths():
    told = audited([0.1, 0.2]).document()["summary"]["impact_ratio"]
    assert told["value"] == pytest.approx(0.5)
    assert told["side"] == "below"
    assert "below the four-fifths line of 0.80" in told["sentence"]
    close = audited([0.19, 0.2], rows=40_000).document()["summary"]["impact_ratio"]
    assert close["side"] == "at or above"
    unsure = audited([0.15, 0.2], rows=100).document()["summary"]["impact_ratio"]
    assert unsure["side"] == "cannot tell"


def test_every_form_tells_the_sentence():
    found = audited([0.1, 0.2])
    sentence = found.document()["summary"]["sentence"]
    assert sentence in found.summary
    assert sentence in " ".join(repr(found).split())
    for form in (found.to_markdown(), found.to_html(), found._repr_html_(), found.to_json()):
        assert sentence in form.replace("\\", "")


def test_the_repr_has_few_lines():
    lines = repr(audited([0.1, 0.2])).splitlines()
    assert len(lines) <= 5
    assert max(map(len, lines)) <= 88


def test_a_notebook_shows_text_where_jinja_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    found = audited([0.1, 0.2])
    assert found._repr_html_().startswith("<pre>Audit")
    assert found.summary.split(" (")[0] in found._repr_html_()


def test_markdown_cannot_be_broken_by_a_title():
    told = audited([0.1, 0.2], title="<b> | *x*").to_markdown()
    assert told.startswith("# \\<b\\> \\| \\*x\\*\n")


def test_names_carry_their_column_where_values_say_nothing():
    groups = [(("sex", "race"), ("F", 1)), (("sex", "race"), ("M", 2)), (("old",), "yes")]
    names = Names.of(groups)
    assert names(("sex", "race"), ("F", 1)) == "F × race=1"
    assert names(("old",), "yes") == "old=yes"
    assert names(("sex",), None) == "(missing)"
    assert names(("sex", "race"), "(rare groups)") == "(rare groups)"


def test_the_fingerprint_depends_on_the_rows_and_not_on_their_order():
    truth, decision, group = hired([0.1, 0.2])
    order = np.random.default_rng(0).permutation(len(truth))
    asked = {"criteria": "statistical_parity", "measures": "mpd"}
    first = eh.audit(truth, decision, sensitive_features=group, **asked)
    again = eh.audit(truth[order], decision[order], sensitive_features=group.iloc[order], **asked)
    other = eh.audit(truth, 1 - decision, sensitive_features=group, **asked)
    told = [one.document()["provenance"]["data"] for one in (first, again, other)]
    assert told[0] == told[1] != told[2]


def test_the_name_of_a_model_is_in_the_provenance():
    from sklearn.dummy import DummyClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = pd.DataFrame({"x": np.arange(200.0), "sex": np.tile([0, 1], 100)})
    y = np.tile([0, 0, 1, 1], 50)
    model = make_pipeline(StandardScaler(), DummyClassifier(strategy="stratified"))
    found = eh.audit(
        y, model.fit(X, y), data=X, sensitive_features="sex", criteria="accuracy_parity"
    )
    assert found.document()["provenance"]["model"] == "StandardScaler → DummyClassifier"
    assert found.date == result.document(found)["provenance"]["date"]


def test_the_first_chart_is_colored_as_the_table_is_flagged(people):
    found = eh.audit(
        people.y, people.p, sensitive_features=people[["sex"]], criteria=["accuracy_parity"]
    )
    told = found.document()["summary"]["headline"]
    assert told["metric"] == "accuracy"
    rows = found.to_html().split('id="groups"')[1].split("</svg>")[0]
    assert 'class="row above"' in rows
    assert 'class="row below"' in rows


@pytest.mark.slow
def test_figures_show_the_numbers_of_the_summary():
    found = audited([0.1, 0.2])
    (ax,) = found.plot("rates").axes
    dots = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert sorted(dots) == pytest.approx([10, 20])
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "Female (2,000)",
        "Male (2,000)",
    ]
    assert [line.get_xdata()[0] for line in ax.lines[-2:]] == pytest.approx([15, 16])
    gap = found.finding("statistical_parity").gap
    lines = found.plot("criteria").axes[0].lines
    assert lines[-2].get_xdata() == pytest.approx([100 * gap.low, 100 * gap.high])
    assert len(found.plot().axes) == 2


@pytest.mark.slow
def test_figures_of_a_regression_and_of_several_classes_have_a_point_for_every_group(tmp_path):
    rng = np.random.default_rng(0)
    group, value = rng.choice(["a", "b"], 400), rng.normal(size=400)
    grade = rng.choice(["A", "B", "C"], 400)
    for y in (value, grade):
        figure = eh.audit(y, y[::-1], sensitive_features=group).plot()
        figure.savefig(tmp_path / "figure.png")
        names = [label.get_text() for ax in figure.axes for label in ax.get_yticklabels()]
        assert {"a", "b"} <= {name.partition(" ")[0] for name in names}


def test_a_missing_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"evenhand\[figures\]"):
        audited([0.1, 0.2]).plot()
