"""A node that an autoscaler makes stands for one node after the other: that is the same as a new node each time, but for names."""

from __future__ import annotations

import pytest

from podrace.checker.explicit.state_graph import state_graph
from podrace.model.environment.controllers import autoscaler
from podrace.model.environment.controllers.autoscaler import OUTLIVED, Autoscaler
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope
from podrace.model.history import resolve
from podrace.model.language import Component, TransitionSystem, as_expr, boolean, clamp, integer, per, require
from podrace.properties import instrument
from tests.model.environment.test_reused_pods import Place, nameless

MOST = 2


class FewMade(Autoscaler):
    """So many nodes are made, and no more."""

    made = integer(0, MOST)

    def make_node(self, node: Node, pod: Pod) -> None:
        super().make_node(node, pod)
        require(self.made < MOST)
        self.made = clamp(self.made + 1, 0, MOST)


class NewEachTime(FewMade):
    """And none of them twice."""

    used = per(Node, boolean())

    def setup(self) -> None:
        super().setup()
        for node in self.universe[Node]:
            self.used[node] = node.exists

    def make_node(self, node: Node, pod: Pod) -> None:
        super().make_node(node, pod)
        require(~self.used[node])
        self.used[node] = True


def places(system: TransitionSystem) -> list[Place | None]:
    """Where each variable stands: kept for a node, or for none; and whether it refers to one."""
    found: list[Place | None] = []
    for variable in system.variables:
        address = system.narration.addresses[variable.name]
        if address.state in OUTLIVED or address.state == "autoscaler.used":
            found.append(None)
            continue
        owners = [key for key in address.keys if isinstance(key, Node)]
        others = tuple(getattr(key, "name", key) for key in address.keys if key not in owners)
        of = owners[0].index if owners else None
        found.append(Place(f"{address.state}{others}", of, variable.sort.tag is Node))
    return found


def reached(patch: type[Component]) -> set[tuple[object, ...]]:
    """The states without the names of nodes."""
    nodes = tuple(Node(i, f"n{i}", 1, exists=i == 0) for i in range(MOST + 1))
    scope = Scope(pod_events=1, node_events=1, flush=False, backoff=False, pod_gc=False, autoscaler=True)
    of = ClusterSpec("again", (Pod(0, "p", 1, graceful=False),), nodes, scope)
    system = instrument(of, (patch, *resolve("1.36").classes), [])
    where = places(system)
    return {nameless(tuple(state), where) for state in state_graph(system).codes.tolist()}


@pytest.mark.ci
def test_a_node_that_is_made_again_is_a_new_one() -> None:
    new = reached(NewEachTime)
    assert len(new) == 5162
    assert reached(FewMade) == new


@pytest.mark.nightly
def test_one_that_is_made_too_early_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    new = reached(NewEachTime)
    monkeypatch.setattr(autoscaler, "is_forgotten", lambda *_: as_expr(True))
    too_early = reached(FewMade)
    assert too_early > new
    assert len(too_early) == 5782
