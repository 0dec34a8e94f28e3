"""Rules as stored text: with a checksum, and validated when read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import numpy as np

from evenhand._errors import EvenhandError, InputError
from evenhand.mitigation.deploy.description import Grouping

MOST_TEXT = 1 << 26  # characters of a rule that is read


def stored(content: Mapping[str, Any]) -> str:
    """The content as JSON, with a checksum."""
    text = json.dumps(content, default=str)
    return json.dumps({**json.loads(text), "checksum": _checksum(text)})


def restored(text: str, name: str) -> dict[str, Any]:
    """The stored content, or an error if it is not of this format or was changed since."""
    if isinstance(text, str | bytes) and len(text) > MOST_TEXT:
        raise InputError(
            f"This is not an {name!r}: none has {len(text):,} characters, more than {MOST_TEXT:,}."
        )
    try:
        content = json.loads(text, parse_constant=_no_number)
    except (TypeError, ValueError, RecursionError) as failure:
        raise InputError(f"This is not an {name!r}: {failure}.") from failure
    format_ = content.get("format") if isinstance(content, dict) else None
    if not isinstance(content, dict) or format_ != name:
        raise InputError(f"This is not an {name!r}: its format is {format_!r}.")
    if content.pop("checksum", None) != _checksum(json.dumps(content)):
        raise InputError(
            "The rule is damaged: it has no checksum, or that of other contents. Write it with "
            "to_json again."
        )
    return content


@contextmanager
def whole_rule() -> Iterator[None]:
    """Report any inconsistency as a damaged rule."""
    try:
        yield
    except EvenhandError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as failure:
        raise InputError(f"The rule is damaged: {failure!r}.") from failure


def grouping_of(content: Mapping[str, Any]) -> Grouping | None:
    """The grouping of persons; None where the rule has none."""
    groups = content.get("groups")
    if groups is None:
        return None
    return Grouping(
        listed(groups["columns"]),
        tuple(map(listed, listed(groups["labels"]))),
        {name: listed(cut) for name, cut in groups["cuts"].items()},
        listed(groups["names"]),
    )


def listed(values: Any) -> tuple[Any, ...]:
    """The values of a list; refuses text, which would pass for a list of letters."""
    if not isinstance(values, list):
        raise TypeError(f"{values!r:.60} is not a list")
    return tuple(values)


def check_grouping(grouping: Grouping, pools: int) -> None:
    """Refuse groups that do not fit their columns, or whose number is not that of the pools."""
    columns, labels = grouping.columns, grouping.labels
    fits = (
        all(isinstance(name, str) for name in (*columns, *grouping.names))
        and len(set(columns)) == len(columns) > 0
        and len(set(labels)) == len(labels) == pools
        and len(grouping.names) in (0, pools)
        and all(len(label) == len(columns) for label in labels)
        and set(grouping.cuts) <= set(columns)
        and all(map(_are_edges, grouping.cuts.values()))
        and all(
            type(value) is int and 0 <= value <= len(grouping.cuts[name])
            for label in labels
            for name, value in zip(columns, label, strict=True)
            if name in grouping.cuts
        )
    )
    if not fits:
        raise InputError("The rule is damaged: its groups do not fit its columns and pools.")


def _are_edges(cut: tuple[Any, ...]) -> bool:
    numbers = all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in cut)
    return numbers and all(map(np.isfinite, cut)) and sorted(cut) == list(cut)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _checksum(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:32]
