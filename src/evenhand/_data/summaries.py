"""The kinds of summary that statistics read, and how to compute each from columns.

A statistic names the kind it `needs`; all that differs between kinds is here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.codes import Column, Label, union
from evenhand._columns.encoding import check_lengths, check_order, classes, finite, floats
from evenhand._data.areas import RankedScores, check_direction
from evenhand._data.counting import count, moments, tally_columns
from evenhand._data.distributions import Distribution, distribution
from evenhand._data.groups import groups
from evenhand._data.places import Discount
from evenhand._data.rankings import ranking
from evenhand._data.tallies import Tally
from evenhand._data.tasks import favorable_label, scored_label, unseen_label
from evenhand._errors import InputError

Source = Tally | Distribution | RankedScores
SCORE_BINS = tuple(np.linspace(0, 1, 11).round(1).tolist())


@dataclass(frozen=True, eq=False)
class Rows:
    """The caller's columns, not yet counted.

    Parameters
    ----------
    y_true, y_pred : array-like or None
        True and predicted labels or values.
    sensitive_features : array-like or dataframe
        The column or columns that name the groups, or what `groups` made of them.
    sample_weight : array-like, optional
        Weights of the rows.
    y_score : array-like, optional
        Scores: one column, or one for each class.
    strata : array-like or dataframe, optional
        Within which groups are compared.
    cluster : array-like or dataframe, optional
        Which rows go together.
    loss : callable, optional
        A function (y_true, y_pred) that gives a loss for each row.
    favorable : label, optional
        The label of the better outcome, where it was named.
    classes : sequence of labels, optional
        Labels of the columns of `y_score`.
    score_of : label, optional
        Of which label a single column of scores is the score.
    query : array-like or dataframe, optional
        Which list each row is in, of a ranking.
    exposure : array-like, optional
        The attention that each row had, in a ranking.
    discount : str, float or sequence of float, default "log"
        The attention that a place in a list gets.
    top_k : int, optional
        How many first places count.

    Examples
    --------
    >>> rows = Rows([1, 0], [1, 1], ["a", "b"])
    >>> KINDS["labels"].summarize(rows)
    <Tally of 2 rows in 2 cells (y: 2, yhat: 2, group: 2)>

    """

    y_true: Any
    y_pred: Any
    sensitive_features: Any = None
    sample_weight: Any = None
    y_score: Any = None
    strata: Any = None
    cluster: Any = None
    loss: Callable[[Any, Any], Any] | None = None
    favorable: Label = None
    classes: Sequence[Label] | None = None
    score_of: Label = None
    query: Any = None
    exposure: Any = None
    discount: Discount = "log"
    top_k: int | None = None

    def __post_init__(self) -> None:
        if self.sensitive_features is None:
            raise InputError("Pass sensitive_features: the column or columns that name the groups.")
        check_order(
            y_true=self.y_true,
            y_pred=self.y_pred,
            y_score=self.y_score,
            sensitive_features=self.sensitive_features,
            sample_weight=self.sample_weight,
            strata=self.strata,
            cluster=self.cluster,
            query=self.query,
            exposure=self.exposure,
        )

    def require(self, name: str, why: str) -> Any:
        """A column, refusing None.

        Parameters
        ----------
        name : str
            The column's name.
        why : str
            What it holds, for the error.

        Returns
        -------
        array-like
            The column.

        Raises
        ------
        InputError
            If the column was not given.

        """
        value = getattr(self, name)
        if value is None:
            raise InputError(f"This criterion needs {name}: {why}.")
        return value


class Kind:
    """A kind of summary of the rows; a statistic names the one it `needs`.

    A kind of your own is a subclass, put into `KINDS` under a name.

    Attributes
    ----------
    summary : type
        The class of the summary: a Tally, a Distribution or RankedScores.
    about : {"labels", "strata", "numbers", "scores", "lists"}
        What is predicted, or what else is looked at.
    columns : str
        The columns it is made of, in words.
    hint : str
        What to pass where it is lacking, in words.
    is_sparse : bool
        Whether it is usual that some groups have no rows in some cells.

    """

    summary: type[Source] = Tally
    about: Literal["labels", "strata", "numbers", "scores", "lists"]
    columns: str
    hint: str
    is_sparse = False

    def lacking(self, sums: Collection[str]) -> str:
        """Hint what to pass where the summary lacks some of these sums.

        Parameters
        ----------
        sums : collection of str
            Those that a statistic reads.

        Returns
        -------
        str
            The column or option.

        """
        return "y_true" if sums else self.hint

    @property
    def is_swept(self) -> bool:
        """Whether its statistics sweep all cut points, rather than read cells."""
        return self.summary is Distribution

    @property
    def counts_decisions(self) -> bool:
        """Whether predicted labels are counted, alone or with something else."""
        return self.about in ("labels", "strata")

    def summarize(self, rows: Rows) -> Source:
        """Count, add up or order the rows.

        Parameters
        ----------
        rows : Rows
            The caller's columns.

        Returns
        -------
        Tally, Distribution or RankedScores
            The summary.

        """
        raise NotImplementedError


def summarize(needs: str, rows: Rows) -> Source:
    """Summarize the rows as a statistic needs them.

    Parameters
    ----------
    needs : str
        The kind of summary, a name in `KINDS`.
    rows : Rows
        The caller's columns.

    Returns
    -------
    Tally, Distribution or RankedScores
        The summary.

    Examples
    --------
    >>> summarize("steps", Rows(None, [0.4, 0.1], ["a", "b"])).values
    array([0.1, 0.4])

    """
    return KINDS[needs].summarize(rows)


@overload
def with_favorable(source: Tally, favorable: Label) -> Tally: ...


@overload
def with_favorable(source: Source, favorable: Label) -> Source: ...


def with_favorable(source: Source, favorable: Label) -> Source:
    """The same summary, with the favorable label as a class even if no row has it.

    Parameters
    ----------
    source : Tally, Distribution or RankedScores
        The summary.
    favorable : label
        The favorable label that the caller named, or None.

    Returns
    -------
    Tally, Distribution or RankedScores
        If nobody was selected, the counts have an empty class.

    """
    if favorable is None or not isinstance(source, Tally):
        return source
    labels = next((axis.labels for axis in source.axes if axis.name == "yhat"), ())
    label = unseen_label(labels, favorable)
    return source if label is None else source.with_classes([label])


class Predictions(Kind):
    """Counts by predicted label; the truth only adds classes that were never predicted."""

    about, columns, hint = "labels", "predicted labels", "labels to predict"

    def summarize(self, rows: Rows) -> Tally:
        """Summarize the rows in this way."""
        y_pred = rows.require("y_pred", "the predicted labels")
        return tally_columns(rows.y_true, y_pred, **_common(rows))


class Labels(Kind):
    """Counts by true and predicted label."""

    about, columns, hint = "labels", "true and predicted labels", "y_true"

    def summarize(self, rows: Rows) -> Tally:
        """Summarize the rows in this way."""
        y_true = rows.require("y_true", "the true labels")
        y_pred = rows.require("y_pred", "the predicted labels")
        return tally_columns(y_true, y_pred, **_common(rows))


class Strata(Kind):
    """Counts by stratum and predicted label."""

    about, columns, hint = "strata", "predicted labels and strata", "strata"
    is_sparse = True

    def summarize(self, rows: Rows) -> Tally:
        """Summarize the rows in this way."""
        strata = rows.require("strata", "the column within which groups are compared")
        y_pred = rows.require("y_pred", "the predicted labels")
        return tally_columns(None, y_pred, strata=strata, **_common(rows))


class Moments(Kind):
    """Sums of the predicted values and, if there is a truth, of true values and errors."""

    about, columns, hint = "numbers", "true and predicted values", "numbers to predict"

    def summarize(self, rows: Rows) -> Tally:
        """Summarize the rows in this way."""
        y_pred = rows.require("y_pred", "the predicted values")
        return moments(rows.y_true, y_pred, **_common(rows))


class Steps(Kind):
    """The distribution of the scores, or else of the predicted values."""

    summary = Distribution
    about, columns, hint = "numbers", "predicted values", "y_score"

    def summarize(self, rows: Rows) -> Distribution:
        """Summarize the rows in this way."""
        scores = rows.y_score if np.ndim(rows.y_score) == 1 else None
        if scores is None:
            scores = rows.require("y_pred", "the predicted values")
        return distribution(scores, **_common(rows))


class Losses(Kind):
    """Sums of a loss of each row: the cross-entropy of its scores, or the caller's own."""

    about, columns, hint = "scores", "true labels and y_score", "y_score with probabilities"

    def summarize(self, rows: Rows) -> Tally:
        """Summarize the rows in this way."""
        if rows.loss is not None:
            name, loss = "loss", finite(rows.loss(rows.y_true, rows.y_pred), "the loss")
        else:
            name, loss = "cross_entropy", _cross_entropy(_scored(rows))
        sums = {name: loss, f"{name}²": loss * loss}
        group = groups(rows.sensitive_features)
        weighed = {"sample_weight": rows.sample_weight, "cluster": rows.cluster}
        return count({}, group, sums=sums, **weighed)


class Bins(Kind):
    """Rows, hits and sums of the score of one class in bins of that score."""

    about, columns = "scores", "true labels and y_score"
    hint = "y_score with probabilities of two classes"
    is_sparse = True

    def lacking(self, sums: Collection[str]) -> str:  # noqa: ARG002
        """Hint what to pass where the summary lacks some of these sums."""
        return "scores that are not in bins"

    def summarize(self, rows: Rows) -> Tally:
        """Summarize the rows in this way."""
        scored = _scored(rows)
        if scored.columns.shape[1] != 2:
            raise InputError(
                f"Calibration is about one class; y_score has {scored.columns.shape[1]} columns. "
                "Pass y_true == label and the score of that label."
            )
        score = _probabilities(scored.columns)[:, scored.good]
        codes = score_bins(1 - score, turned=True) if scored.is_turned else score_bins(score)
        hits = (scored.truth.codes == scored.good).astype(np.float64)
        return count(
            {"bin": Column(codes, SCORE_BINS)},
            groups(rows.sensitive_features),
            sample_weight=rows.sample_weight,
            sums={"hits": hits, "score": score},
            edges={"bin": SCORE_BINS},
            cluster=rows.cluster,
        )


class Ranks(Kind):
    """The distribution of the score of each class, with the true labels."""

    summary = RankedScores
    about, columns, hint = "scores", "true labels and y_score", "y_score"

    def summarize(self, rows: Rows) -> RankedScores:
        """Summarize the rows in this way."""
        scored = _scored(rows)
        labels = scored.truth.labels
        which = [scored.good] if len(labels) == 2 else range(len(labels))
        return RankedScores(tuple(labels[k] for k in which), tuple(map(scored.ordered, which)))


class Lists(Kind):
    """Sums over ranked rows: exposure, first places, pairs won."""

    about, columns, hint = "lists", "places in lists (query)", "query=, the list of each row"

    def lacking(self, sums: Collection[str]) -> str:
        """Hint what to pass where the summary lacks some of these sums."""
        return "top_k=, a number of places" if "top" in sums else "y_true, the relevance of rows"

    def summarize(self, rows: Rows) -> Tally:
        """Summarize the rows in this way."""
        return ranking(
            rows.y_true,
            rows.y_pred,
            groups(rows.sensitive_features),
            query=rows.require("query", "the list that each row is in"),
            score=rows.y_score,
            exposure=rows.exposure,
            discount=rows.discount,
            top_k=rows.top_k,
            sample_weight=rows.sample_weight,
            cluster=rows.cluster,
        )


def _common(rows: Rows) -> dict[str, Any]:
    names = ("sensitive_features", "sample_weight", "cluster")
    return {name: getattr(rows, name) for name in names}


@dataclass(frozen=True, eq=False)
class _Scored:
    """Truth and a score for every class; of two, `good` is the one of interest.

    A single column is the score of the second label. Where the first is of interest, its score
    `is_turned`: derived from the column, with the same ties and cuts.
    """

    rows: Rows
    truth: Column
    columns: NDArray[np.float64]
    good: int
    is_single: bool

    @property
    def is_turned(self) -> bool:
        return self.is_single and self.good == 0

    def ordered(self, k: int) -> Distribution:
        """The distribution of the score of a class."""
        column = 1 if self.is_turned else k
        scores = distribution(self.columns[:, column], y_true=self.truth, **_common(self.rows))
        return scores.turned if self.is_turned else scores


def _scored(rows: Rows) -> _Scored:
    """Truth and a score for every class; a single column is the score of one of two classes."""
    observed = classes(rows.require("y_true", "the true labels"), "y_true")
    scores = _matrix(rows.require("y_score", "a score or probability for each row"))
    check_lengths(y_true=observed, y_score=scores)
    labels = union(rows.classes) if rows.classes is not None else observed.labels
    single = scores.shape[1] == 1
    if len(labels) == 1 and scores.shape[1] <= 2:
        labels = _both_labels(labels[0], rows, single=single)
    score_label = scored_label(labels, rows.score_of, rows.favorable) if single else None
    if single:
        scores = np.column_stack([1 - scores, scores])
    if score_label is not None and len(labels) == 2:
        labels = (*(label for label in labels if label != score_label), score_label)
    if len(labels) != scores.shape[1] or not set(observed.labels) <= set(labels):
        shape = "one column" if single else f"{scores.shape[1]} columns"
        way_out = "Pass classes=, the labels of the columns in sorted order."
        if single:
            several = len(labels) > 2
            way_out = f"Pass {'a column for each' if several else 'classes=, both labels'}."
        raise InputError(
            f"y_score has {shape}, but y_true takes {list(observed.labels)}. {way_out}"
        )
    place = np.array([labels.index(label) for label in observed.labels], dtype=np.uint32)
    good = len(labels) - 1
    if rows.favorable is not None:
        good = labels.index(favorable_label(labels, rows.favorable))
    scored = _Scored(rows, Column(place[observed.codes], labels), scores, good, single)
    if single and rows.score_of is None:
        check_direction(scored.ordered(1), score_label)
    return scored


def _both_labels(only: Label, rows: Rows, *, single: bool) -> tuple[Label, ...]:
    """The only label in the truth and the other one: as named, or from 0 and 1.

    If the only label is the named one, the other gets a placeholder next to a single score:
    no statistic that compares both has a value.
    """
    named = [label for label in (rows.favorable, rows.score_of) if label is not None]
    others = [label for label in named if str(label) != str(only)]
    if only in (0, 1) and (not others or str(others[0]) in ("0", "1")):
        return (0, 1)
    if single and named and not others and isinstance(only, str):
        others = [f"not {only}"]
    return union([only, *others[:1]])


def score_bins(score: NDArray[np.float64], *, turned: bool = False) -> NDArray[np.uint8]:
    """The tenth of each probability; `turned`, of one minus it, exact at the edges.

    >>> score_bins(np.array([0.1, 0.9])), score_bins(np.array([0.1, 0.9]), turned=True)
    (array([1, 9], dtype=uint8), array([9, 1], dtype=uint8))
    """
    inner = np.array(SCORE_BINS[1:-1])
    if turned:
        return (len(inner) - np.searchsorted(inner, score, side="left")).astype(np.uint8)
    return np.searchsorted(inner, score, side="right").astype(np.uint8)


def _matrix(y_score: Any) -> NDArray[np.float64]:
    scores = y_score if getattr(y_score, "ndim", 1) == 2 else finite(y_score, "y_score")[:, None]
    scores = floats(scores, "y_score")
    if not np.isfinite(scores).all():
        raise InputError("y_score has values that are not finite; drop or fill those rows.")
    return scores


def _probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    if scores.min() < 0 or scores.max() > 1:
        raise InputError(
            f"Probabilities lie in [0, 1]; y_score runs from {scores.min():g} to {scores.max():g}. "
            "Pass predict_proba, not decision_function."
        )
    return scores


def _cross_entropy(scored: _Scored) -> NDArray[np.float64]:
    codes = scored.truth.codes
    probability = _probabilities(scored.columns)[np.arange(len(codes)), codes]
    return -np.log(np.maximum(probability, np.finfo(np.float64).eps))


KINDS: dict[str, Kind] = {
    "predictions": Predictions(),
    "labels": Labels(),
    "strata": Strata(),
    "moments": Moments(),
    "losses": Losses(),
    "bins": Bins(),
    "ranks": Ranks(),
    "steps": Steps(),
    "lists": Lists(),
}
