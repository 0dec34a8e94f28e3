"""Rows to fit a frontier on, and rows to evaluate its rules on."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._columns.encoding import check_lengths, classes
from evenhand._errors import InputError, InputTypeError
from evenhand._frontier.amounts import Amounts, read_amounts
from evenhand.mitigation.crossfit.rows import Codes, Floats, Rows, check_everyone, read_rows, stream


def split_amounts(
    rows: Amounts, test: Any, held_out: float | None, random_state: int
) -> tuple[Amounts, Amounts | None]:
    """Rows to fit on, and rows to evaluate on."""
    if test is not None:
        if held_out is not None:
            raise InputError("Give test rows or a share to hold out, not both.")
        if not isinstance(test, tuple | list) or len(test) != 3:
            raise InputTypeError("test is (y_true, y_score, sensitive_features) of other rows.")
        return rows, read_amounts(test[0], test[1], test[2], None, rows)
    if held_out is None:
        return rows, None
    drawn = _held_out(held_out, rows.codes, len(rows.whom.labels), random_state)
    return rows.take(~drawn), rows.take(drawn)


def _held_out(share: float, group: Codes, groups: int, random_state: int) -> Any:
    """A mask of the rows that are left out of the fit."""
    if not 0 < share < 1:
        raise InputError(f"held_out is a share between 0 and 1; it is {share}.")
    drawn = stream(random_state, 1).random(len(group)) < share
    if len(np.unique(group[~drawn])) < groups:
        raise InputError("Some group has no rows left to fit on: hold out less, or merge groups.")
    if not drawn.any():
        raise InputError(f"Of {len(drawn)} rows none was held out: hold out more than {share}.")
    return drawn


def decisions_of(y_pred: Any, rows: Rows) -> Floats:
    """The decisions in use as probabilities, 0 or 1."""
    if y_pred is None:
        if not rows.are_probabilities:
            share = np.average(rows.onehot[:, 1], weights=rows.weight)
            cut = np.quantile(rows.scores[:, 1], 1 - share)
            decided = (rows.scores[:, 1] > cut).astype(np.intp)
        else:
            decided = rows.scores.argmax(axis=1)
    else:
        column = classes(y_pred, "y_pred")
        check_lengths(y_pred=column, y_score=rows.group)
        strange = [label for label in column.labels if label not in rows.classes]
        if strange:
            raise InputError(f"y_pred holds {strange[:5]}, none of the classes {rows.classes}.")
        places = np.array([rows.classes.index(label) for label in column.labels], dtype=np.intp)
        decided = places[column.codes]
    return np.asarray(np.eye(len(rows.classes))[decided])


def with_positive_weight(rows: Rows, decisions: Floats) -> tuple[Rows, Floats]:
    """Rows with positive weight, and their decisions."""
    if rows.weight.all():
        return rows, decisions
    positive = rows.weight > 0
    if not rows.unknown:
        check_everyone(rows.group[positive], rows.groups)
    return rows.take(positive), decisions[positive]


def split_rows(
    rows: Rows, decisions: Floats, test: Any, held_out: float | None, random_state: int
) -> tuple[Rows, Floats, Rows | None, Floats]:
    """Rows to fit on and rows to evaluate on, each with their decisions."""
    if test is not None:
        if held_out is not None:
            raise InputError("Give test rows or a share to hold out, not both.")
        size = 4 if rows.group_proba is not None and not rows.unknown else 3
        if not isinstance(test, tuple | list) or len(test) != size:
            raise InputTypeError(
                "test is (y_true, y_score, sensitive_features) of other rows, and group_proba "
                "fourth where rules do not know the group."
            )
        test_rows = read_rows(*test[:3], group_proba=test[3] if size == 4 else None, like=rows)
        return rows, decisions, test_rows, decisions_of(None, test_rows)
    if held_out is None:
        return rows, decisions, None, decisions
    everyone = np.zeros_like(rows.group) if rows.unknown else rows.group
    groups = 1 if rows.unknown else len(rows.groups)
    drawn = _held_out(held_out, everyone, groups, random_state)
    return rows.take(~drawn), decisions[~drawn], rows.take(drawn), decisions[drawn]
