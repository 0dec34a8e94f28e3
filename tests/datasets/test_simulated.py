import numpy as np
import pytest

from evenhand.datasets import load
from evenhand.datasets.draws import normal, some, uniform


def test_two_groups_differ_in_their_base_rate_only():
    simulated = load("simulated")
    by_group = simulated.y.groupby(simulated.X["group"], observed=True)
    assert by_group.size().to_list() == [2500, 2500]
    assert np.abs(by_group.mean() - [0.5, 0.8]).max() < 0.03
    shift = simulated.X.filter(like="x").groupby(simulated.y).mean().diff().iloc[1]
    assert np.abs(shift - ([0.5] * 5 + [0.0] * 5)).max() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [2, 3, 10, 64, 1000])
def test_the_share_of_class_1_rises_evenly_from_one_half_to_nine_tenths(n_groups):
    simulated = load("simulated_multigroup", n_groups=n_groups)
    share = simulated.y.groupby(simulated.X["group"], observed=True).mean()
    assert simulated.n_rows == 100_000
    np.testing.assert_allclose(share, np.linspace(0.5, 0.9, n_groups), atol=0.5 * n_groups / 1e5)


def test_the_regression_has_one_coefficient_and_two_noises():
    simulated = load("simulated_regression")
    parts = simulated.X.assign(noise=simulated.y - simulated.X["x"])
    by_group = parts.groupby("group", observed=True)
    np.testing.assert_allclose(by_group["x"].mean(), [30, 10], atol=0.2)
    np.testing.assert_allclose(by_group["x"].var(), [4, 4], rtol=0.1)
    np.testing.assert_allclose(by_group["noise"].var(), [10, 1], rtol=0.1)


def test_the_model_of_the_regression_does_not_see_the_group():
    assert load("simulated_regression").model_columns == ("x",)
    assert "group" in load("simulated").model_columns


def test_a_simulation_is_the_same_on_every_run():
    assert load("simulated").X.equals(load("simulated").X)
    first = load("simulated").X["x1"].iloc[:3]
    np.testing.assert_allclose(first, [2.935548, -0.615962, 2.218321], atol=1e-6)


def test_draws_have_their_distribution():
    from scipy.stats import kstest

    assert kstest(uniform(10_000, 1), "uniform").pvalue > 0.01
    assert kstest(normal(10_000, 1), "norm").pvalue > 0.01
    assert len(set(some(100, 30, 5))) == 30
