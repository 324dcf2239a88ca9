"""Races on a real cluster, made to happen by holding a watch and losing a reply; and a run in which nothing is wrong.

In each, two pods of 600m want a node of one CPU, and the first of them is bound while the scheduler that counts does not come to know it. No event is
invented, left out or put before another: what is held comes later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from .binaries import Binaries
from .control_plane import LOOPBACK, ClusterProblem, ControlPlane, Object, free_port, running, until
from .interposer import Interposer, interposed

FIRST_ADDRESS, SECOND_ADDRESS = "127.0.0.2", "127.0.0.3"
_LATE = 0.5
"""Seconds by which a reply comes late or is lost late: so the pod that lost against it in memory waits out its backoff first."""

_PAUSE = Event()


@contextmanager
def scheduler(
    binaries: Binaries, way: Interposer, folder: Path, name: str, lease: int = 3
) -> Iterator[Callable[[], None]]:
    """An unchanged kube-scheduler with leader election that asks through an interposer, until the end of the block; gives what kills it.

    On a machine that has much else to do, who should not lose his lease needs one of more seconds.
    """
    reached = f"http://{LOOPBACK}:{way.port}"
    kubeconfig = folder / f"{name}.kubeconfig"
    kubeconfig.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "loopback",
                "clusters": [{"name": "loopback", "cluster": {"server": reached}}],
                "users": [{"name": "scheduler", "user": {}}],
                "contexts": [{"name": "loopback", "context": {"cluster": "loopback", "user": "scheduler"}}],
            }
        ),
        encoding="utf-8",
    )
    configuration = folder / f"{name}.json"
    configuration.write_text(
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 1000},
                "leaderElection": {
                    "leaderElect": True, "leaseDuration": f"{lease}s", "renewDeadline": f"{lease - 1}s", "retryPeriod": "500ms",
                },
            }
        ),
        encoding="utf-8",
    )  # fmt: skip
    flags = {
        "config": str(configuration),
        "bind-address": LOOPBACK,
        "secure-port": str(free_port()),
        "cert-dir": str(folder / f"{name}-certificates"),
        "v": "5",
    }
    with running(binaries.scheduler, flags, folder / f"{name}.txt") as process:
        yield process.kill


def lost_reply(binaries: Binaries, plane: ControlPlane, folder: Path, _pods: int) -> None:
    """A Binding takes effect, its reply is lost, the watch is late: the scheduler forgets the pod, and gives its room away."""
    with interposed(plane, FIRST_ADDRESS) as way:
        lost: list[str] = []

        def before(method: str, path: str) -> None:
            if _binds(method, path, "first"):
                way.hold_pods()

        def after(method: str, path: str) -> bool:
            if not _binds(method, path, "first") or lost:
                return True
            _PAUSE.wait(_LATE)
            lost.append(path)
            return False

        way.before, way.after = before, after
        add_node(plane, "n", "1")
        _two_pods(plane)
        with scheduler(binaries, way, folder, "scheduler"):
            until(lambda: node_of(plane, "second"), "the second pod is bound as well")
            way.release_pods()
            await_renewal(plane)  # which shows that it led all the time


def hand_over(binaries: Binaries, plane: ControlPlane, folder: Path, _pods: int) -> None:
    """A leader binds a pod and dies; the next one, whose watch is late, does not know of it yet."""
    with interposed(plane, FIRST_ADDRESS) as way, interposed(plane, SECOND_ADDRESS) as other:

        def before(method: str, path: str) -> None:
            if _binds(method, path, "first"):
                _PAUSE.wait(_LATE)  # what was created before is known to both
                other.hold_pods()

        def after(method: str, path: str) -> bool:
            if _binds(method, path, "first"):
                _PAUSE.wait(_LATE)
            return True

        way.before, other.after = before, after
        add_node(plane, "n", "1")
        with scheduler(binaries, way, folder, "leader") as kill:
            until(lambda: holder(plane), "a scheduler leads")
            with scheduler(binaries, other, folder, "successor"):
                until(lambda: other.watches_pods, "the other scheduler watches pods")
                _two_pods(plane)
                until(lambda: node_of(plane, "first"), "the first pod is bound")
                kill()
                until(lambda: node_of(plane, "second"), "the second pod is bound as well")
                other.release_pods()
                await_renewal(plane)


def nothing_wrong(binaries: Binaries, plane: ControlPlane, folder: Path, pods: int) -> None:
    """Many pods are scheduled and run, some finish, and some are deleted, as on any day."""
    with interposed(plane, FIRST_ADDRESS) as way:
        nodes = [f"n{number}" for number in range(pods // 30 + 1)]  # of forty places each
        for node in nodes:
            add_node(plane, node, "4")
        with scheduler(binaries, way, folder, "scheduler", lease=60):
            names = [f"p{number}" for number in range(pods)]
            for name in names:
                add_pod(plane, name, "100m")
            until(lambda: not _waiting(plane), "every pod is bound", 600)
            for node in nodes:
                heartbeat(plane, node)
            for name in names:
                has_phase(plane, name, "Running")
            some = max(2, pods // 10)
            for name in names[1::some]:
                has_phase(plane, name, "Succeeded")
            for name in names[::some]:
                plane.ask("DELETE", f"{_PODS}/{name}", {"gracePeriodSeconds": 0})
            await_renewal(plane)


RACES: dict[str, Callable[[Binaries, ControlPlane, Path, int], None]] = {
    "lost-reply": lost_reply,
    "hand-over": hand_over,
    "nothing-wrong": nothing_wrong,
}

_PATCH = "application/strategic-merge-patch+json"
_PODS = "/api/v1/namespaces/default/pods"


def add_node(plane: ControlPlane, name: str, cpu: str) -> None:
    """A node that is ready, with so much CPU."""
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "",
        "lastHeartbeatTime": None,
    }
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
    plane.ask("POST", "/api/v1/nodes", _object("Node", name) | {"status": status})


def add_pod(plane: ControlPlane, name: str, cpu: str) -> None:
    """A pod of one container that asks for so much CPU."""
    asked = {"requests": {"cpu": cpu}}
    container = {"name": "main", "image": "registry.invalid/none", "resources": asked}
    spec = {"containers": [container], "automountServiceAccountToken": False}
    plane.ask("POST", _PODS, _object("Pod", name) | {"spec": spec})


def has_phase(plane: ControlPlane, pod: str, phase: str) -> None:
    """A kubelet says so of its pod."""
    ready = {"type": "Ready", "status": "True" if phase == "Running" else "False"}
    scheduled = {"type": "PodScheduled", "status": "True"}
    status = {"status": {"phase": phase, "conditions": [ready, scheduled]}}
    plane.ask("PATCH", f"{_PODS}/{pod}/status", status, form=_PATCH)


def heartbeat(plane: ControlPlane, node: str) -> None:
    """A kubelet says that its node is there."""
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "posts its status"}
    plane.ask("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": [ready]}}, form=_PATCH)


def await_renewal(plane: ControlPlane) -> None:
    """Wait until the lease is written again."""
    before = _lease(plane).get("renewTime")
    until(lambda: _lease(plane).get("renewTime") != before, "the lease is written again")


def node_of(plane: ControlPlane, pod: str) -> str | None:
    """Where a pod is bound, as the API server says."""
    found: str | None = plane.ask("GET", f"{_PODS}/{pod}")["spec"].get("nodeName")
    return found


def holder(plane: ControlPlane) -> str | None:
    """Who holds the schedulers' lease."""
    found: str | None = _lease(plane).get("holderIdentity")
    return found


def _lease(plane: ControlPlane) -> Object:
    try:
        lease = plane.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")
    except ClusterProblem:
        return {}
    found: Object = lease["spec"]
    return found


def _two_pods(plane: ControlPlane) -> None:
    add_pod(plane, "first", "600m")
    add_pod(plane, "second", "600m")


def _waiting(plane: ControlPlane) -> bool:
    """Whether a pod is on no node."""
    return bool(plane.ask("GET", f"{_PODS}?fieldSelector=spec.nodeName%3D&limit=1")["items"])


def _binds(method: str, path: str, pod: str) -> bool:
    return method == "POST" and path.split("?")[0].endswith(f"/pods/{pod}/binding")


def _object(kind: str, name: str) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
