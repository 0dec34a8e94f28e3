"""The tables of a comparison: values, differences of pairs, ranks, agreement of rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._compare.evidence import Evidence, Sources
from evenhand._compare.paired import Estimate, difference, kendall, ranks, single
from evenhand._compare.question import Question, noise
from evenhand._dataframes import framed, kind_of
from evenhand._markdown import markdown_table
from evenhand._uncertainty import interval
from evenhand._uncertainty.multiplicity import holm, verdict

Floats = NDArray[np.float64]
Rows = list[dict[str, Any]]

ASKED = ("criterion", "measure", "model")
KNOWN = ("estimate", "low", "high")
VALUES = (*ASKED, "value", "rank", *KNOWN, "floor", "p_value", "p_adjusted", "verdict")
DIFFERENCES = (*ASKED, "other", "difference", *KNOWN, "p_value", "p_adjusted", "told_apart")
KENDALL = ("criterion", "measure", "other_criterion", "other_measure", "tau", "low", "high")


RandomState = int | np.random.Generator | None
Intervals = Literal["inverted", "resampled"]


def resampled(
    evidence: Evidence, asked: Sequence[Question], times: int, rng: np.random.Generator
) -> Floats:
    """Values (times, questions, models) in rows drawn again; all models see the same rows."""
    worlds = evidence.worlds({one.needs for one in asked}, times, rng)
    batches = [
        np.stack([np.atleast_2d(one.values_if_any(world)) for one in asked], axis=1)
        for world in worlds
    ]
    return np.concatenate(batches)


def value_rows(
    models: Sequence[str],
    asked: Sequence[Question],
    sources: Sources,
    drawn: Floats,
    held: tuple[float, Intervals],
    random_state: RandomState,
) -> Rows:
    """A row for every criterion, measure and model; p-values adjusted over the models."""
    rows: Rows = []
    for k, one in enumerate(asked):
        found = noise(one, sources, max(len(drawn), 40 * len(models)), random_state)
        adjusted = holm([each.p_value for each in found]).tolist()
        places = ranks([each.value for each in found]).tolist()
        for m, each in enumerate(found):
            source = sources[one.needs][m]
            known = _known(one, source, each.value, drawn[:, k, m], held, random_state)
            row = _named(one, models[m]) | {"value": each.value, "rank": places[m]} | known
            row |= {"floor": each.floor, "p_value": each.p_value, "p_adjusted": adjusted[m]}
            rows.append(row | {"verdict": verdict(each.value, adjusted[m])})
    return rows


def difference_rows(
    models: Sequence[str],
    asked: Sequence[Question],
    values: Floats,
    drawn: Floats,
    confidence: float,
) -> Rows:
    """A row for every two models, by every question; p-values adjusted over the pairs."""
    rows: Rows = []
    pairs = list(combinations(range(len(models)), 2))
    for k, one in enumerate(asked):
        found = [_paired(one, values[k], drawn[:, k], a, b, confidence) for a, b in pairs]
        adjusted = holm([each.p_value for each in found]).tolist()
        for (a, b), each, p in zip(pairs, found, adjusted, strict=True):
            row = _named(one, models[a]) | {"other": models[b]} | _shown(each)
            row |= {"difference": float(values[k, a] - values[k, b]), "p_value": each.p_value}
            rows.append(row | {"p_adjusted": p, "told_apart": bool(p <= 1 - confidence)})
    return rows


def rank_rows(models: Sequence[str], asked: Sequence[Question], values: Floats) -> Rows:
    """A row for every question, with the rank of each model."""
    return [
        {"criterion": one.criterion.name, "measure": one.measure_name}
        | dict(zip(models, ranks(values[k]).tolist(), strict=True))
        for k, one in enumerate(asked)
    ]


def kendall_rows(
    asked: Sequence[Question], values: Floats, drawn: Floats, confidence: float
) -> Iterator[dict[str, Any]]:
    """Kendall's τ-b of every two rankings, with its range over rows drawn again."""
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    for a, b in combinations(range(len(asked)), 2):
        again = kendall(drawn[:, a], drawn[:, b])
        again = again[~np.isnan(again)]
        low, high = np.quantile(again, ends) if len(again) else (np.nan, np.nan)
        yield {
            "criterion": asked[a].criterion.name,
            "measure": asked[a].measure_name,
            "other_criterion": asked[b].criterion.name,
            "other_measure": asked[b].measure_name,
            "tau": float(kendall(values[a], values[b])),
            "low": float(low),
            "high": float(high),
        }


def _named(one: Question, model: str) -> dict[str, Any]:
    return {"criterion": one.criterion.name, "measure": one.measure_name, "model": model}


def _shown(found: Estimate) -> dict[str, Any]:
    return {"estimate": found.value, "low": found.low, "high": found.high}


def _known(
    one: Question,
    source: Any,
    value: float,
    drawn: Floats,
    held: tuple[float, Intervals],
    random_state: RandomState,
) -> dict[str, Any]:
    """The interval of counts and means; that of whole distributions would cost too much."""
    if one.needs == "steps" or held[1] == "resampled":
        return _shown(single(value, drawn, one.order, held[0]))
    options: dict[str, Any] = {"confidence": held[0], "random_state": random_state}
    found = interval(source, one.criterion, **options, **one.asked)
    return {"estimate": found.estimate, "low": found.low, "high": found.high}


def _paired(
    one: Question, values: Floats, drawn: Floats, a: int, b: int, confidence: float
) -> Estimate:
    pair = (float(values[a]), float(values[b]))
    return difference(pair, (drawn[:, a], drawn[:, b]), one.order, confidence)


@dataclass(frozen=True, eq=False)
class Tidy:
    """Named columns of equal length; `kind` is the dataframe library its owner uses.

    >>> print(Tidy({"model": ["a", "b"], "value": [0.25, 1 / 3]}))
    | model | value |
    | --- | --- |
    | a | 0.25 |
    | b | 0.3333 |
    """

    columns: Mapping[str, list[Any]]
    kind: str = "pandas"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each a dict."""
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    def where(self, **chosen: Any) -> Tidy:
        """The rows with these entries."""
        kept = [row for row in self.rows() if all(row[k] == v for k, v in chosen.items())]
        return Tidy({name: [row[name] for row in kept] for name in self.columns}, self.kind)

    def to_frame(self, like: Any = None) -> Any:
        """A dataframe: of the library named, or that of the dataframe given, or the owner's."""
        kind = like if isinstance(like, str) else kind_of(like)
        return framed(self.columns, kind or self.kind)

    def to_markdown(self) -> str:
        """A Markdown table, with numbers to four digits."""
        return markdown_table(list(self.columns), self._written())

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
            for line in self._written()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        return self.to_markdown()

    def _written(self) -> list[list[str]]:
        return [[written(cell) for cell in row.values()] for row in self.rows()]


def table(rows: Iterable[Mapping[str, Any]], names: Iterable[str], kind: str) -> Tidy:
    """Make a table of rows, with these columns even where there are no rows."""
    found = list(rows)
    return Tidy({name: [row[name] for row in found] for name in names}, kind)


def written(cell: Any) -> str:
    """A cell as people read it: four digits, and a dash for what is undefined.

    >>> written(0.123456), written(float("nan")), written(True)
    ('0.1235', '–', 'yes')
    """
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if cell is None or cell != cell:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float | np.floating) else str(cell)
