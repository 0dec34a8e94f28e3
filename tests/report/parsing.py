"""A page as a list of elements, read by the standard library's parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br"}
CELLS = ("th", "td")
ENDS = {"th": CELLS, "td": CELLS, "tr": (*CELLS, "tr")}  # what a start tag ends by itself


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""

    def has_class(self, name: str) -> bool:
        return name in self.attributes.get("class", "").split()


@dataclass
class Page(HTMLParser):
    """Elements in order; closing a tag that is not open is an error."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def _end_open(self, tags: tuple[str, ...]) -> None:
        """Cells and rows of tables need no end tag."""
        while self.open and self.open[-1].tag in tags:
            self.open.pop()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_open(ENDS.get(tag, ()))
        parents = tuple(element.tag for element in self.open)
        element = Element(tag, {key: value or "" for key, value in attrs}, parents)
        assert len(element.attributes) == len(attrs), f"an attribute twice in {attrs}"
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("tbody", "tfoot"):
            self._end_open(ENDS["tr"])
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, tag: str, **attributes: str) -> list[Element]:
        return [
            element
            for element in self.elements
            if element.tag == tag and attributes.items() <= element.attributes.items()
        ]


def parsed(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    assert not page.open, [element.tag for element in page.open]
    return page
