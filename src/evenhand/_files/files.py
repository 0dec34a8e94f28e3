"""Files of rows, opened in place: DuckDB reads them in pieces, never as a whole."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand._errors import InputError, MissingExtraError
from evenhand._files.counters import counter_table
from evenhand._files.excel import excel_table
from evenhand._files.text_files import csv_table, json_table, literal, sql_name

ARROW_FILE = b"ARROW1"
STREAM_ENDS = (b"\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\0")  # the second before Arrow 0.15
KINDS = {
    "CSV": (".csv", ".tsv", ".csv.gz", ".tsv.gz"),
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "JSON lines": (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
    "Excel": (".xlsx", ".xlsm"),
    "Prometheus": (".prom",),
}


def connect(folder: Path | None = None) -> Any:
    """A DuckDB database in memory, which neither downloads anything nor fills the memory.

    What does not fit is put in the folder, by default that of temporary files. Extensions are
    neither installed nor loaded, and nothing that runs in it can change that.
    """
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as missing:
        raise MissingExtraError(
            f'Reading files needs {missing.name}: pip install "evenhand[files]"'
        ) from missing
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "memory_limit": f"{_memory_limit() // 2**20}MiB",
        "preserve_insertion_order": False,
        "temp_directory": str(folder or tempfile.gettempdir()),
    }
    database = duckdb.connect(config=settings)
    database.execute("SET enable_progress_bar = true")  # so that it can be asked how far it is
    database.execute("SET enable_progress_bar_print = false")
    database.execute("SET lock_configuration = true")
    return database


def _memory_limit() -> int:
    """Half of the machine's memory; the rest is put on disk."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):  # not every system provides it
        total = 4 * 2**30
    return max(total // 2, 2**28)


def open_files(
    database: Any, names_or_patterns: Sequence[str], columns: Sequence[str] | None
) -> Any:
    """One relation over all files; `columns` are those that will be read, None for all."""
    paths = found_files(names_or_patterns)
    kinds = {kind_of(path): path for path in paths}
    if len(kinds) > 1:
        names = " and ".join(f"{path} ({kind})" for kind, path in kinds.items())
        raise InputError(f"All files must be of one kind; these differ: {names}.")
    for path in paths:
        if not path.stat().st_size:
            raise InputError(f"{path} is empty: it has no header and no rows.")
    return READERS[kind_of(paths[0])](database, paths, columns)


def collected(table: Any, columns: Sequence[str]) -> Any:
    """The columns that will be read, in memory."""
    import narwhals as nw

    lazy = nw.from_native(table)
    present = [name for name in lazy.collect_schema().names() if name in columns]
    return lazy.select(present).collect().to_native()


def found_files(patterns: Sequence[str]) -> list[Path]:
    """The files that match names and patterns."""
    files: dict[Path, None] = {}
    for name in patterns:
        matches = [name] if Path(name).exists() else sorted(glob.glob(name, recursive=True))
        if not matches:
            problem = "No file matches" if glob.has_magic(name) else "There is no file"
            raise InputError(f"{problem} {name!r} (in {Path.cwd()}).")
        files |= dict.fromkeys(map(Path, matches))
    folders = [path for path in files if path.is_dir()]
    if folders:
        raise InputError(
            f"{folders[0]} is a folder. Name its files, for example '{folders[0]}/*.parquet'."
        )
    return list(files)


def check_outputs(outputs: Mapping[str, Path], inputs: Iterable[Path]) -> None:
    """Refuse to write over a file that is read, or two outputs to one file; links are followed."""
    used = {_identity(path): f"{path}, which is read" for path in inputs}
    for option, path in outputs.items():
        if path.exists() and not path.is_file():
            continue  # a device or pipe accepts any output
        if _identity(path) in used:
            raise InputError(f"--{option} {path} would overwrite {used[_identity(path)]}.")
        used[_identity(path)] = f"the output of --{option}"


def kind_of(path: Path) -> str:
    """The kind of a file, by the end of its name.

    >>> kind_of(Path("scores.2024.CSV.gz"))
    'CSV'
    """
    for kind, suffixes in KINDS.items():
        if path.name.lower().endswith(suffixes):
            return kind
    endings = ", ".join(suffix for suffixes in KINDS.values() for suffix in suffixes)
    raise InputError(f"{path}: what kind of file is this? Its name should end in {endings}.")


def _identity(path: Path) -> tuple[int, int] | Path:
    """A key that is equal for two names of one file, whether it exists or not."""
    if not path.exists():
        return path.resolve()
    status = path.stat()
    return status.st_dev, status.st_ino


def _parquet(database: Any, paths: list[Path], _: Sequence[str] | None) -> Any:
    names = [literal(path) for path in paths]
    return database.read_parquet(names, union_by_name=len(paths) > 1, hive_partitioning=False)


def _arrow(database: Any, paths: list[Path], columns: Sequence[str] | None) -> Any:
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


def _stream(database: Any, batches: Any, columns: Sequence[str] | None) -> Any:
    import duckdb

    present = [name for name in batches.schema.names if columns is None or name in columns]
    if not present:
        return database.from_arrow(batches.schema.empty_table())
    database.register("stream", batches)
    names = ", ".join(map(sql_name, present))
    try:
        database.execute(f"create temp table kept as select {names} from stream")
    except duckdb.Error as failure:
        reason = str(failure).strip().splitlines()[-1].rpartition("Error: ")[2]
        raise InputError(f"An Arrow stream is damaged or cut short: {reason}") from failure
    return database.table("kept")


def _batches(paths: list[Path]) -> Any:
    import pyarrow as pa

    with _reader(paths[0], pa.memory_map(str(paths[0]))) as first:
        schema = first.schema
    one_by_one = (batch for path in paths for batch in _whole_stream(path))
    return pa.RecordBatchReader.from_batches(schema, one_by_one)


def _whole_stream(path: Path) -> Iterator[Any]:
    """The batches of a stream, which must end with its mark: a cut one may end after any batch."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as file, _reader(path, file) as reader:
        end = file.tell()
        for batch in reader:
            yield batch
            end = file.tell()
        file.seek(end)
        if file.read(9) not in STREAM_ENDS:
            raise InputError(f"{path} is cut short, or something follows its end.")


def _reader(path: Path, file: Any) -> Any:
    import pyarrow as pa
    import pyarrow.ipc

    try:
        return pyarrow.ipc.open_stream(file)
    except (pa.ArrowInvalid, OSError) as failure:
        raise InputError(f"{path} is not an Arrow file or stream: {failure}") from failure


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


READERS: dict[str, Callable[[Any, list[Path], Sequence[str] | None], Any]] = {
    "CSV": csv_table,
    "Parquet": _parquet,
    "Arrow": _arrow,
    "JSON lines": json_table,
    "Excel": excel_table,
    "Prometheus": counter_table,
}
