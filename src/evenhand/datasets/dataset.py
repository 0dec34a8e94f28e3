"""A loaded task: features, target, and their provenance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.datasets.task import Kind, Origin, Task

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """Features X, target y, the sensitive columns of X, and their provenance.

    Made by `load`.

    Attributes
    ----------
    task : Task
        What is predicted, and by which groups.
    origin : Origin
        Where the rows come from.
    X : DataFrame
        The features, sensitive columns included.
    y : Series
        The target; in a classification, the numbers 0, 1, … of the `classes`.
    sensitive : tuple of str
        The columns of X whose combinations are the groups.

    Examples
    --------
    >>> from evenhand.datasets import load
    >>> adult = load("adult")
    >>> adult.n_rows, adult.classes, adult.sensitive, adult.is_stand_in
    (48842, ('<=50K', '>50K'), ('sex',), False)

    """

    task: Task
    origin: Origin
    X: pd.DataFrame = field(repr=False)
    y: pd.Series[Any] = field(repr=False)
    sensitive: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<{self.title}: {self.n_rows:,} rows, {len(self.X.columns)} features>"

    @property
    def title(self) -> str:
        """The name for captions, marked if the rows are a stand-in."""
        return f"{self.name} ({self.provenance})" if self.is_stand_in else self.name

    @property
    def provenance(self) -> str:
        """Whether the rows are the official ones, and if not, what they are."""
        if self.is_stand_in:
            return f"stand-in: {self.origin.stand_in}"
        return "simulated" if self.origin.simulate else "official rows"

    @property
    def is_stand_in(self) -> bool:
        """Whether the rows are not those that the task is defined on."""
        return self.origin.is_stand_in

    @property
    def name(self) -> str:
        """The task's name."""
        return self.task.name

    @property
    def kind(self) -> Kind:
        """Classification or regression."""
        return self.task.kind

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes in y; empty for a regression."""
        return self.task.classes

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.X)

    @property
    def groups(self) -> pd.DataFrame:
        """The sensitive columns."""
        return self.X[list(self.sensitive)]

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns of X that hold quantities."""
        return tuple(self.X.select_dtypes("number").columns)

    @property
    def categorical(self) -> tuple[str, ...]:
        """Columns of X that hold categories."""
        return tuple(name for name in self.X.columns if name not in self.numeric)

    @property
    def model_columns(self) -> tuple[str, ...]:
        """The columns for a model: all of X, unless the task hides the sensitive ones."""
        hidden = () if self.task.model_sees_sensitive else self.sensitive
        return tuple(name for name in self.X.columns if name not in hidden)

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata to store with any result from these rows."""
        task = self.task
        return {
            "name": task.name,
            "kind": task.kind,
            "target": str(self.y.name),
            "classes": list(task.classes),
            "sensitive": list(self.sensitive),
            "rows": self.n_rows,
            "origin": self.origin.name,
            "is_stand_in": self.is_stand_in,
            "provenance": self.provenance,
            "description": task.description,
            "source": task.source,
            "license": task.license,
            "citation": task.citation,
        }
