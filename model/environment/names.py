"""Names: a pod that is recreated takes the name of one that is gone, and has a UID of its own.

A StatefulSet's pod comes back like that. Each pod of the model is one UID. What upstream keeps by UID is kept by pod: the scheduler's cache
(framework.GetPodKey, 1.36), the nominator, pods in flight, waiting pods, preemptors. What is kept, or asked for, by namespace and name
is shared by the two pods that have the name one after the other: the API server's object, the informer's store (MetaNamespaceKeyFunc in client-go),
and the sub-queues (podInfoKeyFunc and util.GetPodFullName).
"""

from collections.abc import Mapping

from ..language import Record, Universe
from .cluster.derived import Derived, Found, Roster
from .objects import Pod, PodObject


class Recreation(Derived, named="{after}"):
    """The pod `after` is created under the name of `before`, once that is gone."""

    before: Pod
    after: Pod

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        """One for each pod that takes the name of another. Raises ValueError where names would be used more than twice."""
        pods = {pod.name: pod for pod in cluster.spec.pods}
        pairs = [(pods[pod.recreates], pod) for pod in pods.values() if pod.recreates is not None]
        befores = [before.name for before, _ in pairs]
        if len(set(befores)) < len(befores) or any(before.recreates is not None for before, _ in pairs):
            raise ValueError("a name is used at most twice")
        return pairs


def namesakes(universe: Universe, pod: Pod) -> tuple[Pod, ...]:
    """The other pods that have the pod's name: of all that have it, one exists at a time."""
    return tuple(
        r.after if r.before is pod else r.before for r in universe[Recreation] if pod in (r.before, r.after)
    )


def found_by_name(universe: Universe, pod: Pod, table: Mapping[Pod, PodObject]) -> PodObject:
    """The object that a table of objects has under the pod's name: the pod's own, or that of another which has the name now."""
    found = table[pod]
    for other in namesakes(universe, pod):
        found = Record.choose(table[other].exists, table[other], found)
    return found
