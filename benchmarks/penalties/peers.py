"""Penalties of others, from their papers, and ours in the same form.

"norm" and "kl" are those of fairret (Buyl, Defrance and De Bie 2024): the norm of the groups'
deviations from the overall rate, over it; and the divergence of the groups' rates from it. "hsic"
has linear kernels (Gretton et al. 2005). Of several classes they are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from evenhand.torch import Penalty
from torch import Tensor

Term = Callable[[Tensor, Tensor, Tensor], Tensor]  # of shares, true labels and groups


def norm(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """Of the groups' means less the overall one, over it."""
    means, seen = group_means(values, group, groups)
    overall = values.mean(0)
    return torch.where(seen[:, None], (means - overall).abs() / overall.abs(), 0.0).sum()


def divergence(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """Between a group's rate and the overall one, as Bernoulli variables."""
    means, seen = group_means(values, group, groups)
    overall = values.mean(0).detach()
    means = means.clamp(1e-6, 1 - 1e-6)
    parts = means * (means / overall).log() + (1 - means) * ((1 - means) / (1 - overall)).log()
    return torch.where(seen[:, None], parts, 0.0).sum()


def hsic(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """Squared covariance of predictions and groups."""
    ones = torch.nn.functional.one_hot(group, groups).to(values.dtype)
    covariance = (ones - ones.mean(0)).T @ (values - values.mean(0)) / len(values)
    return groups * (covariance**2).sum()


def group_means(values: Tensor, group: Tensor, groups: int) -> tuple[Tensor, Tensor]:
    """By group and column, and which groups there are."""
    total = values.new_zeros((groups, values.shape[1])).index_add(0, group, values)
    rows = values.new_zeros(groups).index_add(0, group, torch.ones_like(values[:, 0]))
    return total / rows.clamp_min(1)[:, None], rows > 0


def terms(
    classes: int, groups: int, batches: int, device: str
) -> dict[str, tuple[Callable[[], Term], Any]]:
    """Every penalty by its name, with how to make it and its strengths."""
    memory = min(0.99, 1 - 1 / batches)  # at most of an epoch

    def ours(criterion: str, measure: str, **options: Any) -> Callable[[], Term]:
        def made() -> Term:
            term = Penalty(criterion, measure, groups=groups, **options).to(device)
            return lambda shares, _, group: term(shares, group=group)

        return made

    def theirs(term: Callable[..., Tensor]) -> Callable[[], Term]:
        # of two classes one says all
        return lambda: (
            lambda shares, _, group: term(shares[:, 1:] if classes == 2 else shares, group, groups)
        )

    if not classes:
        steps = (10, 30, 100, 300, 1000)
        return {
            "plain": (ours("weak_parity", "cv²", noise=None), steps),
            "subtract": (ours("weak_parity", "cv²", noise="subtract"), steps),
            "memory": (ours("weak_parity", "cv²", noise="memory", memory=memory), steps),
            "memory, wasserstein": (
                ours("wasserstein_parity", "mpd", noise="memory", memory=memory),
                (0.01, 0.03, 0.1, 0.3),
            ),
            "norm": (theirs(norm), (0.03, 0.1, 0.3, 1, 3)),
            "hsic": (theirs(hsic), (3, 10, 30, 100, 300)),
        }
    parity, steps = "statistical_parity", (0.5, 1, 2, 4, 8)
    return {
        "plain": (ours(parity, "pq", noise=None), steps),
        "subtract": (ours(parity, "pq", noise="subtract"), steps),
        "memory": (ours(parity, "pq", noise="memory", memory=memory), steps),
        "memory, sharp": (
            ours(parity, "pq", noise="memory", memory=memory, temperature=0.3),
            (0.25, *steps[:-1]),
        ),
        "norm": (theirs(norm), (0.001, 0.003, 0.01, 0.03)),
        "kl": (theirs(divergence), (0.03, 0.1, 0.3, 1)),
        "hsic": (theirs(hsic), (10, 30, 100, 300)),
    }
