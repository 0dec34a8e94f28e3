"""What a penalty costs a step and an epoch, and what counting costs; as ratios."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from training import DEVICE, Network, Task, adam, recorded

import torch
from evenhand.torch import DeviceTally, Penalty
from torch import Tensor, nn

GROUPS = 50
NOISES: dict[str, Any] = {"none": ..., "plain": None, "subtract": "subtract", "memory": "memory"}


def run(acs: Path | None) -> None:
    """Of a step and of counting; of an epoch too if the task `acs` is at hand."""
    torch.manual_seed(0)
    for size in (512, 8192):
        times = {name: step_time(size, noise) for name, noise in NOISES.items()}
        ratios = {name: round(each / times["none"], 3) for name, each in times.items()}
        print(json.dumps({"batch": size, "step_us": round(times["none"] * 1e6), **ratios}))
    if acs:
        task = Task(acs)
        for size in (512, 8192):
            times = {name: epoch_time(task, size, noise) for name, noise in NOISES.items()}
            ratios = {name: round(each / times["none"], 3) for name, each in times.items()}
            print(json.dumps({"epoch of batches of": size, "s": round(times["none"], 3), **ratios}))
    for rows in (200_000_000, 1_000_000_000) if DEVICE == "cuda" else (2_000_000,):
        counting(rows)


def counting(rows: int) -> None:
    y, decided = (torch.randint(0, 5, (rows,), device=DEVICE) for _ in range(2))
    group = torch.randint(0, GROUPS, (rows,), device=DEVICE)
    counts = DeviceTally(classes=5, groups=GROUPS)
    counts.update(decided, y, group)
    known = sum(
        torch.bincount((a * 5 + b) * GROUPS + c, minlength=25 * GROUPS)
        for a, b, c in zip(*(each.split(1 << 27) for each in (y, decided, group)), strict=True)
    )
    assert torch.equal(counts._counts[:-2], known)
    seconds = timed(lambda: counts.update(decided, y, group), 5)
    read = timed(lambda: (y.sum(), decided.sum(), group.sum()), 5)
    found = {"counting_ms": 1e3 * seconds, "reading_ms": 1e3 * read, "ratio": seconds / read}
    print(json.dumps({"rows": rows, **found}))


def step_time(size: int, noise: Any) -> float:
    network = Network([30, 30, 10, 500, 200, 20], 2, 5).to(DEVICE)
    codes, numbers = (
        torch.randint(0, 10, (size, 6), device=DEVICE),
        torch.randn(size, 2, device=DEVICE),
    )
    y, group = (torch.randint(0, most, (size,), device=DEVICE) for most in (5, GROUPS))
    penalty = penalty_of(noise, GROUPS)

    def loss() -> Tensor:
        outputs = network(codes, numbers)
        loss = nn.functional.cross_entropy(outputs, y)
        return loss if penalty is None else loss + penalty(outputs.softmax(1), y, group=group)

    return timed(recorded(compiled(loss), adam(network, 1e-3)), 1000 if DEVICE == "cuda" else 30)


def epoch_time(task: Task, size: int, noise: Any) -> float:
    """Of training on all rows, read anew in another order."""
    network, rows = task.network(0), task.split(0)[0]
    penalty, batch = penalty_of(noise, task.groups), rows[:size].clone()

    def loss() -> Tensor:
        outputs = network(task.codes[batch], task.numbers[batch])
        loss = task.loss(outputs, task.y[batch])
        if penalty is None:
            return loss
        return loss + penalty(task.shares(outputs), group=task.group[batch])

    step = recorded(compiled(loss), adam(network, 1e-3))

    def epoch() -> None:
        for chosen in rows[torch.randperm(len(rows), device=DEVICE)].split(size)[:-1]:
            batch.copy_(chosen)
            step()

    return timed(epoch, 5, warm=1)


def penalty_of(noise: Any, groups: int) -> Any:
    if noise is ...:
        return None
    return Penalty("statistical_parity", "pq", groups=groups, noise=noise).to(DEVICE)


def compiled(loss: Callable[[], Tensor]) -> Callable[[], Tensor]:
    torch._dynamo.reset()
    return torch.compile(loss) if DEVICE == "cuda" else loss


def timed(run: Callable[[], Any], times: int, warm: int = 5) -> float:
    for _ in range(warm):
        run()
    taken = []
    for _ in range(5):
        wait()
        started = time.perf_counter()
        for _ in range(max(times // 5, 1)):
            run()
        wait()
        taken.append((time.perf_counter() - started) / max(times // 5, 1))
    return float(np.median(taken))


def wait() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()
