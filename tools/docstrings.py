"""Check that the docstrings of every public object say what `help()` must say.

numpydoc's own validation reads files; our public functions live in private modules, so this walks
the public names instead. A function and an estimator need a summary, their parameters as the
signature has them, what comes back, and an example. A class that users receive rather than make
may list its fields as attributes. A method needs at least a summary, and what it documents must
match its signature.

    python tools/docstrings.py          list what is missing; the exit status is 1 if anything is
    python tools/docstrings.py --count  only the numbers, by kind of fault
"""

from __future__ import annotations

import argparse
import inspect
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

MODULES = [
    "evenhand",
    "evenhand.benchmark",
    "evenhand.compat.fairlearn",
    "evenhand.compat.mlflow",
    "evenhand.criteria",
    "evenhand.datasets",
    "evenhand.measures",
    "evenhand.mitigation",
    "evenhand.report",
    "evenhand.standards",
    "evenhand.statistics",
]

SUMMARY = {"GL08", "SS01", "SS02", "SS03", "SS04", "SS06"}
SECTIONS = {"GL05", "GL06", "GL07", "GL10"}
PARAMETERS = {"PR01", "PR02", "PR03", "PR04", "PR05", "PR07", "PR10"}
RETURNS = {"RT01", "RT03", "YD01"}
EXAMPLES = {"EX01"}

METHOD = SUMMARY | SECTIONS | PARAMETERS - {"PR01"} | RETURNS - {"RT01"}
CALLABLE = SUMMARY | SECTIONS | PARAMETERS | RETURNS | EXAMPLES
RECORD = SUMMARY | SECTIONS | PARAMETERS - {"PR02", "PR03"}
EXCEPTION = SUMMARY | SECTIONS


class Fault(NamedTuple):
    """One thing a docstring lacks."""

    name: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.name}: {self.code} {self.message}"


class Public(Validator):
    """A docstring whose fields may be listed as attributes, if it is a record's."""

    def __init__(self, obj_name: Any, fields: tuple[str, ...] = ()) -> None:
        super().__init__(get_doc_object(obj_name, config={"show_class_members": False}))
        self._listed = ["Parameters", "Other Parameters", *fields]

    @property
    def doc_all_parameters(self) -> Any:
        """The names that are documented, wherever this kind of object may list them."""
        return self._doc_parameters(self._listed)

    @property
    def source_file_name(self) -> None:
        """Nothing is ignored by a comment in a file, so that the list here is the whole truth."""
        return None


def faults() -> list[Fault]:
    """Everything that the docstrings of the public names lack, each object once."""
    return [fault for name, item in public() for fault in _of_object(name, item)]


def public() -> Iterator[tuple[str, Any]]:
    """The public functions and classes, each under the first name that reaches it."""
    seen: set[int] = set()
    for path in MODULES:
        module = import_module(path)
        for name in getattr(module, "__all__", [key for key in vars(module) if key[0] != "_"]):
            item = getattr(module, name)
            documented = inspect.isclass(item) or inspect.isroutine(item)
            if documented and item.__module__.startswith("evenhand") and id(item) not in seen:
                seen.add(id(item))
                yield f"{path}.{name}", item


def _of_object(name: str, item: Any) -> Iterator[Fault]:
    if not inspect.isclass(item):
        yield from _validated(name, item, CALLABLE)
    elif issubclass(item, Exception):
        yield from _validated(name, item, EXCEPTION)
    else:
        estimator = hasattr(item, "get_params")
        fields = () if estimator else ("Attributes",)
        codes = CALLABLE if estimator else RECORD
        if getattr(item, "_is_protocol", False):  # its *args are typing's, and nobody makes one
            codes = codes - PARAMETERS
        yield from _validated(name, item, codes, fields)
        for key, member in vars(item).items():
            if _is_method(key, member):
                yield from _validated(f"{name}.{key}", getattr(item, key), METHOD)


def _is_method(key: str, member: object) -> bool:
    kinds = (classmethod, staticmethod, property)
    return not key.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))


def _validated(
    name: str, item: Any, codes: set[str], fields: tuple[str, ...] = ()
) -> Iterator[Fault]:
    report = validate(item, Public, fields=fields)
    for code, message in report["errors"]:
        if code in codes:
            yield Fault(name, code, message)


def main() -> int:
    """Print the faults or their counts; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", action="store_true", help="only the numbers")
    arguments = parser.parse_args()
    found = faults()
    if arguments.count:
        for code, number in sorted(Counter(fault.code for fault in found).items()):
            print(f"{code} {number}")
    elif found:
        print(*found, sep="\n")
    print(f"{len(found)} faults in the docstrings of {sum(1 for _ in public())} public objects")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
