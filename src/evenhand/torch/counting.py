"""Decisions counted on their device; only the counts are copied to the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import torch
from evenhand._columns import Label
from evenhand._data.tallies import Axis, Tally
from evenhand._errors import InputError
from evenhand.torch.cells import cell_counts
from evenhand.torch.shared import sum_counts
from torch import Tensor


class DeviceTally:
    """Counts of true label, decision and group over the batches of a loader.

    Parameters
    ----------
    classes : sequence of labels, or int
        The classes in the order of their codes, or their number.
    groups : sequence of labels, or int
        The groups in the order of their codes, or their number.

    Examples
    --------
    >>> import torch
    >>> from evenhand import CRITERIA
    >>> counts = DeviceTally(classes=2, groups=["a", "b"])
    >>> counts.update(torch.tensor([1, 0, 1]), torch.tensor([1, 1, 1]), torch.tensor([0, 1, 0]))
    >>> CRITERIA["accuracy_parity"](counts.tally(), measure="mpd")
    1.0

    """

    def __init__(self, classes: Sequence[Label] | int, groups: Sequence[Label] | int) -> None:
        self.classes, self.groups = _named(classes), _named(groups)
        self._counts: Tensor | None = None

    def update(self, predictions: Tensor, y_true: Tensor, group: Tensor) -> None:
        """Count a batch.

        Parameters
        ----------
        predictions : Tensor of shape (rows,) or (rows, classes)
            Decided classes as integers; or scores of each class, of which the largest is taken; or
            probabilities of class 1 of two, with a threshold of one half.
        y_true : Tensor of shape (rows,)
            True classes, integers from 0.
        group : Tensor of shape (rows,)
            Groups from 0; rows with negative groups are left out.

        """
        decided = predictions
        if predictions.ndim == 2:
            decided = predictions.argmax(dim=1)
        elif predictions.is_floating_point():
            decided = (predictions >= 0.5).long()
        if predictions.is_floating_point():  # NaN is no decision
            unknown = predictions.isnan().reshape(len(predictions), -1).any(dim=1)
            decided = torch.where(unknown, -1, decided)
        counted = cell_counts(y_true, decided, group, len(self.classes), len(self.groups))
        self._counts = counted if self._counts is None else self._counts + counted

    def tally(self) -> Tally:
        """The counts of all processes, for every criterion, interval and audit.

        Returns
        -------
        Tally
            Counts like those of `evenhand.tally`.

        Raises
        ------
        InputError
            If a class or group was out of range, a prediction was NaN, or nothing was counted.

        """
        if self._counts is None:
            raise InputError("Nothing was counted yet.")
        shape = (len(self.classes), len(self.classes), len(self.groups))
        *cells_counted, unknown, _ = sum_counts(self._counts).tolist()
        if unknown:
            raise InputError(
                f"{unknown:,} rows are beyond the {shape[0]} classes and {shape[2]} groups that "
                "were named, or have predictions that are NaN."
            )
        counts = np.array(cells_counted, dtype=np.int64)
        observed = np.flatnonzero(counts)
        names: Any = (("y", self.classes), ("yhat", self.classes), ("group", self.groups))
        cells = np.array(np.unravel_index(observed, shape), dtype=np.intp)
        axes = tuple(Axis(name, labels) for name, labels in names)
        return Tally(axes, cells, {"rows": counts[observed]})

    def reset(self) -> None:
        """Reset the counts."""
        self._counts = None


def _named(labels: Sequence[Label] | int) -> tuple[Label, ...]:
    return tuple(range(labels)) if isinstance(labels, int) else tuple(labels)
