"""Re-ranking: optimal beside a linear program over all random orders, and by brute force."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import evenhand as eh
from evenhand.mitigation import OffsetReranker


def lists(seed, queries, size, groups="ab", favor=0.3):
    rng = np.random.default_rng(seed)
    rows = queries * size
    group = rng.choice([*groups], rows)
    group[: len(groups)] = [*groups]
    score = rng.random(rows) + favor * (group == "a")
    query = np.repeat(np.arange(queries), size)
    return pd.DataFrame({"query": query, "group": group, "score": score}).sample(
        frac=1, random_state=seed, ignore_index=True
    )


def largest_dcg(frame, epsilon, attention, merit):
    """By a linear program over doubly stochastic matrices, one for each list."""
    groups = sorted(set(frame["group"]))
    gains, places, equal, seen, at = [], [], [], {g: [] for g in groups}, 0
    for _, rows in frame.groupby("query"):
        n = len(rows)
        gains.append(np.outer(rows["score"], 1 / np.log2(2 + np.arange(n))).ravel())
        for g in groups:
            own = (rows["group"] == g).to_numpy() / merit[frame["group"] == g].sum()
            seen[g].append(np.outer(own, attention(np.arange(1, n + 1))).ravel())
        places += [(at + i * n + np.arange(n)) for i in range(n)]
        equal += [(at + np.arange(n) * n + j) for j in range(n)]
        at += n * n
    sums = np.zeros((len(places) + len(equal), at))
    for row, columns in zip(sums, [*places, *equal], strict=True):
        row[columns] = 1
    each = np.array([np.concatenate(seen[g]) for g in groups])
    apart = np.array([a - b for a in each for b in each])
    found = linprog(
        -np.concatenate(gains), apart, np.full(len(apart), epsilon), sums, np.ones(len(sums))
    )
    return -found.fun if found.success else None


def dcg(frame, place):
    return float((frame["score"] / np.log2(1 + place)).sum())


@pytest.mark.parametrize("criterion", ["exposure_parity", "top_k_parity", "exposure_per_relevance"])
@pytest.mark.parametrize(
    ("queries", "size", "groups", "epsilon"),
    [(1, 7, "ab", 0.0), (1, 9, "abc", 0.1), (4, 6, "abc", 0.02)],
)
def test_no_random_order_within_the_bound_has_a_larger_dcg(
    queries, size, groups, epsilon, criterion
):
    for seed in range(5):
        frame = lists(seed, queries, size, groups)
        is_top = criterion == "top_k_parity"
        merit = frame["score"] if criterion.endswith("relevance") else pd.Series(1.0, frame.index)
        found = OffsetReranker(
            group="group", criterion=criterion, epsilon=epsilon, top_k=2 if is_top else None
        ).fit(frame, merit)
        best = largest_dcg(
            frame, epsilon, (lambda p: p <= 2) if is_top else (lambda p: 1 / np.log2(1 + p)), merit
        )
        if best is None:
            assert found.gap_ > epsilon
            assert "cannot be met" in found.notes_[0]
            continue
        by_score = frame.groupby("query")["score"].rank(ascending=False)
        assert found.gap_ <= epsilon + 1e-8
        assert (1 - found.loss_) * dcg(frame, by_score) == pytest.approx(best, rel=1e-7)
        assert len(found.shares_) <= len(groups) + 1


def test_mixtures_of_all_orders_are_no_better():
    """Brute force: a linear program over the 120 orders of five rows."""
    frame = lists(3, 1, 5)
    weigh = 1 / np.log2(1 + np.array([*permutations(range(1, 6))]))
    gap = [weigh[:, frame["group"] == g].mean(axis=1) for g in "ab"]
    apart = np.array([gap[0] - gap[1], gap[1] - gap[0]])
    gain = weigh @ frame["score"]
    best = linprog(-gain, apart, [0.05, 0.05], np.ones((1, 120)), [1.0])
    found = OffsetReranker(group="group", epsilon=0.05).fit(frame)
    assert (1 - found.loss_) * gain.max() == pytest.approx(-best.fun)


def test_drawn_orders_keep_the_bound_as_an_audit_counts_it():
    frame = lists(1, 600, 8, "abc")
    ranker = OffsetReranker(group="group", epsilon=0.02, random_state=3).fit(frame)
    place = ranker.predict(frame)
    named = {"sensitive_features": frame["group"], "query": frame["query"], "measure": "mpd"}
    gap = eh.evaluate("exposure_parity", None, place, **named)
    assert gap == pytest.approx(ranker.gap_, abs=0.01)
    again = ranker.predict(frame[frame["query"] < 5])
    assert (again == place[frame["query"] < 5]).all()  # a list's order is its own


def test_new_lists_are_ordered_about_as_well_as_if_they_had_been_known():
    """A stream: offsets of four hundred lists, put to four hundred others."""
    ranker = OffsetReranker(group="group", epsilon=0.01, random_state=0).fit(lists(1, 400, 10))
    new = lists(2, 400, 10)
    place = ranker.predict(new)
    known = OffsetReranker(group="group", epsilon=0.01).fit(new)
    best = new.groupby("query")["score"].rank(ascending=False)
    gap = np.ptp((1 / np.log2(1 + pd.Series(place))).groupby(new["group"]).mean())
    assert 1 - dcg(new, place) / dcg(new, best) == pytest.approx(known.loss_, abs=0.002)
    assert gap < 0.03


def test_a_bound_that_changes_nothing_is_told():
    ranker = OffsetReranker(group="group", epsilon=5.0).fit(lists(0, 3, 6))
    assert ranker.loss_ == 0
    assert "changes nothing" in ranker.notes_[0]


def test_arrays_have_columns_by_position_and_parameters_are_scikit_learns():
    frame = lists(4, 5, 6)
    array = frame.assign(group=(frame["group"] == "a").astype(float)).to_numpy(float)
    ranker = OffsetReranker(group=1, query=0, score=2, epsilon=0.05, random_state=1)
    assert clone(ranker).get_params() == ranker.get_params()
    named = OffsetReranker(group="group", epsilon=0.05, random_state=1).fit(frame)
    assert (ranker.fit(array).predict(array) == named.predict(frame)).all()
    with pytest.raises(NotFittedError):
        clone(ranker).predict(array)


FRAME = lists(0, 2, 4)
BAD = {
    "score is expected relevance": (FRAME.assign(score=-1.0), {}, None),
    "no query": (FRAME.assign(query=[None, *[1] * 7]), {}, None),
    "Pass top_k= with": (FRAME, {"criterion": "top_k_parity"}, None),
    "needs y, how relevant": (FRAME, {"criterion": "exposure_per_relevance"}, None),
    "No row of group a is relevant": (
        FRAME,
        {"criterion": "exposure_per_relevance"},
        (FRAME["group"] == "b").astype(float),
    ),
    "one group only": (FRAME.assign(group="a"), {}, None),
    "epsilon of OffsetReranker must be": (FRAME, {"epsilon": -1}, None),
    "discount='steep'": (FRAME, {"discount": "steep"}, None),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_lists_get_one_clear_error(message):
    X, given, y = BAD[message]
    with pytest.raises(eh.InputError, match=message):
        OffsetReranker(**{"group": "group"} | given).fit(X, y)


def test_groups_that_were_not_seen_are_refused():
    ranker = OffsetReranker(group="group").fit(FRAME)
    with pytest.raises(eh.InputError, match="not seen at fit: z"):
        ranker.predict(FRAME.assign(group="z"))
