"""One score from many cells."""

import numpy as np
import pytest

from evenhand.measures import AGGREGATES, mean, resolve_aggregate, total, worst


def test_aggregates_leave_out_undefined_cells():
    cells = np.array([0.1, np.nan, 0.3])
    assert worst(cells) == 0.3
    assert total(cells) == pytest.approx(0.4)
    assert mean(cells) == pytest.approx(0.2)


@pytest.mark.parametrize("aggregate", AGGREGATES.values(), ids=AGGREGATES)
def test_an_aggregate_of_one_defined_value_is_that_value(aggregate):
    assert aggregate(np.array([np.nan, 0.3, np.nan])) == 0.3


def test_aggregates_are_found_by_name_or_taken_as_functions():
    assert resolve_aggregate("total") is total
    assert resolve_aggregate(np.nanmedian) is np.nanmedian


@pytest.mark.parametrize("aggregate", AGGREGATES.values(), ids=AGGREGATES)
def test_an_aggregate_of_nothing_defined_is_nan(aggregate):
    assert np.isnan(aggregate(np.array([np.nan, np.nan])))


@pytest.mark.parametrize("aggregate", AGGREGATES.values(), ids=AGGREGATES)
def test_an_aggregate_keeps_batch_axes(aggregate):
    assert aggregate(np.ones((4, 3, 2))).shape == (4, 3)


def test_an_unknown_aggregate_is_refused():
    with pytest.raises(ValueError, match="no aggregate 'median'"):
        resolve_aggregate("median")
