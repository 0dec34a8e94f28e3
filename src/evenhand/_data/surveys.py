"""Survey weights: replicates for variances, and the fraction of the population sampled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.encoding import (
    HEAVIEST,
    check_lengths,
    check_order,
    encode,
    finite,
    floats,
    indexes,
    weights,
)
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._signatures import suggests_names
from evenhand._words import did_you_mean, plural

Floats = NDArray[np.float64]
Method = Literal["acs", "jackknife", "paired jackknife", "brr", "fay"]
MOST_REPLICATED = 200_000_000  # replicates times rows
METHODS = ("acs", "jackknife", "paired jackknife", "brr", "fay")


@dataclass(frozen=True, eq=False)
class SurveyWeights:
    """Weights of a survey's rows, made by `survey_weights`.

    Pass them as `sample_weight` wherever rows are counted.

    Attributes
    ----------
    weight : ndarray of shape (n_rows,)
        The weights.
    replicates : ndarray of shape (n_replicates, n_rows)
        The replicate weights; an empty array if there are none.
    scale : tuple of float
        For each replicate the factor of its squared deviation.
    left : ndarray of shape (n_rows,) or None
        For each row the part of its stratum that was not sampled.
    index : pandas.Index or None
        The index of the weights, where they had one: other columns must have it in the same order.

    """

    weight: Floats
    replicates: Floats
    scale: tuple[float, ...] = ()
    left: Floats | None = None
    index: Any = None

    def __len__(self) -> int:
        return len(self.weight)

    def __repr__(self) -> str:
        replicates = plural(len(self.replicates), "replicate")
        return f"<SurveyWeights of {plural(len(self), 'row')}, with {replicates}>"

    def __getitem__(self, rows: Any) -> SurveyWeights:
        left = None if self.left is None else self.left[rows]
        index = None if self.index is None else self.index[rows]
        return SurveyWeights(self.weight[rows], self.replicates[:, rows], self.scale, left, index)


@suggests_names
def survey_weights(
    sample_weight: Any,
    *,
    replicate_weights: Any = None,
    method: Method | None = None,
    scale: Any = None,
    fay: float | None = None,
    fpc: Any = None,
    strata: Any = None,
    cluster: Any = None,
) -> SurveyWeights:
    """Weights of a survey with its replicate weights, or with how its rows were sampled.

    The variance of a statistic θ is Σ cᵣ (θᵣ − θ)², where θᵣ is the same statistic with the r-th
    replicate weights. Intervals and tests of rates, means, losses and areas then allow for the
    survey's design.

    Parameters
    ----------
    sample_weight : array-like
        The weights of the rows.
    replicate_weights : array-like or dataframe of shape (n_rows, n_replicates), optional
        The replicate weights. Single ones may be negative, as the Census Bureau's are.
    method : {"acs", "jackknife", "paired jackknife", "brr", "fay"}, optional
        What cᵣ is, with R replicates: 4/R by successive differences, as in the American Community
        and the Current Population Survey; (R − 1)/R where each replicate leaves out one unit; 1
        where it leaves out one unit of a pair; 1/R by balanced repeated replication; and
        1/(R (1 − `fay`)²) by Fay's variant of it.
    scale : float or array-like, optional
        cᵣ itself, one or one for each replicate, instead of a method.
    fay : float, optional
        Fay's coefficient, between 0 and 1.
    fpc : float or array-like, optional
        The finite population correction: which part of the population was sampled, or of the
        stratum of each row. Variances shrink by as much. With `cluster=`, or with replicates that
        have their own correction, leave it out.
    strata : array-like, optional
        The stratum that each row was sampled from. Replicates are made by leaving out one cluster
        of a stratum at a time (the stratified jackknife, "JKn" of R's `survey`); one stratum of
        single rows needs none.
    cluster : array-like, optional
        The clusters that were sampled within the strata; by default each row is one. Pass them here
        and not to the audit, which takes clusters as drawn from everyone.

    Returns
    -------
    SurveyWeights
        Pass it as `sample_weight` to `audit`, `interval`, `chance`, `contrasts`, `tally`,
        `distribution` or a criterion.

    Raises
    ------
    InputError
        If lengths differ, a value is not finite, or it is not said what cᵣ is.

    References
    ----------
    Wolter (2007), Introduction to Variance Estimation; U.S. Census Bureau, Accuracy of the PUMS.

    Examples
    --------
    >>> from evenhand import interval, survey_weights
    >>> weights = survey_weights(
    ...     [2, 3, 2, 1, 4, 2],
    ...     replicate_weights=[[3, 1], [2, 4], [2, 2], [1, 1], [5, 3], [1, 3]],
    ...     method="acs",
    ... )
    >>> selected, sex = [1, 0, 1, 0, 0, 1], ["F", "F", "F", "M", "M", "M"]
    >>> found = interval(
    ...     "statistical_parity",
    ...     None,
    ...     selected,
    ...     sensitive_features=sex,
    ...     measure="mpd",
    ...     sample_weight=weights,
    ... )
    >>> round(found.value, 4)
    0.2857

    """
    check_order(
        sample_weight=sample_weight,
        replicate_weights=replicate_weights,
        fpc=fpc,
        strata=strata,
        cluster=cluster,
    )
    weight = weights(sample_weight)
    if weight is None:
        raise InputError("Pass sample_weight, the weights of the rows.")
    replicates = np.empty((0, len(weight)))
    scales: tuple[float, ...] = ()
    if replicate_weights is not None:
        table = floats(replicate_weights, "replicate_weights")
        if table.ndim != 2:
            raise InputError(
                f"replicate_weights has the shape {table.shape}; it needs a row for each row of "
                "the data and a column for each replicate."
            )
        check_lengths(sample_weight=weight, replicate_weights=table)
        finite(table.ravel(), "replicate_weights")
        replicates = np.ascontiguousarray(table.T)
        scales = replicate_scale(len(replicates), method, scale, fay)
        if strata is not None or cluster is not None:
            raise InputError(
                "replicate_weights= say how estimates vary; leave out strata= and cluster=."
            )
    elif not (method is None and scale is None and fay is None):
        raise InputError("method=, scale= and fay= say how to read replicate_weights=; pass them.")
    elif strata is not None:
        replicates, scales = _left_out(weight, strata, cluster)
    elif cluster is not None:
        raise InputError(
            "cluster= goes with strata= here; clusters drawn from everyone are cluster= of audit "
            "and interval."
        )
    index = next((index for _, index in indexes("sample_weight", sample_weight)), None)
    return SurveyWeights(weight, replicates, scales, _unsampled(fpc, len(weight)), index)


def _left_out(weight: Floats, strata: Any, cluster: Any) -> tuple[Floats, tuple[float, ...]]:
    """Jackknife replicates, which leave out one cluster each and reweight its stratum.

    With n clusters in the stratum, the others weigh n / (n − 1) times as much, and squared
    deviations count (n − 1) / n.
    """
    column = encode(strata, "strata")
    stratum = column.codes.astype(np.intp)
    unit = np.arange(len(weight)) if cluster is None else encode(cluster, "cluster").codes
    check_lengths(sample_weight=weight, strata=stratum, cluster=unit)
    if cluster is None and len(weight) > 1 and not np.any(stratum != stratum[0]):
        return np.empty((0, len(weight))), ()  # one stratum of rows is a plain sample
    pairs, unit = np.unique(np.stack([stratum, unit]), axis=1, return_inverse=True)
    owner, unit = pairs[0], unit.ravel()  # clusters of two strata with one name are two clusters
    number = np.bincount(owner)
    if (alone := number[owner] == 1).any():
        raise InputError(
            f"Stratum {column.labels[owner[alone][0]]!r} has a single cluster, which does not show "
            "how much its clusters vary. Merge it with a stratum that is like it."
        )
    if len(owner) * len(weight) > MOST_REPLICATED:
        raise InputError(
            f"{len(owner):,} clusters make as many replicates of {len(weight):,} rows, more than "
            "fit into memory. Pass cluster= with the clusters that were sampled, or merge some."
        )
    times = (number / np.maximum(number - 1, 1))[stratum]
    replicates = np.tile(weight, (len(owner), 1))
    for out, (stratum_of, replicate) in enumerate(zip(owner, replicates, strict=True)):
        replicate[stratum == stratum_of] *= times[stratum == stratum_of]
        replicate[unit == out] = 0.0
    return replicates, tuple(((number - 1) / number)[owner].tolist())


def replicate_scales(roles: Any) -> dict[str, float]:
    """The columns of replicate weights in a table, with the factor of each squared deviation."""
    columns, method = roles.replicate_weights, roles.replicate_method
    if columns is None or method is None or roles.sample_weight is None:
        raise InputError(
            "Replicate weights need three: sample_weight=, replicate_weights= (the columns) and "
            "replicate_method=, such as 'acs'."
        )
    if roles.rows is not None or roles.cluster is not None:
        raise InputError("Replicate weights are of single rows: leave out rows= and cluster=.")
    names, is_scale = replicate_columns(columns), isinstance(method, int | float)
    options = {"method": None, "scale": method} if is_scale else {"method": method}
    return dict(zip(names, replicate_scale(len(names), **options), strict=True))


def replicate_columns(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names of columns, which may be written as a range.

    >>> replicate_columns("PWGTP1-3"), replicate_columns("rw098-100")
    (('PWGTP1', 'PWGTP2', 'PWGTP3'), ('rw098', 'rw099', 'rw100'))
    """
    if not isinstance(names, str):
        return tuple(names)
    match = re.fullmatch(r"(.*?)(\d+)-(\d+)", names)
    if match is None or int(match[2]) >= int(match[3]):
        raise InputError(
            f"replicate_weights={names!r} is not a range of columns, such as 'PWGTP1-80'; or list "
            "their names."
        )
    first, last, width = int(match[2]), int(match[3]), len(match[2])
    return tuple(f"{match[1]}{number:0{width}}" for number in range(first, last + 1))


def replicate_scale(
    number: int, method: Any, scale: Any = None, fay: float | None = None
) -> tuple[float, ...]:
    """Factors of the squared deviations of replicates.

    >>> replicate_scale(80, "acs")[0], replicate_scale(4, "jackknife")[0]
    (0.05, 0.75)
    """
    if not isinstance(method, str | None):
        raise InputTypeError(f"method= is the name of a method, not {method!r}.")
    if (method is None) == (scale is None):
        raise InputError(
            f"Say how the replicates were made, by method= ({', '.join(map(repr, METHODS))}) or by "
            "scale=, what squared deviations are multiplied by."
        )
    if (fay is None) == (method == "fay"):
        raise InputError("fay= goes with method='fay': Fay's coefficient, between 0 and 1.")
    if number < 2:
        raise InputError(
            f"replicate_weights has {number} columns; at least two are needed for a variance."
        )
    if scale is not None:
        values = floats(np.atleast_1d(scale), "scale")
        if values.shape not in ((1,), (number,)) or not ((values > 0) & (values <= HEAVIEST)).all():
            raise InputError(f"scale= must be a positive number, or {number}, one per replicate.")
        return tuple(np.broadcast_to(values, number).tolist())
    if method == "fay":
        check_kinds(fay=fay)
        if fay is None or not 0 <= fay < 1:
            raise InputError(f"fay={fay!r} is not between 0 and 1.")
        return (1 / (number * (1 - fay) ** 2),) * number
    factors = {
        "acs": 4 / number,
        "jackknife": (number - 1) / number,
        "paired jackknife": 1.0,
        "brr": 1 / number,
    }
    if method not in factors:
        raise InputError(
            f"method={method!r} is none of {', '.join(map(repr, METHODS))}."
            f"{did_you_mean(method, METHODS)}"
        )
    return (factors[method],) * number


def _unsampled(fpc: Any, rows: int) -> Floats | None:
    if fpc is None:
        return None
    sampled = finite(np.atleast_1d(fpc), "fpc")
    if len(sampled) not in (1, rows):
        raise InputError(f"fpc has {len(sampled)} values for {rows} rows.")
    if ((sampled < 0) | (sampled >= 1)).any():
        raise InputError(
            f"fpc holds {float(sampled[(sampled < 0) | (sampled >= 1)][0]):g}; it is the part of "
            "the population that was sampled, from 0 to below 1. Where all of it was, nothing is "
            "left to chance: read the values."
        )
    return np.broadcast_to(1 - sampled, rows)
