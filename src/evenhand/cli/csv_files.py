"""CSV as it is written: one header, every line as long as it, and nothing skipped in silence."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import IO, Any

from evenhand._errors import InputError

DELIMITERS = (",", ";", "\t", "|")
LINES_TO_EXPLAIN = 200_000
BYTES_TO_TYPE_WHOLE = 1 << 24  # types of larger files are read off their first rows
ROWS_TO_TYPE = 100_000


def csv_table(database: Any, paths: list[Path], literals: list[str]) -> Any:
    """A relation over CSV files, whose dialect is fixed by the first line of the first.

    `literals` are the paths as DuckDB must be given them.
    """
    import duckdb

    names, delimiter = header(paths[0])
    small = sum(path.stat().st_size for path in paths) <= BYTES_TO_TYPE_WHOLE
    files = ", ".join("'" + name.replace("'", "''") + "'" for name in literals)
    dialect = f"header = true, delim = '{delimiter}', quote = '\"', escape = '\"', comment = ''"
    rest = f"skip = 0, sample_size = {-1 if small else ROWS_TO_TYPE}, hive_partitioning = false, "
    rest += f"union_by_name = {'true' if len(paths) > 1 else 'false'}"
    try:
        return database.sql(f"select * from read_csv([{files}], {dialect}, {rest})")
    except duckdb.Error as failure:
        for path in paths:
            explain(path, len(names), delimiter, failure)
        raise


def header(path: Path) -> tuple[list[str], str]:
    """Names of the columns, and what stands between them."""
    with _text(path) as file:
        try:
            line = file.readline()
        except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as failure:
            raise InputError(f"{path} cannot be read as CSV text: {failure}.") from failure
    delimiter = max(DELIMITERS, key=line.count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"The header of {path} names {twice[0]!r} twice; rename one of them.")
    return names, delimiter


def explain(path: Path, width: int, delimiter: str, failure: Exception) -> None:
    """Say which line of a file that cannot be read is the first bad one, if it is found."""
    with _text(path) as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            for row in islice(rows, LINES_TO_EXPLAIN):
                if len(row) != width:
                    raise InputError(
                        f"{path} is not a whole CSV file: line {rows.line_num} has {len(row)} "
                        f"values, and the header {width}."
                    ) from failure
        except (csv.Error, UnicodeDecodeError, EOFError) as bad:
            at = f"near line {rows.line_num + 1}"
            raise InputError(f"{path} cannot be read as CSV, {at}: {bad}.") from failure


def _text(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")
