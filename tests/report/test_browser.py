"""The page in a real browser: controls, errors, requests, phones and print."""

import json
import re
from html import escape, unescape

import pytest

from evenhand import report
from report import documents
from report.browser import AFTER, BEFORE, BROWSER, NAMES, run

pytestmark = [
    pytest.mark.slow,  # each test starts the browser
    pytest.mark.skipif(BROWSER is None, reason=f"none of {NAMES} is installed"),
]


@pytest.fixture
def probe(tmp_path):
    def ask(document, script, *options, width=None):
        html = report.page(document).replace("</title>", "</title>" + BEFORE, 1)
        html = html.replace("</body>", AFTER % script + "</body>")
        if width is not None:  # browsers do not make windows as narrow as a phone
            html = f'<iframe width="{width}" height="900" srcdoc="{escape(html)}"></iframe>'
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        dom = run(tmp_path, *options, "--virtual-time-budget=3000", "--dump-dom", path.as_uri())
        return json.loads(unescape(re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)[1]))

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
      document.querySelector('[name="measure"][value="gini"]').click();
      const measures = new Set(seen("[data-measure]").map((part) => part.dataset.measure));
      set("criterion", "equal_opportunity", "change");
      const criteria = new Set(seen("section.criterion").map((part) => part.dataset.criterion));
      const rows = seen("#findings tbody tr").length;
      document.querySelector('[name="measure"][value=""]').click();
      return { measures: [...measures], criteria: [...criteria], rows,
               again: seen("#findings tbody tr").length };
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
      const bright = new Set(all("g[data-group]:not(.dim)").map((part) => part.dataset.group));
      const told = document.querySelector(".matches").textContent;
      set("group", "", "input");
      return { lines: [...lines].sort(), bright: [...bright].sort(), told,
               dim: all(".dim").length, hidden: all("tr[hidden]").length };
    """
    found = probe(documents.binary(), script)
    assert found["lines"] == found["bright"] == ["Female × Black", "Male × Black"]
    assert found["told"] == "2 groups on this page match “BLACK”."
    assert (found["dim"], found["hidden"]) == (0, 0)


def test_tables_are_sorted_by_number_and_by_text_from_the_keyboard(probe):
    document = documents.undefined()
    script = """
      const button = (n) => all("#findings th button")[n];
      const told = (cell) => cell.dataset.key ?? cell.textContent;
      const column = (n) => all("#findings tbody tr").map((row) => told(row.cells[n]));
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
    assert numbers["falling"] == pytest.approx(sorted(values, reverse=True))
    assert numbers["rising"] == pytest.approx(sorted(values))
    assert found["names"] == sorted(found["names"])
    assert found["sorted"] == "ascending"


def test_the_theme_can_be_switched_and_follows_the_system_until_then(probe):
    script = """
      const paper = () => getComputedStyle(document.body).backgroundColor;
      const before = paper();
      document.querySelector('[name="theme"]').click();
      return { before, after: paper() };
    """
    found = probe(documents.single(), script, "--blink-settings=preferredColorScheme=0")
    assert found["before"] == "rgb(20, 23, 27)"
    assert found["after"] == "rgb(252, 252, 250)"
    found = probe(documents.single(), script, "--blink-settings=preferredColorScheme=1")
    assert found["before"] == "rgb(252, 252, 250)"


@pytest.mark.parametrize("make", [documents.binary, documents.regression, documents.multiclass])
def test_a_phone_needs_no_sideways_scrolling(probe, make):
    script = """
      const beyond = (part) => part.getBoundingClientRect().right > innerWidth;
      return { wide: all("main > *").filter(beyond).map((part) => part.id),
               width: innerWidth, page: document.documentElement.scrollWidth };
    """
    found = probe(make(), script, width=390)
    assert found["wide"] == []
    assert found["page"] <= found["width"] == 390


def test_narrow_charts_use_the_whole_width(probe):
    script = """
      const chart = all("#values svg.rows")[0].getBoundingClientRect();
      const lines = all("#values .span").map((part) => part.getBoundingClientRect());
      return { chart: chart.width, lines: Math.max(...lines.map((line) => line.right))
               - Math.min(...lines.map((line) => line.left)) };
    """
    found = probe(documents.binary(), script, width=390)
    narrow = found["lines"] / found["chart"]
    found = probe(documents.binary(), script, "--window-size=1200,900")
    assert narrow > 1.2 * found["lines"] / found["chart"]


def test_everything_is_open_while_printing(probe):
    script = """
      dispatchEvent(new Event("beforeprint"));
      const closed = all("details:not([open])").length;
      dispatchEvent(new Event("afterprint"));
      return { closed, open: all("details[open]").length };
    """
    found = probe(documents.binary(), script)
    assert (found["closed"], found["open"]) == (0, 0)


def test_it_prints_to_paper(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(report.page(documents.single()), encoding="utf-8")
    run(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", path.as_uri())
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
