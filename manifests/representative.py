"""The small cluster that represents a large one: which pods and nodes are kept, and what becomes of the others.

What is kept are real pods and nodes. A pod that is left out keeps the room that it takes on a kept node, and keeps closing
nodes to pods by anti-affinity; it is never evicted, and one that waits is never scheduled. So a verdict about the
representative is one about these pods and nodes, and is never claimed of the whole cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..base.problems import Problem
from ..base.structs import Data
from ..base.text import known_names, one_line
from .contention import Asker, ClusterQuestion, Groups
from .counted_pods import supporters
from .inventory import Inventory
from .kept_claims import KeptClaims, claims_kept
from .kept_controllers import KeptControllers, with_controllers
from .kept_groups import KeptGroups, groups_kept, without_room
from .members import ClusterNode, ClusterPod
from .situation import Situation, used_by


@dataclass(frozen=True, slots=True)
class Size:
    """At most so many pods and nodes; `controllers`: and those that create these pods again, each with one more pod where it needs that.

    `most`: so many pods where no question can be asked with fewer than that.
    """

    pods: int = 3
    nodes: int = 2
    controllers: bool = False
    most: int = 0

    def for_question(self, question: ClusterQuestion) -> Size:
        """The size with room for a question; where there is room for it, too, for a pod that may take what is freed. Raises Problem."""
        if question.needs <= self.pods:
            return self
        for pods in (question.needs_with_contender, question.needs):
            if pods <= self.most:
                return replace(self, pods=pods)
        raise Problem(
            f"{question.pod.name} needs {question.needs - 1} pods out of its way on every node: "
            f"allow --pods {question.needs_with_contender} or more{_with_whom(question)}, or choose another pod with --focus"
        )


class Representative(Data, slots=False):
    """The kept pods and nodes, and the question that they were chosen for. `asked` are all questions of the cluster.

    `hypothetical`: no pod waits, so one that a controller might create is asked about. `refused` is why no group of pods can be in a scenario.
    """

    inventory: Inventory
    situation: Situation
    groups: Groups
    question: ClusterQuestion
    asked: Sequence[ClusterQuestion]
    pods: Sequence[ClusterPod]
    nodes: Sequence[ClusterNode]
    hypothetical: bool
    makers: KeptControllers | None = None
    refused: str = ""

    def is_placed(self, pod: ClusterPod) -> bool:
        """Whether the scheduler may place the pod: it waits, or its controller makes it anew."""
        return pod.node is None or (self.makers is not None and self.makers.of(pod) is not None)

    @cached_property
    def claims(self) -> KeptClaims:
        """What is kept of claims, volumes and devices."""
        return claims_kept(self.inventory.claims, self.pods, self.nodes, self.inventory.bound)

    @cached_property
    def together(self) -> KeptGroups:
        """What is kept of groups of pods."""
        waiting = [pod for pod in self.pods if self.is_placed(pod)]
        return groups_kept(self.situation, self.pods, self.nodes, self.claims, waiting, self.refused)

    def dropped_on(self, node: ClusterNode) -> list[ClusterPod]:
        """The pods on a kept node that are left out."""
        return [p for p in self.inventory.on(node.name) if p not in self.pods]

    def taken_on(self, node: ClusterNode) -> Counter[str]:
        """What the pods that are left out keep of a kept node, by resource."""
        return used_by(self.dropped_on(node))


def victims_of(kept: Representative) -> list[ClusterPod]:
    """The kept pods that may ever be evicted: those beside which a more important one is kept.

    Also where that one's policy is Never, for old releases do not look at it.
    """
    return [p for p in kept.pods if any(q.priority > p.priority for q in kept.pods)]


def represent(
    inventory: Inventory, size: Size = Size(), focus: str | None = None, among: Container[str] | None = None
) -> Representative:
    """The representative for the most contested pod that waits, one of those that are named in `among`, or for `focus`. Raises Problem if there is none."""
    situation, groups = Situation(inventory), Groups(inventory)
    waiting, hypothetical = _waiting(inventory, groups)
    asker = Asker(situation, groups, waiting, stay=size.controllers)
    asked = [q for q in asker.ask_all() if among is None or q.pod.name in among]
    question = asker.ask(_named(focus, waiting)) if focus is not None else _first(asked, size, inventory)
    if question.node is None:
        raise Problem(_hopeless(question, asked, situation, focus))
    size = size.for_question(question)
    pods, nodes = _kept(question, asker, size)
    makers = None
    if size.controllers:
        pods, makers = with_controllers(pods, nodes, question.pod, inventory)
    return Representative(inventory, situation, groups, question, asked, pods, nodes, hypothetical, makers)


def _waiting(inventory: Inventory, groups: Groups) -> tuple[list[ClusterPod], bool]:
    """The pods that wait; where none does, those that controllers would create in place of bound ones."""
    if inventory.pending:
        return list(inventory.pending), False
    owned = [group[0] for group in groups.firsts(p for p in inventory.bound if p.owner and not p.is_static)]
    again = [pod.again() for pod in owned if not is_of_daemon_set(pod)]
    if not again:
        who = (
            "no controller but DaemonSets, whose pods are tied to their nodes," if owned else "no controller"
        )
        aside = ", ".join(f"{number} {reason}" for reason, number in inventory.set_aside.items())
        raise Problem(
            f"{inventory.where}: no pod waits to be scheduled, and {who} would create one: add a pod without spec.nodeName, "
            f"or a workload with replicas to come{f' (not counted: {aside})' if aside else ''}"
        )
    return again, True


def is_of_daemon_set(pod: ClusterPod) -> bool:
    """Whether a DaemonSet has created the pod, for its node."""
    return pod.owner.startswith("DaemonSet/")


def _named(focus: str, waiting: Sequence[ClusterPod]) -> ClusterPod:
    name = focus if "/" in focus else f"default/{focus}"
    found = next((p for p in waiting if p.name == name), None)
    if found is None:
        names = [p.name for p in waiting]
        listed = names if len(names) <= 12 else names[:12]
        raise Problem(
            f"--focus: no pod `{one_line(focus, 120)}` waits to be scheduled; {known_names(name, listed)}"
            f"{f', and {len(names) - 12} more' if len(names) > 12 else ''}"
        )
    return found


def _with_whom(question: ClusterQuestion) -> str:
    """For whom there is to be room beside the pod and its victims."""
    if not question.contenders:
        return ""
    return f", so that {question.contenders[0].name} is kept, too, which may take the room"


def _first(asked: Sequence[ClusterQuestion], size: Size, inventory: Inventory) -> ClusterQuestion:
    """The most contested question that tests nominations if it is kept whole; else the most contested that can be kept, with the pod's group if there is one like that; else any."""
    some = [q for q in asked if q.node is not None]
    fitting = [q for q in some if q.needs <= size.pods]
    others = [q for q in fitting if q.needs + len(inventory.together(q.pod.group)[1:]) <= size.pods]
    fitting = others or fitting
    whole = [q for q in fitting if q.tests_nominations and q.needs_with_contender <= size.pods]
    return (whole or fitting or some or asked)[0]


def _hopeless(
    question: ClusterQuestion, asked: Sequence[ClusterQuestion], situation: Situation, focus: str | None
) -> str:
    inventory = situation.inventory
    if not situation.sound_nodes:
        return f"{inventory.where}: the pods on every node ask for more than the node has: dump nodes and pods at the same time"
    pods = [question.pod] if focus is not None else [q.pod for q in asked]
    claimed = [(p, name) for p in pods for name in p.claims.devices]
    unread = [inventory.claims.doubt(p.name, name, p.claims, ()) for p, name in claimed]
    if why := next(filter(None, unread), ""):
        return (
            f"{inventory.where}: nothing can be decided about pods whose claims are not read in full: {why}; ask about other pods (--focus), or write a "
            "scenario with `devices` and `sharedCounters`"
        )
    who = question.pod.name if focus is not None else f"every pod that waits, such as {question.pod.name},"
    never = [p for p in pods if not p.preempts]
    reasons = ["evicting pods of lower priority would not help"] if len(never) < len(pods) else []
    reasons += [f"nobody is evicted for {p.name} ({why_never(p, inventory)})" for p in never[:1]]
    more = f" and {len(never) - 1} more" if len(never) > 1 else ""
    return (
        f"{inventory.where}: {who} fits no node, and {', and '.join(reasons)}{more}: nothing can be decided about it; "
        "make room, or look at its node selectors, tolerations, claims, affinity and topology spread"
    )


def why_never(pod: ClusterPod, inventory: Inventory) -> str:
    """Why a pod preempts nobody at all."""
    profile = inventory.configuration.of(pod.scheduler)
    if profile is not None and "DefaultPreemption" in profile.without:
        return "DefaultPreemption is switched off"
    return "its preemptionPolicy is Never"


def _kept(
    question: ClusterQuestion, asker: Asker, size: Size
) -> tuple[tuple[ClusterPod, ...], tuple[ClusterNode, ...]]:
    """The pod and its victims, or those whose end it waits for; a rival or, without one, the pod that the first victim's controller creates in its place;
    nodes where one of them could go, too; the healthy pods that a budget of theirs counts, where it would allow less without; then as many more as there is
    room for, those that are being deleted last.
    """
    assert question.node is not None
    pods, nodes = _whole([question.pod, *question.victims, *question.leaving], [question.node], asker, size)
    rivals, after = ([p for p in some if p not in pods] for some in (question.rivals, question.replacements))
    if some := rivals or after:
        rival = next((p for p in some if _is_whole([*pods, p], nodes, asker, size)), some[0])
        some.remove(rival)
        pods, nodes = _whole([*pods, rival][: size.pods], nodes, asker, size)
    _add_nodes(pods, nodes, asker, size)
    if not size.controllers:
        beside, where = _counted(pods, nodes, asker, size)
        pods, nodes = [*pods, *beside], [*nodes, *where]
    known = {p.name for p in pods}
    leaving = [p for node in nodes for p in asker.situation.inventory.on(node.name) if p.terminating]
    for pod in (p for p in (*rivals, *after, *leaving) if p.name not in known):
        if len(pods) < size.pods and pod not in pods and _is_whole([*pods, pod], nodes, asker, size):
            pods, nodes = _whole([*pods, pod], nodes, asker, size)
    return tuple(pods), tuple(nodes)


def _add_nodes(pods: list[ClusterPod], nodes: list[ClusterNode], asker: Asker, size: Size) -> None:
    """Add nodes for groups that have no room, and such as one of the pods could go to."""
    for group in dict.fromkeys(p.group for p in pods if p.group):
        waiting = [p for p in pods if p.group == group and p.node is None]
        while len(nodes) < size.nodes and (further := without_room(waiting, pods, nodes, asker.situation)):
            nodes.append(further[0])
    for node in asker.nodes:
        if len(nodes) == size.nodes:
            break
        if node not in nodes and (more := _use(node, pods, asker, size)) is not None:
            nodes.append(node)
            pods += more


def _whole(
    pods: Sequence[ClusterPod], nodes: Sequence[ClusterNode], asker: Asker, size: Size
) -> tuple[list[ClusterPod], list[ClusterNode]]:
    """These pods with the others of their groups, and these nodes with those on which they are; of a group nobody more, if there is no room for all."""
    inventory = asker.situation.inventory
    kept, where = list(pods), list(nodes)
    for group in dict.fromkeys(p.group for p in pods):
        more = [p for p in inventory.together(group) if p not in kept]
        at = {p.node for p in more if p.node is not None} - {n.name for n in where}
        add = [n for n in asker.situation.sound_nodes if n.name in at]
        fits = len(kept) + len(more) <= size.pods and len(where) + len(at) <= size.nodes
        if fits and len(add) == len(at) and all(p.stands_for == 1 for p in more):
            kept, where = kept + more, where + add
    return kept, where


def _is_whole(pods: Sequence[ClusterPod], nodes: Sequence[ClusterNode], asker: Asker, size: Size) -> bool:
    """Whether the group of the last of these pods can be kept, if it has one."""
    kept, _ = _whole(pods, nodes, asker, size)
    return all(p in kept for p in asker.situation.inventory.together(pods[-1].group))


def _counted(
    pods: Sequence[ClusterPod], nodes: Sequence[ClusterNode], asker: Asker, size: Size
) -> tuple[list[ClusterPod], list[ClusterNode]]:
    """The healthy pods that budgets of these pods need beside them, and the nodes that these are on; nobody where there is no room for all."""
    more = [n for n in asker.situation.sound_nodes if n not in nodes]
    found = supporters(pods, nodes, more, asker.situation.inventory) or []
    names = {p.node for p in found}
    where = [n for n in more if n.name in names]
    fits = len(pods) + len(found) <= size.pods and len(nodes) + len(where) <= size.nodes
    return (found, where) if fits else ([], [])


def _use(
    node: ClusterNode, pods: Sequence[ClusterPod], asker: Asker, size: Size
) -> Sequence[ClusterPod] | None:
    """The pods to be kept with a further node, for one of these to go there; None if none can."""
    waiting = [p for p in pods if p.node is None]
    if any(asker.situation.fits(p, node) for p in waiting):
        return ()
    for pod in waiting:
        victims = asker.situation.victims(pod, node)
        if victims and len(pods) + len(victims) <= size.pods:
            return victims
    return None
