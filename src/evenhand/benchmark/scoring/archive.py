"""Results as four small Parquet files, to be read again where the predictions are not."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._writing import fill_whole
from evenhand.benchmark.extras import require

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

TABLES = ("runs", "questions", "problems", "scores")
ROW = ("key", "lot")
DROPPED = 7  # of the 23 bits behind the point


def write_archive(results: Results, folder: Path) -> None:
    """Write the tables; scores with a column for each question, rounded to five digits."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        table = _wide(results) if name == "scores" else getattr(results, name)
        numbers = [one.name for one in table.schema if one.type in ("float", "double")]
        options: dict[str, Any] = {
            "compression": "zstd",
            "compression_level": 19,
            "use_dictionary": [one for one in table.column_names if one not in numbers],
            "use_byte_stream_split": numbers,
            "write_statistics": False,
        }
        fill_whole(folder / f"{name}.parquet", partial(pq.write_table, table, **options))


def read_results(folder: str | Path) -> Results:
    """Results that `Results.write` left in a folder: figures and findings need nothing more."""
    require("pyarrow")
    import pyarrow.parquet as pq

    from evenhand.benchmark.scoring.results import Results

    paths = {name: Path(folder) / f"{name}.parquet" for name in TABLES}
    missing = [str(path) for path in paths.values() if not path.is_file()]
    if missing:
        raise FileNotFoundError(
            f"{missing[0]} is not there: {folder} holds no results written by Results.write."
        )
    tables = {name: pq.read_table(path) for name, path in paths.items()}
    return Results(**tables | {"scores": _long(tables["scores"])})


def _wide(results: Results) -> Any:
    import pyarrow as pa

    long = results.scores.to_pandas()
    wide = long.pivot_table(index=list(ROW), columns="question", values="value", observed=True)
    table = pa.Table.from_pandas(wide.apply(rounded).reset_index(), preserve_index=False)
    return table.replace_schema_metadata(None)


def rounded(column: Any) -> Any:
    """Five digits: predictions are stored with hardly more, and the other bits do not compress.

    >>> [round(float(one), 7) for one in rounded(np.array([0.123456789, 1.0, np.nan]))]
    [0.123457, 1.0, nan]
    """
    bits = np.asarray(column, dtype=np.float32).view(np.uint32)
    kept = (bits + (1 << DROPPED >> 1)) >> DROPPED << DROPPED
    return np.where(np.isnan(column), np.nan, kept.view(np.float32)).astype(np.float32)


def _long(wide: Any) -> Any:
    import pyarrow as pa

    frame = wide.to_pandas().melt(list(ROW), var_name="question").dropna()
    frame["value"] = frame["value"].astype("float64")
    columns = ("key", "question", "lot")
    texts = {name: pa.array(frame[name], pa.string()).dictionary_encode() for name in columns}
    return pa.table(texts | {"value": pa.array(frame["value"])})
