"""Communities and Crime: violent crimes per inhabitant of US communities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.datasets.task import File, Origin, Task

if TYPE_CHECKING:
    import pandas as pd

TARGET = "ViolentCrimesPerPop"
IDENTIFIERS = ("state", "county", "community", "communityname", "fold")
_FILE_COLUMNS = """
state county community communityname fold population householdsize racepctblack racePctWhite
racePctAsian racePctHisp agePct12t21 agePct12t29 agePct16t24 agePct65up numbUrban pctUrban
medIncome pctWWage pctWFarmSelf pctWInvInc pctWSocSec pctWPubAsst pctWRetire medFamInc perCapInc
whitePerCap blackPerCap indianPerCap AsianPerCap OtherPerCap HispPerCap NumUnderPov
PctPopUnderPov PctLess9thGrade PctNotHSGrad PctBSorMore PctUnemployed PctEmploy PctEmplManu
PctEmplProfServ PctOccupManu PctOccupMgmtProf MalePctDivorce MalePctNevMarr FemalePctDiv
TotalPctDiv PersPerFam PctFam2Par PctKids2Par PctYoungKids2Par PctTeen2Par PctWorkMomYoungKids
PctWorkMom NumIlleg PctIlleg NumImmig PctImmigRecent PctImmigRec5 PctImmigRec8 PctImmigRec10
PctRecentImmig PctRecImmig5 PctRecImmig8 PctRecImmig10 PctSpeakEnglOnly PctNotSpeakEnglWell
PctLargHouseFam PctLargHouseOccup PersPerOccupHous PersPerOwnOccHous PersPerRentOccHous
PctPersOwnOccup PctPersDenseHous PctHousLess3BR MedNumBR HousVacant PctHousOccup PctHousOwnOcc
PctVacantBoarded PctVacMore6Mos MedYrHousBuilt PctHousNoPhone PctWOFullPlumb OwnOccLowQuart
OwnOccMedVal OwnOccHiQuart RentLowQ RentMedian RentHighQ MedRent MedRentPctHousInc
MedOwnCostPctInc MedOwnCostPctIncNoMtg NumInShelters NumStreet PctForeignBorn PctBornSameState
PctSameHouse85 PctSameCity85 PctSameState85 LemasSwornFT LemasSwFTPerPop LemasSwFTFieldOps
LemasSwFTFieldPerPop LemasTotalReq LemasTotReqPerPop PolicReqPerOffic PolicPerPop
RacialMatchCommPol PctPolicWhite PctPolicBlack PctPolicHisp PctPolicAsian PctPolicMinor
OfficAssgnDrugUnits NumKindsDrugsSeiz PolicAveOTWorked LandArea PopDens PctUsePubTrans PolicCars
PolicOperBudg LemasPctPolicOnPatr LemasGangUnitDeploy LemasPctOfficDrugUn PolicBudgPerPop
ViolentCrimesPerPop
"""
# Police figures, missing for 1,675 of the 1,994 communities.
_POLICE = """
LemasSwornFT LemasSwFTPerPop LemasSwFTFieldOps LemasSwFTFieldPerPop LemasTotalReq
LemasTotReqPerPop PolicReqPerOffic PolicPerPop RacialMatchCommPol PctPolicWhite PctPolicBlack
PctPolicHisp PctPolicAsian PctPolicMinor OfficAssgnDrugUnits NumKindsDrugsSeiz PolicAveOTWorked
PolicCars PolicOperBudg LemasPctPolicOnPatr LemasGangUnitDeploy PolicBudgPerPop
"""
FILE_COLUMNS = _FILE_COLUMNS.split()
FEATURES = [name for name in FILE_COLUMNS if name not in {*IDENTIFIERS, *_POLICE.split(), TARGET}]


def _race(raw: pd.DataFrame) -> Mapping[str, pd.Series[Any]]:
    is_high = raw["racepctblack"].gt(0.06)
    return {"race": is_high.map({False: "White", True: "non-White"})}


SHARED: dict[str, Any] = {
    "columns": {name: name for name in (*FEATURES, TARGET)},
    "derive": _race,
    "labels": {"race": {"White": "White", "non-White": "non-White"}},
    "rows": 1_994,
    "counts": ((1024, 970),),
}

COMMUNITIES = Task(
    name="communities",
    description=(
        "Violent crimes per 100,000 people in 1,994 US communities, scaled to 0 … 1. A community "
        "counts as non-White where the scaled share of black inhabitants (racepctblack) exceeds "
        "0.06, the common split. Names, codes and the police figures, mostly missing, are left out."
    ),
    source="UCI Machine Learning Repository, "
    "https://archive.ics.uci.edu/dataset/183/communities+and+crime",
    license="CC BY 4.0",
    citation=(
        "Redmond, M. (2002). Communities and Crime [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C53W3X"
    ),
    kind="regression",
    targets=(TARGET,),
    sensitive=("race",),
    n_groups=2,
    groups=("White", "non-White"),
    origins=(
        Origin(
            name="official",
            files=(
                File(
                    name="communities_and_crime.zip",
                    url="https://archive.ics.uci.edu/static/public/183/communities+and+crime.zip",
                ),
            ),
            members=("*communities.data",),
            csv={"names": FILE_COLUMNS, "na_values": "?"},
            **SHARED,
        ),
        Origin(name="extract", files=(File(name="communities_crime.parquet"),), **SHARED),
    ),
)
