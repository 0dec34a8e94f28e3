"""Small tables of ours as dataframes of whatever kind the user has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand._errors import MissingExtraError


def framed(columns: Mapping[str, Any], kind: str | None = None) -> Any:
    """Columns as a dataframe of a library by its name, "pandas" if none is named."""
    import narwhals as nw

    backend: Any = kind or "pandas"
    try:
        return nw.from_dict(dict(columns), backend=backend).to_native()
    except ModuleNotFoundError:
        hint = ' (pip install "evenhand[data]")' if backend == "pandas" else ""
        raise MissingExtraError(
            f"A {backend} dataframe needs {backend}{hint}; or name another: to_frame('polars')."
        ) from None


def kind_of(*things: Any) -> str | None:
    """The library of the first dataframe or series among these."""
    import narwhals as nw

    for thing in things:
        frame = nw.from_native(thing, allow_series=True, pass_through=True)
        if isinstance(frame, nw.DataFrame | nw.Series):
            return str(frame.implementation.value)
    return None
