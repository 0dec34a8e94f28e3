"""A rule in plain English, a sentence for each group."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from evenhand._words import number
from evenhand.mitigation.deploy.description import Description, Steps
from evenhand.mitigation.deploy.moves import Moves

MAX_AMOUNTS = 5  # amounts of each group whose new values are listed
SUBJECTS = {
    "scores": "A score is the probability of {}; to",
    "labels": "To",
    "numbers": "A higher score speaks for {}; to",
}
NEARLY = 5e-5  # chances closer to 0 or 1 than this are no one or everyone


def sentences(rule: Description, selected: int = -1) -> str:
    """The decisions of each group, a line each; `selected` is the place of the class selected.

    A rule of two classes is thresholds, with the chance between them; one of more classes goes by
    expected prices.
    """
    chosen = range(len(rule.classes))[selected]
    lines = []
    for pool in range(rule.pools):
        name = "Everyone" if rule.grouping is None else f"Group {rule.grouping.names[pool]}"
        if not rule.has_steps:
            words = _by_prices(rule, pool)
        elif rule.reads == "labels":
            words = _of_labels(rule.steps(pool), chosen)
        else:
            words = _of_scores(rule.steps(pool), chosen)
        lines.append(f"{name}: {words}.")
    if rule.has_steps:
        subject = SUBJECTS[rule.reads].format(repr(rule.classes[1]))
        lines.append(f"{subject} select is to decide {rule.classes[chosen]!r}.")
    return "\n".join(lines)


def moves_words(moves: Moves) -> str:
    """A sentence for each group: the new values of a few amounts, on average where random."""
    lines = []
    for pool in range(moves.pools):
        name = "Everyone" if moves.grouping is None else f"Group {moves.grouping.names[pool]}"
        lines.append(f"{name}: {_of_moves(moves, pool)}.")
    if moves.draws:
        lines.append(
            "These are means: where a prediction can become several values, one is drawn at random."
        )
    return "\n".join(lines)


def _of_scores(steps: Steps, chosen: int) -> str:
    """Thresholds from the top down; ranges where no one is selected are omitted."""
    cuts, chances = _merged(steps, chosen)
    if not cuts:
        return f"select {_share(chances[0])}"
    at = _written(cuts)
    places = [
        f"up to {at[0]}",
        *(f"between {low} and {high}" for low, high in pairwise(at)),
        f"above {at[-1]}",
    ]
    clauses = []
    for where, chance in zip(places[::-1], chances[::-1], strict=True):
        share = _share(chance)
        if share == "everyone":
            clauses.append(f"select scores {where}")
        elif share != "no one":
            clauses.append(f"{where} select {share}")
    return "; ".join(clauses)


def _of_labels(steps: Steps, chosen: int) -> str:
    """Shares selected of those the model selects, and of the others."""
    places = [sum(cut < label for cut in steps.cuts) for label in (0, 1)]
    shares = [_share(float(steps.chances[place, chosen])) for place in places]
    selected, not_selected = shares[chosen], shares[1 - chosen]
    return f"of those the model selects, select {selected}; of the others, {not_selected}"


def _by_prices(rule: Description, pool: int) -> str:
    shares = [_share(share) for share, _ in rule.rules(pool)]
    if len(shares) == 1:
        return "take the class of least expected price"
    how = f"one of {len(shares)} tables of prices, for {', '.join(shares)} people"
    return f"take the class of least expected price by {how}"


def _merged(steps: Steps, chosen: int) -> tuple[list[float], list[float]]:
    """Cuts and chances, without cuts at which the wording does not change."""
    cuts: list[float] = []
    chances = [float(steps.chances[0, chosen])]
    for cut, chance in zip(steps.cuts, steps.chances[1:, chosen].tolist(), strict=True):
        if _share(chance) != _share(chances[-1]):
            cuts.append(cut)
            chances.append(chance)
    return cuts, chances


def _share(chance: float) -> str:
    """A chance as a number in 10, 100, 1,000 or 10,000.

    >>> _share(0.3), _share(0.314), _share(0.002), _share(1.0)
    ('3 in 10', '31 in 100', '2 in 1,000', 'everyone')
    """
    if chance < NEARLY or chance > 1 - NEARLY:
        return "no one" if chance < 0.5 else "everyone"
    tenths = round(10 * chance)
    if 0 < tenths < 10 and abs(chance - tenths / 10) <= 0.005:
        return f"{tenths} in 10"
    total = next(total for total in (100, 1000, 10_000) if 0 < round(chance * total) < total)
    return f"{round(chance * total)} in {total:,}"


def _written(cuts: list[float]) -> list[str]:
    """Cuts with as many digits as keep them distinct, at least two."""
    for digits in range(2, 17):
        texts = [f"{cut:.{digits}f}" for cut in cuts]
        if len(set(texts)) == len(cuts):
            return texts
    return [repr(cut) for cut in cuts]


def _of_moves(moves: Moves, pool: int) -> str:
    cuts = moves.cuts[pool][np.isfinite(moves.cuts[pool])]
    if not len(cuts):
        shift = float(moves.start[pool, 0, 0] - moves.anchor[pool, 0])
        return f"add {number(shift)}" if shift >= 0 else f"subtract {number(-shift)}"
    at = np.unique(np.linspace(cuts[0], cuts[-1], MAX_AMOUNTS))
    becomes = moves.expected(at, np.full(len(at), pool))
    return ", ".join(f"{number(x)} becomes {number(y)}" for x, y in zip(at, becomes, strict=True))
