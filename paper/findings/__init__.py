"""What the paper claims, each with a verdict computed from results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.sections import Finding

if TYPE_CHECKING:
    from evenhand.benchmark import Results


def findings(results: Results) -> tuple[Finding, ...]:
    """Every claim that the results can say something about, in the paper's order, then ours.

    A † behind the name of a data set marks a stand-in. Claims of the paper are judged by the
    paper's methods; those with the source "ours" are not the paper's.
    """
    from paper.words import task_name

    marked = {task_name(problem) for problem in results.stand_ins}
    return tuple(
        replace(one, where=f"{one.where}†") if one.where in marked else one for one in _all(results)
    )


def _all(results: Results) -> tuple[Finding, ...]:
    from paper.design import OWN, PUBLISHED
    from paper.findings import (
        ablations,
        alike,
        best,
        many_groups,
        published,
        regressors,
        shapes,
        statistics,
    )
    from paper.findings.criteria import ASKED, OURS
    from paper.findings.values import values

    criteria = [name for asked in ASKED for name in asked.questions]
    ablated = (
        *ablations.QUESTIONS,
        *shapes.QUESTIONS,
        *statistics.QUESTIONS,
        *regressors.QUESTIONS,
    )
    every = values(results, ["accuracy", "rmse", *criteria, *ablated])
    wide = every[~every["method"].isin(PUBLISHED)]
    paper = wide[~wide["method"].isin(OWN)]  # what the paper's claims are about
    found = alike.agreements(results, paper)
    main = ("MPD and PQ",)

    def more(question: str, rows: Any, base: str | None = None, **how: bool) -> Iterator[Finding]:
        compared = alike.agreements(results, rows, base, main, **how)
        return alike.alike(results, compared, question, OURS)

    return (
        *alike.alike(results, found),
        *best.best(results, wide),
        *shapes.intuitive(paper),
        *ablations.unconstrained(results, paper),
        *regressors.disregard(results, paper),
        *regressors.reaches(results, paper),
        *many_groups.many_groups(results, paper),
        *alike.identical(results, found),
        *alike.transformed(found),
        *shapes.consistent(paper),
        *statistics.of_classifiers(results, paper),
        *statistics.already_even(paper),
        *statistics.of_regressors(results, paper),
        *ablations.orders(results, paper),
        *ablations.aggregates(results, paper),
        *more("Q1, at matched accuracy", paper, is_matched=True),
        *more("Q1, with evenhand’s methods", wide),
        *more("Q1, on gradient boosting", paper, "boosting"),
        *ablations.base_models(results, paper),
        *published.mended(results, every),
        *published.column(every),
    )


__all__ = ["findings"]
