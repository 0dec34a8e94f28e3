"""The report of a power analysis: what such rows would show, and how many are needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand._words import UNDEFINED, number
from evenhand.report.blocks import Cell, Head, Report, Row, Section, Table
from evenhand.report.formats import count, name

Document = Mapping[str, Any]


def report_of(document: Document) -> Report:
    """The report of the document of a `Power`."""
    heads = [Head("Group"), Head("Rows", True), Head("Assumed value", True, "assumed")]
    heads += [Head("Rows needed", True, "needed")]
    rows = [
        Row(
            [
                Cell(name(group["label"])),
                Cell(count(group["rows"])),
                Cell(number(group["value"])),
                Cell(UNDEFINED if group["needed"] is None else count(group["needed"])),
            ]
        )
        for group in document["groups"]
    ]
    table = Table("Rows by group", heads, rows, kind="cards")
    return Report(
        kind="power",
        brand="power",
        title="How many rows are needed",
        lede=document["sentence"],
        about=[],
        sections=[Section("groups", "Rows by group", [table])],
        version=document["evenhand"],
        notebook=[table],
    )
