"""The audit for people: a page that opens anywhere, and a table for notebooks.

Both are made from the audit's document, a mapping of JSON values (schema "evenhand.audit/1"), so
that a page can be made anew from a stored file. No score is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from evenhand._errors import MissingExtraError


def page(document: Mapping[str, Any]) -> str:
    """One HTML file with everything in it: text, charts, style, script and the document itself."""
    _require_jinja()
    from evenhand.report.rendering import page as render

    return render(document)


def snippet(document: Mapping[str, Any]) -> str:
    """A compact HTML table of the findings, for notebooks."""
    _require_jinja()
    from evenhand.report.rendering import snippet as render

    return render(document)


def _require_jinja() -> None:
    if find_spec("jinja2") is None:
        raise MissingExtraError(
            'The HTML report needs Jinja2: pip install "evenhand[report]"', name="jinja2"
        )


__all__ = ["page", "snippet"]
