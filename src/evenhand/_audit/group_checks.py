"""What cannot be groups: one alone, amounts, and rows that are each their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from evenhand._audit.evidence import Evidence
from evenhand._columns import Label
from evenhand._columns.bins import Bin
from evenhand._errors import InputError
from evenhand._groups import show
from evenhand._tasks import MOST_CLASSES, some_fraction


def check_several(labels: Sequence[Label]) -> None:
    """Refuse to compare one group with nobody."""
    if len(labels) < 2:
        raise InputError(
            f"There is one group only, {labels[0]!r}: nothing to compare it with. "
            "Check the sensitive column, or the filter before it."
        )


def check_names(columns: Sequence[str], labels: Sequence[Label]) -> None:
    """Refuse groups that are amounts: many different numbers, not all of them whole."""
    for i, name in enumerate(columns):
        values = {part_of(label, i, len(columns)) for label in labels}
        check_not_amounts(name, len(values), some_fraction(values))


def check_not_amounts(name: str, distinct: int, fraction: float | None) -> None:
    """Refuse a sensitive column of so many values, if one of them is a number with a fraction."""
    if fraction is None or distinct <= MOST_CLASSES:
        return
    raise InputError(
        f"The sensitive column {name!r} takes {distinct:,} different values, such as "
        f"{fraction:g}: amounts, not groups. Cut it into ranges, in Python with "
        f"evenhand.groups(..., bins={{{name!r}: 4}}); or make it text, if these are names."
    )


def check_sizes(views: Iterable[Evidence], columns: Sequence[str]) -> None:
    """Refuse groups that weigh nothing, and groups of which most have one row.

    Identifiers and amounts make such groups, alone or crossed with the other columns. Where there
    are more columns than are crossed, some crossings may be thin: another is examined then.
    """
    for view in views:
        weightless = np.flatnonzero(view.counted.table("group") <= 0)
        if len(weightless):
            raise InputError(
                f"The rows of the group {show(view.groups[weightless[0]])!r} weigh "
                "nothing. Drop those rows, or give them weight."
            )
        groups, alone = len(view.groups), int((view.rows == 1).sum())
        whole = len(view.columns) in (1, len(columns))
        if whole and groups > MOST_CLASSES and 2 * alone > groups:
            raise InputError(
                f"{alone:,} of the {groups:,} groups by {' × '.join(view.columns)} have one row "
                "each. Name fewer columns, cut numbers into ranges, or put rare groups together "
                'with min_count=30, rare="merge".'
            )


def part_of(label: Label, column: int, columns: int) -> Label:
    """The part of a group's label that one of several columns gave it; all of a merged group's."""
    if columns > 1 and isinstance(label, tuple) and not isinstance(label, Bin):
        parts: tuple[Label, ...] = label
        return parts[column]
    return label
