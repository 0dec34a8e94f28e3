"""From the document to HTML: the sections, put into the templates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evenhand._errors import InputError
from evenhand._words import number, p_value, plural
from evenhand.report import formats
from evenhand.report.criteria import sections
from evenhand.report.embedding import abridged, embedded
from evenhand.report.formats import MEASURES, VERDICTS, cell_name, measure_name, verdict, within
from evenhand.report.headline import headline
from evenhand.report.intersections import intersections
from evenhand.report.overviews import distributions, thresholds, with_intervals

SCHEMA = "evenhand.audit/2"
FILTERS = {
    "number": number,
    "difference": formats.difference,
    "p_value": p_value,
    "percent": formats.percent,
    "count": formats.count,
    "plural": plural,
    "name": formats.name,
    "words": formats.words,
    "listing": formats.listing,
    "measure": measure_name,
    "cell": cell_name,
    "within": within,
    "verdict": verdict,
}


def page(document: Mapping[str, Any]) -> str:
    """The document as one HTML file."""
    _check(document)
    parts = sections(document)
    told = abridged(document)
    return _rendered(
        "page.html",
        document=document,
        headline=headline(document),
        values=with_intervals(document),
        sections=parts,
        formulas={one["name"]: one["formula"] for one in document["criteria"]},
        anchors={part["name"]: part["ident"] for part in parts},
        intersections=intersections(document),
        thresholds=thresholds(document),
        distributions=distributions(document),
        measures=_measures(document),
        verdicts=VERDICTS,
        abridged=told.get("abridged"),
        json=Markup(embedded(document)),
    )


def snippet(document: Mapping[str, Any]) -> str:
    """The findings of the document as a small table."""
    _check(document)
    return _rendered("snippet.html", document=document, headline=headline(document))


def _measures(document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The measures that were asked: key, name, meaning."""
    asked = dict.fromkeys(finding["measure"] for finding in document["findings"])
    unknown = "a measure of the caller's own"
    return [(key, measure_name(key), MEASURES.get(key, ("", unknown))[1]) for key in asked]


def _check(document: Mapping[str, Any]) -> None:
    if document.get("schema") != SCHEMA:
        raise InputError(
            f"A report is made from a document of schema {SCHEMA!r}, this one has "
            f"{document.get('schema')!r}. Make it anew with the audit's document()."
        )


def _rendered(template: str, **told: Any) -> str:
    text = _environment().get_template(template).render(told)
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evenhand.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment
