"""The hash of the data and that of the page: what changes them, and what does not."""

import hashlib
import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh

COLUMNS = ("truth", "decision", "score", "group", "stratum", "cluster", "weight")
FEW = settings(max_examples=max(settings.default.max_examples // 3, 1))  # each is an audit


def rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "truth": rng.integers(0, 2, n),
            "decision": rng.integers(0, 2, n),
            "score": rng.permutation(n) / 100 + 0.2,
            "group": rng.choice(["a", "b", "c"], n),
            "stratum": rng.choice(["x", "y"], n),
            "cluster": rng.integers(0, 12, n),
            "weight": rng.integers(1, 5, n) / 2,
        }
    )


def audited(table, left_out=()):
    roles = {"strata": "stratum", "cluster": "cluster"}
    given = {role: table[name] for role, name in roles.items() if name not in left_out}
    return eh.audit(
        table.truth,
        table.decision,
        y_score=table.score,
        score_of=1,
        sensitive_features=table[["group"]],
        sample_weight=table.weight,
        criteria=["statistical_parity", "calibration_within_groups"],
        measures="mpd",
        **given,
    )


@cache
def told_of_rows(left_out):
    return told(rows(), left_out)


def told(table, left_out=()):
    page = audited(table, left_out).document(standard="evidence")
    return page["provenance"]["data"], page["sha256"]


@FEW
@given(seed=st.integers(0, 50), name=st.sampled_from(COLUMNS), at=st.integers(0, 59))
def test_both_change_with_every_value_of_every_column(seed, name, at):
    table, left_out = rows(), ("cluster",) if name == "stratum" else ("stratum",)
    other = table.copy()
    values = table[name].to_numpy()
    another = np.flatnonzero(values != values[at])
    other.loc[at, name] = values[another[seed % len(another)]]
    first, second = told_of_rows(left_out), told(other, left_out)
    assert first[0] != second[0]
    assert first[1] != second[1]


@FEW
@given(st.integers(0, 50))
def test_scores_that_change_places_within_a_group_change_it(seed):
    table, left_out = rows(), ("stratum",)
    rng = np.random.default_rng(seed)
    members = np.flatnonzero((table.group == "a") & (table.truth != 2))
    one = rng.choice(members)
    others = [
        k
        for k in members
        if tuple(table.loc[k, ["truth", "cluster", "weight"]])
        != tuple(table.loc[one, ["truth", "cluster", "weight"]])
    ]
    other = table.copy()
    pair = [one, rng.choice(others)]
    other.loc[pair, "score"] = table.score.to_numpy()[pair[::-1]]
    assert told_of_rows(left_out)[0] != told(other, left_out)[0]


@pytest.mark.parametrize("left_out", [("cluster",), ("stratum",)])
def test_that_of_the_data_does_not_depend_on_the_order_of_rows(left_out):
    table = rows()
    mixed = table.sample(frac=1, random_state=1).reset_index(drop=True)
    assert told_of_rows(left_out)[0] == told(mixed, left_out)[0]


def test_what_is_stated_changes_the_hash_of_the_page_alone():
    audit = audited(rows(), ("stratum",))
    pages = [audit.document(standard="evidence", stated=one) for one in ({}, {"tool": "x"})]
    assert pages[0]["provenance"]["data"] == pages[1]["provenance"]["data"]
    assert pages[0]["sha256"] != pages[1]["sha256"]


def test_anyone_can_check_that_a_page_says_what_it_said():
    page = json.loads(audited(rows(), ("stratum",)).to_json(standard="evidence"))
    told = page.pop("sha256")
    text = json.dumps(page, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == told
