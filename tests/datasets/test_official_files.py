"""The official layouts, on a few made-up rows each."""

import zipfile

import numpy as np
import pytest

from evenhand.datasets import TASKS, load
from evenhand.datasets.communities import FILE_COLUMNS
from evenhand.datasets.enem import CODED
from evenhand.datasets.hsls import FEATURES


def pack(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/"), text)


def table(header, rows, sep=","):
    return "\n".join(sep.join(map(str, row)) for row in [header, *rows]) + "\n"


def test_adult_is_read_from_both_files_of_the_archive(small):
    train = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, "
        "2174, 0, 40, Cuba, <=50K\n"
    )
    test = "|1x3 Cross validator\n" + train.replace("<=50K", ">50K.").replace("Male", "Female")
    folder = small("adult")
    with zipfile.ZipFile(folder / "adult.zip", "w") as archive:
        archive.writestr("adult.data", train + "\n")
        archive.writestr("adult.test", test)
        archive.writestr("adult.names", "words")
    adult = load("adult")
    assert adult.y.tolist() == [0, 1]
    assert adult.X["sex"].tolist() == ["Male", "Female"]
    assert adult.X["occupation"].isna().all()
    assert adult.X["education_num"].tolist() == [13, 13]


def test_compas_keeps_scored_felons_and_misdemeanants_near_their_screening(small):
    header = [
        "id", "sex", "age", "race", "decile_score", "priors_count", "days_b_screening_arrest",
        "c_jail_in", "c_jail_out", "c_charge_degree", "is_recid", "decile_score", "score_text",
    ]  # fmt: skip
    jail = ["2013-01-01 10:00:00", "2013-01-04 09:00:00"]
    good = [1, "Male", 30, "Caucasian", 4, 2, -1.0, *jail, "F", 1, 9, "Low"]
    changes = [(3, "Hispanic"), (6, 31), (6, ""), (9, "O"), (10, -1), (12, "")]
    bad = [[value if i == at else old for i, old in enumerate(good)] for at, value in changes]
    (small("compas") / "compas-scores.csv").write_text(table(header, [good, *bad]))
    compas = load("compas")
    assert compas.n_rows == 1
    assert compas.X.loc[0, ["risk_score", "days_in_jail"]].tolist() == [4, 2]
    assert compas.X.loc[0, "charge_degree"] == "felony"


CENSUS = ["RT,SERIALNO,PWGTP,AGEP,COW,SCHL,MAR,OCCP,POBP,RELP,WKHP,SEX,RAC1P,PINCP"]
ALABAMA = [
    ["P", 1, 5, 40, 1, 21, 1, 10, 6, 0, 40, 1, 6, 14_999],
    ["P", 2, 5, 17, 9, 16, 5, 20, 6, 17, 1, 2, 3, 15_000],
    ["P", 3, 5, 16, 1, 16, 5, 20, 6, 2, 20, 2, 1, 50_000],
    ["P", 4, 5, 40, 1, 16, 5, "", 6, 2, "", 2, 1, 50_000],
    ["P", 5, 5, 40, 1, 16, 5, 20, 6, 2, 10, 2, 1, 100],
    ["P", 6, 0, 40, 1, 16, 5, 20, 6, 2, 10, 2, 1, 50_000],
]
ALASKA = [["P", 7, 1, 50, 7, 24, 3, 30, 303, 13, 60, 2, 9, 78_030]]


def test_income_is_read_state_by_state_with_the_adult_filter(small):
    official = TASKS["acs_income"].official
    assert official is not None
    folder = small("acs_income", files=official.files[:2])
    small("acs_income_binary", files=official.files[:2])
    alabama = {"psam_p01.csv": table(CENSUS, ALABAMA), "readme.pdf": ""}
    pack(folder / "acs_2018_csv_pal.zip", **alabama)
    pack(folder / "acs_2018_csv_pak.zip", **{"psam_p02.csv": table(CENSUS, ALASKA)})
    acs = load("acs_income")
    assert acs.y.tolist() == [0, 1, 4]
    assert acs.X["race"].tolist() == [acs.task.groups[i] for i in (3, 2, 4)]
    assert acs.X["relationship"].tolist()[2] == "unmarried partner"
    assert [str(code) for code in acs.X["occupation"]] == ["10", "20", "30"]
    assert set(acs.numeric) == {"age", "education", "hours_per_week"}
    assert load("acs_income_binary").y.tolist() == [0, 0, 1]


def test_income_is_asked_of_fifty_states_and_puerto_rico():
    official = TASKS["acs_income"].official
    assert official is not None
    states = {file.name[-6:-4] for file in official.files}
    assert len(states) == 51
    assert "pr" in states
    assert "dc" not in states


def test_enem_keeps_school_leavers_who_sat_all_papers(small):
    header = [*CODED["columns"], *CODED["extra"]]
    good = dict.fromkeys(header, "A") | dict.fromkeys(CODED["extra"], 1)
    good |= {
        "TP_SEXO": "F",
        "TP_FAIXA_ETARIA": 4,
        "SG_UF_PROVA": "SP",
        "Q005": 3,
        "IN_TREINEIRO": 0,
    }
    people = [good | {"TP_COR_RACA": 1 + i % 5, "NU_NOTA_CH": 400 + 10 * i} for i in range(10)]
    excluded = [
        {"TP_COR_RACA": 0}, {"TP_PRESENCA_MT": 0}, {"IN_TREINEIRO": 1}, {"TP_ST_CONCLUSAO": 2}
    ]  # fmt: skip
    people += [good | {"TP_COR_RACA": 3} | change for change in excluded]
    text = table(header, [[person[name] for name in header] for person in people], sep=";")
    text = text.replace("SP", "São Paulo", 1)
    folder = small("enem")
    with zipfile.ZipFile(folder / "microdados_enem_2020.zip", "w") as archive:
        archive.writestr("DADOS/MICRODADOS_ENEM_2020.csv", text.encode("latin-1"))
    enem = load("enem")
    assert enem.y.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert enem.X["race"].tolist()[:5] == list(enem.task.groups)
    assert enem.numeric == ("household_size",)
    assert "São Paulo" in enem.X["state"].tolist()


def test_hsls_drops_students_without_score_and_fills_gaps_from_the_nearest(small):
    header = ["STU_ID", "X1RACE", "X1TXMSCR", *FEATURES]
    answers = dict.fromkeys(FEATURES, 1)
    like = answers | {"X1SES": 0.5, "X1PAR2EDU": 4}
    unlike = dict.fromkeys(FEATURES, 2)
    students = [
        like | {"STU_ID": 1, "X1RACE": 8, "X1TXMSCR": 60.0},
        like | {"STU_ID": 2, "X1RACE": 3, "X1TXMSCR": 40.0, "X1PAR2EDU": -9},
        unlike | {"STU_ID": 3, "X1RACE": 2, "X1TXMSCR": 50.0},
        like | {"STU_ID": 4, "X1RACE": 8, "X1TXMSCR": -8},
        like | {"STU_ID": 5, "X1RACE": -9, "X1TXMSCR": 50.0},
        like | dict.fromkeys(list(FEATURES)[1:], -7) | {"STU_ID": 6, "X1RACE": 8, "X1TXMSCR": 50.0},
    ]
    rows = [[student[name] for name in header] for student in students]
    name = "HSLS_2017_PETS_SR_v1_0_CSV_Datasets.zip"
    pack(small("hsls") / name, **{"x__hsls_17_student_pets_sr_v1_0.csv": table(header, rows)})
    hsls = load("hsls")
    assert hsls.y.tolist() == [1, 0, 0]
    assert hsls.X["race"].tolist() == ["White or Asian", "Under-represented", "White or Asian"]
    assert hsls.X["parent_2_education"].tolist() == [4, 4, 2]
    assert not hsls.X.isna().any(axis=None)


def test_communities_has_no_header_and_question_marks(small):
    def row(black):
        cells = dict.fromkeys(FILE_COLUMNS, 0.5) | {"racepctblack": black, "PolicCars": "?"}
        return [cells[name] for name in FILE_COLUMNS]

    text = table(row(0.06), [row(0.07)])
    pack(small("communities") / "communities_and_crime.zip", **{"communities.data": text})
    communities = load("communities")
    assert communities.X["race"].tolist() == ["White", "non-White"]
    assert communities.X.shape == (2, 101)
    assert communities.y.dtype == np.float64


def test_law_school_drops_rows_with_any_gap_and_other_races(small):
    official = TASKS["law_school"].official
    assert official is not None
    header = [*official.columns, *official.extra]
    good = dict.fromkeys(header, 1.0) | {"gender": "female", "race1": "hisp", "pass_bar": 1}
    people = [good, good | {"race1": "other"}, good | {"fam_inc": ""}]
    text = table(header, [[person[name] for name in header] for person in people])
    (small("law_school") / "bar_pass_prediction.csv").write_text(text)
    law = load("law_school")
    assert law.X.to_dict("records") == [
        {"lsat": 1.0, "gender": "Female", "race": "Hispanic", "passed_bar": "yes"}
    ]


@pytest.mark.parametrize("name", ["compas_two_years", "acs_income", "law_school", "communities"])
def test_every_official_origin_declares_counts_to_verify(name):
    assert TASKS[name].official.counts
