"""`tally`: count data once, to ask many questions of the counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.tallies import Tally
from evenhand._kinds import check_kinds


@about_data()
def tally(data: Data, *, sums: Mapping[str, Any] | None = None, digits: int | None = None) -> Tally:
    """Count rows by true label, predicted label, group and stratum, in one pass.

    The counts are all that criteria of labels need: count once, evaluate many.
    For numbers, say `task="regression"`: then sums of values are added up by group.

    Parameters
    ----------
    {data}
    sums : mapping of str to array-like or name of a column, optional
        Further columns of numbers to add up in each cell, by name. Of a table of counts, columns of
        sums over the rows of a line; without labels, "yhat" and "yhat²" (of predictions and of
        their squares), "y" and "y²" (of the truth), "squared_error", "absolute_error" and the
        squares of both make a tally for criteria of regression.
    digits : int, optional
        With `rate`: to how many decimals the rates were rounded; by default as many as the
        longest of them has. A rate that no whole number of people has, so rounded, is refused.

    Returns
    -------
    Tally
        A cell for each combination of labels and group that occurs. Its axes are "y", "yhat",
        "stratum", "cluster" and "group", as far as they were given; its sums are "rows" and, with
        weights, "weight" and "weight²" (the squares), next to those named in `sums`. For numbers, a
        cell for each group, with the sums "yhat", "yhat²" and, where the truth is known, "y", "y²",
        "squared_error", "absolute_error" and the squares of both.

    Raises
    ------
    InputError
        If columns differ in length, labels are missing, or scores are given as labels.

    See Also
    --------
    distribution : The whole distribution by group, for "strong_parity".
    count_query : The SQL that makes a table of counts.

    Examples
    --------
    >>> counts = tally([1, 0, 1], [1, 1, 0], sensitive_features=["a", "b", "b"])
    >>> counts
    <Tally of 3 rows in 3 cells (y: 2, yhat: 2, group: 2)>
    >>> counts.table("yhat", "group")
    array([[0., 1.],
           [1., 1.]])

    Tallies of parts add up to that of the whole:

    >>> counts + tally([0], [1], sensitive_features=["c"])
    <Tally of 4 rows in 4 cells (y: 2, yhat: 2, group: 3)>

    A table of counts, or of published rates:

    >>> import pandas as pd
    >>> table = pd.DataFrame({"sex": ["F", "M"], "rate": [0.1, 0.2], "applicants": [1000, 1000]})
    >>> counts = tally(rate="rate", rows="applicants", sensitive_features="sex", data=table)
    >>> counts.table("yhat", "group")
    array([[900., 800.],
           [100., 200.]])

    Decisions made at random, by their probabilities:

    >>> chances = [[0.25, 0.75], [1.0, 0.0]]
    >>> expected = tally([1, 0], chances, classes=[0, 1], sensitive_features=["a", "b"])
    >>> expected.table("yhat", "group")
    array([[0.25, 1.  ],
           [0.75, 0.  ]])

    """
    check_kinds(sums=sums)
    return data.tally(sums, digits)
