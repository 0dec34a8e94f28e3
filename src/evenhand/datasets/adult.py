"""UCI Adult: whether a person of the 1994 census earns more than 50,000 dollars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.datasets.task import File, Origin, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from evenhand.datasets.task import Derivation

CLASSES = ("<=50K", ">50K")
RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
FILE_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
# fnlwgt is the number of people a row represents; it does not describe the person.
COLUMNS = {name: name.replace("-", "_") for name in FILE_COLUMNS if name != "fnlwgt"}
LABELS = {
    "sex": {sex: sex for sex in ("Female", "Male")},
    "race": {race: race for race in RACES},
    "income": {income: income for income in CLASSES},
}
BY_SEX = ((14423, 22732), (1769, 9918))
PACKAGED = File(name="adult.csv.bz2", packaged=True)
EXTRACT = File(name="adult.parquet")
OFFICIAL = File(
    name="adult.zip",
    url="https://archive.ics.uci.edu/static/public/2/adult.zip",
    sha256="7537312dd56c2b98035880805ce99e68183a30ee468aa5329d6df0fbb3cc21bb",
)
MEMBERS = ("adult.data", "adult.test")
LAYOUT = {"names": FILE_COLUMNS, "skipinitialspace": True, "na_values": "?", "comment": "|"}
AGE_BINS = {2: 0, 10: 0, 20: 2, 30: 3, 40: 4, 50: 5}


def _income(raw: pd.DataFrame) -> Mapping[str, pd.Series[Any]]:
    """Undo the full stop that ends every label of the official test file."""
    return {"income": raw["income"].str.rstrip(".")}


def _with_age_bins(bins: int) -> Derivation:
    def derive(raw: pd.DataFrame) -> Mapping[str, pd.Series[Any]]:
        import pandas as pd

        cut = pd.qcut(raw["age"], bins, precision=0)
        names = {part: f"{part.left + 1:.0f} to {part.right:.0f}" for part in cut.cat.categories}
        return {**_income(raw), "age_bin": cut.cat.rename_categories(names)}

    return derive if bins else _income


def _origins(derive: Derivation, counts: tuple[tuple[int, ...], ...] = ()) -> tuple[Origin, ...]:
    shared: dict[str, Any] = {
        "columns": COLUMNS,
        "labels": LABELS,
        "derive": derive,
        "rows": 48_842,
        "counts": counts,
    }
    return (
        Origin(name="packaged", files=(PACKAGED,), **shared),
        Origin(name="extract", files=(EXTRACT,), **shared),
        Origin(name="official", files=(OFFICIAL,), members=MEMBERS, csv=LAYOUT, **shared),
    )


ABOUT: dict[str, Any] = {
    "source": "UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/2/adult",
    "license": "CC BY 4.0",
    "citation": (
        "Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5XW20"
    ),
    "kind": "classification",
    "targets": ("income",),
    "classes": CLASSES,
}

ADULT = Task(
    name="adult",
    description=(
        "Whether a person earns more than 50,000 dollars a year, from the 1994 US census; training "
        "and test file joined. Missing workclass, occupation and country stay missing."
    ),
    sensitive=("sex",),
    n_groups=2,
    groups=("Female", "Male"),
    origins=_origins(_income, BY_SEX),
    **ABOUT,
)


def adult_multigroup(n_groups: int) -> Task:
    """Adult by sex (2 groups), with race (10), with age in 2 to 5 quantile bins (20 to 50)."""
    bins = AGE_BINS[n_groups]
    sensitive = ("sex", "race", "age_bin")
    return Task(
        name="adult_multigroup",
        description=(
            "Adult with intersectional groups: sex; sex and race; sex, race and age in quantile "
            "bins. The bins are cut over all rows; X gains the column age_bin."
        ),
        sensitive=sensitive if bins else sensitive[: 1 if n_groups == 2 else 2],
        n_groups=n_groups,
        origins=_origins(_with_age_bins(bins)),
        group_counts=tuple(AGE_BINS),
        variant=adult_multigroup,
        **ABOUT,
    )


ADULT_MULTIGROUP = adult_multigroup(10)
