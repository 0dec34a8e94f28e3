"""Five tasks as arrays: codes, numbers, what is predicted, and the group that no network sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TASKS = {
    "acs": "income over 50,000 dollars by sex × race × age, 50 groups",
    "acs_hundred": "the same by ten ages, 100 groups",
    "acs_five": "five classes of income by five races",
    "adult": "income over 50,000 dollars by sex × race, ten groups",
    "law_school": "grades (numbers) by race, four groups",
}


def save(name: str, folder: Path, out: Path) -> None:
    """Write a task as OUT/NAME.npz; classes 0 stands for numbers."""
    made = {
        "acs": _acs,
        "acs_hundred": _acs_hundred,
        "acs_five": _acs_five,
        "adult": _adult,
        "law_school": _law_school,
    }
    rows, y, group, classes = made[name](folder)
    words = [column for column in rows if rows[column].dtype == object or column in CODED]
    numbers = rows.drop(columns=words).to_numpy(np.float32)
    numbers = (numbers - numbers.mean(0)) / np.maximum(numbers.std(0), 1e-6)
    codes = np.column_stack(
        [pd.factorize(rows[column], use_na_sentinel=False)[0] for column in words]
    )
    group = pd.factorize(group, sort=True)[0]
    np.savez_compressed(
        out / f"{name}.npz",
        codes=codes.astype(np.int16), numbers=numbers, y=y, group=group.astype(np.int8),
        classes=classes,
    )  # fmt: skip
    print(
        f"{name}: {len(y):,} rows, {group.max() + 1} groups, the least {np.bincount(group).min()}"
    )


CODED = ("COW", "SCHL", "MAR_2", "MAR", "OCCP", "POBP", "RELP")


def _acs_hundred(folder: Path) -> tuple[pd.DataFrame, Any, Any, int]:
    return _acs(folder, ages=10)


def _acs(folder: Path, ages: int = 5) -> tuple[pd.DataFrame, Any, Any, int]:
    rows = pd.read_parquet(folder / "acsincome_2018_noCA_FLthird.parquet")
    rows = rows.dropna(subset=["PINCP_gt_50K"]).sample(640_000, random_state=0)
    age = pd.qcut(rows["AGEP"], ages, labels=False).astype(str)
    group = rows["SEX"].astype(str) + rows["RAC1P_5"].astype(str) + age
    names = ["COW", "SCHL", "MAR_2", "OCCP", "POBP", "RELP", "AGEP", "WKHP"]
    return rows[names], rows["PINCP_gt_50K"].to_numpy(np.int8), group, 2


def _acs_five(folder: Path) -> tuple[pd.DataFrame, Any, Any, int]:
    rows = pd.read_parquet(folder / "acs_pums_2024_adult_filter_49states.parquet")
    rows = rows.sample(640_000, random_state=0)
    merged = {1: 0, 2: 1, 3: 2, 4: 2, 5: 2, 6: 3, 7: 3, 8: 4, 9: 4}
    income = np.digitize(rows["PINCP"], [20_300, 40_000, 61_700, 100_000])
    names = ["COW", "SCHL", "MAR", "OCCP", "AGEP", "WKHP"]
    return rows[names], income.astype(np.int8), rows["RAC1P"].astype(int).map(merged), 5


def _adult(folder: Path) -> tuple[pd.DataFrame, Any, Any, int]:
    rows = pd.read_parquet(folder / "adult.parquet")
    names = [name for name in rows if name not in ("split", "fnlwgt", "sex", "race", "income")]
    words = {name: object for name in names if not pd.api.types.is_numeric_dtype(rows[name])}
    y = rows["income"].astype(str).str.contains(">").to_numpy(np.int8)
    group = rows["sex"].astype(str) + rows["race"].astype(str)
    return rows[names].astype(words), y, group, 2


def _law_school(folder: Path) -> tuple[pd.DataFrame, Any, Any, int]:
    rows = pd.read_parquet(folder / "law_school_bar_pass.parquet").dropna()
    rows = rows[rows["race1"].isin(["white", "black", "hisp", "asian"])]
    shown = rows[["lsat", "gender", "pass_bar"]].assign(gender=rows["gender"].astype(object))
    return shown, rows["ugpa"].to_numpy(np.float32), rows["race1"].astype(str), 0
