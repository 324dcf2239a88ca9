"""Conformance of the scheduler cache: operations on it, and what its NodeInfos, lists and snapshots then are.

Each operation becomes a call of the model's own cache or snapshot. What the model then holds is compared with the case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from podrace.model.environment.cluster.footprint import CPU, EPHEMERAL, MEMORY
from podrace.model.environment.objects import Node, PodCopy
from podrace.model.scheduler import Cache, IncrementalSnapshot, NodeInfos, NodeTree
from tests.conformance.cache.cast import CacheCast, gather, port_of
from tests.conformance.cases.cases import (
    REMARKS,
    Case,
    NotTranslated,
    Outcome,
    Script,
    check,
    judged,
    keys_of,
)

_BUILT_IN = {"cpu_milli": CPU, "memory_bytes": MEMORY, "ephemeral_bytes": EPHEMERAL}


class CacheExpectations(Script):
    """A case being played, as far as it looks at the model only."""

    def __init__(self, case: Case, cast_: CacheCast) -> None:
        self.case, self.cast, self.model = case, cast_, cast_.model
        self.cache = cast(Cache, self.model.part("cache"))
        self.infos = cast(NodeInfos, self.model.part("node_infos"))
        self.tree = cast(NodeTree, self.model.part("node_tree"))
        self.snapshot = cast(IncrementalSnapshot, self.model.part("snapshot"))
        self.nodes = tuple(cast_.by_name.values())

    # --- pods ------------------------------------------------------------------------------------------

    def op_expect_pod(self, op: Case) -> None:
        """The object that is expected may have a field of its own, apart from the pod that is asked for."""
        others = [name for name, said in op.items() if name != "pod" and self._is_pod(said)]
        self.only(op, "pod", *others)
        version = self.cast.version(op[others[0] if others else "pod"])
        check(f"{op['pod']} is known", self.model.get(lambda: self.cache.knows(version.pod)), True)
        check("its object", self.model.get(lambda: self.cache.version[version.pod]), version)

    def _is_pod(self, said: Any) -> bool:
        return isinstance(said, str) and said in self.cast.pods

    def op_expect_pod_absent(self, op: Case) -> None:
        self.only(op, "pod")
        pod = self.cast.version(op["pod"]).pod
        check(f"{op['pod']} is known", self.model.get(lambda: self.cache.knows(pod)), False)

    def op_expect_is_assumed(self, op: Case) -> None:
        flags = [value for field, value in op.items() if field not in REMARKS and isinstance(value, bool)]
        if len(flags) > 1:
            raise NotTranslated("several answers")
        pod = self.cast.version(op["pod"]).pod
        check("assumed", self.model.get(lambda: self.cache.is_assumed(pod)), (flags or [True])[0])

    def op_expect_assumed_set(self, op: Case) -> None:
        self.only(op, "pods")
        pods = {v.pod for v in self.cast.pods.values()}
        assumed = self.model.get(lambda: {p: self.cache.is_assumed(p) for p in pods})
        expected = sorted({self.cast.version(key).pod.name for key in op["pods"]})
        check("assumed pods", sorted(p.name for p, is_so in assumed.items() if is_so), expected)

    # --- NodeInfos -------------------------------------------------------------------------------------

    def _has_entry(self, node: Node) -> Any:
        return self.model.get(lambda: self.cache.has_entry(node))

    def op_expect_no_node_entry(self, op: Case) -> None:
        self.only(op, "node")
        check("NodeInfo", self._has_entry(self.cast.node(op["node"])), False)

    def op_expect_ghost_entry(self, op: Case) -> None:
        node = self.cast.node(op["node"])
        check("Node object", self.model.get(lambda: self.cache.live[node]), False)
        self.op_expect_node(op)

    def op_expect_node(self, op: Case) -> None:
        self.only(op, "node", "requested", "nonzero_requested", "pods", "used_ports")
        node = self.cast.node(op["node"])
        check("NodeInfo", self._has_entry(node), True)
        self._check_sums("requested", op.get("requested"), node, self.infos.requested)
        self._check_sums("nonzero_requested", op.get("nonzero_requested"), node, self.infos.nonzero_requested)
        if op.get("pods") is not None:
            versions = set(self.cast.pods.values())
            held = self.model.get(lambda: {v: self.infos.counts(v, node) for v in versions})
            expected = sorted(self.cast.version(key).name for key in op["pods"])
            check("pods", sorted(v.name for v, is_held in held.items() if is_held), expected)
        if op.get("used_ports") is not None:
            used = self.model.get(lambda: {p: self.infos.port[node][p] for p in self.cast.ports})
            found = sorted(
                (p.port.ip, p.port.protocol, p.port.port) for p, is_used in used.items() if is_used
            )
            check("used ports", found, sorted(port_of(p) for p in op["used_ports"]))

    def _check_sums(
        self, what: str, expected: Case | None, node: Node, read: Callable[[Node, str], Any]
    ) -> None:
        wanted: dict[str, int] = {}
        for name, amount in (expected or {}).items():
            if name == "extended":
                asked = {r for pod in self.cast.contents.values() for r in _extended(pod.get("requests"))}
                wanted |= dict.fromkeys(asked, 0) | (amount or {})
            elif name in _BUILT_IN:
                wanted[_BUILT_IN[name]] = amount
            else:
                raise NotTranslated(f"resource {name}")
        check(what, self.model.get(lambda: {name: read(node, name) for name in wanted}), wanted)

    # --- orders ----------------------------------------------------------------------------------------

    def _listed(self, member: Callable[[Node], Any], index: Callable[[Node], Any]) -> list[str]:
        found = self.model.get(lambda: [(n, member(n), index(n)) for n in self.nodes])
        return [n.name for n, is_in, _ in sorted(found, key=lambda row: row[2]) if is_in]

    def _names(self, keys: Sequence[str]) -> list[str]:
        return [self.cast.node(key).name for key in keys]

    def _recent(self) -> list[str]:
        return self._listed(lambda n: self.infos.recent.member[n], lambda n: self.infos.recent.index(n))

    def op_expect_recency_order(self, op: Case) -> None:
        self.only(op, "nodes")
        live = self.model.get(lambda: {n.name: self.cache.live[n] for n in self.nodes})
        check("order", [n for n in self._recent() if live[n]], self._names(op["nodes"]))

    def op_expect_list_head(self, op: Case) -> None:
        self.only(op, "node")
        expected = [] if op.get("node") is None else self._names([op["node"]])
        check("head", self._recent()[:1], expected)

    def op_expect_tree(self, op: Case) -> None:
        self.only(op, "nodes")
        found = self._listed(self.tree.has, self.tree.index)
        check("tree", found, self._names(op["nodes"]))

    def op_expect_generation_increased(self, op: Case) -> None:
        self.only(op, "node")
        node = self.cast.node(op["node"])
        check("changed since the last snapshot", self.model.get(lambda: self.infos.changed[node]), True)

    # --- the snapshot ----------------------------------------------------------------------------------

    def op_expect_snapshot_nodes(self, op: Case) -> None:
        self.only(op, "nodes")
        live = self.model.get(lambda: {n.name: self.snapshot.live[n] for n in self.nodes})
        check("nodes", sorted(n for n, is_in in live.items() if is_in), sorted(self._names(op["nodes"])))

    def op_expect_snapshot_list(self, op: Case) -> None:
        self.only(op, "nodes")
        found = self._listed(lambda n: self.snapshot.listed[n], self.snapshot.index)
        check("list", found, self._names(op["nodes"]))

    def op_expect_snapshot_affinity_nodes(self, op: Case) -> None:
        self.only(op, "count", "nodes")
        found = self.model.get(lambda: {n.name: self.snapshot.has_affinity(n) for n in self.nodes})
        names = sorted(name for name, has in found.items() if has)
        if op.get("count") is None and op.get("nodes") is None:
            raise NotTranslated("neither `count` nor `nodes`")
        if op.get("count") is not None:
            check("nodes with affinity", len(names), op["count"])
        if op.get("nodes") is not None:
            check("nodes with affinity", names, sorted(self._names(op["nodes"])))

    def op_expect_snapshot_used_pvcs(self, op: Case) -> None:
        self.only(op, "keys")
        claims = {claim for v in self.cast.pods.values() for claim in v.footprint.claims}
        used = self.model.get(lambda: {c: self.snapshot.uses_claim(c) for c in claims})
        check(
            "claims in use", sorted(c for c, is_used in used.items() if is_used), sorted(keys_of(op["keys"]))
        )

    def op_expect_snapshot_matches_cache(self, op: Case) -> None:
        self.only(op)
        check("agreement with the cache", self.model.get(self.snapshot.agrees), True)


def _extended(requests: Case | None) -> set[str]:
    return set((requests or {}).get("extended") or {})


def run(case: Case, release: str) -> Outcome:
    """Run a case of `cache.json` on a release."""
    return judged(case, release, lambda: _play(case, release))


def _play(case: Case, release: str) -> None:
    if case.get("kind", "ops") != "ops":
        raise NotTranslated(f"kind {case['kind']}")
    play = CachePlay(case, gather(case, release))
    for number, op in enumerate(case["ops"]):
        play.perform(number, op)


class CachePlay(CacheExpectations):
    """The calls that change the cache or a snapshot."""

    def _call(self, op: Case, call: Callable[[], Any]) -> None:
        failed = self.model.do(call)
        check("error", bool(failed), bool(op.get("expect_error")))

    def op_assume(self, op: Case) -> None:
        self.only(op, "pod", "expect_error")
        version, node = self.cast.version(op["pod"]), self.cast.placed[op["pod"]]
        copy = PodCopy(terminating=self.cast.terminating[op["pod"]])
        self._call(op, lambda: self.cache.assume(version.pod, node, copy, version))

    def op_forget(self, op: Case) -> None:
        self.only(op, "pod", "expect_error")
        pod, node = self.cast.version(op["pod"]).pod, self.cast.placed[op["pod"]]
        self._call(op, lambda: self.cache.forget(pod, node))

    def op_add_pod(self, op: Case) -> None:
        self.only(op, "pod", "expect_error")
        version, new = self.cast.version(op["pod"]), self.cast.object(op["pod"])
        self._call(op, lambda: self.cache.add_pod(version.pod, new, version))

    def op_update_pod(self, op: Case) -> None:
        self.only(op, "old", "new", "expect_error")
        old, version = self.cast.version(op.get("old") or op["new"]), self.cast.version(op["new"])
        if old.pod is not version.pod:
            raise NotTranslated("an update from one pod to another")
        new = self.cast.object(op["new"])
        self._call(op, lambda: self.cache.update_pod(version.pod, new, version))

    def op_remove_pod(self, op: Case) -> None:
        self.only(op, "pod", "expect_error")
        self._call(op, lambda: self.cache.remove_pod(self.cast.version(op["pod"]).pod))

    def op_finish_binding(self, op: Case) -> None:
        self.only(op, "pod", "at", "expect_error")
        pod, now = self.cast.version(op["pod"]).pod, self.cast.timeline.ticks(op.get("at") or 0)
        self._call(op, lambda: self.cache.finish_binding(pod, now, self.cast.timeline.ttl_ticks))

    def op_cleanup(self, op: Case) -> None:
        self.only(op, "at")
        self.model.do(lambda: self.cache.clean_up(self.cast.timeline.ticks(op["at"])))

    def op_add_node(self, op: Case) -> None:
        self.only(op, "node", "expect_error")
        new = self.cast.node_version(op["node"])
        self._call(op, lambda: self.cache.add_node(new.node, new.zone))

    def op_update_node(self, op: Case) -> None:
        self.only(op, "old", "new", "expect_error")
        old = self.cast.node_version(op["old"]).zone if op.get("old") else None
        new = self.cast.node_version(op["new"])
        self._call(op, lambda: self.cache.update_node(new.node, old, new.zone))

    def op_remove_node(self, op: Case) -> None:
        self.only(op, "node", "expect_error")
        old = self.cast.node_version(op["node"])
        self._call(op, lambda: self.cache.remove_node(old.node, old.zone))

    def op_update_snapshot(self, op: Case) -> None:
        self.only(op, "expect_error")
        self._call(op, self.snapshot.update)
