"""Change: beside a baseline, in the last window, or at a time that nobody knows.

Beside a baseline or what was before, every group by itself: the hits before and after are as likely
as a mixture over two rates says, over as likely as one common rate makes them at best (universal
inference; Wasserman, Ramdas and Balakrishnan 2020). Since an unknown time: the e-process of "all
groups alike" is started anew with every span of days, and the sum of all that run is the e-detector
of Shiryaev and Roberts (Shin, Ramdas and Rinaldo 2022): groups that stay alike let it pass a bound
of A after A days on average, or more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._words import listing, number, percent
from evenhand.watch.bands import log_likelihood, log_mixed, log_mixture
from evenhand.watch.evalues import log_mean
from evenhand.watch.ledger import day_name
from evenhand.watch.rates import Rates
from evenhand.watch.status import Against, Change

Floats = NDArray[np.float64]

NEARNESS = (10.0, 100.0, 1000.0)  # rows that a rate before is worth as a guess of that after


def log_changed(hits: Floats, sizes: Floats, later_hits: Floats, later_sizes: Floats) -> Floats:
    """Log e-value (…) that a rate after is not that before; 0 where either has no rows."""
    guess = (hits + 0.5) / (sizes + 1.0)
    near = [(rows * guess, rows * (1 - guess)) for rows in NEARNESS]
    apart = log_mixed(later_hits, later_sizes, near) + np.log(len(near) / (len(near) + 1))
    apart = np.logaddexp(apart, log_mixture(later_hits, later_sizes) - np.log(len(near) + 1))
    together_hits, together = hits + later_hits, sizes + later_sizes
    common = log_likelihood(together_hits, together, together_hits / np.maximum(together, 1.0))
    evidence = log_mixture(hits, sizes) + apart - common
    return np.asarray(np.where((sizes > 0) & (later_sizes > 0), evidence, 0.0))


def beside(
    name: str, before: Rates, now: Rates, weights: Floats, error: float, against: Against, when: str
) -> Change:
    """Every group's rate beside what it was."""
    if not now.cells:
        said = f"{name}: there is nothing to compare {when}."
        return Change(name, against, False, 1.0, 1 / error, (), None, said)
    hits, sizes = aligned(before, now)
    logs = log_changed(hits, sizes, now.hits, now.sizes)
    each = log_mean(logs.T, np.full(len(now.cells), 1 / max(len(now.cells), 1)))
    every = float(np.logaddexp(log_mean(each, weights), np.log(max(1 - weights.sum(), 1e-300))))
    needed = 1 / error
    shown = np.flatnonzero(each + np.log(weights) >= np.log(needed))
    which = shown[np.argsort(-each[shown])].tolist()
    changed = every >= np.log(needed)
    which = which or ([int(each.argmax())] if changed else [])
    groups = tuple(now.groups[i] for i in which)
    told = [_moved(now, hits, sizes, logs, i) for i in which[:3]]
    more = f", and {len(which) - 3} more" if len(which) > 3 else ""
    sentence = f"{name}: no group's rate is shown to have changed {when}."
    if changed:
        sentence = f"{name} has changed {when}: {listing(told)}{more}."
    return Change(
        name,
        against,
        bool(changed),
        float(np.exp(min(every, 690.0))),
        needed,
        groups,
        None,
        sentence,
    )


def since_unknown(
    name: str,
    starts: list[int],
    logs: Floats,
    groups: tuple[Label, ...],
    weights: Floats,
    days: float,
) -> Change:
    """Whether groups that were alike are so no longer: the e-detector over all starts.

    `logs` (starts, cells, groups) are of each group's e-process from there on, the latest first.
    """
    each = log_mean(np.moveaxis(logs, 1, -1), np.full(logs.shape[1], 1 / logs.shape[1]))
    padded = np.concatenate([each, np.zeros((len(each), 1))], axis=1)
    sums = log_mean(padded, np.append(weights, max(1 - weights.sum(), 0.0)))
    total, best = float(np.logaddexp.reduce(sums)), int(np.argmax(sums))
    evidence, since = float(np.exp(min(total, 690.0))), day_name(starts[best])
    arl = f"once in {days:,.0f} days or more on average"
    if evidence < days:
        sentence = f"{name}: no sign that groups have begun to differ."
        return Change(name, "any time", False, evidence, days, (), None, sentence)
    leading = _leading(each[best] + np.log(weights), groups)
    if best == len(starts) - 1:  # the earliest
        sentence = f"{name}: groups have been apart ever since the watch began, {since}."
        return Change(name, "any time", False, evidence, days, leading, since, sentence)
    names = listing([show(group) for group in leading[:3]])
    sentence = f"{name}: groups have differed since about {since}, most of all {names} "
    sentence += f"(by chance this is said {arl})."
    return Change(name, "any time", True, evidence, days, leading, since, sentence)


def aligned(before: Rates, now: Rates) -> tuple[Floats, Floats]:
    """Hits and rows before, in the cells and groups of now; none where there were none."""
    hits, sizes = np.zeros(now.hits.shape), np.zeros(now.sizes.shape)
    if (before.cells, before.groups) == (now.cells, now.groups):
        return before.hits, before.sizes
    cells = {cell: i for i, cell in enumerate(before.cells)}
    groups = {group: i for i, group in enumerate(before.groups)}
    for i, cell in enumerate(now.cells):
        for j, group in enumerate(now.groups):
            if cell in cells and group in groups:
                at = cells[cell], groups[group]
                hits[i, j], sizes[i, j] = before.hits[at], before.sizes[at]
    return hits, sizes


def _leading(logs: Floats, groups: tuple[Label, ...]) -> tuple[Label, ...]:
    """The group that carries most of it, and others that carry at least a tenth as much."""
    order = np.argsort(-logs)
    near = order[logs[order] >= logs[order[0]] - np.log(10)]
    return tuple(groups[i] for i in near.tolist())


def _moved(now: Rates, hits: Floats, sizes: Floats, logs: Floats, group: int) -> str:
    cell = int(logs[:, group].argmax())
    rates = hits[cell, group] / sizes[cell, group], now.hits[cell, group] / now.sizes[cell, group]
    low, high = now.limits
    is_share = now.limits == (0.0, 1.0)
    was, is_now = (percent(p) if is_share else number(low + (high - low) * p) for p in rates)
    return f"{show(now.groups[group])} from {was} to {is_now}"
