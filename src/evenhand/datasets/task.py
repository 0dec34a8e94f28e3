"""A task as a declaration: target, groups, and the origin of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evenhand._errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    Filter = Callable[[pd.DataFrame], pd.DataFrame]
    Derivation = Callable[[pd.DataFrame], Mapping[str, pd.Series[Any]]]
    Simulation = Callable[[], pd.DataFrame]

Kind = Literal["classification", "regression"]


@dataclass(frozen=True, kw_only=True)
class File:
    """One file of an origin: its name in the data directory, and how to get and verify it.

    Parameters
    ----------
    name : str
        The file's name in the data directory.
    url : str, optional
        Where it is downloaded from; a file without a url is never downloaded.
    sha256 : str, optional
        Its hash. Where none is known, the length, the columns and the counts after cleaning are
        all that is verified.
    packaged : bool, default False
        Whether it ships with evenhand.

    """

    name: str
    url: str | None = None
    sha256: str | None = None
    packaged: bool = False


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A source of a task's rows, and how its columns become readable.

    Parameters
    ----------
    name : str
        What `load` calls it by: "official", "extract", …
    files : tuple of File
        Where the rows are, in order.
    columns : mapping of str to str
        Our names by the file's names.
    extra : tuple of str
        Columns that only `keep` and `derive` look at.
    members : tuple of str
        The files to read inside a zip archive.
    csv : mapping
        Options of `pandas.read_csv`.
    keep : callable, optional
        Filters rows, part by part while they are read.
    derive : callable, optional
        Adds columns once all rows are there.
    simulate : callable, optional
        Makes the rows, instead of files.
    labels : mapping of str to mapping
        The names of a column's codes, by column.
    codes : tuple of str
        Columns of categories without names.
    sample : int, optional
        How many rows to draw, always the same ones.
    source_rows, rows : int, optional
        How many rows the files have, and how many are left: both are checked.
    counts : tuple of tuples of int
        Rows by class and group, as published: checked after loading.
    stand_in : str
        What the rows are, if they are others than those the task is defined on.

    """

    name: str
    files: tuple[File, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    csv: Mapping[str, Any] = field(default_factory=dict)
    keep: Filter | None = None
    derive: Derivation | None = None
    simulate: Simulation | None = None
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    sample: int | None = None
    source_rows: int | None = None
    rows: int | None = None
    counts: tuple[tuple[int, ...], ...] = ()
    stand_in: str = ""

    @property
    def is_downloadable(self) -> bool:
        """Whether every file has an address."""
        return bool(self.files) and all(file.url for file in self.files)

    @property
    def is_stand_in(self) -> bool:
        """Whether the rows are not those that the task is defined on."""
        return bool(self.stand_in)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is predicted, which columns are sensitive, and the origins in order of preference.

    Parameters
    ----------
    name, description, source, license, citation : str
        What it is called, what it is about, whose it is, on which terms, and how to cite it.
    kind : {"classification", "regression"}
        What is predicted.
    targets : tuple of str
        The columns that can be the target; the first is the default.
    sensitive : tuple of str
        The columns whose combinations are the groups.
    n_groups : int
        How many groups there are.
    origins : tuple of Origin
        Where the rows may come from, in order of preference.
    classes : tuple of str
        The names of the numbers 0, 1, … of the target; empty for a regression.
    groups : tuple of str
        The values of the sensitive column in the order of an origin's `counts`, which has one row
        per class (one row in all for a regression).
    model_sees_sensitive : bool, default True
        Whether a model is meant to see the sensitive columns.
    group_counts : sequence of int
        The other numbers of groups there can be.
    variant : callable, optional
        From a number of groups to the task with that many.

    """

    name: str
    description: str
    source: str
    license: str
    citation: str
    kind: Kind
    targets: tuple[str, ...]
    sensitive: tuple[str, ...]
    n_groups: int
    origins: tuple[Origin, ...]
    classes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    model_sees_sensitive: bool = True
    group_counts: Sequence[int] = ()
    variant: Callable[[int], Task] | None = None

    @property
    def official(self) -> Origin | None:
        """The origin that can be downloaded, if there is one."""
        return next((origin for origin in self.origins if origin.is_downloadable), None)

    @property
    def group_choices(self) -> str:
        """The possible numbers of groups, in words."""
        counts = self.group_counts or (self.n_groups,)
        if isinstance(counts, range):
            return f"{counts[0]} to {counts[-1]}"
        return ", ".join(map(str, counts))

    def with_groups(self, n_groups: int) -> Task:
        """Build the same task with another number of groups.

        Parameters
        ----------
        n_groups : int
            How many: one of `group_counts`.

        Returns
        -------
        Task
            The task with that many groups.

        """
        if self.variant is None:
            raise InputError(
                f"{self.name!r} has {self.n_groups} groups and no other choice of n_groups. "
                "Leave n_groups out, or pass sensitive= to group by other columns."
            )
        if isinstance(n_groups, bool) or n_groups not in self.group_counts:
            raise InputError(f"n_groups is {n_groups!r}; {self.name!r} takes {self.group_choices}.")
        return self.variant(int(n_groups))
