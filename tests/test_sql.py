"""The counts that our SQL brings out of a database are those of its rows."""

import sqlite3
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot
from click.testing import CliRunner
from sqlglot import exp

import evenhand as eh
from engines import classic_spark
from evenhand._data.counts import MOMENT_COLUMNS
from evenhand._data.sql import DIALECTS
from evenhand.cli.sql import sql
from postgres import server

TABLE = 'people "of" 2024'
QUOTED = '"people ""of"" 2024"'
TYPES = {
    "hired": "integer",
    "the decision": "integer",
    'se"x': "text",
    "race": "text",
    "region": "integer",
    "score": "real",
    "weight": "double precision",
    "pay": "double precision",
    "guess": "double precision",
    "id": "integer",
}


def people(rows=700):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, rows)
    score = np.round(rng.random(rows) * 0.6 + truth * 0.3, 2).astype(np.float32)
    return pd.DataFrame(
        {
            "hired": truth,
            "the decision": (score >= 0.6).astype(int),
            'se"x': rng.choice(["F", "M", "it's ü"], rows),
            "race": rng.choice(["b", "w"], rows),
            "region": rng.integers(0, 3, rows),
            "score": score,
            "weight": rng.choice([0.5, 1.0, 2.0], rows),
            "pay": rng.integers(0, 40, rows) / 4,
            "guess": rng.integers(0, 40, rows) / 4,
            "id": rng.integers(0, 200, rows),
        }
    )


class DuckDB:
    def __init__(self):
        self.database = duckdb.connect()

    def load(self, name, frame, types):
        columns = ", ".join(f'"{c}" {types[c]}'.replace('se"x', 'se""x') for c in frame)
        self.database.execute(f'create or replace table "{name}" ({columns})')
        self.database.register("rows", frame)
        self.database.execute(f'insert into "{name}" select * from rows')

    def read(self, query):
        return self.database.sql(query).to_arrow_table()


class SQLite:
    def __init__(self):
        self.database = sqlite3.connect(":memory:")

    def load(self, name, frame, types):
        self.database.execute(f'drop table if exists "{name}"')
        columns = ", ".join(f'"{c}" {types[c]}'.replace('se"x', 'se""x') for c in frame)
        self.database.execute(f'create table "{name}" ({columns})')
        marks = ", ".join("?" * len(frame.columns))
        rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
        self.database.executemany(f'insert into "{name}" values ({marks})', rows)

    def read(self, query):
        found = self.database.execute(query)
        return pd.DataFrame(found.fetchall(), columns=[column[0] for column in found.description])


class Spark:
    def __init__(self):
        self.session = classic_spark()

    def load(self, name, frame, types):
        kinds = {"integer": "int", "text": "string", "real": "float", "double precision": "double"}
        schema = ", ".join(f"`{column}` {kinds[types[column]]}" for column in frame)
        rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
        self.session.createDataFrame(rows, schema).createOrReplaceTempView(f"`{name}`")

    def read(self, query):
        return self.session.sql(query)


@pytest.fixture(scope="module")
def postgres():
    with server() as running:
        yield running


@pytest.fixture(
    scope="module",
    params=[
        "duckdb",
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.slow),
        pytest.param("spark", marks=pytest.mark.slow),
    ],
)
def database(request):
    """A database with the people in it, the name of its dialect and that of the table."""
    made = {"duckdb": DuckDB, "sqlite": SQLite, "spark": Spark}
    name = request.param
    running = request.getfixturevalue("postgres") if name == "postgres" else made[name]()
    return running, name


def loaded(database, frame):
    """Load the rows; views of Spark and the loader of PostgreSQL are given plain names."""
    running, name = database
    plain = name in ("postgres", "spark")
    renamed = frame.rename(columns={'se"x': "sex"}) if plain else frame
    types = TYPES | {"sex": "text"}
    running.load("people" if plain else TABLE.replace('"', '""'), renamed, types)
    return running, name, "people" if plain else QUOTED, renamed, "sex" if plain else 'se"x'


def assert_same_tally(found, expected):
    assert found.axes == expected.axes
    assert (found.cells == expected.cells).all()
    for name in expected.sums:
        np.testing.assert_allclose(found.sums[name], expected.sums[name], rtol=1e-12)


def test_counts_that_come_out_are_those_of_the_rows(database):
    running, dialect, table, frame, sex = loaded(database, people())
    names = {"y_true": "hired", "y_pred": "the decision", "sensitive_features": [sex, "race"]}
    names |= {"strata": "region", "sample_weight": "weight"}
    lines = running.read(eh.count_query(table, dialect=dialect, **names))
    assert_same_tally(eh.tally(data=lines, rows="n", **names), eh.tally(data=frame, **names))


def test_a_threshold_cuts_in_the_database_where_the_audit_cuts(database):
    """0.7 of single precision is below 0.7; an engine that compares in single would select it."""
    running, dialect, table, frame, sex = loaded(database, people())
    names = {"y_true": "hired", "sensitive_features": sex}
    query = eh.count_query(table, dialect=dialect, y_score="score", threshold=0.7, **names)
    found = eh.tally(data=running.read(query), rows="n", y_pred="selected", **names)
    selected = frame.score.astype(float) >= 0.7
    assert ((frame.score == np.float32(0.7)) & ~selected).any()
    expected = eh.tally(data=frame.assign(selected=selected * 1), y_pred="selected", **names)
    assert_same_tally(found, expected)


def test_scores_that_are_missing_or_not_finite_are_refused_when_the_counts_are_read(database):
    frame = people(40)
    holes = frame.assign(score=frame.score.where(frame.index != 3, None))
    running, dialect, table, _, sex = loaded(database, holes)
    query = eh.count_query(
        table, dialect=dialect, y_score="score", threshold=0.7, sensitive_features=sex
    )
    with pytest.raises(eh.InputError, match="'selected' has 1 missing label"):
        eh.tally(data=running.read(query), rows="n", y_pred="selected", sensitive_features=sex)


def test_scores_that_are_not_a_number_are_not_selected():
    database = DuckDB()
    frame = people(3).assign(score=np.array([np.nan, np.inf, -np.inf], np.float32))
    database.load(TABLE.replace('"', '""'), frame, TYPES)
    query = eh.count_query(QUOTED, y_score="score", threshold=0.5, sensitive_features="id")
    assert database.read(query)["selected"].null_count == 3


@pytest.mark.slow
def test_rounded_scores_are_counted_as_the_rows_are(database):
    running, dialect, table, frame, sex = loaded(database, people())
    names = {"y_true": "hired", "y_pred": "the decision", "sensitive_features": sex}
    query = eh.count_query(table, dialect=dialect, y_score="score", digits=2, **names)
    names |= {"y_score": "score", "criteria": "calibration_parity", "measures": "mpd"}
    found = eh.audit(data=running.read(query), rows="n", **names)
    rounded = frame.assign(score=frame.score.astype(float).round(2))
    expected = eh.audit(data=rounded, **names)
    assert found.finding("calibration_parity").p_value == pytest.approx(
        expected.finding("calibration_parity").p_value
    )


@pytest.mark.slow
def test_sums_of_values_are_those_that_moments_adds_up(database):
    running, dialect, table, frame, sex = loaded(database, people())
    names = {"y_true": "pay", "y_pred": "guess", "sensitive_features": [sex, "race"]}
    query = eh.count_query(table, dialect=dialect, task="regression", **names)
    found = eh.tally(
        data=running.read(query), rows="n", sensitive_features=[sex, "race"], sums=MOMENT_COLUMNS
    )
    expected = eh.tally(
        frame.pay, frame.guess, sensitive_features=frame[[sex, "race"]], task="regression"
    )
    assert_same_tally(found, expected)
    audit = eh.audit(
        data=running.read(query),
        rows="n",
        y_true=None,
        sensitive_features=[sex, "race"],
        task="regression",
    )
    assert "performance_parity(mse)" in {finding.criterion for finding in audit.findings}


def test_a_missing_value_is_not_left_out_of_a_sum(database):
    frame = people(60)
    holes = frame.assign(guess=frame.guess.where(frame.index != 3, None))
    running, dialect, table, _, sex = loaded(database, holes)
    query = eh.count_query(
        table, dialect=dialect, task="regression", y_pred="guess", sensitive_features=sex
    )
    with pytest.raises(eh.InputError, match="'sum_prediction' has 1 value that is missing"):
        eh.audit(
            data=running.read(query),
            rows="n",
            y_true=None,
            sensitive_features=sex,
            task="regression",
        )


def test_small_cells_stay_in_the_database(database):
    running, dialect, table, frame, sex = loaded(database, people())
    names = {"y_pred": "the decision", "sensitive_features": [sex, "race", "region"]}
    query = eh.count_query(table, dialect=dialect, min_count=20, **names)
    sizes = frame.groupby(["the decision", sex, "race", "region"]).size()
    counts = eh.tally(data=running.read(query), rows="n", **names)
    assert counts.sums["rows"].sum() == sizes[sizes >= 20].sum() < len(frame)
    query = eh.count_query(table, dialect=dialect, min_count=20, person="id", **names)
    cells = frame.groupby(["the decision", sex, "race", "region"])["id"]
    sizes = cells.agg(["size", "nunique"])
    counts = eh.tally(data=running.read(query), rows="n", **names)
    assert counts.sums["rows"].sum() == sizes["size"][sizes["nunique"] >= 20].sum()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_its_own_sql(dialect):
    query = eh.count_query(
        "warehouse.hr.people",
        dialect=dialect,
        y_true="hired",
        y_score="score",
        threshold=0.5,
        sensitive_features=["sex", 'odd ] " name'],
        min_count=10,
        person="id",
    )
    parsed = sqlglot.parse(query, dialect=dialect)
    assert len(parsed) == 1
    (statement,) = parsed
    table = statement.find(exp.Table)
    assert [part.name for part in table.parts] == ["warehouse", "hr", "people"]
    assert {column.name for column in statement.find_all(exp.Column)} == {
        *("hired", "score", "sex", 'odd ] " name', "id")
    }
    assert statement.named_selects == ["hired", "selected", "sex", 'odd ] " name', "n"]
    assert all(identifier.quoted for identifier in statement.find_all(exp.Identifier))


@pytest.mark.slow
@pytest.mark.parametrize(
    "table", ["people; drop table people", "people -- x", "people/**/", "(select 1)", "a b"]
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_looks_like_sql_is_a_name(dialect, table):
    query = eh.count_query(table, dialect=dialect, y_pred=table, sensitive_features=[table + "'"])
    (statement,) = sqlglot.parse(query, dialect=dialect)
    assert statement.find(exp.Table).name == table
    assert {column.name for column in statement.find_all(exp.Column)} == {table, table + "'"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"table": ""}, "names no table"),
        ({"table": "a..b"}, "names no table"),
        ({"table": "a.b.c.d"}, "names no table"),
        ({"table": 'a"b'}, "names no table"),
        ({"table": "a."}, "names no table"),
        ({"table": None}, "names no table"),
        ({"table": "a\0b"}, "cannot be the name"),
        ({"y_pred": "`", "dialect": "bigquery"}, "cannot be the name"),
        ({"dialect": "postgresql"}, "no dialect 'postgresql'.*Did you mean 'postgres'"),
        ({"y_pred": None}, "Name the column of the predictions"),
        ({"y_pred": "n"}, "'n' is a column already"),
        ({"threshold": 0.5}, "needs the column of the score"),
        ({"threshold": 0.5, "y_score": "s"}, "Which one decides"),
        ({"threshold": "x", "y_score": "s", "y_pred": None}, "must be a number"),
        ({"threshold": np.inf, "y_score": "s", "y_pred": None}, "must be a finite number"),
        ({"digits": 2}, "needs the column of the score"),
        ({"digits": 20, "y_score": "s"}, "0 to 9"),
        ({"person": "id"}, "min_count="),
        ({"task": "regression", "sample_weight": "w"}, "by group alone"),
        ({"task": "regression", "y_pred": None}, "predicted values"),
    ],
)
def test_what_cannot_be_asked_is_refused(changed, message):
    options = {"table": "people", "y_pred": "p", "sensitive_features": "sex"} | changed
    with pytest.raises((eh.InputError, eh.InputTypeError), match=message):
        eh.count_query(options.pop("table"), **options)


def test_the_command_prints_the_query():
    result = CliRunner().invoke(
        sql, ["people", "--dialect", "tsql", "--prediction", "p", "--group", "sex"]
    )
    expected = eh.count_query("people", dialect="tsql", y_pred="p", sensitive_features="sex")
    assert (result.exit_code, result.output) == (0, f"{expected};\n")
    result = CliRunner().invoke(sql, ["people", "--group", "sex"])
    assert result.exit_code == 2
    assert "Name the column of the predictions" in result.output


def test_without_sqlglot_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(eh.MissingExtraError, match=r"evenhand\[sql\]"):
        eh.count_query("people", y_pred="p", sensitive_features="sex")
