"""How figures look, and what they are as files and inside a page."""

import re
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from evenhand.benchmark.figures.catalogue import IN_PAPER
from evenhand.benchmark.figures.scales import root_ticks, window
from evenhand.benchmark.figures.styles import PALETTE, STYLES
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from benchmark import invented
from evenhand.benchmark import extras, figures
from evenhand.benchmark.figures.panels import _beyond
from evenhand.benchmark.figures.saving import inline, save


@pytest.fixture(scope="module")
def results():
    return invented.results()


@pytest.fixture(scope="module")
def drawn(results):
    """Figures of the whole table, each drawn once."""
    return cache(lambda name: figures.figure(results, name))


def test_the_paper_has_fourteen_figures():
    assert len(IN_PAPER) == 14


def test_no_two_methods_of_a_kind_look_alike():
    looks: dict[object, list[str]] = {}
    for name, one in STYLES.items():
        looks.setdefault((one.color, one.marker, one.hollow), []).append(name)
    shared = {frozenset(names) for names in looks.values() if len(names) > 1}
    assert shared == {  # a classifier and a regressor, which never meet
        frozenset({"Reduction", "FairReg"}),
        frozenset({"EqOdds", "WassBC"}),
        frozenset({"FairProj-KL", "ParityReduction"}),
        frozenset({"LinearPost", "LinearPost_R"}),
        frozenset({"RateConstrained", "ParityConstrained"}),
        frozenset({"RateConstrained, average odds", "ParityConstrained, means"}),
    }


def luminance(color: str) -> float:
    parts = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("name", [name for name in PALETTE if not name.startswith("ramp")])
@pytest.mark.parametrize(("theme", "paper"), [(0, "#ffffff"), (1, "#14171b")])
def test_marks_have_a_contrast_of_at_least_three(name, theme, paper):
    low, high = sorted(luminance(color) + 0.05 for color in (PALETTE[name][theme], paper))
    assert high / low >= 3


@given(st.floats(1e-9, 1e3))
def test_ticks_by_the_root_begin_at_zero_and_stay_on_the_axis(highest):
    ticks = root_ticks(highest)
    assert ticks[0] == 0
    assert ticks == sorted(set(ticks))
    assert 2 <= len(ticks) <= 7
    assert ticks[-1] <= highest * (1 + 1e-9)


@given(st.lists(st.floats(0, 1), min_size=1), st.booleans())
def test_the_best_value_is_always_in_the_window(values, low_is_good):
    low, high = window(np.array(values), low_is_good=low_is_good)
    best = min(values) if low_is_good else max(values)
    assert low < high
    assert low <= best + 1e-6
    assert best <= high + 1e-6


def test_points_beyond_the_window_are_counted():
    axes = Figure().subplots()
    _beyond(axes, np.array([0.1, 0.2, 0.7]), (0.5, 1.0))
    assert [text.get_text() for text in axes.texts] == ["↓ 2 beyond"]


def test_an_svg_inside_a_page_has_its_own_names_and_no_address(drawn):
    seen: set[str] = set()
    for name in ("tradeoffs-communities", "gini-enem"):
        text = inline(drawn(name), name)
        assert "http" not in text
        ElementTree.fromstring(text)
        idents = re.findall(r' id="([^"]+)"', text)
        assert len(idents) == len(set(idents))
        assert not seen & set(idents)
        assert set(re.findall(r'href="#([^"]+)"', text)) <= set(idents)
        seen |= set(idents)


def test_numbers_that_people_read_stay_as_they_are(drawn):
    drawing = drawn("tradeoffs-others")
    told = set(re.findall(r"<text[^>]*>([^<]*)</text>", inline(drawing, "one")))
    ticks = {one.get_text() for one in drawing.figure.axes[1].get_xticklabels()}
    assert any(len(tick) > 4 for tick in ticks)
    assert ticks <= told
    assert "Gini, up to 0.667" in inline(drawn("surfaces"), "one")


def test_a_drawing_follows_the_colors_of_the_page(drawn):
    text = inline(drawn("tradeoffs-communities"), "one")
    assert "var(--c-red)" in text
    assert "var(--ink)" in text
    assert PALETTE["red"][0] not in text


def test_figures_are_saved_in_three_formats_with_their_points(results, tmp_path):
    drawing = figures.figure(results, "tradeoffs-communities")
    paths = save(drawing, tmp_path / "new", "one")
    assert [path.suffix for path in paths] == [".svg", ".pdf", ".png", ".csv"]
    assert all(path.stat().st_size > 500 for path in paths)
    pd.testing.assert_frame_equal(
        pd.read_csv(paths[-1])[["x", "y", "x_error"]], drawing.data[["x", "y", "x_error"]]
    )
    again = save(drawing, tmp_path / "again", "one")
    assert paths[0].read_bytes() == again[0].read_bytes()


def test_an_unknown_figure_is_refused_by_name(results):
    with pytest.raises(ValueError, match=r"no figure 'pie'; there are surfaces"):
        figures.figure(results, "pie")


def test_without_matplotlib_the_error_says_what_to_install(results, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    with pytest.raises(ImportError, match=r"matplotlib.*evenhand\[benchmark\]"):
        figures.figure(results, "surfaces")
