"""What a result depends on, as a short text: change it, and the result gets another address."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
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
    """Of what a module does, and those it imports from the same package.

    The package is the first two parts of the module's name, so that a method of
    `evenhand.mitigation` depends on what it uses there, and on no other method. Comments,
    docstrings and layout do not count. Imports inside functions are not followed.
    """
    within = ".".join(module.split(".")[:2]) if module.count(".") > 1 else module.split(".")[0]
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        tree = None if name in found else _parsed(name)
        if tree is not None:
            found[name] = ast.dump(tree)
            waiting += [one for one in _imports(tree, name) if f"{one}.".startswith(f"{within}.")]
    return fingerprint(found)


def _parsed(module: str) -> ast.Module | None:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if _is_documented(node):
            node.body = node.body[1:]  # type: ignore[attr-defined]
    return tree


def _is_documented(node: ast.AST) -> bool:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None


def _imports(tree: ast.Module, module: str) -> Iterator[str]:
    """The modules imported at the top; of `from a import b` both a and a.b, which may be one."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            above = parts[: len(parts) - node.level] if node.level else []
            source = ".".join([*above, node.module] if node.module else above)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
