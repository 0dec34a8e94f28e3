"""Noise floors: what a model that treats all groups alike would show by chance."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._data.counting import moments
from evenhand._data.distributions import distribution
from evenhand._errors import EvenhandError
from evenhand._uncertainty.chance import chance
from evenhand.benchmark.design.questions import Question
from evenhand.benchmark.design.treatments import BASE
from evenhand.benchmark.predictions import Truth
from evenhand.benchmark.store import Entry, Store, groups_of

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

FLOOR, HIGH = "floor", "high"
REPLICATES = 400
SPLITS = 3  # of each problem: floors hardly differ between splits


def with_floors(
    results: Results,
    store: Store | str | Path,
    questions: Collection[str] | None = None,
) -> Results:
    """The same results with noise floors of the base models' scores.

    They are further rows of `scores`: the lot "floor" is the mean that a model with the same
    rates in every group shows at these group sizes, the lot "high" what it exceeds once in
    twenty times (`evenhand.chance`, on the test rows of the first three splits).

    Parameters
    ----------
    results : Results
        Scores of stored runs.
    store : Store, str or Path
        Where their predictions are.
    questions : collection of str, optional
        Names of questions; by default all. A question about probabilities of classes has no floor.

    Returns
    -------
    Results
        With more rows in `scores`.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> with_floors(nothing, "nowhere").scores.num_rows
    0

    """
    opened = store if isinstance(store, Store) else Store(Path(store))
    return results.with_scores(_floors(results, opened, questions))


def floors_of(results: Results) -> Any:
    """Floor and high of every problem, base model and question that has them: a pandas table.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> len(floors_of(Results.from_rows(runs=[], questions=[], problems=[], scores=[])))
    0

    """
    return results.query(
        f"select problem, base, question, avg(value) filter (lot = '{FLOOR}') as floor, "
        f"avg(value) filter (lot = '{HIGH}') as high from results "
        f"where lot in ('{FLOOR}', '{HIGH}') group by all order by all"
    )


def _floors(
    results: Results, store: Store, chosen: Collection[str] | None
) -> Iterator[tuple[str, str, str, float]]:
    names = [field.name for field in fields(Question)]
    questions = [
        Question(**{name: row[name] for name in names})
        for row in results.questions.to_pylist()
        if row["measure"] is not None and (chosen is None or row["name"] in chosen)
    ]
    plain = results.query(
        f"select key from runs where method = '{BASE}' qualify "
        f"row_number() over (partition by problem, base order by seed, key) <= {SPLITS}"
    )
    answered_rows = results.query(
        "select distinct key, question from scores where lot = 'expected'"
    )
    answered = set(zip(answered_rows["key"], answered_rows["question"], strict=True))
    entries = store.entries()
    for key in plain["key"]:
        if key not in entries:
            continue
        selected = [question for question in questions if (key, question.name) in answered]
        yield from _run_floors(store, entries[key], selected)


def _run_floors(
    store: Store, entry: Entry, questions: Collection[Question]
) -> Iterator[tuple[str, str, str, float]]:
    truth = store.truth(entry)
    sources: dict[str, Any] = {}
    for question in questions:
        kind = question.asked.kind
        about = "steps" if kind.is_swept else kind.about
        if about not in sources:
            sources[about] = _source(store, entry, truth, about)
        if sources[about] is None:
            continue
        how = question.how
        one_class = about == "labels" and question.asked.one_class
        try:
            noise = chance(
                question.asked,
                sources[about],
                measure=how.measure,
                aggregate=question.aggregate,
                transform=question.transform,
                favorable=truth.about["favorable"] if one_class else None,
                tau=question.tau,
                replicates=REPLICATES,
                random_state=0,
            )
        except (EvenhandError, ValueError):  # no floor is known for it
            continue
        yield entry["key"], question.name, FLOOR, noise.floor
        yield entry["key"], question.name, HIGH, noise.high


def _source(store: Store, entry: Entry, truth: Truth, about: str) -> Any:
    """The counts that a question is about; None where there are none."""
    predictions, groups = store.predictions(entry), groups_of(truth)
    if truth.classes:
        if about == "labels":
            return store.tally(entry)
        if about != "steps" or predictions.scores is None or len(truth.classes) != 2:
            return None
        favorable = truth.about["favorable"]
        score = predictions.scores[:, 1 if favorable is None else favorable]
        return distribution(score, sensitive_features=groups)
    assert predictions.values is not None
    values = predictions.values[:, 0].astype(float)
    if about == "steps":
        return distribution(values, sensitive_features=groups)
    return moments(truth.y, values, sensitive_features=groups)
