"""CSV and JSON lines declare no types: what is read is what is written, in every row."""

import gzip
import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand._files.files import connect, open_files
from evenhand._files.text_files import ROWS_TO_GUESS

MANY = 2 * ROWS_TO_GUESS + 5


def read(path, *columns):
    """The rows of a file, as the audit will see them."""
    quoted = (f'"{name}"' for name in columns)
    return open_files(connect(), [str(path)], columns).select(*quoted).fetchall()


def csv_of(values, path):
    path.write_text("v,other\n" + "".join(f"{value},1\n" for value in values), encoding="utf-8")
    return path


def json_of(values, path):
    path.write_text("".join(json.dumps({"v": value, "other": 1}) + "\n" for value in values))
    return path


LATE = {  # many alike, then one that the first rows did not announce
    "a fraction": (["1"], "0.4", 1.0, 0.4),
    "text": (["1"], "x", "1", "x"),
    "text among fractions": (["1.5"], "x", "1.5", "x"),
    "a number among truth values": (["true"], "7", "true", "7"),
    "leading zeros": (["1", "2"], "007", "1", "007"),
    "a number of 19 digits": (["1"], "9007199254740993000", "1", "9007199254740993000"),
    "a long number with a fraction": (["1"], "1e-05", 1.0, 1e-05),
    "nothing": (["1"], "", 1, None),
    "a date": (["2024-01-01"], "someday", "2024-01-01", "someday"),
}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("case", LATE)
def test_a_late_value_of_csv_is_read_as_it_is_written(tmp_path, case, ending):
    usual, last, first_read, last_read = LATE[case]
    path = csv_of([*usual * (MANY // len(usual)), last], tmp_path / "rows.csv")
    if ending == "csv.gz":
        path = tmp_path / "rows.csv.gz"
        path.write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    rows = read(path, "v")
    assert {(rows[0][0]), rows[-1][0]} == {first_read, last_read}
    assert type(rows[0][0]) is type(first_read)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("usual", "last", "expected"),
    [
        (1, 0.4, {1.0, 0.4}),
        (1, "x", {"1", "x"}),
        ("2024-01-01", "someday", {"2024-01-01", "someday"}),
        ("2024-01-01", "2024-01-02", {"2024-01-01", "2024-01-02"}),
        ("1", "2", {"1", "2"}),
        ("007", "7", {"007", "7"}),
        (True, False, {True, False}),
        (1, None, {1, None}),
        (1, 2**60, {1, 2**60}),
    ],
)
def test_a_late_value_of_json_is_read_as_it_is_written(tmp_path, usual, last, expected):
    rows = read(json_of([usual] * (30_000) + [last], tmp_path / "rows.jsonl"), "v")
    found = {value for (value,) in rows}
    assert found == expected
    assert {type(value) for value in found} == {type(value) for value in expected}


def test_a_column_that_only_a_late_line_of_json_has_is_there(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n' * 30_000 + '{"a": 1, "v": 0.5}\n')
    assert (0.5,) in read(path, "v")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1], r"'v' holds lists; .* such as v\.0\."),
        ({"a": 1, "b": 2}, r"'v' holds objects; .* fields: v\.a, v\.b\."),
    ],
)
def test_lists_and_objects_are_no_values(tmp_path, value, message):
    with pytest.raises(ValueError, match=message):
        read(json_of([1, value], tmp_path / "rows.jsonl"), "v")


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", [[1, 2], [1, 0.4], [1, "x"], ["007", "7"], [True, False], [1, None], ["a", 'a"b']]
)
@pytest.mark.parametrize(
    ("nest", "name"),
    [
        (lambda value: {"a": value}, "v.a"),
        (lambda value: {"a": {"b/c~": value}}, "v.a.b/c~"),
        (lambda value: [[0], [0, value]], "v.1.1"),
    ],
)
def test_a_field_of_an_object_is_read_as_a_column_would_be(tmp_path, values, nest, name):
    flat = read(json_of(values, tmp_path / "flat.jsonl"), "v")
    deep = read(json_of([nest(value) for value in values], tmp_path / "deep.jsonl"), name)
    assert deep == flat
    assert [type(value) for (value,) in deep] == [type(value) for (value,) in flat]


def test_a_column_whose_name_has_a_dot_goes_before_a_field(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"v": {"a": "field"}, "v.a": "column"}\n')
    assert read(path, "v.a") == [("column",)]


def test_a_field_that_no_row_has_is_refused_with_those_there_are(tmp_path, run):
    (tmp_path / "rows.jsonl").write_text('{"y": 1, "p": 1, "g": {"sex": "F", "age": 4}}\n' * 3)
    columns = ("--target", "y", "--prediction", "p", "--group")
    for name, message in {
        "g.sexx": "No row has a value of 'g.sexx'. There are g.sex, g.age.",
        "g.sex.x": "The table has no column 'g.sex.x'.",
        "y.sex": "The table has no column 'y.sex'.",
    }.items():
        result = run("rows.jsonl", columns=(*columns, name))
        assert result.exit_code == 2
        assert message in result.stderr


@pytest.mark.slow
def test_an_audit_by_fields_is_the_audit_by_columns(run, folder):
    rows = [{"y": n % 2, "p": n % 3 % 2, "g": "ab"[n % 7 % 2], "c": n % 5} for n in range(200)]
    lines = [json.dumps({"y": row["y"], "s": {"p": row["p"], "of": row}}) for row in rows]
    (folder / "flat.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "deep.jsonl").write_text("\n".join(lines))
    found = []
    for name, at, of in (("flat.jsonl", "", ""), ("deep.jsonl", "s.", "s.of.")):
        columns = ("--target", "y", "--prediction", f"{at}p", "--group", f"{of}g")
        result = run(name, "--cluster", f"{of}c", "--json", "out.json", columns=columns)
        assert result.exit_code == 0, result.stderr
        found.append(json.loads((folder / "out.json").read_text())["findings"])
    assert found[0] == found[1]


@pytest.mark.parametrize("nested", [False, True])
def test_a_whole_number_beyond_64_bits_is_refused_or_text_and_never_rounded(tmp_path, run, nested):
    big, one = (
        ('{"n": 18446744073709551615}', '{"n": 1}') if nested else ("18446744073709551615", "1")
    )
    (tmp_path / "rows.jsonl").write_text(
        f'{{"y": 1, "p": 1, "g": {big}}}\n{{"y": 0, "p": 1, "g": {one}}}\n'
    )
    group = "g.n" if nested else "g"
    result = run("rows.jsonl", columns=("--target", "y", "--prediction", "p", "--group", group))
    assert result.exit_code == 2
    assert "18446744073709551615" in result.stderr


def test_a_late_weight_weighs_what_is_written(run, folder):
    rows = ["1,1,a,1", "1,0,a,1", "1,1,b,1", "1,0,b,1"] * 8000
    late = ["1,1,a,0.4", "1,1,b,400.25"]
    (folder / "rows.csv").write_text("\n".join(["y,p,g,w", *rows, *late]))
    result = run("rows.csv", "--weight", "w", "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    finding = json.loads((folder / "out.json").read_text())["findings"][0]
    in_a, in_b = 8000.4 / 16000.4, 8400.25 / 16400.25
    assert finding["value"] == pytest.approx(in_b - in_a, rel=1e-12)


TEXT = st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]), max_size=6)
NUMBERLIKE = st.sampled_from(
    [
        *("0", "1", "-1", "007", "1.", ".5", "1e5", "+1", "0x1", "1_000", "--1", "-0", "1e", "nan"),
        *("inf", "true", "False", "NULL", "NA", "12:30", "2024-01-01", "1/2", "1,5", "९", "0.10"),
    ]
)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NUMBERLIKE | TEXT | st.integers().map(str) | st.floats().map(str), min_size=1))
def test_a_column_of_csv_is_its_text_or_the_numbers_that_python_reads(tmp_path, values):
    import csv

    with (tmp_path / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("v", "row"), *enumerated(values)])
    rows = [value for _, value in sorted(read(tmp_path / "rows.csv", "row", "v"))]
    for text, value in zip(values, rows, strict=True):
        if isinstance(value, str):
            assert value == text
        elif isinstance(value, bool):
            assert value == (text.lower() == "true")
        elif isinstance(value, int):
            assert value == int(text)
        elif value is None:
            assert text == ""
        else:
            assert value == float(text) or (math.isnan(value) and math.isnan(float(text)))


def enumerated(values):
    return [(value, row) for row, value in enumerate(values)]


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | NUMBERLIKE | TEXT,
        min_size=1,
    )
)
def test_a_column_of_json_is_its_values_or_their_text(tmp_path, values):
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps({"v": value, "row": row}) for row, value in enumerate(values)]
    path.write_text("\n".join(lines) + "\n")
    rows = sorted(read(path, "row", "v"))
    kinds = {type(value) for value in values if value is not None}
    for value, (_, found) in zip(values, rows, strict=True):
        if value is None or len(kinds) == 1:
            assert found == value
        else:
            assert found == (value if isinstance(value, str) else json.dumps(value))
