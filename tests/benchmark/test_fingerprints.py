"""What a source fingerprint depends on, and what not."""

import sys

import pytest

from evenhand.benchmark.design import fingerprints
from evenhand.benchmark.design.fingerprints import fingerprint, source_fingerprint

FILES = {
    "__init__": "",
    "method": "from pack.engine import run\n\ndef fit():\n    import pack.lazy\n    return run()\n",
    "engine": "from . import parts\n\ndef run():\n    return parts.ONE\n",
    "parts": "ONE = 1\n",
    "lazy": "note = 1\n",
    "other": "X = 1\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    import importlib

    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "pack"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)

    def changed(name, text):
        (folder / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        source_fingerprint.cache_clear()
        return source_fingerprint("pack.method")

    yield changed
    source_fingerprint.cache_clear()
    for name in [one for one in sys.modules if one.partition(".")[0] == "pack"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("method", "# why\n" + FILES["method"]),
        ("engine", '"""What it is."""\n' + FILES["engine"]),
        ("parts", "\n\nONE = 1  # still\n"),
        ("other", "X = 2\n"),
        ("lazy", "note = 2\n"),
    ],
)
def test_comments_docstrings_and_modules_it_does_not_import_do_not_count(package, name, text):
    before = package("parts", FILES["parts"])
    assert package(name, text) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("method", FILES["method"].replace("run()", "run() + 1")),
        ("engine", FILES["engine"].replace("ONE", "ONE + 1")),
        ("parts", "ONE = 2\n"),
    ],
)
def test_what_a_method_does_counts_however_deep(package, name, text):
    before = package("parts", FILES["parts"])
    assert package(name, text) != before


def test_methods_of_the_library_do_not_depend_on_each_other():
    from evenhand.mitigation import METHODS

    seen = []
    original = fingerprints._parsed

    def spy(name):
        seen.append(name)
        return original(name)

    source_fingerprint.cache_clear()
    fingerprints._parsed, kept = spy, fingerprints._parsed
    try:
        source_fingerprint("evenhand.mitigation.reweighting")
    finally:
        fingerprints._parsed = kept
    others = {m.estimator.__module__ for m in METHODS.values() if m.name != "Reweight"}
    assert "evenhand.mitigation.estimators" in seen
    assert not others & set(seen)


def test_what_cannot_be_written_down_is_refused():
    with pytest.raises(TypeError, match="cannot be part of a design"):
        fingerprint({"x": object()})
