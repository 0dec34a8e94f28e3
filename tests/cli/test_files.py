"""Every kind of file gives the same audit, and a damaged one gives one clear line."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pytest


def as_csv(people, path):
    people.to_csv(path, index=False)


def as_semicolons(people, path):
    people.to_csv(path, index=False, sep=";")


def as_parquet(people, path):
    people.to_parquet(path)


def as_feather(people, path):
    pa.feather.write_feather(people, str(path))


def as_stream(people, path):
    table = pa.Table.from_pandas(people, preserve_index=False)
    with pa.ipc.new_stream(str(path), table.schema) as sink:
        sink.write_table(table, max_chunksize=100)


def as_lines(people, path):
    people.to_json(path, orient="records", lines=True)


WRITERS = {
    "rows.csv": as_csv,
    "rows.CSV": as_semicolons,
    "rows.csv.gz": as_csv,
    "rows.parquet": as_parquet,
    "rows.feather": as_feather,
    "rows.arrow": as_feather,
    "rows.arrows": as_stream,
    "rows.jsonl": as_lines,
    "rows.ndjson": as_lines,
}


def found_in(path):
    return {
        (one["criterion"], one["measure"]): one["value"]
        for one in json.loads(path.read_text())["findings"]
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_rates_of_the_rows(run, people, folder, name):
    WRITERS[name](people, folder / name)
    result = run(name, "--json", "out.json", "--weight", "w")
    assert result.exit_code == 0, result.stderr
    weighed = (people.p * people.w).groupby(people.g).sum() / people.w.groupby(people.g).sum()
    value = found_in(folder / "out.json")["statistical_parity", "mpd"]
    assert value == pytest.approx(weighed.max() - weighed.min())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "parquet", "feather", "arrows", "jsonl"])
def test_files_of_one_kind_are_one_table_whatever_the_order_of_their_columns(
    run, people, folder, name
):
    write = WRITERS[f"rows.{name}"]
    write(people[:200], folder / f"part-1.{name}")
    turned = people if name == "arrows" else people[people.columns[::-1]]
    write(turned[200:], folder / f"part-2.{name}")
    for given in (
        ["part-*." + name],
        [f"part-{i}.{name}" for i in (1, 2)],
        ["*/../part-?." + name],
    ):
        (folder / "below").mkdir(exist_ok=True)
        result = run(given, "--json", "out.json")
        assert result.exit_code == 0, result.stderr
        rates = people.groupby("g").p.mean()
        assert json.loads((folder / "out.json").read_text())["rows"] == 600
        value = found_in(folder / "out.json")["statistical_parity", "mpd"]
        assert value == pytest.approx(rates.max() - rates.min())


@pytest.mark.slow
def test_a_file_named_twice_is_read_once(run, people, folder):
    people.to_parquet(folder / "rows.parquet")
    run(["rows.parquet", "rows.*"], "--json", "out.json")
    assert json.loads((folder / "out.json").read_text())["rows"] == 600


@pytest.mark.slow
@pytest.mark.parametrize("name", ["it's.csv", "a b.csv", "[1].csv", 'say "x".csv', "ü,;.csv"])
def test_a_file_may_have_any_name(run, people, folder, name):
    people.to_csv(folder / name, index=False)
    result = run(name, "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    assert json.loads((folder / "out.json").read_text())["rows"] == 600


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "jsonl"])
@pytest.mark.parametrize("name", ["f[1]", "f*", "f?"])
def test_an_existing_file_is_that_file_and_no_pattern(run, people, folder, kind, name):
    write = WRITERS[f"rows.{kind}"]
    write(people[:100], folder / f"{name}.{kind}")
    write(people[100:], folder / f"f1.{kind}")
    result = run(f"{name}.{kind}", "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    assert json.loads((folder / "out.json").read_text())["rows"] == 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "jsonl"])
def test_a_folder_named_like_a_column_is_no_column(run, people, folder, kind):
    for part in ("p=1", "p=0"):
        (folder / part).mkdir()
        WRITERS[f"rows.{kind}"](people, folder / part / f"d.{kind}")
    result = run(f"p=*/d.{kind}", "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    rates = people.groupby("g").p.mean()
    value = found_in(folder / "out.json")["statistical_parity", "mpd"]
    assert value == pytest.approx(rates.max() - rates.min())
    for part in ("p=1", "p=0"):
        WRITERS[f"rows.{kind}"](people.drop(columns="p"), folder / part / f"d.{kind}")
    assert "The table has no column 'p'" in run(f"p=*/d.{kind}").stderr


def cut(path, share=0.5):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.parquet", "rows.feather", "rows.arrows"])
def test_a_file_cut_short_is_refused(run, people, folder, name):
    WRITERS[name](people, folder / name)
    cut(folder / name)
    result = run(name)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_line_of_json_cut_short_is_refused(run, people, folder):
    people.to_json(folder / "rows.jsonl", orient="records", lines=True)
    cut(folder / "rows.jsonl", 0.999)
    result = run("rows.jsonl")
    assert result.exit_code == 2
    assert 'Malformed JSON in file "rows.jsonl"' in result.stderr


BAD_TEXT = {
    "y,p,g\n1,1,a\n1,0\n0,1,b\n": "line 3 has 2 values, and the header 3",
    "y,p,g\n1,1,a\n1,0,b,c\n": "line 3 has 4 values, and the header 3",
    'y,p,g\n1,1,"a\n1,0,b\n': "unexpected end of data",
    "y,p,g\n": "There are no rows to count",
    "": "rows.csv is empty: it has no header and no rows",
    "y,p,g,g\n1,1,a,b\n0,1,b,b\n": "The header of rows.csv names 'g' twice",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", BAD_TEXT)
def test_bad_csv_is_refused_with_its_line(run, folder, text):
    (folder / "rows.csv").write_text(text)
    result = run("rows.csv")
    assert result.exit_code == 2
    assert BAD_TEXT[text] in result.stderr


def test_nothing_is_skipped_when_the_first_lines_do_not_look_like_the_rest(run, folder):
    text = "y,p,g\n1,1,a\n# a remark\n0,0,b\n"
    (folder / "rows.csv").write_text(text)
    result = run("rows.csv")
    assert result.exit_code == 2
    assert "line 3 has 1 values" in result.stderr


def test_text_in_another_encoding_is_refused(run, folder):
    (folder / "rows.csv").write_bytes("y,p,g\n1,1,é\n0,0,b\n".encode("latin-1"))
    result = run("rows.csv")
    assert result.exit_code == 2
    assert "utf-8" in result.stderr


@pytest.mark.parametrize(
    "name", ["rows.csv", "rows.csv.gz", "rows.parquet", "rows.arrow", "rows.jsonl"]
)
def test_binary_garbage_is_refused(run, folder, name):
    (folder / name).write_bytes(bytes(range(256)) * 20)
    result = run(name)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_group_that_looks_like_a_number_in_the_first_lines_may_be_text_later(run, folder):
    rows = ["1,1,1", "0,0,2"] * 30_000 + ["1,1,unknown", "0,1,unknown"]
    (folder / "rows.csv").write_text("y,p,g\n" + "\n".join(rows))
    result = run("rows.csv", "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    groups = json.loads((folder / "out.json").read_text())["groups"]
    assert [one["label"] for one in groups] == ["g=1", "g=2", "g=unknown"]


NOT_FILES = {
    "absent.csv": "There is no file 'absent.csv'",
    "absent-*.csv": "No file matches 'absent-*.csv'",
    "below": "below is a folder. Name its files, for example 'below/*.parquet'",
    "rows.ods": "rows.ods: what kind of file is this? Its name should end in .csv",
}


@pytest.mark.parametrize("name", NOT_FILES)
def test_what_is_no_file_of_rows_is_refused(run, folder, name):
    (folder / "below").mkdir()
    (folder / "rows.ods").write_text("x")
    result = run(name)
    assert result.exit_code == 2
    assert NOT_FILES[name] in result.stderr


def test_files_of_two_kinds_are_refused(run, people, folder):
    people.to_parquet(folder / "rows.parquet")
    people.to_csv(folder / "rows.csv")
    result = run(["rows.csv", "rows.parquet"])
    assert result.exit_code == 2
    assert "All files must be of one kind" in result.stderr


def test_a_gzip_file_with_another_name_is_refused_with_a_reason(run, people, folder):
    (folder / "rows.csv").write_bytes(gzip.compress(people.to_csv(index=False).encode()))
    result = run("rows.csv")
    assert result.exit_code == 2
    assert "rows.csv cannot be read as CSV text" in result.stderr


def test_a_missing_reader_is_one_sentence_with_the_way_to_install_it(run, people, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    result = run(people)
    assert result.exit_code == 2
    assert 'needs duckdb: pip install "evenhand[files]"' in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="only Linux counts what is read")
@pytest.mark.parametrize("kind", ["compressed", "compressed JSON", "wide"])
def test_a_file_that_takes_long_to_read_is_read_once(run, people, folder, kind):
    def bytes_read():
        return int(Path("/proc/self/io").read_text().split()[1])

    run(people)  # what is imported is read too
    rng = np.random.default_rng(0)
    name = {"compressed": "a.csv.gz", "compressed JSON": "a.jsonl.gz", "wide": "a.csv"}[kind]
    if kind == "wide":
        noise = pd.DataFrame(rng.integers(0, 9, (len(people), 3000))).add_prefix("c")
        pd.concat([people, noise], axis=1).to_csv(name, index=False)
    else:
        many = pd.concat([people.assign(noise=rng.random(len(people))) for _ in range(40)])
        if kind == "compressed":
            many.to_csv(name, index=False)
        else:
            many.to_json(name, orient="records", lines=True)
    before = bytes_read()
    result = run(name)
    readings = (bytes_read() - before) / (folder / name).stat().st_size
    assert result.exit_code == 0, result.output
    assert readings < 3.5  # to find out what it is, to see that it is whole, and to count


def test_a_header_after_an_empty_line_is_no_row(run, folder):
    (folder / "a.csv").write_text("\ny,p,g\n1,1,a\n0,0,b\n")
    result = run("a.csv")
    assert result.exit_code == 2
    assert "line 2 has 3 values, and the header 0" in result.output
