"""The report of a criterion where groups are not known: the answers, and what each assumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand._words import number, percent, plural
from evenhand.report.blocks import Cell, Head, Report, Row, Section, Table, Text
from evenhand.report.formats import key, name, words

Document = Mapping[str, Any]

TITLES = {
    "weighted": "Weighted",
    "instrumental": "Instrumental",
    "bounds": "Bounds",
    "combined": "Combined",
    "cut": "Most probable group",
}


def report_of(document: Document) -> Report:
    """The report of the document of a `Bounds`."""
    answers = _answers(document)
    cell = "" if document["cell"] == "all" else f" of {document['cell']}"
    return Report(
        kind="bounds",
        brand="bounds",
        title=f"{words(document['criterion'])} where groups are not known",
        lede=document["sentence"],
        about=[_about(document)],
        sections=[
            Section("answers", "What each assumption gives", [answers, *_notes(document)]),
            Section("rates", f"Rates{cell} by group", [_rates(document)]),
        ],
        version=document["evenhand"],
        notebook=[answers],
    )


def _about(document: Document) -> str:
    known = document["known"]
    some = f", the group of {known:,} known" if known else ""
    return f"{plural(document['rows'], 'row')}{some}"


def _answers(document: Document) -> Table:
    level = f"{100 * document['confidence']:g}% interval"
    heads = [Head("Answer"), Head("Estimate", True), Head(level, True, "interval")]
    heads.append(Head("What it assumes"))
    rows = []
    for answer in document["answers"]:
        estimate = number(answer["value"])
        if answer["name"] == "bounds":
            estimate = f"{number(answer['least'])} to {number(answer['greatest'])}"
        ends = f"{number(answer['low'], toward=-1)} to {number(answer['high'], toward=1)}"
        cells = [Cell(TITLES[answer["name"]]), Cell(estimate, key(answer["greatest"]))]
        rows.append(Row([*cells, Cell(ends, key(answer["high"])), Cell(answer["assumes"])]))
    return Table("Answers", heads, rows, kind="cards")


def _notes(document: Document) -> list[Text]:
    notes = []
    if not document["is_sharp"]:
        notes.append(Text("The bounds hold, but may be wider than they need be.", "quiet"))
    p_value = document["random_p_value"]
    if p_value is not None:
        looks = "do not look" if p_value < 0.01 else "look"
        text = f"The people whose group is known {looks} like a random sample (p = {p_value:.2g})."
        notes.append(Text(text, "caution" if p_value < 0.01 else "quiet"))
    return notes


def _rates(document: Document) -> Table:
    heads = [Head("Group"), Head("Share of people", True, "share")]
    heads += [Head(TITLES[answer["name"]], True) for answer in document["answers"]]
    rows = []
    for at, group in enumerate(document["groups"]):
        cells = [Cell(name(group["label"])), Cell(percent(group["share"]), key(group["share"]))]
        for answer in document["answers"]:
            rate = answer["rates"][at]
            low, high = percent(rate["low"]), percent(rate["high"])
            cells.append(Cell(f"{low} to {high}", key(rate["high"])))
        rows.append(Row(cells))
    return Table("Rates by group", heads, rows, kind="cards")
