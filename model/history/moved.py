"""Names under which patches of users may still import upstream's changes.

`podrace.model.history.nomination_changes` and `podrace.model.history.changes.nominations` are
`podrace.model.history.changes.preempting.nominations`.
"""

from __future__ import annotations

import sys

from . import changes
from .registry import change

_SINGULAR = {
    "async_calls": "async_call",
    "claims": "claim",
    "event_handlers": "event_handler",
    "filters": "filter",
    "groups": "group",
    "names": "name",
    "node_updates": "node_update",
    "nominations": "nomination",
    "pod_updates": "pod_update",
    "volumes": "volume",
}


def keep_old_names() -> None:
    """Have each module of `changes` found under the names that it had before, too: it is the same module."""
    package = __name__.rpartition(".")[0]
    sys.modules.setdefault(f"{changes.__name__}.change", change)
    for name, module in vars(changes).items():
        is_module = getattr(module, "__name__", "").startswith(f"{changes.__name__}.")
        if is_module and not hasattr(module, "__path__"):
            sys.modules.setdefault(f"{package}.{_SINGULAR.get(name, name)}_changes", module)
            sys.modules.setdefault(f"{changes.__name__}.{name}", module)
