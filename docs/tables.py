"""The reference tables, written from the registries, so that they cannot fall behind them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from evidence import PROPERTIES, axioms

from evenhand import CRITERIA, MEASURES, Criterion
from evenhand.measures import AGGREGATES
from evenhand.mitigation import METHODS
from evenhand.statistics import KINDS, STATISTICS, Statistic

Rows = Iterable[Sequence[str]]

# What a method needs besides rows with a group and a label, what it costs, and when to leave it
# alone; a new method without is an error.
ADVICE = {
    "Reweight": (
        "a model that takes sample weights",
        "one refit; usually little accuracy",
        "you need a stated bound: there is nothing to set, and a gap remains",
    ),
    "FairRR": (
        "a model that takes sample weights",
        "about a dozen refits; trains on labels that are deliberately wrong",
        "someone will read the model's probabilities as chances of the true label",
    ),
    "Reduction": (
        "a model that takes sample weights",
        "tens of refits; a mixture of models in place of one",
        "a single model must explain each decision, or equal people must get equal answers",
    ),
    "Penalty": (
        "PyTorch; rows enough for a network or a linear model",
        "a fit for each strength, minutes on a CPU for a million rows; no base model",
        "you must keep the model you have, or state the bound beforehand",
    ),
    "Rejection": (
        "scores",
        "near the threshold the group alone decides; it aims at balanced accuracy, so plain "
        "accuracy can drop a lot",
        "treating people differently by group is unlawful or unwanted",
    ),
    "EqOdds": (
        "predicted labels; no scores",
        "much accuracy: good decisions in the better-served group are undone at random",
        "you have scores; LinearPost and RateConstrained do the same job better",
    ),
    "CalEqOdds": (
        "calibrated scores",
        "throws away information about some people of the better-served group",
        "decisions matter rather than scores: gaps in decisions often grow",
    ),
    "FairProj-KL": (
        "probabilities of all classes",
        "the bound is on probabilities; the most probable labels need not keep it",
        "you need a bound on decisions",
    ),
    "FairProj-CE": (
        "probabilities of all classes",
        "the bound is on probabilities; the most probable labels need not keep it",
        "you need a bound on decisions",
    ),
    "LinearPost": (
        "calibrated probabilities",
        "as little accuracy as a bound on differences allows; ties are broken at random",
        "probabilities are poorly calibrated, or groups have few rows",
    ),
    "RateConstrained": (
        "calibrated probabilities; Clarabel for PQ",
        "as little accuracy as a bound on PQ, Gini or MPD allows; ties are broken at random",
        "probabilities are poorly calibrated, or groups have few rows",
    ),
    "Frontier": (
        "probabilities; Clarabel for PQ; five more fits of the model",
        "as little accuracy as a bound allows; part of a small group is decided at random",
        "no decision may be left to chance",
    ),
    "FairReg": (
        "a model that takes sample weights",
        "about ten refits; the average error rises a little",
        "you want predictions to be alike: it evens out errors, not predictions",
    ),
    "ParityReduction": (
        "any regressor",
        "up to a hundred refits; predictions are drawn, and coarse",
        "the same person must always get the same prediction",
    ),
    "Penalty_R": (
        "PyTorch; rows enough for a network or a linear model",
        "a fit for each strength; no base model",
        "you must keep the model you have, or state the bound beforehand",
    ),
    "WassBC": (
        "predictions; no labels beyond the model's",
        "as little error as equal distributions allow",
        "the model predicts few distinct values, or you need a stated bound",
    ),
    "LinearPost_R": (
        "predictions",
        "as little error as the bound allows; predictions are rounded to bins",
        "groups have few rows, whose distribution is not known",
    ),
    "ParityConstrained": (
        "predictions; Clarabel for PQ",
        "as little error as a bound on PQ, Gini or MPD allows; predictions are rounded to bins",
        "groups have few rows; or Gini and many groups, which is slow",
    ),
}
COSTS = {
    "weighted": "weighted error cost",
    "fpr": "cost of false positives",
    "fnr": "cost of false negatives",
}
STAGES = {"pre": "the training data", "in": "the training", "post": "a trained model's output"}
CELLS = {"c": "class", "c, k": "pair of labels", "t": "cut point", "": "–"}


def measures() -> str:
    head = ("Name", "What it is", "Formula", "Range", "Scale-free")
    rows = [
        (
            f"`{name}`",
            _first(measure.function),
            measure.formula,
            measure.range,
            "yes" if measure.is_relative else "no",
        )
        for name, measure in MEASURES.items()
    ]
    return listed(head, rows, (10, 36, 30, 16, 8), "names")


def axiom_marks() -> str:
    rows = [
        (f"`{name}`", *("✓" if held else "–" for held in axioms(measure)))
        for name, measure in MEASURES.items()
    ]
    return listed(("Measure", *PROPERTIES), rows, (16, *[14] * len(PROPERTIES)), "names marks")


def criteria() -> str:
    rows = [(f"[`{name}`](#{_anchor(name)})", one.asks) for name, one in CRITERIA.items()]
    return listed(("Criterion", "The question"), rows, (34, 66), "names stacked")


def criterion_sections() -> str:
    """What each criterion is, then how it is computed, then what it is not."""
    return "\n".join(_section(one) for one in CRITERIA.values())


def _section(criterion: Criterion) -> str:
    also = ", ".join(f"`{name}`" for name in criterion.also_called)
    lines = [
        f"({_anchor(criterion.name)})=",
        f"### `{criterion.name}`",
        "",
        f"**{_plain(criterion.asks)}**",
        "",
        *([f"Also found as {also}.", ""] if also else []),
        ":::{container} formula",
        _plain(criterion.formula),
        ":::",
        "",
        f"The default measure is `{criterion.measure}`; by MPD it is at most {_most(criterion)}.",
        "",
        f"*What it is not.* {_plain(criterion.is_not)}",
        "",
    ]
    return "\n".join(lines)


def _anchor(name: str) -> str:
    return f"criterion-{name.replace('_', '-')}"


def statistics() -> str:
    head = ("Name", "Formula", "Range", "One for each", "Needs")
    rows = [
        (
            f"`{name}`",
            one.formula,
            _range(one),
            CELLS.get(one.over, one.over),
            KINDS[one.needs].columns,
        )
        for name, one in STATISTICS.items()
    ]
    return listed(head, rows, (20, 38, 12, 10, 20), "names")


def aggregates() -> str:
    rows = [(f"`{name}`", _first(one)) for name, one in AGGREGATES.items()]
    return listed(("Name", "What it is"), rows, (20, 80), "names")


def methods() -> str:
    head = ("Method", "Estimator", "Stage", "Criteria", "Classes", "Groups", "Drawn", "Source")
    rows = [
        (
            f"`{name}`",
            f"`{one.estimator.__name__}`",
            one.stage,
            ", ".join(one.criteria),
            one.classes if one.task == "classification" else "–",
            one.groups,
            "yes" if one.randomized else "no",
            one.citation,
        )
        for name, one in METHODS.items()
    ]
    return listed(head, rows, (12, 20, 6, 18, 8, 8, 6, 22), "names")


def method_facts() -> str:
    head = ("Method", "Changes", "Makes equal", "Group when deciding", "Same input, same answer")
    rows = [
        (
            f"`{name}`",
            STAGES[one.stage],
            ", ".join(COSTS.get(what, what) for what in one.criteria).replace("_", " "),
            "needed" if one.needs_group_at_predict else "not needed",
            "no: drawn" if one.randomized else "yes",
        )
        for name, one in METHODS.items()
    ]
    return listed(head, rows, (16, 20, 36, 14, 14), "names")


def method_advice() -> str:
    head = ("Method", "Needs", "Costs", "Not if …")
    rows = [(f"`{name}`", *ADVICE[name]) for name in METHODS]
    return listed(head, rows, (16, 22, 32, 30), "names")


def listed(head: Sequence[str], rows: Rows, widths: Sequence[int], style: str) -> str:
    """A list-table, whose cells may hold any text."""
    lines = ["```{list-table}", ":header-rows: 1", f":class: {style}"]
    lines += [f":widths: {' '.join(map(str, widths))}", ""]
    for row in (head, *rows):
        lines += [f"{'  -' if at else '* -'} {_plain(cell)}" for at, cell in enumerate(row)]
    return "\n".join([*lines, "```", ""])


def _plain(cell: str) -> str:
    """Text that Markdown leaves as it is."""
    return cell if cell.startswith(("`", "[`")) else cell.replace("_", r"\_").replace("|", r"\|")


def _first(thing: object) -> str:
    return (thing.__doc__ or "").partition("\n")[0]


def _most(criterion: Criterion) -> str:
    low, high = criterion.statistic.bounds
    if criterion.across == "integral":
        return "range of ŷ"
    return _number(high - low)


def _range(statistic: Statistic) -> str:
    low, high = statistic.bounds
    return f"{_number(low)} to {_number(high)}"


def _columns(statistic: Statistic) -> str:
    return KINDS[statistic.needs].columns


def _number(value: float) -> str:
    return f"{value:g}".replace("inf", "∞").replace("-", "−")


TABLES = {
    "measures": measures,
    "axioms": axiom_marks,
    "criteria": criteria,
    "criterion-sections": criterion_sections,
    "statistics": statistics,
    "aggregates": aggregates,
    "methods": methods,
    "method-facts": method_facts,
    "method-advice": method_advice,
}


def write(folder: Path) -> None:
    """Write every table, leaving those that did not change alone, so that builds stay quick."""
    for name, table in TABLES.items():
        put(folder / f"{name}.md", table())


def put(file: Path, text: str) -> None:
    """Write a file whole, unless it says so already: builds may run side by side."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(text, encoding="utf-8")
        part.replace(file)
