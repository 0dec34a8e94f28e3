"""The page: what it holds, what it escapes, and that it needs nothing from elsewhere."""

import gzip
import json
import re
import sys
from base64 import b64decode
from itertools import pairwise

import numpy as np
import pytest

from evenhand import CRITERIA, audit, report
from evenhand.report.formats import VERDICTS
from report import documents
from report.parsing import Page, parsed

KINDS = {
    "binary": documents.binary,
    "multiclass": documents.multiclass,
    "regression": documents.regression,
    "single finding": documents.single,
    "undefined": documents.undefined,
    "nasty names": lambda: documents.binary(documents.NASTY),
    "fifty groups": lambda: documents.binary([f"g{i}" for i in range(50)]),
}


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    document = KINDS[request.param]()
    return document, parsed(report.page(document))


def embedded(page: Page) -> dict:
    return json.loads(gzip.decompress(b64decode(page.all("script", id="document")[0].text)))


COARSER = {"thresholds", "distributions", "contributions", "pooled"}


def rounded(part, rel=1e-4):
    if isinstance(part, float):
        return pytest.approx(part, rel=rel, abs=1e-300)
    if isinstance(part, dict):
        return {k: rounded(value, 1e-2 if k in COARSER else rel) for k, value in part.items()}
    return [rounded(value, rel) for value in part] if isinstance(part, list) else part


@pytest.mark.slow
def test_the_document_inside_the_page_is_the_document_rounded(kind):
    document, page = kind
    assert embedded(page) == rounded(document)


@pytest.mark.slow
def test_identifiers_are_unique_and_links_lead_somewhere(kind):
    _, page = kind
    idents = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(idents) == len(set(idents))
    for link in page.all("a"):
        assert link.attributes["href"][1:] in idents
    for chart in page.all("svg", role="img"):
        assert set(chart.attributes["aria-labelledby"].split()) <= set(idents)


@pytest.mark.slow
def test_there_is_a_line_for_each_finding_and_a_fold_for_each_criterion(kind):
    document, page = kind
    table = next(e for e in page.all("table") if e.has_class("findings"))
    for finding in document["findings"]:
        assert finding["verdict"] in table.text
    rows = [e for e in page.all("tr") if "data-measure" in e.attributes]
    assert len(rows) == 2 * len(document["findings"])  # of all, and of each criterion
    folds = [e for e in page.all("details") if e.has_class("criterion")]
    named = [e.attributes["data-criterion"] for e in folds]
    assert named == [criterion["name"] for criterion in document["criteria"]]
    for criterion in document["criteria"]:
        assert criterion["is_not"] in " ".join(e.text for e in page.all("dd"))
    for fold, line in zip(folds, document["summary"]["criteria"], strict=True):
        assert line["words"][1:] in fold.text
        assert line["verdict"] in fold.text


def test_every_part_but_the_summary_is_closed(kind):
    _, page = kind
    folds = [e for e in page.all("details") if e.has_class("fold")]
    assert folds
    assert not [e for e in folds if "open" in e.attributes]
    closed = {"values", "method", "provenance"}
    assert closed <= {e.attributes.get("id") for e in folds}


def test_the_first_screens_tell_the_sentence_the_groups_and_a_chart(kind):
    document, page = kind
    header = page.all("header")[0].text
    assert document["summary"]["sentence"] in header
    assert document["summary"]["about"] in header
    table = next(e for e in page.all("table") if e.has_class("metrics"))
    for line in ("Everyone", "Largest difference", "Lowest / highest"):
        assert line in table.text
    assert page.all("title", id="headline-rates-title")


@pytest.mark.slow
def test_every_heading_follows_its_level_and_tables_name_their_columns(kind):
    _, page = kind
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all("scope" in e.attributes for e in page.all("th"))
    assert all(e.attributes.get("lang") == "en" for e in page.all("html"))


def test_without_scripts_nothing_but_the_controls_is_hidden(kind):
    _, page = kind
    assert [e.tag for e in page.elements if "hidden" in e.attributes] == ["form"]


def test_nothing_is_asked_from_elsewhere(kind):
    _, page = kind
    for element in page.elements:
        for name in ("src", "href", "action", "srcset", "poster", "data", "xlink:href"):
            assert element.attributes.get(name, "#")[:1] == "#" or element.tag == "link"
        assert not any(name.startswith("on") for name in element.attributes)
    assert [e.attributes["href"] for e in page.all("link")] == ["data:,"]
    style = page.all("style")[0].text
    assert "url(" not in style
    assert "@import" not in style
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0].attributes["content"]
    assert policy.startswith("default-src 'none';")


@pytest.mark.slow
def test_group_names_are_text_wherever_they_stand():
    document = documents.binary(documents.NASTY)
    html = report.page(document)
    page = parsed(html)
    assert "<script>alert" not in html
    assert len(page.all("script")) == 2
    assert {e.attributes["data-group"] for e in page.all("tr") if "data-group" in e.attributes} == (
        set(documents.NASTY)
    )
    charted = {e.attributes["data-group"] for e in page.all("g") if "data-group" in e.attributes}
    assert charted == set(documents.NASTY)
    told = [e.text for e in page.all("text")]
    assert {"<script>alert(1)</script>", "👩🏽‍🔬 & co", "“” (blank)"} <= set(told)


@pytest.mark.slow
def test_names_of_columns_classes_and_notes_are_text_too():
    bad = "<img src=x onerror=alert(1)>"
    document = documents.binary() | {"group_columns": [bad], "classes": [bad], "title": bad}
    document |= {"notes": [bad], "favorable": bad, "evenhand": bad}
    document["findings"][0] |= {
        "sentence": bad,
        "worst_cell": bad,
        "criterion": bad,
        "measure": bad,
    }
    document["criteria"][0]["cells"][0]["label"] = bad
    for html in (report.page(document), report.snippet(document)):
        assert not parsed(html).all("img")


@pytest.mark.slow
def test_ten_thousand_groups_make_a_page_of_a_sane_size():
    document = documents.many()
    html = report.page(document)
    assert len(html.encode()) < 3_000_000
    page = parsed(html)
    assert "60 of 10,000 groups furthest" in page.all("main")[0].text
    assert "9,940 are not shown" in page.all("main")[0].text
    assert "of 9,994 other groups" in page.all("main")[0].text
    kept = embedded(page)
    assert len(kept["summary"]["table"]["groups"]) == 500
    assert kept["abridged"] == {"groups": 500, "of": 10_000}
    assert len(kept["groups"]) == len(kept["criteria"][0]["cells"][0]["values"]) == 500
    told = {group["label"]: i for i, group in enumerate(document["groups"])}
    for group, value in zip(kept["groups"], kept["criteria"][0]["cells"][0]["values"], strict=True):
        known = document["criteria"][0]["cells"][0]["values"][told[group["label"]]]
        assert value == pytest.approx(known, rel=1e-4)


@pytest.mark.slow
def test_the_page_of_sixty_groups_has_at_most_four_hundred_kilobytes_and_every_value():
    """Scores, decisions and names of two parts: all seventeen criteria, and no group left out."""
    rng = np.random.default_rng(0)
    names = [f"{sex} × region {at:02d}" for sex in ("women", "men") for at in range(30)]
    group = rng.permutation(np.repeat(names, 150))
    score = rng.beta(2, 3, len(group)).round(2)
    columns = (rng.random(len(group)) < score).astype(int), (score >= 0.5).astype(int)
    document = audit(*columns, y_score=score, sensitive_features=group).document()
    html = report.page(document)
    assert len(document["groups"]) == 60
    assert len(html.encode()) <= 350_000  # a gap, and what explains it, takes some forty more
    page = parsed(html)
    told = {at.text for at in page.all("th", scope="row")}
    assert set(names) <= told
    marks = [e for e in page.all("td") if e.attributes.get("style", "").startswith("--a:")]
    shown = {c["name"] for c in document["criteria"] if c["cells"]} - {"selection_rate_ratio"}
    assert len(marks) == 60 * len(shown)  # a ratio's rates are those of statistical parity


@pytest.mark.slow
def test_verdicts_stand_beside_the_criteria_in_words():
    document = documents.binary()
    verdicts = ["differs", "differs", "alike", "cannot tell", "cannot tell"]
    for line, verdict in zip(document["summary"]["criteria"], verdicts, strict=True):
        line["verdict"] = verdict
    page = parsed(report.page(document))
    told = [e.text for e in page.all("summary")]
    for verdict, text in zip(verdicts, [t for t in told if "pts" in t], strict=True):
        assert verdict in text
    assert "A low score is not “fair”" in page.all("main")[0].text


@pytest.mark.slow
def test_tolerances_are_told_and_explained():
    document = documents.binary()
    of_tests = ("differs", "alike", "cannot tell", "undefined")
    for finding, verdict in zip(document["findings"], VERDICTS, strict=False):
        if verdict in of_tests:
            finding["verdict"] = verdict
        else:
            finding |= {"judged": verdict, "tolerance": 0.05}
    page = parsed(report.page(document))
    assert (
        "1 above it with the whole interval, 1 below it with the whole interval, 1 within "
        "it and 1 inconclusive" in page.all("main")[0].text
    )
    explained = next(e for e in page.all("dl") if e.has_class("meanings")).text
    assert all(verdict.meaning in explained for verdict in VERDICTS.values())


def test_a_criterion_without_cells_or_shares_still_has_its_section():
    document = documents.regression()
    document["criteria"][0]["cells"] = []
    for finding in document["findings"][:3]:
        finding |= {"worst_cell": None, "pair": None, "cell_values": [], "aggregate": "integral"}
        finding["contributions"] = [None] * len(finding["contributions"])
    page = parsed(report.page(document))
    assert "no cells of its own" in page.all("details", id="criterion-1")[0].text


def test_the_snippet_is_the_summary():
    document = documents.undefined()
    page = parsed(report.snippet(document))
    groups, criteria = len(document["groups"]), len(document["criteria"])
    assert len(page.all("tr")) == 1 + groups + 3 + 1 + criteria
    assert document["summary"]["sentence"] in page.all("strong")[0].text
    assert not page.all("script")
    assert not page.all("style")


def test_another_schema_is_refused():
    with pytest.raises(ValueError, match=r"evenhand\.audit/4.*'other/2'"):
        report.page(documents.binary() | {"schema": "other/2"})


def test_a_missing_jinja_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "evenhand\[report\]"'):
        report.page(documents.single())


def test_every_criterion_has_a_question_in_plain_words():
    assert all(criterion.asks.endswith("?") for criterion in CRITERIA.values())


def test_what_a_criterion_asks_stands_on_the_page_or_follows_from_its_statistic():
    document = documents.single()
    criterion = document["criteria"][0]
    assert criterion["asks"] in " ".join(e.text for e in parsed(report.page(document)).all("dd"))
    criterion["asks"] = ""
    told = f"Is {criterion['statistic']} the same in every group?"
    assert told in " ".join(e.text for e in parsed(report.page(document)).all("dd"))
