"""Each kind of bad input gets one clear error."""

import zipfile

import pytest

from evenhand.datasets import FetchError, load, split


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    return tmp_path


def test_an_unknown_task_suggests_the_nearest_name():
    with pytest.raises(ValueError, match=r"no task 'compass'\. Did you mean 'compas'\?"):
        load("compass")
    with pytest.raises(ValueError, match=r"no task 'zzz'\. There are: adult, "):
        load("zzz")


@pytest.mark.parametrize("n_groups", [3, 0, 11, True, "10"])
def test_a_number_of_groups_that_is_not_offered_is_refused(n_groups):
    with pytest.raises(ValueError, match="takes 2, 10, 20, 30, 40, 50"):
        load("adult_multigroup", n_groups=n_groups)


@pytest.mark.parametrize("n_groups", [1, 1001, 2.5])
def test_a_simulation_of_one_group_is_refused(n_groups):
    with pytest.raises(ValueError, match=f"n_groups is {n_groups}; .* takes 2 to 1000"):
        load("simulated_multigroup", n_groups=n_groups)


def test_a_task_with_fixed_groups_takes_no_number_of_groups():
    with pytest.raises(ValueError, match="pass sensitive= to group by other columns"):
        load("adult", n_groups=2)


@pytest.mark.slow
def test_an_unknown_target_column_or_origin_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="target is 'age'; 'adult' has income"):
        load("adult", target="age")
    with pytest.raises(ValueError, match=r"sensitive is \['gender'\]; 'adult' has age, "):
        load("adult", sensitive="gender")
    with pytest.raises(ValueError, match="'adult' has no origin 'kaggle'; it has packaged"):
        load("adult", origin="kaggle")


def test_a_truncated_parquet_file_is_named(folder):
    pytest.importorskip("pyarrow")
    (folder / "law_school_bar_pass.parquet").write_bytes(b"PAR1" + b"\0" * 500)
    with pytest.raises(
        ValueError, match=r"law_school_bar_pass\.parquet \(504 bytes\) cannot be read"
    ):
        load("law_school")


def test_an_empty_file_is_named(folder):
    (folder / "compas-scores.csv").touch()
    with pytest.raises(ValueError, match=r"compas-scores\.csv \(0 bytes\) cannot be read"):
        load("compas")


def test_a_file_with_a_header_and_no_rows_is_named(small):
    folder = small("law_school")
    from evenhand.datasets import TASKS

    official = TASKS["law_school"].official
    header = ",".join([*official.columns, *official.extra])
    (folder / "bar_pass_prediction.csv").write_text(header + "\n")
    with pytest.raises(ValueError, match=r"bar_pass_prediction\.csv has no rows"):
        load("law_school")


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "<html>moved</html>\n<p>here</p>\n"])
def test_a_file_with_other_columns_is_named_with_the_missing_ones(folder, text):
    (folder / "compas-scores.csv").write_text(text)
    with pytest.raises(ValueError, match=r"compas-scores\.csv lacks the columns age, sex, race"):
        load("compas")


def test_a_parquet_file_with_other_columns_is_named_with_the_missing_ones(folder):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1]}).to_parquet(folder / "compas_scores.parquet")
    with pytest.raises(ValueError, match=r"compas_scores\.parquet lacks the columns age"):
        load("compas")


def test_an_archive_without_the_expected_file_is_named_with_what_it_holds(folder):
    with zipfile.ZipFile(folder / "communities_and_crime.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(ValueError, match=r"should hold \*communities\.data; it holds readme\.txt"):
        load("communities")


def test_a_damaged_archive_is_named(folder):
    (folder / "communities_and_crime.zip").write_bytes(b"PK" + b"\0" * 99)
    with pytest.raises(
        ValueError, match=r"communities_and_crime\.zip \(101 bytes\) cannot be read"
    ):
        load("communities")


def test_a_file_with_too_few_rows_is_refused(folder, small):
    small("communities", rows=1_994)
    with zipfile.ZipFile(folder / "communities_and_crime.zip", "w") as archive:
        archive.writestr("communities.data", ",".join(["0.5"] * 128) + "\n")
    with pytest.raises(ValueError, match=r"should have 1,994 rows after the filter; it has 1\."):
        load("communities")


def test_counts_other_than_the_published_ones_are_refused(folder, small):
    small("communities", counts=((1024, 970),))
    with zipfile.ZipFile(folder / "communities_and_crime.zip", "w") as archive:
        archive.writestr("communities.data", ",".join(["0.5"] * 128) + "\n")
    with pytest.raises(
        ValueError, match=r"should give the counts \(\(1024, 970\),\).*\(\(0, 1\),\)"
    ):
        load("communities")


def test_a_code_without_a_name_is_refused(small):
    folder = small("compas", keep=None)
    header = "age,sex,race,c_charge_degree,priors_count,decile_score,is_recid,"
    header += "days_b_screening_arrest,c_jail_in,c_jail_out,score_text\n"
    row = "30,Male,Caucasian,X,1,1,0,0,2013-01-01,2013-01-02,Low\n"
    (folder / "compas-scores.csv").write_text(header + row)
    with pytest.raises(ValueError, match=r"charge_degree takes the values \['X'\].*known are"):
        load("compas")


def test_a_stand_in_that_is_not_here_is_not_downloaded(folder):
    with pytest.raises(FetchError, match=r"enem_2021_bahia\.parquet does not exist"):
        load("enem", origin="bahia_2021")


@pytest.mark.parametrize(("setting", "value"), [("test_size", 0), ("test_size", 1), ("seed", -1)])
def test_a_split_refuses_impossible_settings(setting, value):
    with pytest.raises(ValueError, match=f"{setting} is {value}; it must"):
        split(load("simulated"), **{"seed": 0, setting: value})
