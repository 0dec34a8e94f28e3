"""A standard's report, ready to print: what the data show, what the rule asks, and signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand._words import UNDEFINED, number, p_value, plural
from evenhand.report.blocks import Bullets, Cell, Head, Report, Row, Section, Table, Terms, Text
from evenhand.report.formats import count, name, words

Document = Mapping[str, Any]

TEXTS = ("text", "name", "verdict", "flag")
SHORT = 16  # rows of a table that is printed on one page
VERDICTS = ("below", "above")


def report_of(document: Document) -> Report:
    """The report of a standard's document."""
    review = document["review"]
    facts: list[Any] = [Text(review["sentence"], "caution overdue")] if review["overdue"] else []
    facts += [Text(sentence, "shown") for sentence in document["shows"]]
    facts.append(Terms([(fact["name"], fact["text"]) for fact in document["facts"]], "facts"))
    return Report(
        kind="standard",
        brand=document["standard"],
        title=document["title"],
        lede="",
        about=[name(document["audit"])] if document["audit"] else [],
        facts=facts,
        sections=[
            Section("tables", "What the data show", list(_tables(document))),
            Section("rule", "What the rule asks", list(_rule(document))),
            Section("limits", "What no software can say", [Bullets(document["cannot"], "points")]),
            Section("signatures", "Signatures", list(_signatures(document))),
        ],
        version=document["evenhand"],
    )


def _tables(document: Document) -> Any:
    for position, table in enumerate(document["tables"], 1):
        heads = [Head(column["head"], column["kind"] not in TEXTS) for column in table["columns"]]
        rows = [
            Row([_cell(row[column["key"]], column["kind"]) for column in table["columns"]])
            for row in table["rows"]
        ]
        short = " short" if len(rows) <= SHORT else ""
        title = f"Table {position}. {table['title']}"
        yield Table(table["title"], heads, rows, caption=title, kind=f"cards{short}")
        yield from (Text(note, "quiet") for note in table["notes"])
    if document["notes"]:
        yield Bullets(document["notes"], "notes")


def _rule(document: Document) -> Any:
    yield Bullets([_stated(statement) for statement in document["asks"]], "points")
    if document["standing"]:
        yield Text("Where it stands", "shown")
        yield Bullets([_stated(statement) for statement in document["standing"]], "points")


def _stated(statement: Document) -> str:
    return f"{statement['text']} [{statement['source']}]"


def _source(source: Document) -> str:
    status = "" if source["verified"] else "; not verified"
    return f"{source['citation']}, {source['date']} ({source['about']}{status})"


def _signatures(document: Document) -> Any:
    yield Terms([(field, None) for field in document["signatures"]], "facts signatures")
    sources = "; ".join(map(_source, document["sources"]))
    review = document["review"]
    last = "" if review["overdue"] else f" {review['sentence']}"
    law = ""
    if document["law_date"]:
        law = f" Made {document['law_date']}, in force {document['in_force']}"
        if document["enforced"]:
            law += f", enforced since {document['enforced']}"
        law += "."
    yield Text(f"Sources: {sources}.{law}{last}", "quiet")
    source = document["provenance"]
    versions = "".join(f"{package} {version}, " for package, version in source["versions"].items())
    yield Text(
        f"Filled in on {source['date']} from {plural(document['rows'], 'row')}; SHA-256 of the "
        f"data {source['data']}, of what this page says {document['sha256']}; {versions}Python "
        f"{source['python']}; profile {document['standard']}, schema {document['schema']}.",
        "quiet",
    )


def _cell(value: Any, kind: str) -> Cell:
    style = value if kind == "verdict" and value in VERDICTS else ""
    style = "beyond" if kind == "flag" and value else style
    return Cell(FORMATS[kind](value), kind=style)


def _rate(value: float | None) -> str:
    return UNDEFINED if value is None else f"{100 * value:.1f}%"


def _ratio(value: float | None) -> str:
    return UNDEFINED if value is None else number(value) if value >= 10 else f"{value:.3f}"


def _between(format_end: Callable[[float | None], str]) -> Callable[[Any], str]:
    def text(ends: Any) -> str:
        if ends is None or ends[0] is None:
            return UNDEFINED
        high = "∞" if ends[1] is None else format_end(ends[1])
        return f"{format_end(ends[0])}–{high}".replace("%–", "–")

    return text


def _text(value: str | None) -> str:
    return UNDEFINED if value is None else str(value)


def _flag(value: bool | None) -> str:
    return UNDEFINED if value is None else "yes ●" if value else "no"


FORMATS: dict[str, Callable[[Any], str]] = {
    "text": _text,
    "name": words,
    "verdict": _text,
    "count": count,
    "rate": _rate,
    "rates": _between(_rate),
    "ratio": _ratio,
    "ratios": _between(_ratio),
    "number": number,
    "p": p_value,
    "flag": _flag,
}
