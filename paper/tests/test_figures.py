"""Figures show what the table says, and say what is missing."""

import re

import numpy as np
import pandas as pd
import pytest

from lanes import one_in
from paper.figures import FIGURES, IN_PAPER
from paper.report import STORED
from paper.tests import invented
from paper.tests.invented import drawing_of
from paper.theme import THEME

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nothing():
    return invented.some(lambda run: False)


def test_the_paper_has_fourteen_figures():
    assert len(IN_PAPER) == 14


def test_no_two_methods_of_a_kind_look_alike():
    looks: dict[object, list[str]] = {}
    for name, one in THEME.styles.items():
        looks.setdefault((one.color, one.marker, one.hollow), []).append(name)
    shared = {frozenset(names) for names in looks.values() if len(names) > 1}
    assert shared == {  # a classifier and a regressor, which never meet
        frozenset({"Reduction", "FairReg"}),
        frozenset({"EqOdds", "WassBC"}),
        frozenset({"FairProj-KL", "ParityReduction"}),
        frozenset({"RateConstrained", "ParityConstrained"}),
        frozenset({"RateConstrained, average odds", "ParityConstrained, means"}),
    }


def mean_of(table: pd.DataFrame, question: str, **wanted) -> pd.Series:
    """Mean and standard error over seeds by hyperparameter, by pandas alone."""
    rows = table[(table["question"] == question) & (table["lot"] == "expected")]
    for column, value in wanted.items():
        rows = rows[rows[column].isna()] if value is None else rows[rows[column] == value]
    by_setting = rows.groupby("hyperparameter", dropna=False)["value"]
    return by_setting.agg(["mean", "sem"]).sort_index()


def line(axes, label: str):
    (found,) = [one for one in axes.get_lines() if one.get_label() == label]
    return found


@pytest.mark.parametrize(
    ("at", "question"), [(0, "statistical_parity.mpd"), (1, "statistical_parity.pq")]
)
def test_points_and_bars_of_a_tradeoff_are_means_and_standard_errors(results, drawn, at, question):
    drawing = drawn("tradeoffs-others")
    axes = drawing.figure.axes[at]
    chosen = {"problem": "compas", "base": "logistic", "method": "LinearPost"}
    chosen["constraint"] = "statistical_parity"
    table = invented.frame(results)
    x, y = mean_of(table, question, **chosen), mean_of(table, "accuracy", **chosen)
    drawn = line(axes, "LinearPost")
    np.testing.assert_allclose(drawn.get_xdata(), x["mean"])
    np.testing.assert_allclose(drawn.get_ydata(), y["mean"])
    bars = line(axes, "_bars of LinearPost")
    ends = np.asarray(bars.get_xdata()).reshape(-1, 6)
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * x["sem"])
    heights = np.asarray(bars.get_ydata()).reshape(-1, 6)
    np.testing.assert_allclose(heights[:, 4] - heights[:, 3], 2 * y["sem"], atol=1e-12)


def test_a_regression_is_drawn_from_its_own_base_model(results, drawn):
    table = invented.frame(results)
    for name, base in (("tradeoffs-regression", "linear"), ("true-targets", "targets")):
        drawing = drawn(name)
        rows = drawing.data
        assert set(rows["base"]) == {base}
        wanted = {"problem": "law_school", "base": base, "method": "Base"}
        expected = mean_of(table, "rmse", **wanted)["mean"].iloc[0]
        seen = rows[(rows["problem"] == "law_school") & (rows["method"] == "Base")]["y"]
        np.testing.assert_allclose(seen, expected)


def test_no_two_figures_of_the_stored_report_have_one_title():
    page = (STORED.parent / "report.html").read_text("utf-8")
    titles = re.findall(r"<h3>\d+\. (.*?)</h3>", page)
    assert len(set(titles)) == len(titles) == len(FIGURES)


@pytest.mark.parametrize("name", one_in(2, FIGURES))
def test_every_figure_is_drawn_and_told(drawn, name):
    drawing = drawn(name)
    assert len(drawing.data)
    assert drawing.missing == ()
    assert drawing.title
    assert drawing.alt
    assert drawing.text.endswith(".")
    texts = [text.get_text() for axes in drawing.figure.axes for text in axes.texts]
    assert "no results yet" not in texts


ONE_OF_A_KIND = (
    "tradeoffs-communities",
    "distributions",
    "rank-agreement",
    "group-sizes-every-setting",
    "pq-orders",
)


@pytest.mark.parametrize("name", ONE_OF_A_KIND)
def test_a_figure_without_results_says_so(nothing, name):
    drawing = drawing_of(nothing, name)
    assert drawing.data.empty
    assert drawing.missing
    assert "No results yet for" in drawing.text
    texts = [text.get_text() for axes in drawing.figure.axes for text in axes.texts]
    assert "no results yet" in texts


def test_a_missing_task_leaves_the_other_panels_as_they_are():
    wanted = ("compas", "hsls", "simulated")
    without = invented.some(lambda run: run["problem"] in wanted, seeds=1)
    drawing = drawing_of(without, "tradeoffs-others")
    assert drawing.missing == ("Enem",)
    assert set(drawing.data["problem"]) == {"compas", "hsls", "simulated"}


def test_a_missing_method_is_not_in_the_legend(drawn):
    """A regression has no method of classification."""
    for name, there in (("tradeoffs-others", True), ("tradeoffs-regression", False)):
        names = [text.get_text() for text in drawn(name).figure.legends[0].get_texts()]
        assert ("Rejection" in names) == there


def test_one_split_has_no_bars_and_the_caption_says_so():
    one = invented.some(lambda run: run["problem"] == "communities", seeds=1)
    drawing = drawing_of(one, "tradeoffs-communities")
    assert "One split" in drawing.caption
    assert drawing.data["x_error"].isna().all()


def test_stand_ins_are_marked_and_named(drawn):
    drawing = drawn("tradeoffs-others")
    titles = [axes.get_title(loc="left") for axes in drawing.figure.axes]
    assert any(title.endswith("HSLS†") for title in titles)
    assert any(title.endswith("COMPAS") for title in titles)
    assert f"HSLS† ({invented.STAND_IN}; 1,000 rows)" in drawing.caption


def test_parity_panels_show_methods_that_aim_at_parity_and_odds_panels_the_others(drawn):
    drawing = drawn("tradeoffs-adult-acs")
    shown = [{one.get_label() for one in axes.get_lines()} for axes in drawing.figure.axes[:2]]
    assert "EqOdds" not in shown[0]
    assert "EqOdds" in shown[1]
    assert "Base" in shown[0] & shown[1]
    assert "RateConstrained" in shown[0] & shown[1]


def test_lines_over_the_number_of_groups_are_the_means(results, drawn):
    drawing = drawn("group-sizes")
    table = invented.frame(results)
    drawn = line(drawing.figure.axes[0], "Base")
    expected = [
        mean_of(table, "statistical_parity.mpd", problem=f"simulated_multigroup {n}", method="Base")
        for n in drawn.get_xdata()
    ]
    np.testing.assert_allclose(drawn.get_ydata(), [one["mean"].iloc[0] for one in expected])
    assert list(drawn.get_xdata()) == [2, 5, 10, 20, 30, 40, 50]


def test_the_noise_floor_is_drawn_where_it_is_known(results, drawn):
    known = drawn("group-sizes")
    np.testing.assert_allclose(line(known.figure.axes[0], "_floor").get_ydata(), 0.03)
    assert "by chance" in known.caption
    many = invented.some(lambda run: "multigroup" in run["problem"], seeds=1)
    unknown = drawing_of(many, "group-sizes")
    assert "Noise floors are missing" in unknown.caption
    labels = [one.get_label() for one in unknown.figure.axes[0].get_lines()]
    assert "_floor" not in labels


def test_each_method_of_the_group_study_is_at_its_strictest(drawn):
    data = drawn("group-sizes").data
    assert set(data.loc[data["method"] == "LinearPost", "hyperparameter"]) == {0.001}


def test_orders_of_pq_are_those_of_the_paper(drawn):
    data = drawn("pq-orders").data
    assert sorted(set(data["p"])) == [0.1, 0.3, 0.5, 0.7, 0.9]
    assert sorted(set(data["q"])) == [1.1, 1.5, 2.0, 2.5]
    assert set(data["method"]) == {"LinearPost"}


def test_surfaces_are_zero_at_equality_and_highest_in_the_corners(drawn):
    data = drawn("surfaces").data
    middle = data[(data["w1"] == data["w2"]) & np.isclose(data["w1"], data["w3"])]
    np.testing.assert_allclose(middle[["Gini", "PQ(1, 2)"]], 0, atol=1e-12)
    corner = data[data["w1"] == 1]
    np.testing.assert_allclose(corner[["Gini", "PQ(1, 2)"]], [[2 / 3, 1 - 3**-0.5]])
    spread = data[["w1", "w2", "w3"]].max(axis=1) - data[["w1", "w2", "w3"]].min(axis=1)
    np.testing.assert_allclose(data["Gini"], 2 / 3 * spread, atol=1e-12)
