"""Audit documents of made-up models, drawn at random but with numbers that hang together."""

from __future__ import annotations

import numpy as np

from report.worlds import Document, World

NASTY = [
    "<script>alert(1)</script>",
    "",
    "👩🏽‍🔬 & co",
    "\"quoted\" 'name'",
    "</script><b>",
    "a\u2028b",
]
ADULT = [
    f"{sex} × {race}"
    for sex in ("Female", "Male")
    for race in ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White")
]


def binary(labels: list[str] | None = None, *, seed: int = 0, gap: float = 0.08) -> Document:
    """Two classes, five criteria; `gap` is how far the groups' true rates are apart."""
    labels = ADULT if labels is None else labels
    world = World(labels, seed, gap)
    criteria = [
        world.criterion("statistical_parity", ["0", "1"], [0.8, 0.2], 1.0),
        world.criterion("equalized_odds", _pairs(["0", "1"]), [0.93, 0.07, 0.4, 0.6], 0.5),
        world.criterion("equal_opportunity", ["1"], [0.6], 0.25),
        world.criterion("predictive_parity", ["1"], [0.72], 0.2),
        world.criterion("accuracy_parity", ["all"], [0.84], 0.1),
    ]
    at = np.linspace(0.05, 0.95, 37)
    series = [
        {"criterion": c["name"], "measure": m, "values": world.curve(at, i, m)}
        for i, c in enumerate(criteria[:3])
        for m in ("mpd", "gini", "pq")
    ]
    document = world.document("binary", ["0", "1"], criteria)
    return document | {
        "favorable": "1",
        "thresholds": {"at": at.tolist(), "series": series, "used": 0.5},
        "distributions": world.distributions("score", np.linspace(0, 1, 101)),
    }


def multiclass(classes: int = 4, groups: int = 6) -> Document:
    names = [f"grade {'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i]}" for i in range(classes)]
    world = World([f"school {i + 1}" for i in range(groups)], 1, 0.1)
    shares = np.full(classes, 1 / classes)
    odds = np.full(classes**2, 1 / classes)
    criteria = [
        world.criterion("statistical_parity", names, list(shares), 0.4),
        world.criterion("equalized_odds", _pairs(names), list(odds), 0.6),
    ]
    return world.document("multiclass", names, criteria)


def regression() -> Document:
    world = World(["north", "east", "south", "west"], 2, 0.1)
    criteria = [
        world.criterion("strong_parity", ["51.3012345"], [0.4], 1.0, "exp"),
        world.criterion("weak_parity", ["all"], [52_000.0], 0.4, scale=40_000.0),
    ]
    document = world.document("regression", [], criteria)
    return document | {"distributions": world.distributions("prediction", np.linspace(20, 90, 141))}


def many(groups: int = 10_000) -> Document:
    return binary([f"tract {i:05d}" for i in range(groups)], seed=3)


def single() -> Document:
    document = binary(["F", "M"], seed=4)
    keep = document["criteria"][2]
    finding = next(f for f in document["findings"] if f["criterion"] == keep["name"])
    alone = {"criteria": [keep], "findings": [finding], "views": [], "subgroups": []}
    told = document["summary"]["criteria"]
    line = next(line for line in told if line["name"] == keep["name"])
    summary = document["summary"] | {"criteria": [line]}
    return document | alone | {"thresholds": None, "distributions": None, "summary": summary}


def undefined() -> Document:
    """A criterion that has no value, and groups without one in another."""
    document = binary(["a", "b", "c"], seed=5)
    nothing = dict.fromkeys(["value", "low", "high"])
    nothing |= {"p_value": None, "p_adjusted": None, "pair": None, "worst_cell": None}
    nothing |= {"verdict": "undefined", "contributions": [], "cell_values": []}
    gone = document["criteria"][3]
    for cell in gone["cells"]:
        cell |= {key: [None] * 3 for key in ("values", "low", "high", "rows")} | {"overall": None}
    document["findings"] = [
        f | nothing if f["criterion"] == gone["name"] else f for f in document["findings"]
    ]
    rates = document["criteria"][2]["cells"][0]
    for key in ("values", "low", "high"):
        rates[key][1] = None
    for finding in document["findings"]:
        if finding["criterion"] == "equal_opportunity":
            finding["left_out"] = [{"cell": "1", "group": "b"}]
    return document


def _pairs(names: list[str]) -> list[str]:
    return [f"{k} × {c}" for k in names for c in names]
