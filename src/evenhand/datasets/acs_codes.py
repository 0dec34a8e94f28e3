"""Names for the codes of the American Community Survey's person files."""

from __future__ import annotations

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
