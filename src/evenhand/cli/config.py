"""Options of an audit from a TOML file; the command line goes before it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from evenhand._words import did_you_mean


def from_file(context: click.Context, _: click.Parameter, path: str | None) -> str | None:
    """Callback of --config: what the file says are the defaults of all other options."""
    file = Path(path) if path else project_file(Path.cwd())
    if file is not None:
        section = audit_section(file, _parsed(file))
        context.default_map = defaults(section, context.command, file)
        click.echo(f"Options from {file}", err=True)
    return path


def project_file(folder: Path) -> Path | None:
    """The nearest pyproject.toml with a section for us, in this folder or above."""
    for parent in (folder, *folder.parents):
        file = parent / "pyproject.toml"
        if file.is_file() and _within(_parsed(file), "tool", "evenhand", "audit") is not None:
            return file
    return None


def audit_section(file: Path, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options of the audit: [tool.evenhand.audit], else [audit], else the top level."""
    for keys in (("tool", "evenhand", "audit"), ("audit",)):
        section = _within(content, *keys)
        if isinstance(section, Mapping):
            return section
    if file.name == "pyproject.toml":
        raise click.UsageError(f"{file} has no section [tool.evenhand.audit].")
    return content


def defaults(section: Mapping[str, Any], command: click.Command, file: Path) -> dict[str, Any]:
    """The section as defaults of the command's parameters; a key that is no option is an error."""
    known = {p.name: p for p in command.params if p.name not in (None, "config", "help")}
    values: dict[str, Any] = {}
    for key, value in section.items():
        name = {"file": "files"}.get(key, key.replace("-", "_"))
        if name not in known:
            raise click.UsageError(_unknown(key, [str(other) for other in known], file))
        values[name] = _shaped(value, known[name], f"{key} in {file}")
    return values


def _unknown(key: str, known: list[str], file: Path) -> str:
    names = [name.replace("_", "-") for name in known]
    hint = did_you_mean(key, names)
    return f"{file} has the key {key!r}, which is no option.{hint} There are {', '.join(names)}."


def _shaped(value: Any, parameter: click.Parameter, where: str) -> Any:
    """One value where one is meant, a list where several are."""
    if isinstance(value, Mapping):
        raise click.UsageError(f"{where} should be a value or a list, not a table.")
    several = parameter.multiple if isinstance(parameter, click.Option) else parameter.nargs == -1
    if several:
        return [str(entry) for entry in (value if isinstance(value, list) else [value])]
    if isinstance(value, list):
        raise click.UsageError(f"{where} should be one value, not a list.")
    return str(value)


def _parsed(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as failure:
        raise click.UsageError(f"{file} cannot be read as TOML: {failure}") from failure


def _within(content: Any, *keys: str) -> Any:
    for key in keys:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content
