"""Results for people: a page that opens anywhere, Markdown, text, and figures.

Every form is made from a result's document, a mapping of JSON values, so that a page can be made
again from a stored file. A report is put together once, in blocks (see `blocks`), and each form
shows these. No score is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from evenhand._errors import InputError, require
from evenhand.report.blocks import Report
from evenhand.report.markdown import markdown as _markdown
from evenhand.report.terminal import WIDTH, Line
from evenhand.report.terminal import lines as _lines

Document = Mapping[str, Any]
MODULES = {  # by schema; each has `report_of`, and `charts` where there are any
    "evenhand.account/1": "why",
    "evenhand.audit/4": "audit",
    "evenhand.bounds/1": "bounds",
    "evenhand.comparison/2": "comparison",
    "evenhand.frontier/1": "frontier",
    "evenhand.partial-audit/1": "bounds",
    "evenhand.power/1": "power",
    "evenhand.standard/2": "standard",
    "evenhand.watch-report/1": "watch",
    "evenhand.watch-status/1": "watch",
}


def page(document: Document) -> str:
    """One HTML file with everything in it: text, charts, style, and of an audit the document.

    Parameters
    ----------
    document : mapping
        The document of a result, or what its `to_json` wrote.

    Returns
    -------
    str
        The page. It opens offline, and asks for nothing from the network.

    Raises
    ------
    InputError
        If there is no page for the schema of the document.
    MissingExtraError
        If Jinja2 is not installed.

    Examples
    --------
    >>> import evenhand
    >>> columns = [1, 0, 1, 0] * 25, [1, 0, 1, 1] * 25
    >>> asked = {"sensitive_features": ["F", "F", "M", "M"] * 25, "criteria": ["error_parity"]}
    >>> audit = evenhand.audit(*columns, **asked)
    >>> page(audit.document())[:15]
    '<!doctype html>'

    """
    return _rendered("page", report_of(document))


def explored(document: Document, counts: Document) -> str:
    """The page of an audit, with its counts to explore."""
    return _rendered("page", report_of(document), counts)


def snippet(document: Document) -> str:
    """What a notebook shows of a result: the sentence and its first tables.

    Parameters
    ----------
    document : mapping
        The document of a result.

    Returns
    -------
    str
        HTML without a head or body, as notebooks show it.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.

    Examples
    --------
    >>> import evenhand
    >>> columns = [1, 0, 1, 0] * 25, [1, 0, 1, 1] * 25
    >>> asked = {"sensitive_features": ["F", "F", "M", "M"] * 25, "criteria": ["error_parity"]}
    >>> audit = evenhand.audit(*columns, **asked)
    >>> "<table>" in snippet(audit.document())
    True

    """
    return _rendered("snippet", report_of(document))


def _rendered(form: str, *arguments: Any) -> str:
    """A report in a form of HTML, which needs Jinja2."""
    require("jinja2", purpose="The HTML report", extra="report")
    from evenhand.report import rendering

    return str(getattr(rendering, form)(*arguments))


def markdown(document: Document) -> str:
    """A result as Markdown, fit for a pull-request comment; long parts are folded."""
    return _markdown(report_of(document))


def lines(document: Document, *, width: int = WIDTH, full: bool = False) -> list[Line]:
    """A result as lines of text with their styles, as a terminal shows it."""
    return _lines(report_of(document), width=width, full=full)


def text(document: Document, *, width: int = WIDTH, full: bool = False) -> str:
    """A result as text: a summary that fits a screen, or everything."""
    return "\n".join(line.text for line in lines(document, width=width, full=full))


def figure(document: Document, chart: str | None = None, ax: Any = None) -> Any:
    """The charts of a result as a Matplotlib figure, or one of them by its name.

    Parameters
    ----------
    document : mapping
        The document of a result.
    chart : str, optional
        The name of one chart; by default all of them are draw.
    ax : matplotlib Axes, optional
        Where to draw the one chart.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If the result has no such chart.
    MissingExtraError
        If Matplotlib is not installed.

    """
    charts = getattr(_module(document), "charts", None)
    available = charts(document) if charts else {}
    if chart is not None and chart not in available:
        raise InputError(f"There is no chart {chart!r}; there are {list(available)}.")
    if ax is not None and chart is None and len(available) != 1:
        raise InputError(f"One axes holds one chart: name one of {list(available)}.")
    if not available:
        raise InputError("This result has no chart: nothing in it has a value to draw.")
    from evenhand.report.figures import draw

    selection = available if chart is None else {chart: available[chart]}
    return draw(selection, document.get("title") or "", ax)


def report_of(document: Document) -> Report:
    """The report of a document, in blocks."""
    report: Report = _module(document).report_of(document)
    return report


def _module(document: Document) -> Any:
    """The module for documents of this schema, imported when first needed."""
    schema = document.get("schema")
    if schema not in MODULES:
        raise InputError(
            f"A report needs a document of schema {', '.join(MODULES)}; this one has "
            f"{schema!r}. Create it again with the result's document()."
        )
    return import_module(f"evenhand.report.{MODULES[schema]}")


__all__ = ["page", "snippet"]
