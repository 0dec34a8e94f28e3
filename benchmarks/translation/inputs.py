"""The rows that the traps and faults are shown with."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import views
from views import Names, named, run

adult, hours = cache(views.classification), cache(views.regression)


def perfect() -> Names:
    truth, group = np.array([1, 0, 1, 0, 0, 0]), np.array(list("aabbcc"))
    high = (group == "c") * 1
    sides = {"b": np.where(high == 1, "c", "a and b"), "top": "c", "low": 1 - high, "high": high}
    return named(y=truth, p=truth, a=group, **sides)


def nobody() -> Names:
    people = perfect()
    return people | named(y=people["y"], p=0 * people["y"], a=people["a"])


def no_rows() -> Names:
    truth, categories = np.array([1, 0, 1, 0]), list("abc")
    people = named(y=truth, p=truth, a=pd.Categorical(list("aabb"), categories=categories))
    masks = {name: [int(own == name) for own in people["a"]] for name in categories}
    people |= {"masks": np.column_stack(list(masks.values()))}
    return people | {"people": run("FairBench", "Dimensions(masks)", people | {"masks": masks})}


def no_group() -> Names:
    truth = np.array([1, 0, 1, 0])
    return named(y=truth, p=truth, a=np.array(["a", "a", "b", np.nan], dtype=object))


def not_labels() -> Names:
    people = by_sex()
    kept = ("y", "a", "top", "low")
    return named(p=people["s"], **{name: people[name] for name in kept})


def by_sex() -> Names:
    return adult()["sex"]


def by_race() -> Names:
    return adult()["race"]


def hours_by_sex() -> Names:
    return hours()["sex"]


def three_rows() -> Names:
    return named(y=np.array([0, 0, 1]), p=np.array([0, 1, 1]), a=np.array(list("aab")))


def twenty_times() -> Names:
    return named(**{name: np.tile(by_sex()[name], 20) for name in ("y", "p", "a")})
