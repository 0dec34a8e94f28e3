"""Kinds of summary: each is said once, and everything else follows from what it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.statistics import KINDS, STATISTICS, E, Kind, Rows, summarize
from strategies import classified, predictions

STATED = {name: criterion.statistic for name, criterion in eh.CRITERIA.items()} | STATISTICS


def rows_of(rows, kind, part=slice(None)):
    """Columns that suit any kind, or some of their rows."""
    score = np.random.default_rng(0).random(len(rows.y_true))
    predicted = score if KINDS[kind].about == "numbers" else rows.y_pred % 2
    lists = KINDS[kind].about == "lists"
    return Rows(
        rows.y_true[part] % 2,
        None if lists else predicted[part],
        rows.group[part],
        sample_weight=rows.weight[part],
        y_score=score[part],
        strata=rows.group[part],
        classes=[0, 1],
        score_of=1,  # a part may rank the other way
        query=np.arange(len(score))[part] // 9 if lists else None,
        top_k=1 if lists else None,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_makes_the_summary_that_it_says(kind):
    found = summarize(kind, rows_of(predictions(), kind))
    assert isinstance(found, KINDS[kind].summary)
    assert KINDS[kind].__doc__
    assert KINDS[kind].columns


@pytest.mark.parametrize("name", STATED)
def test_every_statistic_reads_the_kind_it_needs(name):
    statistic = STATED[name]
    if name in ("strong_parity", "wasserstein_parity"):
        assert KINDS[statistic.needs].summary is eh.Distribution
        return
    table = statistic.read(summarize(statistic.needs, rows_of(predictions(), statistic.needs)))
    assert table.values.shape == (len(table.cells), len(table.groups))
    low, high = statistic.bounds
    assert np.nanmin(table.values) >= low
    assert np.nanmax(table.values) <= high


@pytest.mark.slow
@pytest.mark.parametrize("kind", [name for name in KINDS if KINDS[name].summary is eh.Tally])
@given(rows=classified(), share=st.floats(0.1, 0.9))
def test_summaries_of_parts_add_up_to_that_of_the_whole(kind, rows, share):
    cut = int(share * len(rows.y_true))
    cut -= cut % 9 if KINDS[kind].about == "lists" else 0  # lists are whole
    parts = [part for part in (slice(None, cut), slice(cut, None)) if len(rows.y_true[part])]
    whole, added = (
        sum(summarize(kind, rows_of(rows, kind, part)) for part in some)
        for some in ([slice(None)], parts)
    )
    assert added.axes == whole.axes
    names = [axis.name for axis in whole.axes]
    for of in whole.sums:
        np.testing.assert_allclose(added.table(*names, of=of), whole.table(*names, of=of))


def test_groups_must_be_named_whatever_the_kind():
    with pytest.raises(eh.InputError, match="Pass sensitive_features"):
        Rows([1], [1])


def test_a_kind_of_ones_own_is_registered_in_one_place(monkeypatch):
    class Days(Kind):
        """Days that each decision took."""

        about, columns, hint = "numbers", "days", "y_score with days"

        def summarize(self, rows):
            sums = {"days": rows.require("y_score", "the days")}
            return eh.tally(None, None, sensitive_features=rows.sensitive_features, sums=sums)

    monkeypatch.setitem(KINDS, "days", Days())
    wait = eh.Criterion("equal_wait", E("days", needs="days"), "Waiting is not the decision.")
    options = {"y_score": [1, 3, 5, 5], "sensitive_features": [*"aabb"]}
    assert eh.evaluate(wait, None, measure="mpd", **options) == 3
    assert wait.kind.columns in wait.__doc__
    with pytest.raises(eh.InputError, match="needs y_score: the days"):
        wait(None, sensitive_features=[*"aabb"])
