"""The commands and their options: a file each, with what it prints. Every other room is imported only by the command that needs it."""

from importlib import import_module
from pkgutil import iter_modules

from ..configuration.app import app

for _command in iter_modules(__path__):
    import_module(f".{_command.name}", __name__)

__all__ = ["app"]
