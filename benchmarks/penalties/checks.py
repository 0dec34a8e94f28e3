"""What looking at the values of a batch costs a step: eager, where it waits, and compiled."""

from __future__ import annotations

import json

from speed import compiled, timed
from training import DEVICE, adam, recorded

import torch
from evenhand.torch import Penalty, inputs
from torch import Tensor, nn

SIZES = {"small": (64, 64), "medium": (1024,) * 4, "large": (4096,) * 8}


def run() -> None:
    """A line for every network: microseconds of a step with a penalty, unchecked and checked."""
    refuse = inputs._refuse
    for name, hidden in SIZES.items():
        if DEVICE == "cpu" and name != "small":
            continue
        for way in ("eager", "recorded"):
            times = {}
            for checked in (False, True):
                inputs._refuse = refuse if checked else lambda _: None
                times["checked" if checked else "unchecked"] = round(1e6 * step(hidden, way))
            print(json.dumps({"network": name, "way": way, **times}), flush=True)
    inputs._refuse = refuse


def step(hidden: tuple[int, ...], way: str) -> float:
    """Seconds of a training step with a batch of 1,024 rows in 100 groups."""
    torch.manual_seed(0)
    sizes = (50, *hidden)
    layers = [part for a, b in zip(sizes, hidden) for part in (nn.Linear(a, b), nn.ReLU())]  # noqa: B905
    network = nn.Sequential(*layers, nn.Linear(sizes[-1], 1)).to(DEVICE)
    X = torch.randn(1024, 50, device=DEVICE)
    y, group = (torch.randint(0, most, (1024,), device=DEVICE) for most in (2, 100))
    penalty = Penalty("equal_opportunity", "pq", groups=100, noise="memory").to(DEVICE)
    optimizer = adam(network, 1e-4)

    def loss() -> Tensor:
        outputs = network(X)[:, 0]
        plain = nn.functional.binary_cross_entropy_with_logits(outputs, y.float())
        return plain + penalty(outputs.sigmoid(), y, group=group)

    def eager() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    return timed(eager if way == "eager" else recorded(compiled(loss), optimizer), 200)
