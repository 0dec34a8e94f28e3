"""The page in a real browser: controls, errors, requests, phones and print."""

import json
import re
from html import escape
from itertools import count

import pytest

from app.chrome import Chrome
from evenhand import report
from evenhand.cli.demo import audited_adult
from report import documents
from report.browser import AFTER, BEFORE, BROWSER, NAMES, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason=f"none of {NAMES} is installed"),
]


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    """One browser for all pages: it takes longer to start than to show any of them."""
    with Chrome(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def probe(chrome, tmp_path):
    names = count()

    def ask(document, script, *, width=None, window=(800, 600), scheme=""):
        html = report.page(document).replace("</title>", "</title>" + BEFORE, 1)
        html = html.replace("</body>", AFTER % script + "</body>")
        if width is not None:  # browsers do not make windows as narrow as a phone
            html = f'<iframe width="{width}" height="900" srcdoc="{escape(html)}"></iframe>'
        path = tmp_path / f"page {next(names)}.html"
        path.write_text(html, encoding="utf-8")
        chrome.resize(*window)
        chrome.prefer(scheme)
        chrome.call("Storage.clearDataForOrigin", origin="file://", storageTypes="all")
        chrome.go(path.as_uri())
        here = f"location.href.startsWith({path.as_uri()!r})"
        chrome.until(f"{here} && document.querySelector('#probe')")
        return json.loads(chrome.ask("document.querySelector('#probe').textContent"))

    return ask


def test_the_page_opens_without_errors_and_asks_for_nothing(probe):
    script = """
      const asked = performance.getEntriesByType("resource").map((entry) => entry.name);
      return { asked, alerts: all("main script").length };
    """
    found = probe(documents.binary(documents.NASTY), script)
    assert found == {"asked": [], "alerts": 0, "problems": []}


def test_the_policy_of_the_page_stops_requests(probe):
    script = """
      const image = new Image();
      image.src = "http://127.0.0.1:9/x.png";
      await new Promise((resolve) => setTimeout(resolve, 200));
      return {};
    """
    assert probe(documents.single(), script) == {"problems": ["img-src"]}


def test_choosing_a_measure_and_a_criterion_shows_only_these(probe):
    script = """
      for (const part of all("details")) part.open = true;
      document.querySelector('[name="measure"][value="gini"]').click();
      const measures = new Set(seen("[data-measure]").map((part) => part.dataset.measure));
      set("criterion", "equal_opportunity", "change");
      const criteria = new Set(seen("details.criterion").map((part) => part.dataset.criterion));
      const rows = seen("#values tbody tr").length;
      document.querySelector('[name="measure"][value=""]').click();
      return { measures: [...measures], criteria: [...criteria], rows,
               again: seen("#values tbody tr").length };
    """
    found = probe(documents.binary(), script)
    assert found["measures"] == ["gini"]
    assert found["criteria"] == ["equal_opportunity"]
    assert (found["rows"], found["again"]) == (1, 3)
    assert found["problems"] == []


def test_filtering_groups_hides_lines_of_tables_and_dims_marks(probe):
    script = """
      for (const part of all("details")) part.open = true;
      set("group", "BLACK", "input");
      const lines = new Set(seen("tr[data-group]").map((part) => part.dataset.group));
      const inside = new Set(seen(".all-groups tbody th").map((part) => part.textContent));
      const bright = new Set(all("g[data-group]:not(.dim)").map((part) => part.dataset.group));
      const told = document.querySelector(".matches").textContent;
      set("group", "", "input");
      return { lines: [...lines].sort(), inside: [...inside].sort(),
               bright: [...bright].sort(), told, dim: all(".dim").length,
               hidden: all("tr[hidden]").length };
    """
    found = probe(documents.binary(), script)
    assert (
        found["lines"] == found["bright"] == found["inside"] == ["Female × Black", "Male × Black"]
    )
    assert found["told"] == "2 groups on this page match “BLACK”."
    assert (found["dim"], found["hidden"]) == (0, 0)


def test_tables_are_sorted_by_number_and_by_text_from_the_keyboard(probe):
    document = documents.undefined()
    script = """
      for (const part of all("details")) part.open = true;
      const button = (n) => all("#values .findings th button")[n];
      const told = (cell) => cell.dataset.key ?? cell.textContent;
      const column = (n) => all("#values .findings tbody tr").map((row) => told(row.cells[n]));
      button(2).focus();
      const focused = document.activeElement === button(2);
      button(2).click();
      const falling = column(2);
      button(2).click();
      const rising = column(2);
      button(0).click();
      return { focused, falling, rising, names: column(0),
               sorted: button(0).parentElement.getAttribute("aria-sort") };
    """
    found = probe(document, script)
    values = [-1.0 if f["value"] is None else f["value"] for f in document["findings"]]
    numbers = {key: [float(v or -1) for v in found[key]] for key in ("falling", "rising")}
    assert found["focused"]
    assert numbers["falling"] == pytest.approx(sorted(values, reverse=True), rel=1e-5)
    assert numbers["rising"] == pytest.approx(sorted(values), rel=1e-5)
    assert found["names"] == sorted(found["names"])
    assert found["sorted"] == "ascending"


def test_the_theme_can_be_switched_and_follows_the_system_until_then(probe):
    script = """
      const paper = () => getComputedStyle(document.body).backgroundColor;
      const before = paper();
      document.querySelector('[name="theme"]').click();
      return { before, after: paper() };
    """
    found = probe(documents.single(), script, scheme="dark")
    assert found["before"] == "rgb(20, 23, 27)"
    assert found["after"] == "rgb(252, 252, 250)"
    found = probe(documents.single(), script, scheme="light")
    assert found["before"] == "rgb(252, 252, 250)"


SIXTY = [
    f"{a} × {b} × status {c}" for a in ("F", "M") for b in documents.ADULT[:5] for c in "abcdef"
]


def seen_in_seven_ways():
    """By each of three columns, by two of them, and by all."""
    document = documents.binary(SIXTY)
    views = (["sex"], ["race"], ["marital"], ["sex", "race"], ["sex", "marital"])
    views += (["race", "marital"], ["sex", "race", "marital"])
    found = document["views"][0]["findings"]
    document["views"] = [{"columns": by, "groups": 9, "findings": found} for by in views]
    return document


PHONES = {
    "binary": documents.binary,
    "regression": documents.regression,
    "multiclass": documents.multiclass,
    "sixty groups": lambda: documents.binary(SIXTY),
    "seven views": seen_in_seven_ways,
}


@pytest.mark.parametrize("kind", PHONES)
def test_a_phone_needs_no_sideways_scrolling(probe, kind):
    script = """
      const shown = (part) => part.checkVisibility();
      const beyond = (part) => shown(part) && part.getBoundingClientRect().right > innerWidth;
      const scrolled = (part) => shown(part) && part.scrollWidth > part.clientWidth + 1;
      const wide = () => all("main > *, main form *, main table, main figure").filter(beyond).length
        + all(".scroll").filter(scrolled).length;
      const closed = wide();
      for (const part of all("details")) part.open = true;
      return { closed, opened: wide(), width: innerWidth,
               page: document.documentElement.scrollWidth };
    """
    found = probe(PHONES[kind](), script, width=390)
    assert (found["closed"], found["opened"]) == (0, 0)
    assert found["page"] <= found["width"] == 390


@pytest.fixture(scope="module")
def demo():
    return audited_adult().document()


def test_the_demo_takes_four_screens_before_anything_is_opened(probe, demo):
    script = "return { height: document.documentElement.scrollHeight };"
    found = probe(demo, script, window=(1200, 900))
    assert found["height"] <= 4 * 900
    assert found["problems"] == []


@pytest.mark.parametrize(("width", "screen"), [(1300, 900), (390, 844)])
def test_what_it_shows_and_what_to_do_stand_on_the_first_screen_and_the_chart_begins_there(
    probe, demo, width, screen
):
    script = """
      const place = (selector) => document.querySelector(selector).getBoundingClientRect();
      return { said: document.querySelector(".actions").textContent,
               claim: document.querySelector(".claim").textContent,
               link: document.querySelector(".actions a").getAttribute("href"),
               actions: place(".actions").bottom, begins: place("#groups svg.rows").top,
               ends: place("#groups svg.rows").bottom };
    """
    found = probe(demo, script, width=width)
    assert found["said"].startswith("What to do next: look for features")
    assert "--fail-if 'statistical_parity.mpd > 0.05' fails now (0.259)" in found["said"]
    assert "It does not show why, or whether it is lawful." in found["claim"]
    assert found["link"] == "#next"
    assert found["actions"] < found["begins"] < screen
    assert found["ends"] <= 1.5 * screen


def test_the_page_of_ten_groups_has_at_most_four_hundred_kilobytes(demo):
    assert len(demo["groups"]) == 10
    assert len(report.page(demo).encode()) <= 400_000


def test_labels_are_clear_of_the_marks_and_a_phone_shows_the_chart_in_a_screen_and_a_half(probe):
    """In a wide chart no label reaches the axis; in a narrow one the marks lie below it."""
    script = """
      const rows = all("#groups svg.rows g.row").map((row) => {
        const label = row.querySelector("text").getBoundingClientRect();
        const mark = row.querySelector(".dot").getBoundingClientRect();
        return label.bottom <= mark.top + 2 || label.right <= mark.left;
      });
      const words = all(".metrics tbody bdi span").map((part) => part.getClientRects().length);
      const ends = document.querySelector("#groups svg.rows").getBoundingClientRect().bottom;
      return { rows: rows.length, clear: rows.every(Boolean), broken: words.filter((n) => n > 1),
               ends };
    """
    for labels in (None, SIXTY):
        for width in (390, 1200):
            found = probe(documents.binary(labels), script, width=width)
            assert found["rows"] >= 10
            assert found["clear"]
            assert found["broken"] == []
            assert found["ends"] <= 1.5 * 844


def test_on_a_phone_the_numbers_of_a_line_stand_level(probe, demo):
    """Names of one and of two lines above them notwithstanding."""
    script = """
      const last = (cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return Math.round(text.getBoundingClientRect().bottom);
      };
      const first = all(".metrics tbody tr").map((row) => [...row.cells].slice(1, 5).map(last));
      return { level: first.every((line) => new Set(line).size === 1), lines: first.length };
    """
    found = probe(demo, script, width=390)
    assert found["lines"] == 10  # six that matter, and four in a fold
    assert found["level"]


def test_a_link_to_a_closed_part_opens_it(probe):
    script = """
      location.hash = "#method";
      await new Promise((resolve) => setTimeout(resolve, 100));
      const opened = all("details[open]").map((part) => part.id);
      document.querySelector('[name="open"]').click();
      return { opened, closed: all("details.fold:not([open])").length };
    """
    assert probe(documents.binary(), script) == {"opened": ["method"], "closed": 0, "problems": []}


def test_narrow_charts_use_the_whole_width(probe):
    script = """
      const chart = all("#groups svg.rows")[0].getBoundingClientRect();
      const lines = all("#groups .span").map((part) => part.getBoundingClientRect());
      return { chart: chart.width, lines: Math.max(...lines.map((line) => line.right))
               - Math.min(...lines.map((line) => line.left)) };
    """
    found = probe(documents.binary(), script, width=390)
    narrow = found["lines"] / found["chart"]
    found = probe(documents.binary(), script, window=(1200, 900))
    assert narrow > 1.2 * found["lines"] / found["chart"]


def test_printing_leaves_closed_parts_closed_and_says_where_the_rest_is(probe):
    script = """
      dispatchEvent(new Event("beforeprint"));
      const rules = [...document.styleSheets[0].cssRules].filter((rule) => rule.media);
      const printed = rules.filter((rule) => rule.media.mediaText === "print");
      const shown = printed.some((rule) => rule.cssText.includes(".on-paper { display: block; }"));
      return { open: all("details[open]").length, told: all(".on-paper").length, shown };
    """
    found = probe(documents.binary(), script)
    assert found == {"open": 0, "told": 1, "shown": True, "problems": []}


@pytest.mark.parametrize(("kind", "sheets"), [("demo", 3), ("sixty groups", 4)])
def test_it_prints_on_a_few_sheets(tmp_path, demo, kind, sheets):
    path = tmp_path / "page.html"
    document = demo if kind == "demo" else documents.binary(SIXTY)
    path.write_text(report.page(document), encoding="utf-8")
    run(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", path.as_uri())
    paper = (tmp_path / "page.pdf").read_bytes()
    assert paper.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= sheets


def test_without_script_all_parts_can_be_opened(tmp_path):
    """Folds are the browser's own, so nothing is lost where scripts are not run."""
    html = re.sub(r"<script>.*?</script>", "", report.page(documents.binary()), flags=re.S)
    probe = (
        "<script>document.title = document.querySelectorAll('details > summary').length</script>"
    )
    path = tmp_path / "page.html"
    path.write_text(html.replace("</body>", probe + "</body>"), encoding="utf-8")
    dom = run(tmp_path, "--virtual-time-budget=1000", "--dump-dom", path.as_uri())
    assert int(re.search(r"<title>(\d+)</title>", dom)[1]) == html.count("<details")
