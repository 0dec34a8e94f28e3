"""The library against the oracle, and against faults that it must refuse."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import numpy as np

import evenhand as eh
from fuzz.oracle import CELLS, evaluate
from fuzz.tables import Case, case_of, spoiled

ALL_CLASSES = ("statistical_parity", "equalized_odds")
MEASURES = ("mpd", "gini", "pq", "shortfall", "ratio")


def attack(seed: int) -> None:
    """One case: a value that equals the oracle's, or an error of ours."""
    rng = np.random.default_rng([1, seed])
    case = case_of(rng)
    if not any(row[3] for row in case.rows):
        refused(case.columns, "weights of zero")
        return
    criterion = str(rng.choice(list(CELLS)))
    measure = str(rng.choice(MEASURES))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", eh.UndefinedWarning)
        kind = rng.random()
        if kind < 0.15:
            fault, columns = spoiled(case, rng)
            refused(columns, fault, criterion)
        elif kind < 0.17:
            audited(case)
        elif kind < 0.22:
            bounded(case, criterion, measure)
        else:
            compared(case, criterion, measure, rng)


def compared(case: Case, criterion: str, measure: str, rng: np.random.Generator) -> None:
    aggregate = "worst" if measure == "ratio" else str(rng.choice(["worst", "total"]))
    found = eh.evaluate(
        criterion, **case.columns, measure=measure, aggregate=aggregate, **named(case, criterion)
    )
    same(found, evaluate(criterion, case.rows, measure, aggregate), criterion, measure, aggregate)


def named(case: Case, criterion: str = "equal_opportunity") -> dict[str, Any]:
    """The favorable one of two labels, where it is asked and does not go without saying."""
    labels = sorted({label for row in case.rows for label in row[:2]})
    asked = criterion not in ALL_CLASSES and len(labels) == 2 and labels != [0, 1]
    return {"favorable": labels[1]} if asked else {}


def bounded(case: Case, criterion: str, measure: str) -> None:
    value = evaluate(criterion, case.rows, measure, "worst")
    found = eh.interval(criterion, **case.columns, measure=measure, **named(case, criterion))
    same(found.value, value, criterion, measure)
    if not math.isnan(value):
        slack = 1e-9 * (1 + abs(value))
        assert found.low - slack <= value <= found.high + slack, (found, value)


def audited(case: Case) -> None:
    """An audit of ugly rows is a document of strict JSON, or refused in our words."""
    favorable = named(case)
    try:
        found = eh.audit(**case.columns, **favorable)
    except eh.EvenhandError:
        return
    strictly(found.to_json())
    for finding in found.findings:
        name = finding.criterion
        if name in CELLS and not (favorable and name in ALL_CLASSES):
            for measure, measured in finding.values.items():
                if measure in MEASURES:
                    same(measured.value, evaluate(name, case.rows, measure, "worst"), name, measure)


def refused(columns: dict[str, Any], fault: str, criterion: str = "statistical_parity") -> None:
    try:
        value = eh.evaluate(criterion, **columns)
    except eh.EvenhandError:
        return
    raise AssertionError(f"{fault} was taken: {value}")


def strictly(text: str) -> Any:
    """JSON without the words that are none of its numbers."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def same(found: float, wanted: float, *what: str) -> None:
    assert math.isnan(found) == math.isnan(wanted), (what, found, wanted)
    if not math.isnan(wanted):
        assert math.isclose(found, wanted, rel_tol=1e-9, abs_tol=2e-8), (what, found, wanted)
