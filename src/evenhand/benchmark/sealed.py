"""Columns of numbers in Parquet files with hashes that reveal damage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import EvenhandError, require
from evenhand._writing import fill_whole

FOOTER, SEAL = b"evenhand", b"evenhand.sha256"

Columns = Mapping[str, NDArray[Any]]


class DamagedFileError(EvenhandError, OSError):
    """A file that cannot be read, or that was damaged."""


def save_columns(path: Path, columns: Columns, about: Mapping[str, Any]) -> None:
    """Write columns of numbers and their metadata, compactly, with hashes."""
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    document = json.dumps(about, ensure_ascii=False).encode()
    seal = " ".join(hashlib.sha256(part).hexdigest() for part in (document, _bytes(columns)))
    table = pa.table(dict(columns)).replace_schema_metadata({FOOTER: document, SEAL: seal})
    dense = [name for name, column in columns.items() if _is_dense(column)]
    options: dict[str, Any] = {
        "compression": "zstd",
        "use_dictionary": [name for name in columns if name not in dense],
        "use_byte_stream_split": dense,
        "write_statistics": False,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    fill_whole(path, lambda file: pq.write_table(table, file, **options))


def read_columns(path: Path) -> dict[str, NDArray[Any]]:
    """The columns of a file; `DamagedFileError` if they are damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = pa.BufferReader(path.read_bytes())  # a disk that fails is not a damaged file
    try:
        table = pq.ParquetFile(content).read()
        columns = {name: table[name].to_numpy() for name in table.column_names}
        sound = _sealed(table.schema.metadata, 1) == hashlib.sha256(_bytes(columns)).hexdigest()
    except Exception as failure:  # a damaged file makes Arrow raise whatever it likes
        raise _damaged(path, " ".join(str(failure).split())[:200]) from failure
    if not sound:
        raise _damaged(path, "its columns are not those that were written")
    return columns


def read_about(path: Path) -> dict[str, Any]:
    """The metadata of the columns; the columns themselves are not read."""
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        try:
            footer = pq.read_schema(file).metadata
            document = footer[FOOTER]
            sound = _sealed(footer, 0) == hashlib.sha256(document).hexdigest()
        except Exception as failure:
            raise _damaged(path, " ".join(str(failure).split())[:200]) from failure
    if not sound:
        raise _damaged(path, "its metadata is not what was written")
    return dict(json.loads(document))


def _damaged(path: Path, reason: str) -> DamagedFileError:
    return DamagedFileError(
        f"{path} is damaged: {reason}. `evenhand bench verify` sets such files aside, and the "
        "next `evenhand bench run` does their runs again."
    )


def _sealed(footer: Mapping[bytes, bytes], part: int) -> str:
    return footer[SEAL].decode().split(" ")[part]


def _bytes(columns: Columns) -> bytes:
    """Names, kinds and values, one after the other."""
    parts = [
        f"{name} {column.dtype.str} {len(column)} ".encode()
        + np.ascontiguousarray(column).tobytes()
        for name, column in sorted(columns.items())
    ]
    return b"".join(parts)


def _is_dense(column: NDArray[Any]) -> bool:
    """Whether fractions hardly repeat, so that a dictionary of them would only cost."""
    sample = column[:: max(len(column) // 1000, 1)]
    return column.dtype.kind == "f" and len(np.unique(sample)) > len(sample) / 4
