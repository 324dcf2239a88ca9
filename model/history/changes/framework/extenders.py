"""Extenders as the queue knew of them."""

from collections.abc import Sequence

from ....environment.extender import Extender, HTTPExtender
from ....environment.objects import Pod
from ....scheduler import Binding, NodeStatus, Scheduler
from ...registry.change import before, no


@before(
    "122022",
    "a pod that an extender rejected is tried again after any event",
    first_in="1.30",
    issues=(122019,),
    backports=("1.26.12", "1.27.9", "1.28.5", "1.29.10"),
)
class ExtendersUnheard(Scheduler):
    """Nothing was recorded of what an extender rejected: the pod waited for the events of the plugins that had rejected it on other nodes."""

    def note_extender(self) -> None:
        """Nothing is noted."""


@before("122503", "if an ignorable extender cannot bind, the plugins bind", first_in="1.30", issues=(122494,))
class NoExtenderIgnoredInBind(Binding):
    """Its error was the binding cycle's, ignorable or not (extendersBinding, 1.29)."""

    skips_extender_errors = no


@before(
    "103019",
    "extenders are asked about the victims of a preemption",
    first_in="1.22",
    issues=(102971,),
    since="1.20",
    backports=("1.20.10", "1.21.4"),
)
class NoExtenderInPreemption(Scheduler):
    """The framework had no extenders, so that preemption asked none."""

    def asks_about_victims(self, pod: Pod) -> Sequence[HTTPExtender]:
        return ()


@before("92866", "extenders can report nodes as unresolvable", first_in="1.21", issues=(91281,))
class NothingUnresolvableForExtenders(Scheduler):
    """The result of a filter call had failedNodes alone, and preemption tried them all."""

    def status_of_rejected(self, extender: HTTPExtender) -> NodeStatus:
        return NodeStatus.REJECTED


@before("78259", "ignorable extenders are called after the others", first_in="1.15", issues=(78258,))
class IgnorableInTheirPlace(Extender):
    """Extenders were called in the order of the configuration (factory.go, 1.14)."""

    comes_last = no
