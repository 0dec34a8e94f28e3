"""A bound on a criterion, enforced by an augmented Lagrangian."""

from __future__ import annotations

from typing import Literal

import torch
from evenhand._errors import InputError
from evenhand.criteria import Criterion
from evenhand.measures import MeasureLike
from evenhand.torch.penalty import Noise, Penalty
from torch import Tensor, nn


class Constraint(nn.Module):
    """A term of the loss that grows until a criterion meets a bound.

    For the excess v − ε of the measured inequality over the bound the term is
    (max(0, λ + ρ (v − ε))² − λ²) / 2ρ. Every `update`, once an epoch or every few steps, raises the
    multiplier λ by ρ times the excess, so that the bound is met whatever the scale of the loss.

    Parameters
    ----------
    criterion : str or Criterion, default "statistical_parity"
        As for `Penalty`.
    measure : str, default "mpd"
        As for `Penalty`.
    epsilon : float
        The largest inequality that is allowed.
    groups : int
        The number of groups.
    rate : float, default 10.0
        The factor ρ.
    noise : {"subtract", "memory"} or None, default "memory"
        As for `Penalty`; with memory the excess is that of many batches.
    memory, temperature, hard, favorable, aggregate, p, q : object
        As for `Penalty`.

    References
    ----------
    Rockafellar (1973), A dual approach to solving nonlinear programming problems.

    Examples
    --------
    >>> import torch
    >>> bound = Constraint("statistical_parity", "mpd", epsilon=0.1, groups=2)
    >>> chances = torch.tensor([0.9, 0.7, 0.2, 0.4])
    >>> _ = bound(chances, group=torch.tensor([0, 0, 1, 1]))
    >>> bound.update()
    >>> round(float(bound.multiplier), 6)
    4.0

    """

    multiplier: Tensor
    excess: Tensor
    batches: Tensor
    pushed: Tensor

    def __init__(
        self,
        criterion: str | Criterion = "statistical_parity",
        measure: MeasureLike = "mpd",
        *,
        epsilon: float,
        groups: int,
        rate: float = 10.0,
        noise: Noise | None = "memory",
        memory: float = 0.99,
        temperature: float | None = None,
        hard: bool = False,
        favorable: int = 1,
        aggregate: Literal["mean", "worst"] = "mean",
        p: float | None = None,
        q: float | None = None,
    ) -> None:
        super().__init__()
        if not epsilon >= 0:
            raise InputError(f"epsilon={epsilon!r} is not a bound: it is at least 0.")
        if not rate > 0:
            raise InputError(f"rate={rate!r} is not positive.")
        self.penalty = Penalty(
            criterion, measure, groups=groups, noise=noise, memory=memory, temperature=temperature,
            hard=hard, favorable=favorable, aggregate=aggregate, p=p, q=q,
        )  # fmt: skip
        self.epsilon, self.rate = epsilon, rate
        self.register_buffer("multiplier", torch.zeros(()))
        self.register_buffer("excess", torch.zeros(()))
        self.register_buffer("batches", torch.zeros(()))
        self.register_buffer("pushed", torch.zeros(()), persistent=False)

    def forward(
        self,
        predictions: Tensor,
        y_true: Tensor | None = None,
        *,
        group: Tensor,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        """The term of the loss.

        Parameters
        ----------
        predictions, y_true, group, sample_weight : Tensor
            As for `Penalty.forward`.

        Returns
        -------
        Tensor
            A scalar.

        """
        value = self.penalty(predictions, y_true, group=group, sample_weight=sample_weight)
        excess = value - self.epsilon
        pushed = (self.multiplier + self.rate * excess).clamp_min(0)
        if self.training:  # in place, as in `update`, so that recorded CUDA graphs still see it
            self.excess += excess.detach()
            self.batches += 1
            self.pushed += pushed.detach()
        return torch.as_tensor((pushed**2 - self.multiplier**2) / (2 * self.rate))

    def update(self) -> None:
        """Raise or lower the multiplier by the mean excess of the batches since the last update."""
        excess = self.excess / self.batches.clamp_min(1)
        self.multiplier.copy_((self.multiplier + self.rate * excess).clamp_min(0))
        self.excess.zero_()
        self.batches.zero_()

    def extra_repr(self) -> str:
        """The settings, in a line."""
        return f"epsilon={self.epsilon}, rate={self.rate}"
