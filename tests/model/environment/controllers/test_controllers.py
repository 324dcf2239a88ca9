"""Controllers: when they make a pod, when one too many, and what they wait for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from podrace.model.environment.cluster.owned_pods import Owned, Owner
from podrace.model.environment.cluster.workloads import OwnerKind, OwnerSpec
from podrace.model.environment.controllers.replacement import Controllers, Phase
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope, Taint
from podrace.model.language import Concrete
from tests.model.clusters import concrete, enabled


def owned_by(kind: OwnerKind, slots: Any, replicas: int = 1, running: int = 1, **more: Any) -> ClusterSpec:
    nodes = (Node(0, "n", 4), Node(1, "m", 4, taints=[Taint("dedicated")]))
    names = [name for _, members in slots for name in members]
    pods = tuple(
        Pod(i, n, 1, node=nodes[0] if i < running else None, exists=i < running, finishes=True)
        for i, n in enumerate(names)
    )
    return ClusterSpec(
        "owned",
        pods,
        nodes,
        Scope(controller_restarts=1),
        owners=(OwnerSpec("web", kind, replicas, slots, **more),),
    )


def started(of: ClusterSpec) -> tuple[Concrete, Controllers, dict[str, Owned]]:
    model = concrete(of, "1.36")
    controllers = model.part("controllers")
    assert isinstance(controllers, Controllers)
    return model, controllers, {o.name: o for o in model.model.entities[Owned]}


def wanted(model: Concrete, controllers: Controllers, owned: dict[str, Owned]) -> list[str]:
    return [name for name, o in owned.items() if enabled(model, lambda o=o: controllers.create(o))]


def test_a_replica_set_makes_a_pod_when_it_hears_that_one_is_gone() -> None:
    model, controllers, owned = started(owned_by(OwnerKind.REPLICA_SET, (("", ("a", "b")),)))
    assert wanted(model, controllers, owned) == []
    model.do(lambda: model.part("api").remove_pod(owned["a"].pod))
    assert wanted(model, controllers, owned) == []
    model.do(lambda: controllers.hear(owned["a"]))
    # The scheduler still has a: b stands for the new pod.
    assert wanted(model, controllers, owned) == ["b"]
    model.do(lambda: controllers.create(owned["b"]))
    assert wanted(model, controllers, owned) == []
    assert model.get(lambda: controllers.awaited[owned["b"]])
    model.do(lambda: controllers.hear(owned["b"]))
    assert model.get(lambda: controllers.seen[owned["b"]]) is Phase.PENDING


def test_one_that_starts_anew_makes_one_too_many_and_deletes_it() -> None:
    model, controllers, owned = started(owned_by(OwnerKind.REPLICA_SET, (("", ("a", "b", "c")),)))
    (owner,) = model.model.entities[Owner]
    assert not enabled(model, lambda: controllers.restart(owner))
    model.do(lambda: model.part("api").remove_pod(owned["a"].pod))
    model.do(lambda: controllers.hear(owned["a"]))
    model.do(lambda: controllers.create(owned["b"]))
    model.do(lambda: controllers.restart(owner))
    assert wanted(model, controllers, owned) == ["c"]
    model.do(lambda: controllers.create(owned["c"]))
    model.do(lambda: controllers.hear(owned["b"]))
    assert not enabled(model, lambda: controllers.delete(owned["b"]))
    model.do(lambda: controllers.hear(owned["c"]))
    model.do(lambda: controllers.delete(owned["b"]))
    assert not enabled(model, lambda: controllers.delete(owned["c"]))


@pytest.mark.parametrize(("parallel", "made"), [(False, ["db-0"]), (True, ["db-0", "db-1"])])
def test_a_stateful_set_makes_its_pods_in_order(parallel: bool, made: list[str]) -> None:
    slots = (("0", ("db-0",)), ("1", ("db-1",)))
    model, controllers, owned = started(
        owned_by(OwnerKind.STATEFUL_SET, slots, 2, running=0, parallel=parallel)
    )
    assert wanted(model, controllers, owned) == made
    model.do(lambda: controllers.create(owned["db-0"]))
    model.do(lambda: controllers.hear(owned["db-0"]))
    assert wanted(model, controllers, owned) == made[1:]
    model.do(lambda: model.part("api").bind(owned["db-0"].pod, model.model.entities[Node][0]))
    model.do(lambda: controllers.hear(owned["db-0"]))
    assert wanted(model, controllers, owned) == ["db-1"]


def test_a_daemon_set_makes_pods_for_nodes_that_take_them() -> None:
    slots = (("n", ("on-n",)), ("m", ("on-m",)))
    model, controllers, owned = started(owned_by(OwnerKind.DAEMON_SET, slots, 2, running=0))
    assert wanted(model, controllers, owned) == ["on-n"]
    model.do(lambda: controllers.create(owned["on-n"]))
    model.do(lambda: controllers.hear(owned["on-n"]))
    model.do(lambda: model.part("api").write_node(model.model.entities[Node][0], exists=False))
    model.do(lambda: controllers.delete(owned["on-n"]))


@pytest.mark.parametrize(("waits", "made"), [(False, ["b"]), (True, [])])
def test_a_job_replaces_a_pod_that_terminates_unless_it_waits_for_its_end(
    waits: bool, made: list[str]
) -> None:
    of = owned_by(OwnerKind.JOB, (("", ("a", "b")),), waits_for_end=waits)
    model, controllers, owned = started(of)
    model.do(lambda: model.part("api").delete_pod(owned["a"].pod))
    model.do(lambda: controllers.hear(owned["a"]))
    assert model.get(lambda: controllers.seen[owned["a"]]) is Phase.TERMINATING
    assert wanted(model, controllers, owned) == made
    model.do(lambda: model.part("api").remove_pod(owned["a"].pod))
    model.do(lambda: controllers.hear(owned["a"]))
    assert wanted(model, controllers, owned) == ["b"]


def test_a_job_counts_a_pod_that_has_succeeded_even_if_its_object_is_deleted() -> None:
    model, controllers, owned = started(owned_by(OwnerKind.JOB, (("", ("a", "b")),)))
    model.do(lambda: model.part("kubelet").report_finished(owned["a"].pod))
    model.do(lambda: controllers.collect_ended(owned["a"]))
    model.do(lambda: controllers.hear(owned["a"]))
    assert model.get(lambda: controllers.succeeded[owned["a"]])
    model.do(lambda: controllers.hear(owned["a"]))
    assert wanted(model, controllers, owned) == []


@pytest.mark.parametrize(
    ("kind", "deletes"), [(OwnerKind.REPLICA_SET, False), (OwnerKind.STATEFUL_SET, True)]
)
def test_who_deletes_a_pod_that_has_ended(kind: OwnerKind, deletes: bool) -> None:
    model, controllers, owned = started(owned_by(kind, (("0", ("a",)),)))
    model.do(lambda: model.part("kubelet").report_finished(owned["a"].pod))
    model.do(lambda: controllers.hear(owned["a"]))
    assert enabled(model, lambda: controllers.delete_ended(owned["a"])) is deletes
    assert enabled(model, lambda: controllers.collect_ended(owned["a"])) is not deletes


def test_a_user_creates_what_no_controller_makes() -> None:
    cluster = owned_by(OwnerKind.REPLICA_SET, (("", ("a", "b")),))
    free = Pod(2, "free", 1, exists=False)
    scope = replace(cluster.scope, pod_creations=1)
    model, _, owned = started(replace(cluster, pods=(*cluster.pods, free), scope=scope))
    made = [pod.name for pod in (owned["b"].pod, free) if enabled(model, lambda p=pod: model.part("users").create_pod(p))]  # fmt: skip
    assert made == ["free"]
