"""The audit as text: a headline and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evenhand.markdown import markdown_table

MOST_ROWS = 60


def markdown(document: dict[str, Any]) -> str:
    """Headline, findings, subgroups and notes of an audit's document."""
    findings = document["findings"]
    told = sum(one["verdict"] in ("disparity", "exceeds") for one in findings)
    by = " × ".join(document["group_columns"])
    parts = [
        f"# {document['title'] or 'Audit'}",
        f"{document['rows']:,} rows in {len(document['groups'])} groups by {by}. "
        f"{told} of {len(findings)} findings are more than chance explains.",
        _table(
            ("criterion", "measure", "value", "interval", "noise floor", "p adjusted", "verdict"),
            [_finding(one) for one in findings],
        ),
    ]
    flagged = [one for one in document["subgroups"] if one["flagged"]]
    if flagged:
        heads = ("subgroup", "rows", "statistic", "value", "all others", "differs at least by")
        parts += ["## Subgroups that surely differ", _table(heads, map(_subgroup, flagged))]
    if document["notes"]:
        parts += ["## Notes", "\n".join(f"- {note}" for note in document["notes"])]
    return "\n\n".join(parts) + "\n"


def _finding(one: dict[str, Any]) -> tuple[str, ...]:
    between = f"{shown(one['low'])} to {shown(one['high'])}"
    p = one["p_adjusted"]
    return (
        one["criterion"],
        one["measure"],
        shown(one["value"]),
        between,
        shown(one["floor"]),
        "–" if p is None else f"{p:.3f}" if p >= 0.001 else "<.001",
        one["verdict"],
    )


def _subgroup(one: dict[str, Any]) -> tuple[str, ...]:
    numbers = (shown(one[name]) for name in ("value", "rest", "at_least"))
    return (one["label"], f"{one['rows']:,}", one["statistic"], *numbers)


def _table(heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    kept = list(rows)
    text, hidden = markdown_table(heads, kept[:MOST_ROWS]), len(kept) - MOST_ROWS
    return f"{text}\n\n({hidden} more not shown)" if hidden > 0 else text


def shown(value: float | None) -> str:
    """Three significant digits; a dash for what is undefined."""
    return "–" if value is None else f"{value:.3g}"
