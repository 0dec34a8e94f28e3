"""The notebooks are the tutorials, and they run."""

import importlib.util
import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "docs" / "notebooks.py"
pytestmark = pytest.mark.skipif(
    not SOURCE.exists(), reason="a source distribution has no docs folder: run from a clone"
)


def writer():
    spec = importlib.util.spec_from_file_location("notebooks", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def notebooks():
    return sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def code(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_every_tutorial_has_its_notebook_of_today():
    wanted = {page.stem: writer().written(page) for page in writer().PAGES}
    there = {path.stem: path.read_text(encoding="utf-8") for path in notebooks()}
    assert len(wanted) == 3
    assert there == wanted, "run python docs/notebooks.py"


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_plain_markdown_and_python(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in document["cells"]:
        text = "".join(cell["source"])
        assert "{doc}" not in text
        assert "{download}" not in text
        assert "generated/" not in text
        assert not text.startswith(">>>")


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    namespace = {}
    for cell in code(path):
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec("".join(cell["source"]), namespace)
        shown = "".join(line for output in cell["outputs"] for line in output["text"])
        assert printed.getvalue().split() == shown.split()
    namespace["plt"].close("all")
