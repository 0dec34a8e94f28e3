"""The GPU program of `histogram.py`; imported only where Triton is installed."""

# ruff: noqa
# mypy: ignore-errors
import triton.language as tl


def count_cells(
    truth,
    decided,
    group,
    counts,
    number,
    classes: tl.constexpr,
    groups: tl.constexpr,
    pairs: tl.constexpr,
    columns: tl.constexpr,
    block: tl.constexpr,
):
    """Each program counts every so many-th block of rows, and adds its table to the common one."""
    rows = tl.arange(0, block)
    pair_axis = tl.arange(0, pairs)
    group_axis = tl.arange(0, columns)
    table = tl.zeros((pairs, columns), tl.float32)
    for start in range(tl.program_id(0) * block, number, tl.num_programs(0) * block):
        at = start + rows
        inside = at < number
        y = tl.load(truth + at, mask=inside, other=0).to(tl.int32)
        p = tl.load(decided + at, mask=inside, other=0).to(tl.int32)
        g = tl.load(group + at, mask=inside, other=-1).to(tl.int32)
        known = (y >= 0) & (y < classes) & (p >= 0) & (p < classes) & (g < groups)
        pair = tl.where(known, y * classes + p, classes * classes)
        g = tl.where(known | (g < 0), g, 0)
        left = (pair_axis[:, None] == pair[None, :]).to(tl.bfloat16)
        right = (g[:, None] == group_axis[None, :]).to(tl.bfloat16)
        table = tl.dot(left, right, table)
    places = pair_axis[:, None] * columns + group_axis[None, :]
    tl.atomic_add(counts + places, table.to(tl.int64), mask=table > 0)
