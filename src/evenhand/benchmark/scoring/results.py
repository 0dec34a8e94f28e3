"""The results of a benchmark as a table: a row for each run, question and lot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand._errors import InputError
from evenhand.benchmark.design.questions import QUESTIONS, Questions
from evenhand.benchmark.design.studies import Design
from evenhand.benchmark.extras import require
from evenhand.benchmark.scoring.archive import write_archive
from evenhand.benchmark.scoring.kept import scored
from evenhand.benchmark.scoring.tables import asked_table, problem_table, run_table
from evenhand.benchmark.store import Store

VIEWS = ("runs", "questions", "problems", "scores")
JOINED = (
    "create view results as select runs.*, questions.* exclude (name), scores.question, lot, value "
    "from scores join runs using (key) join questions on questions.name = scores.question"
)


@dataclass(frozen=True, eq=False)
class Results:
    """Scores of runs, with the runs and questions they belong to, as Arrow tables.

    `runs` has a row for each run, `questions` one for each question, `problems` one for each
    problem with its title and provenance, and `scores` has key, question, lot and value.
    """

    runs: Any
    questions: Any
    problems: Any
    scores: Any

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

        With lot="drawn", a run that decides nothing by lot is there with its only answer.
        """
        chosen = "lot = 'expected'"
        if lot != "expected":
            chosen = "(lot = 'drawn' or (lot = 'expected' and not by_lot))"
        keys = 'problem, base, method, "constraint", hyperparameter, question'
        return self.query(
            f"select {keys}, avg(value) as mean, count(value) as seeds, "
            "stddev_samp(value) / sqrt(count(value)) as error from results "
            f"where {chosen} and ({where}) and not isnan(value) group by {keys} order by {keys}"
        )

    def write(self, path: str | Path) -> None:
        """The joined table as .parquet or .csv, or all tables as a .duckdb database or a folder.

        A folder is the smallest (scores have five digits there); `read_results` reads it.
        """
        path = Path(path)
        if path.suffix not in ("", ".parquet", ".csv", ".duckdb"):
            raise InputError(f"{path} should end in .parquet, .csv or .duckdb, or be a folder.")
        if not path.suffix:
            write_archive(self, path)
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
        for name in VIEWS:
            database.register(name, getattr(self, name))
        database.execute(JOINED)
        return database


def _to_database(database: Any, path: Path) -> None:
    path.unlink(missing_ok=True)
    target = str(path).replace("'", "''")
    database.execute(f"attach '{target}' as kept")
    for name in VIEWS:
        database.execute(f"create table kept.{name} as select * from {name}")
    database.execute("use kept")
    database.execute(JOINED)
    database.execute("use memory")
    database.execute("detach kept")


def results(
    store: Store | str | Path,
    design: Design | None = None,
    *,
    questions: Questions | None = None,
    n_jobs: int = 1,
) -> Results:
    """Score what a store holds, or the part of it that belongs to a design.

    `questions` are by default the design's. Answers are kept beside the predictions, so that
    only runs that are new are scored.
    """
    require("pyarrow", "joblib")
    store = store if isinstance(store, Store) else Store(Path(store))
    entries = store.entries()
    if questions is None:
        questions = QUESTIONS if design is None else design.questions
    if design is not None:
        wanted = design.runs().keys()
        entries = {key: entry for key, entry in entries.items() if key in wanted}
    return Results(
        runs=run_table(entries),
        questions=asked_table(questions),
        problems=problem_table(store, entries),
        scores=scored(store, entries, questions, n_jobs),
    )
