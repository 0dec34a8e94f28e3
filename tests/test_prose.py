"""What people read: plain words, and links that lead somewhere."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from evenhand.mitigation import METHODS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(
    not DOCS.exists(), reason="a source distribution has no docs folder: run from a clone"
)

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`]+`")
THINGS = (
    *("bound", "column", "criterion", "file", "group", "list", "measure", "number", "option"),
    *("percentage", "probability", "range", "rule", "table", "tally", "task"),
)
ODD = {  # what nobody says: what people say; in pages, docstrings, messages and templates
    f"(?<!there\\s)(?:is|are) no (?:{'|'.join(THINGS)})s?": "is not a",
    "acquittal": "a clean bill of health",
    "anew": "again",
    "by lot": "at random",
    "cannot be had": "cannot be computed",
    "draws lots": "draws",
    "goes before": "takes precedence over",
    "goes without saying": "is the default",
    "go by other names": "rename",
    "in earnest": "leave it out",
    "knows nothing of": "ignores",
    "learnt": "learned",
    "misspelt": "misspelled",
    "of few rows they": "with few rows they",
    "people wish for": "people want",
    "says nothing of": "says nothing about",
    "told apart": "separated, distinguished",
    "unless told otherwise": "by default",
    "worlds": "simulations",
    "beyond chance": "significant",
    "come apart": "begun to differ",
    "is sure of": "is significant",
    "more even": "less uneven",
    "so many": "this many, n",
    "surely": "significantly, with 95% confidence",
    "want of": "lack of",
    "weighs? nothing": "have weight 0",
    "what becomes of": "where it goes",
    "what became of": "the outcome of",
    "whom": "who, whose",
    "would do": "are needed, would be enough",
}


def spoken():
    """Every file of the package that holds strings."""
    kinds = (".py", ".html", ".toml")
    return sorted(file for file in (ROOT / "src" / "evenhand").rglob("*") if file.suffix in kinds)


def strings(file):
    """The docstrings and messages of a module; the whole of a template or profile."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return [text]
    nodes = ast.walk(ast.parse(text))
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def oddities(text):
    return [
        f"{phrase!r}: say {better!r}"
        for phrase, better in ODD.items()
        if re.search(rf"\b{phrase}\b", text, re.IGNORECASE)
    ]


def pages():
    named = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    made = (DOCS / "generated", DOCS / "_build")
    return sorted(page for page in named if not any(folder in page.parents for folder in made))


def prose(page):
    return CODE.sub("`…`", FENCED.sub("", page.read_text(encoding="utf-8")))


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(), ids=name)
def test_the_documentation_speaks_plain_english(page):
    text = prose(page)
    odd = oddities(text)
    twice = re.findall(r"\b(\w{2,}) \1\b", text)
    spaced = re.findall(r"\d %", text)
    assert [*odd, *twice, *spaced] == []


@pytest.mark.slow
def test_docstrings_messages_and_templates_speak_plain_english():
    odd = [
        f"{name(file)}: {said}"
        for file in spoken()
        for text in strings(file)
        for said in oddities(text)
    ]
    assert odd == []


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_file_that_a_page_links_to_exists(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", FENCED.sub("", text))
    links += [f"{link}.md" for link in re.findall(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`", text)]
    links += re.findall(r"\{download\}`[^`<]*<([^`>]+)>`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def linked(page):
    """The pages that a page links to, by its text or its list of contents."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`", text)
    for listed in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
        lines = [line for line in listed.splitlines() if line and not line.startswith(":")]
        names += [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
    return {(page.parent / f"{name}.md").resolve() for name in names}


def test_every_page_is_two_clicks_from_home():
    home = DOCS / "index.md"
    once = linked(home)
    reached = {home, *once, *(page for first in once if first.exists() for page in linked(first))}
    included = {DOCS / "leaderboard" / "summary.md"}  # a part of the page beside it
    mine = {page for page in pages() if DOCS in page.parents} - included
    assert sorted(name(page) for page in mine - reached) == []


def test_a_dead_link_of_the_built_site_is_found(tmp_path):
    spec = importlib.util.spec_from_file_location("links", DOCS / "links.py")
    links = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(links)
    (tmp_path / "one.html").write_text(
        '<a href="two.html#here">.</a><a href="two.html#gone">.</a><a href="three.html">.</a>'
        '<a href="https://example.org/">.</a><h1 id="top"><a href="#top">.</a></h1>'
    )
    (tmp_path / "two.html").write_text('<p id="here"></p>')
    assert links.dead(tmp_path) == ["one.html: two.html#gone", "one.html: three.html"]


def test_the_guide_to_mitigation_advises_on_every_method(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    tables = importlib.import_module("tables")
    assert set(tables.ADVICE) == set(METHODS)
