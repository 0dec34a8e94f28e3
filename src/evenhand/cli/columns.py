"""Options for the columns that are read, and how: those of every function."""

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
    """The name under which click passes the option of a role.

    >>> flag_of("sensitive_features"), flag_of("score_of")
    ('group', 'score_of')
    """
    return ROLES[role].option.removeprefix("--").replace("-", "_")


def synonyms_of(options: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The names of these options in functions and other tools.

    >>> synonyms_of(["--group", "--html"])["--group"][:2]
    ('sensitive_features', 'group')
    """
    roles = {role.option.removeprefix("--"): role for role in ROLES.values() if role.option}
    meant = {}
    for option in options:
        bare = option.removeprefix("--")
        role = roles.get(bare)
        name = role.name if role else bare.replace("-", "_")
        meant[option] = (*((name, *role.also) if role else ()), *SYNONYMS.get(name, ()))
    return meant


def role_option(role: str, **settings: Any) -> click.Option:
    """The option of a role; `settings` override its defaults."""
    declared = ROLES[role]
    arguments = {"help": declared.brief, **_shape(declared), **SHAPES.get(role, {}), **settings}
    has_default = arguments.get("default") is not None
    return click.Option([declared.option], show_default=has_default, **arguments)


def role_options(
    roles: Collection[str] | None = None, **settings: Mapping[str, Any]
) -> Callable[[click.Command], click.Command]:
    """Give a command the options of these roles, by default of all, before its own."""
    chosen = [name for name, role in ROLES.items() if role.option and (not roles or name in roles)]

    def add(command: click.Command) -> click.Command:
        position = sum(isinstance(parameter, click.Argument) for parameter in command.params)
        command.params[position:position] = [
            role_option(name, **settings.get(name, {})) for name in chosen
        ]
        return command

    return add


def probable_options(command: click.Command) -> click.Command:
    """Give a command the options of probable groups, after those of its columns."""
    position = max(n for n, parameter in enumerate(command.params) if parameter.name == "group") + 1
    command.params[position:position] = PROBABLE
    return command


def probable_groups(options: Mapping[str, Any]) -> Probable | None:
    """The groups, where columns of their probabilities were named; else None."""
    probabilities, group = dict(map(probability, options["probable"])), options["group"]
    if not group and not probabilities:
        raise click.UsageError(
            "Name the column of the groups: --group sex (repeat it to cross them)."
        )
    if options["assuming"] and not probabilities:
        raise click.UsageError(
            "--assuming needs --probable: name the columns of the probabilities."
        )
    if not probabilities:
        return None
    if len(group) > 1:
        raise click.UsageError(
            "With --probable, pass one --group: the group of those whose group is known."
        )
    return probable(
        list(probabilities.values()),
        groups=list(probabilities),
        known=next(iter(group), None),
        assuming=options["assuming"],
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


def columns_by_role(options: Mapping[str, Any]) -> dict[str, Any]:
    """The columns named on the command line, by role; several as a list."""
    values = {name: options.get(flag_of(name)) for name, role in ROLES.items() if is_named(role)}
    return {
        name: (list(value) or None) if isinstance(value, tuple) else value
        for name, value in values.items()
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
