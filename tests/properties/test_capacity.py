"""Capacity is about every resource, not CPU alone."""

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ClusterSpec, Node, Pod, PodCopy
from podrace.model.language import Concrete
from podrace.properties.bindings import Capacity


@pytest.mark.parametrize(("memory", "holds"), [(2, True), (3, False)])
def test_memory_counts(memory: int, holds: bool) -> None:
    node = Node(0, "n", 4, memory=4)
    bound, pod = Pod(0, "bound", 1, memory=2, node=node), Pod(1, "p", 1, memory=memory)
    model = build_cluster(ClusterSpec("test", (bound, pod), (node,)))
    monitor = model.add("S-CAP", Capacity)
    assert isinstance(monitor, Capacity)
    state = Concrete(model)
    state.do(lambda: model.parts["cache"].assume(pod, node, PodCopy()))
    assert state.get(monitor.holds) is holds
