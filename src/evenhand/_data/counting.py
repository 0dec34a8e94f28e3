"""From rows to a tally, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import (
    ROWS_AT_A_TIME,
    Codes,
    Column,
    Label,
    chunks,
    positions,
    recode,
    smallest_unsigned,
    union,
)
from evenhand._columns.encoding import (
    check_lengths,
    check_order,
    classes,
    encode,
    finite,
    floats,
    reciprocal,
    weights,
)
from evenhand._data.groups import Groups, clusters, groups, strata_of
from evenhand._data.surveys import SurveyWeights
from evenhand._data.tallies import POWERS, Axis, Tally, axes_of, gathered, one_kind, weighed
from evenhand._data.tasks import spelling, unseen_label
from evenhand._errors import InputError
from evenhand._words import listing

ROWS_FOR_THREADS = 1 << 17
ROUNDING = 1e-6  # tolerance of sums of float32 probabilities, which should be 1
LARGEST = 1e50  # squared errors are squared once more for their variance, and weighted
ANSWERS = {"0": "0 1", "1": "0 1", "no": "words", "yes": "words", "false": "truth", "true": "truth"}
MOST_DENSE = 1 << 22  # more possible cells than this are counted by sorting instead


def tally_columns(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    strata: Any = None,
    cluster: Any = None,
    sums: Mapping[str, Any] | None = None,
) -> Tally:
    """Count rows by true label, predicted label and group (and stratum), in one pass."""
    if sensitive_features is None:
        raise InputError("Pass sensitive_features, the columns that name the groups.")
    check_order(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        strata=strata,
        cluster=cluster,
        sums=sums,
    )
    jobs: dict[str, tuple[Any, ...]] = {
        "y": (classes, y_true, "y_true"),
        "yhat": (classes, y_pred, "y_pred"),
        "stratum": (strata_of, strata),
        "group": (groups, sensitive_features),
    }
    present = {axis: job for axis, job in jobs.items() if job[1] is not None}
    if max(rows_in(column) for _, column, *_ in present.values()) >= ROWS_FOR_THREADS:
        coded = _in_threads(present)
    else:
        coded = {}
        for axis, (encoder, *arguments) in present.items():
            coded[axis] = encoder(*arguments)
    group = coded.pop("group")
    columns = share_classes({axis: coded[axis] for axis in ("y", "yhat") if axis in coded})
    if "stratum" in coded:
        columns["stratum"] = coded["stratum"]
    return count(columns, group, sample_weight=sample_weight, sums=sums, cluster=cluster)


def moments(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    cluster: Any = None,
) -> Tally:
    """Add up, by group, what criteria of regression need."""
    check_order(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        cluster=cluster,
    )
    sums = moment_columns(y_true, y_pred)
    group = groups(sensitive_features)
    return count({}, group, sample_weight=sample_weight, sums=sums, cluster=cluster)


def moment_columns(y_true: Any, y_pred: Any) -> dict[str, NDArray[np.float64]]:
    """The columns that `moments` sums."""
    yhat = measurable(y_pred, "y_pred")
    if y_true is None:
        return moment_products(yhat)
    y = measurable(y_true, "y_true")
    check_lengths(y_true=y, y_pred=yhat)
    return moment_products(yhat, y, abs(y - yhat))


def moment_products(yhat: Any, y: Any = None, absolute: Any = None) -> dict[str, Any]:
    """The products that regression criteria sum, of arrays or expressions; y and |y − ŷ| if given.

    Products of two columns give the variances of means, and of functions of several means.
    """
    sums = {"yhat": yhat, "yhat²": yhat * yhat, "yhat³": yhat * yhat * yhat}
    sums["yhat⁴"] = sums["yhat²"] * sums["yhat²"]
    if y is None:
        return sums
    square, error = y * y, yhat - y
    squared_error = error * error
    to_the_fourth = squared_error * squared_error
    sums |= {"y": y, "y²": square, "y³": square * y, "y⁴": square * square}
    sums |= {"error": error, "error²": squared_error}
    sums |= {"error³": squared_error * error, "error⁴": to_the_fourth}
    sums |= {"squared_error": squared_error, "squared_error²": to_the_fourth}
    sums |= {"y·squared_error": squared_error * y, "y²·squared_error": squared_error * square}
    return sums | {"absolute_error": absolute, "absolute_error²": squared_error}


def measurable(values: Any, name: str) -> NDArray[np.float64]:
    """Finite numbers whose fourth powers neither overflow nor underflow."""
    column = finite(values, name)
    largest = float(np.abs(column).max(initial=0.0))
    if largest and not 1 / LARGEST <= largest <= LARGEST:
        raise InputError(
            f"{name} reaches {largest:g}, beyond what can be squared and added up. "
            f"Measure it in another unit: multiply it by {reciprocal(largest):.0e}."
        )
    return column


def expected_tally(
    y_true: Any,
    probabilities: Any,
    *,
    classes: Sequence[Any],
    sensitive_features: Any,
    sample_weight: Any = None,
) -> Tally:
    """Expected counts by true label, predicted label and group of decisions made at random."""
    check_order(
        y_true=y_true,
        probabilities=probabilities,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    names = _listed_classes(classes)
    chances = _chances(probabilities, names)
    truth, labels = _truth(y_true, names)
    weight = weights(sample_weight)
    check_lengths(y_true=truth, probabilities=chances, sample_weight=weight)
    factors: dict[str, Any] = {"rows": 1.0}
    if weight is not None:
        factors |= {"weight": weight} | {f"weight{mark}": weight**at for at, mark in POWERS.items()}
    sums = {
        f"{name} {k}": column * factor
        for name, factor in factors.items()
        for k, column in enumerate(chances.T)
    }
    counted = count({"y": truth}, groups(sensitive_features), sums=sums)
    return _spread(counted, list(factors), labels, [labels.index(label) for label in names])


def count(
    columns: Mapping[str, Column],
    group: Groups,
    *,
    sample_weight: Any = None,
    sums: Mapping[str, Any] | None = None,
    edges: Mapping[str, Sequence[float]] | None = None,
    cluster: Any = None,
) -> Tally:
    """Add up rows, weights and named sums in every observed cell of coded columns and groups."""
    coded = {**columns, **clusters(cluster), "group": Column(group.codes, group.labels)}
    named: dict[str, Any] = _finite(sums or {})
    survey = sample_weight if isinstance(sample_weight, SurveyWeights) else None
    weight = weights(sample_weight) if survey is None else survey.weight
    check_lengths(**coded, **named, sample_weight=weight)
    if survey is not None and survey.scale and cluster is not None:
        raise InputError(
            "Replicate weights already say which rows belong together: leave out cluster=."
        )
    axes = axes_of(coded, edges)
    sizes = [axis.size for axis in axes[:-1]] + [axes[-1].size + 1]  # the last is for rows left out
    codes = [column.codes for column in coded.values()]
    replicated = {} if survey is None else _replicated(codes, sizes, named, survey)
    if weight is not None:
        named = dict(products(named, weight))
    if survey is not None and survey.left is not None:
        named["fpc"] = survey.weight**2 * survey.left
    flat, totals = _count(codes, sizes, named)
    totals |= replicated
    cells = np.array(np.unravel_index(flat, sizes), dtype=np.intp)
    kept = cells[-1] < axes[-1].size
    observed = {name: total[..., kept] for name, total in totals.items()}
    scale = () if survey is None else survey.scale
    return Tally(axes, cells[:, kept], observed, group.notes, scale)


def _finite(sums: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Columns of finite numbers; a column under several names is checked once."""
    checked: dict[int, NDArray[np.float64]] = {}
    for name, values in sums.items():
        if id(values) not in checked:
            checked[id(values)] = finite(values, name)
    return {name: checked[id(values)] for name, values in sums.items()}


def share_classes(columns: Mapping[str, Column], favorable: Label = None) -> dict[str, Column]:
    """Give truth and prediction the same labels in the same order.

    The favorable label may be one that no row has.
    """
    labels = union(*(column.labels for column in columns.values()))
    unseen = None if favorable is None else unseen_label(labels, favorable)
    labels = one_kind(labels if unseen is None else union(labels, [unseen]))
    _check_spellings(labels)
    for column in list(columns.values())[1:]:
        _check_twins(next(iter(columns.values())), column)
    return {
        name: Column(_recoded(column, labels), labels) if column.labels != labels else column
        for name, column in columns.items()
    }


def _check_spellings(labels: Sequence[Label]) -> None:
    """Refuse one answer written in two ways, as where one file has 0 and 1, another yes and no."""
    if len(labels) <= 2:
        return
    ways = {ANSWERS.get(spelling(label).removesuffix(".0")) for label in labels}
    if len(ways) > 1 and None not in ways:
        raise InputError(
            f"The labels {listing([repr(label) for label in labels])} are one answer, written in "
            f"{len(ways)} ways, perhaps because files differ. Write it the same way in all rows."
        )


def _check_twins(truth: Column, predicted: Column) -> None:
    """Refuse a label that is spelled differently in truth and prediction."""
    ways = {spelling(label): label for label in truth.labels if label not in predicted.labels}
    for label in predicted.labels:
        if not isinstance(label, str) or label in truth.labels:
            continue
        variant = ways.get(spelling(label))
        if variant is not None:
            raise InputError(
                f"One column has the label {variant!r} and another {label!r}, which differ in "
                "capitals or spaces alone. Write it the same way in all rows."
            )


def _in_threads(jobs: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Call (function, *arguments) for every name, all at once."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(jobs)) as pool:
        running = {name: pool.submit(*job) for name, job in jobs.items()}
        return {name: job.result() for name, job in running.items()}


def rows_in(values: Any) -> int:
    """Number of rows of a column; 0 for anything else, which whoever reads it will refuse."""
    try:
        return len(values)
    except TypeError:
        return 0


def _recoded(column: Column, labels: Sequence[Any]) -> Codes:
    target = positions(column.labels, labels).astype(smallest_unsigned(len(labels)))
    return recode(target, column.codes)


def _count(
    codes: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    named: Mapping[str, Numbers],
) -> tuple[NDArray[np.intp], dict[str, NDArray[Any]]]:
    """Indices of the observed cells, and their totals."""
    if prod(sizes) <= MOST_DENSE:
        totals = _dense(codes, sizes, named)
        observed = np.flatnonzero(totals["rows"])
        return observed, {name: total[observed] for name, total in totals.items()}
    cells, inverse = np.unique(fused(codes, sizes), return_inverse=True)
    return cells.astype(np.intp), _dense([inverse], [len(cells)], named)


def _replicated(
    codes: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    named: Mapping[str, NDArray[np.float64]],
    survey: SurveyWeights,
) -> dict[str, NDArray[Any]]:
    """The sums of every replicate weight, and of named columns times it (replicates, cells).

    Without the sums that only variances need, which replicates give directly.
    """
    sums: dict[str, list[NDArray[Any]]] = {}
    columns = {f"replicates of {name}": named[name] for name in named if not _is_for_variance(name)}
    for weight in survey.replicates:
        parts = {"replicates": weight} | {name: values * weight for name, values in columns.items()}
        totals = _count(codes, sizes, parts)[1]
        for name in parts:
            sums.setdefault(name, []).append(totals[name])
    return {name: np.array(rows) for name, rows in sums.items()}


def _is_for_variance(name: str) -> bool:
    return name != "y²" and (name.endswith(("²", "³", "⁴")) or "·" in name)


def products(
    named: Mapping[str, NDArray[np.float64]], weight: NDArray[np.float64]
) -> dict[str, Product]:
    """The sums of weighted rows: powers of the weight, alone or times a column."""
    return {
        name: Product(weight, power, None if column is None else named[column])
        for name, (power, column) in weighed(named).items()
    }


class Product:
    """A column times a power of the weight, computed a few rows at a time."""

    def __init__(self, weight: NDArray[np.float64], power: int, column: Any) -> None:
        self.weight, self.power, self.column = weight, power, column

    def __getitem__(self, rows: slice) -> NDArray[np.float64]:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            factor = self.weight[rows] ** self.power
            return np.asarray(factor if self.column is None else factor * self.column[rows])


Numbers = NDArray[np.float64] | Product


def _dense(
    codes: Sequence[NDArray[Any]], sizes: Sequence[int], named: Mapping[str, Numbers]
) -> dict[str, NDArray[Any]]:
    """Totals of all cells, observed or not, chunk by chunk."""
    space = prod(sizes)
    totals: dict[str, NDArray[Any]] = {name: np.zeros(space) for name in named}
    totals["rows"] = np.zeros(space, np.int64)
    for rows in chunks(len(codes[0]), max(ROWS_AT_A_TIME, 4 * space)):
        key = fused([column[rows] for column in codes], sizes)
        totals["rows"] += np.bincount(key, minlength=space)
        for name, values in named.items():
            totals[name] += np.bincount(key, weights=values[rows], minlength=space)
    return totals


def fused(codes: Sequence[NDArray[Any]], sizes: Sequence[int]) -> NDArray[Any]:
    """One number for each combination of codes."""
    key = codes[0].astype(smallest_unsigned(prod(sizes)))
    for column, size in zip(codes[1:], sizes[1:], strict=True):
        key *= key.dtype.type(size)
        key += column.astype(key.dtype, copy=False)
    return key


def _spread(counted: Tally, names: list[str], labels: tuple[Any, ...], places: list[int]) -> Tally:
    """Turn a sum for each predicted class into an axis of its own, between truth and group."""
    truth, group = counted.cells
    yhat = np.repeat(places, len(truth))
    cells = np.array([np.tile(truth, len(places)), yhat, np.tile(group, len(places))])
    sums = {
        name: np.concatenate([counted.sums[f"{name} {k}"] for k in range(len(places))])
        for name in names
    }
    axes = (Axis("y", labels), Axis("yhat", labels), counted.axis("group"))
    occupied = sums["rows"] > 0
    observed = {name: values[occupied] for name, values in sums.items()}
    return gathered(axes, cells[:, occupied], observed, counted.notes)


def _listed_classes(classes: Any) -> list[Any]:
    """The labels of the columns in their order."""
    column = encode(classes, "classes")
    return [column.labels[code] for code in column.codes]


def _truth(y_true: Any, names: list[Any]) -> tuple[Column, tuple[Any, ...]]:
    """The true labels, coded in the union with the labels that may be predicted."""
    column = classes(y_true, "y_true")
    labels = union(column.labels, names)
    return Column(_recoded(column, labels), labels), labels


def _chances(probabilities: Any, names: list[Any]) -> NDArray[np.float64]:
    chances = floats(probabilities, "probabilities")
    if chances.ndim != 2 or chances.shape[1] != len(names):
        raise InputError(
            f"probabilities has the shape {chances.shape}; it needs a column for each of the "
            f"{len(names)} classes {names}."
        )
    sums_to_one = abs(chances.sum(axis=1) - 1) <= ROUNDING
    wrong = ~((chances >= -ROUNDING).all(axis=1) & sums_to_one)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"Row {first} of probabilities is {chances[first].tolist()}; the entries of a row "
            "must not be negative and must add up to 1."
        )
    return np.maximum(chances, 0.0)
