"""The settings that hold for a command: those of the file below its name, and those for all commands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.problems import Problem, UsageProblem
from ...base.structs import Data
from ...base.text import known_names, one_line
from ...scenarios.values.yaml_values import Value
from .command_options import Commands, Option
from .config_file import read_config

DEFAULTS = "defaults"
"""The section for all commands."""


class Setting(Data):
    """The value of one option, and the place in the file that gives it, as `file:line`."""

    option: Option
    value: Any
    place: str


Settings = Mapping[str, Mapping[str, Setting]]
"""What a file sets, by command and name."""


def settings_of(commands: Commands, path: Path) -> Settings:
    """What a file sets for each command. Raises UsageProblem."""
    top = read_config(path)
    try:
        return _settings(top, commands, path.parent) if top is not None else {name: {} for name in commands}
    except Problem as error:
        raise UsageProblem(str(error)) from None


def _settings(top: Value, commands: Commands, folder: Path) -> Settings:
    sections = top.fields((DEFAULTS, *commands), "a mapping from commands to their settings")
    shared = _shared(sections[DEFAULTS], commands, folder) if DEFAULTS in sections else {}
    found = {}
    for name, options in commands.items():
        own = _section(sections[name], options, folder) if name in sections else {}
        found[name] = {n: s for n, s in shared.items() if n in options} | own
        found[name] = {n: Setting(options[n], s.value, s.place) for n, s in found[name].items()}
    return found


def _shared(section: Value, commands: Commands, folder: Path) -> dict[str, Setting]:
    """The section for all commands: only options that mean the same in every command that has them."""
    meanings: dict[str, set[object]] = {}
    known: dict[str, Option] = {}
    for options in commands.values():
        for name, option in options.items():
            meanings.setdefault(name, set()).add(option.meaning)
            known.setdefault(name, option)
    for key, value in section.items("a mapping from options to values"):
        name = key.node.value
        if len(meanings.get(name, ())) > 1:
            owners = [command for command, options in commands.items() if name in options]
            value.fail(
                f"commands take different values for it: write it below the one that is meant ({', '.join(owners)})"
            )
    return _section(section, known, folder)


def _section(section: Value, options: Mapping[str, Option], folder: Path) -> dict[str, Setting]:
    found = {}
    for key, value in section.items("a mapping from options to values"):
        name = key.node.value
        if name not in options:
            key.fail(f"unknown option `{one_line(name)}`; {known_names(name, options)}")
        if value.is_null:
            value.fail("nothing is set: give a value, or remove the line")
        found[name] = Setting(
            options[name], _value(value, options[name], folder), f"{value.file}:{value.line}"
        )
    return found


def _value(value: Value, option: Option, folder: Path) -> Any:
    if option.kind == "flag":
        return value.boolean()
    if option.repeatable:
        return [_one(element, option, folder) for element in value.elements(f"a list for --{option.name}")]
    return _one(value, option, folder)


def _one(value: Value, option: Option, folder: Path) -> Any:
    if option.kind == "number":
        return value.integer(option.least, option.most)
    if option.kind == "choice":
        return value.one_of(option.choices, f"a value of --{option.name}")
    if value.node.tag.endswith((":bool", ":timestamp")):
        value.expect(f"a text for --{option.name}")
    written = value.scalar(f"a text for --{option.name}")
    if not written or not written.isprintable():
        value.expect(f"one line of text for --{option.name}")
    # As ruff and pytest do: paths are relative to the file that says them.
    return str(folder / written) if option.kind == "path" else written
