"""The rule that a page explores, thresholds for groups, as a query over a table of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit import Evidence
from evenhand._audit.explore import shown_groups
from evenhand._data.groups import MERGED, show
from evenhand._data.sql import DIALECTS
from evenhand._errors import InputError
from evenhand._words import plain, read_number
from evenhand.app.choices import Choices
from evenhand.mitigation import DecisionRule
from evenhand.mitigation.deploy.description import thresholds

Floats = NDArray[np.float64]
Query = Mapping[str, Sequence[str]]

TABLE = "people"  # how the query calls it
ENDS = {"all": -inf, "none": inf}  # thresholds that everyone reaches, or no one


class Thresholds(NamedTuple):
    """The least scores that decide for a label: the second threshold for a share of the people."""

    first: float
    second: float
    share: float


def rule_sql(choices: Choices, evidence: Evidence, query: Query) -> str:
    """The query; in `query` are the thresholds that were explored, and of which group."""
    dialect = _value(query, "dialect") or "duckdb"
    if dialect not in DIALECTS:
        raise InputError(f"There is no SQL for {dialect!r}; there is {', '.join(DIALECTS)}.")
    rule = explored_rule(evidence, query)
    ids = choices.reading.get("cluster")
    is_drawn = bool((rule.share < 1).any())
    draws = {"row_id": ids, "key": choices.opened.fingerprint[:16]} if ids and is_drawn else {}
    score = choices.reading["y_score"]
    text = rule.to_sql(dialect, table=TABLE, scores=score, **draws)
    comments = [
        f"Decisions by the scores in {choices.opened.name}, as explored in evenhand app.",
        *rule.explain(evidence.favorable).splitlines(),
        "Thresholds are rounded in these words, and exact in the query.",
    ]
    if is_drawn and not ids:
        comments.append("For a chance between 0 and 1, draw a lot for each person.")
    return "".join(f"-- {plain(line)}\n" for line in comments) + text + "\n"


def explored_rule(evidence: Evidence, query: Query) -> DecisionRule:
    """One threshold for all; or one for a group, and another for everyone else."""
    if evidence.score_of is None or len(evidence.classes) != 2:
        raise InputError("No score decides here, so there are no thresholds to write.")
    selected = evidence.score_of
    classes = (next(label for label in evidence.classes if label != selected), selected)
    decided = evidence.decided_at
    own = _thresholds(query, "own", decided)
    group = list(query.get("who", ()))
    if not group:
        return _rule([own]).named(classes)
    names = list(query.get("by", ()))
    unknown = [name for name in names if name not in evidence.columns]
    if unknown or not names:
        raise InputError(f"The groups do not use {unknown}.")
    groups = evidence.by_columns(tuple(evidence.columns.index(name) for name in names))
    labels = shown_groups(groups)
    if group not in labels:
        raise InputError(f"There is no group {' × '.join(group)}.")
    unmerged = [at for at, label in enumerate(groups.groups) if not _is_merged(label)]
    if labels.index(group) not in unmerged or len(unmerged) < len(labels):
        raise InputError(
            "Small groups are taken together here, which a query cannot see. Look at fewer columns."
        )
    thresholds_of_others = _thresholds(query, "rest", decided)
    thresholds = [own if labels[at] == group else thresholds_of_others for at in unmerged]
    return _rule(thresholds).named(classes, names, [groups.groups[at] for at in unmerged])


def _is_merged(label: Any) -> bool:
    return label == MERGED or show(label) == MERGED


def _thresholds(query: Query, key: str, decided: float | None) -> Thresholds:
    """One threshold or two; the second decides for a share of the people."""
    texts = list(query.get(key, ()))
    try:
        values = [ENDS[text] if text in ENDS else read_number(text) for text in texts]
    except ValueError as failure:
        raise InputError(f"{texts} are no thresholds.") from failure
    if not values and decided is not None:
        values = [decided]
    if len(values) == 1:
        return Thresholds(values[0], values[0], 0.0)
    if len(values) != 3 or not 0 <= values[2] <= 1:
        raise InputError("The decisions here are not by a threshold; move one first.")
    return Thresholds(*values)


def _rule(by_pool: Sequence[Thresholds]) -> DecisionRule:
    parts = []
    for pool, (first, second, share) in enumerate(by_pool):
        for value, part in ((first, 1 - share), (second, share)):
            if part > 0:
                parts.append((_prices(value), pool, part))
    prices, pools, shares = zip(*parts, strict=True)
    return DecisionRule(np.array(prices), np.array(pools), np.array(shares), reads="numbers")


def _prices(threshold: float) -> Floats:
    """Prices at which exactly the scores from this one on decide for the second class.

    A rule decides it above a cut, so that the cut is the number before. Where rounding moves that,
    a multiple of the prices does not.
    """
    if abs(threshold) == inf:
        return np.full((2, 2), [0.0, np.sign(threshold)])
    cut = float(np.nextafter(threshold, -inf))
    for scale in count(1):
        prices = np.array([[0.0, cut * scale], [0.0, cut * scale - scale]])
        if thresholds(prices[None])[0][0] == cut:
            return prices
    raise AssertionError


def _value(query: Query, key: str) -> str:
    values = query.get(key, ())
    return values[-1] if values else ""
