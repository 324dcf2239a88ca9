"""Upstream's changes, in rooms like those of the scheduler. Importing this registers them: of the changes of one release, those of an earlier line come first."""

# isort: off
from .cycles import async_calls  # noqa: F401
from .cache import cache  # noqa: F401
from .queue import event_handlers  # noqa: F401
from .cache import live_tree  # noqa: F401
from .framework import filters  # noqa: F401
from .preemption import nominations  # noqa: F401
from .cycles import permit  # noqa: F401
from .preemption import preemption, disruption  # noqa: F401
from .queue import queue  # noqa: F401
from .cycles import failure, informers  # noqa: F401
from .cache import snapshot, node_tree  # noqa: F401
from .dynamicresources import claims  # noqa: F401
from .podgroups import groups  # noqa: F401
from .framework import topology, scores  # noqa: F401
from .volumebinding import volumes  # noqa: F401
from .cycles import binding  # noqa: F401
from .framework import extenders  # noqa: F401
from . import kubelets  # noqa: F401
from .queue import names, node_updates, pod_updates  # noqa: F401
