"""The outcome of a comparison: tables, and the same in words, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from evenhand._compare.evidence import Evidence
from evenhand._compare.question import Question
from evenhand._compare.sensitivity import COLUMNS, Coarser, sensitivity_rows, settings_of, views
from evenhand._compare.tables import Columns, Row, table
from evenhand._dataframes import framed, kind_of
from evenhand._tasks import Task
from evenhand._words import UNDEFINED, markdown_table, number, p_value
from evenhand.measures import Measure, is_ratio

HEADS = {
    "values": "Values",
    "differences": "Differences between models",
    "kendall": "Agreement of the rankings (Kendall's τ-b)",
}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
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

    models: tuple[str, ...]
    task: Task
    confidence: float
    notes: tuple[str, ...]
    tables: Mapping[str, Columns]
    questions: tuple[Question, ...]
    evidence: Evidence
    seed: int = 0
    kind: str | None = None

    @property
    def values(self) -> Any:
        """A row for each criterion, measure and model, as a dataframe.

        The value and its rank (1 is the most even); the interval of the true value (low, high); the
        p-value of all the model's groups being alike by this criterion, whatever the measure, by
        itself and adjusted (Holm) over the models and criteria; the verdict.
        """
        return self._framed("values")

    @property
    def differences(self) -> Any:
        """A row for every two models by every question, as a dataframe.

        How much more uneven `model` is than `other`, with the interval of the true difference, and
        whether they are told apart, by p-values adjusted (Holm) over the pairs and criteria of the
        measure. The interval excludes 0 exactly where `p_value` is below 1 − confidence.
        """
        return self._framed("differences")

    @property
    def ranks(self) -> Any:
        """The ranks of the models side by side, a row for every question, as a dataframe."""
        return self._framed("ranks")

    @property
    def kendall(self) -> Any:
        """Kendall's τ-b of every two rankings, with its range over rows drawn again."""
        return self._framed("kendall")

    def sensitivity(
        self,
        *,
        measure: str | Measure = "pq",
        orders: Sequence[tuple[float, float]] | None = None,
        transforms: Sequence[str] = ("raw", "exp"),
        aggregates: Sequence[str] = ("worst", "mean", "total"),
        depth: int = 2,
        groupings: Mapping[str, Coarser] | None = None,
        verdicts: bool = True,
    ) -> Any:
        """What becomes of values, ranks and verdicts when one choice at a time is made otherwise.

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
            Coarser groups: each sensitive column alone, up to so many of them together, and bins
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
        settings = [
            settings_of(
                Question(criterion, measure, self.questions[0].settings),
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

    def to_frame(self, like: Any = None, *, table: str = "values") -> Any:
        """A table as a dataframe of the library named, of the kind of a dataframe, or the user's.

        >>> from evenhand import compare
        >>> found = compare(None, {"m": [1, 0, 1, 0]}, sensitive_features=["a", "a", "b", "b"])
        >>> type(found.to_frame("polars"))
        <class 'polars.dataframe.frame.DataFrame'>
        """
        kind = like if isinstance(like, str) else kind_of(like)
        return framed(self.tables[table], kind or self.kind)

    def to_markdown(self) -> str:
        """All tables, under headings."""
        parts = [
            f"## {head}\n\n{markdown_table(list(self.tables[name]), self._written(name))}"
            for name, head in self._parts()
        ]
        if self.notes:
            parts.append("## Notes\n\n" + "\n".join(f"- {note}" for note in self.notes))
        return "\n\n".join(parts) + "\n"

    def _framed(self, name: str) -> Any:
        return framed(self.tables[name], self.kind)

    def _repr_html_(self) -> str:
        parts = [
            f"<h4>{escape(head)}</h4>{_html_table(list(self.tables[name]), self._written(name))}"
            for name, head in self._parts()
        ]
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return "".join(parts) + (f"<ul>{notes}</ul>" if notes else "")

    def __str__(self) -> str:
        level = f"{100 * self.confidence:g} %"
        key = f"(1 = most even first; < told apart, ~ not told apart, at {level})"
        return "\n".join([*self._orders(), key])

    __repr__ = __str__

    def _parts(self) -> list[tuple[str, str]]:
        return [(name, head) for name, head in HEADS.items() if self._rows(name)]

    def _rows(self, name: str) -> list[Row]:
        columns = self.tables[name]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _written(self, name: str) -> list[list[str]]:
        return [[written(cell, column) for column, cell in row.items()] for row in self._rows(name)]

    def _orders(self) -> Iterator[str]:
        """The models in order of rank, by every question."""
        apart = {
            (row["criterion"], row["measure"], frozenset((row["model"], row["other"])))
            for row in self._rows("differences")
            if row["told_apart"]
        }
        for question in self.questions:
            name = (question.criterion.name, question.measure_name)
            rows = [
                row for row in self._rows("values") if (row["criterion"], row["measure"]) == name
            ]
            rows.sort(key=lambda row: float(row["rank"]))
            line = ""
            for before, row in zip([None, *rows], rows, strict=False):
                if before is not None:
                    pair = (*name, frozenset((before["model"], row["model"])))
                    before_it = " > " if is_ratio(question.measure) else " < "
                    line += before_it if pair in apart else " ~ "
                line += f"{row['model']} {number(row['value'])}"
            yield f"{name[0]} by {name[1]}: {line}"


def written(cell: Any, column: str) -> str:
    """A cell as people read it.

    >>> written(0.123456, "value"), written(0.0123, "p_value"), written(True, "told_apart")
    ('0.123', '.012', 'yes')
    """
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if cell is None or cell != cell:
        return UNDEFINED
    if not isinstance(cell, float | np.floating):
        return str(cell)
    return (p_value if column in ("p_value", "p_adjusted") else number)(float(cell))


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
