"""Updates of pods: what the queue is told, and whether it is enough."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.search import check
from podrace.model.environment.cluster.placement_rules import (
    NodeAffinity,
    NodeTerm,
    Operator,
    Requirement,
    Selector,
    SpreadConstraint,
)
from podrace.model.environment.cluster.pod_versions import PodChange, PodVersion, may_become, narrows
from podrace.model.environment.objects import Node, Pod, PodObject, Taint, Term, Toleration
from podrace.model.history import resolve
from podrace.model.language import as_expr
from podrace.model.scheduler.framework.events import Plugin, PodUpdate
from podrace.model.scheduler.framework.placement import Placement
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.model.clusters import concrete, enabled, spec
from tests.profiles import examples
from tests.races.hazard_patches import FreshRequeue

WEB, BATCH = {"app": "web"}, {"app": "batch"}
SSD = {"disk": "ssd"}
IS_SSD, IS_BIG = Requirement("disk", Operator.IN, ("ssd",)), Requirement("size", Operator.EXISTS)
TAINT, TOLERANT = Taint("dedicated"), Toleration("dedicated", "Exists")


def pod(index: int = 0, cpu: int = 2, **described: Any) -> Pod:
    return Pod(index, f"p{index}", cpu, **described)


def becoming(before: Pod, **later: Pod) -> Pod:
    before.later = later
    for number, version in enumerate(later.values(), start=1):
        version.number = number
    return before


# --- what the queue is told ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (pod(), pod(cpu=3), []),
        (pod(), pod(cpu=1), ["PodScaleDown"]),
        (pod(memory=2), pod(cpu=3, memory=1), ["PodScaleDown"]),
        (pod(), pod(labels=WEB), ["PodLabelChange"]),
        (pod(), pod(tolerations=[TOLERANT]), ["PodTolerationChange"]),
        (
            pod(),
            pod(cpu=1, labels=WEB, tolerations=[TOLERANT]),
            ["PodLabelChange", "PodScaleDown", "PodTolerationChange"],
        ),
        (pod(), pod(), []),
    ],
)
def test_every_kind_of_change_is_told_in_upstreams_order(old: Pod, new: Pod, told: list[str]) -> None:
    model = concrete(spec([becoming(pod(), later=pod(cpu=1))], (Node(0, "n0", 2),)), "1.36")
    kinds = model.part("queue").kinds_of(PodChange(old, new, True))
    assert [kind.name for kind in kinds] == told


def test_which_plugin_asks_for_which_updates() -> None:
    """EventsToRegister of each plugin with queueing hints: L is labels, S scaled down, T tolerations. Without hints nobody asks."""
    model = concrete(spec([becoming(pod(), later=pod(cpu=1))], (Node(0, "n0", 2),)), "1.36")
    hints = model.part("hints")
    heard = {
        plugin.name: "".join(
            kind.name[3] for kind in hints.universe[PodUpdate] if hints.hears(plugin, kind.event)
        )
        for plugin in hints.universe[Plugin]
    }
    assert heard == {
        "NodeUnschedulable": "T",
        "TaintToleration": "T",
        "NodeAffinity": "",
        "NodeResourcesFit": "S",
        "PodTopologySpread": "LT",
        "InterPodAffinity": "L",
    }


@pytest.mark.parametrize(
    ("release", "old", "new", "accepted"),
    [
        ("1.32", pod(), pod(cpu=1), False),
        ("1.33", pod(), pod(cpu=1), True),
        ("1.20", pod(), pod(labels=WEB), True),
        ("1.36", pod(), pod(tolerations=[TOLERANT]), True),
        ("1.36", pod(tolerations=[TOLERANT]), pod(), False),
        # What a pod asks of its node can be narrowed while it has scheduling gates, from 1.27 on.
        ("1.36", pod(), pod(node_selector=SSD), False),
        ("1.36", pod(gated=True), pod(gated=True, node_selector=SSD), True),
        ("1.27", pod(gated=True), pod(gated=True, node_selector=SSD), True),
        ("1.26", pod(gated=True), pod(gated=True, node_selector=SSD), False),
        ("1.36", pod(gated=True, node_selector=SSD), pod(gated=True), False),
    ],
)
def test_what_the_api_server_accepts(release: str, old: Pod, new: Pod, accepted: bool) -> None:
    model = concrete(spec([becoming(old, later=new)], (Node(0, "n0", 2),), pod_updates=1), release)
    users = model.part("users")
    initial, version = users.universe[PodVersion]
    assert enabled(model, lambda: users.update_pod(version)) is accepted
    assert not enabled(model, lambda: users.update_pod(initial))


@pytest.mark.parametrize(
    ("old", "new", "narrower"),
    [
        (None, [[IS_SSD]], True),
        ([[IS_SSD]], [[IS_SSD, IS_BIG]], True),
        ([[IS_SSD]], [[IS_BIG, IS_SSD]], False),
        ([[IS_SSD, IS_BIG]], [[IS_SSD]], False),
        ([[IS_SSD]], [[IS_SSD], [IS_BIG]], False),
        ([[IS_SSD]], None, False),
        ([[]], [[IS_SSD]], False),
    ],
)
def test_what_counts_as_narrowed(old: Any, new: Any, narrower: bool) -> None:
    """validateNodeAffinityMutation: requirements are added at the end of the terms that are there."""

    def affine(terms: Any) -> Pod:
        if terms is None:
            return pod(gated=True)
        return pod(gated=True, node_affinity=NodeAffinity([NodeTerm(tuple(term)) for term in terms]))

    assert narrows(affine(old), affine(new)) is narrower


def test_a_pod_is_narrowed_before_its_gates_go_and_not_after() -> None:
    several = becoming(pod(gated=True), later=pod(gated=True, node_selector=SSD))
    model = concrete(spec([several], (Node(0, "n0", 2),), pod_updates=1), "1.36")
    users = model.part("users")
    _, version = users.universe[PodVersion]
    assert enabled(model, lambda: users.update_pod(version))
    model.do(lambda: users.remove_gates(several))
    assert not enabled(model, lambda: users.update_pod(version))


# --- whether it is enough ----------------------------------------------------------------------------------

LABELS = st.sampled_from([{}, WEB, WEB, BATCH, BATCH])


@st.composite
def changing(draw: Any, index: int, name: str, on: Node | None) -> Pod:
    """A pod of two versions, which the API server lets follow one another."""
    rule = draw(st.sampled_from(["none", "spread", "apart", "together"]))
    terms = {"apart": (Term(WEB, "zone", anti=True),), "together": (Term(WEB, "zone"),)}.get(rule, ())
    spread = (SpreadConstraint("zone", Selector(WEB), 1),) if rule == "spread" and on is None else ()
    tolerations = draw(st.sampled_from([(), (TOLERANT,)]))

    def version(**described: Any) -> Pod:
        return Pod(
            index, name, draw(st.integers(1, 3)), labels=draw(LABELS), terms=terms, spread=spread, node=on, **described
        )  # fmt: skip

    return becoming(version(tolerations=tolerations), later=version(tolerations=[*tolerations, *draw(st.sampled_from([(), (TOLERANT,)]))]))  # fmt: skip


def verdict(own: bool, x: Pod, b: Pod, nodes: tuple[Node, ...], release: str = "1.36") -> bool | None:
    """Whether b, which waits, is woken when it (`own`) or x is updated so that b fits; None if b fits before, or not after."""
    model = concrete(spec([x, b], nodes), release)
    filters, hints, queue = (model.part(name) for name in ("filters", "hints", "queue"))
    shown = [(0, 0), (0, 1) if own else (1, 0)]

    def seen(of_x: int) -> Placement:
        on = {n: as_expr(x.node is n) for n in nodes}
        held = {
            v: as_expr(v.number == of_x) if v.pod is x else as_expr(v.number == 0)
            for v in filters.universe[PodVersion]
        }
        nowhere = {n: as_expr(False) for n in nodes}
        return Placement({x: on, b: nowhere}, {n: as_expr(True) for n in nodes}, held=held)

    def form(of: Pod, number: int) -> Pod:
        return [of, *of.later.values()][number]

    def fits(state: tuple[int, int]) -> bool:
        placement, asked = seen(state[0]), form(b, state[1])
        return any(model.get(partial(placement.ask, n, partial(filters.fits, asked))) for n in nodes)

    if fits(shown[0]) or not fits(shown[1]):
        return None
    rejected = set()
    for n in nodes:
        for shows, content, apart in seen(0).versions(n):
            assert model.get(lambda: shows)  # noqa: B023
            said = model.get(partial(filters.rejected_by, form(b, 0), content, apart))
            rejected |= {name for name, rejects in said.items() if rejects}
    who = b if own else x
    change = PodChange(form(who, 0), form(who, 1), assigned=not own)
    target = form(b, shown[1][1])
    return any(
        plugin.name in rejected and model.get(partial(hints.wakes, plugin, target, kind.event, change))
        for plugin in hints.universe[Plugin]
        for kind in queue.kinds_of(change)
    )


@given(st.data())
@settings(max_examples=examples(400))
def test_an_update_that_makes_a_pod_fit_wakes_it(data: st.DataObject) -> None:
    """On 1.36, where a pod has one anti-affinity term, and is none that its own affinity means (141354).

    With two, see scenarios/hazards/half-kept-out.yaml.
    """
    nodes = tuple(
        Node(i, f"n{i}", data.draw(st.integers(1, 4)), labels={"zone": zone}, taints=taints)
        for i, (zone, taints) in enumerate(
            (data.draw(st.sampled_from(["east", "west"])), data.draw(st.sampled_from([(), (), (TAINT,)])))
            for _ in range(2)
        )
    )
    x = data.draw(changing(0, "x", data.draw(st.sampled_from(nodes))))
    b = data.draw(changing(1, "b", None))
    alone = any(not t.anti and t.matches(v) for t in b.terms for v in (b, *b.later.values()))
    assert verdict(data.draw(st.booleans()), x, b, nodes) is not False or alone


def test_the_holes_are_there() -> None:
    n = (Node(0, "n0", 4, labels={"zone": "east"}),)
    x = becoming(Pod(0, "x", 1, labels=WEB, node=n[0]), later=Pod(0, "x", 1, labels=BATCH, node=n[0]))
    one, two = Term(WEB, "zone", anti=True), Term({"app": "db"}, "zone", anti=True)
    b = becoming(Pod(1, "b", 1, terms=[one, two]), later=Pod(1, "b", 1, terms=[one, two]))
    assert verdict(False, x, b, n) is False
    assert verdict(False, x, b, n, "1.37") is True  # 139161
    b = becoming(Pod(1, "b", 1, terms=[one]), later=Pod(1, "b", 1, terms=[one]))
    assert verdict(False, x, b, n) is True
    # 141354: the last pod that b's affinity means is one no more, so that b might be the first of its kind elsewhere.
    both = (Node(0, "n0", 1, labels={"zone": "east"}), Node(1, "n1", 4, labels={"zone": "west"}))
    y = becoming(Pod(0, "x", 1, labels=WEB, node=both[0]), later=Pod(0, "x", 1, labels=BATCH, node=both[0]))
    near = [Term(WEB, "zone")]
    b = becoming(Pod(1, "b", 1, labels=WEB, terms=near), later=Pod(1, "b", 1, labels=WEB, terms=near))
    assert verdict(False, y, b, both) is False
    # 135394: up to 1.35 a pod's own labels.
    x = becoming(Pod(0, "x", 1, terms=[one], node=n[0]), later=Pod(0, "x", 1, terms=[one], node=n[0]))
    b = becoming(Pod(1, "b", 1, labels=WEB), later=Pod(1, "b", 1, labels=BATCH))
    assert verdict(True, x, b, n, "1.35") is False
    assert verdict(True, x, b, n, "1.36") is True


def test_139161_left_a_pod_kept_out_by_another_term_for_a_smaller_domain() -> None:
    """x was kept away by zone and by host; it is no database any more, so that b fits on the other host. The hint looks whether some term still means x."""
    on = tuple(Node(i, f"n{i}", 4, labels={"zone": "east", "host": f"n{i}"}) for i in range(2))
    db = {"tier": "db"}
    x = becoming(
        Pod(0, "x", 1, labels={**WEB, **db}, node=on[0]), later=Pod(0, "x", 1, labels=WEB, node=on[0])
    )
    terms = [Term(WEB, "host", anti=True), Term(db, "zone", anti=True)]
    b = becoming(Pod(1, "b", 1, terms=terms), later=Pod(1, "b", 1, terms=terms))
    assert verdict(False, x, b, on, "1.36") is True
    assert verdict(False, x, b, on, "1.37") is False


@pytest.mark.parametrize(("release", "woken"), [("1.36.4", False), ("1.37", True)])
def test_135905_the_update_of_one_pod_has_others_in_flight_tried_again(release: str, woken: bool) -> None:
    """a and b are in flight, and a gets a toleration: the event is kept for both, and TaintToleration does not ask whose it is."""
    a = becoming(Pod(0, "a", 1), later=Pod(0, "a", 1, tolerations=[TOLERANT]))
    b = Pod(1, "b", 1)
    model = concrete(spec([a, b], (Node(0, "n0", 2),)), release)
    queue = model.part("queue")
    for one in (a, b):
        model.do(partial(queue.begin_attempt, one))
    model.do(lambda: queue.update(a, PodObject(exists=True), PodObject(exists=True, version=1)))
    (plugin,) = (p for p in queue.universe[Plugin] if p.name == "TaintToleration")
    assert model.get(lambda: queue.in_flight_events[a][plugin]) is True
    assert model.get(lambda: queue.in_flight_events[b][plugin]) is woken


# --- the handler ---------------------------------------------------------------------------------------------


def test_a_cycle_may_come_between_two_moves_of_one_update() -> None:
    n0 = Node(0, "n0", 2)
    x = becoming(pod(0, node=n0), less=pod(0, 1, labels=WEB, node=n0))
    model = concrete(spec([x, pod(1, 1)], (n0,), pod_updates=1), "1.36")
    handlers, scheduler, updates = (model.part(name) for name in ("handlers", "scheduler", "pod_updates"))
    waits = scheduler.universe[Pod][1]
    _, version = updates.universe[PodVersion]
    model.do(lambda: model.part("users").update_pod(version))
    model.do(lambda: handlers.handle_for_cache(x))
    assert model.get(lambda: model.part("cache").version[x]) is version
    assert model.get(lambda: model.part("node_infos").version[x]) is version
    model.do(lambda: handlers.wake_queue(x))
    assert model.get(lambda: (updates.kind, handlers.cache_busy)) == (updates.universe[PodUpdate][1], True)
    assert enabled(model, lambda: scheduler.pop(waits))
    model.do(lambda: handlers.wake_queue(x))
    assert model.get(lambda: (updates.kind, handlers.cache_busy)) == (None, False)


def test_a_pod_that_has_shrunk_makes_room_and_one_that_has_grown_takes_it() -> None:
    n0 = Node(0, "n0", 3)
    x = becoming(pod(0, 2, node=n0), less=pod(0, 1, node=n0), more=pod(0, 3, node=n0))
    model = concrete(spec([x, pod(1, 2)], (n0,), pod_updates=3, pod_events=3), "1.36")
    handlers, queue = model.part("handlers"), model.part("queue")
    waits = queue.universe[Pod][1]
    fit = next(plugin for plugin in queue.universe[Plugin] if plugin.name == "NodeResourcesFit")

    def park() -> None:
        queue.sub_queue[waits] = SubQueue.UNSCHEDULABLE
        queue.rejected_by[waits][fit] = True

    def woken_by(number: int) -> bool:
        model.do(park)
        model.do(lambda: model.part("users").update_pod(queue.universe[PodVersion][number]))
        model.do(lambda: handlers.handle_for_cache(x))
        model.do(lambda: handlers.wake_queue(x))
        return model.get(lambda: queue.sub_queue[waits]) is not SubQueue.UNSCHEDULABLE

    assert [woken_by(2), woken_by(1), woken_by(0)] == [False, True, False]


def test_the_filters_see_each_pod_as_the_snapshot_has_it() -> None:
    n0 = Node(0, "n0", 3)
    x = becoming(pod(0, 2, node=n0), more=pod(0, 3, node=n0))
    b = becoming(pod(1, 2), less=pod(1, 1))
    model = concrete(spec([x, b], (n0,), pod_updates=2), "1.36")
    handlers, scheduler = model.part("handlers"), model.part("scheduler")
    versions = scheduler.universe[PodVersion]
    model.do(lambda: model.part("users").update_pod(versions[3]))  # b asks for 1: queued as such
    model.do(lambda: handlers.handle_for_queue(b))
    model.do(lambda: handlers.update_queue(b))
    model.do(lambda: scheduler.pop(b))
    model.do(lambda: scheduler.take_snapshot(b))
    model.do(lambda: model.part("users").update_pod(versions[1]))  # x asks for 3: too late for this snapshot
    model.do(lambda: handlers.handle_for_cache(x))
    model.do(lambda: scheduler.filter(b, n0))
    assert model.get(lambda: scheduler.verdict[n0]).name == "FEASIBLE"


def test_an_update_of_the_status_alone_wakes_nobody() -> None:
    n0 = Node(0, "n0", 3)
    x = becoming(pod(0, 2, node=n0), less=pod(0, 1, node=n0))
    model = concrete(spec([x, pod(1, 2)], (n0,), pod_updates=1), "1.36")
    same = PodObject(exists=True, node=n0)
    assert not model.get(lambda: model.part("pod_updates").is_change(x, same, same.replace(failed=True)))


def test_tolerations_can_only_be_added() -> None:
    assert may_become(pod(), pod(tolerations=[TOLERANT]))
    assert not may_become(pod(tolerations=[TOLERANT]), pod())


# --- whole clusters, by release ---------------------------------------------------------------------------

RESIZED = """
name: resized
release: "1.36.0"
properties: [S-STUCK]
nodes:
  n1: {cpu: 2}
pods:
  x: {cpu: 2, nodeName: n1, terminationGracePeriodSeconds: 0, updates: {smaller: {cpu: 1}}}
  b: {cpu: 1, terminationGracePeriodSeconds: 0}
scope: {pod_events: 2, flush: false}
"""

RENAMED = """
name: renamed
release: "1.36.0"
properties: [S-STUCK]
nodes:
  n1: {cpu: 2, labels: {zone: east}}
pods:
  x:
    cpu: 1
    nodeName: n1
    podAntiAffinity:
      required: [{topologyKey: zone, matchLabels: {app: web}}]
    terminationGracePeriodSeconds: 0
  b: {cpu: 1, labels: {app: web}, terminationGracePeriodSeconds: 0, updates: {renamed: {labels: {app: batch}}}}
scope: {pod_events: 2, flush: false}
"""


@pytest.mark.parametrize(
    ("text", "release", "patches", "fixes", "found"),
    [
        # A pod shrinks in place, and the one that waits for its room is woken.
        (RESIZED, "1.33", (), (), ("HOLDS", 316, None)),
        (RESIZED, "1.35", (), (), ("HOLDS", 239, None)),
        (RESIZED, "1.36", (), (), ("HOLDS", 185, None)),
        # 135394: a pod's own labels. What is left is scenarios/hazards/update-lost.yaml, and its patch closes it.
        (RENAMED, "1.31", (), (), ("HOLDS", 345, None)),
        (RENAMED, "1.35", (FreshRequeue,), (), ("VIOLATED", 99, 15)),
        (RENAMED, "1.35", (FreshRequeue,), ("135394",), ("HOLDS", 227, None)),
        (RENAMED, "1.36", (FreshRequeue,), (), ("HOLDS", 175, None)),
        (RENAMED, "1.36", (), (), ("VIOLATED", 191, 25)),
    ],
)
def test_counts(
    text: str, release: str, patches: tuple[Any, ...], fixes: tuple[str, ...], found: Any, tmp_path: Path
) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(text)
    (scenario,) = find_scenarios(str(file))
    classes = (*patches, *resolve(release, fixes).classes)
    (result,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-STUCK"]]), ["S-STUCK"])
    length = None if result.trace is None else len(result.trace.steps)
    assert (result.verdict.name, result.counts.states, length) == found
    assert not result.vacuous


GROWING = """
name: growing
release: "1.36.0"
properties: [S-CAP]
nodes:
  n1: {cpu: 2}
pods:
  x: {cpu: 1, nodeName: n1, terminationGracePeriodSeconds: 0, updates: {larger: {cpu: 2}}}
  b: {cpu: 1, terminationGracePeriodSeconds: 0}
scope: {pod_events: 2, flush: false}
"""


def test_that_a_pod_grows_once_it_is_bound_violates_nothing(tmp_path: Path) -> None:
    """One that grows before is scenarios/hazards/grown-in-flight.yaml."""
    file = tmp_path / "growing.yaml"
    file.write_text(GROWING)
    (scenario,) = find_scenarios(str(file))
    (result,) = check(instrument(scenario.spec, resolve("1.36").classes, [PROPERTIES["S-CAP"]]), ["S-CAP"])
    assert result.verdict.name == "HOLDS"
