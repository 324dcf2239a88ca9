"""Upstream's changes by their subject. Importing this registers them: of the changes of one release, those of an earlier line come first."""

# isort: off
from . import async_calls  # noqa: F401
from . import cache, event_handlers, filters, nominations, permit  # noqa: F401
from . import preemption, disruption, queue, failure, snapshot  # noqa: F401
from . import claims, groups, topology, volumes  # noqa: F401
from . import binding, extenders, kubelets, names, node_updates, pod_updates  # noqa: F401
