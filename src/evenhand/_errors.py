"""What evenhand raises, under one root, so that callers can catch ours."""

from __future__ import annotations


class EvenhandError(Exception):
    """Anything that evenhand refuses or cannot do; also the built-in error its cause calls for.

    >>> import evenhand as eh
    >>> try:
    ...     eh.evaluate("equal_odds", [1, 0], [1, 0], sensitive_features=["a", "b"])
    ... except eh.EvenhandError as error:
    ...     isinstance(error, ValueError)
    True
    """


class InputError(EvenhandError, ValueError):
    """A value that cannot be used; the message names it and the way out."""


class InputTypeError(EvenhandError, TypeError):
    """An argument of the wrong kind, or one that does not belong there."""


class MissingExtraError(EvenhandError, ImportError):
    """A package that an optional part needs; the message says which `pip install` brings it."""
