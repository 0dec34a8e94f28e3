"""What code does, as it is loaded now: of a class or function, with all of one's own that it uses.

A result depends on the code that ran. For a class of one's own, in a module or in a notebook, that
is the bytecode of its methods, and whatever they name: other functions and classes, constants,
modules. Each counts once it is reached, and nothing else does, so an edit of a neighbor changes
nothing. Installed packages count by their version, and evenhand by the source of its modules.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Mapping
from functools import cached_property, partial
from importlib import import_module
from importlib.util import resolve_name
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from evenhand.benchmark.design.fingerprints import (
    fingerprint,
    is_installed,
    package_versions,
    source_fingerprint,
    version_of,
)

PLAIN = (type(None), bool, int, float, str)
SILENT = frozenset({"RESUME", "CACHE", "NOP", "PRECALL", "EXTENDED_ARG"})
WRITTEN_BY_PYTHON = frozenset(
    (
        *("__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__"),
        *("__abstractmethods__", "__dict__", "__doc__", "__firstlineno__", "__module__"),
        *("__orig_bases__", "__parameters__", "__static_attributes__", "__weakref__", "_abc_impl"),
    )
)
KINDS_OF_CODE = 0x2FF  # flags of generators, *args and the like; not whether there is a docstring
OURS = __name__.partition(".")[0]


def code_fingerprint(thing: Any) -> str:
    """The same for things that do the same: classes, functions, objects, and plain values.

    >>> code_fingerprint({"grid": [1, 2.0]}) == code_fingerprint({"grid": [1, 2.0]})
    True
    """
    return fingerprint(described(thing))


def described(thing: Any) -> Any:
    """What a thing is and does, as a value that can be written down."""
    return _Walk().describe(thing)


def is_own(module: str) -> bool:
    """Whether a module is neither evenhand's nor installed, but one's own.

    >>> is_own("__main__"), is_own("sklearn.svm"), is_own("evenhand.measures")
    (True, False, False)
    """
    return not _is_ours(module) and not is_installed(module)


class _Names(NamedTuple):
    """What a piece of code asks for: globals, attributes, and modules it imports itself."""

    globals: set[str]
    attributes: set[str]
    imports: set[tuple[int, str]]  # level and name


class _Walk:
    """One look at a thing and all it reaches; what was seen before is named by its number."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no id is used twice

    def describe(self, thing: Any, attributes: frozenset[str] = frozenset()) -> Any:
        if isinstance(thing, PLAIN):
            return [type(thing).__name__, repr(thing)]
        if isinstance(thing, ModuleType):
            return self._module(thing, attributes)
        if id(thing) in self.seen:
            return ["again", self.seen[id(thing)]]
        self.seen[id(thing)] = len(self.seen)
        self.kept.append(thing)
        return [type(thing).__name__, self._content(thing)]

    def _content(self, thing: Any) -> Any:
        if isinstance(thing, Mapping):
            return [[self.describe(key), self.describe(value)] for key, value in thing.items()]
        if isinstance(thing, list | tuple):
            return [self.describe(one) for one in thing]
        if isinstance(thing, set | frozenset):  # in no order, and a new one in every process
            return sorted(code_fingerprint(one) for one in thing)
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, FunctionType):
            return self._function(thing)
        if isinstance(thing, CodeType):
            return self._code(thing, _Names(set(), set(), set()))
        if isinstance(thing, BuiltinFunctionType):
            return [thing.__module__, thing.__qualname__]
        parts = _parts(thing)
        return self._instance(thing) if parts is None else [self.describe(one) for one in parts]

    def _class(self, kind: type) -> Any:
        name = f"{kind.__module__}:{kind.__qualname__}"
        if not is_own(kind.__module__):
            homes = dict.fromkeys(
                one.__module__ for one in kind.__mro__ if _is_ours(one.__module__)
            )
            return [name, [_version(home) for home in homes or (kind.__module__,)]]
        body = {key: one for key, one in vars(kind).items() if key not in WRITTEN_BY_PYTHON}
        bases = [self.describe(base) for base in kind.__bases__]
        return [kind.__qualname__, bases, [[key, self.describe(body[key])] for key in sorted(body)]]

    def _function(self, function: FunctionType) -> Any:
        home = str(function.__globals__.get("__name__"))
        inner = [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]
        given = [function.__defaults__, function.__kwdefaults__, inner]
        given.append(getattr(function, "__wrapped__", None))
        if not is_own(home):
            return [f"{home}:{function.__qualname__}", _version(home), self.describe(given)]
        names = _Names(set(), set(), set())
        code = self._code(function.__code__, names)
        attributes = frozenset(names.attributes)
        known = sorted(names.globals & function.__globals__.keys())
        uses = [[name, self.describe(function.__globals__[name], attributes)] for name in known]
        package = function.__globals__.get("__package__")
        for level, name in sorted(names.imports):
            uses.append([name, self.describe(_imported(level, name, package), attributes)])
        return [code, self.describe(given), uses]

    def _code(self, code: CodeType, names: _Names) -> Any:
        """Instructions with what they are about; places in tables and lines do not count."""
        steps: list[Any] = []
        whole: list[int] = []
        for step in dis.get_instructions(code):
            value = step.argval
            if step.opname in SILENT:
                continue
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names.globals.add(value)
            elif step.opname == "IMPORT_NAME":  # after its level and its list of names
                names.imports.add((whole[-1] if whole else 0, value))
            elif step.opcode in dis.hasname:
                names.attributes.add(value)
            if isinstance(value, int) and not isinstance(value, bool):
                whole.append(value)
            if isinstance(value, CodeType):
                value = self._code(value, names)
            elif not isinstance(value, PLAIN):
                value = self.describe(value)
            steps.append([step.opname, repr(value) if isinstance(value, float) else value])
        return [code.co_argcount, code.co_kwonlyargcount, code.co_flags & KINDS_OF_CODE, steps]

    def _module(self, module: ModuleType, attributes: frozenset[str]) -> Any:
        """What is asked of a module; all of it may be too much, and its name too little."""
        if is_installed(module.__name__):
            return [module.__name__, version_of(module.__name__)]
        there = sorted(name for name in attributes if name in vars(module))
        return [[name, self.describe(vars(module)[name], attributes)] for name in there]

    def _instance(self, thing: Any) -> Any:
        kind = self.describe(type(thing))
        if hasattr(thing, "get_params"):
            return [kind, self.describe(thing.get_params(deep=False))]
        state = getattr(thing, "__dict__", {})
        if is_own(type(thing).__module__):
            return [kind, self.describe(state)]
        functions = {name: one for name, one in state.items() if isinstance(one, FunctionType)}
        return [kind, self.describe(functions) if functions else _hash(thing)]


def _parts(thing: Any) -> tuple[Any, ...] | None:
    """What a wrapper of functions is made of."""
    if isinstance(thing, staticmethod | classmethod):
        return (thing.__func__,)
    if isinstance(thing, property):
        return (thing.fget, thing.fset, thing.fdel)
    if isinstance(thing, cached_property):
        return (thing.func,)
    if isinstance(thing, partial):
        return (thing.func, thing.args, thing.keywords)
    if isinstance(thing, MethodType):
        return (thing.__func__, thing.__self__)
    wrapped = None if hasattr(thing, "get_params") else getattr(thing, "__wrapped__", None)
    return None if wrapped is None else (wrapped,)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == OURS


def _version(module: str) -> Any:
    """Of evenhand the source, and of what it calls the versions; of other packages the version."""
    if _is_ours(module):
        return [source_fingerprint(module), package_versions(module)]
    return version_of(module)


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # not yet assigned
        return False


def _imported(level: int, name: str, package: str | None) -> Any:
    """The module that a function imports while it runs; its name if there is no such module."""
    try:
        return _loaded(resolve_name("." * level + name, package) if level else name)
    except ImportError:
        return name


def _loaded(name: str) -> ModuleType:
    """A module; of an installed one the name is enough."""
    if is_installed(name):
        return sys.modules.get(name) or ModuleType(name)
    return import_module(name)


def _hash(thing: Any) -> str | None:
    """Of what the thing holds, such as the numbers of an array; None where nobody can tell."""
    from joblib import hash as hash_of

    try:
        return str(hash_of(thing))
    except Exception:  # whatever a foreign object does when it is pickled
        return None
