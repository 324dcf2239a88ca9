"""What a case of the cache's table is about, as entities of the model: pods and their versions, nodes, zones, ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import Any

from ...model.environment.objects import Node, Pod, PodObject
from ...model.history import resolve
from ...model.language import Concrete, Model, Universe, build
from ...model.language.component import part_classes
from ...model.scheduler import Cache, IncrementalSnapshot, NodeInfos, NodeTree, Snapshot
from ...model.scheduler.node_info import CPU, EPHEMERAL, MEMORY, Footprint, HostPort, PodVersion
from ...model.scheduler.zones import Zone, zone_key, zones_named
from .outcome import Case


class NotCovered(Exception):
    """The case uses something that the model or this runner does not have."""


class CacheTable(Model):
    """The parts of the scheduler that the table is about."""

    cache: Cache
    node_infos: NodeInfos
    node_tree: NodeTree
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class TimedScope:
    """Time in ticks, from 0 to `latest_deadline`."""

    latest_deadline: int


@dataclass(frozen=True, slots=True)
class NodeVersion:
    """A node object."""

    node: Node
    zone: Zone


@dataclass(frozen=True)
class Cast:
    """The model of a case in its initial state, and what the case's keys stand for."""

    model: Concrete
    pods: Mapping[str, PodVersion]
    placed: Mapping[str, Node]
    terminating: Mapping[str, bool]
    contents: Mapping[str, Any]
    nodes: Mapping[str, NodeVersion]
    by_name: Mapping[str, Node]
    ports: tuple[HostPort, ...]
    ticks_per_second: int
    ttl: int

    def ticks(self, seconds: Any) -> int:
        """A time of the case in ticks."""
        return int(Fraction(str(seconds)) * self.ticks_per_second)

    def node(self, text: str) -> Node:
        """The node that a name or a key stands for."""
        if text in self.by_name:
            return self.by_name[text]
        if text in self.nodes:
            return self.nodes[text].node
        raise NotCovered(f"unknown node {text}")

    def object(self, key: str) -> PodObject:
        """The object behind a key, as a watch delivers it."""
        return PodObject(exists=True, node=self.placed[key], terminating=self.terminating[key])

    def version(self, key: str) -> PodVersion:
        """The pod object behind a key; equal objects of one pod are one version."""
        if key not in self.pods:
            raise NotCovered(f"unknown pod {key}")
        return self.pods[key]

    def node_version(self, key: str) -> NodeVersion:
        """The node object behind a key."""
        if key not in self.nodes:
            raise NotCovered(f"unknown node {key}")
        return self.nodes[key]


def gather(case: Case, release: str) -> Cast:
    """Everything that a case names."""
    pods, nodes = case.get("pods") or {}, case.get("nodes") or {}
    names = dict.fromkeys(n["name"] for n in nodes.values())
    names.update(dict.fromkeys(p.get("nodeName") or "" for p in pods.values()))
    known = {*names, *nodes}
    names.update(dict.fromkeys(op["node"] for op in case["ops"] if op.get("node") not in {*known, None}))
    by_name = {name: Node(i, name, 0, exists=False) for i, name in enumerate(names)}
    zones = {zone.name: zone for zone in zones_named(["", *(_zone(n) for n in nodes.values())])}
    versions = {k: NodeVersion(by_name[n["name"]], zones[_zone(n)]) for k, n in nodes.items()}

    ports = _ports(pods)
    entities: dict[str, Pod] = {}
    found: dict[str, PodVersion] = {}
    made: list[tuple[Any, PodVersion]] = []
    for key, pod in pods.items():
        uid = pod.get("uid") or f"{pod.get('namespace', '')}/{pod['name']}"
        entity = entities.setdefault(uid, Pod(len(entities), uid, 0, exists=False))
        same = next((v for p, v in made if p == pod), None)
        if same is None:
            same = PodVersion(len(made), key, entity, _footprint(pod, ports))
            made.append((pod, same))
        found[key] = same

    times = [op["at"] for op in case["ops"] if "at" in op]
    ttl = (case.get("params") or {}).get("assume_ttl_s") or 0
    scale = lcm(*(Fraction(str(t)).denominator for t in [*times, ttl]))
    ticks = [int(Fraction(str(t)) * scale) for t in [*times, ttl]]
    universe = Universe(
        {
            Pod: tuple(entities.values()),
            Node: tuple(by_name.values()),
            Zone: tuple(zones.values()),
            PodVersion: tuple(v for _, v in made),
            HostPort: tuple(ports.values()),
        },
        TimedScope(max([0, *ticks]) + max(0, ticks[-1])),
    )
    return Cast(
        model=Concrete(build(CacheTable, universe, _changes(release))),
        pods=found,
        placed={k: by_name[p.get("nodeName") or ""] for k, p in pods.items()},
        terminating={k: bool(p.get("terminating")) for k, p in pods.items()},
        contents=pods,
        nodes=versions,
        by_name=by_name,
        ports=tuple(ports.values()),
        ticks_per_second=scale,
        ttl=ticks[-1],
    )


def _changes(release: str) -> list[Any]:
    own = tuple(part_classes(CacheTable).values())
    return [*(c for c in resolve(release).classes if issubclass(c, own)), IncrementalSnapshot]


def _zone(node: Case) -> str:
    return zone_key(node.get("labels") or {}) or node.get("zone") or ""


# --- what a pod adds to its node ---------------------------------------------------------------------------


def port_of(port: Case) -> tuple[str, str, int]:
    """A host port with the defaults filled in."""
    return port.get("ip") or "0.0.0.0", port.get("protocol") or "TCP", port["port"]


def _port_list(pod: Case) -> Iterator[tuple[str, str, int]]:
    for port in pod.get("hostPorts") or ():
        if port.get("port", 0) > 0:
            yield port_of(port)


def _ports(pods: Mapping[str, Case]) -> dict[tuple[str, str, int], HostPort]:
    found = dict.fromkeys(port for pod in pods.values() for port in _port_list(pod))
    return {port: HostPort(i, *port) for i, port in enumerate(found)}


def requests(amounts: Mapping[str, Any]) -> dict[str, int]:
    """Requests in the model's names. A zero says that nothing was requested; fractions of a byte round up."""
    named = {
        CPU: amounts.get("cpu_milli"),
        MEMORY: amounts.get("memory_bytes"),
        EPHEMERAL: amounts.get("ephemeral_bytes"),
        **(amounts.get("extended") or {}),
    }
    return {name: ceil(amount) for name, amount in named.items() if amount}


def _footprint(pod: Case, ports: Mapping[tuple[str, str, int], HostPort]) -> Footprint:
    return Footprint(
        containers=(requests(pod.get("requests") or {}),),
        ports=tuple(ports[port] for port in _port_list(pod)),
        claims=frozenset(f"{pod.get('namespace', '')}/{claim}" for claim in pod.get("pvcs") or ()),
        affinity=pod.get("affinity") is not None or pod.get("antiAffinity") is not None,
    )
