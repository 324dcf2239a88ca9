"""Scheduling gates that go one by one, each with a keeper of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from podrace.checker.search import check
from podrace.model.environment.cluster.workloads import KeeperSpec
from podrace.model.environment.gates import Gate
from podrace.model.environment.objects import ClusterSpec, Pod, Toleration
from podrace.model.history import resolve
from podrace.model.language import Concrete, Expr, any_of
from podrace.model.scheduler.framework.events import SCHEDULING_GATES, Plugin
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import instrument
from podrace.properties.base.property import Property
from tests.model.clusters import concrete, enabled, nodes, spec

SINCE = ["1.27", "1.28", "1.29", "1.31", "1.32", "1.33", "1.34", "1.34.4", "1.35", "1.36"]
QUOTA, ZONE = KeeperSpec("quota", "x/quota", quota=1), KeeperSpec("zone", "x/zone")


def cluster(keepers: Sequence[KeeperSpec], *pods: Pod, **scope: int) -> ClusterSpec:
    """These pods on one node, with these keepers."""
    return replace(spec(list(pods), nodes(4), **scope), keepers=tuple(keepers))


def of(model: Concrete, pod: Pod, name: str) -> Gate:
    """The gate of the pod with this name."""
    (gate,) = [g for g in model.model.entities[Gate] if g.pod is pod and g.gate == name]
    return gate


def deliver(model: Concrete, pod: Pod) -> None:
    """The queue's handler gets the next event, an update of the pod."""
    handlers = model.part("handlers")
    model.do(lambda: handlers.handle_for_queue(pod))
    model.do(lambda: handlers.update_queue(pod))


@pytest.mark.parametrize("release", SINCE)
def test_an_update_that_leaves_a_gate_changes_nothing_in_the_queue_but_the_copy(release: str) -> None:
    pod = Pod(0, "p", 1, gates=["x/quota", "x/zone"], later={"t": Pod(0, "p", 1, tolerations=[Toleration()])})
    model = concrete(cluster([replace(QUOTA, directs=("p.t",)), ZONE], pod), release)
    keepers, queue = model.part("gate_keepers"), model.part("queue")
    (plugin,) = [g for g in model.model.entities[Plugin] if g.name == SCHEDULING_GATES]

    def found() -> tuple[object, ...]:
        return (
            model.get(lambda: queue.sub_queue[pod]),
            model.get(lambda: queue.gated[pod]),
            model.get(lambda: queue.rejected_by[pod][plugin]),
            model.get(lambda: queue.copy[pod].version),
        )

    model.do(lambda: keepers.let_go(of(model, pod, "x/quota")))
    deliver(model, pod)
    assert found() == (SubQueue.UNSCHEDULABLE, True, True, 1)
    model.do(lambda: keepers.let_go(of(model, pod, "x/zone")))
    assert found()[0] is SubQueue.UNSCHEDULABLE, "the update is still to be delivered"
    deliver(model, pod)
    assert found()[:2] == (SubQueue.ACTIVE, False)


def test_the_quota_is_free_again_when_the_pod_is_gone() -> None:
    a, b = (Pod(i, name, 1, gates=["x/quota"]) for i, name in enumerate("ab"))
    model = concrete(cluster([QUOTA], a, b, pod_deletions=1), "1.36")
    keepers, ask = model.part("gate_keepers"), of(model, b, "x/quota")
    model.do(lambda: keepers.let_go(of(model, a, "x/quota")))
    assert not enabled(model, lambda: keepers.let_go(ask))
    model.do(lambda: model.part("users").delete_pod(a))
    assert enabled(model, lambda: keepers.let_go(ask))


def test_a_keeper_may_wait_for_the_gates_of_others() -> None:
    pod, other = Pod(0, "p", 1, gates=["x/quota", "x/zone"]), Pod(1, "q", 1, gates=["x/zone"])
    waiting = replace(ZONE, waits_for=("x/quota",))
    model = concrete(cluster([QUOTA, waiting], pod, other), "1.36")
    keepers, zone = model.part("gate_keepers"), of(model, pod, "x/zone")
    assert not enabled(model, lambda: keepers.let_go(zone))
    assert enabled(model, lambda: keepers.let_go(of(model, other, "x/zone"))), "which has no other gate"
    model.do(lambda: keepers.let_go(of(model, pod, "x/quota")))
    assert enabled(model, lambda: keepers.let_go(zone))


class BoundAsDirected(Property):
    """Every pod that is bound is in its last version."""

    id = "S-DIRECTED"

    def holds(self) -> Expr:
        last = {pod: len(pod.later) for pod in self.pods}
        return ~any_of(self.api.pod[p].assigned & (self.api.pod[p].version != last[p]) for p in self.pods)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is bound": any_of(self.api.pod[pod].assigned for pod in self.pods)}


@pytest.mark.parametrize("release", ["1.27", "1.31", "1.36"])
@pytest.mark.parametrize("apart", [False, True])
def test_what_a_keeper_asks_for_is_in_time_whenever_the_other_gate_goes(apart: bool, release: str) -> None:
    directed = Pod(0, "p", 1, node_selector={"kubernetes.io/hostname": "n1"})
    pod = Pod(0, "p", 1, gates=["x/quota", "x/zone"], later={"there": directed})
    keeper = replace(ZONE, directs=("p.there",), apart=apart)
    of_two = replace(cluster([QUOTA, keeper], pod), nodes=nodes(1, 1))
    system = instrument(of_two, resolve(release).classes, [BoundAsDirected])
    (found,) = check(system, ["S-DIRECTED"])
    assert (found.verdict.name, found.vacuous) == ("HOLDS", False)


def test_what_nobody_holds_a_gate_for_may_come_too_late() -> None:
    directed = Pod(0, "p", 1, node_selector={"kubernetes.io/hostname": "n1"})
    pod = Pod(0, "p", 1, gates=["x/quota", "x/zone"], later={"there": directed})
    of_two = replace(cluster([QUOTA, ZONE], pod, pod_updates=1), nodes=nodes(1, 1))
    system = instrument(of_two, resolve("1.36").classes, [BoundAsDirected])
    (found,) = check(system, ["S-DIRECTED"])
    assert found.verdict.name == "VIOLATED"


def test_two_keepers_that_ask_for_what_does_not_go_together_are_refused_for_ever() -> None:
    here, there = (Pod(0, "p", 1, node_selector={"kubernetes.io/hostname": n}) for n in ("n0", "n1"))
    pod = Pod(0, "p", 1, gates=["x/quota", "x/zone"], later={"here": here, "there": there})
    keepers = [replace(QUOTA, directs=("p.here",)), replace(ZONE, directs=("p.there",))]
    model = concrete(cluster(keepers, pod), "1.36")
    part = model.part("gate_keepers")
    model.do(lambda: part.let_go(of(model, pod, "x/quota")))
    assert not enabled(model, lambda: part.let_go(of(model, pod, "x/zone")))


@pytest.mark.parametrize("release", ["1.27", "1.31", "1.36"])
def test_one_gate_without_a_keeper_goes_as_all_do_at_once(release: str) -> None:
    def counts(keepers: Sequence[KeeperSpec]) -> tuple[int | None, int | None]:
        pods = Pod(0, "p", 1, gates=["x/quota"]), Pod(1, "q", 4)
        system = instrument(
            cluster(keepers, *pods, pod_deletions=1), resolve(release).classes, [BoundAsDirected]
        )
        (found,) = check(system, ["S-DIRECTED"])
        return found.counts.states, found.counts.transitions

    assert counts([]) == counts([ZONE])


def test_gates_are_of_no_interest_to_a_release_that_drops_them() -> None:
    pod = Pod(0, "p", 1, gates=["x/quota", "x/zone"])
    model = concrete(cluster([QUOTA, ZONE], pod), "1.26")
    assert model.get(lambda: model.part("queue").sub_queue[pod]) is SubQueue.ACTIVE
    assert not enabled(model, lambda: model.part("gate_keepers").let_go(of(model, pod, "x/quota")))
