"""Tables of text in Markdown, whose cells may hold any words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table; no cell can break out of it.

    >>> print(markdown_table(["group", "rows"], [["a|b", "3"]]))
    | group | rows |
    | --- | --- |
    | a\|b | 3 |
    """
    lines = [heads, ["---"] * len(heads), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    for mark in "\\|<>`*[]":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
