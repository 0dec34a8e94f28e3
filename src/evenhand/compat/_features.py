"""Sensitive and control features: the cell of each row, and the pandas index of the cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Codes, combine, first_rows, recode, smallest_unsigned
from evenhand._columns.encoding import encode
from evenhand._errors import InputError, MissingExtraError, refusing
from evenhand.compat._base_metrics import unequal_lengths

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of groups, with the code of each row's level."""

    name: str
    column: Any
    codes: Codes
    levels: pd.Index  # sorted as a group-by sorts them


@dataclass(frozen=True, eq=False)
class Cells:
    """The observed combinations of levels in order, with their positions in a pandas index."""

    features: Sequence[Feature]
    codes: Codes  # of every row
    members: NDArray[np.intp]  # of shape (features, cells): the code of the level
    index: Any  # the levels of one feature; of several, all combinations, even if not observed
    where: NDArray[np.intp]  # the position of each observed cell in the index

    def __len__(self) -> int:
        return len(self.where)

    def leading(self, features: int) -> NDArray[np.intp]:
        """For each cell the combination of the first features, numbered in order."""
        first = self.members[:features]
        new = (first[:, 1:] != first[:, :-1]).any(axis=0)
        return np.append(0, np.cumsum(new))


def pandas() -> ModuleType:
    """The package pandas, or a clear error."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError(
            "MetricFrame answers in pandas objects, and pandas is not installed: "
            'pip install "evenhand[data]". Without it, evenhand.audit answers the same questions.',
            name="pandas",
        ) from None
    return pandas


def read_features(features: Any, base_name: str, rows: int) -> list[Feature]:
    """Name and encode the columns; nameless ones are base_name0, base_name1."""
    columns = _named_columns(features, base_name)
    if not columns:
        raise InputError(f"There is no column among the {base_name.replace('_', ' ').strip()}s.")
    return [_feature(name, values, rows) for name, values in columns.items()]


def check_names(features: Sequence[Feature]) -> None:
    """Refuse two features of one name."""
    names = [feature.name for feature in features]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _two_of_one_name(twice[0])


def cells_of(features: Sequence[Feature], rows: NDArray[np.intp] | None = None) -> Cells:
    """The cells of these rows, or of all."""
    coded = [
        (feature.codes if rows is None else feature.codes[rows], len(feature.levels))
        for feature in features
    ]
    codes, first = combine(coded)
    members = np.array([column[first] for column, _ in coded], dtype=np.intp)
    present = [np.unique(places) for places in members]
    if len(features) == 1:
        index: Any = features[0].levels.take(present[0])
        return Cells(features, codes, members, index, np.arange(len(index)))
    index = pandas().MultiIndex.from_product(
        [np.unique(feature.levels)[at] for feature, at in zip(features, present, strict=True)],
        names=[feature.name for feature in features],
    )
    places = [np.searchsorted(at, member) for at, member in zip(present, members, strict=True)]
    where = np.ravel_multi_index(tuple(places), tuple(map(len, present)))
    return Cells(features, codes, members, index, where)


def _named_columns(features: Any, base_name: str) -> dict[str, Any]:
    pd = pandas()
    if isinstance(features, dict):
        try:
            features = pd.DataFrame.from_dict(features)
        except ValueError as error:
            raise InputError(
                "DataFrame.from_dict() failed on sensitive features. Please ensure each array is "
                "strictly 1-D. The __cause__ field of this exception may contain further "
                "information.",
                f"The features {list(features)} are not columns of equal length, one value a row: "
                f"{error}",
            ) from error
    if isinstance(features, pd.DataFrame):
        return _of_distinct_names(
            [(features.columns[at], features.iloc[:, at]) for at in range(features.shape[1])]
        )
    if isinstance(features, pd.Series):
        name = f"{base_name}0" if features.name is None else features.name
        if not isinstance(name, str):
            raise _no_text(f"Series name must be a string. Value '{name}' was of type {type(name)}")
        return {name: features}
    if isinstance(features, list):
        if not all(map(pd.api.types.is_scalar, features)):
            raise InputError(
                "Feature lists must be of scalar types",
                "A list is one column, one value a row; pass several columns as a dict or a "
                "dataframe.",
            )
        column = np.empty(len(features), dtype=object)
        column[:] = features
        return {f"{base_name}0": column}
    array = features if isinstance(features, np.ndarray) else np.asarray(features, dtype=object)
    array = array.squeeze() if array.size > 1 else array.reshape(array.size)
    if array.ndim > 2:
        raise InputError(
            "Feature array has too many dimensions",
            f"Features are one column or several; this array is of {array.shape}.",
        )
    columns = [array] if array.ndim == 1 else [array[:, at] for at in range(array.shape[1])]
    return {f"{base_name}{at}": column for at, column in enumerate(columns)}


def _of_distinct_names(columns: list[tuple[Any, Any]]) -> dict[str, Any]:
    for name, _ in columns:
        if not isinstance(name, str):
            raise _no_text(
                f"DataFrame column names must be strings. Name '{name}' is of type {type(name)}"
            )
    by_name = dict(columns)
    if len(by_name) < len(columns):
        names = [name for name, _ in columns]
        twice = next(name for name in names if names.count(name) > 1)
        raise _two_of_one_name(twice)
    return by_name


def _no_text(known: str) -> InputError:
    return InputError(known, "Names of features must be text; rename the column.")


def _two_of_one_name(name: str) -> InputError:
    return InputError(
        f"Detected duplicate feature name: '{name}'",
        f"Two features are called {name!r}; rename one of them.",
    )


def _feature(name: str, values: Any, rows: int) -> Feature:
    pd = pandas()
    if len(values) != rows:
        raise unequal_lengths(**{f"Feature {name!r}": len(values), "y_true": rows})
    coded = encode(values, f"Feature {name!r}")
    if coded.missing:
        raise InputError(
            f"Feature '{name}' contains missing values. Remove or replace them before constructing "
            "a MetricFrame",
            f"Feature {name!r} has {coded.missing} missing values. Drop those rows or fill them; "
            'or call evenhand.groups with missing="group" and audit those groups.',
        )
    first = first_rows(coded.codes, len(coded.labels))
    labels = values.iloc[first].tolist() if isinstance(values, pd.Series) else list(values[first])
    if not all(map(pd.api.types.is_scalar, labels)):
        raise InputError(f"Feature {name!r} must hold one value a row; the first is {labels[0]!r}.")
    if isinstance(values, np.ndarray):
        labels = list(np.asarray(values[first], dtype=object))
    # pandas decides which labels are one level, their type, and their order.
    with refusing(f"pandas cannot group by feature {name!r}"):
        grouped = pd.DataFrame({name: labels}).groupby(name)
        levels = grouped.size().index
        rank = grouped.ngroup().to_numpy().astype(smallest_unsigned(len(levels)))
    in_order = np.array_equal(rank, np.arange(len(rank)))
    return Feature(name, values, coded.codes if in_order else recode(rank, coded.codes), levels)
