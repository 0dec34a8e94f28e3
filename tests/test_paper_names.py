"""The paper's names at every door, against its definitions written out row by row."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli.audit import audit as audit_command

rng = np.random.default_rng(7)
N = 400
A = rng.choice(["a", "b", "c", "d"], N, p=[0.4, 0.3, 0.2, 0.1])
Y = rng.integers(0, 2, N)
Y3 = rng.choice(["x", "y", "z"], N)
FX = np.where(rng.random(N) < 0.3 + 0.1 * (A == "a"), 1 - Y, Y)
FX3 = np.where(rng.random(N) < 0.4 + 0.2 * (A == "b"), Y3, rng.choice(["x", "y", "z"], N))
T = rng.gamma(2.0, 1.0, N)
FT = T * (1 + 0.2 * (A == "c")) + rng.normal(0, 0.3, N)
GROUPS = sorted(set(A))


def mpd(w):
    return max(abs(a - b) for a in w for b in w)


def gini(w):
    return sum(abs(a - b) for a in w for b in w) / (2 * len(w) * sum(w))


def pq(w, p=1, q=2):
    norm = {r: sum(abs(x) ** r for x in w) ** (1 / r) for r in (p, q)}
    return 1 - len(w) ** (1 / q - 1 / p) * norm[p] / norm[q]


MEASURES = {"MPD": mpd, "Gini": gini, "PQ": pq, "PQ(p=0.5, q=1.5)": lambda w: pq(w, 0.5, 1.5)}
AGGREGATES = {"max": max, "mean": lambda v: sum(v) / len(v), "sum": sum}


def rate(event, given):
    """The share of rows with the event in each group, among those that are given."""
    return [event[given & (a == A)].mean() for a in GROUPS]


def by_class(y, fx, name):
    """The vectors of groups that the definition compares, one for each class or pair of them."""
    every = np.ones(N, dtype=bool)
    labels = sorted(set(y))
    if name in ("SP", "S-SP"):  # Definitions 4.1 and 4.2
        return [rate(fx == c, every) for c in labels]
    if name == "EO":  # Definition 4.5
        return [rate(fx == c, y == k) for k in labels for c in labels]
    return [  # Definition 4.6, g being the average of TPR and FPR
        [(t + f) / 2 for t, f in zip(rate(fx == c, y == c), rate(fx == c, y != c), strict=True)]
        for c in labels
    ]


def of_numbers(name, measure):
    cuts = np.unique(FT)
    below = [[(FT[a == A] <= t).mean() for a in GROUPS] for t in cuts]
    shift = np.exp if measure is not mpd else np.asarray  # exp(F), as PQ of F is degenerate
    if name == "SP (weak)":
        return measure([FT[a == A].mean() for a in GROUPS])
    if name == "SP (W)":
        return sum(measure(w) * gap for w, gap in zip(below, np.diff(cuts), strict=False))
    if name == "SP":
        return max(measure(list(shift(w))) for w in below)
    return measure([((FT - T)[a == A] ** 2).mean() for a in GROUPS])


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ["SP", "S-SP", "EO", "S-EO"])
def test_a_criterion_of_labels_is_the_papers(name, measure, aggregate):
    for y, fx in ((Y, FX), (Y3, FX3)):
        wanted = AGGREGATES[aggregate]([MEASURES[measure](w) for w in by_class(y, fx, name)])
        how = {"sensitive_features": A, "measure": measure, "aggregate": aggregate}
        assert eh.evaluate(name, y, fx, **how) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ["SP", "SP (weak)", "SP (W)", "EO"])
def test_a_criterion_of_numbers_is_the_papers(name, measure):
    wanted = of_numbers(name, MEASURES[measure])
    how = {"sensitive_features": A, "measure": measure}
    names = [name, f"S-{name}"] + ([f"{name} (regression)"] if len(name) == 2 else [])
    for known in names:
        assert eh.evaluate(known, T, FT, **how) == pytest.approx(wanted, rel=1e-9)
        found = eh.evaluate(known, T, FT, task="regression", **how)
        assert found == pytest.approx(wanted, rel=1e-9)


def test_s_eo_takes_another_g():
    wanted = pq([(FX == Y)[a == A].mean() for a in GROUPS])
    how = {"sensitive_features": A, "measure": "PQ"}
    assert eh.evaluate("S-EO", Y, FX, g="accuracy", **how) == pytest.approx(wanted)
    wanted = pq([abs(FT - T)[a == A].mean() for a in GROUPS])
    assert eh.evaluate("S-EO", T, FT, g="mae", **how) == pytest.approx(wanted)
    with pytest.raises(eh.InputError, match="its own statistic"):
        eh.evaluate("EO", Y, FX, g="accuracy", **how)


LABELS = {"SP": "statistical_parity", "S-EO": "average_odds", "EO": "equalized_odds"}
NUMBERS = {
    "SP": "strong_parity",
    "S-SP (weak)": "weak_parity",
    "SP (W)": "wasserstein_parity",
    "EO": "performance_parity(mse)",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LABELS)
def test_the_names_are_known_at_every_door_of_labels(name, tmp_path):
    asked, own = {"sensitive_features": A}, LABELS[name]
    wanted = eh.evaluate(own, Y, FX, measure="pq", **asked)
    doors = {
        "interval": eh.interval(name, Y, FX, measure="PQ", **asked).value,
        "audit": eh.audit(Y, FX, criteria=[name], measures=["PQ"], **asked)
        .finding(name, "PQ")
        .value,
        "gate": eh.audit(Y, FX, fail_if=f"{name}.PQ > 0.5", **asked).finding(name, "PQ").value,
        "compare": eh.compare(Y, {"m": FX}, criteria=[name], measures=["PQ"], **asked).values[
            "value"
        ][0],
    }
    table = tmp_path / "rows.csv"
    pd.DataFrame({"y": Y, "p": FX, "g": A}).to_csv(table, index=False)
    command = f"{table} --target y --prediction p --group g --json {table}.json"
    command += f" --criterion {name} --measure PQ"
    done = CliRunner().invoke(audit_command, command.split())
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "rows.csv.json").read_text())["findings"]
    doors["command"] = next(one["value"] for one in found if one["measure"] == "pq")
    assert doors == pytest.approx(dict.fromkeys(doors, wanted), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS)
def test_the_names_are_known_at_every_door_of_numbers(name):
    asked, own = {"sensitive_features": A, "task": "regression"}, NUMBERS[name]
    wanted = eh.evaluate(own, T, FT, measure="pq", **asked)
    doors = {
        "interval": eh.interval(name, T, FT, measure="PQ", **asked).value,
        "audit": eh.audit(T, FT, criteria=[name], measures=["PQ"], **asked)
        .finding(name, "PQ")
        .value,
        "gate": eh.audit(T, FT, fail_if=f"{name}.PQ > 0.5", **asked).finding(name, "PQ").value,
        "compare": eh.compare(T, {"m": FT}, criteria=[name], measures=["PQ"], **asked).values[
            "value"
        ][0],
    }
    assert doors == pytest.approx(dict.fromkeys(doors, wanted), rel=1e-12)
