"""Audit logs for tests: lines as kube-apiserver writes them, and the logs of random runs of the model."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from podrace.audit.audit import Asked, audit_logs
from podrace.audit.reading.records import time_text
from podrace.checker.core.interpreter import Interpreter
from podrace.model.environment.objects import Node, Pod
from podrace.model.history import resolve
from podrace.model.language import Expr, State, TransitionSystem
from podrace.properties import instrument
from podrace.properties.placement.bindings import AntiAffinityKept, Capacity
from podrace.properties.scheduling.conditions import BoundPodsSayScheduled
from podrace.reports.audit_report import Answer, AuditReport
from podrace.reproduce.objects import node_object, pod_object
from podrace.reproduce.random_runs.random_runs import Model as _Model
from podrace.reproduce.random_runs.random_runs import Walker
from podrace.reproduce.random_runs.varied_clusters import varied_cluster
from podrace.scenarios import parse_scenario

Object = dict[str, Any]

START = 1_767_225_600_000_000
SECOND = 1_000_000
SCHEDULER = "system:kube-scheduler"


def event(
    verb: str,
    resource: str,
    name: str,
    at: float,
    *,
    until: float | None = None,
    namespace: str = "default",
    code: int = 200,
    request: Object | None = None,
    response: Object | None = None,
    user: str = "admin",
    address: str = "10.0.0.1",
    level: str = "RequestResponse",
    identity: str = "",
    uid: str = "",
    stage: str = "ResponseComplete",
    agent: str = "kube-scheduler/v1.34.2 (linux/amd64) kubernetes/0000000/scheduler",
) -> Object:
    """An audit event; times are seconds since the start, of the request and of its end."""
    kind, _, sub = resource.partition("/")
    group = "coordination.k8s.io" if kind == "leases" else ""
    reference = {"resource": kind, "name": name, "apiVersion": "v1"}
    if kind != "nodes":
        reference["namespace"] = namespace
    reference |= {k: v for k, v in (("subresource", sub), ("apiGroup", group), ("uid", uid)) if v}
    begin, end = (START + round(t * SECOND) for t in (at, at if until is None else until))
    found = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level,
        "auditID": identity or f"{verb}-{resource}-{name}-{at}",
        "stage": stage,
        "requestURI": f"/api/v1/namespaces/{namespace}/{resource.replace('/', f'/{name}/')}",
        "verb": verb,
        "user": {"username": user},
        "sourceIPs": [address],
        "userAgent": agent,
        "objectRef": reference,
        "responseStatus": {"metadata": {}, "code": code},
        "requestReceivedTimestamp": _micro(begin),
        "stageTimestamp": _micro(end),
    }
    if request is not None and level in ("Request", "RequestResponse"):
        found["requestObject"] = request
    if response is not None and level == "RequestResponse":
        found["responseObject"] = response
    return found


def _micro(time: int) -> str:
    return time_text(time)[:-4] + f"{time % SECOND:06}Z"


def node(
    name: str, cpu: str = "2", *, version: int = 1, labels: Mapping[str, str] | None = None, **more: str
) -> Object:
    """A node."""
    return {
        "kind": "Node",
        "metadata": {
            "name": name, "uid": f"uid-{name}", "resourceVersion": str(version),
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
        },
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110", **more}},
    }  # fmt: skip


def pod(
    name: str,
    cpu: str = "1",
    *,
    on: str = "",
    version: int | str = 1,
    uid: str = "",
    phase: str = "",
    **spec: Any,
) -> Object:
    """A pod."""
    status: Object = {"phase": phase or ("Running" if on else "Pending")}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": uid or f"uid-{name}", "resourceVersion": str(version)},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}, "env": [{"name": "TOKEN", "value": "s3cret"}]}],
            **({"nodeName": on} if on else {}), **spec,
        },
        "status": status,
    }  # fmt: skip


def created(name: str, at: float, cpu: str = "1", **more: Any) -> Object:
    """The creation of a pod, without a resourceVersion unless it is given one."""
    more.setdefault("version", "")
    return event("create", "pods", name, at, code=201, response=pod(name, cpu, **more))


def bound(
    name: str, to: str, at: float, *, until: float | None = None, code: int = 201, uid: str = "", **more: Any
) -> Object:
    """A Binding."""
    binding = {
        "kind": "Binding",
        "metadata": {"name": name, "namespace": "default", "uid": uid or f"uid-{name}"},
        "target": {"kind": "Node", "name": to},
    }
    more.setdefault("user", SCHEDULER)
    return event("create", "pods/binding", name, at, until=until, code=code, request=binding, response={"kind": "Status", "status": "Success"}, **more)  # fmt: skip


def deleted(
    name: str, at: float, *, on: str = "", grace: int = 0, until: float | None = None, **more: Any
) -> Object:
    """A DELETE: with grace it only marks the pod."""
    body = pod(name, on=on, **more)
    body["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": grace}
    return event("delete", "pods", name, at, until=until, response=body)


def running(name: str, on: str, at: float, cpu: str = "1", *, version: int = 100, **more: Any) -> Object:
    """The kubelet's status."""
    return event(
        "patch",
        "pods/status",
        name,
        at,
        response=pod(name, cpu, on=on, version=version, **more),
        user="system:node",
    )


def listed(*objects: Object) -> Object:
    """What kubectl prints."""
    return {"kind": "List", "apiVersion": "v1", "items": list(objects)}


def lines(events: Iterable[Object]) -> str:
    """A log."""
    return "".join(json.dumps(e) + "\n" for e in events)


def answered(
    folder: Path,
    events: Sequence[Object] | str,
    initial: Object | None = None,
    complete: bool = True,
    **more: Any,
) -> AuditReport:
    """The answers to a log."""
    log = folder / "audit.log"
    log.write_text(events if isinstance(events, str) else lines(events))
    start = []
    if initial is not None:
        (folder / "start.json").write_text(json.dumps(initial))
        start = [str(folder / "start.json")]
    return audit_logs(Asked([str(log)], start, complete, **more))


def answer(report: AuditReport, identifier: str) -> Answer:
    """One of them."""
    return next(a for a in report.answers if a.property == identifier)


class BoundCapacity(Capacity):
    """S-CAP as far as the API server can see it: without what the scheduler assumes."""

    def _taken(self, node: Node, pod: Pod) -> Expr:
        bound: Expr = self.api.pod[pod].node == node
        return bound


class BoundApart(AntiAffinityKept):
    """S-AFF as far as the API server can see it."""

    def _on(self, pod: Pod, node: Node) -> Expr:
        return (self.api.pod[pod].node == node) & self.api.node_exists[node] & self.api.pod[pod].exists


PROPERTIES = (BoundCapacity, BoundApart, BoundPodsSayScheduled)


@dataclass
class Recorded:
    """What a run wrote at the API server, what there was before it, and what the model says: which properties were violated."""

    events: list[Object]
    initial: Object
    violated: set[str]
    seconds: list[float] = field(default_factory=list)


class Recorder:
    """Random runs of a cluster as audit logs."""

    def __init__(self, number: int, release: str = "1.34.4") -> None:
        scenario = parse_scenario(varied_cluster(number, changing=False, rarer=False), "recorded.yaml")
        composition = resolve(release)
        system = instrument(scenario.spec, composition.classes, list(PROPERTIES))
        self.spec, self.system = scenario.spec, system
        self.walker = Walker(_Model(scenario, composition, system), Counter())
        self.judge = Interpreter(system)

    def run(self, random: Random, most: int = 50, overlap: float = 0.0) -> Recorded:
        """One run. With `overlap`, requests last up to so many seconds before and after their effect."""
        walk = self.walker.walk(random, most)
        states: list[State] = [self.system.initial]
        for number in walk.path:
            states.append(self.walker._steps.successor(states[-1], number))
        violated = {
            name
            for name, holds in self.system.invariants.items()
            if any(not self.judge.holds(holds, state) for state in states)
        }
        return Recorded(*_Writer(self.spec, self.system, random, overlap).log(states), violated)


class _Writer:
    def __init__(self, spec: Any, system: TransitionSystem, random: Random, overlap: float) -> None:
        self.spec, self.system, self.random, self.overlap = spec, system, random, overlap
        self.births: dict[str, int] = {}
        self.version = 1
        self.stored = [(i, v) for i, v in enumerate(system.variables) if v.name.startswith("api.")]

    def log(self, states: Sequence[State]) -> tuple[list[Object], Object]:
        before = self._described(states[0])
        objects = [node_object(n) for n in self.spec.nodes if before[f"api.node_exists[{n.name}]"]]
        objects += [self._body(p, before) for p in self.spec.pods if before[f"api.pod[{p.name}].exists"]]
        events = [
            self._event("patch", "nodes/status", n.name, 0, response=body)
            for n, body in zip(self.spec.nodes, objects, strict=False)
            if body["metadata"]["name"] == n.name
        ]
        for number, state in enumerate(states[1:], 1):
            now = self._described(state)
            for node in self.spec.nodes:
                name = f"api.node_exists[{node.name}]"
                if before[name] != now[name]:
                    verb = "create" if now[name] else "delete"
                    events.append(self._event(verb, "nodes", node.name, number, response=self._node(node)))
            for pod in self.spec.pods:
                events += self._writes(pod, before, now, number)
            before = now
        return events, listed(*objects)

    def _described(self, state: State) -> Mapping[str, Any]:
        """What the API server stores, by the names of variables."""
        decode = self.system.universe.decode
        return {v.name: decode(v.sort, state[i]) for i, v in self.stored}

    def _writes(
        self, pod: Pod, before: Mapping[str, Any], now: Mapping[str, Any], number: int
    ) -> Iterable[Object]:
        def was(fact: str) -> Any:
            return before[f"api.pod[{pod.name}].{fact}"]

        def is_(fact: str) -> Any:
            return now[f"api.pod[{pod.name}].{fact}"]

        facts = ("exists", "node", "nominated", "failed", "terminating", "gated", "version")
        if all(was(f) == is_(f) for f in facts if f"api.pod[{pod.name}].{f}" in now):
            return
        short = pod.name.rpartition("/")[2]
        if not was("exists"):
            self.births[pod.name] = self.births.get(pod.name, 0) + 1
            yield self._event("create", "pods", short, number, response=self._body(pod, now), code=201)
        elif not is_("exists"):
            body = self._body(pod, before)
            body["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
            yield self._event("delete", "pods", short, number, response=body)
        elif was("node") is None and is_("node") is not None:
            binding = {
                "kind": "Binding",
                "metadata": {"name": short, "namespace": pod.namespace, "uid": self._uid(pod)},
                "target": {"kind": "Node", "name": is_("node").name},
            }
            self.version += 1
            yield self._event(
                "create", "pods/binding", short, number, request=binding, code=201, user=SCHEDULER
            )
        elif is_("terminating") and not was("terminating"):
            yield self._event("delete", "pods", short, number, response=self._body(pod, now))
        else:
            status = was("failed") != is_("failed") or was("nominated") != is_("nominated")
            yield self._event(
                "patch", "pods/status" if status else "pods", short, number, response=self._body(pod, now)
            )

    def _event(self, verb: str, resource: str, name: str, number: int, **more: Any) -> Object:
        at = number + self.random.uniform(-self.overlap, 0)
        until = number + self.random.uniform(0, self.overlap)
        return event(
            verb,
            resource,
            name,
            round(at, 6),
            until=round(until, 6),
            identity=f"{number}-{verb}-{resource}-{name}",
            **more,
        )

    def _uid(self, pod: Pod) -> str:
        return f"{pod.uid}-{self.births.get(pod.name, 0)}"

    def _node(self, node: Node) -> Object:
        self.version += 1
        found = node_object(node)
        found["metadata"] |= {"resourceVersion": str(self.version), "uid": f"{node.name}-{self.version}"}
        return found

    def _body(self, pod: Pod, now: Mapping[str, Any]) -> Object:
        def is_(fact: str) -> Any:
            return now[f"api.pod[{pod.name}].{fact}"]

        self.version += 1
        found = pod_object(pod)
        found["metadata"] |= {"uid": self._uid(pod), "resourceVersion": str(self.version)}
        found["spec"].pop("nodeName", None)
        status: Object = {"phase": "Pending"}
        if is_("node") is not None:
            found["spec"]["nodeName"] = is_("node").name
        if is_("nominated") is not None:
            status["nominatedNodeName"] = is_("nominated").name
        if is_("failed"):
            status["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
        if is_("terminating"):
            found["metadata"] |= {
                "deletionTimestamp": "2026-01-01T00:00:00Z",
                "deletionGracePeriodSeconds": 30,
            }
        return {**found, "status": status}
