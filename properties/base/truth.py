"""What is really so, whoever knows it: pods that are bound at the API server or assumed by the scheduler.

What a cluster can come to is here as well: no property, but what a change to the scheduler may take away without
violating any.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations

from ...model.environment.cluster.pod_versions import in_form
from ...model.environment.extender import Managed
from ...model.environment.objects import OWN, Claim, Device, Node, Pod, StorageClass, Volume, VolumeClaim
from ...model.environment.storage.supply import Supply
from ...model.environment.storage.volumes import reaches
from ...model.language import Expr, Value, all_of, any_of, as_expr, count, select, smallest, total
from ...model.scheduler.framework.placement import Placement
from .property import Property


class Outcomes(Property):
    """Every pod that waits at the start or is created later can be bound, except pods that preemption deletes."""

    id = "OUTCOMES"
    may_be_given = True

    def holds(self) -> Expr:
        return as_expr(True)

    def witnesses(self) -> dict[str, Expr]:
        return {f"{p.name} is bound": self.api.pod[p].node.is_some for p in self.pods if p.node is None}


def least_request(prop: Property, pod: Pod, resource: str) -> Expr:
    """What the pod asks for in the smallest of its versions."""
    least = pod.request(resource)
    for version in pod.later.values():
        least = smallest(least, version.request(resource))
    return least


def exceeds(
    prop: Property,
    node: Node,
    counts: Callable[[Pod], Expr],
    request: Callable[[Property, Pod, str], Expr] = least_request,
) -> Expr:
    """Whether the pods that count together ask for more of some resource than the node can allocate, or are more than it takes, whichever of its versions it is in.

    That a node which has shrunk is overfull, or one whose pods have grown, is nobody's mistake. `largest_counts` and `least_counts` say so
    of a verdict. `request` is how much a pod counts for.
    """
    return all_of(_exceeds(prop, content, counts, request) for content in prop.contents(node))


def asks_for(pod: Pod, node: Node) -> bool:
    """Whether a version of the pod asks for the labels of a version of the node, by nodeSelector and required node affinity."""
    return any(
        form.asks_for(content)
        for form in (pod, *pod.later.values())
        for content in (node, *node.later.values())
    )


def may_be_crowded(prop: Property, node: Node) -> bool:
    """Whether there can be more pods on the node than it has room for: those that it starts with, and those that ask for its labels.

    Where sizes are unknown it may: a proof of all clusters is not to tell clusters apart by one sum more.
    """
    crowded = exceeds(prop, node, lambda q: as_expr(q.node is node or (q.node is None and asks_for(q, node))))
    return not crowded.is_const or bool(crowded.value)


def largest_counts(nodes: Sequence[Node]) -> str:
    """What a verdict must say that asks `exceeds` about these nodes, if some of them are resized; nothing if none is."""
    resized = [node.name for node in nodes if any(other.room != node.room for other in node.later.values())]
    return f"of what {', '.join(resized)} can allocate, the largest of its versions counts" if resized else ""


def resized_pods(pods: Sequence[Pod]) -> list[str]:
    """The pods whose requests change."""
    return [pod.name for pod in pods if any(other.requests != pod.requests for other in pod.later.values())]


def least_counts(pods: Sequence[Pod]) -> str:
    """What a verdict must say that asks `exceeds` about these pods, if some of them are resized; nothing if none is."""
    resized = resized_pods(pods)
    return f"of what {', '.join(resized)} asks for, the smallest of its versions counts" if resized else ""


def _exceeds(
    prop: Property, node: Node, counts: Callable[[Pod], Expr], request: Callable[[Property, Pod, str], Expr]
) -> Expr:
    named = dict.fromkeys(r for pod in prop.pods for r in pod.resources)
    too_many = False if node.pods is None else count(counts(pod) for pod in prop.pods) > node.pods
    return as_expr(too_many) | any_of(
        total(select(counts(pod), request(prop, pod, r), 0) for pod in prop.pods) > node.allocatable(r)
        for r in named
    )


def taken(prop: Property, pod: Pod, node: Node) -> Expr:
    """Whether the pod is bound to the node, or assumed there."""
    bound: Expr = prop.api.pod[pod].node == node
    return bound | (prop.cache.is_assumed(pod) & prop.cache.on(pod, node))


def placement(prop: Property) -> Placement:
    """Bound and assumed pods, and the nodes that exist."""
    return Placement(
        {pod: {node: taken(prop, pod, node) for node in prop.nodes} for pod in prop.pods},
        {node: prop.api.node_exists[node] for node in prop.nodes},
        {pod: prop.api.pod[pod].terminating for pod in prop.pods},
        shown={v: prop.api.node_version[v.node] == v for v in prop.versions},
        held={v: prop.api.pod[v.pod].version == v.number for v in prop.pod_versions},
        csi=prop._model.parts["csi_nodes"],
    )


def waits(prop: Property, pod: Pod) -> Expr:
    """Whether the pod exists, has no scheduling gates, is not being deleted, and is neither bound nor assumed; of a gang, that it would be whole with it."""
    current = prop.api.pod[pod]
    ready = current.pending & ~waits_for_gates(prop, pod) & ~current.terminating & ~prop.cache.is_assumed(pod)
    return ready & completes_gang(prop, pod)


def waits_for_gates(prop: Property, pod: Pod) -> Expr:
    """Whether the pod has scheduling gates, or, where the queue holds a group as one, another pod of its group has."""
    gated = as_expr(prop.api.pod[pod].gated)
    for mate in prop.queue.held_with(pod):
        gated = gated | (prop.api.pod[mate].exists & prop.api.pod[mate].gated)
    return gated


def completes_gang(prop: Property, pod: Pod) -> Expr:
    """Whether all but one of the minCount pods of its gang are bound, without the pod; so it is of a pod that belongs to no gang."""
    member = prop.pod_groups.member(pod)
    if member is None or member.leaf.min_count is None:
        return as_expr(True)
    return prop.pod_groups.complete(member.group, lambda m: m is member or prop.api.pod[m.pod].assigned)


def fits_somewhere(prop: Property, pod: Pod) -> Expr:
    """Whether some existing node has room for the pod, counting what is bound or assumed."""
    where = placement(prop)
    return any_of(
        where.live[node]
        & fits(prop, pod, node, where)
        & has_devices(prop, pod, node)
        & has_volumes(prop, pod, node)
        for node in prop.nodes
    )


def has_devices(prop: Property, pod: Pod, node: Node) -> Expr:
    """Whether the claims of a pod are allocated, on devices of the node, or can be: to devices that no claim has, and none is about to get.

    A claim that is about to be allocated, for another pod, is one that cannot be had now.
    """
    if not pod.claims:
        return as_expr(True)
    parts = prop._model.parts
    claims, tracker = parts["resource_claims"].object, parts["claim_tracker"]
    own = [claim for claim in prop.universe[Claim] if claim.name in pod.claims]
    every = prop.universe[Claim]
    supply = Supply(
        prop.universe[Device],
        lambda d: any_of((claims[c].device == d) | (tracker.in_flight[c] == d) for c in every),
        parts["device_slices"].is_published,
    )
    in_any_order = sorted(own, key=lambda c: c.admin)
    enough = supply.can_give([(c, claims[c].allocated) for c in in_any_order], node)
    away = [d for d in prop.universe[Device] if not d.is_on(node)]
    there = all_of(~any_of(claims[c].device == d for d in away) for c in own)
    pending = any_of(~claims[c].allocated & tracker.is_pending(c) for c in own)
    made = all_of(parts["resource_claims"].is_there(c) for c in own if not c.special)
    if pod.generated:
        made = made & (prop.api.pod[pod].named == OWN)
    return there & ~pending & enough & made


def have_devices(prop: Property, way: Sequence[tuple[Pod, Node]], own: Sequence[Claim]) -> Expr:
    """Whether these pods, each on its node, have devices for their claims; an allocation in flight for one of `own`, the group's, takes no device away."""
    used = {c: [node for pod, node in way if c.name in pod.claims] for c in own}
    used = {c: nodes for c, nodes in used.items() if nodes}
    if not used:
        return as_expr(True)
    parts = prop._model.parts
    claims, tracker = parts["resource_claims"].object, parts["claim_tracker"]

    def is_free(device: Device, claim: Claim) -> Expr:
        every = prop.universe[Claim]
        allocated = any_of(claims[c].device == device for c in every)
        free = ~allocated & ~any_of(tracker.in_flight[c] == device for c in every if c not in own)
        return free & parts["device_slices"].is_published(device, claim)

    enough = []
    for of in dict.fromkeys(c.of for c in used):
        asking = next(c for c in used if c.of == of)
        devices = {d: is_free(d, asking) for d in prop.universe[Device] if d.of == of}
        for some in _some_nodes(used.values()):
            needed = count(
                ~claims[c].allocated for c, nodes in used.items() if c.of == of and set(nodes) <= set(some)
            )
            enough.append(count(free for d, free in devices.items() if any(map(d.is_on, some))) >= needed)
        for c, nodes in used.items():
            if c.of == of:
                reach = [d for d in devices if all(map(d.is_on, nodes))]
                enough.append(claims[c].allocated | any_of(devices[d] for d in reach))
                enough.append(~claims[c].allocated | any_of(claims[c].device == d for d in reach))
    return all_of(enough)


def _some_nodes(placed: Iterable[Sequence[Node]]) -> list[tuple[Node, ...]]:
    nodes = list(dict.fromkeys(node for where in placed for node in where))
    return [some for size in range(1, len(nodes) + 1) for some in combinations(nodes, size)]


def has_volumes(prop: Property, pod: Pod, node: Node) -> Expr:
    """Whether the claims of a pod are bound to volumes that the node reaches, or can be by the scheduler: to ones that nobody has or is about to have.

    A claim that waits for no consumer has to be bound. One for which a volume is to be made elsewhere, or by somebody who is still at it, cannot be had now.
    """
    if not pod.volumes:
        return as_expr(True)
    parts = prop._model.parts
    storage, cache = parts["storage"], parts["volume_cache"]
    own = [claim for claim in prop.universe[VolumeClaim] if claim.name in pod.volumes]
    every = prop.universe[Volume]
    found = []
    for claim in own:
        current = storage.claim[claim]
        at = [
            (v, storage.volume[v].exists, reaches(v, storage.volume[v], node), storage.volume[v].claim)
            for v in every
        ]
        there = any_of((current.volume == v) & exists & reached for v, exists, reached, _ in at)
        kept = [
            (exists & ((owner == claim) | (cache.assumed_volume[v] == claim)), reached)
            for v, exists, reached, owner in at
        ]
        selected, assumed = as_expr(current.selected), as_expr(cache.assumed_claim[claim])
        away = ~any_of((selected == n) & prop.api.node_exists[n] for n in prop.nodes)
        to_be_made = away | ((selected == node) & ~current.asked)
        made = (
            (to_be_made & (assumed.is_none | (assumed == node))) if claim.storage_class.provisions else True
        )
        waits = ~as_expr(claim.storage_class.immediate) & as_expr(current.volume).is_none
        reserved = any_of(is_kept for is_kept, _ in kept)
        other = waits & select(reserved, any_of(k & reached for k, reached in kept), made)
        found.append(current.exists & ~current.terminating & select(current.is_bound, there, other))
    return all_of(found) & all_of(
        _has_free_volumes(prop, own, of, node) for of in dict.fromkeys(c.storage_class for c in own)
    )


def _has_free_volumes(prop: Property, own: Sequence[VolumeClaim], of: StorageClass, node: Node) -> Expr:
    if of.provisions:
        return as_expr(True)
    parts = prop._model.parts
    storage, cache = parts["storage"], parts["volume_cache"]
    every = [v for v in prop.universe[Volume] if v.storage_class is of]
    free = count(
        storage.volume[v].exists
        & as_expr(storage.volume[v].claim).is_none
        & as_expr(cache.assumed_volume[v]).is_none
        & reaches(v, storage.volume[v], node)
        for v in every
    )
    needed = count(
        as_expr(storage.claim[c].volume).is_none
        & ~any_of((storage.volume[v].claim == c) | (cache.assumed_volume[v] == c) for v in every)
        for c in own
        if c.storage_class is of
    )
    return free >= needed


def fits(prop: Property, pod: Pod, node: Node, where: Placement, version: Value | None = None) -> Expr:
    """Whether the filters let the pod pass on the node as the placement shows it; in the version with this number, or in its own."""
    number = prop.api.pod[pod].version if version is None else version

    def said(form: Pod) -> Expr:
        return where.ask(node, partial(prop.filters.fits, form))

    fit = in_form(prop.universe, pod, number, said) & has_managed(prop, pod, node, where)
    fit = fit & is_in_domain(prop, pod, node, where)
    if not pod.extender_selector:
        return fit
    return fit & where.ask(node, lambda content, _: as_expr(pod.passes_extender(content)))


def is_in_domain(prop: Property, pod: Pod, node: Node, where: Placement) -> Expr:
    """Whether the node is in a domain of the pod's group, and in the one that the others of the group are in, where they have to be in one."""
    member = prop.pod_groups.member(pod)
    if member is None or not prop.pod_groups.keeps_together(member.leaf):
        return as_expr(True)
    own = next((d for d in prop.pod_groups.domains(member.leaf) if d.has(node)), None)
    if own is None:
        return as_expr(False)
    others = [m.pod for m in prop.pod_groups.members(member.leaf) if m is not member]
    return all_of(~where.on[other][n] for other in others for n in prop.nodes if not own.has(n))


def has_managed(prop: Property, pod: Pod, node: Node, where: Placement) -> Expr:
    """Whether extenders let the pod go to the node: it has what the pod asks for of the resources that they manage, whoever looks at it."""
    mine = [m.extender for m in prop.universe[Managed] if m.pod is pod]
    if any(of.filters and of.nodes is not None and node.name not in of.nodes for of in mine):
        return as_expr(False)
    resources = dict.fromkeys(of.resource for of in mine if of.resource is not None)
    present = where.present(pod, node).items() if resources else ()
    return all_of(
        total(select(here, q.request(r), 0) for q, here in present) + pod.request(r) <= node.allocatable(r)
        for r in resources
    )


def pods_in_vain(prop: Property) -> Iterator[tuple[str, Expr]]:
    """Each pod whose violations count and each node, and whether it waits although it fits there."""
    where = placement(prop)
    for pod in prop.subjects:
        for node in prop.nodes:
            there = fits(prop, pod, node, where) & has_devices(prop, pod, node) & has_volumes(prop, pod, node)
            yield f"{pod.name} waits, and fits on {node.name}", waits(prop, pod) & where.live[node] & there


def some_pod_waits_in_vain(prop: Property) -> Expr:
    """Whether a pod whose violations count waits although it fits a live node."""
    return any_of(waits(prop, pod) & fits_somewhere(prop, pod) for pod in prop.subjects)
