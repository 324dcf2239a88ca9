"""The commands and their options: a file each, with what it prints. Every other room is imported only by the command that needs it."""

from collections.abc import Sequence
from importlib import import_module

from ..configuration.app import app
from ..configuration.command_groups import MODULES
from ..configuration.configured import ConfiguredTyper


def app_for(arguments: Sequence[str]) -> ConfiguredTyper:
    """The app with the command that a command line begins with; with all of them where it begins otherwise.

    So that a command does not wait for what the others import.
    """
    named = MODULES.get(arguments[0]) if arguments else None
    if named is None:
        return all_commands()
    import_module(f".{named}", __name__)
    return app


def all_commands() -> ConfiguredTyper:
    """The app with all commands; each adds itself when it is imported."""
    for module in MODULES.values():
        import_module(f".{module}", __name__)
    return app


app.with_commands(all_commands)
