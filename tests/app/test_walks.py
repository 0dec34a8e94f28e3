"""From a dropped file to a downloaded report, in a real browser."""

import json
import os
import shlex
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import uvicorn
from click.testing import CliRunner

from app.chrome import Chrome
from evenhand.app.guard import Guard
from evenhand.app.server import application
from evenhand.cli.audit import audit
from report.browser import BROWSER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no browser of the Chromium family"),
]
ANSWER = """((name, value) => {
  const about = new RegExp(`^${name}[0-9-]*$`);  // columns that an answer is about
  const fields = [...document.querySelector("#choices")].filter((one) => about.test(one.name));
  const button = fields.find((one) => one.value === value && /radio|checkbox/.test(one.type));
  if (button) button.click();
  else {
    fields[0].value = value;
    fields[0].dispatchEvent(new Event("change", { bubbles: true }));
  }
  return fields[0].name;
})(%s, %s)"""


@pytest.fixture
def link(desk):
    """A page that is served, and the link that opens it."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        guard = Guard(application(desk), listening.getsockname()[1])
        config = uvicorn.Config(guard, log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        listening.listen()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield guard.link
        server.should_exit = True
        thread.join(30)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chrome(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture
def chrome(browser, tmp_path):
    browser.begin(tmp_path)
    return browser


def walk(chrome, link, path, answers):
    """Drop a file and answer the questions, one after the other."""
    chrome.go(link)
    chrome.until("document.readyState === 'complete' && document.querySelector('#drop')")
    chrome.drop("#drop", path)
    chrome.until("document.readyState === 'complete' && document.querySelector('#choices')")
    names = chrome.ask(
        "[...document.querySelectorAll('#columns tbody th')].map(x => x.textContent)"
    )
    for key, value in answers:
        sent = str(names.index(value)) if value in names else value
        name = chrome.ask(ANSWER % (json.dumps(key), json.dumps(sent)))
        sent_on = f"new URLSearchParams(location.search).getAll({name!r}).includes({sent!r})"
        chrome.until(f"{sent_on} && !document.querySelector('#answer[aria-busy]')")


def downloaded(chrome, form, name):
    chrome.ask(f"document.querySelector('#take a[href*=\"/{form}\"]').click()")
    return chrome.saved(f"{name}-{form}")


@pytest.mark.parametrize(
    ("columns", "answers"),
    [
        (
            ["outcome", "decision", "score", "sex"],
            [
                ("lines", "people"),
                ("target", "outcome"),
                ("prediction", "decision"),
                ("score", "score"),
                ("favorable", "1"),
                ("score_of", "1"),
                ("group", "sex"),
            ],
        ),
        (
            ["income", "predicted", "sex", "age"],
            [
                ("lines", "people"),
                ("target", "income"),
                ("prediction", "predicted"),
                ("group", "age"),
                ("bins", "2"),
            ],
        ),
        (
            ["grade", "given", "race"],
            [
                ("lines", "people"),
                ("target", "grade"),
                ("prediction", "given"),
                ("favorable", "none"),
                ("group", "race"),
            ],
        ),
        (
            ["outcome", "decision", "sex", "n"],
            [
                ("lines", "counts"),
                ("rows", "n"),
                ("target", "outcome"),
                ("prediction", "decision"),
                ("favorable", "1"),
                ("group", "sex"),
            ],
        ),
    ],
    ids=["classification", "regression", "several classes", "counted"],
)
def test_a_file_becomes_a_report_whose_numbers_are_the_commands(
    chrome, link, loans, tmp_path, monkeypatch, columns, answers
):
    rows = loans.assign(n=1)
    if "n" in columns:
        rows = rows.groupby(["outcome", "decision", "sex"]).n.sum().reset_index()
    rows[columns].to_csv(tmp_path / "loans.csv", index=False)
    walk(chrome, link, tmp_path / "loans.csv", answers[:-1])
    assert chrome.ask("document.querySelectorAll('#missing li').length") == 1
    assert not chrome.ask("Boolean(document.querySelector('#take'))")
    key, value = answers[-1]
    names = list(columns)
    sent = str(names.index(value)) if value in names else value
    chrome.ask(ANSWER % (json.dumps(key), json.dumps(sent)))
    chrome.until("document.querySelector('#take')")
    chrome.until("document.querySelector('.controls:not([hidden])')")
    html = downloaded(chrome, "report.html", "loans")
    numbers = json.loads(downloaded(chrome, "report.json", "loans"))
    lede = chrome.ask("document.querySelector('.lede').innerText")
    assert lede in html
    command = chrome.ask("document.querySelector('#command').innerText")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(audit, [*shlex.split(command)[2:], "--json", "numbers.json"])
    assert done.exit_code == 0, done.output
    theirs = json.loads((tmp_path / "numbers.json").read_text())
    assert theirs["findings"] == numbers["findings"]
    assert (tmp_path / "report.html").read_text() == html
    downloaded(chrome, "choices.toml", "loans")
    chrome.ask("document.body.dataset.left = true; location.search = ''")
    chrome.until("!document.body.dataset.left && document.readyState == 'complete'")
    chrome.choose_file("#saved input", tmp_path / "downloads" / "loans-choices.toml")
    chrome.until("document.readyState === 'complete' && document.querySelector('#tests .lede')")
    assert chrome.ask("document.querySelector('#command').innerText") == command
    assert chrome.problems == []


def test_a_hostile_file_is_shown_as_text_and_asks_nobody_outside(chrome, link, tmp_path):
    rng = np.random.default_rng(0)
    script = "<script>document.title='owned'</script>"
    frame = pd.DataFrame(
        {
            "y": rng.integers(0, 2, 300),
            f'p"><img src=x onerror="{script}">': rng.integers(0, 2, 300),
            script: rng.choice([f"{script}a", "'\"><svg onload=alert(1)>"], 300),
            **{f"column {i}": rng.integers(0, 9, 300) for i in range(200)},
        }
    )
    path = tmp_path / "x<img src=x onerror=alert(1)>.csv"
    frame.to_csv(path, index=False)
    answers = [("lines", "people"), ("target", "0"), ("prediction", "1"), ("score", "none")]
    walk(chrome, link, path, [*answers, ("favorable", "1"), ("group", "2")])
    chrome.until("document.querySelector('#tests .lede')")
    chrome.ask("document.querySelector('#explore tbody button').click()")
    made = "main img, main script:not([type]), main svg[onload]"
    assert chrome.ask(f"document.querySelectorAll('{made}').length") == 0
    assert "owned" not in chrome.ask("document.title").replace(path.name, "")
    hosts = {
        params["request"]["url"].split("/")[2]
        for method, params in chrome.events
        if method == "Network.requestWillBeSent" and params["request"]["url"].startswith("http")
    }
    assert hosts == {link.split("/")[2]}
    assert chrome.problems == []


def test_a_file_that_is_no_table_is_refused_in_words_and_too_many_groups_are_told(
    chrome, link, desk, tmp_path
):
    bad = {
        "empty.csv": b"",
        "header.csv": b"y,p,g\n",
        "old.csv": "y,p,ä\n1,0,é\n".encode("latin-1"),
    }
    chrome.go(link)
    chrome.until("document.readyState === 'complete' && document.querySelector('#drop')")
    told = []
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        chrome.drop("#drop", tmp_path / name)
        chrome.until(f"document.querySelector('#problem').innerText.includes({name!r})")
        told.append(chrome.ask("document.querySelector('#problem').innerText"))
    assert "is empty" in told[0]
    assert "no rows" in told[1]
    assert "Save it as UTF-8" in told[2]
    assert not desk.files
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (200_000, 2)), columns=["y", "p"])
    frame["g"] = pd.Series(rng.integers(0, 100_000, 200_000)).map("g{}".format)
    frame.to_csv(tmp_path / "many.csv", index=False)
    chrome.drop("#drop", tmp_path / "many.csv")
    chrome.until("document.readyState === 'complete' && document.querySelector('#choices')")
    asked = "lines=people&target=0&prediction=1&score=none&favorable0-1=1&group=2"
    chrome.ask(f"location.search = {asked!r}")
    chrome.until("document.querySelector('#failure')")
    many = f"These columns name {frame.g.nunique():,} groups"
    assert many in chrome.ask("document.querySelector('#failure').innerText")
    assert chrome.ask("document.querySelector('#asked').open")
    assert not chrome.ask("Boolean(document.querySelector('#take'))")


NAMED = {"button", "textbox", "combobox", "radio", "checkbox", "link", "slider", "region", "form"}
CONTRAST = """(() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = parts(color).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (part) => {
    for (; part; part = part.parentElement) {
      const color = getComputedStyle(part).backgroundColor;
      if ((parts(color)[3] ?? 1) > 0.99) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const part = walker.currentNode.parentElement;
    const shown = part.checkVisibility() && !part.closest("svg, [hidden]");
    if (!walker.currentNode.data.trim() || !shown) continue;
    const style = getComputedStyle(part);
    const [a, b] = [light(style.color), light(behind(part))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) faint.push(walker.currentNode.data.trim());
  }
  return faint;
})()"""


AXE = os.environ.get("EVENHAND_AXE")  # the path to axe.min.js, if axe-core is there
ASKED_OF_AXE = """axe.run().then(({ passes, violations }) => {
  if (passes.length < 10) return ["axe looked at nothing"];
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
})"""


def obstacles(chrome):
    """What stands in the way of people who do not see, or not well.

    Our own look at names, contrast, ids and width, and axe's beside it where it is there.
    """
    found = []
    if AXE:
        chrome.ask(f"{Path(AXE).read_text(encoding='utf-8')};0")
        found += chrome.ask(ASKED_OF_AXE)
    nodes = chrome.call("Accessibility.getFullAXTree")["nodes"]
    found += [
        f"a {node['role']['value']} without a name"
        for node in nodes
        if not node["ignored"]
        and node["role"]["value"] in NAMED
        and not node.get("name", {}).get("value", "").strip()
    ]
    found += [f"too faint: {text}" for text in chrome.ask(CONTRAST)]
    ids = chrome.ask("[...document.querySelectorAll('[id]')].map((part) => part.id)")
    found += [f"the id {name} twice" for name in {*ids} if ids.count(name) > 1]
    heads = chrome.ask("document.querySelectorAll('h1').length")
    found += [] if heads == 1 else [f"{heads} headings of the first level"]
    wide = chrome.ask("document.documentElement.scrollWidth - innerWidth")
    found += [f"{wide} pixels to the right of the screen"] if wide > 0 else []
    return found


SLIDE = """(() => {
  const range = document.querySelector("#explore [name=at]");
  range.value = 80;
  range.dispatchEvent(new Event("input", { bubbles: true }));
})()"""


@pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (390, True)], ids=["desktop", "phone, dark"]
)
def test_nothing_stands_in_the_way_on_any_screen(link, loans, tmp_path, width, dark):
    loans[["outcome", "score", "race", "sex"]].to_csv(tmp_path / "loans.csv", index=False)
    with Chrome(tmp_path, width=width, dark=dark) as chrome:
        chrome.go(link)
        chrome.until("document.readyState === 'complete' && document.querySelector('#drop')")
        assert obstacles(chrome) == []
        chrome.drop("#drop", tmp_path / "loans.csv")
        chrome.until("document.readyState === 'complete' && document.querySelector('#choices')")
        chrome.ask("document.querySelector('#columns').open = true")
        assert obstacles(chrome) == []
        asked = "lines=people&target=0&prediction=none&score=1&favorable0=1&score_of0-1=1"
        chrome.ask(f"location.search = {f'{asked}&threshold1=0.5&group=2&group=3'!r}")
        chrome.until("document.querySelector('.controls:not([hidden])')")
        chrome.ask("document.querySelector('#explore tbody button').click()")
        chrome.ask(SLIDE)
        assert obstacles(chrome) == []
        assert chrome.problems == []
        chrome.ask("location.pathname = '/files/gone'")
        gone = "document.readyState === 'complete' && location.pathname === '/files/gone'"
        chrome.until(f"{gone} && document.querySelector('main .caution')")
        assert obstacles(chrome) == []
        chrome.ask("document.body.append(document.createElement('button'))")
        assert any("button" in one for one in obstacles(chrome))


def test_nothing_is_shown_of_other_answers_after_cancel(chrome, link, desk, loans, tmp_path):
    loans[["outcome", "decision", "sex"]].to_csv(tmp_path / "loans.csv", index=False)
    answers = [("lines", "people"), ("target", "outcome"), ("prediction", "decision")]
    answers += [("favorable", "1"), ("group", "sex")]
    walk(chrome, link, tmp_path / "loans.csv", answers)
    chrome.until("document.querySelector('#tests .lede')")
    (work,) = desk.files.values()
    with work.turn("Counting"):
        asked = work._newest
        chrome.ask(ANSWER % ('"favorable"', '"0"'))
        while work._newest == asked:
            time.sleep(0.05)
        asked = work._newest
        chrome.ask("document.querySelector('#doing button').click()")
        while work._newest == asked:
            time.sleep(0.05)
    chrome.until("document.querySelector('#answer').innerText.startsWith('Stopped')")
    assert not chrome.ask("Boolean(document.querySelector('#tests, #explore, #take'))")


def test_reading_is_stopped_by_cancel(chrome, link, desk, tmp_path):
    """The button that a person presses while a file is taken in and read."""
    path = tmp_path / "large.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("y,p,g,x\n")
        for block in range(300):
            file.write(f"1,0,g{block % 7},{block}.25\n0,1,h,text{block}\n" * 5000)
    chrome.go(link)
    chrome.until("document.readyState === 'complete' && document.querySelector('#drop')")
    chrome.drop("#drop", path)
    chrome.until("document.querySelector('#doing span').textContent.startsWith('Reading')")
    chrome.ask("document.querySelector('#doing button').click()")
    chrome.until("document.querySelector('#doing').hidden")
    end = time.monotonic() + 60
    while (desk.files or [*desk.folder.iterdir()]) and time.monotonic() < end:
        time.sleep(0.1)
    assert (dict(desk.files), [*desk.folder.iterdir()]) == ({}, [])
    assert chrome.ask("location.pathname") == "/"
