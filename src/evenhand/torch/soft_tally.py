"""Predictions counted as shares of rows, with gradients: the cells of a tally, by one scatter."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from evenhand._errors import InputError
from torch import Tensor


@dataclass(frozen=True, eq=False)
class SoftTally:
    """Sums over rows by true label, predicted label and group, of which a prediction is a share.

    Statistics and criteria read it as they read a `Tally`. Made by `soft_tally`.

    Parameters
    ----------
    cells : Tensor of shape (truths × groups, sums)
        What one scatter added up: shares of each class, weights and rows; before the weights, where
        noise is to be told, shares of each class times squared weights, squared shares times
        squared weights, and squared weights.
    truths, classes, n_groups : int
        How many true labels (1 where the truth is not known), predicted labels and groups.

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
        """Labels along an axis.

        Parameters
        ----------
        axis : {"y", "yhat", "group"}
            The axis.

        Returns
        -------
        tuple of int
            From 0.

        """
        return tuple(range({"y": self.truths, "yhat": self.classes, "group": self.n_groups}[axis]))

    def table(self, *names: str, of: str = "weight") -> Tensor:
        """Totals along the named axes, in that order.

        Parameters
        ----------
        *names : {"y", "yhat", "group"}
            The axes; the others are added up.
        of : {"weight", "share² weight²", "share weight²", "weight²", "rows"}, default "weight"
            Which sum. The last two, and "total", of weights, do not tell predicted labels apart.

        Returns
        -------
        Tensor
            With gradients of the predictions.

        """
        if "y" in names and self.truths == 1:
            raise InputError("This criterion needs the true labels: pass y_true.")
        each = self.cells.reshape(self.truths, self.n_groups, -1)
        starts = {"weight": 0, "share weight²": self.classes, "share² weight²": 2 * self.classes}
        if of in starts:
            shares = each[..., starts[of] : starts[of] + self.classes]
            table, axes = shares.permute(0, 2, 1), ["y", "yhat", "group"]
        else:
            at = {"weight²": -3, "total": -2, "rows": -1}[of]
            table, axes = each[..., at], ["y", "group"]
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
        Probabilities; of one column, those of the class 1 of two.
    y_true : Tensor of shape (rows,) or None
        True classes, whole numbers from 0.
    group : Tensor of shape (rows,)
        Groups, whole numbers from 0; rows of negative ones are left out.
    groups : int
        How many groups there are.
    sample_weight : Tensor of shape (rows,), optional
        Weights of the rows.
    squares : bool, default True
        Add up what the noise of the shares is estimated by, too.

    Returns
    -------
    SoftTally
        On the device of the predictions, with their gradients.

    Examples
    --------
    >>> import torch
    >>> chances = torch.tensor([0.25, 0.75, 0.5])
    >>> counts = soft_tally(chances, None, torch.tensor([0, 0, 1]), groups=2)
    >>> counts.table("yhat", "group")
    tensor([[1.0000, 0.5000],
            [1.0000, 0.5000]])

    """
    shares = as_shares(predictions)
    classes = shares.shape[1]
    place, truths = group, 1
    if y_true is not None:
        place, truths = y_true.long() * groups + group, classes
    ones = torch.ones_like(shares[:, :1])
    weight = ones if sample_weight is None else sample_weight.to(shares.dtype)[:, None]
    weighted, known = weight * shares, group >= 0
    parts = [weighted, weight, ones]
    if squares:
        parts[1:1] = [weight * weighted, weighted * weighted, weight * weight]
    columns = torch.cat(parts, dim=1) * known[:, None]
    empty = columns.new_zeros((truths * groups, columns.shape[1]))
    cells = empty.index_add(0, torch.where(known, place, 0), columns)
    return SoftTally(cells, truths, classes, groups)


def as_shares(predictions: Tensor) -> Tensor:
    """A column for each class."""
    if predictions.ndim == 1:
        return torch.stack([1 - predictions, predictions], dim=1)
    if predictions.ndim != 2:
        raise InputError(
            f"predictions has the shape {tuple(predictions.shape)}; it needs a row for each row of "
            "the data, and one column or one for each class."
        )
    if predictions.shape[1] == 1:
        return torch.cat([1 - predictions, predictions], dim=1)
    return predictions


def decided(shares: Tensor, temperature: float | None, *, hard: bool) -> Tensor:
    """Probabilities made as sharp as decisions: by a temperature, or wholly with its gradient."""
    sharp = shares
    if temperature is not None:
        small = torch.finfo(shares.dtype).tiny
        sharp = torch.softmax(shares.clamp_min(small).log() / temperature, dim=1)
    if not hard:
        return sharp
    chosen = torch.zeros_like(shares).scatter(1, shares.argmax(dim=1, keepdim=True), 1.0)
    return chosen + sharp - sharp.detach()
