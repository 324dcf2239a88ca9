"""Versions of a pod's object: what becomes of a pod that is resized, labelled, or given tolerations in a run.

A scenario gives a pod its versions by name; the first, `initial`, is the pod as it is created. Each is a whole pod, which filters and
hints look at like at any other, so that nobody has to know which fields can change. What a version requests is what the scheduler
counts: the most of what is desired, allocated and actual (PodRequests in component-helpers' resource package). So a pod that grows
does so when its user writes it, and one that shrinks, or whose resize is found infeasible, when its kubelet writes the status.
"""

from collections.abc import Callable, Iterable, Sequence

from ....base.structs import Data
from ...language import Entity, Expr, Universe, Value, as_expr, select, when
from ...language.expressions.sorts import sort_of_ref
from .footprint import Footprint
from .node_versions import INITIAL
from .pods import Pod


class PodVersion(Entity):
    """One version of a pod's object, where it matters which version a component holds.

    `number` is what a PodObject says of it, `content` the pod as this version describes it, `footprint` what NodeInfos add up.
    """

    def __init__(
        self,
        index: int,
        name: str,
        pod: Pod,
        footprint: Footprint | None = None,
        *,
        content: Pod | None = None,
    ) -> None:
        super().__init__(index, name)
        self.pod, self.footprint = pod, footprint or Footprint()
        self.content = content or pod
        self.number = self.content.number


class PodChange(Data):
    """What an update of a pod's object is about: the old object, and the new one. `assigned`: it is on a node."""

    old: Pod
    new: Pod
    assigned: bool


def pod_versions_of(pods: Iterable[Pod]) -> tuple[PodVersion, ...]:
    """The versions of the pods that have more than one."""
    found: list[PodVersion] = []
    for pod in pods:
        if pod.later:
            for word, content in {INITIAL: pod, **pod.later}.items():
                found.append(PodVersion(len(found), f"{pod.name}.{word}", pod, content=content))
    return tuple(found)


def whole(universe: Universe, pod: Pod) -> Pod:
    """The pod that this is a version of; mostly itself."""
    return universe[Pod][pod.index] if pod.number else pod


def versions_in(universe: Universe, pod: Pod) -> list[PodVersion]:
    """The versions of a pod that has several, the initial one first; none of one that stays as it is."""
    known = whole(universe, pod)
    return [version for version in universe[PodVersion] if version.pod is known] if known.later else []


def first_version(universe: Universe, pod: Pod) -> PodVersion | None:
    """The version in which the pod is created; none if it has one only."""
    return next(iter(versions_in(universe, pod)), None)


def numbered(universe: Universe, pod: Pod, number: Value) -> Expr:
    """The version with this number; none of a pod that has one only."""
    found = as_expr(None, sort_of_ref(PodVersion))
    for version in versions_in(universe, pod):
        found = select(as_expr(number) == version.number, version, found)
    return found


def forms(universe: Universe, pod: Pod, number: Value) -> list[tuple[Expr, Pod]]:
    """What an object of the pod says: each of its versions, and whether it is the one with this number."""
    several = [(as_expr(number) == v.number, v.content) for v in versions_in(universe, pod)]
    return several or [(as_expr(True), pod)]


def in_form(universe: Universe, pod: Pod, number: Value, question: Callable[[Pod], Expr]) -> Expr:
    """What the question answers about the pod in the version with this number."""
    (_, first), *others = forms(universe, pod, number)
    found = question(first)
    for shows, content in others:
        with when(shows):
            said = question(content)
        found = select(shows, said, found)
    return found


def may_become(old: Pod, new: Pod) -> bool:
    """Whether the API server lets the one be updated to the other: tolerations can be added only, and what a pod asks of its node narrowed (ValidatePodUpdate)."""
    return all(toleration in new.tolerations for toleration in old.tolerations) and narrows(old, new)


def is_directed_anew(old: Pod, new: Pod) -> bool:
    """Whether the pod asks for other nodes: only one that still has scheduling gates may."""
    return (old.node_selector, old.node_affinity, old.wishes.nodes) != (
        new.node_selector,
        new.node_affinity,
        new.wishes.nodes,
    )


def narrows(old: Pod, new: Pod) -> bool:
    """Whether the pod asks for nothing less of its node (validateNodeSelectorMutation, validateNodeAffinityMutation)."""
    if not old.node_selector.items() <= new.node_selector.items():
        return False
    if old.node_affinity is None or old.node_affinity == new.node_affinity:
        return True
    before, after = old.node_affinity.terms, () if new.node_affinity is None else new.node_affinity.terms
    return len(before) == len(after) and all(
        (bool(a.expressions or a.fields) or a == b)
        and _begins(a.expressions, b.expressions)
        and _begins(a.fields, b.fields)
        for a, b in zip(before, after, strict=True)
    )


def _begins(before: Sequence[object], after: Sequence[object]) -> bool:
    return tuple(after[: len(before)]) == tuple(before)


def is_resized(old: Pod, new: Pod) -> bool:
    """Whether they request different amounts."""
    return old.requests != new.requests
