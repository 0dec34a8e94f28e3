"""One number for each method: the share of the base model's gap it removes at little loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.benchmark.design.treatments import BASE
from evenhand.benchmark.ranking.inference import Estimate, split_interval
from evenhand.measures import measure_named

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

PERFORMANCE = {"classification": "accuracy", "regression": "rmse"}
LOSS = 0.05
USUAL_RATIO = 0.25  # test rows over training rows, where results do not say
SETTING = ["constraint", "hyperparameter"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Area:
    """A method's area on a problem and base model, for each split.

    Parameters
    ----------
    problem, base, method : str
        Whose it is.
    removed : ndarray
        For each split the share of the base model's gap that is gone, on average over the
        allowed losses: 0 like the base model, 1 no gap at no loss.
    lost : ndarray
        For each split the performance given up for it, on average over the allowed losses.
    gap : float
        The base model's gap, mean over the splits.
    ratio : float
        Test rows over training rows.
    settings, incomplete : int
        How many settings were compared, and how many lack a split and were left out.

    Examples
    --------
    >>> area = Area("people", "logistic", "mine", np.array([0.5, 0.7]), np.zeros(2), 0.1, 0.25, 3)
    >>> round(area.estimate.value, 2)
    0.6

    """

    problem: str
    base: str
    method: str
    removed: Floats
    lost: Floats
    gap: float
    ratio: float
    settings: int
    incomplete: int = 0

    @property
    def estimate(self) -> Estimate:
        """Mean over the splits, with its interval."""
        return split_interval(self.removed, self.ratio)

    @property
    def loss(self) -> Estimate:
        """The same for the performance given up."""
        return split_interval(self.lost, self.ratio)


class Curve(NamedTuple):
    """Performance lost and gap left by a method's settings: arrays (splits × settings)."""

    lost: Floats
    gap: Floats


def areas(results: Results, question: str, *, loss: float = LOSS) -> list[Area]:
    """The area of every method on every problem and base model that has an answer.

    Parameters
    ----------
    results : Results
        Scores of stored runs.
    question : str
        The name of a question, such as "statistical_parity.mpd". Of a ratio, the gap is what it
        lacks to 1; by every other measure, 0 is no gap.
    loss : float, default 0.05
        The most that may be given up: points of accuracy, or a share of the base model's RMSE.

    Returns
    -------
    list of Area
        By problem, base model and method. A base model without any gap has none, and so has a
        method none of whose settings has a result on every split.

    Notes
    -----
    Let u(ℓ) be the gap that a user is left with who accepts to lose ℓ and takes the setting with
    the smallest gap that loses no more, or decides by one of two settings at random so that the
    loss is ℓ on average. The area is the mean of 1 − u(ℓ)/u₀ over ℓ from 0 to `loss`, with u₀ the
    base model's gap, its mean over the splits. Doing nothing is always a choice. A mixture's gap
    counts as lying on the line between the two, which it never exceeds by MPD; so a method with
    few settings is not ranked by the steps between them. Settings are chosen by their means over
    the *other* splits and judged on this one: chosen where it is judged, a method with many
    settings would win by luck. With a single split there is no other to choose on. The base
    model's own area is 0 on average, and its interval is that of its gap.

    Examples
    --------
    >>> from evenhand.benchmark import Question, Results
    >>> runs = [
    ...     {
    ...         "key": f"{method}{seed}",
    ...         "problem": "people",
    ...         "base": "b",
    ...         "method": method,
    ...         "seed": seed,
    ...     }
    ...     for method in ("Base", "mine")
    ...     for seed in (0, 1)
    ... ]
    >>> scores = []
    >>> for run in runs:
    ...     mine = run["method"] == "mine"
    ...     scores.append((run["key"], "accuracy", "expected", 0.79 if mine else 0.80))
    ...     scores.append((run["key"], "statistical_parity.mpd", "expected", 0.1 if mine else 0.2))
    >>> found = Results.from_rows(
    ...     runs=runs,
    ...     questions=[Question("accuracy"), Question("statistical_parity", "mpd")],
    ...     problems=[{"problem": "people", "kind": "classification"}],
    ...     scores=scores,
    ... )
    >>> mine = areas(found, "statistical_parity.mpd", loss=0.05)[1]
    >>> mine.method, round(mine.estimate.value, 2)  # half of the gap for a loss of 0.01
    ('mine', 0.45)

    """
    about = {row["problem"]: row for row in results.problems.to_pylist()}
    wide = results.wide([question, *PERFORMANCE.values()])
    wide = wide.dropna(subset=[question])
    measures = {row["name"]: row["measure"] for row in results.questions.to_pylist()}
    measure = measure_named(str(measures.get(question)))
    if measure is not None and measure.falls:
        wide[question] = 1 - wide[question]  # by which 1 is equal
    results_by_method = []
    for (problem, base), rows in wide.groupby(["problem", "base"], observed=True):
        row = about.get(str(problem), {})
        performance = PERFORMANCE.get(row.get("kind") or "")
        if performance is None:
            continue
        ratio = row["test"] / row["train"] if row["train"] and row["test"] else USUAL_RATIO
        results_by_method += _problem_areas(
            rows, question, performance, loss, (str(problem), str(base), ratio)
        )
    return results_by_method


def area_of(curve: Curve, gap: Floats, loss: float) -> tuple[Floats, Floats]:
    """By split, the share of the gap removed and the performance lost, as in `areas`.

    Parameters
    ----------
    curve : Curve
        What each setting loses against the base model and which gap it leaves, by split.
    gap : ndarray
        The base model's gap by split.
    loss : float
        The most that may be lost.

    Returns
    -------
    tuple of ndarray
        Share removed and performance lost.

    Examples
    --------
    >>> curve = Curve(np.array([[0.0, 0.02], [0.0, 0.02]]), np.array([[0.1, 0.0], [0.1, 0.0]]))
    >>> removed, lost = area_of(curve, np.array([0.2, 0.2]), loss=0.04)
    >>> removed.round(3).tolist(), lost.round(3).tolist()
    ([0.875, 0.875], [0.015, 0.015])

    """
    splits = len(gap)
    lost = np.column_stack([np.zeros(splits), curve.lost])  # doing nothing comes first
    left = np.column_stack([gap, curve.gap])
    removed, paid = np.empty(splits), np.empty(splits)
    for split in range(splits):
        others = np.arange(splits) != split if splits > 1 else np.ones(1, dtype=bool)
        shares = _mixed(lost[others].mean(axis=0), left[others].mean(axis=0), loss)
        removed[split] = 1 - shares @ left[split] / gap.mean()
        paid[split] = shares @ lost[split]
    return removed, paid


def _mixed(lost: Floats, left: Floats, loss: float) -> Floats:
    """The share of each setting in the mixtures that a rising allowance takes, on average.

    The mixtures lie on the lower hull of the settings: of two neighbors, each decides for a share
    of the people, so that the loss on average is the allowance. Over the part of the allowances
    that lies between two neighbors both have half, less what lies beyond the greatest allowance.
    """
    spent = np.maximum(lost, 0)
    hull: list[int] = []
    for setting in np.lexsort((left, spent)):
        if hull and left[setting] >= left[hull[-1]]:
            continue
        while len(hull) > 1 and _is_above(spent, left, hull[-2], hull[-1], setting):
            hull.pop()
        hull.append(int(setting))
    shares = np.zeros(len(lost))
    for before, after in zip(hull, [*hull[1:], None], strict=True):
        start = min(spent[before], loss)
        if after is None:
            shares[before] += loss - start
            break
        end = min(spent[after], loss)
        later = (start + end - 2 * spent[before]) / 2 / (spent[after] - spent[before])
        shares[before] += (end - start) * (1 - later)
        shares[after] += (end - start) * later
    return shares / loss


def _is_above(spent: Floats, left: Floats, first: int, middle: int, last: int) -> bool:
    """Whether the middle setting of three is no better than a mixture of the others."""
    return bool(
        (left[middle] - left[first]) * (spent[last] - spent[first])
        >= (left[last] - left[first]) * (spent[middle] - spent[first])
    )


def _problem_areas(
    rows: Any, question: str, performance: str, loss: float, where: tuple[str, str, float]
) -> list[Area]:
    problem, base, ratio = where
    plain = rows[rows["method"] == BASE].drop_duplicates("seed").set_index("seed")
    plain = plain[~np.isnan(plain[performance].astype(float))].sort_index()
    gap = plain[question].to_numpy(dtype=np.float64)
    if not len(plain) or not gap.mean() > 0:
        return []
    nothing = np.zeros(len(plain))
    own_gap = 1 - gap / gap.mean()
    areas = [Area(problem, base, BASE, own_gap, nothing, float(gap.mean()), ratio, 1)]
    adjusted = rows[(rows["method"] != BASE) & rows["seed"].isin(plain.index)]
    settings = (
        adjusted.groupby(["method", *SETTING], dropna=False, observed=True).ngroup().to_numpy()
    )
    split = plain.index.get_indexer(adjusted["seed"])
    performed, left = (
        _by_setting(adjusted[name].to_numpy(dtype=np.float64), split, settings, len(plain))
        for name in (performance, question)
    )
    before = plain[performance].to_numpy(dtype=np.float64)[:, None]
    lost = before - performed if performance == "accuracy" else performed / before - 1
    complete = ~(np.isnan(lost) | np.isnan(left)).any(axis=0)
    names = np.empty(len(complete), dtype=object)
    names[settings] = adjusted["method"].to_numpy(dtype=object)
    for method in dict.fromkeys(names):
        is_method = names == method
        if not complete[is_method].any():
            continue
        usable = is_method & complete
        removed, paid = area_of(Curve(lost[:, usable], left[:, usable]), gap, loss)
        areas.append(
            Area(
                problem,
                base,
                str(method),
                removed,
                paid,
                float(gap.mean()),
                ratio,
                settings=int(usable.sum()),
                incomplete=int((is_method & ~complete).sum()),
            )
        )
    return areas


def _by_setting(
    values: Floats, split: NDArray[np.intp], settings: NDArray[np.intp], splits: int
) -> Floats:
    """An array (splits × settings), NaN where a split has no value; the mean of several."""
    number = int(settings.max(initial=-1)) + 1
    defined = ~np.isnan(values)
    place = split[defined] * number + settings[defined]
    sums = np.bincount(place, weights=values[defined], minlength=splits * number)
    counts = np.bincount(place, minlength=splits * number)
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN
        return np.asarray((sums / counts).reshape(splits, number))
