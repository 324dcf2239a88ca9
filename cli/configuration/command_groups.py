"""The commands by what they are for, and the help that is grouped so."""

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand, TyperGroup

from .quick_values import made_quick

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Begin here": {"check": "find.check", "init": "set_up.init"},
    "I change the scheduler": {
        "verify": "compare.verify",
        "diff": "compare.verify",
        "new-patch": "compare.new_patch",
        "drift": "cross_check.drift",
        "reproduce": "look.reproduce",
        "explore": "look.explore",
        "ask": "find.ask",
        "explain": "look.explain",
    },
    "I run schedulers": {"hazards": "compare.listings", "audit": "look.audit", "test": "find.test"},
    "I want to know how podrace knows": {
        "properties": "compare.listings",
        "races": "compare.listings",
        "fixes": "compare.listings",
        "prove": "find.prove",
        "lockstep": "cross_check.lockstep",
    },
}
"""Heading, command, and the file below `cli/commands` that it is in."""

FOLDED: Mapping[str, str] = {
    "replay": "look.replay",
    "gates": "compare.gates",
    "mcp": "set_up.mcp",
    "schema": "set_up.schema",
    "version": "set_up.version",
}
"""Commands that are seldom used, and their files: the help gives their names only."""

MODULES: Mapping[str, str] = {
    **{name: module for group in GROUPS.values() for name, module in group.items()},
    **FOLDED,
}


class CommandGroups(TyperGroup):
    """All commands, in groups."""

    def get_params(self, ctx: Any) -> list[Any]:
        """As typer's, whose values are found quickly."""
        return made_quick(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the groups."""
        return [name for name in MODULES if name in self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each group, then the names of the others."""
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
        folded = [name for name in FOLDED if name in self.commands]
        if folded:
            with formatter.section("More, each with its own --help"):
                formatter.write_text(", ".join(folded))


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
