"""The model under a method: fitted once, repeatedly, or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from evenhand._columns.encoding import finite
from evenhand._data.dataframes import column_of
from evenhand._errors import InputError, InputTypeError, refusing
from evenhand.mitigation._fields import Fields
from evenhand.mitigation._sklearn import rows_of

Floats = NDArray[np.float64]

SPARSE_ENOUGH = 0.5  # with fewer entries than this that are not zero, a sparse product is faster


class _Readout(Fields):
    """A model that reads its answers from X, and learns nothing."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Learn nothing.

        Parameters
        ----------
        X : array-like or dataframe
            Rows, with what is read among their columns.
        y, sample_weight : ignored
            There for the sake of pipelines.

        Returns
        -------
        estimator
            This estimator.

        """
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class GivenScores(RegressorMixin, _Readout):  # type: ignore[misc]
    """A regressor that reads its predictions from a column of X, and learns nothing.

    Give it to a method as `estimator` to adjust scores that another model made: the column is
    named, so that no feature is ever taken for a score by accident.

    Parameters
    ----------
    column : str or int
        The column that holds the scores (a position where X is an array).

    See Also
    --------
    GivenProbabilities : The same for a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import GivenScores
    >>> GivenScores(column=1).fit([[7, 0.5], [8, 0.25]]).predict(np.array([[9, 0.75]]))
    array([0.75])

    """

    column: Any = field(kw_only=False)

    def predict(self, X: Any) -> Floats:
        """Read the scores.

        Parameters
        ----------
        X : array-like or dataframe
            Rows, with the column of scores among their columns.

        Returns
        -------
        ndarray of shape (n_rows,)
            The scores.

        """
        return finite(column_of(X, self.column), f"the column of scores {self.column!r}")


class GivenProbabilities(ClassifierMixin, _Readout):  # type: ignore[misc]
    """A classifier that reads its probabilities from columns of X, and learns nothing.

    Give it to a method as `estimator`, with prefit=True or without, to post-process probabilities
    that another model made.

    Parameters
    ----------
    columns : sequence of str or int
        The columns that hold P(class | x), one for each class (positions where X is an array).
    classes : sequence of labels, default None
        The classes of these columns, in ascending order; None numbers them from 0.

    See Also
    --------
    GivenScores : The same for a regression.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import GivenProbabilities
    >>> given = GivenProbabilities([1, 2], classes=["no", "yes"])
    >>> given.predict(np.array([[7, 0.5, 0.5], [8, 0.25, 0.75]]))
    array(['no', 'yes'], dtype='<U3')

    """

    columns: Sequence[Any] = field(kw_only=False)
    classes: Sequence[Any] | None = field(default=None, kw_only=False)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the columns."""
        return np.asarray(range(len(self.columns)) if self.classes is None else self.classes)

    def predict_proba(self, X: Any) -> Floats:
        """Read the probabilities.

        Parameters
        ----------
        X : array-like or dataframe
            Rows, with the columns of probabilities among their columns.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probability of each class.

        """
        return np.column_stack(
            [finite(column_of(X, name), f"the column of scores {name!r}") for name in self.columns]
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Take the most probable class of each row.

        Parameters
        ----------
        X : array-like or dataframe
            Rows, with the columns of probabilities among their columns.

        Returns
        -------
        ndarray of shape (n_rows,)
            The classes.

        """
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def fit_underlying(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    prefit: bool = False,
    default: Any = None,
) -> Any:
    """A fitted clone of the estimator, or the estimator itself where it is already fitted.

    None means `default`, and that means logistic regression.
    """
    if prefit:
        if estimator is None:
            raise InputError("prefit=True needs an estimator that was fitted before; it got None.")
        check_is_fitted(estimator)
        return estimator
    if estimator is None:
        estimator = default if default is not None else LogisticRegression(max_iter=1000)
    model = clone(estimator)
    weights = {}
    if isinstance(model, Pipeline) and get_config()["enable_metadata_routing"]:
        if sample_weight is not None:
            _request_weights(model)
            weights = {"sample_weight": sample_weight}
    elif sample_weight is not None:
        weights = {weight_parameter(model): sample_weight}
    return fitted(model, X, y, **weights)


def fitted(model: Any, X: Any, y: Any, **weights: Any) -> Any:
    """Fit the model, or raise our error in its words."""
    with refusing(f"{type(model).__name__}, the base model, cannot be fitted"):
        return model.fit(X, y, **weights)


def weight_parameter(estimator: Any) -> str:
    """The name of sample weights in an estimator's fit; a pipeline passes them to its last step."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    kinds = [parameter.kind for parameter in signature(estimator.fit).parameters.values()]
    if has_fit_parameter(estimator, "sample_weight") or Parameter.VAR_KEYWORD in kinds:
        return "sample_weight"
    raise InputError(
        f"{type(estimator).__name__} takes no sample weights; use an estimator whose fit does."
    )


def _request_weights(pipeline: Pipeline) -> None:
    """Route sample weights to the last step of a pipeline, and others where requested."""
    for _, step in pipeline.steps[:-1]:
        fit = getattr(get_routing_for_object(step), "fit", None)
        if fit is not None and "sample_weight" in fit.requests:
            step.set_fit_request(sample_weight=fit.requests["sample_weight"] or False)
    last = pipeline.steps[-1][1]
    if isinstance(last, Pipeline):
        _request_weights(last)
    else:
        weight_parameter(last)
        last.set_fit_request(sample_weight=True)


def class_probabilities(model: Any, X: Any, classes: Any = None) -> Floats:
    """The model's P(class | x), a column for each of `classes` (by default its own)."""
    if not hasattr(model, "predict_proba"):
        raise InputTypeError(
            f"{type(model).__name__} has no predict_proba; wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or use another estimator."
        )
    with refusing(f"{type(model).__name__}, the base model, cannot predict"):
        probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    bad = np.flatnonzero(
        ~(probabilities >= 0).all(axis=1) | ~np.isfinite(probabilities).all(axis=1)
    )
    if len(bad):
        raise InputError(
            f"{type(model).__name__} gives row {bad[0]} the probabilities "
            f"{probabilities[bad[0]].tolist()}; fix the estimator, or the row."
        )
    if classes is None or np.array_equal(classes, model.classes_):
        return probabilities
    place = {label: column for column, label in enumerate(classes)}
    absent = [label for label in model.classes_ if label not in place]
    if absent:
        raise InputError(f"The model knows the class {absent[0]!r}, which is not in y.")
    aligned = np.zeros((len(probabilities), len(place)))
    aligned[:, [place[label] for label in model.classes_]] = probabilities
    return aligned


@dataclass(frozen=True, eq=False)
class Refitting:
    """A model and the features it is fitted to, prepared once.

    A pipeline's transformers are fitted once, with the true labels, and not again for the labels
    and weights that follow. Logistic regression starts where an earlier fit ended, and reads an
    array that is mostly zeros as a sparse one; its optimum is the same.
    """

    model: Any
    X: Any
    transformers: Pipeline | None = None

    @classmethod
    def prepare(cls, estimator: Any, X: Any, y: Any) -> Refitting:
        """Fit the transformers, if there are any, and transform the features."""
        estimator = LogisticRegression(max_iter=1000) if estimator is None else estimator
        transformers = None
        if isinstance(estimator, Pipeline):
            if len(estimator) > 1:
                transformers = clone(estimator[:-1])
                with refusing("The base model's transformers cannot be fitted"):
                    X = transformers.fit_transform(X, y)
            estimator = estimator[-1]
        if isinstance(estimator, LogisticRegression) and _mostly_zero(X):
            X = sparse.csr_array(X)
        return cls(estimator, X, transformers)

    def rows(self, which: NDArray[np.intp]) -> Refitting:
        """The same model with these rows, possibly repeated."""
        return Refitting(self.model, rows_of(self.X, which), self.transformers)

    def alike(self, kind: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """One row for each set of rows alike in features and kind, and each row's set.

        Logistic regression sees no difference between rows alike and one of their weight; other
        models may, and keep all rows. Rows are distinguished by a random sum, and then compared.
        """
        everyone = np.arange(len(kind))
        if not isinstance(self.model, LogisticRegression) or not _is_numeric(self.X):
            return everyone, everyone
        random = np.random.default_rng(0).random(self.X.shape[1])
        keys = self.X @ random + 1j * kind
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        unlike = self.X[first[inverse]] != self.X
        return (everyone, everyone) if unlike.sum() else (first, inverse)

    def fit(self, labels: NDArray[Any], weight: NDArray[np.float64], start: Any = None) -> Any:
        """The model fitted to labels and weights; a constant if there is one label only.

        `start` is an earlier fit to begin from.
        """
        if (labels == labels[0]).all():
            return DummyClassifier(strategy="constant", constant=labels[0]).fit(self.X, labels)
        name, model = weight_parameter(self.model), clone(self.model)
        if not isinstance(model, LogisticRegression) or not isinstance(start, LogisticRegression):
            return fitted(model, self.X, labels, **{name: weight})
        model.coef_, model.intercept_ = start.coef_, start.intercept_
        model.set_params(warm_start=True).fit(self.X, labels, sample_weight=weight)
        return model.set_params(warm_start=self.model.warm_start)

    def assembled(self, model: Any) -> Any:
        """A fitted model that reads the features before preparation."""
        if self.transformers is None:
            return model
        return Pipeline([*self.transformers.steps, ("model", model)])


def _mostly_zero(X: Any) -> bool:
    if not isinstance(X, np.ndarray) or not _is_numeric(X):
        return False
    return bool(np.count_nonzero(X) < SPARSE_ENOUGH * X.size)


def _is_numeric(X: Any) -> bool:
    return bool(X.dtype.kind in "iuf") if hasattr(X, "dtype") else False
