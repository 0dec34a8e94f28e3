"""Bad input is refused at the border, in one sentence, with the values and the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.column import Column
from evenhand._columns.encoding import encode, numbers
from evenhand._errors import InputError


def classes(values: Any, name: str) -> Column:
    """Encode a column of class labels."""
    return check_classes(encode(values, name), name)


def check_classes(column: Column, name: str) -> Column:
    """Refuse missing labels, and scores in their place."""
    if column.missing:
        raise InputError(f"{name} has {column.missing} missing labels; drop or fill those rows.")
    odd = [one for one in column.labels if isinstance(one, float) and not one.is_integer()]
    if odd:
        raise InputError(
            f"{name} holds {odd[0]!r}, which looks like a score, not a label. Pass labels here "
            "and scores as y_score=, or ask a regression criterion such as 'strong_parity'."
        )
    return column


def weights(sample_weight: Any) -> NDArray[np.float64] | None:
    """Read sample weights; refuse negative and non-finite ones."""
    if sample_weight is None:
        return None
    column = finite(sample_weight, "sample_weight")
    if len(column) and column.min() < 0:
        raise InputError(f"sample_weight has negative values, such as {column.min():g}.")
    return column


def finite(values: Any, name: str) -> NDArray[np.float64]:
    """Read a column of numbers; refuse NaN and infinities."""
    column = numbers(values, name)
    bad = np.flatnonzero(~np.isfinite(column))
    if len(bad):
        raise InputError(
            f"{name} has {len(bad)} values that are not finite, the first {column[bad[0]]} "
            f"in row {bad[0]}; drop or fill those rows."
        )
    return column


def check_lengths(**columns: Any) -> None:
    """Refuse columns of different lengths, and none at all."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        raise InputError(f"Columns differ in length: {lengths}.")
    if not max(lengths.values()):
        raise InputError("There are no rows to count.")
