"""Copying only what changed gives the same snapshot as copying everything."""

from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import Pod, PodCopy, PodObject
from podrace.model.history import resolve
from podrace.model.language import Concrete
from podrace.model.scheduler import IncrementalSnapshot
from tests.model.clusters import nodes, spec
from tests.profiles import examples

ON = nodes(4, 4)
PODS = [Pod(0, "a", 1), Pod(1, "b", 1, node=ON[1])]


def operations(cache):
    """What may happen to the cache of this pod on this node."""
    return {
        "assume": lambda p, n: cache.assume(p, n, PodCopy()),
        "finish": lambda p, n: cache.finish_binding(p),
        "forget": lambda p, n: cache.forget(p, n),
        "add": lambda p, n: cache.add_pod(p, PodObject(exists=True, node=n)),
        "update": lambda p, n: cache.update_pod(p, PodObject(exists=True, node=n, terminating=True)),
        "remove": lambda p, n: cache.remove_pod(p),
        "add node": lambda p, n: cache.add_node(n),
        "remove node": lambda p, n: cache.remove_node(n),
    }


STEPS = st.tuples(
    st.sampled_from(
        ["assume", "finish", "forget", "add", "update", "remove", "add node", "remove node", "snapshot"]
    ),
    st.integers(0, 1),
    st.integers(0, 1),
)


def do(model, what, pod, node):
    """Let it happen; gives whether it failed."""
    return model.do(lambda: operations(model.part("cache"))[what](pod, node))


def view(model):
    """What a cycle sees."""
    snapshot = model.part("snapshot")
    return model.get(
        lambda: {
            "live": [snapshot.live[n] for n in ON],
            "listed": [snapshot.listed[n] for n in ON],
            "pods": [snapshot.live[n] & snapshot.on(p, n) for p in PODS for n in ON],
        }
    )


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(STEPS, max_size=14))
def test_both_snapshots_show_the_same(steps):
    cluster = spec(PODS, ON)
    full = Concrete(build_cluster(cluster, resolve("1.22").classes))
    lazy = Concrete(build_cluster(cluster, [IncrementalSnapshot, *resolve("1.22").classes]))
    for what, p, n in [*steps, ("snapshot", 0, 0)]:
        if what == "snapshot":
            assert full.do(full.part("snapshot").update) is False
            assert lazy.do(lazy.part("snapshot").update) is False
            assert lazy.get(lazy.part("snapshot").agrees) is True
            assert view(full) == view(lazy)
        else:
            assert do(full, what, PODS[p], ON[n]) == do(lazy, what, PODS[p], ON[n])


def test_a_node_that_is_gone_leaves_the_map_and_the_list():
    """As 1.22 has it: more NodeInfos than nodes, and those that the cache lacks are taken out."""
    lazy = Concrete(build_cluster(spec(PODS, ON), [IncrementalSnapshot, *resolve("1.22").classes]))
    snapshot = lazy.part("snapshot")
    lazy.do(snapshot.update)
    do(lazy, "remove", PODS[1], ON[1])
    do(lazy, "remove node", PODS[1], ON[1])
    lazy.do(snapshot.update)
    assert lazy.get(lambda: [snapshot.live[n] for n in ON]) == [True, False]
    assert lazy.get(lambda: snapshot.map_size) == 1
    assert lazy.get(lambda: [[snapshot.holds[n][p] for p in PODS] for n in ON]) == [
        [False, False],
        [False, False],
    ]


def test_the_list_has_its_nodes_in_the_order_of_the_tree():
    lazy = Concrete(build_cluster(spec(PODS, ON), [IncrementalSnapshot, *resolve("1.22").classes]))
    snapshot = lazy.part("snapshot")
    lazy.do(snapshot.update)
    assert lazy.get(lambda: [[snapshot.before[a][b] for b in ON] for a in ON]) == [
        [False, True],
        [False, False],
    ]
    assert lazy.get(lambda: [snapshot.index(n) for n in ON]) == [0, 1]
