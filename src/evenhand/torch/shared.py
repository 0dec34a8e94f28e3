"""Sums over the processes of a distributed run, with the gradients of this process's part."""

from __future__ import annotations

import torch
from torch import Tensor
from torch import distributed as processes


def summed_over_processes(cells: Tensor) -> Tensor:
    """The sum of the cells of all processes.

    `DistributedDataParallel` averages gradients over processes, so that of this process's part is
    multiplied by their number.
    """
    if not (processes.is_available() and processes.is_initialized()):
        return cells
    total = cells.detach().clone()
    processes.all_reduce(total)
    return total + (cells - cells.detach()) * processes.get_world_size()


def sum_counts(counts: Tensor) -> Tensor:
    """The sum of the counts of all processes, without gradients."""
    if processes.is_available() and processes.is_initialized():
        counts = counts.clone()
        processes.all_reduce(counts)
    return counts


def best_device(device: str) -> torch.device:
    """The device of a name; "auto" is the fastest that is available."""
    if device != "auto":
        return torch.device(device)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
