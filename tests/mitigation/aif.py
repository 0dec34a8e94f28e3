"""AIF360's data sets from plain arrays, for agreement tests."""

import logging

import numpy as np
import pytest

GROUPS = {"unprivileged_groups": [{"a": 0}], "privileged_groups": [{"a": 1}]}


def dataset(y, group, score=None, weight=None):
    """A binary data set with labels y, or with scores and the labels they round to."""
    logging.disable()  # it announces optional parts that are not installed
    datasets = pytest.importorskip("aif360.datasets", reason="needs aif360")
    import pandas as pd

    labels = y if score is None else (score >= 0.5)
    frame = pd.DataFrame({"a": group.astype(float), "y": labels.astype(float)})
    made = datasets.BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["a"])
    if score is not None:
        made.scores = np.asarray(score, dtype=float)[:, None]
    if weight is not None:
        made.instance_weights = np.asarray(weight, dtype=float)
    return made
