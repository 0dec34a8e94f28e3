"""The document inside the page, for programs: JSON that no text in it can break out of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

GROUPS = 500  # beyond which the page holds the document of the most telling groups only


def embedded(document: Mapping[str, Any], most: int = GROUPS) -> str:
    r"""JSON without the characters that mean something to HTML.

    >>> print(embedded({"groups": [], "title": "</script>"}))
    {"groups": [], "title": "\u003c/script\u003e"}
    """
    told = abridged(document, most)
    text = json.dumps(told, ensure_ascii=True, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def abridged(document: Mapping[str, Any], most: int = GROUPS) -> Mapping[str, Any]:
    """The document itself, or with too many groups that of those which contribute most."""
    if len(document["groups"]) <= most:
        return document
    keep = _most_telling(document, most)
    named = {document["groups"][i]["label"] for i in keep}
    return {
        **document,
        "abridged": {"groups": len(keep), "of": len(document["groups"])},
        "groups": [document["groups"][i] for i in keep],
        "criteria": [_criterion(criterion, keep) for criterion in document["criteria"]],
        "findings": [_finding(finding, named) for finding in document["findings"]],
    }


def _most_telling(document: Mapping[str, Any], most: int) -> list[int]:
    place = {group["label"]: i for i, group in enumerate(document["groups"])}
    shares = [0.0] * len(document["groups"])
    for finding in document["findings"]:
        for part in finding["contributions"]:
            shares[place[part["group"]]] += part["share"] or 0.0
    order = sorted(range(len(shares)), key=shares.__getitem__, reverse=True)
    return sorted(order[:most])


def _criterion(criterion: Mapping[str, Any], keep: Sequence[int]) -> dict[str, Any]:
    columns = ("values", "low", "high", "rows")
    cells = [
        {**cell, **{column: _kept(cell[column], keep) for column in columns}}
        for cell in criterion["cells"]
    ]
    return {**criterion, "cells": cells}


def _finding(finding: Mapping[str, Any], named: set[str]) -> dict[str, Any]:
    parts = [part for part in finding["contributions"] if part["group"] in named]
    return {**finding, "contributions": parts, "left_out": finding["left_out"][: len(named)]}


def _kept(column: Sequence[Any] | None, keep: Sequence[int]) -> list[Any] | None:
    return None if column is None else [column[i] for i in keep]
