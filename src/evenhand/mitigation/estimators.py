"""What all methods share: a base model, groups read from columns of X, and random decisions."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from inspect import isabstract
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from evenhand._columns.encoding import check_order, finite
from evenhand._data.dataframes import is_frame
from evenhand._data.groups import show
from evenhand._data.probable import Probable
from evenhand._data.tasks import favorable_label
from evenhand._errors import InputError, InputTypeError, UnboundWarning, refusing
from evenhand._seeds import seed_of
from evenhand._signatures import suggests_names
from evenhand._words import number
from evenhand.criteria.catalogue import ALIASES
from evenhand.measures import MeasureLike, resolve
from evenhand.mitigation._fields import Fields, RowId, Unseen
from evenhand.mitigation._lots import ONE_BY_ONE, drawn, lots, tied
from evenhand.mitigation._sklearn import checked_target, checked_weight, rows_of
from evenhand.mitigation.base_models import class_probabilities, fit_underlying
from evenhand.mitigation.deploy import Grouping
from evenhand.mitigation.groups import Bins, Sensitive

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Quantity = Literal["classes", "groups"]
Stage = Literal["pre", "in", "post"]

PACKAGE = __name__.rpartition(".")[0]
ABOUT_TEXT = re.compile("string|dtype")  # in a model's refusal
LEAST_EXCESS = 1e-3  # over a bound, that is worth a note


@dataclass(frozen=True, eq=False)
class Rows:
    """The fitting rows: X as given, y (classes by number), and the number of each row's group.

    `sample_weight` is None where none was given; `weight` is then 1 in every row.
    """

    X: Any
    y: NDArray[Any]
    group: Codes
    sample_weight: Floats | None

    @property
    def weight(self) -> Floats:
        """The weight of each row."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight


def _draws(estimator: Any) -> bool:
    """Whether an estimator decides at random, or can be set to."""
    return "row_id" in estimator.get_params(deep=False)


class GroupReader(MetaEstimatorMixin, Fields):  # type: ignore[misc]
    """An estimator whose X holds the group columns, of which the base model may see none.

    A method says in `criteria` what it can make equal, in `stage` whether it works on the data, on
    the fit of the model or on its scores, in `hyperparameter` what trades performance for parity;
    and by `_reads_group` whether `predict` looks at the group, by `_weighs` whether the base model
    must take weights, by `_extra` which extra of evenhand it takes to fit.

    Parameters
    ----------
    estimator : estimator, default None
        The base model, fitted by the method; None is logistic regression, or least squares for a
        regression.
    group : str, int, list of these or Probable, default None
        The column or columns of X that name the group (positions where X is an array); it must be
        given. Several columns make a group of each observed combination. A few methods take
        probabilities of groups, see `RuleClassifier`.
    bins : int or dict, default None
        Into how many quantile bins numeric group columns are cut, all or by column, as in
        `evenhand.groups`; None takes every value for a group of its own.
    sees_group : bool, default True
        Whether the base model sees the group columns too.
    prefit : bool, default False
        Whether the estimator is already fitted (on the columns it is meant to see), and used as it
        is.
    unseen : {"error", "base"}, default "error"
        How a row is treated whose group was not seen at fit: an error, or the base prediction.
    draw : bool, default True
        Where a method decides at random: whether `predict` draws, or takes the likeliest answer.
    row_id : str, int, list of these, "index" or None, default None
        Whose lot it is, where `predict` draws: the column or columns of X that name the person,
        which no model sees, or the index of a dataframe. None goes by the row's own values, those
        that the decision reads: rows of one call that agree in all of them have lots of their own,
        but share one where they are served one by one.
    random_state : int, Generator, RandomState or None, default None
        The key of the lots (see `lots`); for anything but an int, it is drawn at fit.

    Attributes
    ----------
    sensitive_ : Sensitive
        The groups seen at fit, `sensitive_.labels`, and how to find a row's group.
    notes_ : tuple of str
        In words, what could not be required or reached on the fitting rows, and a bound that
        changes nothing there.
    key_ : int
        The key of the lots: `random_state` where it is an int, or what was drawn at fit.

    """

    criteria: ClassVar[tuple[str, ...]] = ()
    stage: ClassVar[Stage] = "post"
    hyperparameter: ClassVar[str | None] = "epsilon"
    _reads_group: ClassVar[bool] = True
    _weighs: ClassVar[bool] = False
    _extra: ClassVar[str | None] = None
    _takes_probable: ClassVar[bool] = False
    estimator: Any = field(default=None, kw_only=False)
    group: Any = None
    bins: Bins = None
    sees_group: bool = True
    prefit: bool = False
    unseen: Unseen = "error"
    draw: bool = True
    row_id: RowId | None = None
    random_state: Any = None
    sensitive_: Sensitive = field(init=False)
    notes_: tuple[str, ...] = field(init=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def key_(self) -> int:
        """The key of the lots."""
        given = self.random_state
        return int(given) if isinstance(given, int | np.integer) else self._key

    @suggests_names
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the groups, the base model, and the method's own rule.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            The features, with the group columns among them.
        y : array-like of shape (n_rows,)
            The true classes, or values.
        sample_weight : array-like of shape (n_rows,), default None
            The weight of each row; those of weight 0 are not there.

        Returns
        -------
        estimator
            This estimator, fitted.

        """
        check_order(X=X, y=y, sample_weight=sample_weight)
        rows = self._read(X, y, sample_weight)
        with self._telling_text(rows.X):
            self._fit(rows)
        self._tell_shared(rows)
        return self

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """The fitting rows, checked; learns groups, and classes if there are any."""

    @abstractmethod
    def _fit(self, rows: Rows) -> None:
        """Learn from the rows; `sensitive_`, `notes_` and `classes_` are there already."""

    @abstractmethod
    def _tell_shared(self, rows: Rows) -> None:
        """Note how the bound changes where people who agree share a lot."""

    @available_if(_draws)  # type: ignore[untyped-decorator]
    def lots(self, X: Any) -> Floats:
        """The lot of each row, by which `predict` decides where chance does.

        It is `evenhand.mitigation.lots` of the row's id under `key_`, so that a decision can be
        checked later, and elsewhere.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The lots, from 0 up to, not including, 1.

        """
        check_is_fitted(self)
        return self._lots(self._checked(X, reset=False))

    def _lots(self, X: Any, purpose: str = "", only: Codes | None = None) -> Floats:
        """The lots of (only these) rows; for other purposes than `predict`, independent ones."""
        key = f"{self.key_}{purpose}"
        if self.row_id is None:  # equal rows are counted in all of X
            own = lots(self._ids(X), key=key, distinct=True)
            if len(own) == 1 and getattr(self, "_tied", False):
                warnings.warn(ONE_BY_ONE.format(ids="row_id="), UserWarning, stacklevel=3)
            return own if only is None else own[only]
        return lots(_some(self._ids(X), only), key=key)

    def _tell_ties(self, rows: Rows, by_lot: Codes, bounded: Callable[[Floats], Any]) -> None:
        """Note how far rows that agree break the bound where they are served one by one.

        `bounded` gives what the method bounds, where these rows have some lots, and the bound; or
        None, where it bounds nothing.
        """
        self._tied = 0
        if self.row_id is not None or not self.draw or not _draws(self):
            return
        shared = lots(_some(self._ids(rows.X), by_lot), key=self.key_)
        self._tied = int(tied(shared).sum())
        told = bounded(shared) if self._tied else None
        if told is None:
            return
        value, bound = told
        together = bounded(self._lots(rows.X, only=by_lot))[0]
        if value > max(bound, together) + LEAST_EXCESS:
            self.notes_ += (
                f"{self._tied:,} of {len(rows.y):,} fitting rows are decided at random and agree "
                "with another in all values, and no row_id= tells them apart. In one call each "
                "has a draw of its own; served one by one they share it, and what is bounded by "
                f"{number(bound)} becomes {number(value)}.",
            )

    def _ids(self, X: Any) -> Any:
        """What names each row: columns, the index, or the values that the decision reads."""
        if self.row_id is None:
            return X if self._asks_group() or self.sees_group else self._features(X)
        return self.sensitive_.ids(X)

    def _asks_group(self) -> bool:
        """Whether `predict` needs the group, with these parameters."""
        return self._reads_group

    def _checked(self, X: Any, reset: bool) -> Any:
        """X as scikit-learn wants it; a dataframe stays one.

        A method that does not read the group takes dataframes without it, where the base model
        does not see it either.
        """
        self._check_values()
        if not is_frame(X) and not reset and hasattr(self, "feature_names_in_"):
            self._refuse_nameless()
        with refusing("X cannot be read"):
            if not is_frame(X):
                return validate_data(
                    self,
                    X,
                    reset=reset,
                    accept_sparse=["csr", "csc"],
                    dtype=None,
                    ensure_all_finite=False,
                    ensure_min_samples=2 if reset else 1,
                )
            if reset or self._asks_group() or self.sees_group:
                validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _refuse_nameless(self) -> None:
        """An array has no column that could be found by its name."""
        group = [self.group] if isinstance(self.group, str | int) else self.group
        named = [name for name in group if isinstance(name, str)]
        if named:
            raise InputError(
                f"{type(self).__name__} was fitted on a dataframe, and finds the group by its "
                f"column {named[0]!r}, which an array does not have. Pass a dataframe."
            )

    def _rows(self, X: Any, y: NDArray[Any], sample_weight: Any) -> Rows:
        """The fitting rows without those of weight 0; learns the groups."""
        with refusing("X and y do not belong together"):
            check_consistent_length(X, y)
        if sample_weight is not None:
            sample_weight = checked_weight(sample_weight, X)
            there = np.flatnonzero(sample_weight)
            X, y, sample_weight = rows_of(X, there), y[there], sample_weight[there]
        self._key = key_of(self.random_state)
        if isinstance(self.group, Probable) and not self._takes_probable:
            others = able(GroupReader, lambda other: other._takes_probable)
            raise InputTypeError(
                f"{type(self).__name__} needs the group of every row; {', '.join(others)} can do "
                "with probabilities."
            )
        self.sensitive_, codes = Sensitive.read(X, self.group, self.bins, self.row_id)
        self.notes_ = ()
        return Rows(X, y, codes, sample_weight)

    def _features(self, X: Any) -> Any:
        """What the base model reads of X."""
        return self.sensitive_.features(X, self.sees_group)

    @contextmanager
    def _telling_text(self, X: Any) -> Iterator[None]:
        """Where a base model refuses text that it was shown, name the columns and the way out."""
        try:
            yield
        except (ValueError, TypeError) as failure:
            refusal = failure.__cause__ or failure
            shown = self.sensitive_.text(X, self.sees_group)
            is_about = isinstance(refusal, ValueError) and ABOUT_TEXT.search(str(refusal))
            if not shown or not is_about:
                raise
            ways = [self._way_to_encode(", ".join(map(repr, shown)))]
            if any(name in self.sensitive_.columns for name in shown):
                ways.insert(0, "pass sees_group=False, which keeps the group from the base model")
            raise InputError(
                f"X has text in {', '.join(map(repr, shown))}, which the base model cannot read "
                f"({refusal}): {', or '.join(ways)}."
            ) from failure

    def _way_to_encode(self, columns: str) -> str:
        """How a base model comes to read columns of text."""
        own = "LinearRegression()" if isinstance(self, RegressorMixin) else "LogisticRegression()"
        model = own if self.estimator is None else "your_estimator"
        return (
            "let it encode text: estimator=make_pipeline(make_column_transformer("
            f"(OneHotEncoder(), [{columns}]), remainder='passthrough'), {model})"
        )

    def _groups(self, X: Any) -> Codes:
        """The number of each row's group; −1 if unseen at fit, or if the method never asks."""
        if not self._asks_group():
            return np.full(X.shape[0], -1, np.intp)
        codes = self.sensitive_.codes(X)
        if self.unseen == "error" and (codes < 0).any():
            strangers = ", ".join(map(show, self.sensitive_.unseen(X)))
            seen = ", ".join(map(show, self.sensitive_.labels))
            raise InputError(
                f"X has groups that were not seen at fit: {strangers} (seen: {seen}). "
                'Fit with them, or pass unseen="base" to give them the base model\'s prediction.'
            )
        return codes

    def _tell_unbound(
        self, what: str, value: float, measure: MeasureLike = "mpd", bound: str = "epsilon"
    ) -> None:
        """Say that the bound changes nothing, which may be one in another unit than was meant.

        `what` is bounded, and `value` without the bound. Without a word to the caller where none
        can be missed: 1 and more bounds no rate.
        """
        most = float(getattr(self, bound))
        note = (
            f"{bound}={most:g} changes nothing: without it, {what} is {value:.3g} on the rows of "
            "the fit."
        )
        known = resolve(measure)
        if not known.is_width:
            note += (
                f" {bound} is a bound on {known.title}; for the largest difference "
                "between two groups, pass measure='mpd'."
            )
        self.notes_ += (note,)
        if value > 0 and most < 1:
            warnings.warn(note, UnboundWarning, stacklevel=2)

    @property
    def _asked(self) -> str:
        """The criterion by its own name, whatever the field or the paper calls it."""
        criterion: Any = self.criterion
        return ALIASES.get(criterion, criterion) if isinstance(criterion, str) else criterion

    def _require_criterion(self) -> str:
        """The criterion asked for, or an error that names those there are and who can meet it."""
        criterion = self._asked
        if criterion in self.criteria:
            return criterion
        others = able(GroupReader, lambda other: criterion in other.criteria)
        hint = f"; {', '.join(others)} can" if others else ""
        raise InputError(
            f"{type(self).__name__} cannot meet the criterion {criterion!r}, only "
            f"{', '.join(map(repr, self.criteria))}{hint}."
        )


class PathFitter(GroupReader, ABC):
    """A method that fits all values of its hyperparameter in one go."""

    def fit_path(
        self, X: Any, y: Any, grid: Iterable[float], sample_weight: Any = None
    ) -> Iterator[Self]:
        """Fitted copies for a grid of the hyperparameter; what they share is fitted once.

        Parameters
        ----------
        X, y : array-like
            As for `fit`.
        grid : iterable of float
            The values of the hyperparameter.
        sample_weight : array-like of shape (n_rows,), default None
            As for `fit`.

        Yields
        ------
        estimator
            For each value a fitted copy; this estimator stays as it is.

        """
        first = clone(self)
        rows = first._read(X, y, sample_weight)
        with first._telling_text(rows.X):
            yield from first._path(rows, grid)

    @abstractmethod
    def _path(self, rows: Rows, grid: Iterable[float]) -> Iterator[Self]:
        """Fitted copies of this estimator, which nobody else holds."""


class GroupClassifier(ClassifierMixin, GroupReader, ABC):  # type: ignore[misc]
    """The abstract parent of the classification methods; a method adds `_fit` and `_decide`.

    A method that takes two classes or two groups only says so in `_needs_two`; one that never
    looks at the group in `predict`, by `_reads_group`.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen at fit, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import GroupClassifier
    >>> class Impartial(GroupClassifier):
    ...     "Draws every class with its share of the fitting rows."
    ...
    ...     def _fit(self, rows):
    ...         self.shares_ = np.bincount(rows.y) / len(rows.y)
    ...
    ...     def _decide(self, X, group):
    ...         return np.tile(self.shares_, (len(X), 1))
    >>> X, y = np.array([[0, 2.0], [1, 3.0], [0, 5.0], [1, 8.0]]), ["no", "no", "no", "yes"]
    >>> Impartial(group=0).fit(X, y).predict_proba(X[:1])
    array([[0.75, 0.25]])

    """

    _needs_two: ClassVar[tuple[Quantity, ...]] = ()
    favorable: Any = field(default=None, init=False)
    classes_: NDArray[Any] = field(init=False)

    @abstractmethod
    def _decide(self, X: Any, group: Codes) -> Floats:
        """Probabilities of each class, for rows whose groups were all seen at fit."""

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class in the decision, which may be made at random.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            A column for each of `classes_`.

        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        group = self._groups(X)
        strangers = (group < 0) & self._asks_group()
        decided = self._decide(X, np.where(strangers, 0, group))
        if strangers.any():
            chosen = self._base_probabilities(X)[strangers].argmax(axis=1)
            decided = decided.copy()
            decided[strangers] = np.eye(len(self.classes_))[chosen]
        return decided

    def predict(self, X: Any) -> NDArray[Any]:
        """A class for each row: drawn from `predict_proba`, or its most probable one.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The classes.

        """
        probabilities = self.predict_proba(X)
        chosen = probabilities.argmax(axis=1)
        by_lot = np.flatnonzero(probabilities.max(axis=1) < 1)
        if self.draw and len(by_lot):
            lots_of = self._lots(self._checked(X, reset=False), only=by_lot)
            chosen[by_lot] = drawn(probabilities[by_lot], lots_of)
        return np.asarray(self.classes_[chosen])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = "classes" not in self._needs_two
        tags.classifier_tags.poor_score = True  # where groups differ, equal treatment has a price
        return tags

    def _tell_shared(self, rows: Rows) -> None:
        chances = self._decide(rows.X, rows.group)
        by_lot = np.flatnonzero(chances.max(axis=1) < 1)

        def bounded(lots: Floats) -> tuple[float, float] | None:
            decided = chances.copy()
            decided[by_lot] = np.eye(len(self.classes_))[drawn(chances[by_lot], lots)]
            return self._bounded(rows, decided)

        self._tell_ties(rows, by_lot, bounded)

    def _bounded(self, rows: Rows, decided: Floats) -> tuple[float, float] | None:  # noqa: ARG002
        """What the method bounds, of decisions on the fitting rows, and the bound."""
        return None

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        X = self._checked(X, reset=True)
        labels = checked_target(y, self)
        with refusing("y cannot be classified"):
            check_classification_targets(labels)
        rows = self._rows(X, labels, sample_weight)
        self.classes_, codes = np.unique(rows.y, return_inverse=True)
        self._refuse_unless_binary()
        return Rows(rows.X, codes, rows.group, rows.sample_weight)

    def _fit_base(self, rows: Rows) -> Any:
        """The fitted base model, kept as `estimator_`."""
        self.estimator_ = fit_underlying(
            self.estimator,
            self._features(rows.X),
            self.classes_[rows.y],
            rows.sample_weight,
            self.prefit,
        )
        return self.estimator_

    def _base_probabilities(self, X: Any) -> Floats:
        """The base model's probabilities, in the order of `classes_`."""
        return class_probabilities(self.estimator_, self._features(X), self.classes_)

    def _rule_names(self) -> dict[str, Any]:
        """What a rule calls its classes, and the groups where it asks for them."""
        names = {"classes": self.classes_.tolist()}
        if self._asks_group():
            seen = self.sensitive_
            names |= {"columns": seen.columns, "groups": seen.labels, "cuts": seen.cuts}
        return names

    def _favorable_place(self, matters: bool) -> int:
        """The place of the favorable label among two; asked for where it matters and is not told.

        Where it does not matter, nor is told, it is the last.
        """
        labels = self.classes_.tolist()
        label = favorable_label(labels, self.favorable, required=matters)
        return len(labels) - 1 if label is None else int(labels.index(label))

    def _refuse_unless_binary(self) -> None:
        """Refuse what `_needs_two` excludes, and name the methods that take it."""
        if len(self.classes_) < 2:
            raise InputError(f"y holds one class only ({self.classes_[0]}); two are needed.")
        there = {"classes": tuple(self.classes_), "groups": self.sensitive_.labels}
        scope = {"classes": "Only binary classification is", "groups": "Only two groups are"}
        for quantity in self._needs_two:
            if len(there[quantity]) > 2:
                listed = ", ".join(map(show, there[quantity][:6]))
                others = able(GroupClassifier, partial(_takes_any, quantity))
                raise InputError(
                    f"{scope[quantity]} supported by {type(self).__name__}, and there are "
                    f"{len(there[quantity])} {quantity} ({listed}): use one of "
                    f"{', '.join(others)}, which take any number."
                )


class GroupRegressor(RegressorMixin, GroupReader, ABC):  # type: ignore[misc]
    """The abstract parent of the regression methods; a method adds `_fit` and `_regress`.

    Rows of weight 0 are not there: a group that has no others was not seen.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import GroupRegressor
    >>> class Level(GroupRegressor):
    ...     "Predicts the mean of the fitting rows for everyone."
    ...
    ...     def _fit(self, rows):
    ...         self.mean_ = np.average(rows.y, weights=rows.sample_weight)
    ...
    ...     def _regress(self, X, group):
    ...         return np.full(len(X), self.mean_)
    >>> X = np.array([[0, 2.0], [1, 3.0], [0, 5.0], [1, 8.0]])
    >>> Level(group=0).fit(X, [1.0, 2.0, 3.0, 4.0]).predict(X[:2])
    array([2.5, 2.5])

    """

    @abstractmethod
    def _regress(self, X: Any, group: Codes) -> Floats:
        """A value for each row, whose groups were all seen at fit."""

    def predict(self, X: Any) -> Floats:
        """A value for each row.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_columns)
            Rows like those of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            The values.

        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        group = self._groups(X)
        strangers = (group < 0) & self._reads_group
        values = self._regress(X, np.where(strangers, 0, group))
        return np.where(strangers, self._base(X), values) if strangers.any() else values

    def _tell_shared(self, rows: Rows) -> None:
        everyone = np.arange(len(rows.y))
        self._tell_ties(rows, everyone, lambda lots: self._bounded(rows, lots))

    def _bounded(self, rows: Rows, lots: Floats) -> tuple[float, float] | None:  # noqa: ARG002
        """What the method bounds, where the fitting rows have these lots, and the bound."""
        return None

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        X = self._checked(X, reset=True)
        values = checked_target(y, self, numeric=True).astype(np.float64)
        return self._rows(X, values, sample_weight)

    def _fit_base(self, rows: Rows) -> Floats:
        """Fit the base model, kept as `estimator_`, and predict the fitting rows with it."""
        features = self._features(rows.X)
        self.estimator_ = fit_underlying(
            self.estimator, features, rows.y, rows.sample_weight, self.prefit, LinearRegression()
        )
        return self._base(rows.X)

    def _grouping(self) -> Grouping:
        """How a rule reads the group from columns."""
        seen = self.sensitive_
        return Grouping.of(seen.columns, seen.labels, seen.cuts)

    def _base(self, X: Any) -> Floats:
        """The base model's predictions."""
        return finite(np.ravel(self.estimator_.predict(self._features(X))), "the base prediction")


def able(parent: type[Any], can: Callable[[Any], bool]) -> list[str]:
    """The names of our estimators under a parent that can do something.

    They are found as its subclasses, so that no method needs to import another to name it.
    """
    return sorted(cls.__name__ for cls in _subclasses(parent) if can(cls))


def _subclasses(parent: type[Any]) -> Iterator[type[GroupReader]]:
    """The estimators of this package under a parent, but not those that are still abstract."""
    for cls in parent.__subclasses__():
        if cls.__module__.startswith(PACKAGE) and not isabstract(cls):
            yield cls
        yield from _subclasses(cls)


def _takes_any(quantity: Quantity, cls: type[GroupClassifier]) -> bool:
    """Whether a classifier takes any number of classes, or of groups."""
    return quantity not in cls._needs_two


def _some(ids: Any, only: Codes | None) -> Any:
    """Some of the ids, which may be an index."""
    if only is None:
        return ids
    return ids.take(only) if hasattr(ids, "to_flat_index") else rows_of(ids, only)


def draws_of(random_state: Any) -> np.random.RandomState:
    """What scikit-learn draws with, from a seed, a NumPy generator of either kind, or None."""
    if isinstance(random_state, np.random.Generator):
        random_state = seed_of(random_state)
    generator: np.random.RandomState = check_random_state(random_state)
    return generator


def key_of(random_state: Any) -> int:
    """A whole number as it is; from a generator, or NumPy's own for None, one is drawn."""
    if isinstance(random_state, int | np.integer):
        return seed_of(random_state)
    return int(draws_of(random_state).randint(np.iinfo(np.int64).max, dtype=np.int64))


def shares(group: Codes, weight: Floats) -> Floats:
    """The part of all weight that each group has."""
    sums = np.bincount(group, weight)
    return np.asarray(sums / sums.sum())
