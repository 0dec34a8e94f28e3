"""Fingerprints of what a result depends on: change it, and the result gets another address.

A fingerprint covers parameters and code. Parameters count by value. Code counts

- of evenhand: by the source of the module and of those it imports from the same package;
- of other installed packages: by their version, wherever an installer put them;
- of one's own modules, scripts and notebooks: by the source of the class or function and of what
  it names in the same file; of other modules of one's own that these import, all of the source.

Comments, docstrings, layout and imports for type checkers do not count.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import distributions, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from evenhand._errors import InputTypeError

LENGTH = 24
OURS = __name__.partition(".")[0]
PACKAGES = "packages"
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


def described(thing: Any) -> Any:
    """An object's content and code as a value that can be serialized.

    >>> described({"grid": [1, 2.0]}) == described({"grid": [1, 2.0]})
    True
    """
    if thing is None or isinstance(thing, bool | int | float | str):
        return [type(thing).__name__, repr(thing)]
    if isinstance(thing, Mapping):
        return ["mapping", [[described(key), described(value)] for key, value in thing.items()]]
    if isinstance(thing, list | tuple):
        return [type(thing).__name__, [described(item) for item in thing]]
    if isinstance(thing, set | frozenset):  # in no order, and a new one in every process
        return ["set", sorted(fingerprint(described(item)) for item in thing)]
    if isinstance(thing, type | FunctionType | BuiltinFunctionType):
        return _code(thing)
    if isinstance(thing, partial):
        return ["partial", described([thing.func, thing.args, thing.keywords])]
    if isinstance(thing, MethodType):
        return ["method", described([thing.__func__, thing.__self__])]
    if hasattr(thing, "get_params"):
        return [described(type(thing)), described(thing.get_params(deep=False))]
    return [described(type(thing)), _state(thing)]


def _state(thing: Any) -> Any:
    """The state of an object, by the hash of its pickled form if that is reproducible."""
    from joblib import hash as hash_of

    state = getattr(thing, "__dict__", {})
    if any(callable(value) for value in state.values()):
        return [[name, described(value)] for name, value in state.items() if value is not thing]
    try:
        return str(hash_of(thing))
    except Exception:  # whatever a foreign object does when it is pickled
        return None


def _code(thing: Any) -> Any:
    """The code of a class or function, or the version of its package."""
    module, name = str(thing.__module__), str(thing.__qualname__)
    if not is_own(module):
        homes = [module]
        if isinstance(thing, type):  # of evenhand also where its parents are
            parents = [parent.__module__ for parent in thing.__mro__]
            homes = [parent for parent in parents if _is_ours(parent)] or homes
        return [f"{module}:{name}", [_version(home) for home in dict.fromkeys(homes)]]
    if isinstance(thing, FunctionType) and name.endswith("<lambda>"):  # its source has no name
        code = thing.__code__
        body = [code.co_code.hex(), repr(code.co_consts), code.co_names]
        return [name, body, described([thing.__defaults__, _enclosed(thing)])]
    members = vars(thing).values() if isinstance(thing, type) else [thing]
    functions = (member for member in members if isinstance(member, FunctionType))
    namespace = next((function.__globals__ for function in functions), {})
    return [name, _reached(module, name.partition(".")[0], namespace), described(_enclosed(thing))]


def _enclosed(thing: Any) -> list[Any]:
    """The values in a function's closure; `super()` holds the class itself."""
    cells = getattr(thing, "__closure__", None) or ()
    return [cell.cell_contents for cell in cells if not isinstance(cell.cell_contents, type)]


def _version(module: str) -> Any:
    """The source of evenhand's modules and the versions of what they call; else the version."""
    if _is_ours(module):
        return [source_fingerprint(module), {PACKAGES: package_versions(module)}]
    return {PACKAGES: version_of(module)}


def without_versions(value: Any) -> Any:
    """A description without the versions of other packages: the code alone.

    >>> without_versions([1, {PACKAGES: "scikit-learn 1.9"}])
    [1, {}]
    """
    if isinstance(value, list | tuple):
        return [without_versions(item) for item in value]
    return {} if isinstance(value, dict) and PACKAGES in value else value


def is_own(module: str) -> bool:
    """Whether a module is neither evenhand's nor installed, but one's own.

    >>> is_own("__main__"), is_own("sklearn.svm"), is_own("evenhand.measures")
    (True, False, False)
    """
    return not _is_ours(module) and not is_installed(module)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == OURS


def _reached(module: str, name: str, namespace: Mapping[str, Any]) -> Any:
    """The statements of a file that a name in it depends on, and the modules that these import."""
    tree, spec = _own_source(module, namespace)
    bound = [(set(_bound(statement)), statement) for statement in tree.body]
    reached, waiting = set(), {name}
    while waiting:
        reached |= waiting
        used = (ast.walk(statement) for names, statement in bound if names & waiting)
        waiting = {n.id for nodes in used for n in nodes if isinstance(n, ast.Name)} - reached
    parts = [statement for names, statement in bound if names & reached] or tree.body
    is_package = spec.submodule_search_locations is not None
    imported = _imports(ast.Module(parts, []), spec.name, is_package)
    others = sorted({other for other in imported if other != module and is_own(other)})
    return [
        fingerprint([ast.dump(statement) for statement in parts]),
        [source_fingerprint(other) for other in others if _spec(other) is not None],
    ]


def _own_source(module: str, namespace: Mapping[str, Any]) -> tuple[ast.Module, ModuleSpec]:
    """The code of one's own module, script or notebook, of which IPython keeps the cells."""
    spec = (_spec(module) if module != "__main__" else None) or ModuleSpec(module, None)
    path = spec.origin or namespace.get("__file__")
    if path is not None:
        return _parsed(_text(module, path)), spec
    if "_ih" in namespace:
        return _parsed("\n".join(namespace["_ih"])), spec
    raise InputTypeError(
        f"The code of {module} cannot be read, so outdated results could not be recognized: save "
        "what a benchmark runs in a file, and import it."
    )


_READ: dict[str, tuple[Any, str]] = {}  # by module: the import that loaded it, and its text


def _text(module: str, path: str) -> str:
    """The text of a file; for a loaded module the text when first read, despite later edits."""
    loaded = getattr(sys.modules.get(module), "__spec__", None) or sys.modules.get(module)
    if module not in _READ or _READ[module][0] is not loaded or loaded is None:
        _READ[module] = (loaded, Path(path).read_text(encoding="utf-8"))
    return _READ[module][1]


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement defines, or whose content it may change."""
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        elif (
            isinstance(node, ast.Subscript | ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (isinstance(statement, ast.Expr) or not isinstance(node.ctx, ast.Load))
        ):
            yield node.value.id  # `table["a"] = 1`, and `table.update(a=1)`


def file_fingerprint(path: str) -> str:
    """Fingerprint of a file's bytes."""
    return _file_fingerprint(path, *file_stamp(path))


def file_stamp(path: str) -> tuple[int, int]:
    """Time of the last change and size: while they stay, so does the content."""
    about = Path(path).stat()
    return about.st_mtime_ns, about.st_size


@cache
def _file_fingerprint(path: str, *_: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def source_fingerprint(module: str) -> str:
    """Fingerprint of the code of a module and of those it imports from the same package.

    Of evenhand the package is the first two parts of the module's name, so that a method of
    `evenhand.mitigation` depends on what it uses there, and on no other method; of one's own it is
    every module that is one's own.
    """
    if _is_ours(module):
        return _source_of_ours(module)
    return fingerprint({name: _dumped(tree) for name, (tree, _) in _sources(module).items()})


@cache
def _source_of_ours(module: str) -> str:
    return fingerprint({name: _dumped(tree) for name, (tree, _) in _sources(module).items()})


@cache
def _dumped(tree: ast.Module) -> str:
    return ast.dump(tree)


@cache
def package_versions(module: str) -> tuple[str, ...]:
    """Versions of other packages that a module and those it uses call: solvers, peers.

    Packages that everything needs (`GROUND`) do not count here: their versions are stored with
    each run.

    >>> package_versions("evenhand.mitigation.reweighting")
    ()
    """
    own = module.partition(".")[0]
    called = {
        name.partition(".")[0]
        for tree, spec in _sources(module).values()
        for name in _imported(tree, spec.name, spec.submodule_search_locations is not None)
    }
    packages = called - GROUND - WRITERS - sys.stdlib_module_names - {own}
    return tuple(version_of(name) for name in sorted(packages) if is_installed(name))


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
    if top not in _distributions():  # it may have been installed since they were read
        _distributions.cache_clear()
    return tuple(sorted(set(_distributions().get(top, ()))))


@cache
def _distributions() -> Mapping[str, list[str]]:
    """Installed distributions by package; they take long to read."""
    return packages_distributions()


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
    places = [] if spec is None else [spec.origin] if spec.origin else _folders(spec)
    return any(map(_is_package_folder, places)) or _is_recorded(module.partition(".")[0])


def _folders(spec: ModuleSpec) -> list[str]:
    return list(spec.submodule_search_locations or ())


def _is_package_folder(path: str) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(Path(path).parts)


@cache
def _is_recorded(top: str) -> bool:
    """Whether an installer put a package where it is, as `pip install --target` does anywhere.

    The record is then next to it; for an editable installation it is elsewhere.
    """
    spec = _spec(top)
    places = [] if spec is None else _folders(spec) or [spec.origin or ""]
    folders = [str(Path(place).parent) for place in places if place]
    return any(
        file.parts[0].partition(".")[0] == top
        for distribution in (distributions(path=folders) if folders else ())
        if distribution.read_text("RECORD")
        for file in distribution.files or ()
    )


def _sources(module: str) -> dict[str, tuple[ast.Module, ModuleSpec]]:
    """The code of a module and those it imports from its package, or of one's own."""
    package = ".".join(module.split(".")[:2]) if module.count(".") > 1 else module.split(".")[0]
    sources: dict[str, tuple[ast.Module, ModuleSpec]] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        spec = None if name in sources else _spec(name)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            tree = _parsed(_text(name, spec.origin))
            sources[name] = (tree, spec)
            for other in _imported(tree, name, spec.submodule_search_locations is not None):
                is_in_package = f"{other}.".startswith(f"{package}.")
                if is_in_package or (not _is_ours(module) and is_own(other)):
                    waiting.append(other)
    return sources


def _spec(module: str) -> ModuleSpec | None:
    if _is_ours(module) and "." in module:
        return _spec_of_ours(module)
    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return None


@cache
def _spec_of_ours(module: str) -> ModuleSpec | None:
    """Find a module without importing its packages, one of which needs PyTorch."""
    above = _spec(module.rpartition(".")[0])
    places = None if above is None else above.submodule_search_locations
    return None if places is None else PathFinder.find_spec(module, places)


@cache
def _parsed(text: str) -> ast.Module:
    """Code without docstrings and without what only type checkers read."""
    tree = ast.parse(text)
    for node in _statements(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            documented = isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False)
            statements = body[1:] if documented is not None and documented is not False else body
            node.body = [part for part in statements if not _is_for_type_checkers(part)]  # type: ignore[attr-defined]
    return tree


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The tree and its statements and what holds them, but no expressions, which are many."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in HOLDS_STATEMENTS:
            waiting += getattr(node, name, ())


HOLDS_STATEMENTS = ("body", "orelse", "finalbody", "handlers", "cases")


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _is_for_type_checkers(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    name = getattr(node.test, "attr", getattr(node.test, "id", None))
    return name == "TYPE_CHECKING"


@cache
def _imported(tree: ast.Module, name: str, is_package: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_imports(tree, name, is_package)))


def _imports(tree: ast.Module, name: str, is_package: bool) -> Iterator[str]:
    """The modules that are imported; of `from a import b` both a and a.b, which may be one."""
    parts = name.split(".")
    if not is_package:  # `from .` is the package that a module is in
        parts = parts[:-1]
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            source = ".".join([*above, node.module] if node.module else above)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
