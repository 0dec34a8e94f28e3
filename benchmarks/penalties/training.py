"""A small network, and how it is trained with a penalty: on a GPU as a recorded graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import torch
from evenhand import CRITERIA, distribution
from evenhand import pq as pq_index
from evenhand.measures import gini, mpd
from torch import Tensor, nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Network(nn.Module):
    """Embeddings of codes beside numbers, and two layers."""

    def __init__(self, sizes: list[int], numbers: int, outputs: int, width: int = 256) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, 16) for size in sizes)
        self.layers = nn.Sequential(
            nn.Linear(16 * len(sizes) + numbers, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, outputs),
        )

    def forward(self, codes: Tensor, numbers: Tensor) -> Tensor:
        parts = [table(codes[:, at]) for at, table in enumerate(self.tables)]
        return self.layers(torch.cat([*parts, numbers], dim=1))


class Task:
    """A saved task on the device, with training and test rows."""

    def __init__(self, file: Any) -> None:
        data = np.load(file)
        self.classes = int(data["classes"])
        self.codes, self.group = (
            torch.as_tensor(data[name].astype(np.int64), device=DEVICE)
            for name in ("codes", "group")
        )
        kind = np.int64 if self.classes else np.float32
        self.numbers = torch.as_tensor(data["numbers"], device=DEVICE)
        self.y = torch.as_tensor(data["y"].astype(kind), device=DEVICE)
        self.groups = int(self.group.max()) + 1
        self.sizes = [int(most) + 1 for most in self.codes.max(0).values.tolist()]

    def split(self, seed: int) -> tuple[Tensor, Tensor]:
        """Three quarters of the rows, and a quarter for the test."""
        order = torch.randperm(len(self.y), generator=torch.Generator().manual_seed(seed))
        order = order.to(DEVICE)
        return order[len(order) // 4 :], order[: len(order) // 4]

    def network(self, seed: int, width: int = 256) -> Network:
        torch.manual_seed(1000 + seed)
        outputs = self.classes if self.classes > 2 else 1
        return Network(self.sizes, self.numbers.shape[1], outputs, width).to(DEVICE)

    def shares(self, outputs: Tensor) -> Tensor:
        """Probabilities of every class, or numbers in a column."""
        if not self.classes:
            return outputs
        if self.classes > 2:
            return outputs.softmax(1)
        return torch.cat([(-outputs).sigmoid(), outputs.sigmoid()], dim=1)

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        if not self.classes:
            return nn.functional.mse_loss(outputs[:, 0], y)
        if self.classes > 2:
            return nn.functional.cross_entropy(outputs, y)
        return nn.functional.binary_cross_entropy_with_logits(outputs[:, 0], y.float())


def fit(
    task: Task,
    network: Network,
    term: Any,
    strength: float,
    rows: Tensor,
    size: int,
    epochs: int,
    every: Callable[[], None] | None = None,
) -> None:
    """Train by Adam; `term` is None without a penalty. `every` is called after 50 steps each."""
    optimizer = adam(network, 1e-3 * (size / 512) ** 0.5)
    batch = rows[:size].clone()

    def loss() -> Tensor:
        outputs = network(task.codes[batch], task.numbers[batch])
        loss = task.loss(outputs, task.y[batch])
        if term is None:
            return loss
        return loss + strength * term(task.shares(outputs), task.y[batch], task.group[batch])

    step = recorded(loss, optimizer)
    for _ in range(epochs):
        batches = rows[torch.randperm(len(rows), device=DEVICE)].split(size)[:-1]
        for number, chosen in enumerate(batches, 1):
            batch.copy_(chosen)
            step()
            if every and number % 50 == 0:
                every()


def adam(network: nn.Module, rate: float) -> Any:
    graph = DEVICE == "cuda"
    return torch.optim.Adam(network.parameters(), lr=rate, fused=graph, capturable=graph)


def recorded(loss: Callable[[], Tensor], optimizer: Any) -> Callable[[], Any]:
    """A training step; on a GPU as a graph, which is launched at once."""

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    if DEVICE != "cuda":
        return step
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def outputs_of(task: Task, network: Network, rows: Tensor) -> Tensor:
    with torch.no_grad():
        parts = [network(task.codes[some], task.numbers[some]) for some in rows.split(1 << 16)]
    return task.shares(torch.cat(parts))


def judge(task: Task, shares: Tensor, rows: Tensor) -> dict[str, float]:
    """Loss on test rows, and how unequal the groups' decisions or numbers are."""
    group, y = task.group[rows], task.y[rows]
    if not task.classes:
        values = shares[:, 0]
        source = distribution(values.cpu().numpy(), sensitive_features=group.cpu().numpy())
        means = rates(values[:, None], group, task.groups)[0]
        strong = {
            name: float(CRITERIA["strong_parity"](source, measure=name))
            for name in ("mpd", "gini", "pq")
        }
        return {"loss": float((values - y).square().mean().sqrt()), **strong, "means": mpd(means)}
    decided = nn.functional.one_hot(shares.argmax(1), task.classes).float()
    hard, soft = (rates(each, group, task.groups) for each in (decided, shares))
    if task.classes == 2:
        hard, soft = hard[1:], soft[1:]
    found = {"loss": 1 - float((decided.argmax(1) == y).float().mean())}
    measures = {"pq": pq_index, "gini": gini, "mpd": mpd}
    found |= {name: float(np.mean([m(row) for row in hard])) for name, m in measures.items()}
    return found | {"soft_pq": float(np.mean([pq_index(row) for row in soft]))}


def rates(shares: Tensor, group: Tensor, groups: int) -> Any:
    """By class and group, in double precision."""
    total = shares.new_zeros((groups, shares.shape[1]), dtype=torch.float64)
    total = total.index_add(0, group, shares.double())
    rows = torch.bincount(group, minlength=groups)
    return (total / rows[:, None]).T.cpu().numpy()
