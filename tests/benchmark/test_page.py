"""The report: complete, escaped, legible without colors, and without anything from elsewhere."""

import re
from itertools import pairwise

import pytest
from evenhand.benchmark.findings import findings
from evenhand.benchmark.page.rendering import failed
from evenhand.benchmark.page.tables import all_tables, data_sets, hyperparameters, run_times

from benchmark import invented
from evenhand.benchmark import extras, read_results
from evenhand.benchmark.page import page, write_report
from evenhand.criteria import CRITERIA
from evenhand.mitigation.methods import METHODS
from report.parsing import parsed

SOME = ("surfaces", "tradeoffs-communities", "rank-agreement")
NASTY = "</script><b>\"'&$x$"


@pytest.fixture(scope="module")
def results():
    return invented.with_lots(invented.results(), {"floor": 0.03, "high": 0.05})


@pytest.fixture(scope="module")
def html(results):
    return page(results, figures=SOME)


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


def test_every_drawing_has_an_alternative_text(seen):
    drawings = seen.all("svg", role="img")
    assert len(drawings) == len(SOME)
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


def test_every_finding_is_there_with_its_verdict(results, seen):
    told = [one.text for one in seen.all("td") if one.has_class("told")]
    assert sorted(told) == sorted(one.sentence for one in findings(results))


def test_captions_name_stand_ins_and_the_head_warns_of_them(seen):
    (head,) = seen.all("header", id="short")
    assert invented.STAND_IN in head.text
    assert "† (" in " ".join(one.text for one in seen.all("figcaption"))


def test_names_are_escaped_wherever_they_stand(results):
    nasty = invented.renamed(results, "method", "FairRR", NASTY)
    nasty = invented.renamed(nasty, "problem", "hsls", NASTY)
    failures = [{"method": NASTY, "problem": NASTY, "error": NASTY}]
    html = page(nasty, failures, figures=["tradeoffs-adult-acs", "rank-agreement"])
    assert "</script><b>" not in html
    assert not parsed(html).all("b", **{"class": "x"})
    assert NASTY in parsed(html).all("section", id="made")[0].text


def test_a_page_without_any_result_says_so():
    seen = parsed(page(invented.some(lambda run: False), figures=SOME))
    assert "There are no results yet." in seen.all("header")[0].text
    assert "no results yet" in seen.all("section", id="paper")[0].text


def test_tables_are_made_from_the_registries(results):
    named = {table.name: table for table in all_tables(results)}
    assert {row[0] for row in named["hyperparameters"].rows} == set(METHODS)
    assert len(named["criteria"].rows) == len(CRITERIA)
    ticks = {row[0]: row[1:].count("✓") for row in named["properties"].rows}
    assert ticks["PQ"] == ticks["Gini"] == 6
    assert ticks["MPD"] == 2
    for table in named.values():
        assert all(len(row) == len(table.head) for row in table.rows)


def test_the_paper_s_values_are_in_the_table_of_hyperparameters():
    rows = {row[0]: row for row in hyperparameters().rows if row[2] == "statistical parity"}
    assert rows["FairRR"][4] == "0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.4"


def test_a_task_of_many_sizes_is_one_row_with_all_of_them(results):
    rows = {row[0]: row for row in data_sets(results).rows}
    assert rows["Simulated, many groups"][4] == "2, 5, 10, 20, 30, 40, 50"
    assert rows["HSLS†"][6] == invented.STAND_IN


def test_run_times_are_medians_of_processor_seconds(results):
    table = run_times(results)
    times = {row[0]: row[1:] for row in table.rows}
    assert set(times["Base"]) == {"0.5"}
    assert "–" in times["FairRR"]  # there is no regression by it
    assert f"All {len(results.runs):,} runs" in table.note
    total = sum(map(float, times["All runs together"]))
    assert total == pytest.approx(0.5 * len(results.runs), rel=0.02)  # of rounded numbers


def test_failures_are_counted_by_their_reason():
    one = {"method": "m", "problem": "p", "error": "ValueError: no"}
    assert failed([one, one]) == [("m on p: ValueError: no", 2)]


def test_the_report_is_written_with_its_figures(results, tmp_path):
    path = write_report(results, tmp_path / "new", figures=["tradeoffs-communities"])
    assert path.name == "report.html"
    parsed(path.read_text("utf-8"))
    assert len(read_results(tmp_path / "new" / "results").scores) == len(results.scores)
    made = sorted(file.name for file in (tmp_path / "new" / "figures").iterdir())
    assert made == [f"tradeoffs-communities.{kind}" for kind in ("csv", "pdf", "png", "svg")]


def test_without_jinja_the_error_says_what_to_install(results, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    with pytest.raises(ImportError, match=r"evenhand\[benchmark\]"):
        page(results)
