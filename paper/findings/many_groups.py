"""Q2: where do MPD and PQ part? The study with two to fifty groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.benchmark.sections import Finding, Verdict
from paper.findings.criteria import OURS
from paper.findings.estimates import Estimate, at_least, at_most, estimate
from paper.findings.floors import FLOOR, HIGH, floor_of
from paper.findings.values import SETTING
from paper.words import name_of, sizes_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

MPD, PQ = "statistical_parity.mpd", "statistical_parity.pq"
LEVEL = 1.25  # a value between four fifths and five fourths of another is at the same level
SMALL = 1e-9
SIMULATED, ADULT = "simulated_multigroup", "adult_multigroup"


def sized(wide: Any, family: str) -> Any:
    """The rows of one family of problems, with the number of groups."""
    told = [sizes_of(problem) for problem in wide["problem"]]
    rows = wide.assign(groups=[number for _, number in told])
    return rows[np.array([name == family and number > 0 for name, number in told], dtype=bool)]


def many_groups(results: Results, wide: Any) -> Iterator[Finding]:
    """Whether the unconstrained model's scores stay, fall or rise with the number of groups."""
    simulated, adult = sized(wide, SIMULATED), sized(wide, ADULT)
    yield from _growth(simulated, MPD, "SP by MPD of Base stays at the same level", "same")
    yield from _growth(simulated, PQ, "S-SP by PQ of Base falls", "falls")
    yield from _growth(adult, MPD, "SP by MPD of Base rises", "rises")
    yield from _growth(adult, PQ, "S-SP by PQ of Base rises", "rises")
    yield from _noise(results, adult)
    yield from _extreme(adult)
    yield from _stable(adult)
    yield from _stable(simulated)
    yield from _effective(simulated)


def _growth(rows: Any, question: str, claim: str, expected: str) -> Iterator[Finding]:
    ends = _ends(rows[rows["method"] == "Base"], question)
    if ends is None:
        return
    few, many, least, most = ends
    found = estimate(many / few)
    told = (
        f"From {least} to {most} groups it goes from {few.mean():.3f} to {many.mean():.3f}, "
        f"a ratio of {found.text}."
    )
    verdict = _judged(found, expected)
    yield Finding("Q2", f"{claim} with more groups", _where(rows), verdict, *found, sentence=told)


def _judged(found: Estimate, expected: str) -> Verdict:
    if expected == "rises":
        return at_least(found, 1.0)
    if expected == "falls":
        return at_most(found, 1.0)
    if found.low >= 1 / LEVEL and found.high <= LEVEL:
        return "agrees"
    outside = found.low > LEVEL or found.high < 1 / LEVEL
    return "differs" if outside else "cannot tell"


def _ends(rows: Any, question: str) -> tuple[Any, Any, int, int] | None:
    """Scores with the fewest and the most groups, split by split."""
    wide = rows.pivot_table(index="seed", columns="groups", values=question).dropna()
    if wide.shape[1] < 2 or wide.empty:
        return None
    least, most = int(wide.columns[0]), int(wide.columns[-1])
    return wide[least].to_numpy(), wide[most].to_numpy(), least, most


def _noise(results: Results, rows: Any) -> Iterator[Finding]:
    """How much of the rise on Adult is what chance makes of smaller groups."""
    floors = floor_of(results, [PQ])
    if rows.empty or floors.empty:
        return
    base = rows[rows["method"] == "Base"].merge(floors, on=["problem", "seed"])
    if base.empty:
        return
    most = base[base["groups"] == base["groups"].max()]
    found = estimate(most[FLOOR] / most[PQ], bounds=(0, np.inf))
    beyond = bool((most[PQ] > most[HIGH]).all())
    number, shown = int(most["groups"].iloc[0]), most[PQ].mean()
    told = (
        f"With {number} groups a model that selects alike in all of them would show S-SP = "
        f"{most[FLOOR].mean():.4f} by chance, against {shown:.4f}: a share of {found.text}. "
        f"The value is {'' if beyond else 'not '}beyond chance on every split."
    )
    claim = "S-SP of Base with the most groups is more than noise"
    verdict: Verdict = "agrees" if beyond else "differs"
    yield Finding("Noise", claim, _where(rows), verdict, *found, sentence=told, source=OURS)


def _extreme(rows: Any) -> Iterator[Finding]:
    """The paper's extreme case: LinearPost at its strictest with the most groups."""
    left = _strictest(rows, "LinearPost")
    if left is None:
        return
    value, by_mpd, by_cv = left
    told = (
        f"LinearPost with {value:g} has {estimate(by_mpd).text} times the MPD of Base, and "
        f"{estimate(by_cv).text} times its coefficient of variation, which PQ is a function of."
    )
    claim = "By MPD strict LinearPost looks worse than Base with the most groups, by PQ better"
    worse, better = at_least(estimate(by_mpd), 1.0), at_most(estimate(by_cv), 1.0)
    found = estimate(by_mpd)
    yield Finding("Q2", claim, _where(rows), _both(worse, better), *found, sentence=told)


def _stable(rows: Any) -> Iterator[Finding]:
    """Whether S-SP varies less over splits than SP, with the most groups and on one scale."""
    if rows.empty:
        return
    most = rows[rows["groups"] == rows["groups"].max()]
    by_mpd, by_cv = (
        most.assign(score=scores).pivot_table(index=SETTING, columns="seed", values="score")
        for scores in (most[MPD], variation(most[PQ]))
    )
    by_mpd, by_cv = by_mpd.dropna().to_numpy(), by_cv.dropna().to_numpy()
    if by_mpd.shape != by_cv.shape or by_mpd.shape[1] < 3 or len(by_mpd) < 2:
        return
    found = _jackknifed(by_mpd, by_cv)
    spread = [float(np.median(_spread(one))) for one in (by_mpd, by_cv)]
    told = (
        f"Over splits the standard deviation is {spread[0]:.0%} of the mean by MPD and "
        f"{spread[1]:.0%} by the coefficient of variation, the median of {len(by_mpd)} settings "
        f"with {int(most['groups'].iloc[0])} groups; their ratio is {found.text}. PQ grows with "
        "the square of the coefficient of variation: its relative deviation is twice as large."
    )
    claim = "With the most groups S-SP is more stable over splits than SP"
    yield Finding("Q2", claim, _where(rows), at_most(found, 1.0), *found, sentence=told)


def _spread(scores: Any) -> Any:
    """Standard deviation over splits, relative to the mean, of each setting that has one."""
    means = scores.mean(axis=1)
    return scores[means > SMALL].std(axis=1, ddof=1) / means[means > SMALL]


def _jackknifed(first: Any, second: Any) -> Estimate:
    """The ratio of the second's median spread to the first's, with pseudo-values by split."""

    def ratio(splits: Any) -> float:
        below, above = (np.median(_spread(one[:, splits])) for one in (first, second))
        return float(above / below) if below > 0 else float("nan")

    number = first.shape[1]
    every = np.arange(number)
    whole = ratio(every)
    pseudo = [number * whole - (number - 1) * ratio(every != split) for split in every]
    around = estimate(pseudo)
    return Estimate(whole, *np.clip([around.low, around.high], 0, np.inf).tolist())


def _effective(rows: Any) -> Iterator[Finding]:
    """Whether methods that leave a gap by MPD remain effective by PQ, measured on one scale."""
    for method in sorted(set(rows["method"]) - {"Base"}):
        left = _strictest(rows, method)
        if left is None:
            continue
        value, by_mpd, by_cv = left
        named = method if value < 0 else f"{method} with {value:g}"
        told = (
            f"With the most groups {named} leaves {estimate(by_mpd).text} of the MPD of Base and "
            f"{estimate(by_cv).text} of its coefficient of variation; PQ grows with its square."
        )
        claim = "With the most groups a method is more effective by S-SP than by SP"
        gap = estimate(by_mpd - by_cv)
        nothing = bool((by_mpd < SMALL).all())
        verdict: Verdict = "cannot tell" if nothing else at_least(gap, 0.0)
        where = f"{_where(rows)}: {method}"
        yield Finding("Q2", claim, where, verdict, *gap, sentence=told)


def _both(one: Verdict, two: Verdict) -> Verdict:
    if one == two:
        return one
    return "differs" if "differs" in (one, two) else "cannot tell"


def _strictest(rows: Any, method: str) -> tuple[float, Any, Any] | None:
    """With the most groups, the smallest hyperparameter: shares of Base's MPD and CV by split."""
    most = rows[rows["groups"] == rows["groups"].max()] if len(rows) else rows
    base = most[most["method"] == "Base"].set_index("seed")
    own = most[most["method"] == method]
    if base.empty or own.empty:
        return None
    value = own["hyperparameter"].min()
    own = own[own["hyperparameter"] == value].drop_duplicates("seed").set_index("seed")
    by_mpd = (own[MPD] / base[MPD]).dropna()
    by_cv = (variation(own[PQ]) / variation(base[PQ])).reindex(by_mpd.index)
    return float(value), by_mpd.to_numpy(), by_cv.to_numpy()


def variation(index: Any) -> Any:
    """The coefficient of variation that PQ(1, 2) stands for.

    >>> round(float(variation(1 - 1.25**-0.5)), 12)
    0.5
    """
    return np.sqrt((1 - index) ** -2.0 - 1)


def _where(rows: Any) -> str:
    return name_of(sizes_of(str(rows["problem"].iloc[0]))[0])
