"""The outcome of a comparison: tables, and the same in words, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from evenhand._compare.evidence import Evidence
from evenhand._compare.question import Question
from evenhand._compare.sensitivity import Coarser, settings_of, tabulated
from evenhand._compare.tables import Tidy, written
from evenhand.measures import Measure

HEADS = {
    "values": "Values",
    "differences": "Differences between models",
    "kendall": "Agreement of the rankings (Kendall's τ-b)",
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models compared on the same rows, by criteria and measures.

    `values` has a row for each criterion, measure and model: the value, its rank (1 is the most
    even), an estimate cleared of noise, an interval of the true value, the noise floor and the
    p-value against a fair model. `differences` has a row for every two models, `ranks` the ranks
    side by side, `kendall` the agreement of every two rankings, `notes` what to mind.
    """

    models: tuple[str, ...]
    task: str
    confidence: float
    values: Tidy
    differences: Tidy
    ranks: Tidy
    kendall: Tidy
    notes: tuple[str, ...]
    asked: tuple[Question, ...] = field(repr=False)
    evidence: Evidence = field(repr=False)
    random_state: Any = field(repr=False, default=0)

    def sensitivity(
        self,
        *,
        measure: str | Measure = "pq",
        orders: Sequence[tuple[float, float]] | None = None,
        transforms: Sequence[str] = ("raw", "exp"),
        aggregates: Sequence[str] = ("worst", "mean", "total"),
        depth: int = 2,
        groupings: Mapping[str, Coarser] | None = None,
        replicates: int = 199,
    ) -> Tidy:
        """What becomes of values, ranks and verdicts when one choice at a time is made otherwise.

        Around `measure` with its defaults: the other measures; the orders (p, q) of PQ, by default
        p from 0.1 to 1 with q = 2 and q from 1.1 to 2.5 with p = 1; the transform; the aggregate
        over classes; coarser groups (each sensitive column, up to `depth` of them together, bins
        two by two, and `groupings`, functions from a group's label to a coarser one). `replicates`
        fair models are drawn for each verdict; 0 leaves the verdicts out.
        """
        bases = dict.fromkeys(one.criterion for one in self.asked)
        options = self.asked[0].options
        chosen = (orders, transforms, aggregates)
        settings = [
            settings_of(Question(criterion, measure, options), self.asked, *chosen)
            for criterion in bases
        ]
        coarser = (depth, groupings)
        noise = (replicates, self.random_state)
        return tabulated(self.models, self.evidence, settings, coarser, noise, self.values.kind)

    def to_frame(self, like: Any = None) -> Any:
        """The values as a dataframe: of the library named, or that of a dataframe given."""
        return self.values.to_frame(like)

    def to_markdown(self) -> str:
        """All tables, under headings."""
        parts = [f"## {head}\n\n{getattr(self, name)}" for name, head in self._parts()]
        if self.notes:
            parts.append("## Notes\n\n" + "\n".join(f"- {note}" for note in self.notes))
        return "\n\n".join(parts) + "\n"

    def _repr_html_(self) -> str:
        parts = [
            f"<h4>{escape(head)}</h4>{getattr(self, name)._repr_html_()}"
            for name, head in self._parts()
        ]
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return "".join(parts) + (f"<ul>{notes}</ul>" if notes else "")

    def __str__(self) -> str:
        level = f"{100 * self.confidence:g} %"
        key = f"(1 = most even first; < told apart, ~ not told apart, at {level})"
        return "\n".join([*self._orders(), key])

    def _parts(self) -> list[tuple[str, str]]:
        return [(name, head) for name, head in HEADS.items() if len(getattr(self, name))]

    def _orders(self) -> Iterator[str]:
        """The models in order of rank, by every question."""
        apart = {
            (row["criterion"], row["measure"], frozenset((row["model"], row["other"])))
            for row in self.differences.rows()
            if row["told_apart"]
        }
        for one in self.asked:
            asked = (one.criterion.name, one.measure_name)
            rows = self.values.where(criterion=asked[0], measure=asked[1]).rows()
            rows.sort(key=lambda row: float(row["rank"]))
            line = ""
            for before, row in zip([None, *rows], rows, strict=False):
                if before is not None:
                    pair = (*asked, frozenset((before["model"], row["model"])))
                    line += " < " if pair in apart else " ~ "
                line += f"{row['model']} {written(row['value'])}"
            yield f"{asked[0]} by {asked[1]}: {line}"
