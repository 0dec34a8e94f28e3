"""Every result has the same forms, by the same names; a report's section is made in one place."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import evenhand as eh
from evenhand import report
from evenhand.report.blocks import Bullets, Section

rng = np.random.default_rng(0)
GROUP = np.repeat(["a", "b"], 400)
TRUTH = rng.integers(0, 2, 800)
SCORE = np.clip(0.4 * TRUTH + 0.4 * rng.random(800) + 0.1 * (GROUP == "b"), 0, 1)
DECIDED = (SCORE > 0.5).astype(int)


def watched():
    watch = eh.Watch("statistical_parity", measures="mpd", favorable=1)
    watch.update(eh.tally(None, DECIDED, sensitive_features=GROUP), part="1", at="2026-01-01")
    return watch


def unknown(**asked):
    """An audit where the group of every fifth is not recorded."""
    groups = np.where(np.arange(800) % 5 == 0, None, GROUP)
    return eh.audit(
        TRUTH, DECIDED, sensitive_features=groups, missing="unknown", measures="mpd", **asked
    )


RESULTS = {
    "audit": lambda: eh.audit(TRUTH, DECIDED, sensitive_features=GROUP, measures="mpd"),
    "comparison": lambda: eh.compare(
        TRUTH, {"a": DECIDED, "b": 1 - DECIDED}, sensitive_features=GROUP, replicates=2
    ),
    "frontier": lambda: eh.frontier(
        TRUTH, SCORE, sensitive_features=GROUP, values=3, rate_error=None
    ),
    "frontier of amounts": lambda: eh.frontier(
        TRUTH + SCORE, SCORE, sensitive_features=GROUP, criterion="weak_parity", values=3
    ),
    "status": lambda: watched().status(),
    "watch": watched,
    "audit of unknown groups": lambda: unknown(fail_if={"statistical_parity": 0.5}),
    "bounds": lambda: unknown().finding("statistical_parity"),
    "power": lambda: eh.power({"a": 300, "b": 100}, rate=0.3, difference=0.2),
}


@pytest.fixture(scope="module", params=RESULTS)
def result(request):
    return RESULTS[request.param]()


@pytest.mark.slow
def test_a_result_has_every_form_by_the_same_name(result, tmp_path):
    assert isinstance(result.summary, str)
    assert result.summary.endswith(".")
    document = result.document()
    assert json.loads(result.to_json(tmp_path / "r.json")) == json.loads(json.dumps(document))
    page = result.to_html(tmp_path / "r.html")
    assert page == report.page(document) == (tmp_path / "r.html").read_text(encoding="utf-8")
    text = result.to_markdown(tmp_path / "r.md")
    assert text.startswith("# ")
    assert (tmp_path / "r.md").read_text(encoding="utf-8") == text
    assert isinstance(result.to_frame(), pd.DataFrame)
    assert isinstance(result.to_frame(like="polars"), pl.DataFrame)
    with pytest.raises(eh.InputError, match="There is no table 'no'"):
        result.to_frame("no")


@pytest.mark.slow
def test_a_result_prints_as_the_terminal_shows_it_and_not_as_markdown(result):
    assert str(result) == report.text(result.document())
    assert "| ---" not in str(result)
    assert not str(result).startswith("#")
    assert max(map(len, str(result).splitlines())) <= 100


def test_the_repr_of_a_result_is_a_few_words_and_no_dump_of_its_fields(result):
    assert "array(" not in repr(result)
    assert "object at" not in repr(result)
    assert len(repr(result)) < 1000


@pytest.mark.slow
def test_a_figure_is_a_figure_or_a_refusal_that_says_why(result):
    if isinstance(result, eh.results.Power) or type(result).__name__ == "Status":
        with pytest.raises(eh.InputError, match="no chart"):
            result.plot()
    else:
        assert type(result.plot()).__name__ == "Figure"


@pytest.mark.slow
def test_a_section_that_is_added_in_one_place_is_seen_in_every_form(monkeypatch):
    def base_rates(document):
        return Section("bases", "Base rates", [Bullets(["Half of all are ones: 12345."])])

    monkeypatch.setattr(report.audit, "SECTIONS", [*report.audit.SECTIONS, base_rates])
    audit = RESULTS["audit"]()
    for form in (audit.to_html(), audit.to_markdown(), str(audit)):
        assert "Base rates" in form
        assert "12345" in form
    assert 'href="#bases"' in audit.to_html()


@pytest.mark.slow
@pytest.mark.parametrize("chart", ["rates", "criteria"])
def test_svg_and_matplotlib_paint_the_same_chart(chart):
    data = report.audit.charts(RESULTS["audit"]().document())[chart]
    dots = data.svg("c").count("<circle")
    (ax,) = RESULTS["audit"]().plot(chart).axes
    assert sum(line.get_marker() == "o" for line in ax.lines) == dots > 1
    assert replace(data, title="x").svg("c") != data.svg("c")


ROWS = eh.Data(None, DECIDED, sensitive_features=GROUP)
DATA = {
    "data": (lambda: ROWS, "<Data: y_pred, sensitive_features>"),
    "parts": (
        lambda: ROWS + ROWS,
        "<Data: <Evidence of 1,600 rows in 2 groups by group: binary>>",
    ),
    "distribution": (
        lambda: eh.distribution(np.arange(800.0), sensitive_features=GROUP),
        "<Distribution of 800 values in 2 groups>",
    ),
    "survey": (
        lambda: eh.survey_weights(np.ones(5), replicate_weights=np.ones((5, 4)), method="acs"),
        "<SurveyWeights of 5 rows, with 4 replicates>",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (lambda: eh.groups(GROUP), r"<Groups by group, of 800 rows: a \(400\), b \(400\)>"),
        (lambda: RESULTS["audit"]().findings[0], r"<Finding on statistical_parity: \w+.*p .*>"),
        (lambda: RESULTS["audit"]().measured[0], r"<Measured: statistical_parity by mpd .* to .*>"),
        (lambda: watched().status().findings[0], r"<WatchFinding on statistical_parity: .*>"),
        (
            lambda: eh.interval("statistical_parity", None, DECIDED, sensitive_features=GROUP),
            r"<ConfidenceInterval: [\d.]+, 95% interval [\d.]+ to [\d.]+ \(calibrated\)>",
        ),
        (
            lambda: RESULTS["comparison"](),
            r"<Comparison: a is the most accurate: [^.]*\.\d%[^>]*significantly>",
        ),
        (
            lambda: eh.contrasts("statistical_parity", None, DECIDED, sensitive_features=GROUP)[0],
            r"<Contrast: a in cell 0 .*>",
        ),
        *DATA.values(),
    ],
    ids=["groups", "finding", "measured", "watch", "interval", "comparison", "contrast", *DATA],
)
def test_a_part_of_a_result_is_shown_in_a_line_that_a_person_can_read(thing, said):
    assert re.fullmatch(said, repr(thing()))
