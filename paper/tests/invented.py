"""Results that nobody measured: the paper's runs with invented scores, in a second."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa

from evenhand.benchmark import QUESTIONS, Results, thinned
from evenhand.benchmark.scoring.results import PROBLEMS, RUNS, asked_table, table
from paper.design import PAPER

STAND_IN = "stand-in: rows made up for tests"


@cache
def results(seeds: int = 3, points: int = 2) -> Results:
    """All problems, methods and questions of the paper; the values are invented."""
    return _results(_runs(seeds, points))


def some(where, *, seeds: int = 3) -> Results:
    """The part whose runs meet a condition on their values."""
    return _results([run for run in _runs(seeds, 2) if where(run)])


def _runs(seeds: int, points: int) -> list[dict]:
    found: dict[tuple, dict] = {}
    for study in PAPER.studies:
        treatments = tuple(replace(one, grid=thinned(one.grid, points)) for one in study.treatments)
        for run in replace(study, seeds=tuple(range(seeds)), treatments=treatments).runs():
            extent = run.problem.extent
            value = run.value | {"kind": extent.kind, "n_groups": extent.groups}
            found.setdefault(tuple(run.value.values()), value | {"n_classes": extent.classes})
    return [run | {"key": f"run {at}"} for at, run in enumerate(found.values())]


def _results(runs: list[dict]) -> Results:
    rng = np.random.default_rng(0)
    told = [one | {"cpu_seconds": 0.5, "by_lot": False, "has_scores": True} for one in runs]
    first = {one["problem"]: one for one in reversed(runs)}
    problems = [_problem(name, one) for name, one in first.items()]
    return Results(
        runs=table(told, RUNS),
        questions=asked_table(QUESTIONS),
        problems=table(problems, PROBLEMS),
        scores=pa.concat_tables([_scores(one, rng) for one in runs] or [_no_scores()]),
    )


def _problem(name: str, run: dict) -> dict:
    stands_in = name == "hsls"
    provenance = STAND_IN if stands_in else "official rows"
    groups = [f"g{at}" for at in range(run["n_groups"])]
    about = {"name": name.partition(" ")[0], "rows": 1000, "groups": groups, "sensitive": ["g"]}
    return {
        "problem": name,
        "title": name,
        "kind": run["kind"],
        "n_classes": run["n_classes"],
        "n_groups": run["n_groups"],
        "train": 800,
        "test": 200,
        "is_stand_in": stands_in,
        "provenance": provenance,
        "about": json.dumps(about),
    }


def _scores(run: dict, rng: np.random.Generator) -> pa.Table:
    """Stricter settings cost accuracy; PQ is about half the square of the gap."""
    names = [question.name for question in QUESTIONS[run["kind"]]]
    strict = 0.1 + (run["hyperparameter"] or 1.0) % 1
    gap = 0.3 * strict * (1 + 0.1 * rng.standard_normal(len(names))) ** 2
    squared = np.array([".pq" in name for name in names])
    values = np.where(squared, gap**2 / 2, gap)
    values[: len(names) - sum("." in name for name in names)] = 0.7 + 0.1 * strict
    return _table([run["key"]] * len(names), names, ["expected"] * len(names), values)


def _no_scores() -> pa.Table:
    return _table([], [], [], np.empty(0))


def _table(keys, names, lots, values) -> pa.Table:
    text = pa.string()
    columns = [pa.array(keys, text), pa.array(names, text), pa.array(lots, text), pa.array(values)]
    return pa.table(columns, names=["key", "question", "lot", "value"])


def with_lots(found: Results, lots: dict[str, float]) -> Results:
    """The same with further lots of the base model's parity, such as noise floors."""
    base = [one for one in found.runs.to_pylist() if one["method"] == "Base"]
    names = ("statistical_parity.mpd", "statistical_parity.pq")
    rows = [
        (one["key"], name, lot, value)
        for one in base
        for name in names
        for lot, value in lots.items()
    ]
    more = _table(*(list(column) for column in zip(*rows, strict=True)))
    return replace(found, scores=pa.concat_tables([found.scores, more]))


def renamed(found: Results, column: str, old: str, new: str) -> Results:
    """The same with another name of a method or problem, wherever it stands."""
    runs = [one | {column: new} if one[column] == old else one for one in found.runs.to_pylist()]
    rows = found.problems.to_pylist()
    rows = [one | {column: new} if one.get(column) == old else one for one in rows]
    return replace(found, runs=table(runs, RUNS), problems=table(rows, PROBLEMS))


def frame(found: Results) -> pd.DataFrame:
    """Runs and scores side by side, by pandas alone."""
    runs, scores = found.runs.to_pandas(), found.scores.to_pandas()
    return scores.merge(runs, on="key")
