"""A fitted estimator as a source of predictions and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.dataframes import is_frame, names_in
from evenhand._data.tasks import favorable_label


def scored_by(estimator: Any, X: Any, favorable: Label = None) -> dict[str, Any]:
    """The scores of a fitted classifier, and of two classes the label that they are of.

    Probabilities where it has them, else its decision function. Of two classes' probabilities
    those of the favorable one are taken, if it was named, else those of the second.
    """
    labels = np.asarray(estimator.classes_).tolist()
    has_chances = hasattr(estimator, "predict_proba")
    scores = estimator.predict_proba(X) if has_chances else estimator.decision_function(X)
    if len(labels) != 2:
        return {"y_score": scores}
    of = labels[1]
    if np.ndim(scores) == 2:
        of = of if favorable is None else favorable_label(labels, favorable)
        scores = np.asarray(scores)[:, labels.index(of)]
    return {"y_score": scores, "score_of": of}


def features_for(estimator: Any, X: Any, target: Any = None) -> Any:
    """The columns of a dataframe that an estimator was fitted to; all but the target if unknown."""
    if not is_frame(X):
        return X
    import narwhals as nw

    there, known = names_in(X), getattr(estimator, "feature_names_in_", None)
    named = target if isinstance(target, str) else None
    wanted = [name for name in there if name != named] if known is None else list(known)
    if wanted == there or not set(wanted) <= set(there):  # the estimator says what it lacks
        return X
    return nw.from_native(X, eager_only=True).select(*wanted).to_native()
