"""CSV and JSON lines, which declare no types: those of columns are inferred from all rows.

An engine that guesses types from the first rows rounds what comes later: 0.4 among whole numbers is
0. Here a column is numbers only if every value is one and none is lost by it, and else stays text:
"007" is not 7, and a number of 19 digits is a name. CSV is read as it is written: one header,
every line as long as it, and nothing skipped silently.
"""

from __future__ import annotations

import csv
import glob
import gzip
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from evenhand._errors import InputError

DELIMITERS = (",", ";", "\t", "|")
LINES_TO_EXPLAIN = 200_000
MANY = 1_000  # columns, most of which are of no use but make every reading slow
ROWS_TO_GUESS = 10_000
LONGEST_HEADER = 1 << 20
BYTES_AT_A_TIME = 1 << 20

INTEGER = "(0|[1-9][0-9]{0,17})"  # what a 64-bit integer holds, and no zeros before it
PATTERNS = {  # by the type of a column, from the narrowest to the widest
    "BOOLEAN": "true|false|True|False|TRUE|FALSE",
    "BIGINT": f" *-?{INTEGER} *",
    "DOUBLE": f" *[-+]?({INTEGER}([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)? *"
    "|[-+]?(?i:nan|inf|infinity)",
    "VARCHAR": None,
}
JSON_TYPES = {  # the narrowest type for all kinds of values that a column has
    "BOOLEAN": {"BOOLEAN"},
    "BIGINT": {"BIGINT", "UBIGINT"},
    "DOUBLE": {"BIGINT", "UBIGINT", "DOUBLE"},
    "VARCHAR": {"BOOLEAN", "BIGINT", "UBIGINT", "DOUBLE", "VARCHAR"},
}


def csv_table(database: Any, paths: list[Path], columns: Sequence[str] | None) -> Any:
    """A relation over CSV files, whose dialect is fixed by the first line of the first."""
    import duckdb

    _check_whole(paths)
    names, delimiter = header(paths[0])
    is_uniform = all(header(path) == (names, delimiter) for path in paths[1:]) and _is_plain(names)
    # Where the names are known nothing is left to guess, which takes long where they are many.
    layout = (
        f"auto_detect = false, columns = {_struct(dict.fromkeys(names, 'VARCHAR'))}"
        if is_uniform
        else f"all_varchar = true, union_by_name = {len(paths) > 1}"
    )
    source = (
        f"read_csv({_literals(paths)}, header = true, delim = {_quoted(delimiter)}, "
        "quote = '\"', escape = '\"', comment = '', skip = 0, hive_partitioning = false, "
        f"{layout})"
    )
    try:
        if is_uniform and {*(columns or ())} <= {*names}:
            selection = "*" if columns is None else ", ".join(map(sql_name, dict.fromkeys(columns)))
            source = f"(select {selection} from {source})"
            if len(names) > MANY or any(map(_is_compressed, paths)):
                source = _unpacked(database, source)
        return typed(database, source, columns)
    except duckdb.InterruptException:
        raise
    except duckdb.Error as failure:
        for path in paths:
            explain(path, len(names), delimiter, failure)
        raise


def _is_plain(names: Sequence[str]) -> bool:
    """Whether the engine would call the columns by these names.

    To it Y is y, none is empty, and spaces around a name are not part of it. A name with a line
    break goes on in another line, of which `header` knows nothing.
    """
    different = len({name.lower() for name in names}) == len(names)
    return different and all(name == name.strip() != "" for name in names)


def _unpacked(database: Any, source: str) -> str:
    """A table of what will be read, read once; what does not fit is put on disk."""
    database.execute(f"create or replace temp table unpacked as from {source}")
    return "unpacked"


def typed(database: Any, source: str, columns: Sequence[str] | None) -> Any:
    """A relation over columns of text; those that will be read have the type of all values."""
    names = database.sql(f"from {source}").columns
    selected = [name for name in names if columns is None or name in columns]
    guess = _fitting(database, f"(from {source} limit {ROWS_TO_GUESS})", dict.fromkeys(selected))
    types = _fitting(database, source, guess)
    casts = ", ".join(
        f"cast({sql_name(at)} as {kind}) as {sql_name(at)}" for at, kind in types.items()
    )
    return database.sql(f"select * {f'replace ({casts})' if casts else ''} from {source}")


def json_table(database: Any, paths: list[Path], columns: Sequence[str] | None) -> Any:
    """A relation over JSON lines; text stays text.

    If there is no column `doc.group`, that is the field `group` of the objects in `doc`.
    """
    _check_whole(paths)
    options = "format = 'newline_delimited', hive_partitioning = false, union_by_name = true"
    source = f"read_json({_literals(paths)}, {options}"
    present = database.sql(f"from {source}, map_inference_threshold = -1)").columns
    columns = present if columns is None else columns
    roots = {name: _root(name, present) for name in columns}
    every_row = f"{source}, columns = {_struct(dict.fromkeys(roots.values(), 'JSON'))})"
    values = {name: _json_value(name, root) for name, root in roots.items()}
    compressed = any(map(_is_compressed, paths))
    every_row = _unpacked(database, every_row) if compressed else every_row
    expressions = ", ".join(f"list(distinct json_type({value}))" for value in values.values())
    kinds_found = database.sql(f"select {expressions} from {every_row}").fetchall()[0]
    kinds = {
        name: set(kind or ()) - {None, "NULL"}
        for name, kind in zip(roots, kinds_found, strict=True)
    }
    for name, kind in kinds.items():
        _check_one_value(database, every_row, name, roots[name], kind)
    types = {name: _json_type(kind) for name, kind in kinds.items() if kind or name in present}
    fields = {name: kind for name, kind in types.items() if name != roots[name]}
    if compressed and {*columns} <= {*types}:
        casts = (
            f"cast({values[at]} ->> '$' as {kind}) as {sql_name(at)}" for at, kind in types.items()
        )
        return database.sql(f"select {', '.join(casts)} from {every_row}")
    types_read = dict.fromkeys(present, "VARCHAR") | {roots[name]: "JSON" for name in fields}
    types_read |= {name: kind for name, kind in types.items() if name not in fields}
    casts = (
        f"cast({values[at]} ->> '$' as {kind}) as {sql_name(at)}" for at, kind in fields.items()
    )
    return database.sql(
        f"select {', '.join(['*', *casts])} from {source}, columns = {_struct(types_read)})"
    )


def header(path: Path) -> tuple[list[str], str]:
    """Names of the columns, and the delimiter."""
    with _text(path) as file:
        try:
            line = file.readline(LONGEST_HEADER)
        except UnicodeDecodeError as failure:
            raise InputError(
                f"{path} cannot be read as CSV text: {failure}. Save it as UTF-8."
            ) from failure
    if len(line) == LONGEST_HEADER:
        raise InputError(f"The first line of {path} has a million characters: it is not a header.")
    delimiter = max(DELIMITERS, key=line.count)
    try:
        names = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as failure:
        raise InputError(f"The header of {path} cannot be read: {failure}.") from failure
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"The header of {path} names {twice[0]!r} twice; rename one of them.")
    return names, delimiter


def explain(path: Path, width: int, delimiter: str, failure: Exception) -> None:
    """Raise an error that names the first bad line of an unreadable file, if it is found."""
    with _text(path) as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            for row in islice(rows, LINES_TO_EXPLAIN):
                if len(row) != width:
                    raise InputError(
                        f"{path} is not a whole CSV file: line {rows.line_num} has {len(row)} "
                        f"values, and the header {width}."
                    ) from failure
        except (csv.Error, UnicodeDecodeError) as bad:
            at = f"near line {rows.line_num + 1}"
            raise InputError(f"{path} cannot be read as CSV, {at}: {bad}.") from failure


def literal(path: Path) -> str:
    """A path escaped for DuckDB, which reads names as patterns."""
    return glob.escape(str(path))


def _fitting(database: Any, source: str, types: Mapping[str, str | None]) -> dict[str, str]:
    """The narrowest type that loses nothing in any row, for each column; `types` are guesses.

    Every column whose type some value does not fit gets the next wider one, until all fit.
    """
    order = list(PATTERNS)
    fitting = {name: kind or order[0] for name, kind in types.items()}
    doubtful = fitting
    while True:
        checks = [
            "coalesce(bool_and(regexp_full_match("
            f"{sql_name(name)}, {_quoted(PATTERNS[kind])})), true)"
            if PATTERNS[kind]
            else "true"
            for name, kind in doubtful.items()
        ]
        expressions = ", ".join(["count(*)", *checks])
        _, *fits = database.sql(f"select {expressions} from {source}").fetchall()[0]
        refuted = [name for name, fit in zip(doubtful, fits, strict=True) if not fit]
        if not refuted:
            return fitting
        doubtful = {name: order[order.index(fitting[name]) + 1] for name in refuted}
        fitting |= doubtful


def _root(name: str, columns: Sequence[str]) -> str:
    """The column of a name: that column, or the one whose objects have it as a field."""
    before = name.partition(".")[0]
    return before if name not in columns and before in columns else name


def _json_value(name: str, root: str) -> str:
    """The value of a column, or of a field of its objects: `doc.person.age` in `doc`."""
    if name == root:
        return sql_name(root)
    pointer = name.removeprefix(root).replace("~", "~0").replace("/", "~1").replace(".", "/")
    return f"json_extract({sql_name(root)}, {_quoted(pointer)})"


def _check_one_value(database: Any, rows: str, name: str, root: str, kinds: set[str]) -> None:
    """Refuse lists, objects and fields that no row has, and name alternatives."""
    if "ARRAY" in kinds:
        raise InputError(
            f"{name!r} holds lists; a column holds one value in each row. Name one entry of the "
            f"lists, such as {name}.0."
        )
    if "OBJECT" in kinds:
        raise InputError(
            f"{name!r} holds objects; a column holds one value in each row. Name one of their "
            f"fields: {', '.join(_fields(database, rows, name, root))}."
        )
    if name != root and not kinds:
        fields = _fields(database, rows, name.rpartition(".")[0], root)
        if fields:
            raise InputError(f"No row has a value of {name!r}. There are {', '.join(fields)}.")


def _fields(database: Any, rows: str, name: str, root: str) -> list[str]:
    """The fields of the first object in a column, by their full names."""
    value = _json_value(name, root)
    query = f"select json_keys({value}) from {rows} where json_type({value}) = 'OBJECT' limit 1"
    return [f"{name}.{key}" for (keys,) in database.sql(query).fetchall() for key in keys]


def _json_type(kinds: set[str]) -> str:
    """The type of a column that holds values of these kinds."""
    return next(kind for kind, allowed in JSON_TYPES.items() if kinds <= allowed)


def _check_whole(paths: Sequence[Path]) -> None:
    """Refuse compressed files that are damaged: the engine ignores their checksums."""
    for path in paths:
        if _is_compressed(path):
            with _reading(path), gzip.open(path) as file:
                while file.read(BYTES_AT_A_TIME):
                    pass


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as failure:
        raise InputError(f"{path} is damaged or cut short: {failure}") from failure


def _text(path: Path) -> IO[str]:
    if _is_compressed(path):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _is_compressed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _literals(paths: Sequence[Path]) -> str:
    return f"[{', '.join(_quoted(literal(path)) for path in paths)}]"


def _struct(types: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_quoted(name)}: '{kind}'" for name, kind in types.items()) + "}"


def _quoted(text: str | None) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def sql_name(column: str) -> str:
    """A column's name in SQL.

    >>> sql_name("a")
    '"a"'
    """
    return '"' + column.replace('"', '""') + '"'
