"""A fitted estimator as a source of predictions and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.dataframes import is_frame, names_in
from evenhand._data.tasks import favorable_label


def scored_by(estimator: Any, X: Any, favorable: Label = None) -> dict[str, Any]:
    """The scores of a fitted classifier and, with two classes, the label that they are of.

    Probabilities if it has them, else its decision function. With two classes, probabilities are
    those of the favorable one if it was named, else of the second.
    """
    labels = np.asarray(estimator.classes_).tolist()
    has_chances = hasattr(estimator, "predict_proba")
    scores = estimator.predict_proba(X) if has_chances else estimator.decision_function(X)
    if len(labels) != 2:
        return {"y_score": scores}
    label = labels[1]
    if np.ndim(scores) == 2:
        label = label if favorable is None else favorable_label(labels, favorable)
        scores = np.asarray(scores)[:, labels.index(label)]
    return {"y_score": scores, "score_of": label}


def features_for(estimator: Any, X: Any, target: Any = None) -> Any:
    """The columns that an estimator was fitted to; all but the target if it does not say."""
    if not is_frame(X):
        return X
    import narwhals as nw

    columns, fitted = names_in(X), getattr(estimator, "feature_names_in_", None)
    target_name = target if isinstance(target, str) else None
    features = [name for name in columns if name != target_name] if fitted is None else list(fitted)
    if features == columns or not set(features) <= set(columns):  # the estimator says what it lacks
        return X
    return nw.from_native(X, eager_only=True).select(*features).to_native()
