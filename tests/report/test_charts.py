"""The charts: marks lie where the numbers say."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import gini
from evenhand.report.charts import Rates, Values, bars, curves, ecdf, lorenz
from evenhand.report.charts.bars import Bar
from evenhand.report.charts.lorenz import area, shares
from evenhand.report.charts.rates import Rate, side
from evenhand.report.charts.rows import START, WIDTH
from evenhand.report.charts.svg import Scale
from evenhand.report.charts.values import Estimate

numbers = st.floats(-1e6, 1e6, allow_nan=False)
NASTY = '<b title="x">&</b>'


def places(chart: str, tag: str, kind: str, *names: str) -> list[tuple[float, ...]]:
    """Attributes of all elements of a class, percentages as shares of the axis."""
    found = [e for e in ET.fromstring(chart).iter(tag) if kind in e.get("class", "").split()]
    return [tuple(float(e.attrib[name].removesuffix("%")) / 100 for name in names) for e in found]


def on_axis(share: float) -> float:
    return START + WIDTH * share


@pytest.mark.slow
@given(st.lists(numbers, min_size=1, max_size=20))
def test_an_axis_holds_its_values_between_few_round_ticks(values):
    axis = Scale.around(values)
    slack = 1e-6 * max(map(abs, values), default=1) + 1e-9
    assert axis.low <= min(values) + slack
    assert axis.high >= max(values) - slack
    assert 2 <= len(axis.ticks) <= 8
    assert list(axis.ticks) == sorted(set(axis.ticks))
    assert len(set(axis.names())) == len(axis.ticks)
    assert 0 <= axis(min(values)) <= axis(max(values)) <= 1


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30).filter(any))
def test_twice_the_area_of_the_lorenz_curve_is_the_gini_index(values):
    scaled = [value / max(values) for value in values]
    assert 2 * area(shares(scaled)) == pytest.approx(float(gini(scaled)), abs=1e-9)


def test_the_lorenz_curve_of_many_values_ends_in_its_corners():
    chart = lorenz("c", "many", np.random.default_rng(0).random(10_000).tolist())
    curve = next(e for e in ET.fromstring(chart).iter("path") if e.get("class") == "curve")
    assert curve.attrib["d"].startswith("M0 1000")
    assert curve.attrib["d"].endswith(("V0", "L1000 0"))
    assert len(curve.attrib["d"]) < 10_000


def test_dots_and_whiskers_lie_at_their_values():
    chart = Rates("t", [Rate("a", 0.2, 0.1, 0.3), Rate("b", 0.8, 0.7, 1.0)], 0.5).svg("c")
    assert places(chart, "circle", "dot", "cx") == [
        (pytest.approx(on_axis(0.8)),),
        (pytest.approx(on_axis(0.2)),),
    ]
    whiskers = places(chart, "rect", "whisker", "x", "width")
    assert whiskers[1] == pytest.approx((on_axis(0.1), WIDTH * 0.2))
    assert places(chart, "line", "overall", "x1") == [(on_axis(0.5),)]


def test_of_many_groups_those_furthest_in_units_of_their_interval_are_drawn():
    sure = [Rate(f"sure {i}", 0.52, 0.51, 0.53) for i in range(30)]
    vague = [Rate(f"vague {i}", 0.9, 0.1, 1.0) for i in range(1000)]
    chart = Rates("t", [*vague, *sure], 0.5).svg("c")
    assert chart.count("<circle") == 30
    assert "vague" not in chart
    assert "30 of 1,030 groups" in chart


@pytest.mark.parametrize("count", [2, 10, 30])
def test_up_to_thirty_groups_are_all_drawn(count):
    chart = Rates("t", [Rate(str(i), i / 100) for i in range(count)], None).svg("c")
    assert chart.count("<circle") == count


def test_a_side_is_taken_only_if_the_interval_excludes_the_overall_value():
    assert side(Rate("a", 0.6, 0.5, 0.7), 0.5) == "around"
    assert side(Rate("a", 0.6, 0.51, 0.7), 0.5) == "above"
    assert side(Rate("a", 0.4, 0.3, 0.49), 0.5) == "below"
    assert side(Rate("a", 0.4), 0.5) == "around"


def test_value_interval_and_tolerance_stand_where_they_are_on_the_axis():
    chart = Values("t", [Estimate("x", 1.0, 0.8, 0.9, 0.5, "differs", "beyond")]).svg("c")
    ((start, width),) = places(chart, "rect", "whisker", "x", "width")
    assert start == pytest.approx(on_axis(0.8))
    assert width == pytest.approx(WIDTH * 0.1)
    assert places(chart, "line", "tolerance", "x1") == [(pytest.approx(on_axis(0.5)),)]
    assert places(chart, "circle", "dot", "cx") == [(pytest.approx(on_axis(1)),)]


def test_an_undefined_finding_has_a_row_without_marks():
    chart = Values("t", [Estimate("x", None, None, None, None, "undefined", "undefined")]).svg("c")
    assert "<circle" not in chart
    assert "undefined" in chart


def test_bars_are_ordered_and_the_rest_is_added_up():
    chart = bars("c", "t", [Bar("a", 0.1), Bar("b", 0.6), Bar("c", 0.3)], limit=2, noun="group")
    assert places(chart, "rect", "bar", "width") == [(WIDTH,), (WIDTH / 2,)]
    texts = [e.text for e in ET.fromstring(chart).iter("text")]
    assert texts == ["b", "0.600", "c", "0.300", "1 other group", "0.100"]


def test_a_gap_in_a_series_is_a_gap_in_its_line():
    chart = curves("c", "t", [0, 0.25, 0.5, 1], [("x", [1, 1, None, 0])], used=0.5)
    line = next(e for e in ET.fromstring(chart).iter("path"))
    assert line.attrib["d"] == "M0 0H250M1000 1000"
    assert places(chart, "line", "used", "x1") == [(0.5,)]


def test_distributions_of_many_groups_name_the_extremes():
    at, count = [0.0, 1.0], 50
    levels = [[i / 100, 1.0] for i in range(count)]
    chart = ecdf("c", "t", at, [f"g{i}" for i in range(count)], levels, [0.25, 1.0])
    kinds = {e.find("title").text: e.get("class") for e in ET.fromstring(chart).iter("path")}
    assert {name for name, kind in kinds.items() if kind not in ("thin", "pooled")} == {
        "g0",
        "g1",
        "g48",
        "g49",
    }


@pytest.mark.parametrize(
    "chart",
    [
        Rates(NASTY, [Rate(NASTY, 0.5), Rate("b", 0.1)], 0.2).svg("c"),
        Values(NASTY, [Estimate(NASTY, 1.0, 0.8, 0.9, 0.5, NASTY, "beyond")]).svg("c"),
        bars("c", NASTY, [Bar(NASTY, 1.0, "", NASTY)]),
        lorenz("c", NASTY, [0.0, 0.0]),
        ecdf("c", NASTY, [0, 1], [NASTY], [[0.5, 1]]),
        curves("c", NASTY, [0, 1], [(NASTY, [0.0, 0.0])]),
    ],
    ids=["rates", "values", "bars", "lorenz", "ecdf", "curves"],
)
def test_a_chart_is_well_formed_and_says_what_it_shows(chart):
    root = ET.fromstring(chart)
    assert root.find("title").text == NASTY
    assert root.find("desc").text
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "c-title c-desc"
    assert not list(root.iter("b"))
