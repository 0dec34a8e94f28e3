"""Power of the test and of the interval, and the sample sizes that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand._kinds import check_kinds
from evenhand._result import Columns, Result, finite, version
from evenhand._signatures import suggests_names
from evenhand._uncertainty.clusters import has_replicates
from evenhand._uncertainty.design import Clustered
from evenhand._uncertainty.needed import crossing, lacking, limiting, times
from evenhand._uncertainty.supposition import (
    Design,
    alike,
    as_counted,
    check_share,
    in_clusters,
    one_group_shifted,
    place_of,
    read_for,
    sizes_of,
    supposed,
)
from evenhand._words import number, plural
from evenhand.criteria import Criterion

MOST_FACTOR = 1e7
NEAR = 0.01  # tolerance of the target power


@dataclass(frozen=True, eq=False, repr=False)
class Power(Result):
    """Power for groups of given sizes, and the required sizes.

    Attributes
    ----------
    question : {"differ", "alike"}
        Whether the test should show that groups differ, or the interval that they are alike within
        the margin.
    rows : mapping of group to int
        The given sizes.
    values : mapping of group to float
        The rates, or means, that are assumed to be true.
    power : float
        The probability that these rows show it.
    target : float
        The required power.
    difference : float
        For "differ", the smallest difference of the group `apart` from all others that these rows
        show with the target power; NaN where none is large enough. For "alike", the narrowest
        margin that they show with the target power.
    factor : float
        The multiple of these rows that has the target power, all groups in the same proportions;
        infinite if none has.
    sizes : mapping of group to float
        The required rows: `factor` times those of each group, rounded up.
    at_least : float
        The rows that every group needs, if rows are added to the smaller groups only.
    apart : label
        The group that `difference` is about: the smallest, unless another was named.
    limiting : tuple of labels
        The groups whose own intervals are widest, so that their rows help the most; empty if all
        groups' intervals are about as wide.
    confidence : float
        1 − the level of the test.
    margin : float or None
        Differences up to this count as alike.
    clusters : float or None
        The required clusters, where rows come in clusters: `factor` times as many. If groups have
        clusters of their own, those of all groups together.

    """

    question: Literal["differ", "alike"]
    rows: Mapping[Label, int]
    values: Mapping[Label, float]
    power: float
    target: float
    difference: float
    factor: float
    sizes: Mapping[Label, float]
    at_least: float
    apart: Label
    limiting: tuple[Label, ...]
    confidence: float
    margin: float | None
    clusters: float | None = None
    _question: _Question = field(init=False, repr=False)

    @cached_property
    def differences(self) -> dict[Label, float]:
        """For each group, its smallest detectable difference from all others."""
        return {
            group: self._question.least_difference(place, self.target)
            for place, group in enumerate(self.rows)
        }

    def document(self) -> dict[str, Any]:
        """All results as plain JSON values, by the schema "evenhand.power/1".

        Returns
        -------
        dict
            JSON values; infinite and undefined numbers are None.

        """
        names = ("question", "power", "target", "difference", "factor", "at_least")
        groups = [
            {
                "label": show(group),
                "rows": self.rows[group],
                "value": self.values[group],
                "needed": self.sizes[group],
            }
            for group in self.rows
        ]
        document = {
            "schema": "evenhand.power/1",
            "evenhand": version("evenhand"),
            "sentence": self.summary,
            **{name: getattr(self, name) for name in names},
            "apart": show(self.apart),
            "limiting": [show(group) for group in self.limiting],
            "confidence": self.confidence,
            "margin": self.margin,
            "clusters": self.clusters,
            "groups": groups,
        }
        return dict(finite(document))

    @property
    def _tables(self) -> Sequence[str]:
        return ("groups",)

    def _table(self, name: str) -> Columns:
        rows = self.document()[name]
        return {key: [group[key] for group in rows] for key in ("label", "rows", "value", "needed")}

    @property
    def summary(self) -> str:
        """The power and required sample size in plain words."""
        total = sum(self.rows.values())
        if self.question == "alike":
            conclusion = f"show that they are alike within {number(self.margin)}"
        else:
            conclusion = "show that the groups differ"
        words = (
            f"If {self._truth()}, {plural(total, 'row')} like these {conclusion} in "
            f"{self.power:.0%} of samples."
        )
        return words + self._needed() + self._detectable()

    def _truth(self) -> str:
        values = list(self.values.values())
        quantity = self._question.design.quantity
        common = max(set(values), key=values.count)
        different = [group for group, value in self.values.items() if value != common]
        if not different:
            return f"all groups have the same {quantity}"
        if len(different) == 1 and len(values) > 2:
            (group,) = different
            ends = f"{number(self.values[group])} and that of all others {number(common)}"
            return f"the {quantity} of {show(group)} is {ends}"
        return f"the {quantity}s lie between {number(min(values))} and {number(max(values))}"

    def _needed(self) -> str:
        if np.isinf(self.factor):
            return " No number of rows would."
        if abs(self.power - self.target) <= NEAR:
            return ""
        counts = ", ".join(f"{show(group)} {rows:,.0f}" for group, rows in self.sizes.items())
        listed = f": {counts}" if len(self.sizes) <= 6 else ""
        words = f" For {self.target:.0%} it takes {times(self.factor)} these rows{listed}"
        if self.clusters is not None:
            return f"{words}, in {plural(self.clusters, 'cluster')}."
        if self.factor > 1 and np.isfinite(self.at_least):
            words += f"; or at least {plural(self.at_least, 'row')} of every group"
        narrowest = [(group, self.rows[group]) for group in self.limiting if self.factor > 1]
        return f"{words}.{lacking(narrowest)}"

    def _detectable(self) -> str:
        if self.question == "alike":
            return f" In {self.target:.0%} they show it within {number(self.difference)}."
        whose = f"{show(self.apart)} ({plural(self.rows[self.apart], 'row')})"
        if np.isnan(self.difference):
            return f" No difference of {whose} from the others has that power."
        return (
            f" If only {whose} differs, differences of {number(self.difference)} or more are "
            f"shown in {self.target:.0%}."
        )


@suggests_names
def power(
    sizes: Any,
    rates: Any = None,
    *,
    rate: float | None = None,
    means: Any = None,
    sd: Any = None,
    difference: float | None = None,
    apart: Label = None,
    margin: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    criterion: str | Criterion | None = None,
    favorable: Label = None,
    cluster: Any = None,
    correlation: Any = None,
) -> Power:
    """Power to show that groups differ, or are alike, and the sample size it takes.

    Pass the rows of each group and what you assume to be true: every group's rate (`rates`); or a
    common `rate`, with one group that differs by `difference`; or neither, to learn the smallest
    detectable difference. With `margin` the question is equivalence: whether the interval of the
    largest difference would end within the margin, so that the verdict is "alike".

    Parameters
    ----------
    sizes : mapping of group to rows, sequence of rows, Tally or Data
        The rows of each group that enter the rate: of a true positive rate, the positives.
        Proportions suffice if only `factor` and `sizes` matter. From a tally or data, the
        rows and the rates, means or areas of `criterion` are read.
    rates : mapping of group to rate, or sequence, optional
        The assumed rates: selection, true or false positive rates, precision, accuracy, …
    rate : float, optional
        The rate of all groups except the group `apart`.
    means : mapping of group to mean, or sequence, optional
        The assumed means, in place of rates; with `sd`.
    sd : float, mapping or sequence, optional
        The standard deviation of single rows, where the question is about means.
    difference : float, optional
        The difference of one group from all others; negative if it is below. If 1 would be
        exceeded, the group is below.
    apart : label, optional
        The group that differs; by default the smallest, for which power is lowest.
    margin : float, optional
        Ask whether groups would be shown to be alike within this margin. They are assumed to be
        equal, unless `rates`, `means` or `difference` say otherwise.
    power : float, default 0.8
        The required power, which `factor`, `sizes`, `at_least` and `difference` of the result are
        about.
    confidence : float, default 0.95
        Of intervals; the level of the test is 1 − confidence. An audit that asks m questions
        tests the first at 1 / m of its level: pass 1 − 0.05 / m to allow for that.
    criterion : str or Criterion, optional
        The rate or mean of a tally; by default the rate of "statistical_parity". An error where
        sizes are numbers, which may be of any rate.
    favorable : label, optional
        The favorable label of a tally. An error where sizes are numbers.
    cluster : int, mapping of group to int, or sequence, optional
        The number of clusters: a single one if all groups share the clusters, such as templates
        asked of everyone; one for each group if they have clusters of their own, such as people. A
        tally with clusters, such as that of a pilot study, has them already.
    correlation : float or two floats, optional
        The intraclass correlation, of two rows of a cluster. Where groups share clusters, two
        numbers are the correlations of rows of the same group and of different groups; one number
        stands for both, if a cluster affects all groups equally.

    Returns
    -------
    Power
        With `power`, `difference`, `factor`, `sizes`, `at_least`, `limiting`, and `summary`.

    Raises
    ------
    InputError
        If sizes, rates or settings are impossible or contradict each other.

    See Also
    --------
    audit : Its verdict "cannot tell" says how many rows are needed.
    interval : Confidence interval for a criterion.

    Notes
    -----
    Samples are simulated 2,000 times, as a count for each group (or a mean and a variance), and
    evaluated by the same test and interval as in an audit: the smaller p-value of Pearson's
    statistic and of the largest contrast of one group with the others, given the total, and the
    upper limit of the largest difference. So the answer holds for few rows, rates near 0 and 1, and
    unequal groups, where the noncentral chi-squared distribution does not; it does not depend on a
    seed, and takes as long for a million rows as for a hundred. Rows are independent, unless they
    come in clusters: then means over clusters are simulated, and shared clusters are tested by
    Hotelling's T², which for two groups is the paired t-test.

    Power at the observed rates carries no more information than the p-value, and a difference that
    chance exaggerated needs fewer rows than the true one. Prefer the smallest difference that would
    matter.

    References
    ----------
    - J. M. Hoenig and D. M. Heisey, "The abuse of power", The American Statistician 55(1),
      2001.

    Examples
    --------
    How many rows would show a difference of ten percentage points?

    >>> answer = power({"a": 1000, "b": 100}, rate=0.3, difference=0.1)
    >>> print(f"{answer.power:.1f} {answer.factor:.1f}")
    0.5 1.9
    >>> answer.limiting
    ('b',)

    Which difference could these have shown?

    >>> print(f"{power({'a': 1000, 'b': 100}, rate=0.3).difference:.2f}")
    0.14

    How many would show that groups are alike within five points, if they are?

    >>> answer = power([1000, 100], rate=0.3, margin=0.05)
    >>> print(f"{answer.power:.1f} {answer.factor:.0f}")
    0.0 10

    How many templates, asked six times of each group?

    >>> answer = power([240, 240], rate=0.3, difference=0.08, cluster=40, correlation=(0.3, 0.2))
    >>> print(f"{answer.power:.1f} {answer.clusters:.0f}")
    0.3 123

    """
    check_kinds(power=power, confidence=confidence, margin=margin, difference=difference, rate=rate)
    check_share("power", power)
    check_share("confidence", confidence)
    if isinstance(sizes, Data):
        favorable = sizes.favorable if favorable is None else favorable
        sizes = read_for(sizes, criterion)
    groups, rows, observed, effective = sizes_of(sizes, criterion, favorable)
    place = place_of(groups, rows, apart)
    design = supposed(groups, rows, observed, rates, rate, means, sd)
    if effective is None:
        design = in_clusters(design, groups, cluster, correlation)
    elif cluster is not None or correlation is not None:
        raise InputError(
            "The tally says which rows belong together; leave out cluster=, correlation=."
        )
    else:
        design = as_counted(design, sizes, groups, effective)
    has_values = rates is not None or means is not None
    if margin is not None and not margin > 0:
        raise InputError(f"margin is a difference above 0, such as 0.05; it is {margin}.")
    if margin is not None and margin >= 1 and (rate is not None or rates is not None):
        raise InputError(f"margin={margin:g} is not a difference of rates: five points are 0.05.")
    if difference is not None and has_values:
        raise InputError("Pass either the true values of all groups or a difference, not both.")
    common = alike(design)
    question = _Question(design, common, margin, confidence)
    if difference is not None:
        question = question.about(one_group_shifted(common, place, difference))
    elif margin is not None and not has_values:
        question = question.about(common)
    elif not has_values and observed is None:
        smallest = question.least_difference(place, power)
        question = question.about(
            common if np.isnan(smallest) else one_group_shifted(common, place, smallest)
        )
    return _answer(question, groups, place, power, by_cluster=not has_replicates(sizes))


@dataclass(frozen=True, eq=False)
class _Question:
    """A design, the same design with equal groups, and the question asked of them."""

    design: Design
    common: Design
    margin: float | None
    confidence: float

    def about(self, design: Design) -> _Question:
        return _Question(design, self.common, self.margin, self.confidence)

    def power(self, design: Design) -> float:
        """The power of a design."""
        if self.margin is None:
            return design.detected(1 - self.confidence)
        return float((design.upper_ends(self.confidence) <= self.margin).mean())

    def quick(self, design: Design) -> Callable[[float], float]:
        """The approximate power as a function of the multiple of the rows."""
        model = design.model
        if self.margin is None:
            return model.detector(1 - self.confidence)
        return partial(model.alike, self.margin, self.confidence)

    @property
    def possible(self) -> bool:
        """Whether a large enough sample would show it."""
        largest_difference = float(np.ptp(self.design.values))
        return largest_difference > 0 if self.margin is None else largest_difference < self.margin

    def factor(self, target: float) -> float:
        design = self.design
        return _where_power_reaches(
            target,
            self.quick(design),
            lambda factor: self.power(design.resized(factor * design.sizes)),
            (0.5 / float(design.sizes.max()), MOST_FACTOR),
        )

    def at_least(self, target: float) -> float:
        """The rows that every group needs, if rows are added to the smaller groups only."""

        def filled(rows: float) -> Design:
            return self.design.resized(np.maximum(self.design.sizes, np.ceil(rows)))

        return _where_power_reaches(
            target,
            lambda rows: self.quick(filled(rows))(1.0),
            lambda rows: self.power(filled(rows)),
            (float(self.design.sizes.min()), MOST_FACTOR * float(self.design.sizes.max())),
        )

    def least_difference(self, place: int, target: float) -> float:
        """The smallest difference of a group from all others with the target power."""
        common = self.common
        room = max(float(abs(end - common.values[0])) for end in common.bounds) - 1e-6
        if not np.isfinite(room):
            room = 1e3 * float(common.spread.max())
        level = 1 - self.confidence
        difference = _where_power_reaches(
            target,
            lambda gap: one_group_shifted(common, place, gap).model.detector(level)(1.0),
            lambda gap: one_group_shifted(common, place, gap).detected(level),
            (1e-4 * room, room),
        )
        return difference if np.isfinite(difference) else np.nan


def _answer(
    question: _Question, groups: tuple[Label, ...], place: int, target: float, *, by_cluster: bool
) -> Power:
    design = question.design
    factor = question.factor(target) if question.possible else np.inf
    if question.margin is None:
        difference = question.least_difference(place, target)
    else:
        difference = float(np.quantile(design.upper_ends(question.confidence), target))
    needed = np.ceil(factor * design.sizes - 1e-9)
    at_least = float(design.sizes.min())
    if factor > 1:
        at_least = np.ceil(question.at_least(target)) if question.possible else np.inf
    clusters = None
    if isinstance(design, Clustered):
        units = np.ceil(factor * design.sizes / design.cluster_size - 1e-9)
        if by_cluster:
            clusters = float(units.max() if design.is_shared else units.sum())
        at_least = float(needed.min()) if design.is_shared else at_least
    errors = question.common.error
    answer = Power(
        question="differ" if question.margin is None else "alike",
        rows=dict(zip(groups, design.sizes.astype(int).tolist(), strict=True)),
        values=dict(zip(groups, design.values.tolist(), strict=True)),
        power=question.power(design),
        target=target,
        difference=difference,
        factor=factor,
        sizes=dict(zip(groups, needed.tolist(), strict=True)),
        at_least=float(at_least),
        apart=groups[place],
        limiting=tuple(groups[i] for i in limiting(errors)),
        confidence=question.confidence,
        margin=question.margin,
        clusters=clusters,
    )
    object.__setattr__(answer, "_question", question)  # not an argument; `differences` needs it
    return answer


def _where_power_reaches(
    target: float,
    quick: Callable[[float], float],
    exact: Callable[[float], float],
    ends: tuple[float, float],
) -> float:
    """The point where a rising power reaches the target, by a quick one corrected by the exact one.

    The two differ by about a constant on the scale of normal quantiles.
    """
    from scipy.special import ndtr, ndtri

    def score(chance: float) -> float:
        return float(ndtri(np.clip(chance, 1e-3, 1 - 1e-3)))

    offset, place = 0.0, np.inf
    for _ in range(4):
        place = crossing(quick, float(ndtr(score(target) - offset)), ends)
        if not np.isfinite(place):
            break
        reached = exact(place)
        if abs(reached - target) <= NEAR:
            break
        offset = score(reached) - score(quick(place))
    return place
