"""A rule as a query: the chances of every row of a table, its random draw, and the decision."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from evenhand._data.sql import GREATEST, check_dialect, column_named, table_named
from evenhand._errors import InputError, InputTypeError
from evenhand.mitigation._lots import ESCAPE, SEPARATOR
from evenhand.mitigation.deploy.description import INTEGER_LIMIT, Description, check_plain, plain
from evenhand.mitigation.deploy.moves import Moves

Expression = Any  # of SQLGlot, which is imported only when SQL is written

# The first 13 hexadecimal digits of SHA-256 of a text in UTF-8, as a whole number. SQLite has no
# such function: register `sha256`, from text to hexadecimal digits, on the connection.
SUMMED = " + ".join(
    f"(INSTR('0123456789abcdef', SUBSTR(digits, {place}, 1)) - 1) * {16 ** (13 - place)}"
    for place in range(1, 14)
)
HASHED = {
    "duckdb": "CAST('0x' || SUBSTR(SHA256({text}), 1, 13) AS BIGINT)",
    "postgres": (
        "CAST(CAST('x' || SUBSTR(ENCODE(SHA256(CONVERT_TO({text}, 'UTF8')), 'hex'), 1, 13) "
        "AS BIT(52)) AS BIGINT)"
    ),
    "snowflake": "TO_NUMBER(SUBSTR(SHA2({text}, 256), 1, 13), 'XXXXXXXXXXXXX')",
    "bigquery": "CAST(CONCAT('0x', SUBSTR(TO_HEX(SHA256({text})), 1, 13)) AS INT64)",
    "spark": "CAST(CONV(SUBSTR(SHA2({text}, 256), 1, 13), 16, 10) AS BIGINT)",
    "tsql": (  # whose text is UTF-8 by this collation alone, from 2019 on
        "CONVERT(BIGINT, SUBSTRING(HASHBYTES('SHA2_256', CAST(({text}) COLLATE "
        "Latin1_General_100_BIN2_UTF8 AS VARCHAR(MAX))), 1, 7)) / 16"
    ),
    "sqlite": (  # LIMIT keeps the hash from being copied into each of its digits
        f"(SELECT {SUMMED} FROM (SELECT SHA256({{text}}) AS digits LIMIT 1))"
    ),
}
LOTS = "4.503599627370496e15"  # 2⁵² as a double in every dialect
LOT = "evenhand_lot_of_the_row"  # placeholder of the draw until the rest is written


def sql_query(
    rule: Description,
    dialect: str,
    *,
    table: str,
    scores: str | Sequence[str],
    group: str | Sequence[str] | None,
    row_id: str | Sequence[str] | None,
    key: int | str | None,
) -> str:
    """All columns of a table, and those of the chances; with an id and a key, of the decision."""
    check_dialect(dialect)
    from sqlglot import exp

    check_plain(rule.classes, rule.grouping, INTEGER_LIMIT)
    chances = _chances(rule, dialect, _score_columns(rule, scores, dialect), _listed(group) or None)
    names = [f"chance_{label}" for label in rule.classes]
    columns_read = rule.grouping.columns if group is None and rule.grouping else _listed(group)
    _check_free([*names, "lot", "decision"], [*_listed(scores), *columns_read, *_listed(row_id)])
    columns = [
        exp.alias_(chance, column_named(name, dialect).this)
        for name, chance in zip(names, chances, strict=True)
    ]
    inner = exp.select(exp.Star(), *columns).from_(table_named(table, dialect))
    if row_id is None or key is None:
        if row_id is not None or key is not None:
            raise InputError(
                "A random draw belongs to a person and a key: pass both row_id= and key=."
            )
        return str(inner.sql(dialect=dialect, pretty=True))
    decision = _decision(rule, [column_named(name, dialect) for name in names], dialect)
    decision_column = exp.alias_(decision, column_named("decision", dialect).this)
    return _with_lots(inner.subquery("chances"), decision_column, _listed(row_id), key, dialect)


def moves_query(
    moves: Moves,
    dialect: str,
    *,
    table: str,
    amount: str,
    group: str | Sequence[str] | None,
    row_id: str | Sequence[str] | None,
    key: int | str | None,
) -> str:
    """All columns of a table, and the new prediction; where lots decide, the lot too."""
    check_dialect(dialect)
    from sqlglot import exp

    check_plain((), moves.grouping, INTEGER_LIMIT)
    if moves.draws and (row_id is None or key is None):
        raise InputError(
            "Some decisions here are drawn at random: pass row_id=, the column of the ids, and "
            "key=."
        )
    grouping = moves.grouping
    if grouping is not None and group is not None:
        grouping = grouping.renamed(_listed(group))
    columns_read = () if grouping is None else grouping.columns
    _check_free(["lot", "prediction"], [amount, *columns_read, *_listed(row_id)])
    score = exp.cast(column_named(amount, dialect), "DOUBLE")
    by_pool = [_moved(moves, pool, score, dialect) for pool in range(moves.pools)]
    moved = by_pool[0]
    if grouping is not None:
        moved = exp.Case()
        for pool, expression in enumerate(by_pool):
            moved = moved.when(_membership(grouping, pool, dialect), expression, copy=False)
    prediction_column = exp.alias_(moved, column_named("prediction", dialect).this)
    rows = table_named(table, dialect)
    if not moves.draws:
        query = exp.select(exp.Star(), prediction_column).from_(rows)
        return str(query.sql(dialect=dialect, pretty=True))
    return _with_lots(rows, prediction_column, _listed(row_id), key, dialect)


def _check_free(new: Sequence[str], existing: Sequence[str]) -> None:
    """Refuse to create a column twice, or one that is read: a name would mean two things."""
    names = {name.lower() for name in new}
    if len(names) < len(new):
        raise InputError(
            f"The query makes the columns {', '.join(map(repr, new))}, of which a database takes "
            "two for one: give the classes names that differ by more than capitals."
        )
    for name in existing:
        if isinstance(name, str) and name.lower() in names:
            raise InputError(
                f"The query makes a column {name!r}, and reads one of that name: rename it."
            )


def _moved(moves: Moves, pool: int, score: Expression, dialect: str) -> Expression:
    """The new amount in one pool: the highest cut that it reaches selects the line."""
    from sqlglot import exp

    cuts, pieces = moves.listed(pool)
    lines = []
    for anchor, outcomes in pieces:
        values = [
            _number(start) + _number(slope) * exp.paren(score.copy() - _number(anchor))
            if slope
            else _number(start)
            for _, start, slope in outcomes
        ]
        line = values[-1]
        if len(values) > 1:
            line = exp.Case()
            for (end, _, _), value in zip(outcomes[:-1], values[:-1], strict=True):
                line = line.when(column_named("lot", dialect) < _number(end), value, copy=False)
            line = line.else_(values[-1], copy=False)
        lines.append(line)
    case = exp.Case()
    for cut, line in zip(cuts[::-1], lines[:0:-1], strict=True):
        case = case.when(score.copy() >= _number(cut), line, copy=False)
    moved = case.else_(lines[0], copy=False) if cuts else lines[0]
    number = exp.LTE(this=exp.Abs(this=score.copy()), expression=exp.Literal.number(GREATEST))
    return exp.Case().when(number, moved, copy=False)


def _with_lots(
    rows: Expression, result: Expression, ids: Sequence[str], key: Any, dialect: str
) -> str:
    """All columns of some rows, their draws, and the result that depends on them."""
    from sqlglot import exp

    place = LOT  # the formula is the dialect's own, which SQLGlot would rewrite
    while place in rows.sql(dialect=dialect):
        place += "_"
    lot = exp.alias_(exp.column(place), column_named("lot", dialect).this)
    with_lots = exp.select(exp.Star(), lot).from_(rows)
    outer = exp.select(exp.Star(), result).from_(with_lots.subquery("lots"))
    formula = _lot([column_named(name, dialect) for name in ids], key, dialect)
    return str(outer.sql(dialect=dialect, pretty=True)).replace(place, formula)


def _lot(ids: Sequence[Expression], key: int | str, dialect: str) -> str:
    """The draw of an id: the first 52 bits of the SHA-256 of `key:id` as a fraction."""
    from sqlglot import exp

    parts: list[Expression] = [_literal(f"{key}:", dialect)]
    kind = exp.DataType.build("NVARCHAR(MAX)" if dialect == "tsql" else "TEXT", dialect=dialect)
    for place, column in enumerate(ids):
        parts += [_literal(SEPARATOR, dialect)] * (place > 0)
        text: Expression = exp.Coalesce(
            this=exp.cast(column, kind), expressions=[_literal("", dialect)]
        )
        if len(ids) > 1:  # the escape first, then what it escapes
            for letter in (ESCAPE, SEPARATOR):
                pair = _literal(letter, dialect), _literal(ESCAPE + letter, dialect)
                text = exp.func("REPLACE", text, *pair)
        parts.append(text)
    joined = reduce(lambda left, right: exp.DPipe(this=left, expression=right, safe=True), parts)
    hashed = HASHED[dialect].format(text=joined.sql(dialect=dialect))
    double = exp.DataType.build("double").sql(dialect=dialect)
    return f"CAST({hashed} AS {double}) / {LOTS}"


def _chances(
    rule: Description, dialect: str, scores: Sequence[Expression], group: Sequence[str] | None
) -> list[Expression]:
    """The chance of each class; none for an unknown group or a score that is not a probability."""
    from sqlglot import exp

    grouping = rule.grouping
    if grouping is not None and group is not None:
        grouping = grouping.renamed(group)
    low, high = map(_end, rule.bounds)
    sound = exp.and_(*(bound for x in scores for bound in (x >= low, x <= high)))
    chances = []
    for label in range(len(rule.classes)):
        by_group = [_in_pool(rule, pool, label, scores) for pool in range(rule.pools)]
        chance = by_group[0]
        if grouping is not None:
            chance = exp.Case()
            for pool, expression in enumerate(by_group):
                chance = chance.when(_membership(grouping, pool, dialect), expression)
        chances.append(exp.Case().when(sound.copy(), chance))
    return chances


def _in_pool(rule: Description, pool: int, label: int, scores: Sequence[Expression]) -> Expression:
    """The chance of a class in one pool."""
    from sqlglot import exp

    if rule.has_steps:
        cuts, chances = rule.steps(pool)
        if not cuts:
            return _number(chances[0, label])
        case = exp.Case()
        for cut, chance in zip(cuts[::-1], chances[:0:-1, label], strict=True):
            case = case.when(
                scores[-1] > exp.Literal.number(repr(cut)), _number(chance), copy=False
            )
        return case.else_(_number(chances[0, label]), copy=False)
    parts = []
    for share, prices in rule.rules(pool):
        own = _total(scores, prices[:, label])
        best = [
            (exp.LT if other < label else exp.LTE)(
                this=own.copy(), expression=_total(scores, prices[:, other])
            )
            for other in range(len(rule.classes))
            if other != label
        ]
        parts.append(exp.Case().when(exp.and_(*best), _number(share)).else_(_number(0.0)))
    return reduce(add, parts)


def _total(scores: Sequence[Expression], weights: Any) -> Expression:
    return reduce(add, [x * _number(weight) for x, weight in zip(scores, weights, strict=True)])


def _membership(grouping: Any, pool: int, dialect: str) -> Expression:
    """Whether a row is in a group."""
    from sqlglot import exp

    conditions = []
    for name, value in zip(grouping.columns, grouping.labels[pool], strict=True):
        column, edges = column_named(name, dialect), grouping.cuts.get(name)
        if edges is None:
            conditions.append(column.eq(_literal(value, dialect)))
            continue
        if value > 0:
            conditions.append(column > _number(edges[value - 1]))
        if value < len(edges):
            conditions.append(column <= _number(edges[value]))
    return exp.and_(*conditions)


def _decision(rule: Description, chances: Sequence[Expression], dialect: str) -> Expression:
    """The class whose part of the line from 0 to 1 contains the draw."""
    from sqlglot import exp

    place = column_named("lot", dialect) * exp.paren(reduce(add, chances))
    case = exp.Case()
    for label, end in zip(rule.classes, range(1, len(chances) + 1), strict=True):
        passed = reduce(add, chances[:end])
        last = end == len(chances)
        within = exp.Not(this=exp.Is(this=place.copy(), expression=exp.null()))
        case = case.when(within if last else place.copy() < passed, _literal(label, dialect))
    return case


def _score_columns(
    rule: Description, scores: str | Sequence[str], dialect: str
) -> list[Expression]:
    """The columns of scores as doubles; one is enough where two probabilities add up to 1."""
    from sqlglot import exp

    names = _listed(scores) or []
    allowed = {1, 2} if rule.has_steps else {rule.features}
    if len(names) not in allowed:
        counts = " or ".join(map(str, sorted(allowed)))
        raise InputError(
            f"The rule reads {counts} columns of scores, and scores= names {len(names)}: {names}."
        )
    return [exp.cast(column_named(name, dialect), "DOUBLE") for name in names]


def _literal(value: Any, dialect: str) -> Expression:
    """Text, a number, or true or false, as the dialect writes it."""
    from sqlglot import exp

    label = plain(value, INTEGER_LIMIT)
    if isinstance(label, bool):
        return exp.true() if label else exp.false()
    if isinstance(label, str):
        if "\0" in label:
            raise InputError(f"{label!r} holds a zero byte, which no text in SQL can hold.")
        # SQL Server would squeeze other text into the code page of the database.
        return exp.National(this=label) if dialect == "tsql" else exp.Literal.string(label)
    return exp.Literal.number(label) if isinstance(label, int) else _number(label)


def _number(value: float) -> Expression:
    """A double; in some dialects a number without exponent is none."""
    from sqlglot import exp

    text = repr(abs(float(value)))
    number = exp.Literal.number(text if "e" in text else f"{text}e0")
    # The sign is written here: of text with a sign, SQLGlot would take away the exponent.
    return exp.Neg(this=number) if np.signbit(value) else number


def _end(value: float) -> Expression:
    """A bound of the features: 0 and 1 as plain digits."""
    from sqlglot import exp

    return exp.Literal.number(int(value)) if value in (0, 1) else _number(value)


def _listed(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    if not isinstance(names, str | list | tuple):
        raise InputTypeError(f"Columns are named by text, or a list of it; not by {names!r}.")
    return [names] if isinstance(names, str) else list(names)
