"""The training loop of a network with a penalty or bound: batches, early stopping, progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

import torch
from evenhand.torch.constraint import Constraint
from torch import Tensor, nn

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]  # of outputs, targets and weights


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows as tensors on one device."""

    X: Tensor
    y: Tensor
    group: Tensor
    weight: Tensor

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Tensor) -> Batch:
        return Batch(self.X[rows], self.y[rows], self.group[rows], self.weight[rows])


@dataclass(frozen=True, eq=False)
class Training:
    """The settings and loop that fit a network."""

    loss: Loss
    link: Callable[[Tensor], Tensor]  # from outputs to the predictions of the penalty
    term: nn.Module | None
    strength: float
    learning_rate: float
    batch_size: int
    max_epochs: int
    patience: int | None
    progress: bool

    def fit(
        self, network: nn.Module, rows: Batch, held_out: Batch | None, seed: int
    ) -> list[float]:
        """Fit with early stopping at the best epoch, and return the objective of each epoch."""
        optimizer = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
        generator = torch.Generator().manual_seed(seed)
        history: list[float] = []
        best, best_weights, since = np.inf, deepcopy(network.state_dict()), 0
        for epoch in _with_progress(range(self.max_epochs), self.progress):
            history.append(self.epoch(network, optimizer, rows, generator))
            if held_out is None or self.patience is None:
                continue
            value = self.objective(network, held_out)
            if value < best - 1e-5:
                best, best_weights, since = value, deepcopy(network.state_dict()), epoch
            elif epoch - since >= self.patience:
                break
        if held_out is not None and self.patience is not None and np.isfinite(best):
            network.load_state_dict(best_weights)
        return history

    def epoch(
        self, network: nn.Module, optimizer: Any, rows: Batch, generator: torch.Generator
    ) -> float:
        """One pass over the rows; the mean objective of its batches."""
        network.train()
        order = torch.randperm(len(rows), generator=generator).to(rows.y.device)
        total = torch.zeros((), device=rows.y.device)
        starts = range(0, len(rows), self.batch_size)
        for start in starts:
            batch = rows[order[start : start + self.batch_size]]
            optimizer.zero_grad(set_to_none=True)
            value = self._value(network, batch)
            value.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += value.detach()
        if isinstance(self.term, Constraint):
            self.term.update()
        return float(total) / len(starts)

    def objective(self, network: nn.Module, rows: Batch) -> float:
        """The objective on held-out rows."""
        network.eval()
        if self.term is not None:
            self.term.eval()
        with torch.no_grad():
            value = float(self._value(network, rows))
        if self.term is not None:
            self.term.train()
        return value

    def _value(self, network: nn.Module, batch: Batch) -> Tensor:
        outputs = network(batch.X)
        value: Tensor = self.loss(outputs, batch.y, batch.weight)
        if self.term is None or not self.strength:
            return value
        term = self.term(self.link(outputs), batch.y, group=batch.group, sample_weight=batch.weight)
        return torch.add(value, term, alpha=self.strength)


def network_of(inputs: int, outputs: int, hidden: Sequence[int]) -> nn.Module:
    """A network of layers of rectified units; without any, a linear model."""
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [nn.Linear(inputs, size), nn.ReLU()]
        inputs = size
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def _with_progress(epochs: range, progress: bool) -> Any:
    if not progress:
        return epochs
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return epochs
    return tqdm(epochs, desc="Training", unit="epoch", leave=False)
