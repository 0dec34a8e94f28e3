"""The kind of value each option takes, declared once by name and checked by every function.

Values are checked by the functions that read them; a list in place of a number, say, would
otherwise raise an unclear error where it is first used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from evenhand._errors import InputError, InputTypeError

MOST_SHOWN = 200  # characters of a value in an error


class Kind(NamedTuple):
    """The types that an option takes, in words and as classes."""

    words: str
    types: tuple[type, ...]
    callable: bool = False

    def takes(self, value: Any) -> bool:
        """Whether a value is of the kind; booleans are not numbers, and arrays are not names."""
        if self.callable and callable(value):
            return True
        if isinstance(value, bool | np.bool_) and bool not in self.types:
            return False
        if isinstance(value, np.ndarray) and value.ndim == 0:  # it has the methods of a list
            return False
        return isinstance(value, self.types)


NAME = Kind("a name", (str,))
NAME_OR_NONE = Kind("a name", (str, type(None)))
FUNCTION_OR_NONE = Kind("a name or a function", (str, type(None)), callable=True)
KINDS: dict[str, Kind] = {
    "aggregate": FUNCTION_OR_NONE,
    "also": Kind("a mapping or a list of criteria", (Mapping, list, tuple)),
    "assuming": NAME_OR_NONE,
    "at_least": Kind("a mapping of rates to numbers", (Mapping, type(None))),
    "at_most": Kind("a mapping of rates to numbers", (Mapping, type(None))),
    "bins": Kind('a mapping from columns to bins, such as {"age": 4}', (Mapping, type(None))),
    "capacity": Kind("a number", (Real, type(None))),
    "classes": Kind("a list of labels", (Collection, type(None))),
    "confidence": Kind("a number between 0 and 1", (Real,)),
    "control": NAME,
    "criteria": Kind("a criterion, or a list of these", (Iterable, type(None)), callable=True),
    "criterion": Kind("a criterion or its name", (str,), callable=True),
    "dataset": Kind("text", (str, type(None))),
    "depth": Kind("a whole number", (Integral,)),
    "dialect": NAME,
    "difference": Kind("a number", (Real, type(None))),
    "draw": Kind("True or False", (bool, np.bool_)),
    "fay": Kind("a number between 0 and 1", (Real, type(None))),
    "g": FUNCTION_OR_NONE,
    "groupings": Kind("a mapping of names to functions", (Mapping, type(None))),
    "held_out": Kind("a share between 0 and 1", (Real, type(None))),
    "inconclusive": NAME,
    "late": Kind("True or False", (bool, np.bool_)),
    "limits": Kind("a mapping of criteria to pairs of numbers", (Mapping, type(None))),
    "margin": Kind("a number", (Real, type(None))),
    "measure": FUNCTION_OR_NONE,
    "measures": Kind("a measure, or a list of these", (Collection,)),
    "method": NAME,
    "min_count": Kind("a whole number", (Integral,)),
    "missing": NAME,
    "model": Kind("text", (str, type(None))),
    "power": Kind("a number between 0 and 1", (Real,)),
    "quiet_days": Kind("a number", (Real,)),
    "rare": NAME,
    "rate": Kind("a number between 0 and 1", (Real, type(None))),
    "recalibrate": Kind("True or False", (bool, np.bool_)),
    "remember": Kind("a whole number", (Integral,)),
    "replicates": Kind("a whole number", (Integral, type(None))),
    "sums": Kind("a mapping of names to columns", (Mapping, type(None))),
    "task": NAME_OR_NONE,
    "tau": Kind("a number", (Real, type(None))),
    "title": Kind("text", (str, type(None))),
    "top_k": Kind("a whole number", (Integral, type(None))),
    "transform": NAME_OR_NONE,
    "truth": NAME_OR_NONE,
    "verdicts": Kind("True or False", (bool, np.bool_)),
    "window": Kind("a whole number", (Integral,)),
}


def check_kinds(**options: Any) -> None:
    """Refuse an option of the wrong kind.

    >>> check_kinds(confidence=None)
    Traceback (most recent call last):
    evenhand.InputTypeError: confidence must be a number between 0 and 1, not None.
    """
    for name, value in options.items():
        if name in KINDS and not KINDS[name].takes(value):
            first = name == "criterion" and hasattr(value, "shape")
            way_out = (
                " It comes before the columns, as in "
                'evaluate("statistical_parity", y_true, y_pred, sensitive_features=...).'
            )
            raise InputTypeError(
                f"{name} must be {KINDS[name].words}, not {brief(value)}.{way_out if first else ''}"
            )


def brief(value: Any) -> str:
    """A value for an error message: columns and tables by their kind and size only.

    >>> brief(3), brief(np.zeros(4))
    ('3', 'an ndarray of 4 values')
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        kind = type(value).__name__
        article = "an" if kind[:1].lower() in "aeio" or kind == "ndarray" else "a"
        size = f"{shape[0]} values" if len(shape) == 1 else f"shape {shape}"
        return f"{article} {kind} of {size}"
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def check_columns(**columns: Any) -> None:
    """Refuse invalid names of columns, several where one is expected, and one in two roles.

    >>> check_columns(y_pred=["a"])
    Traceback (most recent call last):
    evenhand.InputTypeError: y_pred must be the name of a column, not ['a'].
    """
    for name, value in columns.items():
        several = name in ("sensitive_features", "strata", "cluster", "query")
        names = value if several and isinstance(value, list | tuple) else [value]
        if not all(isinstance(column, str) for column in names if value is not None):
            words = "the name of a column" + (", or a list of names" if several else "")
            way_out = ""
            if any(isinstance(column, int) and not isinstance(column, bool) for column in names):
                way_out = " If numbers name the columns, pass frame.rename(columns=str) and text."
            elif any(isinstance(column, tuple) for column in names):
                way_out = (
                    " If the columns have several levels, join them first: "
                    "frame.columns = frame.columns.map('_'.join)."
                )
            raise InputTypeError(f"{name} must be {words}, not {brief(value)}.{way_out}")
    check_roles(**columns)


ROLES = ("y_true", "y_pred", "y_score", "rate", "sensitive_features")


def check_roles(**columns: Any) -> None:
    """Refuse one column in two roles: a prediction that is compared with itself is always right.

    >>> check_roles(y_true="p", y_pred="p")
    Traceback (most recent call last):
    evenhand.InputError: The column 'p' is named twice, as y_true and as y_pred. Compared with
    itself it shows nothing: name another.
    """
    roles: dict[str, str] = {}
    for role in ROLES:
        value = columns.get(role)
        for name in [value] if isinstance(value, str) else value or ():
            if roles.setdefault(name, role) != role:
                raise InputError(
                    f"The column {name!r} is named twice, as {roles[name]} and as {role}. "
                    "Compared with itself it shows nothing: name another."
                )


def check_distinct(**columns: Any) -> None:
    """Refuse one array in two roles; equal values are fine, since a model may be perfect.

    >>> y = np.array([0, 1])
    >>> check_distinct(y_true=y, y_pred=y.copy())
    >>> check_distinct(y_true=y, y_pred=y)
    Traceback (most recent call last):
    evenhand.InputError: y_true and y_pred are one and the same column. Compared with itself it
    shows nothing: pass another.
    """
    arguments = [(role, values) for role, values in columns.items() if values is not None]
    for at, (role, values) in enumerate(arguments):
        for first, compared in arguments[:at]:
            if values is compared or _place(values) == _place(compared) is not None:
                raise InputError(
                    f"{first} and {role} are one and the same column. Compared with itself it "
                    "shows nothing: pass another."
                )


def _place(values: Any) -> tuple[Any, ...] | None:
    """The memory address and name of a column that is an array or a view of one; else None.

    pandas lets a column that is assigned from another share its memory: they have two names.
    """
    if not isinstance(getattr(values, "dtype", None), np.dtype) or not np.size(values):
        return None
    array = np.asarray(values)
    where = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str
    return (getattr(values, "name", None), *where)


def check_names(**names: Any) -> None:
    """Refuse names that are not text.

    >>> check_names(criterion=3)
    Traceback (most recent call last):
    evenhand.InputTypeError: criterion must be a name, not 3.
    """
    for name, value in names.items():
        if not isinstance(value, str):
            raise InputTypeError(f"{name} must be a name, not {brief(value)}.")


def check_labels(**labels: Any) -> None:
    """Refuse invalid labels: a list, an array, or a missing value such as NaN.

    >>> check_labels(favorable=float("nan"))
    Traceback (most recent call last):
    evenhand.InputTypeError: favorable must be one label, not nan.
    """
    for name, label in labels.items():
        if label is not None and not _is_label(label):
            raise InputTypeError(f"{name} must be one label, not {brief(label)}.")


def _is_label(value: Any) -> bool:
    try:
        hash(value)
        return bool(value == value)
    except (TypeError, ValueError):  # arrays and series have no hash, and pandas.NA equals nothing
        return False
