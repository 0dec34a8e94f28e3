"""Dataframes of the user's library: our tables in it, and the columns of theirs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from evenhand._errors import InputError, MissingExtraError, refusing
from evenhand._words import did_you_mean


def framed(columns: Mapping[str, Any], kind: str | None = None) -> Any:
    """Columns as a dataframe of the library of this name, by default pandas."""
    import narwhals as nw

    backend: Any = kind or "pandas"
    try:
        return nw.from_dict(dict(columns), backend=backend).to_native()
    except ModuleNotFoundError:
        hint = ' (pip install "evenhand[data]")' if backend == "pandas" else ""
        raise MissingExtraError(
            f"A {backend} dataframe needs {backend}{hint}; or name another: to_frame('polars')."
        ) from None
    except ValueError as refused:
        raise InputError(f"There are no dataframes of {backend!r}: {refused}") from None


def kind_of(*things: Any) -> str | None:
    """The library of the first dataframe or series among these."""
    import narwhals as nw

    for thing in things:
        with suppress(ValueError):  # two columns of one name: refused where they are read
            frame = nw.from_native(thing, allow_series=True, pass_through=True)
            if isinstance(frame, nw.DataFrame | nw.Series):
                return str(frame.implementation.value)
    return None


def is_frame(X: Any) -> bool:
    """Whether X has named columns (pandas, Polars, Arrow, … through narwhals)."""
    if isinstance(X, np.ndarray | list | tuple) or _is_sparse(X):
        return False
    import narwhals as nw

    with refusing("The dataframe's columns cannot be read"):
        return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def is_table(X: Any) -> bool:
    """Whether X has named columns, collected or lazy."""
    if isinstance(X, np.ndarray | list | tuple) or _is_sparse(X):
        return False
    import narwhals as nw

    with refusing("The table's columns cannot be read"):
        frame = nw.from_native(X, pass_through=True)
        return isinstance(frame, nw.DataFrame | nw.LazyFrame)


def names_in(X: Any) -> list[str]:
    """The names of a dataframe's columns."""
    import narwhals as nw

    return list(nw.from_native(X, eager_only=True).columns)


def column_of(X: Any, name: Any) -> Any:
    """One column of a dataframe by name, or of an array or sparse matrix by position.

    >>> column_of(np.array([[1, 2], [3, 4]]), -1)
    array([2, 4])
    """
    if not is_frame(X):
        with refusing(f"X has no column {name!r} that could be read by position"):
            return X[:, [name]].toarray().ravel() if _is_sparse(X) else np.asarray(X)[:, name]
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    if name not in frame.columns:
        raise InputError(
            f"X has no column {name!r}; its columns are {list(frame.columns)}."
            f"{did_you_mean(name, frame.columns)}"
        )
    return frame[:, frame.columns.index(name)].to_native()


def _is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix; False if SciPy was never imported."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))
