"""From a report to HTML: its blocks, put into the templates.

The document itself is inside an audit's page, for programs: compressed JSON, since it repeats
what the tables show.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evenhand._words import listing, number, p_value, percent, plural
from evenhand.report import formats
from evenhand.report.blocks import Figure, Fold, Report, Table, Template

DIGITS = 5  # of the numbers in the document inside a page
# Content of charts, and estimates that accompany the values themselves.
THREE_DIGITS = frozenset({"distributions", "thresholds", "contributions", "pooled"})
GROUPS = 500  # beyond which the page holds the document of the largest contributors only


def page(report: Report, counts: Mapping[str, Any] | None = None) -> str:
    """A report as one HTML file; with counts, these can be explored on it."""
    return rendered(
        "page.html" if counts is None else "explored.html",
        report=report,
        counts=None if counts is None else data(counts),
        columns=max((_widest(section.blocks) for section in report.sections), default=0),
        document=None if report.data is None else embedded(report.data),
    )


def snippet(report: Report) -> str:
    """What matters first of a report, for notebooks."""
    return rendered("snippet.html", report=report)


def embedded(document: Mapping[str, Any], limit: int = GROUPS) -> str:
    """The document as JSON, compressed by gzip and written in letters (base64).

    >>> import base64
    >>> gzip.decompress(base64.b64decode(embedded({"groups": [], "title": "A model"})))
    b'{"groups":[],"title":"A model"}'
    """
    short = abridged(document, limit)
    text = json.dumps(_rounded(short), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    compressed = gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)
    return b64encode(compressed).decode("ascii")


def data(content: Any) -> Markup:
    r"""JSON for a script element, which nothing in it can end.

    >>> data(["</script>"])
    Markup('["\\u003c/script>"]')
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def _widest(blocks: Iterable[Any]) -> int:
    """The columns of the widest table."""
    inside = (
        len(block.heads)
        if isinstance(block, Table)
        else _widest(block.blocks)
        if isinstance(block, Fold)
        else 0
        for block in blocks
    )
    return max(inside, default=0)


def _quoted(text: str) -> str:
    r"""A text as a string of CSS, without the characters that would end it.

    >>> print(_quoted('of "a"'))
    "of \22 a\22 "
    """
    unsafe = {ord(letter): f"\\{ord(letter):x} " for letter in '"\\\n\r\f'}
    return f'"{text.translate(unsafe)}"'


def _unbroken(label: str) -> Markup:
    """A group's name that breaks between its parts and nowhere else."""
    parts = formats.name(label).split(" × ")
    return Markup(" × ").join(Markup("<span>{}</span>").format(part) for part in parts)


def _rounded(part: Any, digits: int = DIGITS) -> Any:
    """A document with fewer digits; the audit's to_json writes them all."""
    if isinstance(part, float):
        return float(f"{part:.{digits}g}")
    if isinstance(part, Mapping):
        return {
            key: _rounded(value, 3 if key in THREE_DIGITS else digits)
            for key, value in part.items()
        }
    return [_rounded(value, digits) for value in part] if isinstance(part, list | tuple) else part


def abridged(document: Mapping[str, Any], limit: int = GROUPS) -> Mapping[str, Any]:
    """The document itself, or with too many groups, that of the largest contributors."""
    if len(document["groups"]) <= limit:
        return document
    keep = _largest_contributors(document, limit)
    return {
        **document,
        "abridged": {"groups": len(keep), "of": len(document["groups"])},
        "groups": [document["groups"][i] for i in keep],
        "summary": _abridged_summary(document["summary"], keep),
        "criteria": [_abridged_criterion(criterion, keep) for criterion in document["criteria"]],
        "findings": [_abridged_finding(finding, keep) for finding in document["findings"]],
    }


def _largest_contributors(document: Mapping[str, Any], limit: int) -> list[int]:
    shares = [0.0] * len(document["groups"])
    for finding in document["findings"]:
        for place, share in enumerate(finding["contributions"]):
            shares[place] += share or 0.0
    order = sorted(range(len(shares)), key=shares.__getitem__, reverse=True)
    return sorted(order[:limit])


def _abridged_criterion(criterion: Mapping[str, Any], keep: Sequence[int]) -> dict[str, Any]:
    columns = ("values", "low", "high", "pooled", "rows")
    cells = [
        {**cell, **{column: _selected(cell.get(column), keep) for column in columns}}
        for cell in criterion["cells"]
    ]
    return {**criterion, "cells": cells}


def _abridged_finding(finding: Mapping[str, Any], keep: Sequence[int]) -> dict[str, Any]:
    shares = _selected(finding["contributions"] or None, keep) or []
    return {**finding, "contributions": shares, "left_out": finding["left_out"][: len(keep)]}


def _abridged_summary(summary: Mapping[str, Any], keep: Sequence[int]) -> dict[str, Any]:
    """The summary of some of the groups; statements about everyone stay."""
    short = dict(summary)
    for part in ("table", "headline", "impact_ratio"):
        if short[part] is not None:
            short[part] = {**short[part], "groups": _selected(short[part]["groups"], keep)}
    return short


def _selected(column: Sequence[Any] | None, keep: Sequence[int]) -> list[Any] | None:
    return None if column is None else [column[i] for i in keep]


def rendered(template: str, **context: Any) -> str:
    """A template, filled; lone surrogates of names are replaced."""
    return filled(environment(), template, **context)


def filled(templates: Environment, template: str, **context: Any) -> str:
    """A template of an environment, filled."""
    text = templates.get_template(template).render(context)
    return text.encode("utf-8", "replace").decode("utf-8")


def _painted(figure: Figure) -> Markup:
    """The chart of a figure as SVG; a few are SVG already."""
    chart = figure.chart
    return Markup(chart.svg(figure.ident) if hasattr(chart, "svg") else chart)


def _filled(block: Template) -> Markup:
    return Markup(environment().get_template(block.name).render(block.context))


FILTERS = {
    "number": number,
    "p_value": p_value,
    "percent": percent,
    "count": formats.count,
    "plural": plural,
    "name": formats.name,
    "words": formats.words,
    "listing": listing,
    "measure": formats.measure_name,
    "within": formats.within,
    "verdict": formats.verdict,
    "amount": formats.amount,
    "key": formats.key,
    "unbroken": _unbroken,
    "quoted": _quoted,
    "painted": _painted,
    "filled": _filled,
}


@cache
def environment(*packages: str) -> Environment:
    """The templates of reports, and before them those of other packages."""
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "evenhand.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(FILTERS)
    return templates
