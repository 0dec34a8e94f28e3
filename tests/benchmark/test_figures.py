"""Figures of any results: they show what the table says, and are files that open anywhere."""

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import invented
from evenhand.benchmark import Question, Results, figures
from evenhand.benchmark.figures import drawn, save, theme_of, usual_figures
from evenhand.benchmark.figures._limits import corner_of, window
from evenhand.benchmark.figures._roots import root_ticks
from evenhand.benchmark.figures.panels import Panel, grid
from evenhand.benchmark.figures.saving import inline
from evenhand.benchmark.figures.theme import PALETTE, STYLES


@pytest.fixture(scope="module")
def results():
    return invented.results()


@pytest.fixture(scope="module")
def drawings(results):
    """Every figure, drawn once."""
    return dict(drawn(results))


def line(axes, label):
    (found,) = [one for one in axes.get_lines() if one.get_label() == label]
    return found


def means(results, question, **wanted):
    """Mean and standard error over the seeds by hyperparameter, by pandas alone."""
    rows = results.scores.to_pandas().merge(results.runs.to_pandas(), on="key")
    rows = rows[rows["question"] == question]
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    by_setting = rows.groupby("hyperparameter", dropna=False)["value"]
    return by_setting.agg(["mean", "sem"]).sort_index()


@pytest.mark.slow
def test_there_is_a_figure_for_each_criterion_and_problem_that_has_answers(results, drawings):
    assert list(usual_figures(results)) == list(drawings)
    assert list(drawings) == [
        "tradeoffs-statistical_parity-hiring",
        "tradeoffs-performance_parity-f1-hiring",
        "tradeoffs-SHORTLISTED-hiring",
        "tradeoffs-weak_parity-pay",
    ]


@pytest.mark.slow
def test_no_panel_is_empty_and_every_line_is_in_the_legend(drawings):
    for drawing in drawings.values():
        assert drawing.missing == ()
        lines = set()
        for axes in drawing.figure.axes:
            seen = {one.get_label() for one in axes.get_lines()}
            lines |= {label for label in seen if not label.startswith("_")}
            assert seen
        names = [text.get_text() for text in drawing.figure.legends[0].get_texts()]
        assert set(names) - {"noise: all groups treated alike"} == lines


@pytest.mark.slow
def test_points_and_bars_are_means_and_standard_errors(results, drawings):
    drawing = drawings["tradeoffs-statistical_parity-hiring"]
    wanted = {"method": "mine", "problem": "hiring"}
    for axes, question in zip(
        drawing.figure.axes, ("statistical_parity.mpd", "statistical_parity.pq"), strict=True
    ):
        x, y = means(results, question, **wanted), means(results, "accuracy", **wanted)
        shown = line(axes, "mine")
        np.testing.assert_allclose(shown.get_xdata(), x["mean"])
        np.testing.assert_allclose(shown.get_ydata(), y["mean"])
        bars = line(axes, "_bars of mine")
        ends = np.asarray(bars.get_xdata()).reshape(-1, 6)
        np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * x["sem"])
        heights = np.asarray(bars.get_ydata()).reshape(-1, 6)
        np.testing.assert_allclose(heights[:, 4] - heights[:, 3], 2 * y["sem"], atol=1e-12)


def test_a_method_told_to_meet_two_things_has_two_lines(drawings):
    data = drawings["tradeoffs-statistical_parity-hiring"].data
    assert set(data["series"]) == {
        "Base",
        "LinearPost, statistical parity",
        "LinearPost, equalized odds",
        "mine",
    }


def test_no_two_lines_look_alike(results):
    styles = theme_of(results).styles.values()
    assert len({(one.color, one.marker, one.hollow) for one in styles}) == len(styles)


def test_twenty_methods_of_ones_own_do_not_look_alike_either():
    from evenhand.benchmark.figures.theme import _styles

    styles = _styles((f"m{at}", f"m{at}") for at in range(20)).values()
    assert len({(one.color, one.marker) for one in styles}) == 20


def test_axes_speak_the_fields_words(drawings):
    axes = drawings["tradeoffs-performance_parity-f1-hiring"].figure.axes[0]
    assert axes.get_xlabel() == "parity of F1 by Gini"
    assert axes.get_ylabel() == "accuracy"
    (axes,) = drawings["tradeoffs-SHORTLISTED-hiring"].figure.axes
    assert axes.get_xlabel() == "SHORTLISTED by span"


@pytest.mark.slow
def test_a_regression_is_drawn_over_its_error_and_stand_ins_are_marked(drawings):
    drawing = drawings["tradeoffs-weak_parity-pay"]
    (axes,) = drawing.figure.axes
    assert (axes.get_title(loc="left"), axes.get_ylabel()) == ("pay†", "RMSE")
    assert f"pay† ({invented.STAND_IN}; 1,000 rows)" in drawing.caption
    assert "Lower left is better." in drawing.caption
    assert "Points are means over 3 splits" in drawing.caption


@pytest.mark.slow
def test_one_split_has_no_bars_and_the_caption_says_so():
    ((_, drawing),) = drawn(
        invented.results(seeds=1),
        {"one": usual_figures(invented.results(seeds=1))["tradeoffs-weak_parity-pay"]},
    )
    assert "One split" in drawing.caption
    assert drawing.data["x_error"].isna().all()


@pytest.mark.slow
def test_a_name_is_drawn_as_it_is():
    own = "<mine> & $x_1$"
    found = invented.results(seeds=1, method=own)
    ((_, drawing),) = drawn(found, {"a": usual_figures(found)["tradeoffs-weak_parity-pay"]})
    assert len(line(drawing.figure.axes[0], own).get_xdata()) == 1
    assert theme_of(found).style(own) not in STYLES.values()
    assert "&lt;mine&gt; &amp; $x_1$" in inline(drawing, "one")


@pytest.mark.slow
def test_a_panel_without_results_says_so(results):
    there = Panel("hiring", "forest", "statistical_parity.mpd", "accuracy")
    gone = Panel("hiring", "forest", "predictive_equality.mpd", "accuracy")
    made = grid(results, [[there, gone]], theme_of(results))
    assert made.missing == ("predictive equality by MPD on hiring",)
    assert [text.get_text() for text in made.figure.axes[1].texts] == ["no results yet"]


def luminance(color: str) -> float:
    parts = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


MARKS = [name for name in PALETTE if not name.startswith(("ramp", "band"))]


@pytest.mark.parametrize("name", MARKS)
@pytest.mark.parametrize(("theme", "paper"), [(0, "#ffffff"), (1, "#14171b")])
def test_marks_have_a_contrast_of_at_least_three(name, theme, paper):
    low, high = sorted(luminance(color) + 0.05 for color in (PALETTE[name][theme], paper))
    assert high / low >= 3


@pytest.mark.slow
@given(st.floats(1e-9, 1e3))
def test_ticks_by_the_root_begin_at_zero_and_stay_on_the_axis(highest):
    ticks = root_ticks(highest)
    assert ticks[0] == 0
    assert ticks == sorted(set(ticks))
    assert 2 <= len(ticks) <= 7
    assert ticks[-1] <= highest * (1 + 1e-9)


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1), st.booleans())
def test_the_best_value_is_always_in_the_window(values, low_is_good):
    low, high = window(np.array(values), low_is_good=low_is_good)
    best = min(values) if low_is_good else max(values)
    assert low < high
    assert low <= best + 1e-6
    assert best <= high + 1e-6


def scattered(points, *, floors=()):
    """Results of one problem whose methods lie at these points: name, gap, accuracy."""
    questions = [Question("accuracy"), Question("statistical_parity", "mpd")]
    runs, scores = [], []
    for at, (method, gap, accuracy) in enumerate(points):
        runs.append({"key": f"{at}", "problem": "p", "base": "b", "method": method})
        runs[-1] |= {"hyperparameter": float(at), "seed": 0}
        scores.append((f"{at}", "accuracy", "expected", accuracy))
        scores.append((f"{at}", "statistical_parity.mpd", "expected", gap))
    scores += [("0", "statistical_parity.mpd", lot, value) for lot, value in floors]
    problems = [{"problem": "p", "kind": "classification"}]
    return Results.from_rows(runs=runs, questions=questions, problems=problems, scores=scores)


CLOUD = [(f"m{at % 3}", 0.10 + 0.01 * at, 0.80 + 0.001 * at) for at in range(9)]
FAR = [("far", 0.12, 0.30), ("wide", 0.95, 0.803)]


@pytest.mark.slow
def test_a_point_far_from_all_others_is_an_arrow_at_the_edge():
    drawing = figures.tradeoffs(scattered([*CLOUD, *FAR]), "statistical_parity")
    axes = drawing.figure.axes[0]
    assert axes.get_ylim()[0] > 0.5
    assert axes.get_xlim()[1] < 0.5
    assert {text.get_text() for text in axes.texts} == {""}  # an arrow has no words
    marks = [one for one in axes.get_lines() if one.get_label() == "_beyond"]
    styles = {theme_of(scattered([*CLOUD, *FAR])).style(name).ink for name in ("far", "wide")}
    assert {one.get_color() for one in marks} == styles
    assert all(0 < float(one.get_xdata()[0]) < 1 for one in marks)
    assert "arrow at the edge" in drawing.caption
    assert {"far", "wide"} <= set(drawing.data["series"])


@pytest.mark.slow
def test_many_far_points_of_a_line_are_one_arrow():
    many = [("far", 0.12 + 0.01 * at, 0.30 - 0.01 * at) for at in range(2)]
    drawing = figures.tradeoffs(scattered([*CLOUD, *many, FAR[1]]), "statistical_parity")
    axes = drawing.figure.axes[0]
    marks = [one for one in axes.get_lines() if one.get_label() == "_beyond"]
    assert len(marks) == 2  # one of "far", one of "wide"


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1), st.booleans())
def test_no_point_is_at_the_edge_of_a_window_or_among_its_arrows(values, low_is_good):
    seen = np.array(values)
    low, high = window(seen, low_is_good=low_is_good)
    shown = seen[(seen >= low) & (seen <= high)]
    room = (0.2 if len(shown) < len(seen) else 0.07) * (high - low) / 1.3
    bad_end = high - shown.max() if low_is_good else shown.min() - low
    assert bad_end >= room - 2e-6


def test_a_panel_may_show_some_lines_only_and_reach_as_far_as_they_do():
    found = scattered([*CLOUD, *FAR])
    panel = Panel("p", "b", "statistical_parity.mpd", "accuracy", series=frozenset(["far", "m0"]))
    made = grid(found, [[panel]], theme_of(found), reach=float("inf"))
    assert set(made.data["series"]) == {"far", "m0"}
    (axes,) = made.figure.axes
    assert axes.get_ylim()[0] < 0.30
    assert not axes.texts


def test_a_panel_reaches_a_little_further_where_that_shows_every_point():
    ends = [("m0", 0.10, 0.80), ("m1", 0.11, 0.801), ("m2", 0.12, 0.802), ("near", 0.20, 0.803)]
    found = scattered([*ends[:3], *ends])
    panel = Panel("p", "b", "statistical_parity.mpd", "accuracy")
    (axes,) = grid(found, [[panel]], theme_of(found), reach=2.0).figure.axes
    assert axes.get_xlim()[1] > 0.20
    assert not axes.texts


def test_without_far_points_there_is_no_arrow():
    drawing = figures.tradeoffs(scattered(CLOUD), "statistical_parity")
    assert "arrow" not in drawing.caption
    assert not drawing.figure.axes[0].texts


def test_a_crowded_corner_is_enlarged_and_framed_where_it_is():
    crowd = [(f"m{at % 3}", 0.02 + 0.002 * at, 0.80 + 0.0005 * at) for at in range(9)]
    drawing = figures.tradeoffs(scattered([*crowd, ("Base", 0.3, 0.84)]), "statistical_parity")
    whole, zoom = drawing.figure.axes
    assert [axes.get_title(loc="left") for axes in (whole, zoom)] == ["(a) p", "(b) zoom"]
    (box,) = [patch for patch in whole.patches if patch.get_facecolor()[3] == 0]
    assert zoom.get_xlim() == (box.get_x(), box.get_x() + box.get_width())
    assert zoom.get_xlim()[1] < 0.1
    assert "enlarges the box" in drawing.caption


def test_points_that_are_spread_out_need_no_zoom():
    grid_like = [(f"m{at % 3}", 0.1 * at, 0.5 + 0.05 * (at * 4 % 9)) for at in range(9)]
    drawing = figures.tradeoffs(scattered(grid_like), "statistical_parity")
    assert len(drawing.figure.axes) == 1
    assert corner_of(drawing.data, (0, 1), (0.5, 1)) is None


@pytest.mark.slow
def test_the_noise_floor_is_shaded_up_to_what_chance_exceeds_once_in_twenty_times():
    noisy = scattered(CLOUD, floors=[("floor", 0.02), ("high", 0.05)])
    drawing = figures.tradeoffs(noisy, "statistical_parity")
    axes = drawing.figure.axes[0]
    (band,) = [patch for patch in axes.patches if patch.get_facecolor()[3] > 0]
    assert (band.get_x(), band.get_x() + band.get_width()) == (0, 0.05)
    assert list(line(axes, "_floor").get_xdata()) == [0.02, 0.02]
    assert "in 19 of 20 samples" in drawing.caption
    names = [text.get_text() for text in drawing.figure.legends[0].get_texts()]
    assert names[-1].startswith("noise")
    assert "noise" not in figures.tradeoffs(scattered(CLOUD), "statistical_parity").caption


def test_criteria_that_a_method_was_told_to_meet_come_first(results):
    assert figures.main_criteria(results) == ["statistical_parity", "SHORTLISTED", "weak_parity"]


@pytest.mark.slow
def test_an_svg_inside_a_page_has_its_own_names_and_no_address(drawings):
    seen: set[str] = set()
    for name in ("tradeoffs-SHORTLISTED-hiring", "tradeoffs-weak_parity-pay"):
        text = inline(drawings[name], name)
        assert "http" not in text
        ElementTree.fromstring(text)
        idents = re.findall(r' id="([^"]+)"', text)
        assert len(idents) == len(set(idents))
        assert not seen & set(idents)
        assert set(re.findall(r'href="#([^"]+)"', text)) <= set(idents)
        seen |= set(idents)


@pytest.mark.slow
def test_numbers_that_people_read_stay_as_they_are(drawings):
    drawing = drawings["tradeoffs-weak_parity-pay"]
    text = inline(drawing, "one")
    told = set(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    ticks = {one.get_text() for one in drawing.figure.axes[0].get_xticklabels()}
    assert any(len(tick) > 3 for tick in ticks)
    assert ticks <= told
    long = "Gini, up to 0.66667"
    drawing.figure.axes[0].text(0, 0, long)
    assert long in inline(drawing, "one")


@pytest.mark.slow
def test_a_drawing_follows_the_colors_of_the_page(drawings):
    text = inline(drawings["tradeoffs-statistical_parity-hiring"], "one")
    assert "var(--c-red)" in text
    assert "var(--ink)" in text
    assert PALETTE["red"][0] not in text


@pytest.mark.slow
def test_figures_are_saved_in_three_formats_with_their_points(drawings, tmp_path):
    drawing = drawings["tradeoffs-weak_parity-pay"]
    paths = save(drawing, tmp_path / "new", "one")
    assert [path.suffix for path in paths] == [".svg", ".pdf", ".png", ".csv"]
    assert all(path.stat().st_size > 200 for path in paths)
    pd.testing.assert_frame_equal(
        pd.read_csv(paths[-1])[["x", "y", "x_error"]], drawing.data[["x", "y", "x_error"]]
    )
    again = save(drawing, tmp_path / "again", "one")
    assert paths[0].read_bytes() == again[0].read_bytes()


def test_every_public_part_can_be_had(results):
    assert all(hasattr(figures, name) for name in figures.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'pie'"):
        figures.pie


def test_without_matplotlib_the_error_says_what_to_install(results, monkeypatch):
    monkeypatch.setattr("evenhand._errors.find_spec", lambda package: None)
    with pytest.raises(ImportError, match=r"matplotlib.*evenhand\[benchmark\]"):
        list(drawn(results))
