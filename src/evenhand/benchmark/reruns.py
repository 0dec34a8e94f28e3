"""Whether stored results still follow from today's code: a sample of the runs is done again.

Values are compared, not fingerprints: a change of code that moves no number is not a failure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evenhand.benchmark.design.problems import Problem
from evenhand.benchmark.design.studies import Design, Study
from evenhand.benchmark.design.treatments import Treatment
from evenhand.benchmark.running.schedule import run
from evenhand.benchmark.scoring.from_store import results
from evenhand.benchmark.scoring.results import Results

IDENTITY = ["problem", "base", "method", "constraint", "hyperparameter", "seed"]
NONE = {"constraint": "", "hyperparameter": -1.0}
# Stored scores have five digits. What was run again on the same versions agreed to 6e-6.
RELATIVE, ABSOLUTE = 1e-3, 2e-4


@dataclass(frozen=True)
class Moved:
    """A stored run whose scores are not those of today's code, by the score that moved most.

    Parameters
    ----------
    problem, base, method, constraint : str
        What was run.
    hyperparameter : float
        The setting; -1 of a method without any.
    question : str
        The score that moved most.
    stored, now : float
        Its values; `now` is NaN where the run fails today.

    """

    problem: str
    base: str
    method: str
    constraint: str
    hyperparameter: float
    question: str
    stored: float
    now: float

    def __str__(self) -> str:
        method = self.method
        method += f" by {self.constraint.replace('_', ' ')}" if self.constraint else ""
        setting = "" if self.hyperparameter == NONE["hyperparameter"] else f" {self.hyperparameter}"
        now = "none" if math.isnan(self.now) else f"{self.now:.4g}"
        return (
            f"{method}{setting} on {self.problem} with {self.base}: {self.question} is "
            f"{self.stored:.4g} as stored, {now} today"
        )


def moved(stored: Results, design: Design) -> list[Moved]:
    """Do the runs of a design again; those whose stored scores are no longer the same.

    Runs that the results do not have are left out.
    """
    import pandas as pd

    with TemporaryDirectory() as folder:
        run(design, folder, n_jobs=1, progress=False)
        today = results(Path(folder), design, lots="expected")
    again = pd.DataFrame([rerun.value for rerun in design.runs().values()])[IDENTITY].fillna(NONE)
    scores_now = _long(today, again).rename(columns={"value": "now"})
    joined = _long(stored, again).merge(scores_now, on=[*IDENTITY, "question"], how="left")
    joined = joined[joined["question"].isin(today.questions["name"].to_pylist())]
    excess = (joined["now"] - joined["value"]).abs() - RELATIVE * joined["value"].abs()
    joined = joined.assign(beyond=excess.fillna(math.inf))
    worst = joined.sort_values("beyond", ascending=False).drop_duplicates(IDENTITY)
    names = {"value": "stored"}
    rows = worst[worst["beyond"] > ABSOLUTE].rename(columns=names).drop(columns=["seed", "beyond"])
    return sorted((Moved(**row) for row in rows.to_dict("records")), key=str)


def sample(design: Design) -> Design:
    """One split and a few settings of every method, on the cheapest problem of each kind.

    A method is done again with every base model, and on every kind of problem with one of them.
    What several studies have is sampled in the first of them. Problems whose rows are not on this
    computer are left out, and studies that have no other.
    """
    covered: set[Any] = set()
    studies = [_sampled(study, covered) for study in design.studies]
    return replace(design, studies=tuple(study for study in studies if study.problems))


def _sampled(study: Study, covered: set[Any]) -> Study:
    problems = []
    for problem in sorted((problem for problem in study.problems if problem.is_here), key=_cost):
        kind, classes, groups = problem.extent
        places = {(kind, classes > 2, groups > 2), *(base.name for base in study.bases)}
        methods = {(treatment.name, treatment.constraint) for treatment in study.treatments}
        combinations = {(place, *method) for place in places for method in methods}
        if not combinations <= covered:
            problems.append(problem)
        covered |= combinations
    treatments = tuple(map(_in_the_middle, study.treatments))
    return replace(study, problems=tuple(problems), treatments=treatments, seeds=study.seeds[:1])


def _cost(problem: Problem) -> int:
    _, classes, groups = problem.extent
    return problem.size * max(classes, 2) * groups


def _in_the_middle(treatment: Treatment) -> Treatment:
    """One setting, or a quarter of a path: at the ends of a grid a method often does nothing.

    A path is followed from its start: of several optima, the settings before decide which is found.
    """
    grid, method = treatment.grid, treatment.method
    if method is not None and hasattr(method.estimator, "fit_path"):
        return replace(treatment, grid=grid[: len(grid) // 4 + 1])
    return replace(treatment, grid=grid[len(grid) // 2 :][:1])


def _long(scored: Results, chosen: Any) -> Any:
    """A pandas row for each score of the wanted runs, by the names of the run."""
    runs = scored.runs.select(["key", *IDENTITY]).to_pandas().fillna(NONE)
    runs = runs.merge(chosen, on=IDENTITY)
    scores = scored.scores.select(["key", "question", "lot", "value"]).to_pandas()
    scores = scores.astype({"key": str, "question": str, "lot": str}).dropna()
    scores = scores[(scores["lot"] == "expected") & scores["key"].isin(runs["key"])]
    return runs.merge(scores[["key", "question", "value"]], on="key").drop(columns="key")
