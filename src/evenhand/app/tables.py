"""An open file: its columns, their content, and the direction of its scores."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from evenhand._errors import InputError
from evenhand._files.files import KINDS, kind_of, open_files
from evenhand._files.text_files import header, sql_name
from evenhand._words import plain

TEXT, TRUTH, INTEGER, NUMBER, OTHER = "text", "yes or no", "whole numbers", "numbers", "other"
KINDS_OF_TYPES = {
    "VARCHAR": TEXT,
    "ENUM": TEXT,
    "BOOLEAN": TRUTH,
    "DOUBLE": NUMBER,
    "FLOAT": NUMBER,
}
INTEGERS = frozenset(
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
)
READ_ONCE = ("CSV", "JSON lines", "Excel")  # which are slow to read: their rows are read once
READABLE = tuple(kind for kind in KINDS if kind != "Prometheus")
FEW = 5  # values that are shown of a column
MOST_LABELS = 50  # of an outcome
MOST_COLUMNS = 2_000


class Column(NamedTuple):
    """A column: its type, the number missing, about how many values differ, and examples."""

    at: int
    name: str
    type: str
    kind: str
    missing: int
    distinct: int
    values: tuple[str, ...]
    low: str = ""
    high: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.kind in (INTEGER, NUMBER)


class Direction(NamedTuple):
    """The share of pairs in which the one with this label has the higher score."""

    label: str
    share: float


@dataclass(eq=False)
class Opened:
    """An open file, under its owner's name for it."""

    path: Path
    name: str
    database: Any

    def __post_init__(self) -> None:
        self._labels: dict[str, list[Any]] = {}
        self._shares: dict[tuple[str, ...], float | None] = {}
        try:
            self.table = self._table()
            self.columns = self._columns()
        except Exception as failure:
            raise self.renamed(failure) from failure

    def renamed(self, failure: Exception) -> Exception:
        """The same failure with the owner's name for the file."""
        import duckdb

        if not isinstance(failure, ValueError | TypeError | OSError | ImportError | duckdb.Error):
            return failure
        return InputError(_gist(str(failure).replace(str(self.path), self.name)))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def named(self, name: str) -> Column:
        """The column with this name."""
        return next(column for column in self.columns if column.name == name)

    def labels(self, *names: str) -> list[Any]:
        """All values of these columns, in order; one more than the limit, if there are more."""
        key = "\0".join(names)
        if key not in self._labels:
            parts = " union ".join(
                f"select distinct {column} as v from rows where {column} is not null"
                for column in map(sql_name, names)
            )
            kinds = {self.named(name).kind for name in names}
            if len(kinds) > 1 and not kinds <= {INTEGER, NUMBER}:
                return []
            query = f"select v from ({parts}) order by v limit {MOST_LABELS + 1}"
            self._labels[key] = [value for (value,) in self._ask(query)]
        return self._labels[key]

    def directions(
        self, target: str, score: str, labels: Sequence[Any], rows: str | None = None
    ) -> list[Direction]:
        """For each of two labels, the share of pairs in which it goes with the higher score.

        Ties count half. Where a column has the number of `rows` of a line, all are paired.
        """
        key = (target, score, *map(str, labels), str(rows))
        if key not in self._shares:
            self._shares[key] = self._share(target, score, labels, rows)
        share = self._shares[key]
        if share is None:
            return []
        return [Direction(str(labels[0]), share), Direction(str(labels[1]), 1 - share)]

    def _share(
        self, target: str, score: str, labels: Sequence[Any], rows: str | None
    ) -> float | None:
        s, y = sql_name(score), sql_name(target)
        n = "1" if rows is None else f"coalesce({sql_name(rows)}, 0)"
        query = (
            f"with c as (select {s} s, coalesce(sum({n}) filter ({y} = $1), 0)::double a, "
            f"coalesce(sum({n}) filter ({y} = $2), 0)::double b "
            f"from rows where {s} is not null group by 1), w as (select a, b, "
            "sum(b) over (order by s) - b as below from c) "
            "select sum(a * (below + b / 2.0)) / nullif(sum(a) * sum(b), 0) from w"
        )
        ((share,),) = self._ask(query, labels)
        return None if share is None else float(share)

    def _ask(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        rows: list[Any] = self.database.execute(query, list(values)).fetchall()
        return rows

    def _table(self) -> Any:
        if kind_of(self.path) not in READABLE:
            raise InputError(f"{self.name} is not a table of rows.")
        self._check_width(self._names())
        relation = open_files(self.database, [str(self.path)], None)
        self._check_width(relation.columns)
        if kind_of(self.path) in READ_ONCE:
            relation.create("rows")
        else:
            relation.create_view("rows")
        table = self.database.table("rows")
        self.rows = int(self._ask("select count(*) from rows")[0][0])
        if not self.rows:
            raise InputError(f"{self.name} has a header and no rows.")
        return table

    def _check_width(self, names: Sequence[str]) -> None:
        if len(names) > MOST_COLUMNS:
            raise InputError(
                f"{self.name} has {len(names):,} columns; at most {MOST_COLUMNS:,} are shown. Save "
                "those that the audit is about in a file of their own."
            )

    def _names(self) -> Sequence[str]:
        self.delimiter = ","
        if kind_of(self.path) != "CSV" or not self.path.stat().st_size:
            return ()
        names, self.delimiter = header(self.path)
        return names

    def _columns(self) -> list[Column]:
        names, types = self.table.columns, [str(kind) for kind in self.table.types]
        expressions = []
        for name, kind in zip(names, types, strict=True):
            column = sql_name(name)
            is_present = f"{column} is not null"
            if _kind(kind) == NUMBER:
                is_present += f" and not isnan({column})"
            expressions += [
                f"count(*) filter ({is_present})",
                f"approx_count_distinct({column})",
                f"approx_top_k(cast({column} as varchar), {FEW})",
                f"cast(min({column}) filter ({is_present}) as varchar)",
                f"cast(max({column}) filter ({is_present}) as varchar)",
            ]
        answers = self.database.execute(f"select {', '.join(expressions)} from rows").fetchall()[0]
        columns = []
        for at, (name, kind) in enumerate(zip(names, types, strict=True)):
            filled, distinct, top, low, high = answers[5 * at : 5 * at + 5]
            values = tuple(plain(str(value)) for value in top or () if value is not None)
            missing = self.rows - filled
            parts = (kind, _kind(kind), missing, distinct, values, low or "", high or "")
            columns.append(Column(at, name, *parts))
        return columns


def _kind(kind: str) -> str:
    base = kind.partition("(")[0]
    if base in INTEGERS:
        return INTEGER
    return NUMBER if base == "DECIMAL" else KINDS_OF_TYPES.get(base, OTHER)


def _gist(message: str) -> str:
    """An engine's message without its advice on its own options."""
    return " ".join(message.split("\n\n")[0].split("\nPossible")[0].split())
