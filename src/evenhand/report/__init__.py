"""The audit for people: a page that opens anywhere, and a table for notebooks.

Both are made from the audit's document, a mapping of JSON values (schema "evenhand.audit/3"), so
that a page can be made anew from a stored file. No score is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand._errors import require


def page(document: Mapping[str, Any]) -> str:
    """One HTML file with everything in it: text, charts, style, script and the document itself.

    Parameters
    ----------
    document : mapping
        An audit's document: `Audit.document()`, or what `Audit.to_json` wrote.

    Returns
    -------
    str
        The page. It opens offline, and asks for nothing from the network.

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
    >>> page(audit.document())[:15]
    '<!doctype html>'

    """
    _require_jinja()
    from evenhand.report.rendering import page as render

    return render(document)


def snippet(document: Mapping[str, Any]) -> str:
    """A compact HTML table of the findings, for notebooks.

    Parameters
    ----------
    document : mapping
        An audit's document: `Audit.document()`, or what `Audit.to_json` wrote.

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
    _require_jinja()
    from evenhand.report.rendering import snippet as render

    return render(document)


def comparison_page(document: Mapping[str, Any]) -> str:
    """A comparison of models as one HTML file: table, pictures, and every number folded.

    Parameters
    ----------
    document : mapping
        A comparison's document: `Comparison.document()`, or what `Comparison.to_json` wrote.

    Returns
    -------
    str
        The page. It opens offline, asks for nothing from the network, and has no script.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.

    Examples
    --------
    >>> import evenhand
    >>> models = {"even": [1, 0] * 40, "uneven": [1, 0] * 20 + [1, 1] * 20}
    >>> found = evenhand.compare(None, models, sensitive_features=["a"] * 40 + ["b"] * 40)
    >>> comparison_page(found.document())[:15]
    '<!doctype html>'

    """
    _require_jinja()
    from evenhand.report.rendering import comparison_page as render

    return render(document)


def standard_page(document: Mapping[str, Any]) -> str:
    """The page that a standard asks for as one HTML file, ready to print.

    Parameters
    ----------
    document : mapping
        A standard's document: `Audit.document(standard=name)`.

    Returns
    -------
    str
        The page. It opens offline, asks for nothing from the network, and has no script.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.

    Examples
    --------
    >>> import evenhand
    >>> selected = [1] * 30 + [0] * 20 + [1] * 20 + [0] * 30
    >>> found = evenhand.audit(None, selected, sensitive_features=["M"] * 50 + ["F"] * 50)
    >>> standard_page(found.document(standard="ugesp"))[:15]
    '<!doctype html>'

    """
    _require_jinja()
    from evenhand.report.rendering import standard_page as render

    return render(document)


def watch_page(document: Mapping[str, Any]) -> str:
    """A watch as one HTML file: every criterion over time with its band, and what changed.

    Parameters
    ----------
    document : mapping
        A watch's document, of schema "evenhand.watch-report/1".

    Returns
    -------
    str
        The page. It opens offline, asks for nothing from the network, and has no script.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.

    Examples
    --------
    >>> import evenhand
    >>> watch = evenhand.Watch("statistical_parity", favorable=1)
    >>> counts = evenhand.tally(None, [1, 0] * 40, sensitive_features=["a"] * 40 + ["b"] * 40)
    >>> watch.update(counts, part="Monday")
    True
    >>> watch.to_html()[:15]
    '<!doctype html>'

    """
    _require_jinja()
    from evenhand.report.rendering import watch_page as render

    return render(document)


def _require_jinja() -> None:
    require("jinja2", purpose="The HTML report", extra="report")


__all__ = ["comparison_page", "page", "snippet", "standard_page", "watch_page"]
