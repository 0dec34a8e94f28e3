"""HSLS:09: whether a ninth-grader's mathematics score is above the median."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.datasets.task import File, Origin, Task

if TYPE_CHECKING:
    import pandas as pd

GROUPS = ("Under-represented", "White or Asian")
WHITE_OR_ASIAN = ("White, non-Hispanic", "Asian, non-Hispanic")
IMPUTATION_MIB = 256
MISSING = (-9, -8, -7, -5)
SCALES = {
    "X1SES": "socioeconomic_status",
    "X1MTHID": "mathematics_identity",
    "X1MTHUTI": "mathematics_utility",
    "X1MTHEFF": "mathematics_efficacy",
    "X1MTHINT": "mathematics_interest",
    "X1SCIID": "science_identity",
    "X1SCIUTI": "science_utility",
    "X1SCIEFF": "science_efficacy",
    "X1SCIINT": "science_interest",
    "X1SCHOOLBEL": "school_belonging",
    "X1SCHOOLENG": "school_engagement",
    "X1SCHOOLCLI": "school_climate",
    "X1STUEDEXPCT": "student_expects_degree",
    "X1PAREDEXPCT": "parent_expects_degree",
}
ANSWERS = {
    "X1CONTROL": "school_control",
    "X1LOCALE": "school_locale",
    "X1REGION": "school_region",
    "S1M8GRADE": "mathematics_grade_8",
}
FAMILY = {
    "X1PAR2EDU": "parent_2_education",
    "X1FAMINCOME": "family_income",
    "X1P1RELATION": "parent_1_relation",
    "X1PAR1EMP": "parent_1_employment",
    "X1STU30OCC2": "expected_occupation",
}
SHORT_SCALES = ("X1MTHID", "X1MTHUTI", "X1MTHEFF", "X1SCHOOLBEL")
FEATURES = {"X1SEX": "sex", **SCALES, **ANSWERS, **FAMILY}


def _above_median(score: pd.Series[Any]) -> pd.Series[Any]:
    return score.gt(score.median()).astype("int64")


def _keep(raw: pd.DataFrame) -> pd.DataFrame:
    """Keep students with a score, a race, a sex and at least half of the answers."""
    clean = raw.mask(raw.isin(MISSING))
    has_outcome = clean[["X1TXMSCR", "X1RACE", "X1SEX"]].notna().all(axis=1)
    return clean[has_outcome & clean[list(FEATURES)].isna().mean(axis=1).le(0.5)]


def _official(raw: pd.DataFrame) -> Mapping[str, pd.Series[Any]]:
    """Impute each gap from the nearest student, so that codes stay codes."""
    import pandas as pd
    from sklearn import config_context
    from sklearn.impute import KNNImputer

    answers = raw[list(FEATURES)].astype("float64")
    low, width = answers.min(), (answers.max() - answers.min()).replace(0, 1)
    imputer = KNNImputer(n_neighbors=1, keep_empty_features=True)
    with config_context(working_memory=IMPUTATION_MIB):
        filled = imputer.fit_transform((answers - low) / width)
    imputed = pd.DataFrame(filled, raw.index, answers.columns) * width + low
    race = raw["X1RACE"].isin((2, 8)).map({True: GROUPS[1], False: GROUPS[0]})
    columns = {ours: imputed[name].round(6) for name, ours in FEATURES.items()}
    return columns | {"race": race, "above_median": _above_median(raw["X1TXMSCR"])}


def _imputed(raw: pd.DataFrame) -> Mapping[str, pd.Series[Any]]:
    race = raw["X1RACE"].isin(WHITE_OR_ASIAN).map({True: GROUPS[1], False: GROUPS[0]})
    return {"race": race, "above_median": _above_median(raw["X1TXMTSCOR"])}


RACE = {group: group for group in GROUPS}

HSLS = Task(
    name="hsls",
    description=(
        "Whether a ninth-grader scores above the median in mathematics, from family, school and "
        "attitudes, for White and Asian students against under-represented ones. The published "
        "study has 14,509 students and 59 columns it does not name; these are other columns."
    ),
    source="National Center for Education Statistics, HSLS:09 public-use file, "
    "https://nces.ed.gov/surveys/hsls09/",
    license="public domain, under the NCES data usage agreement",
    citation="Ingels, S. J. et al. (2011). High School Longitudinal Study of 2009. NCES 2011-328.",
    kind="classification",
    targets=("above_median",),
    classes=("at or below the median", "above the median"),
    sensitive=("race",),
    n_groups=2,
    groups=GROUPS,
    origins=(
        Origin(
            name="official",
            files=(
                File(
                    name="HSLS_2017_PETS_SR_v1_0_CSV_Datasets.zip",
                    url="https://nces.ed.gov/EDAT/Data/Zip/HSLS_2017_PETS_SR_v1_0_CSV_Datasets.zip",
                ),
            ),
            members=("*hsls_17_student_pets_sr_v1_0.csv",),
            columns=FEATURES,
            extra=("X1RACE", "X1TXMSCR"),
            keep=_keep,
            derive=_official,
            labels={"race": RACE, "sex": {1: "Male", 2: "Female"}},
            codes=(*ANSWERS.values(), *FAMILY.values()),
            source_rows=23_503,
        ),
        Origin(
            name="edm2024",
            files=(File(name="hsls_edm2024_pmm_imputed.parquet"),),
            columns={"X1SEX": "sex", "X1STAGE": "age", **SCALES, **ANSWERS},
            extra=("X1RACE", "X1TXMTSCOR"),
            derive=_imputed,
            # Its code 1 drops out more and is surer of its mathematics: 1 is the official 1, male.
            labels={"race": RACE, "sex": {0: "Female", 1: "Male"}},
            rows=17_332,
            stand_in="an extract of HSLS:09 imputed by others, 17,332 students",
        ),
        Origin(
            name="fairmipforest",
            files=(File(name="hsls_fairmipforest_9feat.parquet"),),
            columns={
                "racebin": "race",
                "gradebin": "above_median",
                **{name: SCALES[name] for name in SHORT_SCALES},
                **FAMILY,
            },
            labels={"race": {0: "group 0", 1: "group 1"}},
            codes=tuple(FAMILY.values()),
            rows=21_444,
            stand_in="an extract of HSLS:09 whose two race groups are not documented",
        ),
    ),
)
