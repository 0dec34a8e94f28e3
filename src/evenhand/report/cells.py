"""The cells of a criterion as people read them: k = 0, c = 1."""

from __future__ import annotations

import re

from evenhand.report.formats import UNDEFINED, number

VARIABLES = re.compile(r"^\w+ over ([\w, ]+?) of ")
ALONE = ("", "all")  # the label of a criterion's only cell


def cell_name(label: str | None, formula: str) -> str:
    """A cell with the variables that the criterion's formula runs over.

    >>> cell_name("0 × 1", "worst over k, c of S over a of P(ŷ = c | y = k, a)")
    'k = 0, c = 1'
    >>> cell_name("0.1052153363264099", "worst over t of S over a of P(ŷ ≤ t | a)")
    't = 0.105'
    >>> cell_name("all", "S over a of correct / all")
    'all rows'
    """
    if label is None:
        return UNDEFINED
    if label.strip() in ALONE:
        return "all rows"
    parts = label.split(" × ")
    found = VARIABLES.match(formula)
    variables = found[1].split(", ") if found else []
    if len(variables) != len(parts):
        return label
    return ", ".join(
        f"{variable} = {_short(part)}" for variable, part in zip(variables, parts, strict=True)
    )


def within(label: str | None, formula: str) -> str:
    """Where a number was read, as the end of a phrase; nothing where there is one cell only.

    >>> within("1", "worst over c of S over a of P(ŷ = c | a)"), within("all", "")
    (', c = 1', '')
    """
    if label is None or label.strip() in ALONE:
        return ""
    return f", {cell_name(label, formula)}"


def _short(part: str) -> str:
    return number(float(part)) if re.fullmatch(r"-?\d+\.\d{5,}", part) else part
