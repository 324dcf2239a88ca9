"""What of the kept pods and nodes is taken otherwise than it may be: nothing that is checked of them HOLDS, and the line Scope says why.

Notes that are no doubts cannot make anything hold; tests/manifests/test_doubts.py has the reason for each.
"""

from collections.abc import Iterator, Sequence

from ..model.history.versions import version_of
from .kept_claims import claim_doubts
from .kept_lives import Lives
from .left_out import affinity_of, doubts_of_marks
from .members import ClusterPod
from .reading.manifest_files import Doubt, heeded_from
from .representative import Representative
from .volume_limits import VolumeLimits

WORKLOADS = ("Deployment/", "ReplicaSet/", "StatefulSet/", "Job/")


def doubts_of(kept: Representative, release: str | None, scales: bool = False) -> list[str]:
    """One line for each doubt about a representative that is checked on this release, with scales of time or without; None stands for the newest.

    It is about what is kept, and about all that decides where a pod that waits fits, for that decides what is kept.
    """
    noted = [d.line for d in kept.inventory.doubts if d.scales <= scales and _is_about(d, kept, release)]
    of_claims = claim_doubts(kept.inventory.claims, _asked(kept))
    late = [] if release is None else _of_older(kept, release)
    return list(dict.fromkeys([*kept.claims.doubts, *of_claims, *noted, *late, *_of_reduction(kept)]))


def _of_older(kept: Representative, release: str) -> Iterator[str]:
    """What of the devices that pods ask for counts, and does not in this release."""
    for pod in _asked(kept):
        for what, first in kept.inventory.claims.heeded_from(pod.claims).items():
            if version_of(release) < version_of(first):
                yield f"{heeded_from(first, what)} (Pod/{pod.name})"


def _asked(kept: Representative) -> list[ClusterPod]:
    """All pods that wait, and that which is asked about where none does: two of one kind may differ in what is not known of them."""
    asked = {pod.name: pod for pod in (*kept.inventory.pending, *(question.pod for question in kept.asked))}
    return [*asked.values()]


def _is_about(doubt: Doubt, kept: Representative, release: str | None) -> bool:
    if doubt.before and (release is None or version_of(release) >= version_of(doubt.before)):
        return False
    pods = (*kept.pods, *_asked(kept))
    if doubt.asking:
        return any(doubt.asking & {r for p in pods for r, amount in p.requests.items() if amount})
    if doubt.of.startswith(("Pod/", *WORKLOADS)) and not doubt.room:
        owed = {p.owner for p in pods if p.exists and f"Pod/{p.name}" not in kept.inventory.sources}
        return doubt.of in owed or any(
            doubt.of.removeprefix("Pod/") == p.name.removesuffix("-again") for p in pods
        )
    return True


def _of_limits(kept: Representative, waiting: Sequence[ClusterPod]) -> Iterator[str]:
    limits, modelled = VolumeLimits(kept.inventory.claims, kept.inventory.bound), kept.claims.limited
    yield from limits.doubts(waiting, kept.nodes, modelled, kept.inventory.pending)
    whole = len(kept.nodes) == len(kept.inventory.nodes) and not (kept.makers and kept.makers.controllers)
    missing = limits.wanted([p for p in kept.inventory.pending if p not in kept.pods])
    for driver in modelled:
        if not whole or driver in missing:
            yield f"nodes and pods that are left out may differ in how many volumes of {driver} they take or have: only the limits of those that are kept are modelled"


def _of_reduction(kept: Representative) -> Iterator[str]:
    """What is left out of the kept pods' rules because the others are not kept."""
    waiting = [p for p in kept.pods if p.node is None]
    yield from _of_limits(kept, waiting)
    yield from doubts_of_marks(kept)
    yield from Lives(kept).remarks()
    yield from kept.together.doubts
    for pod in kept.pods:
        if not affinity_of(pod, kept).exact:
            yield f"an affinity term means kept pods and others: only the kept ones count for it (Pod/{pod.name})"
    for pod in kept.pods:
        if pod.is_static and any(p.priority > pod.priority for p in waiting):
            yield f"a static pod may be preempted: what its kubelet makes of that is not modelled (Pod/{pod.name})"
    for made in kept.makers.controllers if kept.makers is not None else ():
        if made.assumed:
            yield f"the controller's object is not there: it is taken for one with the default policy ({made.owner})"
