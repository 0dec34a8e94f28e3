"""A rule as Python source that needs nothing but Python."""

from __future__ import annotations

from pprint import pformat
from typing import Any

from evenhand.mitigation.deploy.description import Description, Grouping, check_plain, plain
from evenhand.mitigation.deploy.moves import Moves

HEAD = '''\
"""{what}, written by evenhand; it needs nothing but Python."""

from bisect import {bisect}
from hashlib import sha256
'''
PROBABILITIES = '''\
def probabilities(scores, group=None):
    """The chance of each of CLASSES; `scores` is {reads}."""
    row = [1 - scores, scores] if isinstance(scores, (int, float)) else list(scores)
    if len(row) != {features} or any(not {low} <= value <= {high} for value in row):
        raise ValueError(f"Expected {features} {what}, not {{row}}.")
{decided}

'''
BY_STEPS = """\
    cuts, chances = RULES[pool(group)]
    return list(chances[bisect_left(cuts, row[1])])
"""
BY_PRICES = """\
    chances = [0.0] * len(CLASSES)
    for share, prices in RULES[pool(group)]:
        costs = [row[0] * price for price in prices[0]]
        for x, line in zip(row[1:], prices[1:]):
            costs = [cost + x * price for cost, price in zip(costs, line)]
        chances[costs.index(min(costs))] += share
    return chances
"""
POOL_AND_LOT = '''\
def pool(group):
    """The place of a group: a value, or a tuple of one for each of COLUMNS."""
    if not COLUMNS:
        return 0
    values = group if isinstance(group, (tuple, list)) else (group,)
    values = tuple(
        bisect_left(CUTS[name], value) if name in CUTS else value
        for name, value in zip(COLUMNS, values)
    )
    if values not in GROUPS:
        raise ValueError(f"The rule knows no group {group!r}; it knows {list(GROUPS)}.")
    return GROUPS[values]


def lot(person, key):
    """The number from 0 to 1 that belongs to a person; ids are text, whole numbers, or several."""
    if isinstance(person, (tuple, list)):
        person = "|".join(str(part).replace("^", "^^").replace("|", "^|") for part in person)
    return int(sha256(f"{key}:{person}".encode()).hexdigest()[:13], 16) / 16**13


'''
DECIDE = '''\
def decide(scores, group=None, person=None, key=None):
    """The class decided; without chance in it, the person and the key are not needed."""
    chances = probabilities(scores, group)
    if max(chances) >= 1:
        return CLASSES[chances.index(max(chances))]
    if person is None or key is None:
        raise ValueError("Chance decides here: pass the id of the person and the key.")
    place, passed = lot(person, key) * sum(chances), 0.0
    for label, chance in zip(CLASSES, chances):
        passed += chance
        if place < passed:
            return label
    return CLASSES[-1]
'''
PREDICT = '''\
def predict(amount, group=None, person=None, key=None):
    """The new prediction; without chance in it, the person and the key are not needed."""
    if not -1.7976931348623157e308 <= amount <= 1.7976931348623157e308:
        raise ValueError(f"Expected a number, not {amount}.")
    cuts, pieces = RULES[pool(group)]
    anchor, outcomes = pieces[bisect_right(cuts, amount)]
    if len(outcomes) > 1 and (person is None or key is None):
        raise ValueError("Chance decides here: pass the id of the person and the key.")
    place = lot(person, key) if len(outcomes) > 1 else 0.0
    for end, start, slope in outcomes:
        if place < end:
            break
    return start + slope * (amount - anchor)


'''
READS = {
    "scores": "the probability of the second class, or of each class",
    "labels": "what the model decided, 1 for the second class and 0 for the first",
    "numbers": "a number; a higher one speaks for the second class",
    "joint": "the probability of each group and class, the classes of a group side by side",
}


def python_source(rule: Description) -> str:
    """Source of `decide(scores, group, person, key)` and of its dependencies."""
    blind = rule.grouping is None and rule.features != len(rule.classes)
    reads = READS["joint" if blind else rule.reads]
    check_plain(rule.classes, rule.grouping)
    rules: list[Any]
    if rule.has_steps:
        steps = map(rule.steps, range(rule.pools))
        rules = [(cuts, chances.tolist()) for cuts, chances in steps]
    else:
        rules = [
            [(share, prices.tolist()) for share, prices in rule.rules(pool)]
            for pool in range(rule.pools)
        ]
    decided = (BY_STEPS if rule.has_steps else BY_PRICES).rstrip()
    classes = {"CLASSES": [plain(label) for label in rule.classes]}
    return "\n".join(
        [
            HEAD.format(what="A decision rule", bisect="bisect_left"),
            *_constants({**classes, **_groups(rule.grouping), "RULES": rules}),
            "",
            "",
            PROBABILITIES.format(
                reads=reads,
                features=rule.features,
                decided=decided,
                what="numbers" if rule.reads == "numbers" else "probabilities",
                **dict(zip(("low", "high"), map(_short, rule.bounds), strict=True)),
            )
            + POOL_AND_LOT
            + DECIDE,
        ]
    )


def _short(bound: float) -> str:
    return str(int(bound)) if bound in (0, 1) else repr(bound)


def moves_source(moves: Moves) -> str:
    """Source of `predict(amount, group, person, key)` and of its dependencies."""
    check_plain((), moves.grouping)
    rules = [moves.listed(pool) for pool in range(moves.pools)]
    return "\n".join(
        [
            HEAD.format(what="The new values of predictions", bisect="bisect_left, bisect_right"),
            *_constants({**_groups(moves.grouping), "RULES": rules}),
            "",
            "",
            (PREDICT + POOL_AND_LOT).rstrip() + "\n",
        ]
    )


def _groups(grouping: Grouping | None) -> dict[str, Any]:
    """The columns that name the group, the place of each group, and the cuts of columns."""
    if grouping is None:
        return {"COLUMNS": (), "GROUPS": {}, "CUTS": {}}
    return {
        "COLUMNS": grouping.columns,
        "GROUPS": {tuple(map(plain, label)): i for i, label in enumerate(grouping.labels)},
        "CUTS": {name: list(cut) for name, cut in grouping.cuts.items()},
    }


def _constants(values: dict[str, Any]) -> list[str]:
    return [
        f"{name} = {pformat(value, width=99, sort_dicts=False)}" for name, value in values.items()
    ]
