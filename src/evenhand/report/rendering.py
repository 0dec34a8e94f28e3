"""From the document to HTML: the sections, put into the templates.

The document itself is inside the page, for programs: JSON that no text in it can break out of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evenhand._errors import InputError
from evenhand._words import listing, number, p_value, percent, plural
from evenhand.measures import MEASURES
from evenhand.report import comparison, formats, standards, watches
from evenhand.report.criteria import inequality, sections
from evenhand.report.formats import VERDICTS, cell_name, measure_name, verdict, within
from evenhand.report.groups import amount, apart
from evenhand.report.headline import headline
from evenhand.report.overviews import (
    alternatives,
    distributions,
    intersections,
    thresholds,
    with_intervals,
)

SCHEMA = "evenhand.audit/3"
COMPARISON = "evenhand.comparison/1"
STANDARD = "evenhand.standard/1"
WATCH = "evenhand.watch-report/1"
DIGITS = 5  # of the numbers in the document inside a page
CURVES, OF_CURVES = ("distributions", "thresholds"), 3  # which are there to be drawn
GROUPS = 500  # beyond which the page holds the document of the most telling groups only


def page(document: Mapping[str, Any]) -> str:
    """The document as one HTML file."""
    _check(document)
    parts = sections(document)
    short = abridged(document)
    return _rendered(
        "page.html",
        document=document,
        headline=headline(document),
        values=with_intervals(document),
        inequality=inequality(document),
        sections=parts,
        formulas={one["name"]: one["formula"] for one in document["criteria"]},
        anchors={part["name"]: part["ident"] for part in parts},
        frontier=alternatives(document),
        intersections=intersections(document),
        thresholds=thresholds(document),
        distributions=distributions(document),
        measures=_measures(document),
        verdicts=VERDICTS,
        abridged=short.get("abridged"),
        json=Markup(embedded(document)),
    )


def snippet(document: Mapping[str, Any]) -> str:
    """The findings of the document as a small table."""
    _check(document)
    return _rendered("snippet.html", document=document, headline=headline(document))


def comparison_page(document: Mapping[str, Any]) -> str:
    """A comparison's document as one HTML file."""
    _check(document, COMPARISON)
    return _rendered(
        "comparison.html",
        document=document,
        title=document["title"] or "Comparison of models",
        lines=comparison.by_model(document),
        panels=comparison.panels(document),
        upright=comparison.upright(document),
        tables=comparison.tables(document),
    )


def standard_page(document: Mapping[str, Any]) -> str:
    """A standard's document as one HTML file."""
    _check(document, STANDARD)
    return _rendered("standard.html", document=document, tables=standards.tables(document))


def watch_page(document: Mapping[str, Any]) -> str:
    """A watch's document as one HTML file."""
    _check(document, WATCH)
    return _rendered(
        "watch.html",
        document=document,
        lede=watches.lede(document),
        lines=watches.table(document),
        parts=watches.criteria(document),
        changes=watches.changes(document),
    )


def embedded(document: Mapping[str, Any], most: int = GROUPS) -> str:
    r"""JSON without the characters that mean something to HTML.

    >>> print(embedded({"groups": [], "title": "</script>"}))
    {"groups":[],"title":"\u003c/script\u003e"}
    """
    short = abridged(document, most)
    text = json.dumps(_rounded(short), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _whole(label: str) -> Markup:
    """A group's name that breaks between its parts and nowhere else."""
    parts = formats.name(label).split(" × ")
    return Markup(" × ").join(Markup("<span>{}</span>").format(part) for part in parts)


def _rounded(part: Any, digits: int = DIGITS) -> Any:
    """The same with numbers of so many digits; the audit's to_json writes them all."""
    if isinstance(part, float):
        return float(f"{part:.{digits}g}")
    if isinstance(part, Mapping):
        return {
            key: _rounded(value, OF_CURVES if key in CURVES else digits)
            for key, value in part.items()
        }
    return [_rounded(value, digits) for value in part] if isinstance(part, list | tuple) else part


def abridged(document: Mapping[str, Any], most: int = GROUPS) -> Mapping[str, Any]:
    """The document itself, or with too many groups that of those which contribute most."""
    if len(document["groups"]) <= most:
        return document
    keep = _most_telling(document, most)
    return {
        **document,
        "abridged": {"groups": len(keep), "of": len(document["groups"])},
        "groups": [document["groups"][i] for i in keep],
        "summary": _abridged_summary(document["summary"], keep),
        "criteria": [_abridged_criterion(criterion, keep) for criterion in document["criteria"]],
        "findings": [_abridged_finding(finding, keep) for finding in document["findings"]],
    }


def _most_telling(document: Mapping[str, Any], most: int) -> list[int]:
    shares = [0.0] * len(document["groups"])
    for finding in document["findings"]:
        for place, share in enumerate(finding["contributions"]):
            shares[place] += share or 0.0
    order = sorted(range(len(shares)), key=shares.__getitem__, reverse=True)
    return sorted(order[:most])


def _abridged_criterion(criterion: Mapping[str, Any], keep: Sequence[int]) -> dict[str, Any]:
    columns = ("values", "low", "high", "pooled", "rows")
    cells = [
        {**cell, **{column: _kept(cell.get(column), keep) for column in columns}}
        for cell in criterion["cells"]
    ]
    return {**criterion, "cells": cells}


def _abridged_finding(finding: Mapping[str, Any], keep: Sequence[int]) -> dict[str, Any]:
    shares = _kept(finding["contributions"] or None, keep) or []
    return {**finding, "contributions": shares, "left_out": finding["left_out"][: len(keep)]}


def _abridged_summary(summary: Mapping[str, Any], keep: Sequence[int]) -> dict[str, Any]:
    """The summary of some of the groups; what it says of everybody stays."""
    short = dict(summary)
    for part in ("table", "headline", "impact_ratio"):
        if short[part] is not None:
            short[part] = {**short[part], "groups": _kept(short[part]["groups"], keep)}
    return short


def _kept(column: Sequence[Any] | None, keep: Sequence[int]) -> list[Any] | None:
    return None if column is None else [column[i] for i in keep]


def _measures(document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The measures that were asked: key, name, meaning."""
    asked = dict.fromkeys(finding["measure"] for finding in document["findings"])
    unknown = "a measure of the caller's own"
    return [
        (key, measure_name(key), MEASURES[key].about if key in MEASURES else unknown)
        for key in asked
    ]


def _check(document: Mapping[str, Any], schema: str = SCHEMA) -> None:
    if document.get("schema") != schema:
        of = {COMPARISON: "comparison", STANDARD: "standard", WATCH: "watch"}.get(schema, "audit")
        raise InputError(
            f"A report is made from a document of schema {schema!r}, this one has "
            f"{document.get('schema')!r}. Make it anew with the {of}'s document()."
        )


def _rendered(template: str, **context: Any) -> str:
    text = _environment().get_template(template).render(context)
    return text.encode("utf-8", "replace").decode("utf-8")


FILTERS = {
    "number": number,
    "difference": formats.difference,
    "p_value": p_value,
    "percent": percent,
    "count": formats.count,
    "plural": plural,
    "name": formats.name,
    "words": formats.words,
    "listing": listing,
    "measure": measure_name,
    "cell": cell_name,
    "within": within,
    "verdict": verdict,
    "amount": amount,
    "apart": apart,
    "key": formats.key,
    "whole": _whole,
}


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
