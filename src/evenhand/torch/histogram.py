"""Counting cells on a GPU as a product of indicators: nearly as fast as the rows can be read.

A histogram of so few cells waits for its atomic additions. Indicators of (truth, decision) times
those of the group, block by block in the tensor cores, are the same counts: sums of ones are exact
in single precision up to 2²⁴ rows of a program.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

LARGEST = 4096  # cells of the padded table
ROWS = 128  # of a block
MOST_ROWS = 1 << 23  # that one program may count exactly


def fits(classes: int, groups: int) -> bool:
    """Whether so many cells are counted in this way."""
    from importlib.util import find_spec

    return _padded(classes * classes + 1) * _padded(groups + 1) <= LARGEST and bool(
        find_spec("triton")
    )


def cell_counts(
    truth: Tensor, decided: Tensor, group: Tensor, classes: int, groups: int
) -> tuple[Tensor, Tensor]:
    """Counts (truths × decisions, groups), and the number of rows beyond them."""
    import triton

    pairs, columns = _padded(classes * classes + 1), _padded(groups + 1)
    counts = torch.zeros((pairs, columns), dtype=torch.int64, device=truth.device)
    number = truth.numel()
    processors = torch.cuda.get_device_properties(truth.device).multi_processor_count
    programs = max(8 * processors, -(-number // MOST_ROWS))
    programs = min(programs, -(-number // ROWS))
    kernel(triton)[(programs,)](
        *(part.contiguous() for part in (truth, decided, group)),
        counts,
        number,
        classes,
        groups,
        pairs,
        columns,
        ROWS,
        num_warps=4,
    )
    whole = counts[: classes * classes, :groups].reshape(-1)
    return whole, counts[classes * classes].sum()


def _padded(number: int) -> int:
    return max(16, 1 << (number - 1).bit_length())


_KERNEL: list[Any] = []


def kernel(triton: Any) -> Any:
    """The program, compiled when it is first asked for."""
    if _KERNEL:
        return _KERNEL[0]
    from evenhand.torch import _triton_kernel

    _KERNEL.append(triton.jit(_triton_kernel.count_cells))
    return _KERNEL[0]
