"""The results of a benchmark as tables: a row for each run, question and lot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from evenhand._errors import InputError, require
from evenhand._writing import fill_whole
from evenhand.benchmark.design.questions import Question
from evenhand.benchmark.scoring.cache import COLUMNS

TABLES = ("runs", "questions", "problems", "scores")
JOINED = (
    "create view results as select runs.*, questions.* exclude (name), scores.question, lot, value "
    "from scores join runs using (key) join questions on questions.name = scores.question"
)
ROW = ("key", "lot")
FITTED = ("fit_rows", "held_out")
LOTS = ("expected", "drawn", "draws")
DROPPED = 7  # of the 23 bits behind the point
TEXT, NUMBER, INTEGER, FLAG = "string", "float64", "int64", "bool"
RUNS = {
    "key": TEXT,
    "problem": TEXT,
    "base": TEXT,
    "method": TEXT,
    "constraint": TEXT,
    "parameter": TEXT,
    "hyperparameter": NUMBER,
    "seed": INTEGER,
    "fit_rows": INTEGER,
    "held_out": NUMBER,
    "by_lot": FLAG,
    "has_scores": FLAG,
    "cpu_seconds": NUMBER,
    "notes": TEXT,
    "versions": TEXT,
    "code": TEXT,
    "date": TEXT,
}
PROBLEMS = {
    "problem": TEXT,
    "title": TEXT,
    "kind": TEXT,
    "n_classes": INTEGER,
    "n_groups": INTEGER,
    "train": INTEGER,
    "test": INTEGER,
    "is_stand_in": FLAG,
    "provenance": TEXT,
    "about": TEXT,
}
ORDERS = ("p", "q", "tau")


@dataclass(frozen=True, eq=False)
class Results:
    """Scores of runs, with the runs and questions they belong to, as Arrow tables.

    `results` computes them from stored predictions, `read_results` reads them from a folder.

    Parameters
    ----------
    runs : pyarrow.Table
        A row for each run: its key, what was run, how long it took, and what made it: the day,
        the versions, and a fingerprint of the code.
    questions : pyarrow.Table
        A row for each question: its name, criterion, measure and options.
    problems : pyarrow.Table
        A row for each problem: its title, its size, and where its rows come from.
    scores : pyarrow.Table
        Key, question, lot ("expected", "drawn" or "draws") and value.

    Examples
    --------
    >>> run = {"key": "a", "problem": "people", "base": "logistic", "method": "Base", "seed": 0}
    >>> found = Results.from_rows(
    ...     runs=[run],
    ...     questions=[Question("accuracy")],
    ...     problems=[{"problem": "people", "kind": "classification"}],
    ...     scores=[("a", "accuracy", "expected", 0.75)],
    ... )
    >>> found.query("select method, question, value from results").to_dict("records")
    [{'method': 'Base', 'question': 'accuracy', 'value': 0.75}]

    """

    runs: Any
    questions: Any
    problems: Any
    scores: Any

    @classmethod
    def from_rows(
        cls,
        *,
        runs: Iterable[Mapping[str, Any]],
        questions: Iterable[Question],
        problems: Iterable[Mapping[str, Any]],
        scores: Iterable[tuple[str, str, str, float]],
    ) -> Self:
        """Results from plain rows; missing entries are null.

        Scores are (key, question's name, lot, value).
        """
        by_name = {question.name: question for question in questions}
        columns = {field.name: _type_of(field.name) for field in fields(Question)}
        rows = [{"name": name, **asdict(question)} for name, question in by_name.items()]
        return cls(
            runs=_table(runs, RUNS),
            questions=_table(rows, {"name": TEXT, **columns}),
            problems=_table(problems, PROBLEMS),
            scores=_score_table(scores),
        )

    def query(self, sql: str) -> Any:
        """A pandas table of any question to DuckDB.

        The views are runs, questions, problems and scores, and `results`, which joins them: the
        columns of `runs`, those of `questions`, lot and value.
        """
        with self._connected() as database:
            return database.execute(sql).df()

    def to_frame(self, where: str = "true") -> Any:
        """The joined table as pandas, or the part of it where an SQL condition holds."""
        return self.query(f"select * from results where {where}")

    def curves(self, where: str = "true", *, lot: str = "expected") -> Any:
        """Mean and standard error over the seeds, of every question, by hyperparameter.

        Runs that were fitted to other rows (`fit_rows`, `held_out`) are separate.

        With lot="drawn" (one draw) or "draws" (the mean of the criterion over 20 draws), a run that
        decides nothing at random is there with its only answer.
        """
        chosen = "lot = 'expected'"
        if lot not in LOTS:
            raise InputError(f"lot is {lot!r}; there are {', '.join(LOTS)}.")
        if lot != "expected":
            chosen = f"(lot = '{lot}' or (lot = 'expected' and not by_lot))"
        keys = f'problem, base, method, "constraint", hyperparameter, {", ".join(FITTED)}, question'
        return self.query(
            f"select {keys}, avg(value) as mean, count(value) as seeds, "
            "stddev_samp(value) / sqrt(count(value)) as error from results "
            f"where {chosen} and ({where}) and not isnan(value) group by {keys} order by {keys}"
        )

    def wide(self, questions: Iterable[str]) -> Any:
        """A pandas row for each run, with a column for each of these questions.

        Scores are those to be expected, to five digits: what differs by less is a tie, whether
        scores come from predictions or from a folder of `write`. NaN where there is no answer.
        """
        names = list(dict.fromkeys(questions))
        long = self.scores.select(list(COLUMNS)).to_pandas()
        long = long[(long["lot"] == "expected") & long["question"].isin(names)]
        values = long.pivot_table(index="key", columns="question", values="value", observed=True)
        values = values.reindex(columns=names).astype(float)
        values[:] = _rounded(values.to_numpy())
        about = ["key", "problem", "base", "method", "constraint", "hyperparameter", "seed"]
        runs = self.with_fitted_rows(self.runs.select([*about, *FITTED]).to_pandas())
        return runs.merge(values, on="key", how="inner")

    def with_fitted_rows(self, runs: Any) -> Any:
        """A pandas table of runs or curves in which the rows are part of a method's name.

        That is, where a method was fitted to several parts of the same rows: then "mine" is told
        from "mine (30% held out)". The columns `fit_rows` and `held_out` are left out.
        """
        table = self.runs.select(["problem", "base", "method", *FITTED]).to_pandas()
        table = table.drop_duplicates().assign(part=_parts)
        places = table.groupby(["problem", "base", "method"], dropna=False)["part"].nunique()
        several = set(places[places > 1].index.get_level_values("method"))
        names = [
            f"{method} ({part})" if part and method in several else method
            for method, part in zip(runs["method"], _parts(runs), strict=True)
        ]
        return runs.assign(method=names).drop(columns=list(FITTED))

    @property
    def stand_ins(self) -> frozenset[str]:
        """The problems whose rows are not the official ones."""
        rows = self.problems.to_pylist()
        return frozenset(row["problem"] for row in rows if row["is_stand_in"])

    def with_scores(self, scores: Iterable[tuple[str, str, str, float]]) -> Results:
        """The same with further scores: key, question, lot and value of each."""
        import pyarrow as pa

        further = _score_table(scores)
        table = pa.concat_tables([_score_columns(self.scores), further]).unify_dictionaries()
        return replace(self, scores=table)

    def write(self, path: str | Path) -> None:
        """The joined table as .parquet or .csv, or all tables as a .duckdb database or a folder.

        A folder is the smallest (scores have five digits there); `read_results` reads it.
        """
        path = Path(path)
        if path.suffix not in ("", ".parquet", ".csv", ".duckdb"):
            raise InputError(f"{path} should end in .parquet, .csv or .duckdb, or be a folder.")
        if not path.suffix:
            _write_folder(self, path)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._connected() as database:
            if path.suffix == ".duckdb":
                _to_database(database, path)
            else:
                ending = {".parquet": "parquet", ".csv": "csv, header"}[path.suffix]
                target = str(path).replace("'", "''")
                database.execute(f"copy (select * from results) to '{target}' (format {ending})")

    def _connected(self) -> Any:
        require("duckdb")
        import duckdb

        database = duckdb.connect()
        for name in TABLES:
            database.register(name, getattr(self, name))
        database.execute(JOINED)
        return database


def read_results(folder: str | Path) -> Results:
    """Results that `Results.write` left in a folder; figures need nothing more.

    Parameters
    ----------
    folder : str or Path
        A folder with four Parquet files.

    Returns
    -------
    Results
        The tables; scores have five digits.

    Raises
    ------
    FileNotFoundError
        If one of the files is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> with TemporaryDirectory() as folder:
    ...     nothing.write(folder)
    ...     found = read_results(folder)
    >>> found.questions.num_rows
    0

    """
    require("pyarrow")
    import pyarrow.parquet as pq

    paths = {name: Path(folder) / f"{name}.parquet" for name in TABLES}
    missing = [str(path) for path in paths.values() if not path.is_file()]
    if missing:
        raise FileNotFoundError(
            f"{missing[0]} is not there: {folder} holds no results written by Results.write."
        )
    tables = {name: pq.read_table(path) for name, path in paths.items()}
    return Results(
        **tables | {"runs": _complete(tables["runs"]), "scores": _long(tables["scores"])}
    )


def _table(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> Any:
    """An Arrow table of rows, with these columns."""
    import pyarrow as pa

    rows = list(rows)
    return pa.table(
        {
            name: pa.array([row.get(name) for row in rows], type=pa.type_for_alias(kind))
            for name, kind in types.items()
        }
    )


def _complete(runs: Any) -> Any:
    """A table with the columns that an earlier version did not have, empty."""
    import pyarrow as pa

    for name, kind in RUNS.items():
        if name not in runs.column_names:
            empty = pa.nulls(runs.num_rows, pa.type_for_alias(kind))
            runs = runs.append_column(name, empty)
    return runs


def _parts(runs: Any) -> list[str]:
    """The part of the training rows each run was fitted to; empty for all of them.

    >>> import pandas as pd
    >>> _parts(pd.DataFrame({"fit_rows": [np.nan, 5000], "held_out": [0.3, 0.0]}))
    ['30% held out', '5,000 rows']
    """
    shares, numbers = (runs[name].fillna(0).astype(float) for name in ("held_out", "fit_rows"))
    return [
        ", ".join(
            [f"{share * 100:.3g}% held out"] * (share > 0) + [f"{number:,.0f} rows"] * (number > 0)
        )
        for share, number in zip(shares, numbers, strict=True)
    ]


def _score_table(scores: Iterable[tuple[str, str, str, float]]) -> Any:
    types = dict.fromkeys(COLUMNS, TEXT) | {"value": NUMBER}
    return _score_columns(_table([dict(zip(COLUMNS, row, strict=True)) for row in scores], types))


def _score_columns(table: Any) -> Any:
    """The columns of scores, texts as dictionary codes."""
    import pyarrow as pa

    texts = {
        name: table[name].cast(pa.string()).combine_chunks().dictionary_encode()
        for name in COLUMNS[:-1]
    }
    return pa.table({**texts, "value": table["value"]})


def _type_of(option: str) -> str:
    return NUMBER if option in ORDERS else TEXT


def _to_database(database: Any, path: Path) -> None:
    path.unlink(missing_ok=True)
    target = str(path).replace("'", "''")
    database.execute(f"attach '{target}' as kept")
    for name in TABLES:
        database.execute(f"create table kept.{name} as select * from {name}")
    database.execute("use kept")
    database.execute(JOINED)
    database.execute("use memory")
    database.execute("detach kept")


def _write_folder(results: Results, folder: Path) -> None:
    """Write the tables; scores with a column for each question, rounded to five digits."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        table = _wide(results) if name == "scores" else getattr(results, name)
        numbers = [field.name for field in table.schema if field.type in ("float", "double")]
        options: dict[str, Any] = {
            "compression": "zstd",
            "compression_level": 19,
            "use_dictionary": [column for column in table.column_names if column not in numbers],
            "use_byte_stream_split": numbers,
            "write_statistics": False,
        }
        fill_whole(folder / f"{name}.parquet", partial(pq.write_table, table, **options))


def _wide(results: Results) -> Any:
    import pyarrow as pa

    long = results.scores.select(list(COLUMNS)).to_pandas()
    if long.empty:
        return _table([], dict.fromkeys(ROW, TEXT))
    wide = long.pivot_table(index=list(ROW), columns="question", values="value", observed=True)
    table = pa.Table.from_pandas(wide.apply(_rounded).reset_index(), preserve_index=False)
    return table.replace_schema_metadata(None)


def _rounded(column: Any) -> Any:
    """Five digits: predictions are stored with hardly more, and the other bits do not compress.

    >>> [round(float(value), 7) for value in _rounded(np.array([0.123456789, 1.0, np.nan]))]
    [0.123457, 1.0, nan]
    """
    bits = np.asarray(column, dtype=np.float32).view(np.uint32)
    rounded = (bits + (1 << DROPPED >> 1)) >> DROPPED << DROPPED
    return np.where(np.isnan(column), np.nan, rounded.view(np.float32)).astype(np.float32)


def _long(wide: Any) -> Any:
    import pyarrow as pa

    frame = wide.to_pandas().melt(list(ROW), var_name="question").dropna()
    frame["value"] = frame["value"].astype("float64")
    columns = ("key", "question", "lot")
    texts = {name: pa.array(frame[name], pa.string()).dictionary_encode() for name in columns}
    return pa.table(texts | {"value": pa.array(frame["value"])})
