"""The node lifecycle controller: which taints it wants, in which order they come and go, what it reads late, and when it stops."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.model.environment.cluster.node_health import (
    NOT_READY,
    UNREACHABLE,
    Health,
    give_healths,
    health_of,
    healths,
    in_health,
    of_one_kind,
)
from podrace.model.environment.cluster.node_versions import versions_of
from podrace.model.environment.controllers.node_lifecycle import (
    Stage,
    WatchedNode,
    Worker,
    to_add,
    to_remove,
)
from podrace.model.environment.objects import Node, Scope, Taint
from podrace.model.language import Concrete, as_expr
from tests.model.clusters import concrete, enabled, spec

UNREACHED = [Taint(UNREACHABLE, effect=effect) for effect in ("NoSchedule", "NoExecute")]


def health(status: str, *marks: str) -> Health:
    """A health; taints are written as `u:NoSchedule` and `n:NoExecute`."""
    keys = {"u": UNREACHABLE, "n": NOT_READY}
    return Health(status, frozenset((keys[m[0]], m[2:]) for m in marks))


@pytest.mark.parametrize(
    ("worker", "read", "adds", "removes"),
    [
        (Worker.UPDATES, health("True"), health(""), health("")),
        (Worker.UPDATES, health("Unknown"), health("", "u:NoSchedule"), health("")),
        (Worker.UPDATES, health("Unknown", "u:NoExecute"), health("", "u:NoSchedule"), health("")),
        (Worker.UPDATES, health("True", "u:NoSchedule", "u:NoExecute"), health(""), health("", "u:NoSchedule")),
        (Worker.UPDATES, health("False", "u:NoSchedule"), health("", "n:NoSchedule"), health("", "u:NoSchedule")),
        (Worker.MONITOR, health("Unknown"), health(""), health("")),
        (Worker.MONITOR, health("Unknown", "u:NoExecute"), health(""), health("")),
        (Worker.MONITOR, health("Unknown", "n:NoExecute"), health("", "u:NoExecute"), health("", "n:NoExecute")),
        (Worker.MONITOR, health("True", "u:NoSchedule", "u:NoExecute"), health(""), health("", "u:NoExecute")),
        (Worker.TAINTER, health("Unknown"), health("", "u:NoExecute"), health("")),
        (Worker.TAINTER, health("False", "u:NoExecute"), health("", "n:NoExecute"), health("", "u:NoExecute")),
    ],
)  # fmt: skip
def test_what_each_goroutine_adds_and_removes(
    worker: Worker, read: Health, adds: Health, removes: Health
) -> None:
    """doNoScheduleTaintingPass, processTaintBaseEviction and doNoExecuteTaintingPass, by what they have read."""
    assert (to_add(worker, read), to_remove(worker, read)) == (adds.marks, removes.marks)


def test_a_node_gets_a_version_for_each_health_of_each_of_its_updates() -> None:
    plain = Node(0, "n0", 2, later={"cordoned": Node(0, "n0", 2, unschedulable=True)})
    give_healths([plain], Scope(heartbeat_losses=1))
    every = list(healths(("True", "Unknown")))
    versions = versions_of([plain])
    assert (len(every), len(versions)) == (8, 16)
    assert [set(table) for table in of_one_kind(versions)] == [set(every), set(every)]
    assert [v.name for v in versions][:4] == ["n0.initial", "n0.cordoned", "n0.True+unreachable:NoSchedule", "n0.True+unreachable:NoExecute"]  # fmt: skip
    assert health("Unknown", "u:NoExecute", "u:NoSchedule").word == "Unknown+NoSchedule+NoExecute"


def test_other_taints_and_conditions_stay_in_another_health() -> None:
    own = Taint("dedicated", effect="NoExecute")
    node = in_health(
        Node(0, "n0", 2, taints=(*UNREACHED, own), conditions={"DiskPressure": "True"}), health("True")
    )
    assert (node.taints, node.conditions) == ((own,), {"Ready": "True", "DiskPressure": "True"})
    assert health_of(node) == health("True")


class Played:
    """n0 and n1 are ready, unless something else is said; what the controller does is played step by step."""

    def __init__(
        self, release: str = "1.36", first: Node | None = None, alone: bool = False, creations: int = 0
    ) -> None:
        nodes = (first or Node(0, "n0", 2), *(() if alone else (Node(1, "n1", 2),)))
        bounds = {"heartbeat_losses": 3, "node_creations": creations}
        give_healths(nodes, Scope(heartbeat_losses=3, node_creations=creations))
        of = spec([], nodes, node_lifecycle=True, node_events=15, **bounds)
        self.model: Concrete = concrete(of, release)
        self.controller, self.api = self.model.part("node_lifecycle"), self.model.part("api")
        self.node = nodes[0]

    def does(self, *steps: str) -> None:
        for name in steps:
            name, _, worker = name.partition(" ")
            arguments = [Worker[worker]] if worker else []
            self.model.do(partial(getattr(self.controller, name), self.node, *arguments))

    def may(self, name: str) -> bool:
        name, _, worker = name.partition(" ")
        arguments = [Worker[worker]] if worker else []
        return enabled(self.model, partial(getattr(self.controller, name), self.node, *arguments))

    @property
    def health(self) -> Health:
        version = self.model.get(lambda: as_expr(self.api.node_version[self.node]))
        return health_of(version.content)


def test_both_taints_come_one_after_the_other_and_go_so() -> None:
    played = Played()
    played.does("cut_off", "monitor", "write_status", "hear", "look_at_update", "add_taints UPDATES")
    assert played.health == health("Unknown", "u:NoSchedule")
    played.does("take_from_queue", "add_taints TAINTER", "hear", "look_at_update")
    assert played.health == health("Unknown", "u:NoSchedule", "u:NoExecute")
    assert not played.may("monitor")
    played.does("come_back", "report", "hear", "look_at_update", "remove_taints UPDATES")
    assert played.health == health("True", "u:NoExecute")
    played.does("monitor", "remove_taints MONITOR")
    assert played.health == health("True")


def test_up_to_1_33_the_monitor_has_a_node_tainted_by_its_next_look() -> None:
    for release, due in (("1.33", False), ("1.34", True)):
        played = Played(release)
        played.does("cut_off", "monitor", "write_status", "hear")
        assert played.may("take_from_queue") is due
        assert played.may("monitor") is not due


def test_a_node_that_is_ready_when_its_turn_comes_is_not_tainted() -> None:
    played = Played()
    played.does(
        "cut_off", "monitor", "write_status", "hear", "come_back", "report", "hear", "take_from_queue"
    )
    assert not played.may("add_taints TAINTER")


def test_what_was_read_before_a_node_was_ready_is_written_all_the_same() -> None:
    """And the monitor takes it away again."""
    played = Played()
    played.does("cut_off", "monitor", "write_status", "hear", "take_from_queue", "come_back", "report")
    played.does("add_taints TAINTER")
    assert played.health == health("True", "u:NoExecute")
    played.does("hear", "monitor", "remove_taints MONITOR")
    assert played.health == health("True")


def test_a_status_that_was_written_meanwhile_is_read_first() -> None:
    played = Played()
    played.does("cut_off", "monitor", "come_back", "write_status")
    assert played.health == health("Unknown")
    played.does("report")
    assert played.health == health("True")
    played.does("cut_off", "monitor")
    version = played.model.get(lambda: as_expr(played.api.node_version[played.node]))
    table = of_one_kind(played.model.get(lambda: played.api.universe[type(version)]))[0]
    tainted = table[health("True", "u:NoSchedule")]
    played.model.do(lambda: played.api.write_node(played.node, exists=True, version=tainted))
    played.does("write_status")
    assert played.health == health("True", "u:NoSchedule")
    played.does("write_status")
    assert played.health == health("Unknown", "u:NoSchedule")


def test_where_no_node_is_ready_none_is_tainted_with_no_execute() -> None:
    """handleDisruption: what came before it is taken back."""
    played = Played(alone=True)
    played.does("cut_off", "monitor", "write_status", "hear", "take_from_queue", "add_taints TAINTER", "hear")
    assert played.health == health("Unknown", "u:NoExecute")
    played.model.do(played.controller.halt)
    played.does("take_back")
    assert played.health == health("Unknown")
    played.does("hear", "monitor")
    assert not played.may("take_from_queue")
    played.does("come_back", "report", "hear", "monitor")
    played.model.do(played.controller.go_on)
    assert not played.may("take_from_queue")


@pytest.mark.parametrize("release", ["1.33", "1.34"])
def test_the_monitor_stops_after_the_look_in_which_it_wrote_that_the_last_node_is_unknown(
    release: str,
) -> None:
    """By currentReadyCondition, in all releases: up to 1.33, where a node is tainted by the next look, none is any more."""
    played = Played(release, alone=True)
    played.does("cut_off", "monitor", "write_status")
    played.model.do(played.controller.halt)
    played.does("hear", "monitor")
    assert not played.may("take_from_queue")


def test_as_long_as_some_node_is_ready_the_monitor_does_not_stop() -> None:
    played = Played()
    played.does("cut_off", "monitor", "write_status", "hear")
    assert not enabled(played.model, played.controller.halt)


def test_at_first_it_has_seen_what_is_there() -> None:
    cut_off = Node(0, "n0", 2, conditions={"Ready": "Unknown"}, taints=UNREACHED)
    played = Played(first=cut_off)
    assert not any(played.may(s) for s in ("hear", "look_at_update", "monitor", "take_from_queue", "report"))
    seen = played.model.get(lambda: played.controller.universe[WatchedNode])[0]
    assert played.model.get(lambda: as_expr(played.controller.stage[seen][Worker.MONITOR])) is Stage.NONE


@pytest.mark.parametrize(
    ("release", "joins"), [("1.9", True), ("1.12", False), ("1.13", False), ("1.14", True), ("1.36", True)]
)
def test_with_which_taint_a_node_joins(release: str, joins: bool) -> None:
    played = Played(release, Node(0, "n0", 2, exists=False), creations=1)
    played.model.do(partial(played.model.part("users").create_node, played.node))
    assert played.health == health("False", *(["n:NoSchedule"] if joins else []))
