"""Upstream's changes, in rooms like those of the scheduler. Importing this registers all of them; the order of the files does not count."""

from importlib import import_module
from pkgutil import walk_packages

from ..registry.change import CHANGES, in_order

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
_changes = in_order(CHANGES.values())
CHANGES.clear()
CHANGES.update((change.key, change) for change in _changes)
