"""LSAC bar passage study: undergraduate grades of law students."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.datasets.task import File, Origin, Task

if TYPE_CHECKING:
    import pandas as pd

RACES = ("white", "black", "hisp", "asian")
COLUMNS = {
    "lsat": "lsat",
    "gender": "gender",
    "race1": "race",
    "pass_bar": "passed_bar",
    "ugpa": "undergraduate_gpa",
}
# Read only because a row with a gap in any column is dropped.
OTHERS = """
decile1b decile3 ID decile1 sex race cluster zfygpa DOB_yr grad zgpa bar1 bar1_yr bar2 bar2_yr
fulltime fam_inc age parttime male race2 Dropout other asian black hisp bar bar_passed tier
index6040 indxgrp indxgrp2 dnn_bar_pass_prediction gpa
"""


def _keep(raw: pd.DataFrame) -> pd.DataFrame:
    complete = raw.dropna()
    return complete[complete["race1"].isin(RACES)]


SHARED: dict[str, Any] = {
    "columns": COLUMNS,
    "extra": tuple(OTHERS.split()),
    "keep": _keep,
    "labels": {
        "race": dict(zip(RACES, ("White", "Black", "Hispanic", "Asian"), strict=True)),
        "gender": {"female": "Female", "male": "Male"},
        "passed_bar": {0: "no", 1: "yes"},
    },
    "source_rows": 22_407,
    "rows": 20_053,
    "counts": ((17139, 1198, 926, 790),),
}

LAW_SCHOOL = Task(
    name="law_school",
    description=(
        "A law student's undergraduate grade average, from admission test, gender, race and bar "
        "passage. Rows with a gap in any of the 39 columns, and races other than four, are left "
        "out, and so is dnn_bar_pass_prediction, the output of somebody's model."
    ),
    source=(
        "LSAC National Longitudinal Bar Passage Study, in the copy of the TensorFlow fairness "
        "tutorials; LSAC's own download has gone"
    ),
    license="none published by LSAC; not redistributed here",
    citation="Wightman, L. F. (1998). LSAC national longitudinal bar passage study. LSAC.",
    kind="regression",
    targets=("undergraduate_gpa",),
    sensitive=("race",),
    n_groups=4,
    groups=("White", "Black", "Hispanic", "Asian"),
    origins=(
        Origin(
            name="official",
            files=(
                File(
                    name="bar_pass_prediction.csv",
                    url="https://storage.googleapis.com/lawschool_dataset/bar_pass_prediction.csv",
                ),
            ),
            **SHARED,
        ),
        Origin(name="extract", files=(File(name="law_school_bar_pass.parquet"),), **SHARED),
    ),
)
