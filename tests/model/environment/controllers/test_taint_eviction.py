"""The taint eviction controller: what it makes of taints and tolerations, its works by name, and who else minds a node's taints and conditions."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.model.environment.cluster.node_versions import NodeVersion
from podrace.model.environment.controllers.taint_eviction import Entry, Fate, Work, fate
from podrace.model.environment.objects import Node, Pod, Taint, Toleration
from podrace.model.language import Concrete, as_expr
from tests.model.clusters import concrete, enabled, spec

GONE = Taint("node.kubernetes.io/unreachable", effect="NoExecute")
ODD = Taint("odd", effect="NoExecute")


def tolerates(taint: Taint, seconds: int | None = None) -> Toleration:
    return Toleration(taint.key, "Exists", effect="NoExecute", seconds=seconds)


@pytest.mark.parametrize(
    ("taints", "tolerations", "expected"),
    [
        ([], [], Fate.STAYS),
        ([Taint("x")], [], Fate.STAYS),
        ([GONE], [], Fate.NOW),
        ([GONE], [tolerates(GONE)], Fate.STAYS),
        ([GONE], [tolerates(GONE, 300)], Fate.LATER),
        # The first that fits counts.
        ([GONE], [tolerates(GONE), tolerates(GONE, 300)], Fate.STAYS),
        ([GONE], [tolerates(GONE, 300), tolerates(GONE)], Fate.LATER),
        ([GONE, ODD], [tolerates(GONE, 300)], Fate.NOW),
        ([GONE, ODD], [tolerates(GONE, 300), tolerates(ODD)], Fate.LATER),
    ],
)
def test_fate(taints: list[Taint], tolerations: list[Toleration], expected: Fate) -> None:
    """processPodOnNode with GetMatchingTolerations and getMinTolerationTime."""
    assert fate(Pod(0, "p", 1, tolerations=tolerations), Node(0, "n", 1, taints=taints)) is expected


def cluster(
    *,
    seconds: int | None = None,
    admission: bool = False,
    taints: tuple[Taint, ...] = (GONE,),
    **node: object,
):
    """web on n0, and web-again, which takes its name; n0 may be tainted."""
    bad = Node(0, "n0", 2, taints=taints, **node)  # type: ignore[arg-type]
    n0 = Node(0, "n0", 2, later={"bad": bad})
    tolerations = [tolerates(GONE, seconds)] if seconds is not None else []
    pods = [
        Pod(0, "web", 1, node=n0, graceful=False, tolerations=tolerations),
        Pod(1, "web-again", 1, exists=False, recreates="web", tolerations=tolerations),
    ]
    return spec(pods, (n0,), taint_eviction=True, node_updates=3, kubelet_admission=admission, pod_events=6)


class Played:
    """A cluster that is played step by step."""

    def __init__(self, of, release: str = "1.36", without: tuple[str, ...] = ()) -> None:
        self.model: Concrete = concrete(of, release, (), without)
        self.controller, self.api = self.model.part("taint_eviction"), self.model.part("api")
        self.web, self.again = of.pods
        (self.n0,) = of.nodes
        self.initial, self.bad = self.model.get(lambda: self.controller.universe[NodeVersion])

    def becomes(self, version: NodeVersion) -> None:
        self.model.do(lambda: self.api.write_node(self.n0, exists=True, version=version))
        self.model.do(lambda: self.controller.hear_of_node(self.n0))

    def hears(self, pod: Pod) -> None:
        self.model.do(lambda: self.controller.hear_of_pod(pod))
        if enabled(self.model, lambda: self.controller.handle_pod(pod)):
            self.model.do(lambda: self.controller.handle_pod(pod))

    def does(self, *steps: str) -> None:
        for step in steps:
            self.model.do(partial(getattr(self.controller, step), self.web))

    def may(self, step: str) -> bool:
        return enabled(self.model, lambda: getattr(self.controller, step)(self.web))

    @property
    def entry(self) -> Entry:
        return self.model.get(lambda: as_expr(self.controller.entry[self.controller.seen(self.web)]))

    def exists(self, pod: Pod) -> bool:
        return self.model.get(lambda: as_expr(self.api.pod[pod].exists))


def test_a_pod_that_may_stay_for_a_while_stays_if_the_taint_goes_in_time() -> None:
    played = Played(cluster(seconds=300))
    played.does("handle_pod")
    played.becomes(played.bad)
    assert (played.entry, played.may("begin")) == (Entry.TIMER, True)
    played.becomes(played.initial)
    assert (played.entry, played.may("begin")) == (Entry.NONE, False)


def test_a_work_that_began_at_once_is_not_called_off() -> None:
    played = Played(cluster())
    played.does("handle_pod")
    played.becomes(played.bad)
    played.becomes(played.initial)
    assert (played.entry, played.may("begin")) == (Entry.NONE, True)
    played.does("begin", "delete", "end")
    assert not played.exists(played.web)


def test_a_work_deletes_whoever_has_the_name_or_nobody() -> None:
    played = Played(cluster())
    played.becomes(played.bad)
    played.does("begin")
    played.model.do(lambda: played.api.remove_pod(played.web))
    played.model.do(lambda: played.api.create_pod(played.again))
    played.does("delete")
    assert not played.exists(played.again)
    other = Played(cluster())
    other.becomes(other.bad)
    other.does("begin")
    other.model.do(lambda: other.api.remove_pod(other.web))
    other.does("delete")
    assert (
        other.model.get(lambda: as_expr(other.controller.work[other.controller.seen(other.web)])) == Work.FAIL
    )


@pytest.mark.parametrize(("without", "left"), [((), Entry.NONE), (("129577",), Entry.NIL)])
def test_what_is_left_under_the_name(without: tuple[str, ...], left: Entry) -> None:
    """125332: the deletion is handled before the goroutine ends."""
    played = Played(cluster(seconds=2), without=without)
    played.does("handle_pod")
    played.becomes(played.bad)
    played.does("begin", "delete")
    played.hears(played.web)
    assert played.entry is Entry.NONE
    played.does("end")
    assert played.entry is left
    played.model.do(lambda: played.api.create_pod(played.again))
    played.model.do(lambda: played.api.bind(played.again, played.n0))
    played.hears(played.again)
    assert played.may("begin") is (left is Entry.NONE)


def test_the_next_pod_of_a_name_on_the_same_node_is_looked_at_for_the_one_before() -> None:
    """The event of the deletion finds the new pod, which has the node that it is about."""
    played = Played(cluster(seconds=2))
    played.does("handle_pod")
    played.becomes(played.bad)
    played.model.do(lambda: played.api.remove_pod(played.web))
    played.model.do(lambda: played.api.create_pod(played.again))
    played.model.do(lambda: played.api.bind(played.again, played.n0))
    assert not enabled(played.model, lambda: played.controller.hear_of_pod(played.again))
    played.model.do(lambda: played.controller.hear_of_pod(played.web))
    played.model.do(lambda: played.controller.hear_of_pod(played.again))
    played.does("handle_pod")
    assert played.entry is Entry.TIMER


def test_a_kubelet_that_is_cut_off_does_nothing_and_one_that_is_not_rejects() -> None:
    of = cluster(admission=True, conditions={"Ready": "Unknown"})
    played = Played(of)
    kubelet = played.model.part("kubelet")
    played.model.do(lambda: played.api.create_pod(played.again))
    played.model.do(lambda: played.api.bind(played.again, played.n0))
    assert [enabled(played.model, lambda s=s: s(played.again)) for s in (kubelet.admit, kubelet.reject)] == [
        True,
        False,
    ]
    played.becomes(played.bad)
    assert [enabled(played.model, lambda s=s: s(played.again)) for s in (kubelet.admit, kubelet.reject)] == [
        False,
        False,
    ]
    near = Played(cluster(admission=True))
    kubelet = near.model.part("kubelet")
    near.model.do(lambda: near.api.create_pod(near.again))
    near.model.do(lambda: near.api.bind(near.again, near.n0))
    near.becomes(near.bad)
    assert [enabled(near.model, lambda s=s: s(near.again)) for s in (kubelet.admit, kubelet.reject)] == [
        False,
        True,
    ]


OUT = Taint("node.kubernetes.io/out-of-service", "nodeshutdown", "NoExecute")


@pytest.mark.parametrize(
    ("taints", "ready", "without", "removed"),
    [
        ((OUT,), "Unknown", (), True),
        ((OUT,), "False", (), True),
        ((OUT,), "True", (), False),
        ((GONE,), "Unknown", (), False),
        ((OUT,), "Unknown", ("out-of-service",), False),
    ],
)
def test_what_terminates_on_a_node_that_is_out_of_service_is_removed(
    taints: tuple[Taint, ...], ready: str, without: tuple[str, ...], removed: bool
) -> None:
    """gcTerminating."""
    bad = Node(0, "n0", 2, taints=taints, conditions={"Ready": ready})
    n0 = Node(0, "n0", 2, later={"bad": bad})
    model = concrete(spec([Pod(0, "web", 1, node=n0)], (n0,), node_updates=1), "1.36", (), without)
    api, gc = model.part("api"), model.part("pod_gc")
    (web,) = model.get(lambda: api.universe[Pod])
    bad_version = model.get(lambda: api.universe[NodeVersion])[1]
    model.do(lambda: api.delete_pod(web))
    assert not enabled(model, lambda: gc.collect_from_dead_node(web))
    model.do(lambda: api.write_node(n0, exists=True, version=bad_version))
    assert enabled(model, lambda: gc.collect_from_dead_node(web)) is removed


def test_a_node_may_be_out_of_service_from_the_start() -> None:
    """gcTerminating, of a node whose object never changes."""
    n0, n1 = (
        Node(i, f"n{i}", 2, taints=taints, conditions={"Ready": "False"})
        for i, taints in enumerate(((OUT,), ()))
    )
    a, b = Pod(0, "a", 1, node=n0), Pod(1, "b", 1, node=n1)
    model = concrete(spec([a, b], (n0, n1)), "1.36")
    for pod in (a, b):
        model.do(partial(model.part("api").delete_pod, pod))
    gc = model.part("pod_gc")
    assert [enabled(model, partial(gc.collect_from_dead_node, pod)) for pod in (a, b)] == [True, False]
