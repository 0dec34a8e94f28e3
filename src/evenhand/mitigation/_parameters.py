"""Parameters of estimators: unknown names and values are refused, and prose is written once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from inspect import cleandoc, signature
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from evenhand._errors import InputError, InputTypeError
from evenhand._words import did_you_mean
from evenhand.mitigation._values import VALUES

RENAMED = {
    "alpha": "epsilon",
    "constraint": "criterion",
    "cost": "criterion",
    "delta": "epsilon",
    "difference_bound": "epsilon",
    "eps": "epsilon",
    "favourable": "favorable",
}
CALLED = {"pos_label": "favorable", "sensitive_features": "group"}  # by functions, not estimators
SHARED = """\
favorable : label, default None
    The label of the better outcome for people, which criteria about one class are about. None is 1
    where the labels are 0 and 1, or −1 and 1; of other labels it must be named where it matters."""
HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-+\n", re.MULTILINE)


class NamedParameters(BaseEstimator):  # type: ignore[misc]
    """An estimator that refuses a parameter it does not have, and names the one that is meant.

    What a parameter was called before is answered with its present name; `_renamed` adds to
    `RENAMED` where an estimator has a history of its own. A subclass documents the parameters and
    attributes that it adds or changes; what its docstring does not say comes from its parents'.

    >>> class Tempered(NamedParameters):
    ...     def __init__(self, epsilon=0.1):
    ...         self.epsilon = epsilon
    >>> Tempered(alpha=0.2)
    Traceback (most recent call last):
    evenhand.InputTypeError: Tempered has no parameter 'alpha': it is 'epsilon' now.
    >>> Tempered().set_params(epslion=0.2)
    Traceback (most recent call last):
    evenhand.InputError: Tempered has no parameter 'epslion'. Did you mean 'epsilon'?
    """

    _renamed: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Check the names a subclass's own `__init__` is called with, and complete its docs."""
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            cls.__init__ = _checked(cls.__init__)  # type: ignore[method-assign]
        if cls.__dict__.get("__doc__"):
            cls.__doc__ = completed_docs(cls)

    def _check_values(self) -> None:
        """Refuse parameters that hold what nothing can be done with."""
        for name, value in self.get_params(deep=False).items():
            if name in VALUES and not VALUES[name].allow(value):
                raise InputError(
                    f"{name} of {type(self).__name__} must be {VALUES[name].words}, not {value!r}."
                )

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, or by ``estimator__name`` of the one underneath.

        Parameters
        ----------
        **params : dict
            The parameters' new values, by name.

        Returns
        -------
        estimator
            This estimator.

        """
        known = list(self.get_params(deep=False))
        for name in params:
            if name.partition("__")[0] not in known:
                raise InputError(unknown_parameter(type(self), name, known))
        super().set_params(**params)
        return self


def unknown_parameter(cls: type[NamedParameters], name: str, known: Iterable[str]) -> str:
    """A sentence on a parameter that a class does not have."""
    known = list(known)
    present = (RENAMED | dict(cls._renamed)).get(name)
    if present in known:
        return f"{cls.__name__} has no parameter {name!r}: it is {present!r} now."
    if CALLED.get(name) in known:
        return f"{cls.__name__} has no parameter {name!r}: in an estimator it is {CALLED[name]!r}."
    hint = did_you_mean(name, known) or f" Its parameters are {', '.join(known)}."
    return f"{cls.__name__} has no parameter {name!r}.{hint}"


def completed_docs(cls: type[NamedParameters]) -> str:
    """The docstring of a class, with all parameters in their order and all attributes.

    Entries that it lacks are those of the nearest parent that has them.
    """
    summary, sections = _sections(cleandoc(str(cls.__doc__)))
    parents = [parent for parent in cls.__mro__[1:] if issubclass(parent, NamedParameters)]
    inherited = [_sections(cleandoc(str(parent.__doc__)))[1] for parent in reversed(parents)]
    entries = {
        title: {
            names: text
            for part in [{"Parameters": SHARED}, *inherited, sections]
            for names, text in _entries(part.get(title, ""))
        }
        for title in ("Parameters", "Attributes")
    }
    accepted = [name for name in signature(cls).parameters if name != "self"]
    own = dict(_entries(sections.get("Parameters", "")))
    parameters = (
        _entry_of(name, own) or _entry_of(name, entries["Parameters"]) for name in accepted
    )
    sections["Parameters"] = "\n".join(dict.fromkeys(text for text in parameters if text))
    sections["Attributes"] = "\n".join(entries["Attributes"].values())
    order = dict.fromkeys(["Parameters", "Attributes", *sections])
    written = [
        f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in order if sections[title]
    ]
    return "\n\n".join([summary, *written]) + "\n"


def _sections(docs: str) -> tuple[str, dict[str, str]]:
    """What stands before the first heading, and the text under each."""
    summary, *rest = HEADING.split(docs)
    return summary.strip(), {
        title: text.strip("\n") for title, text in zip(rest[::2], rest[1::2], strict=True)
    }


def _entries(section: str) -> Iterator[tuple[str, str]]:
    """The entries of a section by what they name, such as "p, q"."""
    for text in re.split(r"\n(?=\S)", section):
        if text:
            yield text.partition(" :")[0].partition("\n")[0], text


def _entry_of(name: str, entries: Mapping[str, str]) -> str:
    """The entry that is about this name, alone or with others."""
    return next((text for names, text in entries.items() if name in names.split(", ")), "")


def _checked(init: Callable[..., None]) -> Callable[..., None]:
    """The same constructor, which says more than Python would of a name that it does not take."""
    known = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: NamedParameters, *args: Any, **params: Any) -> None:
        for name in params:
            if name not in known:
                raise InputTypeError(unknown_parameter(type(self), name, known))
        init(self, *args, **params)

    return checked
