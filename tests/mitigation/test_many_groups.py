from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from evenhand import gini
from evenhand.mitigation.optimal import known_groups, many, problem, solve
from mitigation.programs import rows_of


def convex_costs(random, groups, rules):
    """Rules by pool (one a group), with rates and costs whose lower hull is what matters."""
    pool = np.repeat(np.arange(groups), rules)
    rate = random.random(groups * rules)
    cost = (rate - random.random(groups)[pool]) ** 2 / groups + 0.01 * random.random(len(pool))
    return pool, rate, cost


def by_pairs(pool, rate, cost, epsilon):
    """The least cost of shares of the rules with a variable for each pair of groups, by HiGHS."""
    groups = pool.max() + 1
    member = (pool == np.arange(groups)[:, None]).astype(float)
    of_rates = member * rate
    pairs = list(combinations(range(groups), 2))
    upper, none = [], np.zeros(len(pairs))
    for place, (one, other) in enumerate(pairs):
        gap, apart = of_rates[one] - of_rates[other], none.copy()
        apart[place] = -1
        upper += [np.append(gap, apart), np.append(-gap, apart)]
    upper.append(np.append(-epsilon * groups * rate, np.ones(len(pairs))))
    solution = optimize.linprog(
        np.append(cost, none),
        A_ub=np.array(upper),
        b_ub=np.zeros(len(upper)),
        A_eq=np.hstack([member, np.zeros((groups, len(pairs)))]),
        b_eq=np.ones(groups),
    )
    assert solution.status == 0
    return solution.fun


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 9), st.sampled_from([0.0, 0.01, 0.1, 0.3]))
@settings(max_examples=60, deadline=None)
def test_levels_find_the_cost_that_a_program_with_all_pairs_finds(seed, groups, epsilon):
    pool, rate, cost = convex_costs(np.random.default_rng(seed), groups, 6)
    # Everyone at one rate must be possible, as decisions alike for everyone always are.
    pool = np.concatenate([pool, np.arange(groups), np.arange(groups)])
    rate = np.concatenate([rate, np.zeros(groups), np.ones(groups)])
    cost = np.concatenate([cost, np.full(2 * groups, 1.0)])
    bounds = many.ManyGroups(epsilon, 1, groups, np.arange(groups))
    share, _ = bounds.mix(pool, rate[:, None], cost)
    assert cost @ share == pytest.approx(by_pairs(pool, rate, cost, epsilon), abs=1e-7)
    assert gini(np.bincount(pool, rate * share)) <= epsilon + 1e-9


@pytest.mark.slow
@given(st.integers(0, 10**6), st.lists(st.integers(1, 6), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_one_level_is_a_subgradient_wherever_the_slopes_leave_room_for_any(seed, sizes):
    random = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    rank = 2.0 * np.arange(len(cluster)) + 1 - len(cluster)
    parts = random.dirichlet(np.ones(4))
    shuffled = [
        np.concatenate([random.permutation(rank[cluster == c]) for c in range(len(sizes))])
        for _ in parts
    ]
    inside = parts @ shuffled
    least, most = (
        inside - random.exponential(size=len(rank)),
        inside + random.exponential(size=len(rank)),
    )
    found = many._leveled(rank, cluster, least, most)
    assert (least - 1e-9 <= found).all()
    assert (found <= most + 1e-9).all()
    np.testing.assert_allclose(many._projected(found, cluster), found, atol=1e-9)


@pytest.mark.long
def test_sixty_groups_are_solved_to_a_millionth():
    probabilities, group = rows_of(3000, 2, 60)
    population = known_groups(probabilities, group, np.ones(len(group)), 60)
    for epsilon in (0.0, 0.02, 0.1):
        solution = solve(problem(population, "statistical_parity", "gini", epsilon), 1e-6)
        assert solution.gap <= 2e-6
        assert solution.value <= epsilon + 1e-6
