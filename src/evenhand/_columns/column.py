"""A column of anything, as small integer codes and the labels they stand for."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.factorize import Codes, recode, smallest_unsigned

Label = Hashable


@dataclass(frozen=True, eq=False)
class Column:
    """Codes into labels; the labels are distinct, observed and sorted, and None is 'missing'.

    >>> Column(np.array([1, 0, 2, 1], np.uint8), ("a", "b", None)).missing
    1
    """

    codes: Codes
    labels: tuple[Label, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        if None not in self.labels:
            return 0
        return int(np.count_nonzero(self.codes == self.labels.index(None)))


def union(*lists: Iterable[Label]) -> tuple[Label, ...]:
    """Labels of any of the lists, sorted; 1, 1.0 and True are one label.

    >>> union(["b", 2], [True, "a", 1.0, None])
    (True, 2, 'a', 'b', None)
    """
    return tuple(sorted(dict.fromkeys(label for labels in lists for label in labels), key=_order))


def positions(labels: Iterable[Label], within: Sequence[Label]) -> NDArray[np.intp]:
    """Where each label stands within a longer list of labels."""
    where = {label: position for position, label in enumerate(within)}
    return np.array([where[label] for label in labels], dtype=np.intp)


def canonical(codes: NDArray[Any], labels: Iterable[Any]) -> Column:
    """Make a Column: every kind of missing is None, equal labels are one, labels are sorted."""
    plain = [None if _is_missing(label) else _plain(label) for label in labels]
    kept = union(plain)
    rank = positions(plain, kept).astype(smallest_unsigned(len(kept)))
    unchanged = np.array_equal(rank, np.arange(len(rank)))
    return Column(codes.astype(rank.dtype, copy=False) if unchanged else recode(rank, codes), kept)


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):  # pandas.NA refuses to be a truth value
        return True


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _order(label: Label) -> tuple[Any, ...]:
    """Sort numbers, then text, tuples, anything else, and last what is missing."""
    if label is None:
        return (9,)
    if isinstance(label, Real):
        return (0, label)
    if isinstance(label, str):
        return (1, label)
    if isinstance(label, tuple):
        return (2, *(_order(part) for part in label))
    if isinstance(label, datetime.date):
        return (3, label.isoformat())
    return (4, type(label).__name__, str(label))
