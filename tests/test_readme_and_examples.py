"""What the front door shows is what happens."""

import contextlib
import io
import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_readme_prints_what_it_says():
    readme = (ROOT / "README.md").read_text()
    code, said = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", readme, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == said


def test_the_readme_installs_what_is_in_the_clone():
    readme = (ROOT / "README.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (installed,) = re.findall(r'^pip install "?([^"\s]+)', readme, re.MULTILINE)
    assert installed.removeprefix(".").strip("[]") in project["optional-dependencies"]
    assert installed.startswith(".")  # no index has a release


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    pages = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for named in re.findall(r"evenhand\[([a-z,]+)\]", page.read_text(encoding="utf-8")):
            assert set(named.split(",")) <= extras.keys(), page


def test_the_readme_names_commands_that_exist():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"make (\w+)", readme))
    assert {"demo", "test", "bench", "docs"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_every_example_runs(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
