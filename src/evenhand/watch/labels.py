"""Labels from day to day: two spellings of one label are one, and parts in other words are refused.

A part whose labels are new would add rows that no rate counts as hits: a bound that was violated
would come to be kept, and nobody would know why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand._columns import Bin, Label
from evenhand._columns.codes import positions, union
from evenhand._data.groups import CLUSTER
from evenhand._data.tallies import CLASSES, Tally, gathered
from evenhand._data.tasks import spelling
from evenhand._errors import InputError
from evenhand._words import listing

WHOLE = re.compile(r" *[-+]?(0|[1-9][0-9]{0,17}) *")  # as in CSV: "007" is a name
DECIMAL = re.compile(r" *[-+]?(0|[1-9][0-9]{0,17})?(\.[0-9]*)?([eE][-+]?[0-9]{1,3})? *")
TRUTH = {"true": True, "false": False}
NAMED = 6

Seen = Mapping[str, Sequence[Label]]


def spelled(label: Label) -> Label:
    """What a label says, whether as text or not: the number or truth value that a text spells.

    One stray word makes a column of numbers one of text.

    >>> spelled("1"), spelled("1.0"), spelled("true"), spelled("yes"), spelled(("a", "2"))
    (1, 1.0, True, 'yes', ('a', 2))
    >>> spelled("007")
    '007'
    """
    if isinstance(label, tuple) and not isinstance(label, Bin):
        return tuple(spelled(part) for part in label)
    if not isinstance(label, str):
        return label
    if label in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return TRUTH[label.lower()]
    if WHOLE.fullmatch(label):
        return int(label)
    try:
        value = float(label) if DECIMAL.fullmatch(label) else np.nan
    except ValueError:  # a point alone
        return str(label)
    return value if np.isfinite(value) else str(label)


def aligned(counts: Tally, known: Seen) -> Tally:
    """The same counts, with labels as they were spelled before, by axis."""
    axes, cells = list(counts.axes), counts.cells
    classes = [label for name in CLASSES for label in known.get(name, ())]
    for at, axis in enumerate(axes):
        if axis.kind == "edges" or axis.name.startswith(CLUSTER):
            continue
        before = classes if axis.name in CLASSES else known.get(axis.name, ())
        new = as_before(axis.labels, before)
        if [*map(repr, new)] == [*map(repr, axis.labels)]:  # 1 and True are equal
            continue
        labels = union(new)
        if cells is counts.cells:
            cells = cells.copy()
        cells[at] = positions(new, labels)[cells[at]]
        axes[at] = replace(axis, labels=labels)
    if cells is counts.cells:
        return counts
    return gathered(tuple(axes), cells, counts.sums, counts.notes, counts.scale)


def occurring(counts: Tally) -> dict[str, tuple[Label, ...]]:
    """By axis, the classes that rows have: truth and prediction share their lists of labels."""
    found = {}
    for axis in counts.axes:
        if axis.name in CLASSES:
            rows = counts.table(axis.name, of="rows")
            found[axis.name] = tuple(axis.labels[i] for i in np.flatnonzero(rows))
    return found


def widened(counts: Tally, kept: Sequence[Label], favorable: Label) -> Tally:
    """Counts of clusters with a cell for every class that is kept, whether rows have it or not.

    Rows count for the rate of a class that none of them has; and of clusters, only rates are kept.
    So their classes are known from the first part on: its own, 0 and 1 together, and the favorable.
    """
    own = [label for labels in occurring(counts).values() for label in labels]
    new = [label for label in own if label not in kept]
    if kept and new:
        raise InputError(
            f"The class {new[0]!r} is new; so far there were {_some(kept)}. Rows in clusters "
            "are counted by rates of classes that the first part had: begin a new "
            "watch, with a first part or a baseline that has all of them."
        )
    if not kept:
        more = [] if favorable is None else [favorable]
        binary = (0, 1) if {*map(spelled, own)} <= {0, 1} else ()
        kept = union(as_before((*own, *more, *binary), own))
    axes, cells = list(counts.axes), counts.cells.copy()
    for at, axis in enumerate(axes):
        if axis.name in CLASSES:
            there = union(kept, axis.labels)
            cells[at] = positions(axis.labels, there)[cells[at]]
            axes[at] = replace(axis, labels=there)
    return replace(counts, axes=tuple(axes), cells=cells)


def check_classes(counts: Tally, known: Seen, favorable: Label) -> None:
    """Refuse a part in other words than those before: its rows would thin out every rate.

    A part may lack the favorable label, or have new labels, but not both; unless there are two
    labels in all, the favorable one among them: then everyone was selected so far, or nobody. The
    favorable one in other capitals or spaces is another label.
    """
    before = union(*known.values())
    for name, labels in occurring(counts).items():
        new = [label for label in labels if label not in before]
        if not new:
            continue
        lacks = favorable is not None and not any(is_label(each, favorable) for each in labels)
        together = {*before, *labels}
        named = {*map(spelled, together), *([] if favorable is None else [spelled(favorable)])}
        twins = spelling(favorable) in map(spelling, labels)
        if lacks and (len(named) > 2 or twins):
            what = f"never has the favorable label {favorable!r}"
        elif before and len({*before} & {*labels}) == 0 and len(together) > 2:
            what = "has none of the labels there were so far"
        elif len({isinstance(label, str) for label in together}) > 1:
            what = "mixes text and numbers"
        else:
            continue
        of = "predictions" if name == "yhat" else "true labels"
        so_far = f"; so far there were {_some(before)}" if before else ""
        raise InputError(
            f"The column of {of} {what}: it has {_some(labels)}{so_far}. Nothing was counted. "
            "Write its labels as before, or begin a new watch if they mean something else now."
        )


def is_label(label: Label, name: Label) -> bool:
    """Whether a label is the one that someone named, in whatever type.

    >>> is_label(1, "1"), is_label("yes", "no"), is_label(True, "true")
    (True, False, True)
    """
    return bool(spelled(label) == spelled(name)) or str(label) == str(name)


def as_before(labels: Sequence[Label], before: Iterable[Label]) -> tuple[Label, ...]:
    """Labels as they were spelled before; new ones are text where all were, or no text."""
    known: dict[Label, Label] = {}
    for label in before:
        known.setdefault(spelled(label), label)
    are_text = {isinstance(label, str) for label in known.values()}
    convert: Any = {frozenset([True]): _text, frozenset([False]): spelled}.get(
        frozenset(are_text), lambda label: label
    )
    return tuple(known.setdefault(spelled(label), convert(label)) for label in labels)


def _text(label: Label) -> Label:
    """A number as text."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label) if isinstance(label, int | float) else label


def _some(labels: Sequence[Label]) -> str:
    more = [f"{len(labels) - NAMED} more"] if len(labels) > NAMED else []
    return listing([*(repr(label) for label in labels[:NAMED]), *more])
