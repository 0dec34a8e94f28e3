"""Columns with a JSON document beside them, in one Parquet file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._writing import fill_whole
from evenhand.benchmark.extras import require

ENTRY = b"evenhand"


def save(path: Path, columns: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write columns of numbers and what there is to say of them, compactly."""
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    document = json.dumps(about, ensure_ascii=False).encode()
    table = pa.table(dict(columns)).replace_schema_metadata({ENTRY: document})
    dense = [name for name, column in columns.items() if _is_dense(column)]
    options: dict[str, Any] = {
        "compression": "zstd",
        "use_dictionary": [name for name in columns if name not in dense],
        "use_byte_stream_split": dense,
        "write_statistics": False,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    fill_whole(path, lambda file: pq.write_table(table, file, **options))


def _is_dense(column: NDArray[Any]) -> bool:
    """Whether fractions hardly repeat, so that a dictionary of them would only cost."""
    some = column[:: max(len(column) // 1000, 1)]
    return column.dtype.kind == "f" and len(np.unique(some)) > len(some) / 4


def columns(path: Path) -> dict[str, NDArray[Any]]:
    """The columns of a file."""
    import pyarrow.parquet as pq

    table = pq.read_table(path, memory_map=False)
    return {name: table[name].to_numpy() for name in table.column_names}


def about(path: Path) -> dict[str, Any]:
    """What was said of the columns; the columns themselves are not read."""
    import pyarrow.parquet as pq

    found = pq.read_schema(path).metadata
    return dict(json.loads(found[ENTRY]))
