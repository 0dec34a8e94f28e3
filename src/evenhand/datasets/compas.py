"""COMPAS: whether a defendant in Broward County was charged again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.datasets.task import File, Origin, Task

if TYPE_CHECKING:
    import pandas as pd

RACES = ("African-American", "Caucasian")
REPOSITORY = (
    "https://raw.githubusercontent.com/propublica/compas-analysis/"
    "bafff5da3f2e45eca6c2d5055faad269defd135a"
)
FEATURES = {
    "age": "age",
    "sex": "sex",
    "race": "race",
    "c_charge_degree": "charge_degree",
    "priors_count": "priors_count",
    "decile_score": "risk_score",
}
DATES = ("days_b_screening_arrest", "c_jail_in", "c_jail_out")
LABELS = {
    "race": {race: race for race in RACES},
    "sex": {sex: sex for sex in ("Female", "Male")},
    "charge_degree": {"F": "felony", "M": "misdemeanor"},
}


def _keep(raw: pd.DataFrame) -> pd.DataFrame:
    """Keep who was screened within 30 days of an arrest for an offence that leads to jail."""
    return raw[
        raw["days_b_screening_arrest"].abs().le(30)
        & raw["is_recid"].ne(-1)
        & raw["c_charge_degree"].ne("O")
        & raw["race"].isin(RACES)
    ]


def _keep_scored(raw: pd.DataFrame) -> pd.DataFrame:
    return _keep(raw[raw["score_text"].notna()])


def _length_of_stay(raw: pd.DataFrame) -> Mapping[str, pd.Series[Any]]:
    import pandas as pd

    stay = pd.to_datetime(raw["c_jail_out"]) - pd.to_datetime(raw["c_jail_in"])
    return {"days_in_jail": stay.dt.days}


ABOUT: dict[str, Any] = {
    "source": "ProPublica, https://github.com/propublica/compas-analysis",
    "license": "none published by ProPublica; not redistributed here",
    "citation": (
        "Angwin, J., Larson, J., Mattu, S. and Kirchner, L. (2016). Machine bias. ProPublica."
    ),
    "kind": "classification",
    "classes": ("no recidivism", "recidivism"),
    "sensitive": ("race",),
    "n_groups": 2,
    "groups": RACES,
}

SCORES: dict[str, Any] = {
    "columns": FEATURES | {"is_recid": "is_recid"},
    "extra": (*DATES, "score_text"),
    "keep": _keep_scored,
    "derive": _length_of_stay,
    "labels": LABELS,
    "source_rows": 11_757,
    "rows": 7_918,
    "counts": ((2781, 2318), (1890, 929)),
}

COMPAS = Task(
    name="compas",
    description=(
        "Whether a defendant was charged again, from age, sex, race, charge, prior offences, days "
        "in jail and risk score. The filter is inferred from the published count of 7,918 rows."
    ),
    targets=("is_recid",),
    origins=(
        Origin(
            name="official",
            # No checksum of this file has been published that could be compared; see the counts.
            files=(File(name="compas-scores.csv", url=f"{REPOSITORY}/compas-scores.csv"),),
            **SCORES,
        ),
        Origin(name="extract", files=(File(name="compas_scores.parquet"),), **SCORES),
    ),
    **ABOUT,
)

TWO_YEARS: dict[str, Any] = {
    "columns": FEATURES | {"two_year_recid": "two_year_recid", "is_recid": "is_recid"},
    "extra": DATES,
    "keep": _keep,
    "derive": _length_of_stay,
    "labels": LABELS,
    "source_rows": 7_214,
    "rows": 5_278,
    "counts": ((1514, 1281), (1661, 822)),
}

COMPAS_TWO_YEARS = Task(
    name="compas_two_years",
    description=(
        "The file most toolkits use: whether a defendant was charged again within two years, or "
        "at all (target='is_recid')."
    ),
    targets=("two_year_recid", "is_recid"),
    origins=(
        Origin(
            name="official",
            files=(
                File(
                    name="compas-scores-two-years.csv",
                    url=f"{REPOSITORY}/compas-scores-two-years.csv",
                    sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
                ),
            ),
            **TWO_YEARS,
        ),
        Origin(name="extract", files=(File(name="compas_two_years.parquet"),), **TWO_YEARS),
    ),
    **ABOUT,
)
