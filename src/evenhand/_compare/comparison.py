"""The result of a comparison: tables, sentences, Markdown, a page and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._compare.document import amount, document
from evenhand._compare.parts import ComparisonParts
from evenhand._compare.performance import metrics_of
from evenhand._compare.sensitivity import COLUMNS, Coarser, sensitivity_rows, settings_of, views
from evenhand._compare.tables import table
from evenhand._data.dataframes import framed
from evenhand._kinds import check_kinds
from evenhand._result import Columns, Result
from evenhand._words import capitalized, number
from evenhand.criteria.questions import Question
from evenhand.measures import MeasureLike, resolve
from evenhand.report.formats import measure_phrase, words


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonParts, Result):
    """Models compared on the same rows, by criteria and measures.

    Attributes
    ----------
    models : tuple of str
        Their names.
    task : {"binary", "multiclass", "regression"}
        What they predict.
    confidence : float
        Of all intervals.
    notes : tuple of str
        What to mind.
    tables : mapping
        The columns of every table, by its name; `values` and so on are dataframes of these.
    questions : tuple
        Every criterion by every measure.
    evidence : Evidence
        The rows as they were counted.
    seed : int
        Of the rows drawn again; passed as `random_state`, it gives the same comparison.
    kind : str or None
        The user's dataframe library.
    title : str or None
        Of the page and the figure.

    Examples
    --------
    >>> from evenhand import compare
    >>> models = {"even": [1, 0] * 40, "uneven": [1, 0] * 20 + [1, 1] * 20}
    >>> found = compare(None, models, sensitive_features=["a"] * 40 + ["b"] * 40, measures=["gini"])
    >>> found.values[["model", "value", "rank", "verdict"]]
        model  value  rank      verdict
    0    even    0.0   1.0  cannot tell
    1  uneven    0.5   2.0      differs

    """

    @property
    def summary(self) -> str:
        """The comparison in a few sentences: who predicts best, and who is least unequal."""
        parts = self.document()
        return " ".join([*parts["sentences"], parts["about"]])

    @property
    def by_model(self) -> Any:
        """A row for each model: how well it predicts, and how unequal it is, as a dataframe.

        First overall "accuracy", or "rmse" and "mae" of a regression; then each criterion by the
        first measure. Each is followed by its interval, as "…_low" and "…_high". Without the truth
        there are only the criteria.

        Examples
        --------
        >>> from evenhand import compare
        >>> models = {"right": [1, 0] * 40, "wrong": [1, 0] * 20 + [1, 1] * 20}
        >>> group = ["a"] * 40 + ["b"] * 40
        >>> found = compare([1, 0] * 40, models, sensitive_features=group)
        >>> found.by_model[["model", "accuracy", "statistical_parity"]]
           model  accuracy  statistical_parity
        0  right      1.00                 0.0
        1  wrong      0.75                 0.5

        """
        return framed(_by_model(self.document()), self.kind)

    @property
    def performance(self) -> Any:
        """A row for each model and metric over all rows, with its interval, as a dataframe.

        The metric is "accuracy", or "rmse" and "mae" of a regression; without the truth there are
        no rows. `to_frame(table="performance_differences")` says for every two models whether one
        is significantly better: McNemar's exact test or, for weighted rows and numbers, the paired
        t-test.
        """
        return self._framed("performance")

    @property
    def values(self) -> Any:
        """A row for each criterion, measure and model, as a dataframe.

        The value and its rank (1 is the least unequal); the interval of the true value (low,
        high); the p-value of equal groups by this criterion, the same for all measures, alone and
        adjusted (Holm) over models and criteria; the verdict.
        """
        return self._framed("values")

    @property
    def differences(self) -> Any:
        """A row for every two models by every question, as a dataframe.

        How much more uneven `model` is than `other`, with the interval of the true difference, and
        whether that is significant: by p-values adjusted (Holm) over the pairs and criteria of
        the measure. The interval excludes 0 exactly where `p_value` is below 1 − confidence.
        """
        return self._framed("differences")

    @property
    def gaps(self) -> Any:
        """A row for each criterion and every two models: the gap that differs most, as a dataframe.

        `p_value` tests that all gaps between groups are the same with both models, independently of
        the measure: groups of a few rows do not hide a gap between large ones. `group` and
        `other_group` are the two whose gap differs most clearly (in `cell`): the first exceeds the
        other by `gap` with `model` and by `other_gap` with `other`. `low` and `high` are the
        interval of the difference, corrected for all pairs of groups; it excludes 0 only where
        `p_value` is at most 1 − confidence. `p_adjusted` is Holm's over the pairs of models and
        criteria. Distributions are left out.

        Examples
        --------
        >>> from evenhand import compare
        >>> group = ["a"] * 400 + ["b"] * 400 + ["c"] * 5
        >>> models = {
        ...     "even": [1, 0] * 400 + [1] * 5,
        ...     "uneven": [1, 0] * 200 + [1, 1] * 200 + [1] * 5,
        ... }
        >>> found = compare(None, models, sensitive_features=group, measures=["mpd"])
        >>> print(found.differences["beyond_chance"][0], found.gaps["beyond_chance"][0])
        False True
        >>> found.gaps[["group", "other_group", "difference", "low", "high"]].round(2)
          group other_group  difference   low  high
        0     a           b         0.5  0.44  0.56

        """
        return self._framed("gaps")

    @property
    def ranks(self) -> Any:
        """The ranks of the models, a row for every question, as a dataframe."""
        return self._framed("ranks")

    @property
    def kendall(self) -> Any:
        """Kendall's τ-b of every two rankings, with its bootstrap range."""
        return self._framed("kendall")

    def sensitivity(
        self,
        *,
        measure: MeasureLike = "pq",
        orders: Sequence[tuple[float, float]] | None = None,
        transforms: Sequence[str] = ("raw", "exp"),
        aggregates: Sequence[str] = ("worst", "mean", "total"),
        depth: int = 2,
        groupings: Mapping[str, Coarser] | None = None,
        verdicts: bool = True,
    ) -> Any:
        """One-at-a-time sensitivity of values, ranks and verdicts.

        Parameters
        ----------
        measure : str or callable, default "pq"
            Around which, with its defaults, everything else is varied: the other measures first.
        orders : sequence of pairs, optional
            Orders (p, q) of PQ; by default p from 0.1 to 1 with q = 2, and q from 1.1 to 2.5 with
            p = 1.
        transforms : sequence of str, default ("raw", "exp")
            Of scale-free measures.
        aggregates : sequence of str, default ("worst", "mean", "total")
            Over classes.
        depth : int, default 2
            Coarser groups: each sensitive column alone, up to this many of them together, and bins
            merged two by two.
        groupings : mapping of str to callable, optional
            Functions from a group's label to a coarser one, by name.
        verdicts : bool, default True
            Whether each model's groups are tested, which depends on the criterion and the groups.

        Returns
        -------
        dataframe
            A row for every criterion, setting and model.

        """
        check_kinds(measure=measure, depth=depth, verdicts=verdicts, groupings=groupings)
        settings = [
            settings_of(
                Question(criterion, (measure,), self.questions[0].settings),
                self.questions,
                orders=orders,
                transforms=transforms,
                aggregates=aggregates,
            )
            for criterion in dict.fromkeys(question.criterion for question in self.questions)
        ]
        coarser = list(
            views(self.evidence.groups.labels, self.evidence.groups.names, depth, groupings)
        )
        rows = sensitivity_rows(
            self.models,
            self.evidence,
            settings,
            coarser,
            verdicts=verdicts,
            level=1 - self.confidence,
        )
        return framed(table(rows, COLUMNS), self.kind)

    def document(self) -> dict[str, Any]:
        """Everything as plain JSON values, by the schema "evenhand.comparison/2"."""
        return document(self) | {"orders": [*self._performance_orders(), *self._orders()]}

    @property
    def _tables(self) -> Sequence[str]:
        return list(self.tables)

    def _table(self, name: str) -> Columns:
        return self.tables[name]

    def _framed(self, name: str) -> Any:
        return framed(self.tables[name], self.kind)

    def _performance_orders(self) -> Iterator[str]:
        """The models in order of accuracy or error, with intervals."""
        for metric in metrics_of(self.evidence):
            different = {
                frozenset((row["model"], row["other"]))
                for row in self.rows("performance_differences")
                if row["metric"] == metric.key and row["beyond_chance"]
            }
            rows = [row for row in self.rows("performance") if row["metric"] == metric.key]
            rows.sort(key=lambda row: float(row["value"]), reverse=metric.more_is_better)
            line, sign = "", " > " if metric.more_is_better else " < "
            for before, row in zip([None, *rows], rows, strict=False):
                if before is not None:
                    pair = frozenset((before["model"], row["model"]))
                    line += sign if pair in different else " ~ "
                line += f"{row['model']} {_with_interval(row, metric.is_rate, share=True)}"
            yield f"{capitalized(metric.name)}: {line}"

    def _orders(self) -> Iterator[str]:
        """The models in order of rank, by every question."""
        different = {
            (row["criterion"], row["measure"], frozenset((row["model"], row["other"])))
            for row in self.rows("differences")
            if row["beyond_chance"]
        }
        for question in self.questions:
            name = (question.criterion.name, question.measure_name)
            rows = [
                row for row in self.rows("values") if (row["criterion"], row["measure"]) == name
            ]
            rows.sort(key=lambda row: float(row["rank"]))
            line = ""
            for before, row in zip([None, *rows], rows, strict=False):
                if before is not None:
                    pair = (*name, frozenset((before["model"], row["model"])))
                    before_it = " > " if resolve(question.measure).falls else " < "
                    line += before_it if pair in different else " ~ "
                line += f"{row['model']} {number(row['value'])}"
            yield f"{words(name[0])} by {measure_phrase(name[1])}: {line}"


def _with_interval(row: Mapping[str, Any], is_rate: bool, share: bool) -> str:
    value, low, high = (
        amount(row[key], is_rate, share=share, toward=toward)
        for key, toward in (("value", 0), ("low", -1), ("high", 1))
    )
    return value if row["low"] is None else f"{value} ({low} to {high})"


def _by_model(content: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of `by_model`."""
    columns: dict[str, list[Any]] = {"model": list(content["models"])}
    columns_of_models = [(entry["key"], entry["models"]) for entry in content["performance"]]
    columns_of_models += [(entry["name"], entry["models"]) for entry in content["criteria"]]
    for name, models in columns_of_models:
        for key in ("value", "low", "high"):
            column = [np.nan if entry[key] is None else float(entry[key]) for entry in models]
            columns[name if key == "value" else f"{name}_{key}"] = column
    return columns
