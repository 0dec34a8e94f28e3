"""Statistical parity and equalized odds from other libraries, each called as its users would.

An adapter gets 0/1 labels and groups as strings, brings them into the form that its library
wants (which is not timed), and gives back what is timed. Each is asked for as little as we found
that gives both numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Labels = NDArray[np.int64]
Run = Callable[[], tuple[float, float]]


def fairlearn(truth: Labels, predicted: Labels, group: Any) -> Run:
    from fairlearn.metrics import demographic_parity_difference, equalized_odds_difference

    return lambda: (
        demographic_parity_difference(truth, predicted, sensitive_features=group),
        equalized_odds_difference(truth, predicted, sensitive_features=group),
    )


def aequitas(truth: Labels, predicted: Labels, group: Any) -> Run:
    from aequitas.group import Group

    people = pd.DataFrame({"label_value": truth, "score": predicted})
    people["group"] = np.asarray(group, dtype=object)

    def run() -> tuple[float, float]:
        table, _ = Group().get_crosstabs(people, attr_cols=["group"])
        return np.ptp(table["pprev"]), max(np.ptp(table["tpr"]), np.ptp(table["fpr"]))

    return run


def aif360(truth: Labels, predicted: Labels, group: Any) -> Run:
    from aif360.sklearn.metrics import intersection, selection_rate, specificity_score
    from sklearn.metrics import recall_score

    def gap(rate: Callable[..., float]) -> float:
        return float(np.ptp(intersection(rate, truth, predicted, prot_attr=group)))

    return lambda: (gap(selection_rate), max(gap(recall_score), gap(specificity_score)))


def holisticai(truth: Labels, predicted: Labels, group: Any) -> Run:
    from holisticai.bias.metrics import confusion_tensor

    def run() -> tuple[float, float]:
        counts = confusion_tensor(group, predicted, truth, as_tensor=True)
        selected = counts[:, 1].sum(axis=1) / counts.sum(axis=(1, 2))
        return np.ptp(selected), np.ptp(counts[:, 1] / counts.sum(axis=1), axis=0).max()

    return run


def oxonfair(truth: Labels, predicted: Labels, group: Any) -> Run:
    from oxonfair import group_metrics

    def gap(rate: Any) -> float:
        return float(rate.max_diff(truth, predicted, group)[0])

    rates = group_metrics.true_pos_rate, group_metrics.false_pos_rate
    return lambda: (gap(group_metrics.pos_pred_rate), max(map(gap, rates)))


def fairbench(truth: Labels, predicted: Labels, group: Any) -> Run:
    from fairbench import Dimensions, categories, quick

    def run() -> tuple[float, float]:
        rows = {"predictions": predicted, "labels": truth}
        people = Dimensions(categories @ group)
        rates = quick.pairwise_maxdiff_pr, quick.pairwise_maxdiff_tpr, quick.pairwise_maxdiff_tnr
        selected, tpr, tnr = (float(gap(**rows, sensitive=people)) for gap in rates)
        return selected, max(tpr, tnr)

    return run


PEERS: dict[str, Callable[[Labels, Labels, Any], Run]] = {
    "fairlearn": fairlearn,
    "aequitas": aequitas,
    "aif360": aif360,
    "holisticai": holisticai,
    "oxonfair": oxonfair,
    "fairbench": fairbench,
}
