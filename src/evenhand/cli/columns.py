"""Options that say which columns are read, and how: those that every function offers too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, get_args, get_type_hints

import click

from evenhand._data.probable import Assuming, Probable, probable
from evenhand._data.roles import ROLES, Columns, Role
from evenhand._signatures import SYNONYMS
from evenhand.cli.numbers import Number, WholeRange

SHAPES: dict[str, dict[str, Any]] = {  # of options that take no column
    "score_of": {"metavar": "LABEL"},
    "favorable": {"metavar": "LABEL"},
    "threshold": {"metavar": "NUMBER", "type": Number()},
    "discount": {"metavar": "NAME|NUMBERS", "type": str, "default": "log"},
    "top_k": {"type": WholeRange(1)},
    "min_count": {"type": WholeRange(0), "default": 0},
    "bins": {"metavar": "COLUMN=BINS", "multiple": True},
    "replicate_weights": {"metavar": "COLUMNS", "multiple": False},
    "replicate_method": {"metavar": "NAME"},
    "missing": {"default": "error"},
}

PROBABLE = [
    click.Option(
        ["--probable"],
        multiple=True,
        metavar="GROUP=COLUMN",
        help="Where groups are not recorded: the column of the probability of a group; repeatable. "
        "With --group, that column holds the group where it is known.",
    ),
    click.Option(
        ["--assuming"],
        type=click.Choice(get_args(Assuming)),
        help="With --probable: the answer that decides, if you can vouch for its assumption.",
    ),
]


def flag_of(role: str) -> str:
    """The name under which click passes the option of a role on.

    >>> flag_of("sensitive_features"), flag_of("score_of")
    ('group', 'score_of')
    """
    return ROLES[role].option.removeprefix("--").replace("-", "_")


def meant_by(options: Collection[str]) -> dict[str, tuple[str, ...]]:
    """What functions and other tools call these options.

    >>> meant_by(["--group", "--html"])["--group"][:2]
    ('sensitive_features', 'group')
    """
    roles = {one.option.removeprefix("--"): one for one in ROLES.values() if one.option}
    meant = {}
    for option in options:
        plain = option.removeprefix("--")
        one = roles.get(plain)
        name = one.name if one else plain.replace("-", "_")
        meant[option] = (*((name, *one.also) if one else ()), *SYNONYMS.get(name, ()))
    return meant


def role_option(role: str, **settings: Any) -> click.Option:
    """The option of a role; `settings` are what a command says otherwise."""
    declared = ROLES[role]
    given = {"help": declared.brief, **_shape(declared), **SHAPES.get(role, {}), **settings}
    shown = given.get("default") is not None
    return click.Option([declared.option], show_default=shown, **given)


def role_options(
    roles: Collection[str] | None = None, **settings: Mapping[str, Any]
) -> Callable[[click.Command], click.Command]:
    """Give a command the options of these roles, by default of all, before its own."""
    chosen = [name for name, one in ROLES.items() if one.option and (not roles or name in roles)]

    def add(command: click.Command) -> click.Command:
        at = sum(isinstance(one, click.Argument) for one in command.params)
        command.params[at:at] = [role_option(name, **settings.get(name, {})) for name in chosen]
        return command

    return add


def probable_options(command: click.Command) -> click.Command:
    """Give a command the options of probable groups, after those of its columns."""
    at = max(n for n, one in enumerate(command.params) if one.name == "group") + 1
    command.params[at:at] = PROBABLE
    return command


def probable_given(given: Mapping[str, Any]) -> Probable | None:
    """The groups, where columns of their probabilities were named; else None."""
    probabilities, known = dict(map(probability, given["probable"])), given["group"]
    if not known and not probabilities:
        raise click.UsageError(
            "Name the column of the groups: --group sex (repeat it to cross them)."
        )
    if given["assuming"] and not probabilities:
        raise click.UsageError(
            "--assuming needs --probable: name the columns of the probabilities."
        )
    if not probabilities:
        return None
    if len(known) > 1:
        raise click.UsageError(
            "With --probable, pass one --group: the group of those whose group is known."
        )
    return probable(
        list(probabilities.values()),
        groups=list(probabilities),
        known=next(iter(known), None),
        assuming=given["assuming"],
    )


def probability(text: str) -> tuple[str, str]:
    """Read which column has the probability of a group.

    >>> probability("Black=p_black")
    ('Black', 'p_black')
    """
    name, sign, column = text.partition("=")
    if not name.strip() or not sign or not column.strip():
        raise click.UsageError(
            f"--probable takes GROUP=COLUMN, such as Black=p_black; {text!r} does not."
        )
    return name.strip(), column.strip()


def columns_given(given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that were named on the command line, by role; several as a list."""
    named = {name: given.get(flag_of(name)) for name, one in ROLES.items() if is_named(one)}
    return {
        name: (list(value) or None) if isinstance(value, tuple) else value
        for name, value in named.items()
    }


def is_named(role: Role) -> bool:
    """Whether it is a column that a command may name."""
    return role.is_column and bool(role.option)


def _shape(role: Role) -> dict[str, Any]:
    """A column, or several, or one of a few words."""
    if role.is_column:
        return {"metavar": "COLUMN", "multiple": role.is_several}
    words = [word for part in get_args(_HINTS[role.name]) for word in get_args(part) or [part]]
    texts = [word for word in words if isinstance(word, str)]
    return {"type": click.Choice(texts)} if texts else {}


_HINTS = get_type_hints(Columns)
