"""Upstream's changes, in rooms like those of the scheduler. Importing this registers them: of the changes of one release, those of an earlier line come first."""

# isort: off
from .cycles import async_calls  # noqa: F401
from .caching import cache  # noqa: F401
from .queueing import event_handlers  # noqa: F401
from .caching import live_tree  # noqa: F401
from .framework import filters  # noqa: F401
from .preempting import nominations  # noqa: F401
from .cycles import permit  # noqa: F401
from .preempting import preemption, disruption  # noqa: F401
from .queueing import queue  # noqa: F401
from .cycles import failure, informers  # noqa: F401
from .caching import snapshot, node_tree  # noqa: F401
from .plugins import claims, groups  # noqa: F401
from .caching import topology  # noqa: F401
from .plugins import scores, volumes  # noqa: F401
from .cycles import binding  # noqa: F401
from .framework import extenders  # noqa: F401
from . import kubelets  # noqa: F401
from .queueing import names, node_updates, pod_updates  # noqa: F401
