"""Predictions counted as shares of rows, with gradients: the cells of a tally, by one scatter."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from evenhand._errors import InputError
from evenhand.torch.inputs import TensorRows, read_rows
from torch import Tensor


@dataclass(frozen=True, eq=False)
class SoftTally:
    """Sums over rows by true label, predicted label and group, with predictions as shares.

    Statistics and criteria read it like a `Tally`. Made by `soft_tally`.

    Parameters
    ----------
    cells : Tensor of shape (truths × groups, sums)
        The sums of one scatter: shares of each class, weights and rows; before the weights, to
        estimate noise, shares of each class times squared weights, squared shares times squared
        weights, and squared weights.
    truths, classes, n_groups : int
        The numbers of true labels (1 if the truth is unknown), predicted labels and groups.

    """

    cells: Tensor
    truths: int
    classes: int
    n_groups: int

    @property
    def groups(self) -> tuple[int, ...]:
        """The groups, in the order of every table's last axis."""
        return tuple(range(self.n_groups))

    def labels(self, axis: str) -> tuple[int, ...]:
        """The labels along an axis.

        Parameters
        ----------
        axis : {"y", "yhat", "group"}
            The axis.

        Returns
        -------
        tuple of int
            Codes from 0.

        """
        return tuple(range({"y": self.truths, "yhat": self.classes, "group": self.n_groups}[axis]))

    def table(self, *names: str, of: str = "weight") -> Tensor:
        """Totals along the named axes, in that order.

        Parameters
        ----------
        *names : {"y", "yhat", "group"}
            The axes; the others are added up.
        of : {"weight", "share² weight²", "share weight²", "weight²", "rows"}, default "weight"
            The sum to read. "weight²", "total" (of weights) and "rows" are not by predicted label.

        Returns
        -------
        Tensor
            Totals, with gradients of the predictions.

        """
        if "y" in names and self.truths == 1:
            raise InputError("This criterion needs the true labels: pass y_true.")
        sums = self.cells.reshape(self.truths, self.n_groups, -1)
        starts = {"weight": 0, "share weight²": self.classes, "share² weight²": 2 * self.classes}
        if of in starts:
            shares = sums[..., starts[of] : starts[of] + self.classes]
            table, axes = shares.permute(0, 2, 1), ["y", "yhat", "group"]
        else:
            column = {"weight²": -3, "total": -2, "rows": -1}[of]
            table, axes = sums[..., column], ["y", "group"]
        for axis in [name for name in axes if name not in names]:
            table = table.sum(axes.index(axis))
            axes.remove(axis)
        return table.permute([axes.index(name) for name in names])


def soft_tally(
    predictions: Tensor,
    y_true: Tensor | None,
    group: Tensor,
    *,
    groups: int,
    sample_weight: Tensor | None = None,
    squares: bool = True,
) -> SoftTally:
    """Count predictions as shares of rows, by one scatter.

    Parameters
    ----------
    predictions : Tensor of shape (rows,) or (rows, classes)
        Probabilities; a single column is of class 1 of two.
    y_true : Tensor of shape (rows,) or None
        True classes, integers from 0.
    group : Tensor of shape (rows,)
        Groups, integers from 0; rows with negative groups are left out.
    groups : int
        The number of groups.
    sample_weight : Tensor of shape (rows,), optional
        Weights of the rows.
    squares : bool, default True
        Whether to include the sums that estimate the noise of the shares.

    Returns
    -------
    SoftTally
        The counts, on the device of the predictions and with their gradients.

    Examples
    --------
    >>> import torch
    >>> chances = torch.tensor([0.25, 0.75, 0.5])
    >>> counts = soft_tally(chances, None, torch.tensor([0, 0, 1]), groups=2)
    >>> counts.table("yhat", "group")
    tensor([[1.0000, 0.5000],
            [1.0000, 0.5000]])

    """
    rows = read_rows(predictions, y_true, group, sample_weight, groups=groups, of_labels=True)
    return count_shares(rows.predictions, rows, groups, squares=squares)


def count_shares(shares: Tensor, rows: TensorRows, groups: int, *, squares: bool) -> SoftTally:
    """Count shares of checked rows, for `soft_tally` and `Penalty`."""
    classes = shares.shape[1]
    place, truths = rows.group, 1
    if rows.y_true is not None:
        place, truths = rows.y_true * groups + rows.group, classes
    weight = rows.weight[:, None]
    weighted = weight * shares
    parts = [weighted, weight, rows.counted[:, None]]
    if squares:
        parts[1:1] = [weight * weighted, weighted * weighted, weight * weight]
    columns = torch.cat(parts, dim=1)
    empty = columns.new_zeros((truths * groups, columns.shape[1]))
    return SoftTally(empty.index_add(0, place, columns), truths, classes, groups)


def decided(shares: Tensor, temperature: float | None, *, hard: bool) -> Tensor:
    """Probabilities sharpened by a temperature; if `hard`, decisions with their gradient."""
    sharp = shares
    if temperature is not None:
        small = torch.finfo(shares.dtype).tiny
        sharp = torch.softmax(shares.clamp_min(small).log() / temperature, dim=1)
    if not hard:
        return sharp
    chosen = torch.zeros_like(shares).scatter(1, shares.argmax(dim=1, keepdim=True), 1.0)
    return chosen + sharp - sharp.detach()
