"""The answer to a fairness question, with everything it was computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.columns import Label
from evenhand.groups import show


@dataclass(frozen=True, eq=False)
class Reading:
    """A value, the inequality in each cell, and the statistic of each group in each cell."""

    criterion: str
    measure: str
    aggregate: str
    transform: str | None
    value: Any
    cell_values: NDArray[np.float64]
    table: NDArray[np.float64]
    cells: tuple[Label, ...]
    groups: tuple[Label, ...]

    def __float__(self) -> float:
        return float(self.value)

    @property
    def worst_cell(self) -> Label:
        """The cell with the largest inequality."""
        if np.isnan(self.cell_values).all():
            return None
        return self.cells[int(np.nanargmax(self.cell_values))]

    @property
    def left_out(self) -> tuple[tuple[Label, Label], ...]:
        """The (cell, group) pairs where the statistic is undefined; the group is left out there."""
        if not self.cells:
            return ()
        shape = (-1, *self.table.shape[-2:])
        where = np.argwhere(np.isnan(self.table).reshape(shape).any(axis=0))
        return tuple((self.cells[cell], self.groups[group]) for cell, group in where)

    def __str__(self) -> str:
        how = f", {self.transform} transform" if self.transform else ""
        value = np.array2string(np.asarray(self.value), precision=4, threshold=6)
        if np.ndim(self.value) == 0:
            value = f"{self.value:.4g}"
        head = f"{self.criterion} = {value} ({self.measure}{how}, {self.aggregate})"
        names = [f"{show(group)} at {show(cell)}" for cell, group in self.left_out]
        return f"{head}; undefined and left out: {', '.join(names)}" if names else head
