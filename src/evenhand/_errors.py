"""What evenhand raises, under one root, so that callers can catch ours."""

from __future__ import annotations

from importlib.util import find_spec

PUBLIC = "evenhand"  # where callers import these from, and what a traceback says


class EvenhandError(Exception):
    """Anything that evenhand refuses or cannot do; also the built-in error its cause calls for.

    Examples
    --------
    >>> import evenhand as eh
    >>> try:
    ...     eh.evaluate("equal_odds", [1, 0], [1, 0], sensitive_features=["a", "b"])
    ... except eh.EvenhandError as error:
    ...     isinstance(error, ValueError)
    True

    """

    __module__ = PUBLIC


class InputError(EvenhandError, ValueError):
    """A value that cannot be used; the message names it and the way out."""

    __module__ = PUBLIC


class InputTypeError(EvenhandError, TypeError):
    """An argument of the wrong kind, or one that does not belong there."""

    __module__ = PUBLIC


class MissingExtraError(EvenhandError, ImportError):
    """A package that an optional part needs; the message says which `pip install` brings it."""

    __module__ = PUBLIC


def require(*packages: str, purpose: str = "A benchmark", extra: str = "benchmark") -> None:
    """Raise one clear error if a package of an extra is missing."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingExtraError(
            f'{purpose} needs {" and ".join(missing)}: pip install "evenhand[{extra}]"',
            name=missing[0],
        )
