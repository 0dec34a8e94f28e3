"""The forms of a result: a summary, tables, a document, a page, Markdown, JSON, a figure."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from evenhand import report
from evenhand._data.dataframes import framed, kind_of
from evenhand._errors import InputError, MissingExtraError
from evenhand._words import did_you_mean, visible
from evenhand._writing import written

Columns = Mapping[str, Sequence[Any]]


class Result(ABC):
    """A result: every form is made from its document, or from its tables.

    `print` shows what the terminal shows, and a notebook the sentence and the first table.
    """

    @property
    def kind(self) -> str | None:
        """The user's library of dataframes, where known."""
        return None

    @property
    @abstractmethod
    def summary(self) -> str:
        """The result in a sentence or two."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Everything as plain JSON values."""

    @abstractmethod
    def _table(self, name: str) -> Columns:
        """The columns of one of the tables."""

    @property
    @abstractmethod
    def _tables(self) -> Sequence[str]:
        """The names of the tables; the first is the default."""

    def to_frame(self, table: str | None = None, *, like: Any = None) -> Any:
        """A table as a dataframe.

        Parameters
        ----------
        table : str, optional
            Which one; by default the first.
        like : str or dataframe, optional
            The library, such as "polars", or a dataframe of it; by default that of the data, else
            pandas.

        Returns
        -------
        dataframe
            A row for each row of the table.

        Raises
        ------
        InputError
            If there is no such table.

        """
        name = self._tables[0] if table is None else table
        if not isinstance(name, str) or name not in self._tables:
            raise InputError(
                f"There is no table {name!r}; there are {list(self._tables)}."
                f"{did_you_mean(name, self._tables)}"
            )
        library = like if isinstance(like, str) else kind_of(like)
        return framed(self._table(name), library or self.kind)

    def to_json(self, path: str | Path | None = None) -> str:
        """The document as JSON text, written to a file if one is named."""
        return written(json.dumps(self.document(), ensure_ascii=False, allow_nan=False), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """A page that opens offline, with charts; needs the extra "report"."""
        return written(report.page(self.document()), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The report as Markdown, fit for a pull-request comment; long parts are folded."""
        return written(report.markdown(self.document()), path)

    def plot(self, chart: str | None = None, *, ax: Any = None) -> Any:
        """The charts of the page as a Matplotlib figure.

        Parameters
        ----------
        chart : str, optional
            The name of one of them; by default all.
        ax : matplotlib Axes, optional
            Where to draw the one chart; by default in a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        InputError
            If there is no such chart.
        MissingExtraError
            If Matplotlib is not installed.

        """
        return report.figure(self.document(), chart, ax)

    def __str__(self) -> str:
        return visible(report.text(self.document()))

    def __repr__(self) -> str:
        first = self.summary.partition(". ")[0].removesuffix(".")
        return visible(f"<{type(self).__name__}: {first}>")

    def _repr_html_(self) -> str:
        try:
            return report.snippet(self.document())
        except MissingExtraError:  # a notebook shows plain text, and no error
            return f"<pre>{escape(str(self))}</pre>"


class Page(str):
    """A page as HTML text; a notebook shows it in its own frame, where its scripts run."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        # Links within the page stay in its frame: else they lead to the address of the notebook.
        own = self.replace("<head>", '<head><base href="about:srcdoc">', 1)
        return (
            f'<iframe srcdoc="{escape(own)}" sandbox="allow-scripts" title="evenhand" '
            'style="width: 100%; height: 45rem; border: 0"></iframe>'
        )


@cache  # reading it parses a file
def version(package: str) -> str:
    """The installed version of a package."""
    from importlib import metadata  # which imports email and socket

    return metadata.version(package)


def json_number(value: float) -> float | None:
    """A number for JSON; None if it is not finite."""
    return float(value) if abs(value) < float("inf") else None


def json_numbers(values: Iterable[float]) -> list[float | None]:
    """Numbers for JSON, with None for those that are not finite."""
    return [json_number(value) for value in values]


def finite(part: Any) -> Any:
    """JSON values: the same with None for numbers that are undefined."""
    if isinstance(part, Mapping):
        return {key: finite(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [finite(value) for value in part]
    if isinstance(part, float):
        return json_number(part)
    return part
