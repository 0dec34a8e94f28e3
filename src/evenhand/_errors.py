"""The errors of evenhand, under one root, so that callers can catch them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from evenhand._words import visible

PUBLIC = "evenhand"  # where callers import these from, and what a traceback says


class EvenhandError(Exception):
    """Base class of evenhand's errors; each is also the built-in error that fits its cause.

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

    def __str__(self) -> str:
        """The message, without control characters from file names or labels."""
        return visible(super().__str__())


class InputError(EvenhandError, ValueError):
    """A value that cannot be used; the message names it and the way out.

    Where another library's callers may know its words for the same refusal, those come first,
    alone in `args[0]`.

    >>> str(InputError("Must have n_boot be a positive integer", "n_boot is 0."))
    'Must have n_boot be a positive integer. n_boot is 0.'
    """

    __module__ = PUBLIC

    def __str__(self) -> str:
        """Both parts as sentences."""
        *parts, last = map(str, self.args or ("",))
        return visible(" ".join([*(f"{part.removesuffix('.')}." for part in parts), last]))


class InputTypeError(EvenhandError, TypeError):
    """An argument of the wrong kind, or one that is unexpected."""

    __module__ = PUBLIC


class OutputError(EvenhandError, OSError):
    """A file that could not be written; the message names it and says why."""

    __module__ = PUBLIC


class UnboundWarning(UserWarning):
    """A bound without effect: the model already meets it on the rows of the fit."""

    __module__ = PUBLIC


class MissingExtraError(EvenhandError, ImportError):
    """A missing optional package; the message says which `pip install` installs it."""

    __module__ = PUBLIC


def require(*packages: str, purpose: str = "A benchmark", extra: str = "benchmark") -> None:
    """Raise one clear error if a package of an extra is missing."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingExtraError(
            f'{purpose} needs {" and ".join(missing)}: pip install "evenhand[{extra}]"',
            name=missing[0],
        )


def require_package(package: str, purpose: str) -> None:
    """Raise one clear error if a package outside our extras is missing.

    >>> require_package("json", "A file")
    """
    if find_spec(package) is None:
        raise MissingExtraError(f"{purpose} needs {package}: pip install {package}", name=package)


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turn errors of another library into ours, with its words; NumPy's warnings are silenced.

    >>> with refusing("The column cannot be read"):
    ...     float("x")
    Traceback (most recent call last):
    evenhand.InputError: The column cannot be read: could not convert string to float: 'x'
    """
    from numpy import errstate

    try:
        with errstate(all="ignore"):
            yield
    except EvenhandError:
        raise
    except (ValueError, IndexError) as error:
        raise InputError(f"{what}: {error}") from error
    except TypeError as error:
        raise InputTypeError(f"{what}: {error}") from error
