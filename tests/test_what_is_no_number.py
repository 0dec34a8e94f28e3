"""What looks like a number, a count or a date and is none is refused; what is one is read."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand as eh
from engines import LOCAL, dask_frame, ibis_table
from evenhand.cli import main

MOST = 2**53 - 1
TABLES = {engine.name: engine.make for engine in LOCAL} | {
    "pandas with Arrow types": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "dask": dask_frame,
    "ibis": ibis_table,
}
WATCH = ("watch", "init", "--state", "s.json", "--criterion", "statistical_parity")
SURVEY = ("audit", "t.csv", "--weight", "n", "--replicate-weights", "n1-2")
ROWS = {"y_true": [1, 0, 1, 0], "y_pred": [1, 1, 0, 0], "sensitive_features": list("aabb")}


def table(**columns):
    return pd.DataFrame({"y": [1, 0, 1, 0], "p": [1, 1, 0, 0], "g": list("aabb"), **columns})


@pytest.mark.slow
@pytest.mark.parametrize("engine", TABLES)
@pytest.mark.parametrize(
    "counts",
    [[MOST + 2, 1, 1, 1], [MOST - 2, 1, 1, 1], [2**62] * 4, [1, 0, 0, MOST + 2]],
    ids=["one beyond", "a sum beyond", "a sum beyond 64 bits", "and zeros"],
)
def test_more_rows_than_floats_count_are_refused_by_every_engine(engine, counts):
    frame = TABLES[engine](table(n=counts))
    with pytest.raises(eh.InputError, match=f"reach {max(counts):,} and add up to more than"):
        eh.tally(data=frame, rows="n", y_pred="p", sensitive_features="g")


@pytest.mark.slow
@pytest.mark.parametrize("engine", TABLES)
def test_as_many_rows_as_floats_count_are_exact_in_every_engine(engine):
    frame = TABLES[engine](table(n=[MOST - 3, 1, 1, 1]))
    counts = eh.tally(data=frame, rows="n", y_true="y", y_pred="p", sensitive_features="g")
    assert sorted(counts.sums["rows"].tolist()) == [1, 1, 1, MOST - 3]


@pytest.mark.slow
@pytest.mark.parametrize("engine", TABLES)
@pytest.mark.parametrize(("count", "word"), [(0.5, "0.5"), (-1.0, "negative"), (None, "missing")])
def test_what_is_no_count_is_refused_by_every_engine(engine, count, word):
    frame = TABLES[engine](table(n=[1.0, 2.0, 3.0, count]))
    with pytest.raises(eh.InputError, match=word):
        eh.tally(data=frame, rows="n", y_pred="p", sensitive_features="g")


def test_rows_beyond_what_is_exact_are_refused_however_they_come_together(tmp_path):
    half = eh.tally(data=table(n=[2**52, 1, 1, 1]), rows="n", y_pred="p", sensitive_features="g")
    with pytest.raises(eh.InputError, match="can be counted exactly"):
        half + half
    watch = eh.Watch("statistical_parity")
    with pytest.raises(eh.InputError, match="rows at most"):
        watch.update(half, part="one")
    lines = table(n=[2**53 + 1, 1, 1, 1])
    with pytest.raises(eh.InputError, match="as many rows as can be counted exactly"):
        eh.compare(
            lines.y, {"m": lines.p, "n": 1 - lines.p}, sensitive_features=lines.g, rows=lines.n
        )
    with pytest.raises(eh.InputError, match="sizes add up to more than"):
        eh.power({"a": 2**53 + 1, "b": 10}, rates={"a": 0.5, "b": 0.4})


@pytest.mark.slow
@pytest.mark.parametrize("command", ["audit", "compare", "watch"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_command_line_refuses_counts_that_are_not_exact(
    tmp_path, monkeypatch, capsys, command, ending
):
    monkeypatch.chdir(tmp_path)
    lines = table(n=[2**53 + 1, 1, 1, 1])
    {
        "csv": lambda: lines.to_csv("n.csv", index=False),
        "jsonl": lambda: lines.to_json("n.jsonl", orient="records", lines=True),
        "parquet": lambda: lines.to_parquet("n.parquet"),
    }[ending]()
    columns = ["--rows", "n", "--target", "y", "--prediction", "p", "--group", "g"]
    if command == "watch":
        asked = ["watch", "init", "--state", "s", "--criterion", "statistical_parity"]
        asked += ["--baseline", f"n.{ending}"]
    else:
        asked = [command, f"n.{ending}"]
    with pytest.raises(SystemExit) as stop:
        main([*asked, *columns])
    assert stop.value.code == 2
    assert "as many rows as can be counted exactly" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "bad", [np.nan, np.inf, None, "1.0", b"1", Decimal("sNaN"), Decimal("NaN")]
)
@pytest.mark.parametrize(
    "door",
    [
        lambda values: eh.tally(**ROWS, sums={"v": values}),
        lambda values: eh.evaluate("statistical_parity", **ROWS, sample_weight=values),
        lambda values: eh.audit(**ROWS, sample_weight=values),
        lambda values: eh.tally(values, values, sensitive_features=list("aabb"), task="regression"),
        lambda values: eh.distribution(values, sensitive_features=list("aabb")),
        lambda values: eh.audit([1, 0, 1, 0], y_score=values, sensitive_features=list("aabb")),
        lambda values: eh.frontier([1, 0, 1, 0], values, sensitive_features=list("aabb")),
        lambda values: eh.survey_weights(values),
        lambda values: eh.power(values, rates=[0.5, 0.4, 0.3, 0.2]),
    ],
    ids=["sums", "weights", "audit", "moments", "ecdf", "scores", "frontier", "survey", "sizes"],
)
@pytest.mark.parametrize("kind", [list, lambda v: np.array(v, object), lambda v: pd.Series(v)])
def test_what_is_no_number_is_refused_at_every_door(door, bad, kind):
    with pytest.raises(eh.EvenhandError):
        door(kind([0.25, 0.5, 0.75, bad]))


@pytest.mark.parametrize(
    "kind",
    [
        list,
        np.array,
        pd.Series,
        lambda v: pd.Series(v, dtype="category"),
        lambda v: pd.Series(v, dtype="string[pyarrow]"),
        pl.Series,
        pa.array,
        lambda v: np.array(v, dtype="S3"),
    ],
)
def test_weights_in_text_are_refused_in_words(kind):
    with pytest.raises(eh.InputTypeError, match=r"sample_weight must be numbers; it holds b?'1_0'"):
        eh.evaluate("statistical_parity", **ROWS, sample_weight=kind(["1_0", "2", "3", "4"]))


@pytest.mark.parametrize("column", ["y", "p", "g", "w"])
def test_a_signaling_nan_is_refused_by_name(column):
    frame = table(w=[1.0] * 4)
    frame[column] = pd.Series([Decimal(1), Decimal(0), Decimal(1), Decimal("sNaN")], dtype=object)
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g", "sample_weight": "w"}
    for door in (eh.tally, eh.audit):
        with pytest.raises(eh.EvenhandError, match="sNaN"):
            door(data=frame, **names)
    columns = {name: frame[at] for name, at in names.items()}
    for door in (eh.tally, eh.audit):
        with pytest.raises(eh.EvenhandError, match="sNaN"):
            door(**columns)


DAYS = pd.Series(pd.to_datetime(["2024-02-29 00:00", "2025-01-01 05:30"] * 2))
ZONED = DAYS.dt.tz_localize("Europe/Berlin")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        lambda days: days.astype("datetime64[ns]"),
        lambda days: days.astype("datetime64[ns]").to_numpy(),
        lambda days: days.astype("datetime64[s]"),
        lambda days: pd.DatetimeIndex(days.astype("datetime64[ns]")),
        lambda days: days.astype("datetime64[ns]").astype("timestamp[ns][pyarrow]"),
        lambda days: days.astype("datetime64[ns]").astype("category"),
        lambda days: pl.Series(days.tolist(), dtype=pl.Datetime("ns")),
        lambda days: pa.array(days, pa.timestamp("ns")),
        list,
    ],
)
def test_a_time_is_a_time_in_whatever_unit_it_is_kept(kind):
    wanted = (dt.datetime(2024, 2, 29), dt.datetime(2025, 1, 1, 5, 30))
    times = kind(DAYS)
    assert eh.groups(times).labels == wanted
    assert eh.tally(times, times, sensitive_features=list("aabb")).axes[0].labels == wanted
    page = eh.audit(**{**ROWS, "sensitive_features": times}, criteria="statistical_parity")
    assert "2025-01-01 05:30:00" in page.to_markdown()


def test_a_time_keeps_its_zone_and_what_is_too_fine_for_a_clock():
    zoned = eh.groups(ZONED).labels
    assert [str(label) for label in zoned] == [
        "2024-02-29 00:00:00+01:00",
        "2025-01-01 05:30:00+01:00",
    ]
    fine = eh.groups(np.array(["2024-02-29T00:00:00.000000001", "2024-02-29"], "M8[ns]"))
    assert [str(label)[:10] for label in fine.labels] == ["2024-02-29"] * 2
    assert eh.groups(np.array([1, 2], "m8[ns]")).labels == ("1 nanoseconds", "2 nanoseconds")
    assert eh.groups(np.array([10**9, 10**9], "m8[ns]")).labels == (dt.timedelta(seconds=1),)


def test_columns_with_numbers_for_names_are_read_or_the_way_out_is_told():
    frame = table(s=[0.2, 0.8, 0.7, 0.1]).set_axis(range(4), axis=1)
    assert eh.groups(frame[[2]]).labels == ("a", "b")
    assert eh.tally(frame[0], frame[1], sensitive_features=frame[[2]]).sums["rows"].sum() == 4
    for names in ((0, 1, 2), ("0", "1", "2")):
        with pytest.raises(eh.EvenhandError, match=r"rename\(columns=str\)"):
            eh.tally(data=frame, y_true=names[0], y_pred=names[1], sensitive_features=names[2])
    named = frame.rename(columns=str)
    assert (
        eh.tally(data=named, y_true="0", y_pred="1", sensitive_features="2").sums["rows"].sum() == 4
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "t.csv", "--fail-if", "statistical_parity.mpd > 0.0_5"],
        ["audit", "t.csv", "--fail-if", "statistical_parity.mpd > ٠.٠٥"],
        ["audit", "t.csv", "--margin", "0.0_5"],
        ["audit", "t.csv", "--margin", "nan"],
        ["audit", "t.csv", "--confidence", "0.9_5"],
        ["audit", "t.csv", "--confidence", "nan"],
        ["audit", "t.csv", "--depth", "1_0"],
        ["audit", "t.csv", "--bins", "g=1_0"],
        [*SURVEY, "--replicate-method", "0.0_5"],
        ["audit", "t.csv", "--config", "margin.toml"],
        ["audit", "t.csv", "--config", "gate.toml"],
        ["audit", "t.csv", "--weight", "w"],
        ["audit", "t.csv", "--rows", "w"],
        ["audit", "t.jsonl", "--weight", "w"],
        ["compare", "t.csv", "--confidence", "0.9_5"],
        ["frontier", "t.csv", "--rule", "0.0_5"],
        ["frontier", "t.csv", "--capacity", "1_0"],
        [*WATCH, "--fail-if", "statistical_parity.mpd > 0.0_5"],
        [*WATCH, "--window", "1_0"],
    ],
    ids=" ".join,
)
def test_a_number_with_underscores_or_foreign_digits_is_refused(
    arguments, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    lines = table(w=["1_0", "2", "3", "4"], n=1, n1=1, n2=1)
    lines.to_csv("t.csv", index=False)
    lines.to_json("t.jsonl", orient="records", lines=True)
    (tmp_path / "margin.toml").write_text('margin = "0.0_5"')
    (tmp_path / "gate.toml").write_text('fail-if = "statistical_parity.mpd > 0.0_5"')
    columns = ["--target", "y", "--prediction", "p", "--group", "g"]
    with pytest.raises(SystemExit) as stop:
        main([*arguments, *(columns if arguments[0] != "frontier" else [*columns, "--score", "w"])])
    told = capsys.readouterr().err
    assert stop.value.code == 2, told
    odd = "0.0_5" if arguments[-1].endswith(".toml") else arguments[-1].split()[-1].split("=")[-1]
    assert f"{odd}'" in told, told


@pytest.mark.parametrize("bound", ["> 0.0_5", "> ٠.٠٥", "> 1_0"])
def test_a_bound_in_python_is_plain_digits_too(bound):
    with pytest.raises(eh.InputError):
        eh.Watch("statistical_parity", fail_if=[f"statistical_parity.mpd {bound}"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "t.csv", "--config", "o.toml"],
        ["audit", "t.csv", "--target", "y"],
        ["bench", "run", "o.toml"],
        ["bench", "status", "o.toml"],
        ["bench", "submit", "folder", "--to", "."],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("content", ["x = " + "9" * 5000, "x = " + "[" * 5000, "x = '\udcff'"])
def test_a_toml_file_that_cannot_be_read_is_one_error(
    arguments, content, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    table().to_csv("t.csv", index=False)
    (tmp_path / "folder").mkdir()
    for name in ("o.toml", "pyproject.toml", "folder/submission.toml"):
        (tmp_path / name).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    printed = capsys.readouterr().err
    assert stop.value.code == 2, printed
    assert "cannot be read as TOML" in printed
    assert "Traceback" not in printed
