"""A task is a declaration: what is predicted, for whom, and where the rows come from."""

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

    A file without a url is never downloaded; a packaged one ships with evenhand. Where no sha256
    is known, the length, the columns and the counts after cleaning are all that is verified.
    """

    name: str
    url: str | None = None
    sha256: str | None = None
    packaged: bool = False


@dataclass(frozen=True, kw_only=True)
class Origin:
    """One place a task's rows come from, and how its columns become readable ones.

    `columns` maps the file's names to ours, `extra` names columns that only `keep` and `derive`
    look at. `keep` filters rows, part by part while they are read; `derive` adds columns once
    all rows are there. `labels` names the codes of a column; `codes` are categories without names.
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
        """Whether the rows are other ones than the task is defined on."""
        return bool(self.stand_in)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is predicted, which columns are sensitive, and the origins in order of preference.

    `groups` names the values of the sensitive column, in the order of an origin's `counts`,
    which has one row per class (one row in all for a regression).
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
        """The numbers of groups there can be, in words."""
        counts = self.group_counts or (self.n_groups,)
        if isinstance(counts, range):
            return f"{counts[0]} to {counts[-1]}"
        return ", ".join(map(str, counts))

    def with_groups(self, n_groups: int) -> Task:
        """Build the same task with another number of groups."""
        if self.variant is None:
            raise InputError(
                f"{self.name!r} has {self.n_groups} groups and no other choice of n_groups. "
                "Leave n_groups out, or pass sensitive= to group by other columns."
            )
        if isinstance(n_groups, bool) or n_groups not in self.group_counts:
            raise InputError(f"n_groups is {n_groups!r}; {self.name!r} takes {self.group_choices}.")
        return self.variant(int(n_groups))
