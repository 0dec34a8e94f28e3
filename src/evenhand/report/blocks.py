"""A report as data: sections of blocks, each of which a page, Markdown and a terminal can show.

A section is made in one place and seen in every form. Charts are data too: a page paints them as
SVG, `plot` with Matplotlib, and text leaves them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

MARKS = {1: "▲", -1: "▼", 0: ""}


@dataclass(frozen=True)
class Text:
    """A paragraph; `kind` is "strong", "quiet", "caution" or nothing."""

    form: ClassVar[str] = "text"
    text: str
    kind: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    form: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Bullets:
    """A list; on a terminal it takes `columns`, below a `head` in the color of its `kind`."""

    form: ClassVar[str] = "bullets"
    items: Sequence[str]
    kind: str = ""
    head: str = ""
    columns: int = 1


class Step(NamedTuple):
    """Something to do: the finding, the remedy, the call that does it, and what it costs.

    `action` is what to do in half a line.
    """

    found: str
    remedy: str
    call: str = ""
    cost: str = ""
    action: str = ""


@dataclass(frozen=True)
class Steps:
    """What to do next, the most urgent first."""

    form: ClassVar[str] = "steps"
    items: Sequence[Step]


class Head(NamedTuple):
    """The head of a column: its name, a shorter one for narrow tables, and what it means."""

    name: str
    is_number: bool = False
    short: str = ""
    meaning: str = ""


class Cell(NamedTuple):
    """A text of a table; `key` is what a page sorts by, `side` marks it as above or below."""

    text: str
    key: str | None = None
    side: int = 0
    kind: str = ""
    under: str = ""
    tip: str = ""

    @property
    def marked(self) -> str:
        """The text with its mark."""
        return f"{self.text} {MARKS[self.side]}".rstrip()


@dataclass(frozen=True)
class Row:
    """A line of a table; `data` are attributes that a page's controls find it by.

    Where there is no room for all, lines of more `weight` are kept.
    """

    cells: Sequence[Cell]
    data: Mapping[str, str] = field(default_factory=dict)
    weight: int = 0


@dataclass(frozen=True)
class Table:
    """A table with a name for screen readers; `foot` holds lines about all of it.

    `more` says in words what is not shown. On a terminal a table that is `elastic` gives up lines
    where the rest needs room, and says how many more there are of that noun.
    """

    form: ClassVar[str] = "table"
    name: str
    heads: Sequence[Head]
    rows: Sequence[Row]
    foot: Sequence[Row] = ()
    caption: str = ""
    kind: str = ""
    more: str = ""
    elastic: str = ""


@dataclass(frozen=True)
class Figure:
    """A chart with a caption and a legend of (sample, text)."""

    form: ClassVar[str] = "figure"
    ident: str
    chart: Any
    caption: str = ""
    legend: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Panels:
    """Small figures side by side."""

    form: ClassVar[str] = "panels"
    figures: Sequence[Figure]
    legend: Sequence[tuple[str, str]] = ()
    kind: str = ""


@dataclass(frozen=True)
class Terms:
    """Terms with their meanings; a meaning of None is a line to be filled in by hand."""

    form: ClassVar[str] = "terms"
    pairs: Sequence[tuple[str, str | None]]
    kind: str = "terms"


@dataclass(frozen=True)
class Fold:
    """Blocks that are collapsed until opened."""

    form: ClassVar[str] = "fold"
    title: str
    blocks: Sequence[Any]
    ident: str = ""


@dataclass(frozen=True)
class Template:
    """What only a page shows: a template, and what it is filled with."""

    form: ClassVar[str] = "template"
    name: str
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A part of a report under a heading.

    `blocks` are those of the page. `text` is what Markdown shows, by default the same; `brief`
    what a terminal shows at first, by default what is not closed. `link` is its name among the
    contents; on a page alone a section may have no heading in text (`is_titled`).
    """

    ident: str
    title: str
    blocks: Sequence[Any]
    text: Sequence[Any] | None = None
    brief: Sequence[Any] | None = None
    link: str = ""
    is_titled: bool = True

    @property
    def in_text(self) -> Sequence[Any]:
        """The blocks that Markdown and a whole report on a terminal show."""
        return self.blocks if self.text is None else self.text


@dataclass(frozen=True)
class Report:
    """A whole report: title, what matters most in a sentence, what it is about, and sections."""

    kind: str
    brand: str
    title: str
    lede: str
    about: Sequence[str]
    sections: Sequence[Section]
    version: str
    claim: str = ""  # what it shows, and what it does not
    actions: Sequence[str] = ()  # what to do next, in half a line each
    gate: Mapping[str, str] | None = None  # the call that checks it, and its present outcome
    facts: Sequence[Any] = ()  # blocks below the lede
    notebook: Sequence[Any] = ()  # blocks that a notebook shows below the lede
    data: Mapping[str, Any] | None = None  # the document, where a page holds it
