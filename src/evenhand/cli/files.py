"""Files of rows, opened where they lie: DuckDB reads them piece by piece, never as a whole.

CSV is read as it is written: one header, every line as long as it, and nothing skipped in silence.
"""

from __future__ import annotations

import csv
import glob
import gzip
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

from evenhand._errors import InputError, MissingExtraError

ARROW_FILE = b"ARROW1"
DELIMITERS = (",", ";", "\t", "|")

LINES_TO_EXPLAIN = 200_000
BYTES_TO_TYPE_WHOLE = 1 << 24  # types of larger files are read off their first rows
ROWS_TO_TYPE = 100_000
KINDS = {
    "CSV": (".csv", ".tsv", ".csv.gz", ".tsv.gz"),
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "JSON lines": (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
}


def connect() -> Any:
    """A DuckDB database in memory, which neither downloads anything nor fills the memory."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as missing:
        raise MissingExtraError(
            f'Reading files needs {missing.name}: pip install "evenhand[files]"'
        ) from missing
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "preserve_insertion_order": False,
        "temp_directory": tempfile.gettempdir(),
    }
    return duckdb.connect(config=settings)


def open_files(database: Any, given: Sequence[str], columns: Sequence[str]) -> Any:
    """One relation over all files; `columns` are those that will be read."""
    paths = found_files(given)
    kinds = {kind_of(path): path for path in paths}
    if len(kinds) > 1:
        names = " and ".join(f"{path} ({kind})" for kind, path in kinds.items())
        raise InputError(f"All files must be of one kind; these differ: {names}.")
    for path in paths:
        if not path.stat().st_size:
            raise InputError(f"{path} is empty: it has no header and no rows.")
    return READERS[kind_of(paths[0])](database, paths, columns)


def found_files(given: Sequence[str]) -> list[Path]:
    """The files that names and patterns stand for."""
    files: dict[Path, None] = {}
    for name in given:
        there = [name] if Path(name).exists() else sorted(glob.glob(name, recursive=True))
        if not there:
            what = "No file matches" if glob.has_magic(name) else "There is no file"
            raise InputError(f"{what} {name!r} (in {Path.cwd()}).")
        files |= dict.fromkeys(map(Path, there))
    folders = [path for path in files if path.is_dir()]
    if folders:
        raise InputError(
            f"{folders[0]} is a folder. Name its files, for example '{folders[0]}/*.parquet'."
        )
    return list(files)


def kind_of(path: Path) -> str:
    """The kind of a file, by the end of its name.

    >>> kind_of(Path("scores.2024.CSV.gz"))
    'CSV'
    """
    for kind, suffixes in KINDS.items():
        if path.name.lower().endswith(suffixes):
            return kind
    known = ", ".join(suffix for suffixes in KINDS.values() for suffix in suffixes)
    raise InputError(f"{path}: what kind of file is this? Its name should end in {known}.")


def literal(path: Path) -> str:
    """A path that DuckDB, which reads names as patterns, takes for this very file."""
    return glob.escape(str(path))


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


def _csv(database: Any, paths: list[Path], _: Sequence[str]) -> Any:
    return csv_table(database, paths, [literal(path) for path in paths])


def _parquet(database: Any, paths: list[Path], _: Sequence[str]) -> Any:
    names = [literal(path) for path in paths]
    return database.read_parquet(names, union_by_name=len(paths) > 1, hive_partitioning=False)


def _json(database: Any, paths: list[Path], _: Sequence[str]) -> Any:
    return database.read_json(
        [literal(path) for path in paths],
        format="newline_delimited",
        union_by_name=len(paths) > 1,
        hive_partitioning=False,
    )


def _arrow(database: Any, paths: list[Path], columns: Sequence[str]) -> Any:
    """Files are scanned as often as needed; a stream can be read once, so its columns are kept."""
    import pyarrow as pa
    import pyarrow.dataset

    if not all(_starts_with(path, ARROW_FILE) for path in paths):
        return _stream(database, _batches(paths), columns)
    try:
        names = [str(path) for path in paths]
        return database.from_arrow(pyarrow.dataset.dataset(names, format="ipc"))
    except pa.ArrowInvalid as failure:
        raise InputError(f"An Arrow file is damaged or cut short: {failure}") from failure


def _stream(database: Any, batches: Any, columns: Sequence[str]) -> Any:
    import duckdb

    there = [name for name in batches.schema.names if name in columns]
    if not there:
        return database.from_arrow(batches.schema.empty_table())
    database.register("stream", batches)
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in there)
    try:
        database.execute(f"create temp table kept as select {quoted} from stream")
    except duckdb.Error as failure:
        reason = str(failure).strip().splitlines()[-1]
        raise InputError(f"An Arrow stream is damaged or cut short: {reason}") from failure
    return database.table("kept")


def _batches(paths: list[Path]) -> Any:
    import pyarrow as pa

    def one_by_one() -> Any:
        for path in paths:
            with _reader(path) as reader:
                yield from (batch for batch in reader)

    with _reader(paths[0]) as first:
        schema = first.schema
    return pa.RecordBatchReader.from_batches(schema, one_by_one())


def _reader(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.ipc

    try:
        return pyarrow.ipc.open_stream(pa.memory_map(str(path)))
    except (pa.ArrowInvalid, OSError) as failure:
        raise InputError(f"{path} is not an Arrow file or stream: {failure}") from failure


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


READERS: dict[str, Callable[[Any, list[Path], Sequence[str]], Any]] = {
    "CSV": _csv,
    "Parquet": _parquet,
    "Arrow": _arrow,
    "JSON lines": _json,
}
