"""Commands whose options a configuration file can set; the command line wins."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...base.problems import UsageProblem
from ...base.structs import Data
from .command_groups import MODULES, CommandHelp
from .command_options import CONFIG, Commands, options_of
from .config_file import find_config
from .option_rows import declared

if TYPE_CHECKING:
    from .in_force import Setting


class Applied(Data, slots=False):
    """What a file sets for the command that is about to run."""

    context: typer.Context
    settings: Mapping[str, Setting]
    path: Path | None

    def blame(self, problem: UsageProblem) -> UsageProblem:
        """The problem with the place of the setting that it is about, where it is about one."""
        text = str(problem)
        for setting in self.settings.values():
            if not self._decides(setting):
                continue
            values = setting.value if isinstance(setting.value, list) else [setting.value]
            name = f"--{setting.option.name}"
            if (
                text.startswith((f"{name}:", f"{name} "))
                or f" and {name} " in text
                or any(f"`{value}`" in text for value in values if isinstance(value, str))
            ):
                return UsageProblem(f"{setting.place}: {text}")
        return problem

    def _decides(self, setting: Setting) -> bool:
        source = self.context.get_parameter_source(setting.option.parameter)
        return source is not None and source.name == "DEFAULT_MAP"


class ConfiguredTyper(typer.Typer):
    """A Typer whose commands all have `-c FILE`, and take from that file what the command line does not say.

    A file may speak of every command, so it is told how to import those that have not been (`with_commands`).
    """

    _all_commands: Callable[[], typer.Typer]

    def with_commands(self, all_commands: Callable[[], typer.Typer]) -> None:
        """`all_commands` imports those commands that have not been imported, and gives them all."""
        self._all_commands = all_commands

    def options(self) -> Commands:
        """The options of every command, by the command's name."""
        found = {
            name_of(c.name, c.callback): options_of(c.callback)
            for c in self._all_commands().registered_commands
            if c.callback
        }
        return {name: found[name] for name in MODULES if name in found}

    def command(self, name: str | None = None, **rest: Any) -> Callable[[Any], Any]:
        """As Typer's, with the option added."""
        register = super().command(name, **{"cls": CommandHelp, **rest})

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            register(self._configured(name_of(name, function), function))
            return function

        return add

    def _configured(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def apply(context: typer.Context, value: Path | None) -> Applied:
            if context.resilient_parsing:  # a shell asks for completions
                return Applied(context, {}, value)
            path = value or find_config(Path.cwd())
            if path is None:
                return Applied(context, {}, value)
            from .in_force import settings_of

            settings = settings_of(self.options(), path)[name]
            context.default_map = {s.option.parameter: s.value for s in settings.values()}
            return Applied(context, settings, value)

        option = typer.Option(
            "-c",
            "--config",
            metavar="FILE",
            is_eager=True,
            callback=apply,
            show_default=False,
            help="Settings from this file, not from the nearest .podrace.yaml.",
        )

        @functools.wraps(function)
        def run(*args: Any, **values: Any) -> Any:
            applied = values[CONFIG] if takes_it else values.pop(CONFIG)
            try:
                return function(*args, **values)
            except UsageProblem as problem:
                raise applied.blame(problem) from problem

        signature = inspect.signature(function, eval_str=True)
        takes_it = CONFIG in signature.parameters
        parameter = inspect.Parameter(
            CONFIG, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[Path | None, option]
        )
        others = [declared(name, p) for n, p in signature.parameters.items() if n != CONFIG]
        run.__signature__ = signature.replace(parameters=[*others, parameter])  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in (*others, parameter)}
        return run


def name_of(name: str | None, function: Callable[..., Any] | None) -> str:
    """The name of a command: the one that it was given, or the function's."""
    return name or (function.__name__.replace("_", "-") if function is not None else "")
