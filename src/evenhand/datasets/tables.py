"""A file in any of the sources' formats as a dataframe of the requested columns."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from evenhand._errors import InputError, require
from evenhand.datasets.task import Origin

if TYPE_CHECKING:
    import pandas as pd

ROWS_AT_A_TIME = 200_000


def read(path: Path, origin: Origin) -> tuple[pd.DataFrame, int]:
    """The rows that the origin keeps, and the number of rows in the file."""
    import pandas as pd

    columns = [*origin.columns, *origin.extra]
    parts, rows = [], 0
    with _clear_errors(path):
        for part in _parts(path, origin, columns):
            rows += len(part)
            parts.append(part if origin.keep is None else origin.keep(part))
    if not rows:
        raise InputError(f"{path} has no rows. Delete it, and fetch it again.")
    return pd.concat(parts, ignore_index=True), rows


def _parts(path: Path, origin: Origin, columns: list[str]) -> Iterator[pd.DataFrame]:
    if path.suffix == ".parquet":
        yield _read_parquet(path, columns)
    elif path.suffix == ".zip":
        for member in _members(path, origin.members):
            with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
                yield from _read_csv(stream, path, origin, columns)
    else:
        yield from _read_csv(path, path, origin, columns)


def _read_parquet(path: Path, columns: list[str]) -> pd.DataFrame:
    require("pyarrow", purpose=f"Reading {path.name}", extra="data")
    import pandas as pd
    import pyarrow.parquet as pq

    _refuse_missing(path, columns, pq.read_schema(path).names)
    return pd.read_parquet(path, columns=columns)


def _members(path: Path, patterns: tuple[str, ...]) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    members = [name for pattern in patterns for name in names if fnmatch(name, pattern)]
    if len(members) < len(patterns):
        raise InputError(
            f"{path} should hold {' and '.join(patterns)}; it holds {', '.join(names[:9])}. "
            "Delete it, and fetch it again."
        )
    return members


def _read_csv(
    source: Path | IO[bytes], path: Path, origin: Origin, columns: list[str]
) -> Iterator[pd.DataFrame]:
    import pandas as pd

    options: dict[str, Any] = {"low_memory": False, "chunksize": ROWS_AT_A_TIME, **origin.csv}
    with pd.read_csv(source, usecols=lambda name: name in columns, **options) as parts:
        for part in parts:
            _refuse_missing(path, columns, list(part.columns))
            yield part[columns].copy()


def _refuse_missing(path: Path, columns: list[str], present: list[str]) -> None:
    missing = [name for name in columns if name not in present]
    if missing:
        raise InputError(
            f"{path} lacks the columns {', '.join(missing[:9])}: it is not the file its name says, "
            "or its layout has changed. Replace it, or delete it and fetch it again."
        )


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Name the file in errors of any library that cannot read it."""
    from pandas.errors import EmptyDataError, ParserError

    broken = (EmptyDataError, ParserError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error)
    try:
        yield
    except (*broken, EOFError, OSError) as failure:
        _unreadable(path, failure)
    except ValueError as failure:
        if type(failure).__module__.startswith("pyarrow"):
            _unreadable(path, failure)
        raise


def _unreadable(path: Path, failure: Exception) -> NoReturn:
    size = path.stat().st_size
    raise InputError(
        f"{path} ({size:,} bytes) cannot be read: it is truncated or damaged, or not a "
        f"{path.suffix} file. Delete it, and fetch it again. ({failure})"
    ) from failure
