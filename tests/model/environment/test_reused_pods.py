"""A pod of an owner stands for one pod after the other: that is the same as a new pod each time, but for names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.reference import ReferenceSearch
from podrace.model.cluster import build_cluster
from podrace.model.environment.cluster.owned_pods import Owned
from podrace.model.environment.cluster.workloads import OwnerKind, OwnerSpec
from podrace.model.environment.controllers.replacement import OUTLIVED, Controllers
from podrace.model.environment.objects import ClusterSpec, DisruptionBudget, Node, Pod, Scope, Selector
from podrace.model.history import resolve
from podrace.model.language import Component, Expr, State, TransitionSystem, boolean, per
from podrace.model.language.expressions.sorts import Entity
from podrace.properties import instrument
from podrace.scenarios import parse_scenario

ROOT = Path(__file__).resolve().parents[3]


class NoReuse(Controllers):
    """Each pod is made once."""

    used = per(Owned, boolean())

    def setup(self) -> None:
        super().setup()
        for owned in self.universe[Owned]:
            self.used[owned] = owned.pod.exists

    def is_free(self, owned: Owned) -> Expr:
        free: Expr = super().is_free(owned)
        return free & ~self.used[owned]

    def create(self, owned: Owned) -> None:
        super().create(owned)
        self.used[owned] = True


def cluster(pods: int, *, kind: OwnerKind, scope: Scope) -> ClusterSpec:
    nodes = (Node(0, "n", 1, labels={"dedicated": "x"}),)
    made = (Pod(0, "a", 1, node=nodes[0], graceful=False),)
    later = tuple(Pod(i, f"p{i}", 1, exists=False, graceful=False) for i in range(1, pods))
    names = tuple(pod.name for pod in (*made, *later))
    places = (("n", names),) if kind is OwnerKind.DAEMON_SET else (("", names),)
    return ClusterSpec("reused", (*made, *later), nodes, scope, owners=(OwnerSpec("web", kind, 1, places),))


def system_of(of: ClusterSpec, *patches: type[Component], release: str = "1.36") -> TransitionSystem:
    return instrument(of, (*patches, *resolve(release).classes), [])


@dataclass(frozen=True)
class Place:
    """Where a variable stands: kept for a pod, or for nobody; and whether it refers to one."""

    name: str
    pod: int | None
    refers: bool


def places(system: TransitionSystem) -> list[Place | None]:
    found: list[Place | None] = []
    for variable in system.variables:
        address = system.narration.addresses[variable.name]
        owners = [k for k in address.keys if isinstance(k, (Pod, Owned))]
        if address.state in OUTLIVED or address.state == "controllers.used":
            found.append(None)
            continue
        pod = None if not owners else getattr(owners[0], "pod", owners[0]).index
        others = tuple(getattr(k, "name", k) for k in address.keys if k not in owners)
        tag = variable.sort.tag
        found.append(
            Place(
                f"{address.state}{others}",
                pod,
                isinstance(tag, type) and issubclass(tag, Entity) and tag is Pod,
            )
        )
    return found


def nameless(state: State, where: list[Place | None]) -> tuple[object, ...]:
    """A state without the names of pods, and without those of whom nobody knows anything."""
    kept: dict[int, list[tuple[str, object]]] = {}
    for code, place in zip(state, where, strict=True):
        if place is None:
            continue
        if place.pod is not None and code:
            kept.setdefault(place.pod, []).append((place.name, "a pod" if place.refers else code))
        if place.refers and code:
            kept.setdefault(code - 1, []).append((f"in {place.name}", place.pod is None))
    order = sorted(kept, key=lambda pod: sorted(map(repr, kept[pod])))
    rank = {pod: i for i, pod in enumerate(order)}
    common = [
        (
            place.name,
            None if place.pod is None else rank[place.pod],
            rank[code - 1] + 1 if place.refers and code else code,
        )
        for code, place in zip(state, where, strict=True)
        if place is not None and (place.pod is None or place.pod in rank)
    ]
    return tuple(sorted(common, key=repr))


def reached(system: TransitionSystem) -> set[tuple[object, ...]]:
    search = ReferenceSearch(system, Budget(), None)
    search.run()
    assert not any("remembered" in name for name in search.constraints_hit)
    where = places(system)
    return {nameless(state, where) for state in search.states}


def small(deletions: int) -> Scope:
    return Scope(pod_events=2, flush=False, backoff=False, pod_deletions=deletions)


class UsedAtOnce(Controllers):
    """A pod stands for another as soon as its object is gone, whoever still knows of it."""

    def is_free(self, owned: Owned) -> Expr:
        return ~self.api.finds(owned.pod)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("release", "kind", "deletions", "states"),
    [
        ("1.24", OwnerKind.REPLICA_SET, 1, 925),
        pytest.param("1.36", OwnerKind.REPLICA_SET, 2, 4445, marks=pytest.mark.nightly),
        ("1.36", OwnerKind.DAEMON_SET, 1, 50),
    ],
)
def test_a_pod_that_is_used_again_is_a_new_one(
    release: str, kind: OwnerKind, deletions: int, states: int
) -> None:
    of = cluster(1 + deletions, kind=kind, scope=small(deletions))
    new = reached(system_of(of, NoReuse, release=release))
    assert reached(system_of(of, release=release)) == new
    assert len(new) == states


@pytest.mark.parametrize(
    ("selects", "lags", "states"), [("a", False, 120), ("a", True, 160), ("b", True, 959)]
)
def test_a_disruption_controller_that_lags_keeps_no_pod_from_being_made(
    selects: str, lags: bool, states: int
) -> None:
    """It was said to know of pods that are yet to come that they are gone, and no controller made them then."""
    scope = replace(small(1), pod_events=1, disruption_controller=True, disruption_controller_lags=lags)
    node = Node(0, "n", 1)
    made = Pod(0, "w1", 1, node=node, graceful=False, labels={"app": "b"})
    later = Pod(1, "w2", 1, exists=False, graceful=False, labels={"app": "b"})
    budget = DisruptionBudget(0, "few", Selector({"app": selects}), 1, min_available=0)
    owner = OwnerSpec("web", OwnerKind.REPLICA_SET, 1, (("", ("w1", "w2")),))
    search = ReferenceSearch(
        system_of(ClusterSpec("lags", (made, later), (node,), scope, (budget,), owners=(owner,))),
        Budget(),
        None,
    )
    search.run()
    assert not any("remembered" in name for name in search.constraints_hit)
    assert len(search.states) == states


def test_one_that_is_used_too_early_is_not() -> None:
    of = cluster(2, kind=OwnerKind.REPLICA_SET, scope=small(1))
    assert reached(system_of(of, UsedAtOnce)) != reached(system_of(of, NoReuse))


def named_otherwise(entity: Entity, names: set[str]) -> set[str]:
    """The attributes by which an entity knows pods and nodes, other than one that is a pod or a node: those are found."""

    def is_one(value: object) -> bool:
        return isinstance(value, (Pod, Node)) or (isinstance(value, str) and value in names)

    return {
        attribute
        for attribute, value in vars(entity).items()
        if attribute != "name"
        and (
            (isinstance(value, str) and is_one(value))
            or (isinstance(value, (tuple, list, set, frozenset)) and any(map(is_one, value)))
            or (isinstance(value, dict) and any(map(is_one, (*value, *value.values()))))
        )
    }


def test_who_knows_pods_and_nodes_by_their_names() -> None:
    """What is kept for such an entity is not found (`remembering.concerns`), so that each has to be refused where pods or nodes are used again.

    An owner has special claims of pods refused (`refuse_backed`), an autoscaler volumes of nodes (`refuse_named_nodes`), and
    limits of volumes whatever deletes a node (`refuse_limits`); whom a claim is reserved for at
    the start is state by pod from there on. By how much the users of a claim are miscounted is of the claim, and outlives any of them.
    """
    found = set()
    for file in sorted((ROOT / "scenarios").rglob("*.yaml")):
        spec = parse_scenario(file.read_text(encoding="utf-8")).spec
        names = {entity.name for entity in (*spec.pods, *spec.nodes)}
        universe = next(iter(build_cluster(spec).parts.values())).universe
        for kind in universe.kinds():
            if kind not in (Pod, Node):
                found |= {(kind.__name__, a) for e in universe[kind] for a in named_otherwise(e, names)}
    assert found == {
        ("Claim", "owner"),
        ("Claim", "reserved"),
        ("CountedClaim", "users"),
        ("Volume", "attached"),
        ("Volume", "nodes"),
    }
