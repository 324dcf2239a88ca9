"""The commands and their options. Every other floor is imported only by the command that needs it."""

from importlib import import_module
from pkgutil import iter_modules

for _command in iter_modules(__path__):
    import_module(f".{_command.name}", __name__)
