"""The SQL query that counts rows in a database, in its dialect."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from evenhand._data.counts import MOMENT_COLUMNS
from evenhand._data.group_by import listed
from evenhand._errors import InputError, InputTypeError, require
from evenhand._kinds import check_columns, check_kinds
from evenhand._signatures import suggests_names
from evenhand._words import did_you_mean

DIALECTS = ("duckdb", "postgres", "snowflake", "bigquery", "spark", "tsql", "sqlite")
SELECTED = "selected"  # the column of decisions that a threshold makes
GREATEST = "1.7976931348623157e308"  # a double beyond it is infinite, or not a number
PARTS = re.compile(r'"((?:[^"]|"")+)"(?:\.|$)|([^".]+)(?:\.|$)')

Expression = Any  # of SQLGlot, which is imported only when SQL is written


@suggests_names
def count_query(
    table: str,
    *,
    y_true: str | None = None,
    y_pred: str | None = None,
    sensitive_features: str | Sequence[str],
    dialect: str = "duckdb",
    y_score: str | None = None,
    score_of: int | None = None,
    threshold: float | None = None,
    digits: int | None = None,
    sample_weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    task: str | None = None,
    rows: str = "n",
    min_count: int = 0,
    person: str | None = None,
) -> str:
    """Write the query that counts rows in a database, for `tally` and `audit`.

    It is one GROUP BY: no row about a person leaves the database, only how many there are of each
    kind. Names are quoted, so they are taken as the database shows them; Snowflake shows those that
    were not quoted in capitals.

    Parameters
    ----------
    table : str
        The table or view, such as "people" or "analytics.people"; put a part that contains
        dots in double quotes.
    y_true, y_pred : str, optional
        The columns of the true and predicted labels, or of values where the task is regression.
    sensitive_features : str or sequence of str
        The columns that name the groups.
    dialect : str, default "duckdb"
        "duckdb", "postgres", "snowflake", "bigquery", "spark", "tsql" (SQL Server) or "sqlite".
    y_score : str, optional
        The column of the score.
    score_of : {1, 0}, default 1
        Of which label it is the score.
    threshold : float, optional
        In place of `y_pred`: the column "selected" is `score_of` from this score on, and the other
        of 0 and 1 below it.
    digits : int, optional
        Count the score too, rounded to this many decimals, which keeps the number of lines small.
    sample_weight : str, optional
        The column of the rows' weights, by which rows are counted as well.
    strata : str or sequence of str, optional
        The columns within which "conditional_statistical_parity" compares groups.
    task : {"binary", "multiclass", "regression"}, optional
        For "regression" the sums of predictions, of the truth, of errors and of squares are added
        up in place of counts by label; `audit` finds them by their names.
    rows : str, default "n"
        The name of the column of counts.
    min_count : int, default 0
        Leave out cells of fewer rows, where small ones must not be shown. The audit is then one of
        the rows that are left, without those that are missing from it.
    person : str, optional
        The column that says which person a row is about: `min_count` is then of different people.

    Returns
    -------
    str
        The query.

    Raises
    ------
    MissingExtraError
        Without SQLGlot: `pip install "evenhand[sql]"`.
    InputError
        If there is no such dialect, a name cannot be quoted, or nothing says what was predicted.

    See Also
    --------
    tally : Reads the table that comes out, with `rows=`.

    Examples
    --------
    >>> print(count_query("people", y_true="repaid", y_pred="granted", sensitive_features="sex"))
    SELECT
      "repaid",
      "granted",
      "sex",
      COUNT(*) AS "n"
    FROM "people"
    GROUP BY
      "repaid",
      "granted",
      "sex"

    """
    check_kinds(task=task, min_count=min_count)
    check_columns(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        y_score=y_score,
        sample_weight=sample_weight,
        strata=strata,
        rows=rows,
        person=person,
    )
    check_dialect(dialect)
    names = [*listed(strata), *listed(sensitive_features), *listed(sample_weight)]
    if task == "regression":
        unused = (y_score, score_of, threshold, digits, sample_weight, strata)
        if any(value is not None for value in unused):
            raise InputError(
                "Sums of values are by group alone: a regression has y_true and y_pred, and "
                "neither score nor threshold, weights or strata."
            )
        keys = {name: column_named(name, dialect) for name in names}
        sums = _moments(y_true, y_pred, dialect)
    else:
        keys, sums = _decision(y_true, y_pred, y_score, threshold, digits, dialect, score_of), {}
        keys |= {name: column_named(name, dialect) for name in names if name not in keys}
    clashing = [name for name in (*keys, *sums) if name == rows]
    if clashing:
        raise InputError(f"{rows!r} is a column already; name that of the counts by rows=.")
    return _written(table_named(table, dialect), keys, sums, rows, min_count, person, dialect)


def check_dialect(dialect: str) -> None:
    """Refuse an unknown dialect, or SQL without SQLGlot."""
    require("sqlglot", purpose="Writing SQL", extra="sql")
    check_kinds(dialect=dialect)
    if dialect not in DIALECTS:
        hint = did_you_mean(str(dialect), DIALECTS)
        raise InputError(f"There is no dialect {dialect!r}; there are {list(DIALECTS)}.{hint}")


def _written(
    table: Expression,
    keys: Mapping[str, Expression],
    sums: Mapping[str, Expression],
    rows: str,
    min_count: int,
    person: str | None,
    dialect: str,
) -> str:
    """The query for counts and sums by these keys."""
    from sqlglot import exp

    number = exp.Count(this=exp.Star(), big_int=True)
    columns = [
        values if isinstance(values, exp.Column) else exp.alias_(values, name, quoted=True)
        for name, values in {**keys, rows: number, **sums}.items()
    ]
    query = exp.select(*columns).from_(table).group_by(*keys.values())
    if person is not None and min_count <= 1:
        raise InputError("person= says what min_count= is a number of; pass that too.")
    if min_count > 1:
        people = exp.Count(this=exp.Distinct(expressions=[column_named(str(person), dialect)]))
        counted = number if person is None else people
        query = query.having(exp.GTE(this=counted.copy(), expression=exp.Literal.number(min_count)))
    return str(query.sql(dialect=dialect, pretty=True))


def _decision(
    y_true: str | None,
    y_pred: str | None,
    y_score: str | None,
    threshold: float | None,
    digits: int | None,
    dialect: str,
    score_of: Any,
) -> dict[str, Expression]:
    """Truth, decision and score as requested, under their names in the result."""
    from sqlglot import exp

    keys = {name: column_named(name, dialect) for name in (y_true, y_pred) if name is not None}
    if (threshold is not None or digits is not None) and y_score is None:
        raise InputError("A threshold, or a number of digits, needs the column of the score.")
    if score_of is not None and threshold is None:
        raise InputError("score_of= says which label scores from threshold= on are; pass that too.")
    if threshold is not None:
        if y_pred is not None:
            raise InputError(f"Which one decides, y_pred={y_pred!r} or threshold={threshold!r}?")
        if SELECTED in keys:
            raise InputError(f"{SELECTED!r} is the column of the decisions; rename y_true.")
        keys[SELECTED] = _cut(column_named(str(y_score), dialect), threshold, _label(score_of))
    if y_score is not None and digits is not None:
        if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 9:
            raise InputError(f"digits is how many decimals a score keeps, 0 to 9, not {digits!r}.")
        score = exp.cast(column_named(y_score, dialect), "DECIMAL(38, 9)")
        keys[y_score] = exp.Round(this=score, decimals=exp.Literal.number(digits))
    if not keys.keys() - {y_true}:
        raise InputError(
            "Name the column of the predictions (y_pred), or the score (y_score) with the "
            "threshold from which it selects."
        )
    return keys


def _label(score_of: Any) -> int:
    """The label of the score, 1 or 0, which may be written as text."""
    if score_of is None or str(score_of) in ("1", "0"):
        return 1 if score_of is None else int(str(score_of))
    raise InputError(
        f"{SELECTED!r} is 1 or 0, so score_of is one of these, not {score_of!r}. Count the "
        "predictions of other labels by a column of the table (y_pred)."
    )


def _cut(score: Expression, threshold: Any, label: int) -> Expression:
    """The label from the threshold on, the other below it; null without a finite score."""
    from sqlglot import exp

    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise InputTypeError(f"threshold= must be a number, not {threshold!r}.")
    if not math.isfinite(threshold):
        raise InputError(f"threshold= must be a finite number, not {threshold}.")
    value, at = exp.cast(score, "DOUBLE"), exp.Literal.number(repr(float(threshold)))
    largest = exp.Literal.number(GREATEST)
    return (
        exp.Case()
        .when(exp.and_(value >= at, value <= largest), exp.Literal.number(label))
        .when(exp.and_(value < at, value >= exp.Neg(this=largest)), exp.Literal.number(1 - label))
    )


def _moments(y_true: str | None, y_pred: str | None, dialect: str) -> dict[str, Expression]:
    """The sums of `moments`, under the names in `MOMENT_COLUMNS`.

    SQL sums skip missing values; here they become null, so that they are refused later.
    """
    from sqlglot import exp

    if y_pred is None:
        raise InputError("Name the column of the predicted values (y_pred).")
    yhat = exp.cast(column_named(y_pred, dialect), "DOUBLE")
    sums = {"yhat": yhat, "yhat²": yhat * yhat, "yhat³": yhat * yhat * yhat}
    sums["yhat⁴"] = yhat * yhat * yhat * yhat
    if y_true is not None:
        y = exp.cast(column_named(y_true, dialect), "DOUBLE")
        error = exp.paren(yhat - y)
        square = error * error
        sums |= {"y": y, "y²": y * y, "error": error, "error³": square * error}
        sums |= {"squared_error": square}
        sums |= {"squared_error²": square * error * error, "absolute_error": exp.Abs(this=error)}
        sums |= {"y³": y * y * y, "y⁴": y * y * y * y}
        sums |= {"y·squared_error": square * y, "y²·squared_error": square * y * y}
    rows = exp.Count(this=exp.Star(), big_int=True)
    totals: dict[str, Expression] = {name: exp.Sum(this=values) for name, values in sums.items()}
    for name in {"yhat", "y"} & sums.keys():
        available = exp.Count(this=sums[name].copy(), big_int=True)
        totals[name] = exp.Case().when(available.eq(rows.copy()), totals[name])
    return {MOMENT_COLUMNS[name]: total for name, total in totals.items()}


def table_named(text: str, dialect: str) -> Expression:
    """A table, perhaps with its schema and catalog."""
    from sqlglot import exp

    parts, end = [], 0
    for part in PARTS.finditer(text if isinstance(text, str) else ""):
        if part.start() == end:
            parts.append((part[1] or "").replace('""', '"') or part[2])
            end = part.end()
    if not parts or end != len(text) or text.endswith(".") or len(parts) > 3:
        raise InputError(
            f"{text!r} names no table: write people, analytics.people or catalog.analytics.people; "
            'put a part that has a dot or a quote in it in double quotes, "like ""this""".'
        )
    identifiers = [_identifier(part, dialect) for part in reversed(parts)]
    return exp.Table(**dict(zip(("this", "db", "catalog"), identifiers, strict=False)))


def column_named(name: str, dialect: str) -> Expression:
    """A column, its name in quotes."""
    from sqlglot import exp

    return exp.column(_identifier(name, dialect))


def _identifier(name: str, dialect: str) -> Expression:
    """A name in the quotes of the dialect; refuse one that no quotes hold."""
    from sqlglot import exp

    if not isinstance(name, str):
        raise InputTypeError(f"A column or table is named by text, not by {name!r}.")
    if not name or not name.isprintable() or (dialect == "bigquery" and set(name) & {"`", "\\"}):
        raise InputError(f"{name!r} cannot be the name of a column or table in {dialect}.")
    return exp.to_identifier(name, quoted=True)
