"""The published counts, on the real rows where they are at hand."""

import bz2
import csv

import pytest

from evenhand.datasets import load
from evenhand.datasets.fetch import locate
from evenhand.datasets.loader import counts

pytestmark = pytest.mark.slow

FILES = {
    ("adult", "extract"): ("adult.parquet", 48_842),
    ("compas", "extract"): ("compas_scores.parquet", 7_918),
    ("compas_two_years", "extract"): ("compas_two_years.parquet", 5_278),
    ("communities", "extract"): ("communities_crime.parquet", 1_994),
    ("law_school", "extract"): ("law_school_bar_pass.parquet", 20_053),
    ("acs_income_binary", "partial_2018"): ("acsincome_2018_noCA_FLthird.parquet", 1_402_872),
    ("acs_income", "pums_2024"): ("acs_pums_2024_adult_filter_49states.parquet", 1_399_926),
    ("hsls", "edm2024"): ("hsls_edm2024_pmm_imputed.parquet", 17_332),
    ("hsls", "fairmipforest"): ("hsls_fairmipforest_9feat.parquet", 21_444),
    ("enem", "bahia_2021"): ("enem_2021_bahia.parquet", 50_000),
    ("enem", "years_2017_2023"): ("enem_2017_2023_5k_per_year.parquet", 14_844),
    ("enem", "sample_2020"): ("enem_2020_5k_official_layout.parquet", 1_674),
}
PUBLISHED = {
    ("compas", "extract", None): ((2781, 2318), (1890, 929)),
    ("compas_two_years", "extract", "is_recid"): ((1402, 1229), (1773, 874)),
    ("communities", "extract", None): ((1024, 970),),
    ("law_school", "extract", None): ((17139, 1198, 926, 790),),
}


@pytest.mark.parametrize(("name", "origin"), FILES)
def test_a_file_of_the_data_directory_has_its_rows_and_no_unnamed_group(data_file, name, origin):
    file, rows = FILES[name, origin]
    data_file(file)
    dataset = load(name, origin=origin)
    assert dataset.n_rows == rows
    assert not dataset.groups.isna().any(axis=None)
    assert not dataset.y.isna().any()
    assert set(dataset.categorical) | set(dataset.numeric) == set(dataset.X.columns)
    assert dataset.is_stand_in == (origin != "extract")
    assert ("stand-in" in dataset.title) == dataset.is_stand_in


@pytest.mark.parametrize(("name", "origin", "target"), PUBLISHED)
def test_classes_by_groups_are_as_published(data_file, name, origin, target):
    data_file(FILES[name, origin][0])
    dataset = load(name, origin=origin, target=target)
    assert counts(dataset) == PUBLISHED[name, origin, target]


def test_adult_ships_with_the_package_and_has_its_published_counts():
    adult = load("adult", origin="packaged")
    assert adult.n_rows == 48_842
    assert counts(adult) == ((14423, 22732), (1769, 9918))
    assert adult.X["race"].value_counts().to_dict() == {
        "White": 41762,
        "Black": 4685,
        "Asian-Pac-Islander": 1519,
        "Amer-Indian-Eskimo": 470,
        "Other": 406,
    }
    assert adult.X.isna().sum().sum() == 2799 + 2809 + 857
    packaged = locate(adult.origin.files[0])
    assert packaged.stat().st_size < 600_000
    assert "CC BY 4.0" in packaged.with_name("ADULT.md").read_text()


def test_the_packaged_adult_is_the_extract_row_for_row(data_file):
    pd = pytest.importorskip("pandas")
    extract = pd.read_parquet(data_file("adult.parquet"))
    with bz2.open(locate(load("adult").origin.files[0]), "rt") as stream:
        header, *rows = csv.reader(stream)
    assert header == list(extract.columns)
    texts = extract.astype(object).where(extract.notna(), "").astype(str)
    assert rows == texts.to_numpy().tolist()


def test_the_partial_income_file_has_fewer_of_every_race_than_the_whole(data_file):
    data_file("acsincome_2018_noCA_FLthird.parquet")
    races = load("acs_income_binary", origin="partial_2018").X["race"].value_counts()
    whole = load_official_race_totals()
    assert all(0.5 * whole[race] < races[race] < whole[race] for race in whole)


def load_official_race_totals() -> dict[str, int]:
    from evenhand.datasets.acs import ACS_INCOME, RACES

    assert ACS_INCOME.official is not None
    table = ACS_INCOME.official.counts
    assert sum(map(sum, table)) == 1_664_500
    return {race: sum(column) for race, column in zip(RACES, zip(*table, strict=True), strict=True)}


def test_the_filter_on_bahia_leaves_80_885_candidates(data_file):
    from dataclasses import replace

    from evenhand.datasets import tables

    path = data_file("enem_2021_bahia.parquet")
    origin = load("enem", origin="bahia_2021").origin
    kept, rows = tables.read(path, replace(origin, sample=None))
    assert (len(kept), rows) == (80_885, 174_793)
