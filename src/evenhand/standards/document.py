"""A standard's page as a document of JSON values, the source of its HTML and CSV."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from evenhand._errors import InputError
from evenhand.standards.adverse_impact import adverse_impact
from evenhand.standards.bias_audit import bias_audit
from evenhand.standards.lending_tables import lending
from evenhand.standards.profiles import Standard, standard_named
from evenhand.standards.sample import Subject
from evenhand.standards.tables import Filled
from evenhand.standards.technical import technical

SCHEMA = "evenhand.standard/2"
BUILDERS: dict[str, Callable[[Standard, Subject, Mapping[str, Any]], Filled]] = {
    "adverse impact": adverse_impact,
    "bias audit": bias_audit,
    "lending": lending,
    "technical": technical,
}


def standard_document(
    name: str, subject: Subject, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The content of the page of a standard."""
    standard = standard_named(name)
    stated = standard.stated(given)
    if subject.weighted and standard.tables != "technical":
        raise InputError(
            f"The standard {name!r} counts people, and the audit's rows are weighted. Audit them "
            "without weights; counts of people are rows=, not weights."
        )
    filled = BUILDERS[standard.tables](standard, subject, stated)
    document = subject.document
    content = {
        "schema": SCHEMA,
        "evenhand": document["evenhand"],
        "standard": name,
        "title": standard.title,
        "about": standard.about,
        "audit": document["title"],
        **{
            name: None if day is None else day.isoformat()
            for name, day in (
                ("law_date", standard.law_date),
                ("in_force", standard.in_force),
                ("enforced", standard.enforced),
            )
        },
        "review": _review(standard, date.fromisoformat(document["provenance"]["date"])),
        "confidence": subject.confidence,
        "stated": {key: value for key, value in stated.items() if value is not None},
        "facts": [
            *(
                {"name": head, "text": stated[key]}
                for key, head in standard.facts.items()
                if _has_line(standard, key, stated)
            ),
            *({"name": head, "text": text} for head, text in filled.facts),
        ],
        "shows": list(filled.shows),
        "tables": [table.document() for table in filled.tables],
        "notes": list(filled.notes),
        "asks": [item._asdict() for item in standard.asks],
        "standing": [item._asdict() for item in standard.standing],
        "cannot": list(standard.cannot),
        "sources": [{**item._asdict(), "date": item.date.isoformat()} for item in standard.sources],
        "signatures": list(standard.signatures),
        "provenance": dict(document["provenance"]),
        "rows": document["rows"],
    }
    return {**content, "sha256": _hash(content)}


def _hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of the page's content, as JSON with sorted keys and without spaces."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _has_line(standard: Standard, name: str, stated: Mapping[str, Any]) -> bool:
    """Whether the page has a line for the statement of this name, given the others."""
    option = next(item for item in standard.options if item.name == name)
    return all(stated[other] == value for other, value in option.where.items())


def _review(standard: Standard, today: date) -> dict[str, Any]:
    """The dates of the review, and whether it is overdue."""
    overdue = standard.overdue(today)
    last, due = standard.reviewed, standard.review_by
    sentence = (
        f"This profile was last reviewed on {last} and should have been reviewed again by {due}: "
        "check the rule before you use this page."
        if overdue
        else f"Profile last reviewed on {last}; to be reviewed by {due}."
    )
    return {
        "last": last.isoformat(),
        "by": due.isoformat(),
        "overdue": overdue,
        "sentence": sentence,
    }
