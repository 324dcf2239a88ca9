"""What a case of the cache's table is about, as entities of the model: pods and their versions, nodes, zones, ports."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import Any

from podrace.model.environment.cluster import node_versions
from podrace.model.environment.cluster.footprint import CPU, EPHEMERAL, MEMORY, Footprint, UsedPort
from podrace.model.environment.cluster.pod_versions import PodVersion
from podrace.model.environment.cluster.scope import Facts, Scope
from podrace.model.environment.objects import HostPort, Node, Pod, PodObject
from podrace.model.environment.storage.volumes import CountedClaim
from podrace.model.history import resolve
from podrace.model.language import Component, Concrete, Model, Universe, Value, build
from podrace.model.language.declarations.component import part_classes
from podrace.model.scheduler import Cache, IncrementalSnapshot, NodeInfos, NodeTree, Snapshot
from podrace.model.scheduler.cache.order import Zone, zone_key, zones_named
from tests.conformance.cases.cases import Case, NotTranslated
from tests.conformance.cases.read_fields import refuse_unread
from tests.conformance.cases.shapes import AMOUNTS, refuse_parts

PortKey = tuple[str, str, int]


class NoGroups(Component):
    """What the cache tells the states of groups of a pod: no row of the table has a group."""

    def assume(self, pod: Pod) -> None:
        """The pod is assumed."""

    def forget(self, pod: Pod) -> None:
        """The pod is assumed no more."""

    def confirm(self, pod: Pod, assumed: Value) -> None:
        """The watch shows the pod on a node."""

    def refresh(self, pod: Pod) -> None:
        """The watch shows a pod that has a node anew."""

    def remove(self, pod: Pod) -> None:
        """The pod is gone."""


class CacheTable(Model):
    """The parts of the scheduler that the table is about."""

    cache: Cache
    pod_group_states: NoGroups
    node_infos: NodeInfos
    node_tree: NodeTree
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Timeline:
    """The times of a case, in seconds, and how many ticks make a second, so that each time is a whole number."""

    start: Fraction
    latest: Fraction
    ttl: Fraction
    scale: int

    def ticks(self, seconds: Any) -> int:
        """A time of the case in ticks."""
        return int((Fraction(str(seconds)) - self.start) * self.scale)

    @property
    def ttl_ticks(self) -> int:
        """How long a bound pod stays assumed, in ticks."""
        return int(self.ttl * self.scale)

    @property
    def end(self) -> int:
        """The latest deadline possible."""
        return self.ticks(self.latest) + self.ttl_ticks


@dataclass(frozen=True, slots=True)
class NodeVersion:
    """A node object."""

    node: Node
    zone: Zone


@dataclass(frozen=True)
class CacheCast:
    """The model of a case in its initial state, and what the case's keys stand for."""

    model: Concrete
    pods: Mapping[str, PodVersion]
    placed: Mapping[str, Node]
    terminating: Mapping[str, bool]
    contents: Mapping[str, Any]
    nodes: Mapping[str, NodeVersion]
    by_name: Mapping[str, Node]
    ports: tuple[UsedPort, ...]
    timeline: Timeline

    def node(self, text: str) -> Node:
        """The node that a name or a key stands for."""
        if text in self.by_name:
            return self.by_name[text]
        if text in self.nodes:
            return self.nodes[text].node
        raise NotTranslated(f"unknown node {text}")

    def object(self, key: str) -> PodObject:
        """The object behind a key, as a watch delivers it."""
        return PodObject(exists=True, node=self.placed[key], terminating=self.terminating[key])

    def version(self, key: str) -> PodVersion:
        """The pod object behind a key; equal objects of one pod are one version."""
        if key not in self.pods:
            raise NotTranslated(f"unknown pod {key}")
        return self.pods[key]

    def node_version(self, key: str) -> NodeVersion:
        """The node object behind a key."""
        if key not in self.nodes:
            raise NotTranslated(f"unknown node {key}")
        return self.nodes[key]


def gather(case: Case, release: str) -> CacheCast:
    """Everything that a case names."""
    pods, nodes = case.get("pods") or {}, case.get("nodes") or {}
    for key, facts in pods.items():
        refuse_parts(f"pods.{key}", facts)
        refuse_unread(f"pods.{key}.requests.", facts.get("requests") or {}, AMOUNTS)
    by_name = {n: Node(i, n, 0, exists=False) for i, n in enumerate(_node_names(case))}
    zones = {zone.name: zone for zone in zones_named(["", *(_zone(n) for n in nodes.values())])}
    ports = {
        p: UsedPort(i, HostPort(p[2], p[1], p[0]))
        for i, p in enumerate(dict.fromkeys(_host_ports(pods.values())))
    }
    versions = _versions(pods, ports)
    timeline = _timeline(case)
    universe = Universe(
        {
            Pod: tuple(dict.fromkeys(v.pod for v in versions.values())),
            Node: tuple(by_name.values()),
            Zone: tuple(zones.values()),
            PodVersion: tuple(dict.fromkeys(versions.values())),
            UsedPort: tuple(ports.values()),
            node_versions.NodeVersion: (),
            CountedClaim: (),
        },
        Scope(node_deletions=1, facts=Facts(latest_deadline=timeline.end)),
    )
    return CacheCast(
        model=Concrete(build(CacheTable, universe, _changes(release))),
        pods=versions,
        placed={k: by_name[p.get("nodeName") or ""] for k, p in pods.items()},
        terminating={k: bool(p.get("terminating")) for k, p in pods.items()},
        contents=pods,
        nodes={k: NodeVersion(by_name[n["name"]], zones[_zone(n)]) for k, n in nodes.items()},
        by_name=by_name,
        ports=tuple(ports.values()),
        timeline=timeline,
    )


def _node_names(case: Case) -> list[str]:
    """Nodes are named by their objects, by pods that are on them, and by expectations."""
    nodes = case.get("nodes") or {}
    names = [n["name"] for n in nodes.values()]
    names += [p.get("nodeName") or "" for p in (case.get("pods") or {}).values()]
    names += [op["node"] for op in case["ops"] if op.get("node") is not None and op["node"] not in nodes]
    return list(dict.fromkeys(names))


def _versions(pods: Mapping[str, Case], ports: Mapping[PortKey, UsedPort]) -> dict[str, PodVersion]:
    """For each key its object, and for each identity its pod."""
    entities: dict[str, Pod] = {}
    found: dict[str, PodVersion] = {}
    made: list[tuple[Case, PodVersion]] = []
    for key, pod in pods.items():
        uid = pod.get("uid") or f"{pod.get('namespace', '')}/{pod['name']}"
        entity = entities.setdefault(uid, Pod(len(entities), uid, 0, exists=False))
        version = next((v for known, v in made if known == pod), None)
        if version is None:
            version = PodVersion(len(made), key, entity, _footprint(pod, ports))
            made.append((pod, version))
        found[key] = version
    return found


def _timeline(case: Case) -> Timeline:
    times = [Fraction(str(op["at"])) for op in case["ops"] if "at" in op]
    ttl = Fraction(str((case.get("params") or {}).get("assume_ttl_s") or 0))
    return Timeline(
        start=min([Fraction(0), *times]),
        latest=max([Fraction(0), *times]),
        ttl=ttl,
        scale=lcm(*(t.denominator for t in [*times, ttl])),
    )


def _changes(release: str) -> list[Any]:
    own = tuple(part_classes(CacheTable).values())
    whole = [c for c in resolve(release).classes if issubclass(c, own) and not _needs_more(c)]
    return [*whole, IncrementalSnapshot]


def _needs_more(change: type[Any]) -> bool:
    """Whether a change asks parts that a cache has not beside it."""
    return not inspect.get_annotations(change).keys() <= set(part_classes(CacheTable))


def _zone(node: Case) -> str:
    return zone_key(node.get("labels") or {}) or node.get("zone") or ""


# --- what a pod adds to its node ---------------------------------------------------------------------------


def port_of(port: Case) -> PortKey:
    """A host port with the defaults filled in."""
    return port.get("ip") or "0.0.0.0", port.get("protocol") or "TCP", port["port"]


def _host_ports(pods: Iterable[Case]) -> list[PortKey]:
    return [port_of(p) for pod in pods for p in pod.get("hostPorts") or () if p.get("port", 0) > 0]


def _claims(pod: Case) -> frozenset[str]:
    return frozenset(c if "/" in c else f"{pod.get('namespace', '')}/{c}" for c in pod.get("pvcs") or ())


def requests(amounts: Mapping[str, Any]) -> dict[str, int]:
    """Requests in the model's names. A zero says that nothing was requested; fractions of a byte round up."""
    named = {
        CPU: amounts.get("cpu_milli"),
        MEMORY: amounts.get("memory_bytes"),
        EPHEMERAL: amounts.get("ephemeral_bytes"),
        **(amounts.get("extended") or {}),
    }
    return {name: ceil(amount) for name, amount in named.items() if amount}


def _footprint(pod: Case, ports: Mapping[PortKey, UsedPort]) -> Footprint:
    return Footprint(
        containers=(requests(pod.get("requests") or {}),),
        ports=tuple(ports[port] for port in _host_ports([pod])),
        claims=_claims(pod),
        affinity=pod.get("affinity") is not None or pod.get("antiAffinity") is not None,
    )
