"""How evenhand speaks: names it suggests, numbers it writes, plurals, and tables in Markdown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from math import floor, isfinite, log10
from typing import Any

UNDEFINED = "–"
NOTHING = 1e-9  # rounding, not inequality


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """A hint at the nearest known name, with a space before it; empty where none is near.

    >>> did_you_mean("equal_odds", ["equalized_odds", "accuracy_parity"])
    " Did you mean 'equalized_odds'?"
    """
    near = difflib.get_close_matches(str(name), [str(other) for other in known], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def plural(count: float, noun: str, nouns: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(12500, "row"), plural(2, "criterion", "criteria")
    ('1 row', '12,500 rows', '2 criteria')
    """
    return f"{count:,.0f} {noun if count == 1 else nouns or noun + 's'}"


def number(value: float | None, digits: int = 3) -> str:
    """Three decimals, four if small and fewer if large, thousands set apart.

    >>> [number(x) for x in (0.20593, 0.00312, 0.0000021, 1, -1.5, 52041.2)]
    ['0.206', '0.0031', '<0.0001', '1', '−1.500', '52,041']
    >>> number(None), number(float("nan")), number(1e-17)
    ('–', '–', '0')
    """
    if value is None or not isfinite(value):
        return UNDEFINED
    size = abs(value)
    if size < NOTHING:
        return "0"
    if size < 1000 and size == int(size):
        return f"{value:.0f}".replace("-", "−")
    if size >= 1e9:
        return f"{value:.{digits}g}".replace("-", "−")
    if size < 0.00005:
        return "<0.0001" if value > 0 else "−<0.0001"
    decimals = max(0, digits + (size < 0.01) - max(0, floor(log10(size))))
    return f"{value:,.{decimals}f}".replace("-", "−")


def points(low: float) -> str:
    """A lower bound of a difference of rates in percentage points, rounded down.

    >>> points(0.0879), points(0.0004)
    ('8.7 percentage points', '0.04 percentage points')
    """
    tenths = int(1000 * low + 1e-9)
    return f"{tenths / 10 if tenths else 100 * low:{'.1f' if tenths else '.1g'}} percentage points"


def p_value(value: float | None) -> str:
    """A p-value without its leading zero.

    >>> p_value(0.0003), p_value(0.0213), p_value(0.31), p_value(1.0), p_value(None)
    ('<.001', '.021', '.31', '1', '–')
    """
    if value is None or not isfinite(value):
        return UNDEFINED
    if value < 0.001:
        return "<.001"
    return f"{value:.{3 if value < 0.1 else 2}f}".removeprefix("0") if value < 0.995 else "1"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table; no cell can break out of it.

    >>> print(markdown_table(["group", "rows"], [["a|b", "3"]]))
    | group | rows |
    | --- | --- |
    | a\|b | 3 |
    """
    lines = [heads, ["---"] * len(heads), *([escaped(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    r"""Text in one line, of which nothing is markup.

    >>> print(escaped("a <b> *c*"))
    a \<b\> \*c\*
    """
    for mark in "\\|<>`*[]":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
