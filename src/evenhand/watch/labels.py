"""Labels from day to day: spellings of one label are unified, and parts in new words are refused.

A part with new labels would add rows that no rate counts as hits, so that a violated bound could
silently pass.
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

INTEGER = re.compile(r" *[-+]?(0|[1-9][0-9]{0,17}) *")  # as in CSV: "007" is a name
DECIMAL = re.compile(r" *[-+]?(0|[1-9][0-9]{0,17})?(\.[0-9]*)?([eE][-+]?[0-9]{1,3})? *")
TRUTH = {"true": True, "false": False}
NAMED = 6

LabelsByAxis = Mapping[str, Sequence[Label]]


def spelled(label: Label) -> Label:
    """The value of a label: for text, the number or truth value that it spells, if any.

    A single stray word turns a column of numbers into text.

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
    if INTEGER.fullmatch(label):
        return int(label)
    try:
        value = float(label) if DECIMAL.fullmatch(label) else np.nan
    except ValueError:  # a point alone
        return str(label)
    return value if np.isfinite(value) else str(label)


def aligned(counts: Tally, spellings: LabelsByAxis) -> Tally:
    """The same counts with labels in their earlier spelling, by axis."""
    axes, cells = list(counts.axes), counts.cells
    classes = [label for name in CLASSES for label in spellings.get(name, ())]
    for place, axis in enumerate(axes):
        if axis.kind == "edges" or axis.name.startswith(CLUSTER):
            continue
        before = classes if axis.name in CLASSES else spellings.get(axis.name, ())
        new = as_before(axis.labels, before)
        if [*map(repr, new)] == [*map(repr, axis.labels)]:  # 1 and True are equal
            continue
        labels = union(new)
        if cells is counts.cells:
            cells = cells.copy()
        cells[place] = positions(new, labels)[cells[place]]
        axes[place] = replace(axis, labels=labels)
    if cells is counts.cells:
        return counts
    return gathered(tuple(axes), cells, counts.sums, counts.notes, counts.scale)


def occurring(counts: Tally) -> dict[str, tuple[Label, ...]]:
    """The classes of rows by axis; truth and prediction share their lists of labels."""
    labels_by_axis = {}
    for axis in counts.axes:
        if axis.name in CLASSES:
            rows = counts.table(axis.name, of="rows")
            labels_by_axis[axis.name] = tuple(axis.labels[i] for i in np.flatnonzero(rows))
    return labels_by_axis


def widened(counts: Tally, classes: Sequence[Label], favorable: Label) -> Tally:
    """Counts of clusters with a cell for every class of the watch, whether it occurs or not.

    Rows count for the rate of a class that does not occur, and only rates are stored for clusters.
    So the first part fixes the classes: its own, both 0 and 1, and the favorable one.
    """
    occurring_labels = [label for labels in occurring(counts).values() for label in labels]
    new = [label for label in occurring_labels if label not in classes]
    if classes and new:
        raise InputError(
            f"The class {new[0]!r} is new; so far there were {_some_labels(classes)}. Rows in "
            "clusters are counted by rates of classes that the first part had: begin a new watch, "
            "with a first part or a baseline that has all of them."
        )
    if not classes:
        added = [] if favorable is None else [favorable]
        binary = (0, 1) if {*map(spelled, occurring_labels)} <= {0, 1} else ()
        classes = union(as_before((*occurring_labels, *added, *binary), occurring_labels))
    axes, cells = list(counts.axes), counts.cells.copy()
    for place, axis in enumerate(axes):
        if axis.name in CLASSES:
            there = union(classes, axis.labels)
            cells[place] = positions(axis.labels, there)[cells[place]]
            axes[place] = replace(axis, labels=there)
    return replace(counts, axes=tuple(axes), cells=cells)


def check_classes(counts: Tally, classes: LabelsByAxis, favorable: Label) -> None:
    """Refuse a part whose labels differ from earlier ones: its rows would dilute every rate.

    A part may lack the favorable label, or have new labels, but not both; unless there are two
    labels in all, including the favorable one: then everyone was selected so far, or nobody. The
    favorable label with other capitals or spaces is a different label.
    """
    before = union(*classes.values())
    for name, labels in occurring(counts).items():
        new = [label for label in labels if label not in before]
        if not new:
            continue
        lacks = favorable is not None and not any(is_label(each, favorable) for each in labels)
        combined = {*before, *labels}
        named = {*map(spelled, combined), *([] if favorable is None else [spelled(favorable)])}
        twins = spelling(favorable) in map(spelling, labels)
        if lacks and (len(named) > 2 or twins):
            kind = f"never has the favorable label {favorable!r}"
        elif before and len({*before} & {*labels}) == 0 and len(combined) > 2:
            kind = "has none of the labels there were so far"
        elif len({isinstance(label, str) for label in combined}) > 1:
            kind = "mixes text and numbers"
        else:
            continue
        axis_name = "predictions" if name == "yhat" else "true labels"
        so_far = f"; so far there were {_some_labels(before)}" if before else ""
        raise InputError(
            f"The column of {axis_name} {kind}: it has {_some_labels(labels)}{so_far}. Nothing was "
            "counted. Write its labels as before, or begin a new watch if they mean something else "
            "now."
        )


def is_label(label: Label, name: Label) -> bool:
    """Whether a label is the one that was named, in any type.

    >>> is_label(1, "1"), is_label("yes", "no"), is_label(True, "true")
    (True, False, True)
    """
    return bool(spelled(label) == spelled(name)) or str(label) == str(name)


def as_before(labels: Sequence[Label], before: Iterable[Label]) -> tuple[Label, ...]:
    """Labels in their earlier spelling; new ones are text if all earlier ones were."""
    spellings: dict[Label, Label] = {}
    for label in before:
        spellings.setdefault(spelled(label), label)
    are_text = {isinstance(label, str) for label in spellings.values()}
    convert: Any = {frozenset([True]): _text, frozenset([False]): spelled}.get(
        frozenset(are_text), lambda label: label
    )
    return tuple(spellings.setdefault(spelled(label), convert(label)) for label in labels)


def _text(label: Label) -> Label:
    """A number as text."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label) if isinstance(label, int | float) else label


def _some_labels(labels: Sequence[Label]) -> str:
    suffix = [f"{len(labels) - NAMED} more"] if len(labels) > NAMED else []
    return listing([*(repr(label) for label in labels[:NAMED]), *suffix])
