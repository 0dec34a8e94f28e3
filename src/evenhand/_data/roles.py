"""Which part a column plays: declared once, as fields of `Data`, for every verb to offer."""

from __future__ import annotations

from dataclasses import Field, field, fields
from functools import cache
from typing import Any, NamedTuple

PART = "part"  # in the metadata of a field


class Role(NamedTuple):
    """One argument about the data, as every function and command offers it.

    `kind` and `about` are its entry in a docstring, `default` its value where it is left out,
    `option` and `brief` its flag on the command line and the help of that. `is_column` says whether
    it is a column of the rows, or says how columns are read; `is_several` whether it may be many.
    `also` are names that other tools have for it.
    """

    name: str
    kind: str
    about: str
    default: Any = None
    option: str = ""
    brief: str = ""
    is_column: bool = True
    is_several: bool = False
    also: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """Its entry in a docstring."""
        lines = "\n    ".join(line.strip() for line in self.about.strip().split("\n"))
        return f"{self.name} : {self.kind}\n    {lines}"


def role(kind: str, about: str, *, default: Any = None, **more: Any) -> Any:
    """A field of the data that plays a part."""
    return field(default=default, metadata={PART: (kind, about, more)})


def reading(kind: str, about: str, *, default: Any = None, **more: Any) -> Any:
    """A field that says how columns are read."""
    return role(kind, about, default=default, is_column=False, **more)


@cache
def roles_of(cls: type) -> dict[str, Role]:
    """The roles that a class declares, by name."""
    return {one.name: _role(one) for one in fields(cls) if PART in one.metadata}


def _role(one: Field[Any]) -> Role:
    kind, about, more = one.metadata[PART]
    return Role(one.name, kind, about, one.default, **more)
