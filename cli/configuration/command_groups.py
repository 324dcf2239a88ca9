"""The commands by what they are for, and the help that is grouped so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand, TyperGroup

from .quick_values import made_quick

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Find races": {
        "check": "check",
        "test": "test",
        "prove": "prove",
        "simulate": "simulate",
        "synthesize": "synthesize",
        "induct": "induct",
        "ways": "ways",
    },
    "Look at a counterexample": {
        "explain": "explain",
        "replay": "replay",
        "test-from": "regression",
        "reproduce": "reproduce",
    },
    "Look at a cluster": {
        "audit": "audit",
    },
    "Compare releases and changes": {
        "verify": "verify",
        "diff": "verify",
        "new-patch": "new_patch",
    },
    "What is known": {
        "races": "listings",
        "properties": "listings",
        "fixes": "listings",
        "gates": "gates",
    },
    "Hold the model against others": {
        "conform": "conform",
        "lockstep": "lockstep",
        "drift": "drift",
        "export": "export",
    },
    "Set up": {
        "init": "init",
        "config": "config",
        "schema": "schema",
        "completion": "completion",
        "version": "version",
    },
}
"""Heading, command, and the file in `cli/commands` that it is in."""

MODULES: Mapping[str, str] = {name: module for group in GROUPS.values() for name, module in group.items()}


class CommandGroups(TyperGroup):
    """All commands, in groups."""

    def get_params(self, ctx: Any) -> list[Any]:
        """As typer's, whose values are found quickly."""
        return made_quick(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the groups."""
        return [name for name in MODULES if name in self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each group."""
        widest = max(len(name) for name in self.list_commands(ctx))
        for heading, names in GROUPS.items():
            rows = [
                (name.ljust(widest), self.commands[name].get_short_help_str(formatter.width - widest - 6))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class CommandHelp(TyperCommand):
    """A command whose help speaks of what users write, and of no type of Python's."""

    def get_params(self, ctx: Any) -> list[Any]:
        """As typer's, whose values are found quickly."""
        return made_quick(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments by the words that stand for them, then the options."""
        for heading, kind in (("Arguments", "argument"), ("Options", "option")):
            shown = [p for p in self.get_params(ctx) if p.param_type_name == kind]
            rows = [record for p in shown if (record := p.get_help_record(ctx)) is not None]
            if kind == "argument":
                rows = [(name.partition(" <")[0], told) for name, told in rows]
            rows = [(name.replace("<list[", "<").replace("]>", ">"), told) for name, told in rows]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
