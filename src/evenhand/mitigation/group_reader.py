"""Shared by all methods: groups read from columns of X, and the draws of random decisions."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import isabstract
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from evenhand._columns.encoding import check_order
from evenhand._data.dataframes import is_frame
from evenhand._data.groups import show
from evenhand._data.probable import Probable
from evenhand._errors import InputError, InputTypeError, UnboundWarning, refusing
from evenhand._seeds import seed_of
from evenhand._signatures import suggests_names
from evenhand._words import number
from evenhand.criteria.catalogue import ALIASES
from evenhand.criteria.evaluation import split_name
from evenhand.measures import MeasureLike, resolve
from evenhand.mitigation._fields import Fields, RowId, Unseen
from evenhand.mitigation._lots import ONE_BY_ONE, lots, tied
from evenhand.mitigation._sklearn import checked_weight, rows_of
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
    """An estimator whose X holds the group columns, which may be hidden from the base model.

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
        The key of the draws (see `lots`); for anything but an int, it is drawn at fit.

    Attributes
    ----------
    sensitive_ : Sensitive
        The groups seen at fit, `sensitive_.labels`, and how to find a row's group.
    notes_ : tuple of str
        In words, what could not be required or reached on the fitting rows, and a bound that
        changes nothing there.
    key_ : int
        The key of the draws: `random_state` where it is an int, or what was drawn at fit.

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
        """The key of the draws."""
        return current_key(self.random_state, self._key)

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
        with self._naming_text_columns(rows.X):
            self._fit(rows)
        self._note_shared_draws(rows)
        return self

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """The fitting rows, checked; learns groups, and classes if there are any."""

    @abstractmethod
    def _fit(self, rows: Rows) -> None:
        """Learn from the rows; `sensitive_`, `notes_` and `classes_` are there already."""

    @abstractmethod
    def _note_shared_draws(self, rows: Rows) -> None:
        """Note how the bound changes where people with equal values share a draw."""

    @available_if(_draws)  # type: ignore[untyped-decorator]
    def lots(self, X: Any) -> Floats:
        """The random draw of each row, by which `predict` makes random decisions.

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
        """The draws of (only these) rows; for other purposes than `predict`, independent ones."""
        key = f"{self.key_}{purpose}"
        if self.row_id is None:  # equal rows are counted in all of X
            hashes = lots(self._ids(X), key=key, distinct=True)
            if len(hashes) == 1 and getattr(self, "_tied", False):
                warnings.warn(ONE_BY_ONE.format(ids="row_id="), UserWarning, stacklevel=3)
            return hashes if only is None else hashes[only]
        return lots(_some(self._ids(X), only), key=key)

    def _note_ties(self, rows: Rows, at_random: Codes, bounded: Callable[[Floats], Any]) -> None:
        """Note how far equal rows exceed the bound where they are decided one by one.

        `bounded` gives what the method bounds, where these rows have some lots, and the bound; or
        None, where it bounds nothing.
        """
        self._tied = 0
        if self.row_id is not None or not self.draw or not _draws(self):
            return
        shared = lots(_some(self._ids(rows.X), at_random), key=self.key_)
        self._tied = int(tied(shared).sum())
        values = bounded(shared) if self._tied else None
        if values is None:
            return
        value, bound = values
        distinct = bounded(self._lots(rows.X, only=at_random))[0]
        if value > max(bound, distinct) + LEAST_EXCESS:
            self.notes_ += (
                f"{self._tied:,} of {len(rows.y):,} fitting rows are decided at random and agree "
                "with another in all values, and no row_id= distinguishes them. In one call each "
                "has a draw of its own; served one by one they share it, and what is bounded by "
                f"{number(bound)} becomes {number(value)}.",
            )

    def _ids(self, X: Any) -> Any:
        """The ids of rows: columns, the index, or the values that the decision reads."""
        if self.row_id is None:
            return X if self._asks_group() or self.sees_group else self._features(X)
        return self.sensitive_.ids(X)

    def _asks_group(self) -> bool:
        """Whether `predict` needs the group, with these parameters."""
        return self._reads_group

    def _checked(self, X: Any, reset: bool) -> Any:
        """X checked by scikit-learn; a dataframe stays one.

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
        """Refuse an array where columns are found by name."""
        group = [self.group] if isinstance(self.group, str | int) else self.group
        names = [name for name in group if isinstance(name, str)]
        if names:
            raise InputError(
                f"{type(self).__name__} was fitted on a dataframe, and finds the group by its "
                f"column {names[0]!r}, which an array does not have. Pass a dataframe."
            )

    def _rows(self, X: Any, y: NDArray[Any], sample_weight: Any) -> Rows:
        """The fitting rows without those of weight 0; learns the groups."""
        with refusing("X and y do not belong together"):
            check_consistent_length(X, y)
        if sample_weight is not None:
            sample_weight = checked_weight(sample_weight, X)
            positive = np.flatnonzero(sample_weight)
            X, y, sample_weight = rows_of(X, positive), y[positive], sample_weight[positive]
        self._key = key_of(self.random_state)
        if isinstance(self.group, Probable) and not self._takes_probable:
            alternatives = able(GroupReader, lambda other: other._takes_probable)
            raise InputTypeError(
                f"{type(self).__name__} needs the group of every row; {', '.join(alternatives)} "
                "can do with probabilities."
            )
        self.sensitive_, codes = Sensitive.read(X, self.group, self.bins, self.row_id)
        self.notes_ = ()
        return Rows(X, y, codes, sample_weight)

    def _features(self, X: Any) -> Any:
        """The features of X that the base model reads."""
        return self.sensitive_.features(X, self.sees_group)

    @contextmanager
    def _naming_text_columns(self, X: Any) -> Iterator[None]:
        """Where a base model refuses text, name the columns and the way out."""
        try:
            yield
        except (ValueError, TypeError) as failure:
            refusal = failure.__cause__ or failure
            columns = self.sensitive_.text(X, self.sees_group)
            is_about = isinstance(refusal, ValueError) and ABOUT_TEXT.search(str(refusal))
            if not columns or not is_about:
                raise
            ways = [self._way_to_encode(", ".join(map(repr, columns)))]
            if any(name in self.sensitive_.columns for name in columns):
                ways.insert(0, "pass sees_group=False, which keeps the group from the base model")
            raise InputError(
                f"X has text in {', '.join(map(repr, columns))}, which the base model cannot read "
                f"({refusal}): {', or '.join(ways)}."
            ) from failure

    def _way_to_encode(self, columns: str) -> str:
        """How to encode columns of text for the base model."""
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
            unseen = ", ".join(map(show, self.sensitive_.unseen(X)))
            labels = ", ".join(map(show, self.sensitive_.labels))
            raise InputError(
                f"X has groups that were not seen at fit: {unseen} (seen: {labels}). "
                'Fit with them, or pass unseen="base" to give them the base model\'s prediction.'
            )
        return codes

    def _note_unbound(
        self, quantity: str, value: float, measure: MeasureLike = "mpd", bound: str = "epsilon"
    ) -> None:
        """Note that the bound changes nothing; it may be in another unit than intended.

        `what` is bounded, and `value` without the bound. Without a word to the caller where none
        can be missed: 1 and more bounds no rate.
        """
        limit = float(getattr(self, bound))
        note = (
            f"{bound}={limit:g} changes nothing: without it, {quantity} is {value:.3g} on the rows "
            "of the fit."
        )
        registered = resolve(measure)
        if not registered.is_width:
            note += (
                f" {bound} is a bound on {registered.title}; for the largest difference "
                "between two groups, pass measure='mpd'."
            )
        self.notes_ += (note,)
        if value > 0 and limit < 1:
            warnings.warn(note, UnboundWarning, stacklevel=2)

    @property
    def _criterion_and_measure(self) -> tuple[Any, Any]:
        """The criterion and the measure, which the criterion's name may state: "name.gini"."""
        criterion: Any = self.criterion
        measure = getattr(self, "measure", None)
        if measure is None or not isinstance(criterion, str):
            return criterion, measure
        name, stated = split_name(criterion)
        return name, measure if stated is None else stated

    @property
    def _measure(self) -> Any:
        """The measure by which the criterion is meant."""
        return self._criterion_and_measure[1]

    @property
    def _asked(self) -> str:
        """The criterion by its name in evenhand, for any synonym."""
        criterion, _ = self._criterion_and_measure
        return ALIASES.get(criterion, criterion) if isinstance(criterion, str) else criterion

    def _require_criterion(self) -> str:
        """The requested criterion, or an error that names the possible ones and other methods."""
        criterion = self._asked
        if criterion in self.criteria:
            return criterion
        alternatives = able(GroupReader, lambda other: criterion in other.criteria)
        hint = f"; {', '.join(alternatives)} can" if alternatives else ""
        raise InputError(
            f"{type(self).__name__} cannot meet the criterion {criterion!r}, only "
            f"{', '.join(map(repr, self.criteria))}{hint}."
        )


class PathFitter(GroupReader, ABC):
    """A method that fits all values of its hyperparameter at once."""

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
        with first._naming_text_columns(rows.X):
            yield from first._path(rows, grid)

    @abstractmethod
    def _path(self, rows: Rows, grid: Iterable[float]) -> Iterator[Self]:
        """Fitted copies of this estimator, owned by the caller."""


def able(parent: type[Any], can: Callable[[Any], bool]) -> list[str]:
    """The names of our estimators under a parent that satisfy a condition.

    They are found as its subclasses, so that no method needs to import another to name it.
    """
    return sorted({cls.__name__ for cls in _subclasses(parent) if can(cls)})


def _subclasses(parent: type[Any]) -> Iterator[type[GroupReader]]:
    """The estimators of this package under a parent, but not those that are still abstract."""
    for cls in parent.__subclasses__():
        if cls.__module__.startswith(PACKAGE) and not isabstract(cls):
            yield cls
        yield from _subclasses(cls)


def _some(ids: Any, only: Codes | None) -> Any:
    """Some of the ids, which may be an index."""
    if only is None:
        return ids
    return ids.take(only) if hasattr(ids, "to_flat_index") else rows_of(ids, only)


def draws_of(random_state: Any) -> np.random.RandomState:
    """A `RandomState` for scikit-learn from a seed, a NumPy generator of either kind, or None."""
    if isinstance(random_state, np.random.Generator):
        random_state = seed_of(random_state)
    generator: np.random.RandomState = check_random_state(random_state)
    return generator


def key_of(random_state: Any) -> int:
    """A whole number as is; from a generator, or NumPy's own for None, a random one."""
    if isinstance(random_state, int | np.integer):
        return seed_of(random_state)
    return int(draws_of(random_state).randint(np.iinfo(np.int64).max, dtype=np.int64))


def current_key(random_state: Any, drawn: int) -> int:
    """`random_state` if it is an integer, else the key that was drawn at fit."""
    return int(random_state) if isinstance(random_state, int | np.integer) else drawn


def shares(group: Codes, weight: Floats) -> Floats:
    """Each group's share of the total weight."""
    sums = np.bincount(group, weight)
    return np.asarray(sums / sums.sum())
