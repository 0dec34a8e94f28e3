"""Every engine that holds tables: how a pandas dataframe gets there, and how often it is read.

The fixture `engine` (in conftest.py) runs a test on all of them, `local_engine` on those that need
no start. One Spark session is shared by a whole run, and serves Spark Connect too.
"""

import os
import socket
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from shutil import which
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

PARTS = 3  # of a table that is spread over workers


def arrow_table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def dask_frame(frame):
    dask = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    return dask.from_pandas(frame, npartitions=PARTS)


def ibis_table(frame):
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    return ibis.memtable(arrow_table(frame))


def spark_frame(frame):
    return classic_spark().createDataFrame(arrow_table(frame))


def connect_frame(frame):
    return spark_connect().createDataFrame(arrow_table(frame))


@dataclass(frozen=True)
class Engine:
    """A kind of table, made from a pandas dataframe by calling it.

    `examples` is how many random tables a law is tried on: few where each starts jobs.
    """

    name: str
    make: Callable[[pd.DataFrame], Any]
    examples: int = 5
    is_slow: bool = False

    def __call__(self, frame: pd.DataFrame) -> Any:
        return self.make(frame)

    @property
    def is_spark(self) -> bool:
        return self.name.startswith("spark")

    @property
    def as_parameter(self) -> Any:
        return pytest.param(self, id=self.name, marks=[pytest.mark.slow] if self.is_slow else [])


LOCAL = [
    Engine("pandas", lambda frame: frame),
    Engine("polars", pl.from_pandas),
    Engine("polars lazy", lambda frame: pl.from_pandas(frame).lazy()),
    Engine("arrow", arrow_table),
    Engine("duckdb", lambda frame: duckdb.from_arrow(arrow_table(frame))),
]
FAR = [
    Engine("ibis", ibis_table, examples=3),
    Engine("dask", dask_frame, examples=2, is_slow=True),
    Engine("spark", spark_frame, examples=2, is_slow=True),
    Engine("spark connect", connect_frame, examples=1, is_slow=True),
]
ENGINES = {engine.name: engine for engine in [*LOCAL, *FAR]}


@cache
def classic_spark():
    """One Spark for a whole run, with a Connect server in it where its client is installed.

    `EVENHAND_SPARK_MASTER` says where it runs: "local-cluster[2,1,512]" is two workers.
    """
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed")
    if not java_is_there():
        pytest.skip("Java is not installed")
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))  # for local-cluster
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(os.environ.get("EVENHAND_SPARK_MASTER", "local[2]"))
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if has_connect():
        settings |= {
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(free_port()),
        }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@cache
def spark_connect():
    """A client of Spark Connect, whose server is the one Spark of the run."""
    if not has_connect():
        pytest.skip("Spark Connect is not installed")
    server = classic_spark()
    from pyspark.sql.connect.session import SparkSession

    port = server.conf.get("spark.connect.grpc.binding.port")
    return SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()


def has_connect() -> bool:
    try:
        import_module("pyspark.sql.connect.session")
    except ImportError:
        return False
    return True


def java_is_there() -> bool:
    return bool(os.environ.get("JAVA_HOME") or which("java"))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


# How often the rows are read --------------------------------------------------------------------


@dataclass(frozen=True)
class Watched:
    """A table that notes when its rows are read."""

    table: Any
    rows: int
    log: Path

    @property
    def passes(self) -> float:
        """How often each row was read, on the average."""
        read = sum(int(note.name.split("-")[0]) for note in self.log.iterdir())
        return read / self.rows

    def forget(self) -> None:
        for note in self.log.iterdir():
            note.unlink()


def watched(engine: Engine, frame: pd.DataFrame, log: Path) -> Watched:
    """The table in an engine; each part of it that is read leaves a note with its rows."""
    note = note_in(str(log))
    if engine.is_spark:
        table = engine(frame)

        def read(batches):
            for batch in batches:
                note(batch.num_rows)
                yield batch

        return Watched(table.mapInArrow(read, table.schema), len(frame), log)
    if engine.name == "dask":
        table = engine(frame)

        def seen(part):
            note(len(part))
            return part

        return Watched(table.map_partitions(seen, meta=table._meta), len(frame), log)
    assert engine.name == "ibis"
    return Watched(watched_by_query(frame, note), len(frame), log)


def watched_by_query(frame: pd.DataFrame, note: Callable[[int], None]) -> Any:
    """A table of Ibis; every query notes the rows each time that it names the table."""
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    database = ibis.duckdb.connect()
    database.con.register("given", arrow_table(frame))
    database.con.execute("create table watched_people as select * from given")
    with warnings.catch_warnings():  # of what Ibis calls in a newer DuckDB
        warnings.simplefilter("ignore", DeprecationWarning)
        table = database.table("watched_people")
    answer = database.to_pyarrow

    def to_pyarrow(query, **options):
        note(len(frame) * ibis.to_sql(query).count('"watched_people"'))
        return answer(query, **options)

    database.to_pyarrow = to_pyarrow
    return table


def note_in(folder: str) -> Callable[[int], None]:
    def note(rows):  # goes to workers by value, and so must not refer to this module
        from pathlib import Path
        from uuid import uuid4

        (Path(folder) / f"{rows}-{uuid4()}").touch()

    return note
