"""The task of the data (labels or numbers), the favorable label and the label of a score.

Every entry point uses these functions, so that the same rows are never read in two ways. What the
columns do not show must be passed; it is not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from evenhand._columns import Column, Label, encode
from evenhand._columns.bins import MOST_CLASSES, fraction_among, is_number
from evenhand._columns.codes import union
from evenhand._columns.encoding import numbers
from evenhand._errors import InputError
from evenhand._kinds import check_kinds, check_labels
from evenhand._words import did_you_mean

Task = Literal["binary", "multiclass", "regression", "ranking"]

TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression", "ranking")
WITHOUT_SAYING: tuple[tuple[Label, Label], ...] = ((0, 1), (-1, 1))
UNFAVORABLE = (0, -1)  # where it is the only label, the favorable one did not occur


def task_of(y_true: Any, y_pred: Any = None, task: str | None = None) -> Task:
    """The task: predicting one of two labels, one of several, or a number.

    Text and truth values are labels, and so are at most 20 different whole numbers; numbers with
    fractions are a regression. More whole numbers than that can be either, so the caller is asked.

    Parameters
    ----------
    y_true, y_pred : array-like or None
        True and predicted labels or values, if known.
    task : {"binary", "multiclass", "regression"}, optional
        The caller's own word; it is checked, and overrides what the columns show.

    Returns
    -------
    {"binary", "multiclass", "regression"}
        The task.

    Raises
    ------
    InputError
        If labels and numbers are mixed, if whole numbers can be either, or if there is no such
        task.

    Examples
    --------
    >>> task_of([0, 1, 1], [1, 0, 1]), task_of(["a", "b", "c"]), task_of([0.5, 2.0])
    ('binary', 'multiclass', 'regression')
    >>> task_of(range(50))
    Traceback (most recent call last):
    evenhand.InputError: y_true takes 50 different whole numbers, which can be labels or
    amounts; pass task="regression" or task="multiclass".

    """
    targets = read_targets(y_true, {} if y_pred is None else {"y_pred": y_pred}, task)
    if targets.are_numbers:
        return "regression"
    columns = (targets.y_true, *targets.predictions.values())
    labels = union(*(encode(values).labels for values in columns if values is not None))
    return task_of_labels([label for label in labels if label is not None], check_task(task))


class Targets(NamedTuple):
    """Truth and predictions, and whether they are numbers; labels may be encoded already."""

    are_numbers: bool
    y_true: Any
    predictions: dict[str, Any]


def read_targets(y_true: Any, predictions: Mapping[str, Any], task: str | None = None) -> Targets:
    """Read the truth, which may be None, and predictions by name, each once."""
    named_task = check_task(task)
    if named_task == "regression":
        return Targets(True, y_true, dict(predictions))
    truth = None if y_true is None else contents_of(y_true, "y_true")
    read = {name: contents_of(values, name) for name, values in predictions.items()}
    if named_task is None and is_regression(truth, list(read.values())):
        return Targets(True, y_true, dict(predictions))
    return Targets(
        False,
        truth if truth is None else truth.column or y_true,
        {name: contents.column or predictions[name] for name, contents in read.items()},
    )


def check_task(task: str | None) -> Task | None:
    """The task that the caller named, checked; None if none was named."""
    if task is None:
        return None
    check_kinds(task=task)
    for name in TASKS:
        if task == name:
            return name
    raise InputError(
        f"There is no task {task!r}.{did_you_mean(task, TASKS)} "
        "It is 'binary', 'multiclass', 'regression' or 'ranking'."
    )


def task_of_labels(labels: Sequence[Label], task: Task | None = None) -> Task:
    """The task of predicting one of these labels.

    >>> task_of_labels([0, 1]), task_of_labels(["a", "b", "c"]), task_of_labels([0], "multiclass")
    ('binary', 'multiclass', 'multiclass')
    """
    if task == "binary" and len(labels) > 2:
        raise InputError(
            f'task="binary" is about two labels; here are {len(labels)}: {_some(labels)}. '
            'Pass task="multiclass", or make them two.'
        )
    return task or ("binary" if len(labels) <= 2 else "multiclass")


def favorable_label(
    labels: Iterable[Label], favorable: Label = None, *, required: bool = True
) -> Label:
    """The label of the better outcome for people.

    Of 0 and 1, of −1 and 1 and of False and True it is the usual one; any other must be named,
    by itself or as it is written.

    Parameters
    ----------
    labels : iterable of labels
        The labels of the data, in order.
    favorable : label, optional
        The one that the caller named.
    required : bool, default True
        Whether to refuse labels of which none was named; else the answer is None.

    Returns
    -------
    label or None
        One of the labels, or None where none was named and none is required.

    Raises
    ------
    InputError
        If the label named is not there, or if none is named and it does not go without saying.

    Examples
    --------
    >>> favorable_label([0, 1]), favorable_label(["no", "yes"], "yes"), favorable_label([0, 1], "0")
    (1, 'yes', 0)
    >>> favorable_label(["no", "yes"], required=False)

    """
    choices = tuple(labels)
    if favorable is None:
        if choices in WITHOUT_SAYING:
            return choices[1]
        if not required:
            return None
        raise InputError(
            f"Which of the labels {_some(choices)} is the favorable one? Pass favorable=."
        )
    check_labels(favorable=favorable)
    return _matching(favorable, choices, f"The favorable label {favorable!r}")


def scored_label(
    labels: Sequence[Label], score_of: Label = None, favorable: Label = None
) -> Label | None:
    """The label, of two, that a single column of scores is about.

    Nothing is guessed: scikit-learn's `predict_proba[:, 1]` is of the label that sorts last, but
    callers who name a favorable label may mean that one. Where the two differ, an error asks.

    Parameters
    ----------
    labels : sequence of labels
        The labels of the data, in order.
    score_of : label, optional
        The one that the caller named.
    favorable : label, optional
        The favorable label, where the caller named it.

    Returns
    -------
    label or None
        One of the labels; None where they are not two.

    Raises
    ------
    InputError
        If the label named is not there, or if none is named and it could be either.

    Examples
    --------
    >>> scored_label([0, 1]), scored_label([0, 1], favorable=1), scored_label(["a", "b"], "a", "b")
    (1, 1, 'a')
    >>> scored_label([0, 1], favorable=0)
    Traceback (most recent call last):
    evenhand.InputError: Of which label is the score? predict_proba[:, 1] is that of 1, and the
    favorable label is 0: pass score_of=1 or score_of=0.

    """
    known = tuple(labels)
    if score_of is not None:
        check_labels(score_of=score_of)
        return _matching(score_of, known, f"score_of={score_of!r}")
    if len(known) != 2:
        return None
    try:
        last = max(str(label) if isinstance(label, str) else label for label in known)  # type: ignore[type-var]
    except TypeError:
        last = None
    if last is None or last != known[1]:  # of an ordered category, say, or of mixed types
        raise InputError(
            f"Of which of the labels {_some(known)} is the score? "
            f"Pass score_of={known[0]!r} or score_of={known[1]!r}."
        )
    if favorable is None or favorable_label(known, favorable) == known[1]:
        return known[1]
    raise InputError(
        f"Of which label is the score? predict_proba[:, 1] is that of {known[1]!r}, and the "
        f"favorable label is {known[0]!r}: pass score_of={known[1]!r} or score_of={known[0]!r}."
    )


def unseen_label(labels: Sequence[Label], favorable: Label) -> Label:
    """The favorable label that was named, where all rows have the other one; else None.

    For 0 and 1, or −1 and 1, the other label is known. For text it is the one that was named,
    unless that is only another spelling of the label in the data.

    >>> unseen_label([0], "1"), unseen_label(["no"], "yes"), unseen_label(["no"], "No ")
    (1, 'yes', None)
    """
    if favorable is None or len(labels) != 1:
        return None
    label = labels[0]
    if isinstance(label, str):
        same = not isinstance(favorable, str) or spelling(favorable) == spelling(label)
        return None if same else favorable
    for pair in WITHOUT_SAYING:
        if label in pair:
            opposite = pair[1 - pair.index(label)]
            opposite = bool(opposite) if isinstance(label, bool) else opposite
            if favorable == opposite or str(favorable) == str(opposite):
                return opposite
    return None


def spelling(label: Label) -> str:
    """A label as text, in lower case and without surrounding spaces."""
    return str(label).strip().casefold()


def _matching(label: Label, choices: Sequence[Label], what: str) -> Label:
    """The equal label of the data, or the one with the same text."""
    for choice in choices:
        if choice == label:
            return choice
    for choice in choices:
        if str(choice) == str(label):
            return choice
    raise InputError(
        f"{what} is not among the labels {_some(choices)}.{did_you_mean(label, choices)}"
    )


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a column that determine the task.

    `fraction` is one of its values that is not whole, `distinct` its number of values, and
    `column` its labels, if they had to be read.
    """

    name: str
    numeric: bool
    fraction: float | None = None
    distinct: int = 0
    column: Column | None = None

    @property
    def kind(self) -> str:
        """Its values in words."""
        if self.fraction is not None:
            return f"numbers such as {self.fraction:g}"
        many = self.numeric and self.distinct > MOST_CLASSES
        return "whole numbers" if many else "labels"


def contents_of(values: Any, name: str) -> Contents:
    """Read a column once; whole numbers and text are encoded on the way."""
    if _is_float(values):
        fraction = fraction_among(numbers(values, name))
        if fraction is not None:
            return Contents(name, True, fraction)
    column = encode(values, name)
    labels = [label for label in column.labels if label is not None]
    numeric = bool(labels) and all(is_number(label) for label in labels)
    fraction = fraction_among(np.array(labels, dtype=np.float64)) if numeric else None
    return Contents(name, numeric, fraction, len(labels), column)


def is_regression(truth: Contents | None, predictions: Sequence[Contents]) -> bool:
    """Whether the columns hold numbers rather than labels.

    Raises
    ------
    InputError
        If some hold labels and others numbers, or if whole numbers can be either.

    """
    columns = [column for column in (truth, *predictions) if column is not None]
    fractional = [column for column in columns if column.fraction is not None]
    if not fractional:
        _check_few(
            [column for column in columns if column.numeric and column.distinct > MOST_CLASSES]
        )
        return False
    labels = [column for column in columns if not column.numeric]
    if truth is not None and truth.fraction is None:
        labels += [truth] if truth.distinct <= 2 else []
    if truth is None or truth.fraction is None:  # whole numbers may still be labels
        labels += [column for column in predictions if column.fraction is None]
    if labels:
        raise InputError(
            f"{labels[0].name} holds {labels[0].kind}, and {fractional[0].name} "
            f"{fractional[0].kind}. If these are scores, pass them as y_score=, next to predicted "
            'labels; if the target is a number, pass task="regression".'
        )
    return True


def _check_few(many: Sequence[Contents]) -> None:
    if many:
        raise InputError(
            f"{many[0].name} takes {many[0].distinct} different whole numbers, which can be labels "
            'or amounts; pass task="regression" or task="multiclass".'
        )


def _is_float(values: Any) -> bool:
    """Whether the column's type says that it holds floating-point numbers."""
    if isinstance(values, np.ndarray):
        return bool(values.dtype.kind == "f")
    if isinstance(values, Column | list | tuple | range):
        return False
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    return isinstance(series, nw.Series) and bool(series.dtype.is_float())


def _some(labels: Sequence[Label], limit: int = 10) -> str:
    """The labels as a list, cut where it grows too long to read."""
    listed = ", ".join(repr(label) for label in labels[:limit])
    return f"[{listed}, …]" if len(labels) > limit else f"[{listed}]"
