"""Guides of runs: one is copied for each run."""

from __future__ import annotations

import pytest

from podrace.checker.explicit.state_graph import state_graph
from podrace.reproduce.tours.guiding import Guided
from tests.reproduce.tours.test_kept import model_of


@pytest.mark.parametrize(
    "name", ["unheard-signal", "restart", "groups/gated-member", "volumes/attached-victim"]
)
def test_a_guide_for_another_run_begins_anew(name: str) -> None:
    """What one run has come to does not show in the next, whose guide is a copy."""
    model = model_of(name)
    graph = state_graph(model.system)
    first = Guided(model, graph)
    walked: list[int] = []
    for _ in range(4):
        copied, fresh, state = first.for_another(), Guided(model, graph), 0
        for _ in range(40):
            edges = range(graph.starts[state], graph.starts[state + 1])
            said = [(edge, copied.take(edge)) for edge in edges[: 1 + len(walked) % 3]]
            for edge, why in said:
                assert fresh.take(edge) == why
            taken = [edge for edge, why in said if not why]
            if len(taken) != 1:
                break
            walked.append(taken[0])
            state = int(graph.targets[taken[0]])
        assert copied.end(3) == fresh.end(3)
