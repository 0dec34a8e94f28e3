"""Partial pooling: shrunken values beside hand computation, SciPy's likelihood, and the truth."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

import evenhand as eh
from evenhand._uncertainty.estimates import estimates_of
from evenhand._uncertainty.pooling import levels_of, pooled, shrunken


def crossed(*sizes):
    """The levels of every combination of so many levels."""
    return np.array(np.unravel_index(np.arange(np.prod(sizes)), sizes))


def test_with_equal_noise_it_is_the_james_stein_estimate():
    values = np.array([[1.0, 2.0, 3.0, 4.0, 10.0]])
    noise = 1.5
    factor = 1 - noise / values.var(ddof=1)
    expected = values.mean() + factor * (values - values.mean())
    found = shrunken(values, np.full((1, 5), noise), np.arange(5)[None])
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_values_no_further_apart_than_noise_become_their_weighted_mean():
    values, noise = np.array([[1.0, 1.1, 0.9, 1.05]]), np.array([[1.0, 2.0, 1.0, 0.5]])
    found = shrunken(values, noise, np.arange(4)[None])
    np.testing.assert_allclose(found, np.average(values, weights=1 / noise), atol=1e-4)


def test_values_without_noise_stay():
    values = np.array([[0.1, 0.5, 0.2, 0.9]])
    found = shrunken(values, np.full((1, 4), 1e-12), crossed(2, 2))
    np.testing.assert_allclose(found, values, atol=1e-6)


def test_crossed_columns_have_the_effects_that_maximize_the_restricted_likelihood():
    rng = np.random.default_rng(3)
    levels = crossed(4, 6)
    effects = [rng.normal(0, 1.0, 4), rng.normal(0, 0.6, 6)]
    noise = rng.uniform(0.05, 0.5, 24)
    truth = 5 + effects[0][levels[0]] + effects[1][levels[1]] + rng.normal(0, 0.3, 24)
    values = truth + rng.normal(0, np.sqrt(noise))
    kinships = [np.eye(24), *(np.equal.outer(part, part).astype(float) for part in levels)]
    ones = np.ones((24, 1))

    def solved(parts):
        spread = sum(part * kinship for part, kinship in zip(parts, kinships, strict=True))
        inverse = np.linalg.inv(spread + np.diag(noise))
        mean = (ones.T @ inverse @ values / (ones.T @ inverse @ ones)).item()
        return spread, inverse, mean

    def minus_likelihood(logs):
        _, inverse, mean = solved(np.exp(logs))
        rest = values - mean
        information = np.log((ones.T @ inverse @ ones).item())
        return (rest @ inverse @ rest - np.linalg.slogdet(inverse)[1] + information) / 2

    best = optimize.minimize(minus_likelihood, np.log([0.2, 0.5, 0.5]), method="Nelder-Mead")
    spread, inverse, mean = solved(np.exp(best.x))
    expected = mean + spread @ inverse @ (values - mean)
    found = shrunken(values[None], noise[None], levels)[0]
    np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["even", "zipf"])
def test_where_columns_add_up_sixty_groups_have_less_than_half_the_squared_error(sizes):
    rng = np.random.default_rng(0)
    levels = crossed(2, 5, 6)
    sex, race, age = [-0.06, 0.06], [0.08, -0.04, 0.0, -0.02, -0.02], np.linspace(-0.05, 0.05, 6)
    truth = 0.3 + np.take(sex, levels[0]) + np.take(race, levels[1]) + np.take(age, levels[2])
    rows = rng.integers(20, 200, 60) if sizes == "even" else 6000 // np.arange(1, 61)
    hits = rng.binomial(rows, truth, (40, 60))
    errors = []
    for seen in hits:
        group = np.repeat(np.arange(60), rows)
        decision = np.concatenate([np.arange(n) < h for n, h in zip(rows, seen, strict=True)])
        counts = eh.tally(None, decision.astype(int), sensitive_features=group)
        known = estimates_of(counts, eh.CRITERIA["statistical_parity"])
        shrunk = pooled(known, levels)
        np.testing.assert_allclose(shrunk.sum(axis=0), 1.0, atol=0.02)
        errors.append([((part - truth) ** 2).mean() for part in (shrunk[-1], known.values[-1])])
    shrunk, raw = np.mean(errors, axis=0)
    assert shrunk < raw / 2


def test_unrelated_groups_lose_nothing():
    rng = np.random.default_rng(1)
    truth, rows = rng.uniform(0.1, 0.9, 60), 100
    angles = np.arcsin(np.sqrt(rng.binomial(rows, truth, (50, 60)) / rows))
    found = np.sin(shrunken(angles, np.full(angles.shape, 1 / (4 * rows)), crossed(2, 5, 6))) ** 2
    assert ((found - truth) ** 2).mean() <= ((np.sin(angles) ** 2 - truth) ** 2).mean()


def test_a_group_that_nothing_is_known_of_keeps_no_value_and_changes_no_other():
    values, noise = np.array([[1.0, 2.0, 4.0, 0.0]]), np.array([[0.5, 0.5, 0.5, np.inf]])
    found = shrunken(values, noise, np.arange(4)[None])
    alone = shrunken(values[:, :3], noise[:, :3], np.arange(3)[None])
    np.testing.assert_allclose(found[:, :3], alone)


def test_the_order_of_groups_and_columns_does_not_matter():
    rng = np.random.default_rng(5)
    values, noise, levels = rng.normal(size=(2, 12)), rng.uniform(0.1, 1, (2, 12)), crossed(3, 4)
    order = rng.permutation(12)
    moved = shrunken(values[:, order], noise[:, order], levels[::-1][:, order])
    np.testing.assert_allclose(moved, shrunken(values, noise, levels)[:, order], atol=1e-8)


def test_merged_groups_have_levels_of_their_own():
    assert levels_of([("F", 1), ("M", 1), "(rare groups)"], 2).tolist() == [[0, 1, 2], [0, 0, 1]]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["labels", "scores", "regression"])
def test_an_audit_shows_pooled_values_beside_the_raw_ones(task):
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {"sex": rng.choice(["F", "M"], 900), "race": rng.choice(list("abcd"), 900)}
    )
    score = rng.random(900)
    truth = (rng.random(900) < score).astype(int)
    given = {
        "labels": (truth, (score > 0.5).astype(int), {}, "equal_opportunity"),
        "scores": (truth, None, {"y_score": score}, "performance_parity(auroc)"),
        "regression": (score * 3 + rng.normal(size=900), score * 3, {}, "performance_parity(mse)"),
    }
    y, p, more, criterion = given[task]
    found = eh.audit(y, p, sensitive_features=people, criteria=criterion, **more)
    frame = found.by_group_frame(criterion)
    raw, shrunk = frame["values"], frame["pooled"]
    assert shrunk.std() < raw.std()
    assert (shrunk - raw).abs().max() > 0
    cell = found.document()["criteria"][0]["cells"][0]
    assert cell["pooled"] == pytest.approx(list(shrunk))
    assert "Pooled" in found.to_html()


def test_distributions_have_no_pooled_values():
    score = np.linspace(0.1, 0.9, 60)
    asked = {"sensitive_features": ["a", "b"] * 30, "criteria": "strong_parity"}
    found = eh.audit([0, 1] * 30, y_score=score, **asked)
    assert found.by_group_frame("strong_parity")["pooled"].isna().all()
