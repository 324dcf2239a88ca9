"""The node tree and the orders that it is made of, compared with lists."""

from hypothesis import given
from hypothesis import strategies as st

from podrace.model.environment.cluster.footprint import UsedPort
from podrace.model.environment.cluster.node_versions import NodeVersion
from podrace.model.environment.cluster.pod_versions import PodVersion
from podrace.model.environment.objects import Node, Pod
from podrace.model.environment.storage.volumes import CountedClaim
from podrace.model.language import Component, Concrete, Model, Universe, build, record
from podrace.model.scheduler import Cache, NodeInfos, NodeTree, Snapshot
from podrace.model.scheduler.cache.order import NodeOrder, Zone, zone_key, zones_named

NODES = tuple(Node(i, f"n{i}", 0, exists=False) for i in range(4))
ZONES = zones_named(["", "r/a", "r/b"])


class Shelf(Component):
    order = record(NodeOrder)


class Room(Model):
    shelf: Shelf


def listed(model, member, index):
    rows = model.get(lambda: [(n, member(n), index(n)) for n in NODES])
    found = sorted((place, n.index) for n, is_in, place in rows if is_in)
    assert [place for place, _ in found] == list(range(len(found)))
    return [i for _, i in found]


@given(st.lists(st.tuples(st.sampled_from(["put_first", "put_last", "remove"]), st.integers(0, 3))))
def test_an_order_is_a_list(operations):
    model = Concrete(build(Room, Universe({Node: NODES})))
    plain: list[int] = []
    shelf = model.part("shelf")
    for what, i in operations:
        model.do(lambda: getattr(shelf.order, what)(NODES[i]))  # noqa: B023
        plain = [n for n in plain if n != i]
        if what != "remove":
            plain.insert(0 if what == "put_first" else len(plain), i)
        assert listed(model, lambda n: shelf.order.member[n], lambda n: shelf.order.index(n)) == plain


class Trees(Model):
    cache: Cache
    node_infos: NodeInfos
    node_tree: NodeTree
    snapshot: Snapshot


def in_turn(zones):
    """One of each zone in turn."""
    longest = max(map(len, zones.values()), default=0)
    return [nodes[i] for i in range(longest) for nodes in zones.values() if i < len(nodes)]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 2))))
def test_a_tree_lists_one_node_of_each_zone_in_turn(operations):
    kinds = {
        Pod: (),
        Node: NODES,
        Zone: ZONES,
        PodVersion: (),
        UsedPort: (),
        NodeVersion: (),
        CountedClaim: (),
    }
    model = Concrete(build(Trees, Universe(kinds)))
    plain: dict[int, list[int]] = {}
    tree = model.part("node_tree")
    for add, i, z in operations:
        old = next((key for key, nodes in plain.items() if i in nodes), None)
        if add and old is not None:
            model.do(lambda: tree.update(NODES[i], ZONES[old], ZONES[z]))  # noqa: B023
            if old != z:
                plain[old].remove(i)
                plain.setdefault(z, []).append(i)
        elif add:
            model.do(lambda: tree.add(NODES[i], ZONES[z]))  # noqa: B023
            plain.setdefault(z, []).append(i)
        else:
            assert model.do(lambda: tree.remove(NODES[i], ZONES[z])) is (old != z)  # noqa: B023
            if old == z:
                plain[z].remove(i)
        plain = {key: nodes for key, nodes in plain.items() if nodes}
        assert listed(model, tree.has, tree.index) == in_turn(plain)
        assert model.get(lambda: tree.size) == sum(map(len, plain.values()))


def test_zone_keys():
    assert zone_key({}) == ""
    assert zone_key({"topology.kubernetes.io/zone": "z"}) == "/z"
    beta = "failure-domain.beta.kubernetes.io/"
    assert zone_key({f"{beta}zone": "z", f"{beta}region": "r"}) == "r/z"
