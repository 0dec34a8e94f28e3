"""What a result depends on, as a short text: change it, and the result gets another address."""

from __future__ import annotations

import ast
import hashlib
import json
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evenhand._errors import InputTypeError

LENGTH = 24


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


@cache
def file_fingerprint(path: str) -> str:
    """Of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


@cache
def source_fingerprint(module: str) -> str:
    """Of what a module does, and those it imports from the same package, wherever it does so.

    The package is the first two parts of the module's name, so that a method of
    `evenhand.mitigation` depends on what it uses there, and on no other method. Comments,
    docstrings, layout and imports for type checkers do not count.
    """
    package = ".".join(module.split(".")[:2]) if module.count(".") > 1 else module.split(".")[0]
    sources: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        spec = None if name in sources else _spec(name)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            tree = _parsed(spec.origin)
            sources[name] = ast.dump(tree)
            imports = _imports(tree, spec)
            waiting += [other for other in imports if f"{other}.".startswith(f"{package}.")]
    return fingerprint(sources)


def own_fingerprint(module: str) -> str | None:
    """`source_fingerprint` of code that changes between runs; None for an installed package.

    What is installed has a version, which is stored with each run instead.

    >>> own_fingerprint("sklearn.linear_model") is None
    True
    """
    spec = _spec(module)
    origin = None if spec is None else spec.origin
    if origin is None or not origin.endswith(".py"):
        return None
    installed = (sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib"))
    if any(Path(origin).is_relative_to(folder) for folder in installed):
        return None
    return source_fingerprint(module)


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
