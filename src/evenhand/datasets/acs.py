"""ACSIncome: a person's income class, from the American Community Survey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.task import File, Origin, Task

RACES = (
    "White",
    "Black",
    "American Indian or Alaska Native",
    "Asian or Pacific Islander",
    "Other",
)
WHITE, BLACK, NATIVE, ASIAN, OTHER = RACES
RAC1P = {1: WHITE, 2: BLACK, **dict.fromkeys((3, 4, 5), NATIVE)}
RAC1P |= {**dict.fromkeys((6, 7), ASIAN), **dict.fromkeys((8, 9), OTHER)}
# The partial extract numbers Asian 3 and Native 4: its sizes and incomes leave no doubt.
RAC1P_5 = {1: WHITE, 2: BLACK, 4: NATIVE, 3: ASIAN, 5: OTHER}

WORKER = dict(
    enumerate(
        (
            "private, for profit",
            "private, not for profit",
            "local government",
            "state government",
            "federal government",
            "self-employed, not incorporated",
            "self-employed, incorporated",
            "unpaid in a family business",
            "unemployed",
        ),
        start=1,
    )
)
MARITAL = dict(enumerate(("married", "widowed", "divorced", "separated", "never married"), start=1))
RELATIONSHIP = dict(
    enumerate(
        (
            "reference person",
            "spouse",
            "child",
            "adopted child",
            "stepchild",
            "sibling",
            "parent",
            "grandchild",
            "parent-in-law",
            "child-in-law",
            "other relative",
            "roomer or boarder",
            "housemate or roommate",
            "unmarried partner",
            "foster child",
            "other nonrelative",
            "in an institution",
            "in other group quarters",
        )
    )
)
_ALWAYS = {
    "AGEP": "age",
    "COW": "class_of_worker",
    "SCHL": "education",
    "OCCP": "occupation",
    "WKHP": "hours_per_week",
    "SEX": "sex",
}
_ORIGINS = {"POBP": "place_of_birth", "RELP": "relationship"}
COLUMNS = {**_ALWAYS, "MAR": "marital_status", "RAC1P": "race"}
COLUMNS_2018 = {**COLUMNS, **_ORIGINS}
COLUMNS_PARTIAL = {
    **_ALWAYS,
    **_ORIGINS,
    "MAR_2": "marital_status",
    "RAC1P_5": "race",
    "PINCP_gt_50K": "income",
}
LABELS = {
    "class_of_worker": WORKER,
    "marital_status": MARITAL,
    "sex": {1: "Male", 2: "Female"},
    "race": RAC1P,
}


if TYPE_CHECKING:
    import pandas as pd

    from evenhand.datasets.task import Derivation

# The 50 states and Puerto Rico, as in the published ACSIncome; the District of Columbia is not.
STATES = (
    "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm "
    "ny nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy pr"
)
CENSUS = "https://www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year"


def _keep(raw: pd.DataFrame) -> pd.DataFrame:
    """Keep adults who worked and earned, as ACSIncome does."""
    return raw[raw["AGEP"].gt(16) & raw["PINCP"].gt(100) & raw["WKHP"].gt(0) & raw["PWGTP"].ge(1)]


def _income_class(*edges: int) -> Derivation:
    """Make the classes [0, first), [first, second) and so on."""

    def derive(raw: pd.DataFrame) -> Mapping[str, pd.Series[Any]]:
        import pandas as pd

        codes = np.searchsorted(edges, raw["PINCP"].to_numpy(), side="right")
        return {"income": pd.Series(codes, index=raw.index)}

    return derive


def _official(**details: Any) -> Origin:
    return Origin(
        name="official",
        files=tuple(
            File(name=f"acs_2018_csv_p{state}.zip", url=f"{CENSUS}/csv_p{state}.zip")
            for state in STATES.split()
        ),
        members=("psam_p*.csv",),
        columns=COLUMNS_2018,
        extra=("PINCP", "PWGTP"),
        keep=_keep,
        labels=LABELS | {"relationship": RELATIONSHIP},
        codes=("occupation", "place_of_birth"),
        rows=1_664_500,
        **details,
    )


ABOUT: dict[str, Any] = {
    "source": "US Census Bureau, American Community Survey PUMS, 1-year files, "
    "https://www.census.gov/programs-surveys/acs/microdata.html",
    "license": "public domain, under the Census Bureau's terms of use for microdata",
    "citation": (
        "Ding, F., Hardt, M., Miller, J. and Schmidt, L. (2021). Retiring Adult: new datasets for "
        "fair machine learning. NeurIPS."
    ),
    "kind": "classification",
    "targets": ("income",),
}

ACS_INCOME = Task(
    name="acs_income",
    description=(
        "Income in five classes, of adults who worked, with five race groups. The 2018 classes end "
        "below 15,000, 30,000, 48,600 and 78,030 dollars. Education is an ordinal code, 1 to 24."
    ),
    classes=("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "highest fifth"),
    sensitive=("race",),
    n_groups=5,
    groups=RACES,
    origins=(
        _official(
            derive=_income_class(15_000, 30_000, 48_600, 78_030),
            counts=(
                (233290, 36347, 3883, 18727, 26646),
                (232268, 35779, 3803, 16333, 27630),
                (284095, 34890, 3652, 17202, 24060),
                (273015, 24328, 2296, 17719, 15618),
                (275458, 16229, 1263, 29231, 10738),
            ),
        ),
        Origin(
            name="pums_2024",
            files=(File(name="acs_pums_2024_adult_filter_49states.parquet"),),
            columns=COLUMNS,
            extra=("PINCP",),
            derive=_income_class(20_300, 40_000, 61_700, 100_000),
            labels=LABELS,
            codes=("occupation",),
            rows=1_399_926,
            stand_in="ACS 2024 without California and Texas, classes at its own quintiles, "
            "no place of birth, no relationship",
        ),
    ),
    **ABOUT,
)

ACS_INCOME_BINARY = Task(
    name="acs_income_binary",
    description=(
        "Whether an adult who worked earned more than 50,000 dollars in 2018, by sex; "
        "sensitive='race' groups by race."
    ),
    classes=("<=50K", ">50K"),
    sensitive=("sex",),
    n_groups=2,
    groups=("Male", "Female"),
    origins=(
        _official(derive=_income_class(50_001)),
        Origin(
            name="partial_2018",
            files=(File(name="acsincome_2018_noCA_FLthird.parquet"),),
            columns=COLUMNS_PARTIAL,
            labels=LABELS
            | {
                "race": RAC1P_5,
                "marital_status": {1: "married", 2: "not married"},
                "relationship": RELATIONSHIP,
            },
            codes=("occupation", "place_of_birth"),
            rows=1_402_872,
            stand_in="ACSIncome 2018 without California and two thirds of Florida, "
            "marital status in two values",
        ),
    ),
    **ABOUT,
)
