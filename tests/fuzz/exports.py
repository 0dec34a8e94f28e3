"""Rules at random, of odd labels: SQL, ONNX and Python decide as they do, or refuse in words."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import sqlglot

from evenhand import EvenhandError
from evenhand.mitigation import DecisionRule, lots

TEXTS = [
    "a", "A", " ", "'", '"', "\\", "N'x'", "x|y", "^", "é", "女", "😀", "%s", "{0}", "--", "/*",
    "a\nb", "null", "1", "",
]  # fmt: skip
NUMBERS = [0, 1, -1, 2.5, -0.5, 1 << 31, (1 << 53) - 1, 1e-9, 123456789.125]
UNWRITABLE = [float("nan"), float("inf"), -float("inf"), "half \ud800", None, 1 << 63, -(1 << 70)]
EXPORTS = ("to_sql", "to_onnx", "to_python", "to_json")


def attack(seed: int) -> None:
    """One rule, on scores at its cuts, next to them, and outside 0 to 1."""
    random = np.random.default_rng([7, seed])
    rule = _rule(random)
    if random.random() < 0.15:
        _refused(rule, random)
        return
    again = DecisionRule.from_json(rule.to_json())
    table = _people(rule, random)
    scores = table[_columns(rule)].to_numpy(np.float64)
    sound = ((scores >= 0) & (scores <= 1)).all(axis=1)
    known = table["pool"].to_numpy()
    here = np.full((len(table), len(rule.classes or ())), np.nan)
    here[sound] = again.probabilities(scores[sound], known[sound])
    for found in (*_databases(rule, table), _onnx(rule, table), _python(rule, table, sound)):
        np.testing.assert_array_equal(found, here)
    for dialect in ("tsql", "postgres", "snowflake", "bigquery", "spark"):
        names = {"scores": _columns(rule), "row_id": ["id", "day"], "key": "k"}
        (parsed,) = sqlglot.parse(rule.to_sql(dialect, **names), read=dialect)
        assert parsed is not None


def _rule(random: np.random.Generator) -> DecisionRule:
    classes, pools = int(random.integers(2, 4)), int(random.integers(1, 5))
    rules = pools * int(random.integers(1, 4))
    prices = random.normal(size=(rules, classes, classes)).round(int(random.integers(1, 17)))
    share = random.dirichlet(np.ones(rules // pools), pools).T.ravel()
    # "" is no decision in ONNX; SQL names no column by two lines, or in BigQuery a backslash.
    kind = TEXTS[:4] + TEXTS[6:-4] if random.random() < 0.6 else NUMBERS
    named = _distinct(random, kind, classes)
    groups = _distinct(random, TEXTS if random.random() < 0.6 else NUMBERS, pools)
    rule = DecisionRule(prices, np.arange(rules) % pools, share)
    column = str(random.choice(["sex", "the group", 'a"b', "ß", "select"]))
    return rule.named(named, [column], groups)


def _distinct(random: np.random.Generator, known: list[Any], count: int) -> list[Any]:
    """Labels of which no two differ by capitals alone, which SQL would take for one."""
    chosen = [known[place] for place in random.permutation(len(known))[: count + 1]]
    return [label for label in chosen if label != "A" or "a" not in chosen][:count]


def _columns(rule: DecisionRule) -> list[str]:
    return [f"s{place}" for place in range(rule.prices.shape[1])]


def _people(rule: DecisionRule, random: np.random.Generator) -> pd.DataFrame:
    """Rows of every group, at cuts and elsewhere."""
    rows, pools = [], rule.pools
    for pool in range(pools):
        if rule.prices.shape[1] == 2:
            cuts = np.array(rule._described().steps(pool).cuts)
            near = [cuts, np.nextafter(cuts, 0), np.nextafter(cuts, 1), random.random(5)]
            odd = [0.0, 1.0, np.nan, np.inf, -np.inf, 1.5, -0.1, 5e-324, -0.0]
            second = np.concatenate([*near, odd])
            table = np.column_stack([1 - second, second])
        else:
            table = random.dirichlet(np.ones(3), 12)
            table[:4] = np.eye(3)[[0, 1, 2, 0]] * [[1.0], [1.0], [1.0], [np.nan]]
            table[4] = 0.5, 0.5, 0.0
        rows += [(pool, *row) for row in table.tolist()]
    frame = pd.DataFrame(rows, columns=["pool", *_columns(rule)])
    assert rule.grouping is not None
    labels = [rule.grouping.labels[pool][0] for pool in frame["pool"]]
    values = labels if isinstance(labels[0], str) else np.array(labels, np.float64)
    frame[rule.grouping.columns[0]] = pd.Series(values)
    frame["id"] = [f"{place}|^" for place in range(len(frame))]
    return frame.assign(day=random.choice(["", "|", "é"], len(frame)))


def _databases(rule: DecisionRule, table: pd.DataFrame) -> list[np.ndarray]:
    """The chances; lots and decisions are checked on the way."""
    found = []
    names = [f"chance_{label}" for label in rule.classes or ()]
    expected = lots(table[["id", "day"]], key="k")
    for engine in ("duckdb", "sqlite"):
        how = {"scores": _columns(rule), "row_id": ["id", "day"], "key": "k"}
        query = rule.to_sql(engine, **how)
        if engine == "duckdb":
            with duckdb.connect() as connection:
                connection.register("people", table)
                answer = connection.execute(query).df()
        else:
            connection = sqlite3.connect(":memory:")
            digest = lambda text: hashlib.sha256(text.encode()).hexdigest()  # noqa: E731
            connection.create_function("sha256", 1, digest, deterministic=True)
            table.to_sql("people", connection, index=False)
            answer = pd.read_sql(query, connection)
            connection.close()
        answer = answer.set_index("id").loc[table["id"]]
        np.testing.assert_array_equal(answer["lot"], expected)
        chances = answer[names].to_numpy(np.float64)
        _check_decisions(rule, chances, expected, answer["decision"].tolist())
        found.append(chances)
    return found


def _check_decisions(
    rule: DecisionRule, chances: np.ndarray, lot: np.ndarray, decided: list[Any]
) -> None:
    ends = np.cumsum(chances, axis=1)
    for end, own, label in zip(ends, lot, decided, strict=True):
        if np.isnan(end[-1]):
            assert pd.isna(label) or label == "", label
        else:
            expected = (rule.classes or ())[int((own * end[-1] >= end[:-1]).sum())]
            assert label == expected, (label, expected)


def _onnx(rule: DecisionRule, table: pd.DataFrame) -> np.ndarray:
    import onnxruntime

    assert rule.grouping is not None
    column = rule.grouping.columns[0]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(rule.to_onnx().SerializeToString(), options)
    given = {"scores": table[_columns(rule)].to_numpy(np.float64)}
    given["lot"] = lots(table[["id", "day"]], key="k")
    text = isinstance(table[column].iloc[0], str)
    given[column] = table[column].to_numpy(object if text else np.float64)
    chances, decided = session.run(["probabilities", "decision"], given)
    least = np.iinfo(np.int64).min
    labels = [None if label == least else label for label in decided.tolist()]
    _check_decisions(rule, chances, given["lot"], labels)
    return np.asarray(chances)


def _python(rule: DecisionRule, table: pd.DataFrame, sound: np.ndarray) -> np.ndarray:
    module: dict[str, Any] = {}
    exec(compile(rule.to_python(), "rule", "exec"), module)
    assert rule.grouping is not None
    found = np.full((len(table), len(rule.classes or ())), np.nan)
    for place, row in enumerate(table[_columns(rule)].to_numpy().tolist()):
        group = table[rule.grouping.columns[0]].iloc[place]
        if sound[place]:
            found[place] = module["probabilities"](row, group)
            person = (table["id"].iloc[place], table["day"].iloc[place])
            label = module["decide"](row, group, person, "k")
            own = lots(table[["id", "day"]].iloc[[place]], key="k")
            _check_decisions(rule, found[[place]], own, [label])
            continue
        try:
            module["probabilities"](row, group)
        except ValueError:
            continue
        raise AssertionError(f"Python decides {row}")
    return found


def _refused(rule: DecisionRule, random: np.random.Generator) -> None:
    """A label that a format cannot write is an error of ours; and so is a rule that was changed."""
    odd = UNWRITABLE[int(random.integers(len(UNWRITABLE)))]
    named = rule.named(
        [*(rule.classes or ())[:-1], odd], ["sex"], [f"g{i}" for i in range(rule.pools)]
    )
    for export in EXPORTS:
        large = isinstance(odd, int) and export in ("to_python", "to_json")
        try:
            getattr(named, export)(**({"scores": _columns(rule)} if export == "to_sql" else {}))
        except EvenhandError:
            assert not large
            continue
        assert large, (export, odd)
    content = json.loads(rule.to_json())
    path, value = _somewhere(content, random), random.choice([None, -1, 1e300, "x", 1 << 40])
    path[0][path[1]] = value if not isinstance(value, np.generic) else value.item()
    content.pop("checksum", None)
    text = json.dumps(content)
    signed = {**content, "checksum": hashlib.sha256(text.encode()).hexdigest()[:32]}
    try:
        DecisionRule.from_json(json.dumps(signed)).to_python()
    except EvenhandError:
        return


def _somewhere(content: Any, random: np.random.Generator) -> tuple[Any, Any]:
    """A place in nested lists and mappings."""
    while True:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        if not keys:
            return {"": None}, ""
        key = keys[int(random.integers(len(keys)))]
        inner = content[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.1:
            return content, key
        content = inner
