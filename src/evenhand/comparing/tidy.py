"""A small tidy table that prints itself, and becomes a dataframe of any kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from evenhand.dataframes import framed, kind_of
from evenhand.markdown import markdown_table


@dataclass(frozen=True, eq=False)
class Tidy:
    """Named columns of equal length; `kind` is the dataframe library its owner uses.

    >>> print(Tidy({"model": ["a", "b"], "value": [0.25, 1 / 3]}))
    | model | value |
    | --- | --- |
    | a | 0.25 |
    | b | 0.3333 |
    """

    columns: Mapping[str, list[Any]]
    kind: str = "pandas"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each a dict."""
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    def where(self, **chosen: Any) -> Tidy:
        """The rows with these entries."""
        kept = [row for row in self.rows() if all(row[k] == v for k, v in chosen.items())]
        return Tidy({name: [row[name] for row in kept] for name in self.columns}, self.kind)

    def to_frame(self, like: Any = None) -> Any:
        """A dataframe: of the library named, or that of the dataframe given, or the owner's."""
        kind = like if isinstance(like, str) else kind_of(like)
        return framed(self.columns, kind or self.kind)

    def to_markdown(self) -> str:
        """A Markdown table, with numbers to four digits."""
        return markdown_table(list(self.columns), self._written())

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
            for line in self._written()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        return self.to_markdown()

    def _written(self) -> list[list[str]]:
        return [[written(cell) for cell in row.values()] for row in self.rows()]


def table(rows: Iterable[Mapping[str, Any]], names: Iterable[str], kind: str) -> Tidy:
    """Make a table of rows, with these columns even where there are no rows."""
    found = list(rows)
    return Tidy({name: [row[name] for row in found] for name in names}, kind)


def written(cell: Any) -> str:
    """A cell as people read it: four digits, and a dash for what is undefined.

    >>> written(0.123456), written(float("nan")), written(True)
    ('0.1235', '–', 'yes')
    """
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if cell is None or cell != cell:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float | np.floating) else str(cell)
