"""Options from files: the command line goes before them."""

import json

import pytest

SECTION = 'target = "y"\nprediction = "p"\ngroup = "g"\nmeasure = ["mpd"]\n'
QUICK = 'criterion = "statistical_parity"\n'


@pytest.fixture
def configured(run, people, folder):
    people.to_parquet(folder / "rows.parquet")

    def call(*arguments, rows="rows.parquet"):
        return run(rows, "--json", "out.json", *arguments, columns=(), quick=())

    return call


def document(folder):
    return json.loads((folder / "out.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("pyproject.toml", "[tool.evenhand.audit]\n"),
        ("fairness.toml", "[audit]\n"),
        ("fairness.toml", ""),
    ],
)
def test_options_come_from_a_file(configured, folder, name, head):
    (folder / name).write_text(head + SECTION + QUICK + "depth = 1\nconfidence = 0.9\n")
    result = configured(*([] if name == "pyproject.toml" else ["--config", name]))
    assert result.exit_code == 0, result.stderr
    assert result.stderr.startswith("Options from ")
    assert name in result.stderr
    found = document(folder)
    assert found["confidence"] == 0.9
    assert [one["measure"] for one in found["findings"]] == ["mpd"]


@pytest.mark.slow
def test_the_nearest_project_above_is_found(configured, folder, monkeypatch):
    (folder / "pyproject.toml").write_text("[tool.evenhand.audit]\n" + SECTION + QUICK)
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    (folder / "a" / "pyproject.toml").write_text("[tool.other]\n")
    monkeypatch.chdir(below)
    assert configured(rows="../../rows.parquet").exit_code == 0


def test_the_command_line_goes_before_the_file(configured, folder):
    text = SECTION + QUICK + "confidence = 0.9\ntitle = 'from the file'\n"
    (folder / "pyproject.toml").write_text("[tool.evenhand.audit]\n" + text)
    result = configured("--confidence", "0.8", "--group", "h")
    assert result.exit_code == 0, result.stderr
    assert document(folder)["confidence"] == 0.8
    assert document(folder)["title"] == "from the file"
    assert document(folder)["group_columns"] == ["h"]


@pytest.mark.slow
def test_files_and_gates_may_stand_in_the_file(configured, folder):
    text = SECTION + QUICK + 'files = ["rows.parquet"]\nfail-if = "statistical_parity.mpd > 0.01"\n'
    (folder / "fairness.toml").write_text(text)
    assert configured("--config", "fairness.toml", rows=[]).exit_code == 1


def test_bins_may_be_a_table(configured, folder):
    found = {}
    for line in ("bins = {s = [0, 0.5, 1]}", 'bins = ["s=0,0.5,1"]'):
        text = SECTION.replace('"g"', '"s"') + QUICK + line
        (folder / "fairness.toml").write_text(text)
        found[line] = configured("--config", "fairness.toml").exit_code, document(folder)["groups"]
    first, second = found.values()
    assert first == second
    assert first[0] == 0


@pytest.mark.slow
def test_a_file_named_by_hand_replaces_the_project(configured, folder):
    (folder / "pyproject.toml").write_text("[tool.evenhand.audit]\nnonsense = 1\n")
    (folder / "fairness.toml").write_text(SECTION + QUICK)
    assert configured("--config", "fairness.toml").exit_code == 0


@pytest.mark.slow
def test_a_project_without_our_section_changes_nothing(run, people, folder):
    (folder / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert run(people).exit_code == 0


BAD = {
    "y_true = 'y'": "which is not an option. Did you mean 'target'?",
    "goup = 'g'": "has the key 'goup', which is not an option. Did you mean 'group'?",
    "min_cuont = 3": "has the key 'min_cuont', which is not an option.",
    "config = 'x'": "has the key 'config', which is not an option.",
    "target = ['y', 'p']": "target in fairness.toml should be one value, not a list",
    "target = {a = 1}": "target in fairness.toml should be a value or a list, not a table",
    "depth = 'two'": "'two' is not a number in plain digits",
    "confidence = 7": "0<x<1",
    "task = 'clustering'": "'clustering' is not one of",
    "fail-if = ['x']": "A gate has the form",
    "x = ": "fairness.toml cannot be read as TOML",
}


@pytest.mark.parametrize("line", BAD)
def test_a_file_that_cannot_be_used_is_refused(configured, folder, line):
    keys = [one for one in (SECTION + QUICK).splitlines() if one.split()[0] != line.split()[0]]
    (folder / "fairness.toml").write_text("\n".join([line, *keys]))
    result = configured("--config", "fairness.toml")
    assert result.exit_code == 2
    assert BAD[line] in " ".join(result.stderr.split())


def test_an_absent_file_is_refused(configured):
    result = configured("--config", "absent.toml")
    assert result.exit_code == 2
    assert "absent.toml" in result.stderr


def test_a_project_named_by_hand_needs_our_section(configured, folder):
    (folder / "pyproject.toml").write_text("[tool.other]\n")
    result = configured("--config", "pyproject.toml")
    assert result.exit_code == 2
    assert "has no section [tool.evenhand.audit]" in result.stderr
