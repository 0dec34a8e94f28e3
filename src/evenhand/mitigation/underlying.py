"""The model underneath: fitted as a clone, or used as it is."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter


def fit_underlying(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    prefit: bool = False,
    default: Any = None,
) -> Any:
    """A fitted clone of the estimator, or the estimator itself where it is already fitted.

    None stands for `default`, and that for logistic regression.
    """
    if prefit:
        if estimator is None:
            raise ValueError("prefit=True needs an estimator that was fitted before; it got None.")
        check_is_fitted(estimator)
        return estimator
    if estimator is None:
        estimator = default if default is not None else LogisticRegression(max_iter=1000)
    weights = {} if sample_weight is None else {weight_parameter(estimator): sample_weight}
    return clone(estimator).fit(X, y, **weights)


def weight_parameter(estimator: Any) -> str:
    """By which name an estimator's fit takes sample weights; a pipeline hands them to its end."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    kinds = [one.kind for one in signature(estimator.fit).parameters.values()]
    if has_fit_parameter(estimator, "sample_weight") or Parameter.VAR_KEYWORD in kinds:
        return "sample_weight"
    raise ValueError(
        f"{type(estimator).__name__} takes no sample weights; use an estimator whose fit does."
    )


def class_probabilities(model: Any, X: Any, classes: Any = None) -> NDArray[np.float64]:
    """The model's P(class | x), a column for each of `classes` (by default its own)."""
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba; wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or use another estimator."
        )
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    if classes is None or np.array_equal(classes, model.classes_):
        return probabilities
    place = {label: column for column, label in enumerate(classes)}
    absent = [label for label in model.classes_ if label not in place]
    if absent:
        raise ValueError(f"The model knows the class {absent[0]!r}, which is not in y.")
    aligned = np.zeros((len(probabilities), len(place)))
    aligned[:, [place[label] for label in model.classes_]] = probabilities
    return aligned
