"""The metric that a criterion compares between groups, in the field's words."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand.criteria.criterion import class_of
from evenhand.criteria.terms import COMPARED

SELECTION = ("statistical_parity", "selection_rate_ratio", "conditional_statistical_parity")
# In [0, 1], but no shares of rows: they are not written in percent.
INDICES = ("performance_parity(auroc)", "performance_parity(f1)", "calibration_within_groups")
LONG = ("share ", "mean of ", "ratio of ", "distribution of ", "outcome rate at ")


def metric_of(
    criterion: str, cell: Label, classes: Sequence[Label], favorable: Label = None
) -> str:
    """The metric that is compared in a cell, given the classes and the favorable one, if any.

    >>> metric_of("equalized_odds", (0, 1), (0, 1), 1), metric_of("weak_parity", None, ())
    ('false positive rate', 'mean prediction')
    >>> metric_of("predictive_parity", "b", ("a", "b", "c"))
    'precision for “b”'
    """
    if criterion in SELECTION:
        if favorable is not None and class_of(cell) == favorable:
            return "selection rate"
        return f"share predicted “{show(class_of(cell))}”"
    if criterion == "equalized_odds" and isinstance(cell, tuple) and len(cell) == 2:
        truth, prediction = cell
        if favorable is None or len(classes) != 2:
            return f"share predicted “{show(prediction)}” where the truth is “{show(truth)}”"
        right = "true" if truth == prediction else "false"
        return f"{right} {'positive' if prediction == favorable else 'negative'} rate"
    metric = COMPARED.get(criterion)
    if metric is None:
        return criterion.replace("_", " ").replace("(", ": ").removesuffix(")")
    return metric + (f" for “{show(cell)}”" if favorable is None and cell in classes else "")


def with_article(noun: str) -> str:
    """A metric, with an article if it is a longer phrase.

    >>> with_article("selection rate"), with_article("share predicted “1”")
    ('selection rate', 'the share predicted “1”')
    """
    return f"the {noun}" if noun.startswith(LONG) else noun
