"""The report: complete, escaped, legible without colors, and without anything from elsewhere."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from benchmark import invented
from evenhand.benchmark import read_results, write_report
from evenhand.benchmark.figures.saving import VARIABLES
from evenhand.benchmark.page import failure_counts
from evenhand.benchmark.sections import Finding, Section, count_verdicts, usual_sections
from evenhand.benchmark.tables import run_times
from report.parsing import parsed

pytestmark = pytest.mark.slow

NASTY = "</script><b>\"'&$x$"
FINDINGS = (
    Finding("Who wins?", "mine wins", "hiring", "agrees", 0.81, 0.7, 0.9, "It wins 0.81 times."),
    Finding("Who wins?", "mine wins", "pay", "cannot tell", 0.5, 0.2, 0.9, "Half of the times."),
    Finding("And else?", "Base loses", "pay", "differs", 0.1, float("nan"), 0.9, "It does not."),
)


@pytest.fixture(scope="module")
def results():
    return invented.results()


@pytest.fixture(scope="module")
def folder(results, tmp_path_factory):
    """A report with the usual sections and one of one's own."""
    made = tmp_path_factory.mktemp("report")
    own = Section("verdicts", "Verdicts", "In short.", findings=FINDINGS, opened=("Who wins?",))
    sections = (own, *usual_sections(results))
    path = write_report(
        results, made / "new", title="My methods", sections=sections, formats=["svg"]
    )
    assert path == made / "new" / "report.html"
    return path.parent


@pytest.fixture(scope="module")
def html(folder):
    return (folder / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def seen(html):
    return parsed(html)


def test_nothing_is_asked_from_elsewhere(html, seen):
    assert not re.search(r"https?://", html)
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert not seen.all("img")
    (policy,) = seen.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert "default-src 'none'" in policy.attributes["content"]


def test_every_color_that_a_page_or_a_figure_names_is_defined(html):
    figures = " ".join(VARIABLES.values())
    for name in set(re.findall(r"var\((--[\w-]+)\)", html + figures)):
        assert f"{name}:" in html, name


def test_every_figure_is_drawn_with_an_alternative_text(folder, seen):
    drawings = seen.all("svg", role="img")
    names = sorted(path.stem for path in (folder / "figures").glob("*.svg"))
    assert sorted(one.attributes["id"] for one in seen.all("figure")) == names
    assert len(drawings) == len(names) == 6
    assert all(len(one.attributes["aria-label"]) > 30 for one in drawings)


def test_identifiers_are_unique_and_links_lead_somewhere(seen):
    idents = [one.attributes["id"] for one in seen.elements if "id" in one.attributes]
    assert len(idents) == len(set(idents))
    assert all(one.attributes["href"][1:] in idents for one in seen.all("a"))


def test_headings_follow_their_level_and_columns_are_named(seen):
    levels = [int(one.tag[1]) for one in seen.elements if re.fullmatch("h[1-6]", one.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all("scope" in one.attributes for one in seen.all("th"))


def test_every_finding_is_there_with_its_verdict(seen):
    told = [one.text for one in seen.all("td") if one.has_class("told")]
    assert told == [one.sentence for one in FINDINGS]
    verdicts = [one.text.split(maxsplit=1)[1] for one in seen.all("td") if one.has_class("verdict")]
    assert verdicts == [one.verdict for one in FINDINGS]
    assert [one.text.split("And else?")[1].split()[0] for one in seen.all("summary")] == ["1"]


def test_verdicts_are_counted_in_words():
    assert count_verdicts(FINDINGS) == "1 agree, 1 differ, 1 inconclusive"


def test_captions_name_stand_ins_and_the_head_warns_of_them(seen):
    (head,) = seen.all("header", id="short")
    assert invented.STAND_IN in head.text
    assert "† (" in " ".join(one.text for one in seen.all("figcaption"))


def test_names_are_escaped_wherever_they_stand(tmp_path):
    nasty = invented.results(seeds=1, method=NASTY, problem=NASTY)
    ranking, figures, *others = usual_sections(nasty)
    (name,) = [name for name in figures.figures if name.startswith("tradeoffs-SHORTLISTED")]
    own = {"a": figures.figures[name]}
    sections = (ranking, replace(figures, figures=own), *others)
    store = tmp_path / "failures" / "one.json"
    store.parent.mkdir()
    store.write_text('{"method": "<b>", "problem": "<b>", "error": "</script><b>"}')
    path = write_report(
        nasty, tmp_path / "out", title=NASTY, sections=sections, store=tmp_path, formats=()
    )
    html = path.read_text("utf-8")
    assert "</script><b>" not in html
    assert not parsed(html).all("b", **{"class": "x"})
    assert "<b> on <b>: </script><b>" in parsed(html).all("section", id="made")[0].text


def test_a_page_without_any_result_says_so(tmp_path):
    html = write_report(invented.nothing(), tmp_path).read_text("utf-8")
    assert "There are no results yet." in parsed(html).all("header")[0].text


def test_tables_say_what_was_run(results):
    tables = {table.name: table for table in usual_sections(results)[-1].tables}
    rows = {row[:2]: row[2:] for row in tables["methods"].rows}
    assert rows["LinearPost", "statistical parity"] == ("strength", "0.01, 0.1")
    assert rows["Base", "–"] == ("–", "–")
    data = {row[0]: row[1:] for row in tables["data"].rows}
    assert data["hiring"] == ("classification", "1,000", "2", "2", "sex", "hiring.csv")
    assert data["pay†"][:3] == ("regression", "1,000", "–")
    for table in tables.values():
        assert all(len(row) == len(table.head) for row in table.rows)


def test_run_times_are_medians_of_processor_seconds(results):
    table = run_times(results)
    times = {row[0]: row[1:] for row in table.rows}
    assert times["Base"] == ("0.5", "0.5")
    assert times["LinearPost"] == ("0.5", "–")
    assert f"All {len(results.runs)} runs took 12 seconds." in table.note


def test_failures_are_counted_by_their_reason():
    one = {"method": "m", "problem": "p", "error": "ValueError: no"}
    assert failure_counts([one, one]) == [("m on p: ValueError: no", 2)]


def test_the_report_keeps_the_results(results, folder):
    assert len(read_results(folder / "results").scores) == len(results.scores)


def test_without_jinja_the_error_says_what_to_install(results, monkeypatch, tmp_path):
    monkeypatch.setattr("evenhand._errors.find_spec", lambda package: None)
    with pytest.raises(ImportError, match=r"evenhand\[benchmark\]"):
        write_report(results, tmp_path)
