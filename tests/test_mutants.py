"""The runner of `make mutants` knows what it may change, and its list of exceptions is true."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PLACE = Path(__file__).parents[1] / "tools" / "mutants.py"


@pytest.fixture(scope="module")
def runner():
    spec = spec_from_file_location("mutants_runner", PLACE)
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mutated(runner, tmp_path, monkeypatch, text):
    (tmp_path / runner.SOURCE).mkdir(parents=True)
    (tmp_path / runner.SOURCE / "code.py").write_text(text)
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    source = text.encode()
    for mutant in runner.mutants("code.py"):
        start, end = mutant.span
        yield (source[:start] + mutant.new.encode() + source[end:]).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("é = a < b", ["é = (a <= b)", "é = (a >= b)"]),
        ("x = a + b", ["x = (a - b)"]),
        ("x = not a", ["x = (a)"]),
        ("x = a or b", ["x = (a and b)"]),
        ("x = True", ["x = False"]),
        ("x = 2.5", ["x = 3.5"]),
        ("x = 'text'", []),
        ("x: int | None = a", []),
        ("x = zip(a, b, strict=True)", []),
        ("def f(x='a'): return x", ["def f(x='mutated'): return x", "def f(x='a'): return None"]),
        ("raise E(1 + 1)", ["pass"]),
        ("def f(): return None", []),
        ("x = f(a, axis=-1)", ["x = f(a, axis=0)"]),
        ("x = f(a, axis=0)", ["x = f(a, axis=-1)"]),
        ("x = f(a, axis=b + 1)", ["x = f(a, axis=(b - 1))", "x = f(a, axis=b + 2)"]),
        ("x = a if f(b) else c", ["x = a if (not f(b)) else c"]),
    ],
)
def test_one_thing_is_changed_at_a_time(runner, tmp_path, monkeypatch, text, expected):
    found = list(mutated(runner, tmp_path, monkeypatch, text))
    assert sorted(found) == sorted(expected)


@pytest.mark.slow
def test_every_mutant_that_is_called_equivalent_can_be_made(runner):
    listed = [tuple(key) for entry in runner.EQUIVALENT["equivalent"] for key in entry["mutants"]]
    made = {mutant.key for file in {key[0] for key in listed} for mutant in runner.mutants(file)}
    assert [key for key in listed if key not in made] == []
    assert len(set(listed)) == len(listed)


def test_each_test_computes_what_another_has_cached(runner, tmp_path, monkeypatch):
    (tmp_path / "cached_here.py").write_text(
        "from functools import cache\n\n@cache\ndef answer(): return object()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("cached_here")
    monkeypatch.setitem(sys.modules, "cached_here", module)
    before = module.answer()
    assert module.answer() is before
    runner.forget()
    assert module.answer() is not before
