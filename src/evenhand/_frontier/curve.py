"""What frontiers of decisions and of amounts have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from evenhand._data.dataframes import framed


class Curve(ABC):
    """A curve as columns, of the data's kind of dataframe."""

    kind: str | None

    @abstractmethod
    def to_dict(self) -> dict[str, list[float]]:
        """The curve as columns."""

    def to_frame(self, backend: str | None = None) -> Any:
        """The curve as a dataframe.

        Parameters
        ----------
        backend : str, optional
            The library, such as "polars" or "pyarrow"; by default the one of the data.

        Returns
        -------
        dataframe
            A row for each point, with the columns of `to_dict`.

        """
        return framed(self.to_dict(), backend or self.kind)
