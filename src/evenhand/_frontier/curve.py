"""The common base of frontiers of decisions and of amounts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._result import Columns, Result, finite, version

SCHEMA = "evenhand.frontier/1"


class Curve(Result):
    """A result that is a curve: the least cost at each disparity, and the models in use."""

    @abstractmethod
    def to_dict(self) -> dict[str, list[float]]:
        """The curve as columns."""

    @property
    @abstractmethod
    def sentences(self) -> list[str]:
        """The curve in sentences, the plain ones first."""

    @abstractmethod
    def _question(self) -> tuple[str, str]:
        """The criterion and the measure."""

    @abstractmethod
    def _models(self) -> Mapping[str, tuple[float, float]]:
        """The decisions or predictions in use, each a disparity and a cost."""

    @property
    @abstractmethod
    def _cost_name(self) -> str:
        """The name of the cost."""

    @property
    def _remarks(self) -> Sequence[str]:
        return ()

    @property
    def summary(self) -> str:
        """The frontier in sentences."""
        return " ".join(self.sentences)

    def document(self) -> dict[str, Any]:
        """All results as plain JSON values, by the schema "evenhand.frontier/1".

        Returns
        -------
        dict
            "sentences" and "notes" in words; "curve" has the columns of `to_dict`, and "models" the
            disparity and cost of the decisions in use.

        """
        criterion, measure = self._question()
        return {
            "schema": SCHEMA,
            "evenhand": version("evenhand"),
            "criterion": criterion,
            "measure": measure,
            "unit": self._cost_name,
            "sentences": self.sentences,
            "notes": list(self._remarks),
            "curve": finite(self.to_dict()),
            "models": {
                name: {"value": finite(value), "cost": finite(cost)}
                for name, (value, cost) in self._models().items()
            },
        }

    @property
    def _tables(self) -> Sequence[str]:
        return ("curve",)

    def _table(self, name: str) -> Columns:  # noqa: ARG002
        return self.to_dict()
