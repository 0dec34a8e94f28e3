"""What a source fingerprint depends on, and what not."""

import importlib
import sys
from dataclasses import replace
from importlib.metadata import version

import pytest

from evenhand.benchmark.design import fingerprints
from evenhand.benchmark.design.fingerprints import fingerprint, source_fingerprint

METHOD = """
from typing import TYPE_CHECKING
from pack.engine import run

if TYPE_CHECKING:
    import pack.typed

def fit():
    import pack.lazy
    return run()
"""
FILES = {
    "__init__": "",
    "method": METHOD,
    "engine": "from . import parts\n\ndef run():\n    return parts.ONE\n",
    "parts": "ONE = 1\n",
    "lazy": "from pack.sub import deep\n",
    "sub/__init__": "from . import deep\n",
    "sub/deep": "X = 1\n",
    "typed": "X = 1\n",
    "other": "X = 1\n",
}


def forget():
    for name in [one for one in sys.modules if one.partition(".")[0] == "pack"]:
        del sys.modules[name]


@pytest.fixture
def package(tmp_path, monkeypatch):
    import importlib

    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "pack"
    (folder / "sub").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)

    def changed(name, text):
        (folder / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        forget()
        return source_fingerprint("pack.method")

    yield changed
    forget()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("method", "# why\n" + FILES["method"]),
        ("engine", '"""What it is."""\n' + FILES["engine"]),
        ("parts", "\n\nONE = 1  # still\n"),
        ("other", "X = 2\n"),
        ("typed", "X = 2\n"),
    ],
)
def test_comments_docstrings_and_modules_that_do_not_run_do_not_count(package, name, text):
    before = package("parts", FILES["parts"])
    assert package(name, text) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("method", FILES["method"].replace("run()", "run() + 1")),
        ("engine", FILES["engine"].replace("ONE", "ONE + 1")),
        ("parts", "ONE = 2\n"),
        ("lazy", FILES["lazy"] + "X = 2\n"),
        ("sub/deep", "X = 2\n"),
    ],
)
def test_what_a_method_does_counts_however_deep_and_wherever_it_is_imported(package, name, text):
    before = package("parts", FILES["parts"])
    assert package(name, text) != before


def test_methods_of_the_library_do_not_depend_on_each_other(monkeypatch):
    from evenhand.mitigation import METHODS

    seen = []
    original = fingerprints._spec

    def spy(name):
        seen.append(name)
        return original(name)

    fingerprints._source_of_ours.cache_clear()
    monkeypatch.setattr(fingerprints, "_spec", spy)
    source_fingerprint("evenhand.mitigation.reweighting")
    others = {m.estimator.__module__ for m in METHODS.values() if m.name != "Reweight"}
    assert "evenhand.mitigation.estimators" in seen
    assert not others & set(seen)


def test_what_cannot_be_written_down_is_refused():
    with pytest.raises(TypeError, match="cannot be part of a design"):
        fingerprint({"x": object()})


def test_installed_packages_count_by_their_version_alone():
    named = f"scikit-learn {version('scikit-learn')}"
    assert fingerprints.version_of("sklearn.linear_model") == named
    assert fingerprints.version_of("json") == "json"
    assert not fingerprints.is_own("sklearn.linear_model")
    assert fingerprints.is_own("none")


@pytest.mark.parametrize("record", ["RECORD", None])
def test_what_an_installer_put_elsewhere_counts_by_its_version(tmp_path, monkeypatch, record):
    """`pip install --target`; without a record, as where it is edited, its source counts."""
    monkeypatch.syspath_prepend(tmp_path)
    name = f"placed_{record}".lower()
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("X = 1\n")
    (tmp_path / name / "engine.so").write_bytes(b"\x7fELF\xff")
    (tmp_path / f"{name}-2.5.dist-info").mkdir()
    (tmp_path / f"{name}-2.5.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 2.5\n")
    if record:
        files = f"{name}/__init__.py,,\n{name}-2.5.dist-info/RECORD,,\n"
        (tmp_path / f"{name}-2.5.dist-info" / record).write_text(files)
    importlib.invalidate_caches()
    assert fingerprints.is_own(name) is (record is None)
    if record:
        assert fingerprints.version_of(f"{name}.engine") == f"{name} 2.5"


@pytest.mark.slow
def test_a_base_model_that_is_edited_has_to_run_again(tmp_path, monkeypatch):
    from benchmark.designs import design
    from evenhand.benchmark import Base, run, status

    monkeypatch.syspath_prepend(tmp_path)
    source = (
        "from sklearn.linear_model import LogisticRegression\n"
        "class Model(LogisticRegression):\n"
        "    def fit(self, X, y, sample_weight=None):\n"
        "        return super().fit(X, y, sample_weight)\n"
    )
    (tmp_path / "model_of_mine.py").write_text(source)

    def wanted():
        sys.modules.pop("model_of_mine", None)
        importlib.invalidate_caches()
        base = Base("mine", {"classification": "model_of_mine:Model"})
        study = replace(design().studies[0], bases=(base,))
        return replace(design(), studies=(study,))

    run(wanted(), tmp_path / "out", n_jobs=1)
    assert status(wanted(), tmp_path / "out").missing == 0
    (tmp_path / "model_of_mine.py").write_text(f"# a comment\n{source}")
    assert status(wanted(), tmp_path / "out").missing == 0
    (tmp_path / "model_of_mine.py").write_text(source.replace("fit(X, y,", "fit(X, 1 - y,"))
    assert status(wanted(), tmp_path / "out").missing == 6
