"""Rows with scores, for fitting and evaluating frontiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._columns.codes import union
from evenhand._columns.encoding import check_lengths, classes, finite, floats, weights
from evenhand._data.areas import check_direction
from evenhand._data.dataframes import is_frame
from evenhand._data.distributions import distribution
from evenhand._data.groups import Groups, groups, show
from evenhand._data.probable import Probable
from evenhand._data.tasks import favorable_label, scored_label
from evenhand._errors import InputError
from evenhand._kinds import check_labels
from evenhand.mitigation.optimal.worst import MOST_CELLS, Proxy, check_assuming

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

OURS = 0xE7E2
LARGEST = 1e100  # of an amount or cost: they are multiplied and added up
LARGEST_SCORE = (
    1e15  # a rule reads 1 − s as well as s; beyond this they are no longer distinct numbers
)


@dataclass(frozen=True, eq=False)
class Rows:
    """Class probabilities, true classes and groups of rows.

    Of two classes the favorable one is the second, and its score need not be a probability, as
    long as higher is better. `truth` is None where it is unknown. With `group_proba`, the
    probability of each group by the features, rules do not know the group; `by_group` (rows,
    groups, classes) then holds scores that depend on the group, where they were recalibrated. The
    favorable class may have been `stated`, or is the default. Scores are `turned` where a
    single column was that of the other class, and `swapped` where the favorable class, which is the
    second here, was the first of the `given` columns. Where groups are `unknown`, all there is are
    their probabilities; rules then go by the cells of the `proxy` if they are bounded in the worst
    case.
    """

    scores: Floats
    truth: Codes | None
    group: Codes
    weight: Floats
    classes: tuple[Label, ...]
    groups: tuple[Label, ...]
    favorable: int | None
    are_probabilities: bool
    columns: tuple[str, ...]
    group_proba: Floats | None = None
    by_group: Floats | None = None
    stated: bool = False
    turned: bool = False
    given: int = 1
    swapped: bool = False
    unknown: bool = False
    proxy: Proxy | None = None

    @property
    def features(self) -> Floats:
        """The features of rules: scores, or P(group, class | x) if they do not know the group."""
        is_joint = self.group_proba is not None and self.proxy is None
        return self.joint if is_joint else self.scores

    @property
    def joint(self) -> Floats:
        """P(group, class | x), the classes of one group side by side."""
        assert self.group_proba is not None
        scores = self.scores[:, None, :] if self.by_group is None else self.by_group
        joint = self.group_proba[:, :, None] * scores
        return np.ascontiguousarray(joint.reshape(len(self.scores), -1))

    @property
    def known(self) -> Codes | None:
        """The groups that rules know, or the cells of the proxy."""
        if self.proxy is not None:
            return self.proxy.codes
        return self.group if self.group_proba is None else None

    @property
    def sizes(self) -> Floats:
        """The weight of every group, as far as known."""
        if self.unknown:
            assert self.group_proba is not None
            return np.asarray(self.weight @ self.group_proba)
        return np.bincount(self.group, self.weight, len(self.groups)).astype(np.float64)

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes."""
        return len(self.classes) == 2

    @property
    def onehot(self) -> Floats:
        """The true classes as probabilities, 0 or 1."""
        if self.truth is None:
            return self.scores
        return np.asarray(np.eye(len(self.classes))[self.truth])

    def take(self, rows: NDArray[Any]) -> Rows:
        """Some of the rows."""
        truth = None if self.truth is None else self.truth[rows]
        proxy = self.proxy
        return replace(
            self,
            scores=self.scores[rows],
            truth=truth,
            group=self.group[rows],
            weight=self.weight[rows],
            group_proba=None if self.group_proba is None else self.group_proba[rows],
            by_group=None if self.by_group is None else self.by_group[rows],
            proxy=None if proxy is None else replace(proxy, codes=proxy.codes[rows]),
        )

    def confusion(self, chances: Floats) -> Floats:
        """Expected decisions (groups, true class, decision) as shares of the rows."""
        truth, count = self.onehot * self.weight[:, None], len(self.classes)
        if self.unknown:
            assert self.group_proba is not None
            joint = (self.group_proba[:, :, None] * truth[:, None, :]).reshape(len(truth), -1)
            table = joint.T @ chances
            return np.asarray(table.reshape(-1, count, count) / self.weight.sum())
        table = np.stack(
            [
                np.bincount(self.group, truth[:, k] * chances[:, y], len(self.groups))
                for k in range(count)
                for y in range(count)
            ],
            axis=1,
        )
        return np.asarray(table.reshape(-1, count, count) / self.weight.sum())


def stream(random_state: int, which: int) -> np.random.Generator:
    """Random numbers of our own, independent of data generated with the same seed."""
    return np.random.default_rng([OURS, which, random_state])


def read_rows(
    y_true: Any,
    y_score: Any,
    sensitive_features: Any,
    *,
    sample_weight: Any = None,
    labels: Sequence[Label] | None = None,
    favorable: Label = None,
    score_of: Label = None,
    group_proba: Any = None,
    like: Rows | None = None,
) -> Rows:
    """Validated rows; with the classes and groups of `like`, if given."""
    matrix, proxy = None, None
    if isinstance(sensitive_features, Probable):
        membership, matrix, proxy = _probable(sensitive_features, group_proba, like)
        group_proba = matrix
    else:
        membership = groups(sensitive_features)
    scores = _scores(y_score)
    truth = None if y_true is None else classes(y_true, "y_true")
    weight = weights(sample_weight)
    check_lengths(
        y_true=truth, y_score=scores, sensitive_features=membership.codes, sample_weight=weight
    )
    if like is not None:
        class_labels, best, group_labels = like.classes, like.favorable, like.groups
        code = (
            places_of(membership, group_labels)
            if matrix is None
            else membership.codes.astype(np.intp)
        )
    else:
        class_labels, best = _classes(truth, scores, labels, favorable)
        code, group_labels = np.asarray(membership.codes, dtype=np.intp), tuple(membership.labels)
        if matrix is None:
            check_none_dropped(membership)
    single, turned = scores.shape[1] == 1, False
    if single:
        if len(class_labels) != 2:
            raise InputError(
                f"y_score is one column, and there are {len(class_labels)} classes: give the "
                "probability of each, a column for every class in the order of their labels."
            )
        turned = (
            like.turned if like is not None else _is_turned(class_labels, best, favorable, score_of)
        )
        score = scores[:, 0]
        if like is None and truth is not None and score_of is None:
            ordered = distribution(
                score, sensitive_features=membership, y_true=truth, sample_weight=weight
            )
            check_direction(ordered, scored_label(class_labels, favorable=favorable))
        if turned:  # of probabilities one minus them, of other scores minus them
            inside = bool(score.min() >= 0 and score.max() <= 1)
            is_share = inside if like is None else like.are_probabilities
            score = (1.0 if is_share else 0.0) - score
        scores = np.column_stack([1 - score, score])
    elif scores.shape[1] != len(class_labels):
        raise InputError(
            f"y_score has {scores.shape[1]} columns, and there are {len(class_labels)} classes: "
            f"{[show(label) for label in class_labels]}."
        )
    swapped = like.swapped if like is not None else len(class_labels) == 2 and best == 0
    if like is None and swapped:  # the favorable class is the second
        class_labels, best = class_labels[::-1], 1
    if swapped and not single:
        scores = scores[:, ::-1]
    if like is not None and swapped and single and like.given > 1:
        raise InputError(
            f"The rules were fitted to two columns of scores, of {show(class_labels[1])} and "
            f"{show(class_labels[0])}, and y_score is one: of which is not known. Pass both."
        )
    codes = None if truth is None else _truth_codes(truth, class_labels)
    inside = bool((scores >= 0).all() and (np.abs(scores.sum(axis=1) - 1) < 1e-6).all())
    if len(class_labels) > 2 and not inside:
        raise InputError(
            "With more than two classes y_score must be probabilities: from 0 to 1, and of a row "
            "adding up to 1."
        )
    if like is not None and like.are_probabilities and not inside:
        strange = scores[:, -1][(scores[:, -1] < 0) | (scores[:, -1] > 1)]
        problem = f"and {strange[0]:g} is none" if len(strange) else "which add up to 1"
        raise InputError(
            f"The rules were fitted to scores from 0 to 1, {problem}: they decide no others."
        )
    return Rows(
        np.ascontiguousarray(scores),
        codes,
        code,
        np.ones(len(scores)) if weight is None else weight,
        tuple(class_labels),
        group_labels,
        best,
        inside,
        like.columns if like is not None else tuple(map(str, membership.names)),
        _group_probabilities(group_proba, len(scores), len(group_labels)),
        stated=like.stated if like is not None else favorable is not None,
        turned=turned,
        given=scores.shape[1] if not single else 1,
        swapped=swapped,
        unknown=matrix is not None,
        proxy=proxy,
    )


def _probable(
    sensitive: Probable, group_proba: Any, like: Rows | None
) -> tuple[Groups, Floats, Proxy | None]:
    """Groups with known probabilities; and the cells of rules for the worst case.

    The code of a row's group is out of range, so that nothing can count by it.
    """
    if group_proba is not None:
        raise InputError("sensitive_features are probable already: leave out group_proba.")
    check_assuming(sensitive.assuming)
    matrix = sensitive.by_row()
    if like is not None:
        if set(sensitive.groups) != set(like.groups):
            raise InputError(
                f"The probabilities are of the groups {[*map(show, sensitive.groups)]}, and the "
                f"rules were fitted to {[*map(show, like.groups)]}."
            )
        matrix = matrix[:, [sensitive.groups.index(label) for label in like.groups]]
    proxy = None
    if like is None and sensitive.assuming is None:
        proxy = Proxy.of(matrix, np.unique(sensitive.cells(MOST_CELLS).mixing, axis=0))
    elif like is not None and like.proxy is not None:
        proxy = Proxy.of(matrix, like.proxy.centers)
    nobody = np.full(len(matrix), len(sensitive.groups))
    labels = sensitive.groups if like is None else like.groups
    return Groups(nobody, labels, ("group",)), matrix, proxy


def _is_turned(
    classes: Sequence[Label], best: int | None, favorable: Label, score_of: Label
) -> bool:
    """Whether a single column of scores is that of the class that is not favorable."""
    assert best is not None
    return scored_label(classes, score_of, favorable) != classes[best]


def check_none_dropped(whom: Groups) -> None:
    """Refuse dropped groups: their rows would have no decision."""
    if (whom.codes >= len(whom.labels)).any():
        raise InputError("Rows of rare groups were left out: merge them instead of dropping.")


def check_everyone(group: Codes, labels: Sequence[Label]) -> None:
    """Refuse groups whose rows all have weight 0; those of `group` have some."""
    absent = np.setdiff1d(np.arange(len(labels)), group)
    if len(absent):
        raise InputError(
            f"All rows of group {show(labels[absent[0]])} have weight 0: leave them out."
        )


def _group_probabilities(probabilities: Any, rows: int, groups: int) -> Floats | None:
    if probabilities is None:
        return None
    table = floats(probabilities, "group_proba")
    are_shares = table.shape == (rows, groups) and (table >= 0).all()
    if not are_shares or not np.allclose(table.sum(axis=1), 1, atol=1e-6):
        raise InputError(
            f"group_proba must hold the probability of each of {groups} groups in {rows} rows, "
            f"adding up to 1, in the order of the groups' labels; its shape is {table.shape}."
        )
    return table


def _scores(y_score: Any) -> Floats:
    """Numbers (rows, columns)."""
    if y_score is None:
        raise InputError("Pass y_score: a frontier is made of rules on scores.")
    is_table = getattr(y_score, "ndim", None) == 2 or is_frame(y_score) or _is_nested(y_score)
    table = floats(y_score, "y_score") if is_table else finite(y_score, "y_score")[:, None]
    if table.ndim != 2 or not np.isfinite(table).all():
        raise InputError("y_score holds values that are not finite numbers.")
    if np.abs(table).max(initial=0) > LARGEST_SCORE:
        raise InputError(
            f"y_score holds numbers beyond {LARGEST_SCORE:g}, where cuts between them are lost; "
            "order is all that matters: scale them."
        )
    return table


def _classes(
    truth: Any, scores: Floats, labels: Sequence[Label] | None, favorable: Label
) -> tuple[tuple[Label, ...], int | None]:
    if labels is not None:
        names = _distinct(labels)
    elif truth is not None:
        names = union(truth.labels)
    else:
        names = tuple(range(max(scores.shape[1], 2)))
    if len(names) < 2:
        raise InputError(f"There is one class in y_true, {names}; name all of them by classes=.")
    best = favorable_label(names, favorable, required=len(names) == 2)
    return names, None if best is None else names.index(best)


def _distinct(labels: Sequence[Label]) -> tuple[Label, ...]:
    names = tuple(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    for label in names:
        check_labels(classes=label)
        if label is None or names.count(label) > 1:
            raise InputError(f"classes names every class once; {label!r} cannot stand in {names}.")
    return names


def _is_nested(values: Any) -> bool:
    """Whether a list holds rows."""
    return isinstance(values, list | tuple) and bool(values) and np.ndim(values[0]) == 1


def _truth_codes(truth: Any, names: Sequence[Label]) -> Codes:
    strange = [label for label in truth.labels if label not in names]
    if strange:
        raise InputError(f"y_true holds {strange[:5]}, which are none of the classes {names}.")
    places = np.array([names.index(label) for label in truth.labels], dtype=np.intp)
    return np.asarray(places[truth.codes])


def places_of(membership: Groups, labels: Sequence[Label]) -> Codes:
    """The place of each row's group among `labels`."""
    strange = [label for label in membership.labels if label not in labels]
    if strange:
        raise InputError(
            f"Group {show(strange[0])} is not among those that the frontier was traced on."
        )
    places = np.array([labels.index(label) for label in membership.labels], dtype=np.intp)
    return np.asarray(places[membership.codes])
