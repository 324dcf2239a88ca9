"""Entries of the sub-queues under a name that two pods have one after the other: which is found, and which gives way (backend/queue)."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import Node, Pod, PodCopy, PodObject
from podrace.model.history import RELEASES, resolve
from podrace.model.language import Concrete, Expr
from podrace.model.scheduler.cycles.failure import FailurePhase
from podrace.model.scheduler.framework.events import Plugin
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import Property, instrument
from podrace.scenarios import find_scenarios
from tests.model.clusters import concrete, nodes, spec

NEWEST = RELEASES[-1]
NONE, ACTIVE, BACKOFF, PARKED = SubQueue.NONE, SubQueue.ACTIVE, SubQueue.BACKOFF, SubQueue.UNSCHEDULABLE
NEW = PodObject(exists=True)


def two(release: str, places: tuple[SubQueue, SubQueue], gated: bool = False) -> tuple[Concrete, Pod, Pod]:
    """A pod that is gone, and the next of its name, each with an entry where this says so."""
    gone = Pod(0, "gone", 1)
    again = Pod(1, "again", 1, exists=False, recreates="gone", gated=gated)
    model = concrete(spec([gone, again], nodes(2)), release)
    for pod, place in zip((gone, again), places, strict=True):
        model.do(partial(model.part("queue").put, pod, place, PodCopy()))
    return model, gone, again


def places(model: Concrete) -> list[SubQueue]:
    queue = model.part("queue")
    return list(model.get(lambda: [queue.sub_queue[pod] for pod in queue.universe[Pod]]))


@pytest.mark.parametrize(
    ("release", "before", "gated", "after"),
    [
        ("1.36", ACTIVE, False, [NONE, ACTIVE]),
        ("1.36", BACKOFF, False, [NONE, ACTIVE]),
        ("1.36", PARKED, False, [NONE, ACTIVE]),
        (NEWEST, ACTIVE, False, [NONE, ACTIVE]),
        (NEWEST, BACKOFF, False, [BACKOFF, ACTIVE]),
        (NEWEST, PARKED, False, [NONE, ACTIVE]),
        # One that a plugin holds back: beside another, then not at all, then beside it again.
        ("1.30", ACTIVE, True, [ACTIVE, PARKED]),
        ("1.30", BACKOFF, True, [BACKOFF, PARKED]),
        ("1.31", ACTIVE, True, [ACTIVE, NONE]),
        ("1.32", PARKED, True, [NONE, PARKED]),
        ("1.33", PARKED, True, [PARKED, NONE]),
        ("1.35", PARKED, True, [PARKED, NONE]),
        ("1.36", BACKOFF, True, [BACKOFF, NONE]),
        ("1.36", PARKED, True, [NONE, PARKED]),
        (NEWEST, ACTIVE, True, [ACTIVE, PARKED]),
        (NEWEST, BACKOFF, True, [BACKOFF, PARKED]),
        (NEWEST, PARKED, True, [NONE, PARKED]),
    ],
)
def test_what_a_new_pod_does_to_the_entry_of_its_name(
    release: str, before: SubQueue, gated: bool, after: list[SubQueue]
) -> None:
    model, _, again = two(release, (before, NONE), gated)
    model.do(lambda: model.part("queue").add(again, PodObject(exists=True, gated=gated)))
    assert places(model) == after


@pytest.mark.parametrize(
    ("release", "stays"), [("1.32", False), ("1.33", True), ("1.35", True), ("1.36", False)]
)
@pytest.mark.parametrize("gated", [True, False])
def test_a_pod_that_is_held_back_leaves_what_a_failure_handler_has_put_back_for_it(
    release: str, stays: bool, gated: bool
) -> None:
    """138324: the handler of the pod that is gone parks the next pod of its name before Add does. What had rejected the pod that is gone is recorded there."""
    model, _, again = two(release, (NONE, PARKED), gated)
    queue = model.part("queue")
    fit = next(
        plugin for plugin in model.get(lambda: queue.universe[Plugin]) if plugin.name == "NodeResourcesFit"
    )
    model.do(lambda: queue.rejected_by[again].__setitem__(fit, True))
    model.do(lambda: queue.add(again, PodObject(exists=True, gated=gated)))
    assert places(model) == [NONE, PARKED if gated else ACTIVE]
    assert model.get(lambda: queue.rejected_by[again][fit]) is (stays and gated)


def test_the_end_of_a_backoff_displaces_the_entry_of_its_name() -> None:
    for place in (ACTIVE, PARKED):
        model, gone, _ = two(NEWEST, (BACKOFF, place))
        model.do(partial(model.part("queue").flush_backoff, gone))
        assert places(model) == [ACTIVE, NONE]


def test_an_event_displaces_the_entry_of_its_name() -> None:
    """A parked pod that is woken enters backoffQ, which has one entry for a name, and leaves activeQ alone."""
    for place, after in ((BACKOFF, [NONE, BACKOFF]), (ACTIVE, [ACTIVE, BACKOFF])):
        model, *_ = two(NEWEST, (place, PARKED))
        model.do(model.part("queue").move_all)
        assert places(model) == after


@pytest.mark.parametrize(
    ("at", "after"),
    [
        ((BACKOFF, ACTIVE), [BACKOFF, NONE]),
        ((BACKOFF, PARKED), [NONE, PARKED]),
        ((ACTIVE, PARKED), [NONE, PARKED]),
        ((NONE, ACTIVE), [NONE, NONE]),
        ((ACTIVE, NONE), [NONE, NONE]),
    ],
)
@pytest.mark.parametrize("whose", [0, 1])
def test_delete_takes_the_first_entry_that_it_finds(
    at: tuple[SubQueue, SubQueue], after: list[SubQueue], whose: int
) -> None:
    """Whichever pod of the name is deleted: activeQ is searched before backoffQ, and that before the parked pods."""
    model, *pods = two(NEWEST, at)
    model.do(lambda: model.part("queue").delete(pods[whose]))
    assert places(model) == after


@pytest.mark.parametrize(
    ("release", "at", "after"),
    [
        ("1.36", (ACTIVE, NONE), [NONE, ACTIVE]),
        ("1.36", (BACKOFF, NONE), [NONE, BACKOFF]),
        ("1.36", (PARKED, NONE), [NONE, PARKED]),
        ("1.36", (BACKOFF, PARKED), [NONE, BACKOFF]),
        # That of another UID is refused: the pod's own is updated, or the pod is added anew.
        (NEWEST, (BACKOFF, ACTIVE), [BACKOFF, ACTIVE]),
        (NEWEST, (ACTIVE, NONE), [NONE, ACTIVE]),
        (NEWEST, (BACKOFF, NONE), [BACKOFF, ACTIVE]),
        (NEWEST, (PARKED, NONE), [NONE, ACTIVE]),
        (NEWEST, (BACKOFF, PARKED), [BACKOFF, PARKED]),
    ],
)
def test_what_an_update_makes_of_the_entry_of_its_name(
    release: str, at: tuple[SubQueue, SubQueue], after: list[SubQueue]
) -> None:
    model, _, again = two(release, at)
    model.do(lambda: model.part("queue").update(again, NEW, NEW))
    assert places(model) == after


@pytest.mark.parametrize(
    ("release", "after", "rejected", "nominated"),
    [("1.36.3", [NONE, PARKED], True, [None, "n0"]), ("1.37.2", [NONE, ACTIVE], False, ["n0", None])],
)
def test_a_list_that_shows_the_next_pod_in_place_of_a_parked_one(
    release: str, after: list[SubQueue], rejected: bool, nominated: list[str | None]
) -> None:
    """Up to 1.36 the record becomes the next pod's; from 1.37 on it is added anew, and nobody takes the other's nomination out."""
    model, gone, again = two(release, (PARKED, NONE))
    queue, nominator = model.part("queue"), model.part("nominator")
    plugin = next(p for p in queue.universe[Plugin] if p.name == "NodeResourcesFit")

    def reject_and_nominate() -> None:
        queue.rejected_by[gone][plugin] = True
        nominator.node[gone] = nominator.universe[Node][0]

    model.do(reject_and_nominate)
    model.do(lambda: queue.replace(gone, again, NEW, NEW))
    assert places(model) == after
    assert bool(model.get(lambda: queue.rejected_by[again][plugin])) is rejected
    on = model.get(lambda: [nominator.node[pod] for pod in (gone, again)])
    assert [None if node is None else node.name for node in on] == nominated


@pytest.mark.parametrize(
    ("release", "nominated"), [("1.35.4", [None, "n0"]), ("1.36.3", [None, "n0"]), ("1.37.2", ["n0", None])]
)
def test_whom_a_handler_nominates_whose_record_a_list_gave_to_the_next_pod(
    release: str, nominated: list[str | None]
) -> None:
    """The handler has put its record back, and a list shows the next pod of the name before it notes the nomination."""
    model, gone, again = two(release, (NONE, NONE))
    failure, queue, nominator = (model.part(n) for n in ("failure", "queue", "nominator"))
    node = nominator.universe[Node][0]

    def fail() -> None:
        queue.in_flight[gone] = True
        failure.phase[gone] = FailurePhase.REQUEUE
        failure.nominee[gone] = node

    def replace_and_list() -> None:
        queue.replace(gone, again, NEW, NEW)
        model.part("pod_watch").lister[gone] = PodObject()
        model.part("pod_watch").lister[again] = NEW

    model.do(fail)
    model.do(lambda: failure.requeue(gone))
    model.do(replace_and_list)
    model.do(lambda: failure.nominate(gone))
    on = model.get(lambda: [nominator.node[pod] for pod in (gone, again)])
    assert [None if found is None else found.name for found in on] == nominated


@pytest.mark.parametrize("release", ["1.22", "1.36.3", "1.37.2"])
@pytest.mark.parametrize(("at", "nominated"), [(NONE, True), (PARKED, False)])
def test_a_handler_nominates_as_the_record_says_that_it_has_put_back(
    release: str, at: SubQueue, nominated: bool
) -> None:
    """An update between the requeue and the nomination; a record that the queue did not take stays as it was."""
    model, pod, _ = two(release, (at, NONE))
    failure, queue, nominator = (model.part(n) for n in ("failure", "queue", "nominator"))
    told = PodObject(exists=True, nominated=nominator.universe[Node][0])

    def fail() -> None:
        queue.in_flight[pod] = True
        failure.phase[pod] = FailurePhase.REQUEUE

    model.do(fail)
    model.do(lambda: failure.requeue(pod))
    model.do(lambda: queue.update(pod, NEW, told))
    model.do(lambda: failure.nominate(pod))
    assert model.get(lambda: nominator.nominated_to(pod, told.nominated)) is nominated


class OneEntry(Property):
    """No name has two entries in the queue."""

    id = "H-ENTRY"

    def holds(self) -> Expr:
        gone, again = self.pods
        return ~(self.queue.contains(gone) & self.queue.contains(again))


@pytest.mark.parametrize(("release", "verdict"), [("1.26", "HOLDS"), ("1.36", "HOLDS"), (NEWEST, "VIOLATED")])
def test_a_name_has_two_entries_from_1_37_on(release: str, verdict: str) -> None:
    (scenario,) = find_scenarios("scenarios/hazards/namesake-displaced.yaml")
    (found,) = check(instrument(scenario.spec, resolve(release).classes, [OneEntry]), ["H-ENTRY"])
    assert found.verdict.name == verdict
