"""The tables of a standard's page, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand._words import UNDEFINED, number, p_value
from evenhand.report.formats import count

TEXTS = ("text", "verdict", "flag")
SHORT = 16  # rows of a table that is printed on one page
VERDICTS = {"surely below": "below", "surely above": "above"}


def tables(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Heads, and cells with their text and style."""
    return [
        {
            "title": table["title"],
            "notes": table["notes"],
            "is_short": len(table["rows"]) <= SHORT,
            "heads": [
                {"text": column["head"], "is_number": column["kind"] not in TEXTS}
                for column in table["columns"]
            ],
            "rows": [
                [_cell(row[column["key"]], column["kind"]) for column in table["columns"]]
                for row in table["rows"]
            ],
        }
        for table in document["tables"]
    ]


def _cell(value: Any, kind: str) -> dict[str, Any]:
    style = f"verdict {VERDICTS.get(value, '')}" if kind == "verdict" else ""
    if kind == "flag" and value:
        style = "beyond"
    return {"text": FORMATS[kind](value), "is_number": kind not in TEXTS, "style": style}


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
