"""What the paper claims, each with a verdict computed from results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark import Finding

if TYPE_CHECKING:
    from evenhand.benchmark import Results


def findings(results: Results) -> tuple[Finding, ...]:
    """Every claim that the results can say something about, in the paper's order.

    A † behind the name of a data set marks a stand-in.
    """
    from paper.words import task_name

    marked = {task_name(problem) for problem in results.stand_ins}
    return tuple(
        replace(one, where=f"{one.where}†") if one.where in marked else one for one in _all(results)
    )


def _all(results: Results) -> tuple[Finding, ...]:
    from paper.findings import ablations, alike, best, many_groups, shapes, statistics
    from paper.findings.criteria import ASKED
    from paper.findings.values import values

    criteria = [name for asked in ASKED for name in asked.questions]
    ablated = (*ablations.QUESTIONS, *shapes.QUESTIONS, *statistics.QUESTIONS)
    wide = values(results, ["accuracy", "rmse", *criteria, *ablated])
    found = alike.agreements(results, wide)
    return (
        *alike.alike(found),
        *best.best(results, wide),
        *shapes.intuitive(wide),
        *ablations.unconstrained(results, wide),
        *many_groups.many_groups(results, wide),
        *alike.identical(results, found),
        *alike.transformed(found),
        *shapes.consistent(wide),
        *statistics.of_classifiers(results, wide),
        *statistics.already_even(wide),
        *statistics.of_regressors(results, wide),
        *ablations.orders(results, wide),
        *ablations.aggregates(results, wide),
        *alike.alike(alike.agreements(results, wide, "boosting"), "boosting"),
        *ablations.base_models(results, wide),
    )


__all__ = ["findings"]
