"""Scores of several models for the same label of the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label
from evenhand._compare.design import Design
from evenhand._data.areas import RankedScores, auroc_influences, check_direction
from evenhand._data.evidence import direction_note
from evenhand._data.groups import Groups
from evenhand._data.summaries import Rows, Source, summarize
from evenhand._errors import InputError
from evenhand.statistics import Statistic
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]

NEEDS = ("ranks", "losses", "bins", "steps")


@contextmanager
def about(model: str) -> Iterator[None]:
    """Name the model in an error, and predictions as they are called here."""
    try:
        yield
    except InputError as error:
        said = str(error).replace("y_pred, the predictions", "predictions")
        raise InputError(f"{model}: {said.replace('y_pred', 'predictions')}") from None


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of each model, and the label that single columns of them are about."""

    models: tuple[str, ...]
    truth: Column | None
    scores: tuple[Floats, ...]
    design: Design
    labels: tuple[Label, ...]
    score_of: Label
    favorable: Label
    made: dict[tuple[str, int], Source] = field(default_factory=dict)

    @property
    def is_binary(self) -> bool:
        """Whether the truth is known and single scores are of one of two labels."""
        return self.truth is not None and self.score_of is not None

    def notes(self, stated: Label) -> Iterator[str]:
        """Notes on scores that rank against their label; refuse them if that was not stated."""
        for model, name in enumerate(self.models):
            if self.truth is None or self.score_of is None:
                continue
            ranks = self.summary("ranks", model)
            assert isinstance(ranks, RankedScores)
            if stated is None and self.scores[model].ndim == 1:
                with about(name):
                    check_direction(ranks.scores[0], self.score_of)
            yield from (f"{name}: {note}" for note in direction_note(ranks, self.score_of))

    def summary(self, need: str, model: int, weight: Floats | None = None) -> Source:
        """What a statistic of a model's scores reads, if wanted with other weights."""
        rows = self._rows(model)
        with about(self.models[model]):
            if weight is not None:
                return summarize(need, replace(rows, sample_weight=weight, cluster=None))
            if (need, model) not in self.made:
                self.made[need, model] = summarize(need, rows)
        return self.made[need, model]

    def influences(self, statistic: Statistic, model: int, source: Any) -> Floats | None:
        """The influence of every row of weight 1 (cells, rows); None for distributions."""
        if isinstance(source, RankedScores):
            return self._of_areas(model, source)
        if statistic.sweeps:
            return None
        rows = np.arange(self.design.lines, dtype=np.uint32)
        each = Groups(rows, tuple(rows.tolist()), ("row",))
        alone = replace(
            self._rows(model), sensitive_features=each, sample_weight=None, cluster=None
        )
        owner = self.design.groups.codes.astype(np.intp)
        return statistic.influence(summarize(statistic.needs, alone), owner, source.whole)

    def _of_areas(self, model: int, source: RankedScores) -> Floats:
        """DeLong's influences, which know the ranks of rows, in the order of the rows."""
        rows = np.arange(self.design.lines)
        ranked = summarize("ranks", replace(self._rows(model), cluster={"row": rows}))
        assert isinstance(ranked, RankedScores)
        influences = np.zeros((len(source.classes), self.design.lines))
        for cell, (label, scores) in enumerate(zip(source.classes, ranked.scores, strict=True)):
            sizes = np.bincount(scores.codes, scores.row_weights, len(scores.groups))
            total = sizes.astype(np.float64)
            each = ratio(auroc_influences(scores, label), total[scores.codes])
            influences[cell, scores.clusters[0].codes] = np.nan_to_num(each)
        return influences

    def _rows(self, model: int) -> Rows:
        return Rows(
            self.truth,
            None,
            y_score=self.scores[model],
            score_of=self.score_of,
            favorable=self.favorable,
            classes=None if self.score_of is None else self.labels,
            **self.design.columns,
        )
