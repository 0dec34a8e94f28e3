"""Counts of rows by true label, decision and group, in one pass on the device."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

_SHARED = 48 * 1024  # bytes of shared memory that every GPU has for a block
_THREADS, _BLOCKS = 512, 4  # threads of a block; blocks on each multiprocessor
_KERNEL = """
extern "C" __global__ void count_cells(
    const long long* truth, const long long* decided, const long long* group,
    unsigned long long* counts, long long rows, int classes, int groups
) {
    extern __shared__ unsigned int mine[];
    const int cells = classes * classes * groups, size = cells + 2;
    for (int i = threadIdx.x; i < size; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += step) {
        const unsigned long long y = truth[i], p = decided[i];
        const long long g = group[i];
        const bool known = y < classes && p < classes && g < groups;
        const int place = g < 0 ? cells + 1 : known ? (int)((y * classes + p) * groups + g) : cells;
        atomicAdd(mine + place, 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        if (mine[i]) atomicAdd(counts + i, (unsigned long long)mine[i]);
}
"""


def cell_counts(truth: Tensor, decided: Tensor, group: Tensor, classes: int, groups: int) -> Tensor:
    """Rows in every cell, then rows with unknown labels, then rows of negative groups."""
    cells = classes * classes * groups
    columns = [column.long().contiguous() for column in (truth, decided, group)]
    if _compiles(truth.device) and 4 * (cells + 2) <= _SHARED:
        return _counted_in_shared_memory(columns, classes, groups)
    truth, decided, group = columns
    valid = (truth >= 0) & (truth < classes) & (decided >= 0) & (decided < classes)
    place = (truth * classes + decided) * groups + group
    place = torch.where(valid & (group < groups), place, cells)
    return torch.bincount(torch.where(group >= 0, place, cells + 1), minlength=cells + 2)


def _compiles(device: torch.device) -> bool:
    """Whether PyTorch can compile our kernel for the device, by a private function."""
    return device.type == "cuda" and hasattr(torch.cuda, "_compile_kernel")


def _counted_in_shared_memory(columns: list[Tensor], classes: int, groups: int) -> Tensor:
    """Counts in shared memory: every block of threads counts on its own chip."""
    device, rows, size = columns[0].device, len(columns[0]), classes * classes * groups + 2
    counts = torch.zeros(size, dtype=torch.int64, device=device)
    blocks = _BLOCKS * torch.cuda.get_device_properties(device).multi_processor_count
    with torch.cuda.device(device):
        _kernel(device)(
            grid=(blocks, 1, 1),
            block=(_THREADS, 1, 1),
            args=[*columns, counts, rows, classes, groups],
            shared_mem=4 * size,
        )
    return counts


@cache
def _kernel(device: torch.device) -> Any:
    with torch.cuda.device(device):
        return torch.cuda._compile_kernel(_KERNEL, "count_cells")
