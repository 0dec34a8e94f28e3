"""What a result depends on, as a short text: change it, and the result gets another address."""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evenhand._errors import InputTypeError

LENGTH = 24
GROUND = frozenset(("numpy", "scipy", "pandas", "sklearn", "joblib", "narwhals", "pyarrow"))
WRITERS = frozenset(("onnx", "sqlglot"))  # they write a rule down, and change no decision


def fingerprint(content: Any) -> str:
    """A text that is the same for equal JSON values only.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if callable(value):
        return f"{value.__module__}:{value.__qualname__}"
    raise InputTypeError(
        f"{value!r} cannot be part of a design: use numbers, text, lists and tables."
    )


def file_fingerprint(path: str) -> str:
    """Of a file's bytes."""
    return _file_fingerprint(path, *file_stamp(path))


def file_stamp(path: str) -> tuple[int, int]:
    """Time of the last change and size: while they stay, so does the content."""
    about = Path(path).stat()
    return about.st_mtime_ns, about.st_size


@cache
def _file_fingerprint(path: str, *_: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


@cache
def source_fingerprint(module: str) -> str:
    """Of what a module does, and those it imports from the same package, wherever it does so.

    The package is the first two parts of the module's name, so that a method of
    `evenhand.mitigation` depends on what it uses there, and on no other method. Comments,
    docstrings, layout and imports for type checkers do not count.
    """
    return fingerprint({name: ast.dump(tree) for name, (tree, _) in _sources(module).items()})


@cache
def package_versions(module: str) -> tuple[str, ...]:
    """Versions of other packages that a module and those it uses call: solvers, peers.

    The ground that everything stands on does not count here (`GROUND`): its versions are stored
    with each run.

    >>> package_versions("evenhand.mitigation.reweighting")
    ()
    """
    own = module.partition(".")[0]
    called = {
        name.partition(".")[0]
        for tree, spec in _sources(module).values()
        for name in _imports(tree, spec)
    }
    others = called - GROUND - WRITERS - sys.stdlib_module_names - {own}
    return tuple(version_of(name) for name in sorted(others) if is_installed(name))


@cache
def version_of(module: str) -> str:
    """Name and version of the installed package that a module belongs to; of Python's, its name.

    >>> version_of("json"), version_of("sklearn.svm").split(" ")[0]
    ('json', 'scikit-learn')
    """
    top = module.partition(".")[0]
    names = () if top in sys.stdlib_module_names or top in GROUND - {"sklearn"} else _owners(top)
    return " ".join([names[0], version(names[0])]) if names else top


@cache
def _owners(top: str) -> tuple[str, ...]:
    return tuple(sorted(set(packages_distributions().get(top, ()))))


@cache
def is_installed(module: str) -> bool:
    """Whether a module comes with Python or a package, and not from one's own folders.

    >>> is_installed("sklearn.svm"), is_installed("json"), is_installed("__main__")
    (True, True, False)
    """
    if module == "__main__":
        return False
    if module.partition(".")[0] in sys.stdlib_module_names:
        return True
    spec = _spec(module)
    origin = None if spec is None else spec.origin
    if origin is None:  # a package without a file; what is nowhere is nobody's
        folders = () if spec is None else spec.submodule_search_locations or ()
        return any(map(_is_package_folder, folders))
    return _is_package_folder(origin)


def _is_package_folder(path: str) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(Path(path).parts)


def _sources(module: str) -> dict[str, tuple[ast.Module, ModuleSpec]]:
    """The code of a module and those it imports from its package."""
    package = ".".join(module.split(".")[:2]) if module.count(".") > 1 else module.split(".")[0]
    sources: dict[str, tuple[ast.Module, ModuleSpec]] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        spec = None if name in sources else _spec(name)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            tree = _parsed(spec.origin)
            sources[name] = (tree, spec)
            imports = _imports(tree, spec)
            waiting += [other for other in imports if f"{other}.".startswith(f"{package}.")]
    return sources


def _spec(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return None


def _parsed(path: str) -> ast.Module:
    """The code of a file without docstrings and without what only type checkers read."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if _is_documented(node):
            node.body = node.body[1:]  # type: ignore[attr-defined]
        if isinstance(getattr(node, "body", None), list):
            node.body = [  # type: ignore[attr-defined]
                statement
                for statement in node.body  # type: ignore[attr-defined]
                if not _is_for_type_checkers(statement)
            ]
    return tree


def _is_documented(node: ast.AST) -> bool:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None


def _is_for_type_checkers(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    name = getattr(node.test, "attr", getattr(node.test, "id", None))
    return name == "TYPE_CHECKING"


def _imports(tree: ast.Module, spec: ModuleSpec) -> Iterator[str]:
    """The modules that are imported; of `from a import b` both a and a.b, which may be one."""
    parts = spec.name.split(".")
    if spec.submodule_search_locations is None:  # `from .` is the package that a module is in
        parts = parts[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            source = ".".join([*above, node.module] if node.module else above)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
