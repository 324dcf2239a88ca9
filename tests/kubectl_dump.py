"""A realistic cluster in the form that `kubectl get nodes,pods,pdb,priorityclass -A -o yaml` prints; the same in every run.

Three pools in three zones, system pods on every node, services with anti-affinity and disruption budgets, batch work that
fills what is left, and pods that wait. `python tests/kubectl_dump.py > dump.yaml` prints it; a number makes it that many times
as large, and `sample` prints docs/cluster.yaml.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count

GENERAL, HIGHMEM, GPU = 40, 12, 6
"""Nodes of each pool."""

CLASSES = {
    "batch": (-10, False, "Never"), "normal": (100, True, "PreemptLowerPriority"),
    "service": (1000, False, "PreemptLowerPriority"), "critical": (100000, False, "PreemptLowerPriority"),
    "system-cluster-critical": (2000000000, False, "PreemptLowerPriority"),
    "system-node-critical": (2000001000, False, "PreemptLowerPriority"),
}  # fmt: skip


def uid(text: str) -> str:
    """A uid as the API server gives."""
    h = sha256(text.encode()).hexdigest()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-8{h[17:20]}-{h[20:32]}"


def suffix(text: str, length: int = 5) -> str:
    """The random end of a generated name."""
    return "".join("bcdfghjklmnpqrstvwxz2456789"[b % 27] for b in sha256(text.encode()).digest()[:length])


@dataclass
class Machine:
    """A node while the cluster is filled."""

    name: str
    pool: str
    zone: str
    cpu: int
    memory: int  # MiB
    gpus: int = 0
    pods: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class App:
    """A workload: what its pods look like."""

    namespace: str
    name: str
    kind: str
    priority_class: str
    cpu: int
    memory: int
    gpus: int = 0
    pool: str = ""
    apart: bool = False
    grace: int = 30


APPS = {
    "proxy": App("kube-system", "kube-proxy", "DaemonSet", "system-node-critical", 100, 64),
    "exporter": App("monitoring", "node-exporter", "DaemonSet", "system-cluster-critical", 100, 128),
    "dns": App("kube-system", "coredns", "ReplicaSet", "system-cluster-critical", 100, 170, apart=True),
    "web": App("shop", "web", "ReplicaSet", "service", 500, 512),
    "api": App("shop", "api", "ReplicaSet", "service", 1000, 1024),
    "search": App("shop", "search", "ReplicaSet", "service", 1500, 4096, apart=True),
    "db": App(
        "data", "postgres", "StatefulSet", "service", 4000, 32768, pool="highmem", apart=True, grace=120
    ),
    "report": App("batch", "report", "Job", "batch", 2000, 2048),
    "notebook": App("ml", "notebook", "StatefulSet", "normal", 1000, 8192, gpus=2, pool="gpu"),
    "checkout": App("shop", "checkout", "ReplicaSet", "critical", 3000, 2048),
    "payment": App("shop", "payment", "ReplicaSet", "critical", 2000, 1024),
    "train": App("ml", "train", "Job", "service", 2000, 16384, gpus=4, pool="gpu"),
}
BUDGETS = {"web": 3, "search": 1, "db": 0, "dns": 1, "notebook": 0}


class Dump:
    """Fills the machines and prints every object."""

    def __init__(self, scale: int = 1) -> None:
        self.machines = [
            Machine(f"ip-10-0-{n // 200}-{n % 200}.internal", pool, "abc"[n % 3], cpu, memory, gpus)
            for n, (pool, cpu, memory, gpus) in enumerate(
                scale
                * (
                    [("general", 7910, 30000, 0)] * GENERAL
                    + [("highmem", 15890, 126000, 0)] * HIGHMEM
                    + [("gpu", 7910, 60000, 4)] * GPU
                )
            )
        ]
        self.scale = scale
        self.numbers = count()

    def lines(self) -> Iterator[str]:
        """The whole text."""
        yield "apiVersion: v1\nitems:\n"
        for m in self.machines:
            yield node_text(m)
        for i, m in enumerate(self.machines):
            yield self.put("proxy", m, i)
            yield self.put("exporter", m, i)
        for app, number in {"dns": 3, "db": 9, "web": 100, "api": 60, "search": 24, "notebook": 9}.items():
            for i in range(number * self.scale):
                yield self.somewhere(app, i)
        i = 0
        for m in self.machines:
            while m.pool != "gpu" and m.cpu >= APPS["report"].cpu and i < 190 * self.scale:
                yield self.put("report", m, i)
                i += 1
        for app, number in {"checkout": 4, "payment": 3, "train": 1, "report": 12, "search": 2}.items():
            for j in range(number * self.scale):
                yield pod_text(APPS[app], 1000 * self.scale + j, None, next(self.numbers))
        for j in range(20 * self.scale):
            yield pod_text(
                APPS["report"],
                5000 * self.scale + j,
                self.machines[j % GENERAL],
                next(self.numbers),
                "Succeeded",
            )
        for app, allowed in BUDGETS.items():
            yield budget_text(APPS[app], allowed)
        for name, (value, default, policy) in CLASSES.items():
            yield class_text(name, value, default, policy)
        yield 'kind: List\nmetadata:\n  resourceVersion: ""\n'

    def somewhere(self, name: str, number: int) -> str:
        """A pod on the first node that has room, beginning at another node each time."""
        app = APPS[name]
        start = number * 7
        for k in range(len(self.machines)):
            m = self.machines[(start + k) % len(self.machines)]
            right = m.pool == (app.pool or "general") or (not app.pool and m.pool == "highmem")
            alone = not app.apart or name not in m.pods
            if right and alone and m.cpu >= app.cpu and m.memory >= app.memory and m.gpus >= app.gpus:
                return self.put(name, m, number)
        raise AssertionError(f"no room for {name} {number}")

    def put(self, name: str, m: Machine, number: int) -> str:
        """A pod on a node."""
        app = APPS[name]
        m.cpu, m.memory, m.gpus = m.cpu - app.cpu, m.memory - app.memory, m.gpus - app.gpus
        m.pods.add(name)
        return pod_text(app, number, m, next(self.numbers))


def node_text(m: Machine) -> str:
    """A Node."""
    gpu = f'      nvidia.com/gpu: "{m.gpus}"\n' if m.gpus else ""
    taint = (
        '    taints:\n    - effect: NoSchedule\n      key: nvidia.com/gpu\n      value: "true"\n'
        if m.gpus
        else ""
    )
    return f"""- apiVersion: v1
  kind: Node
  metadata:
    annotations:
      node.alpha.kubernetes.io/ttl: "0"
      volumes.kubernetes.io/controller-managed-attach-detach: "true"
    creationTimestamp: "2026-03-01T08:00:00Z"
    labels:
      beta.kubernetes.io/arch: amd64
      kubernetes.io/arch: amd64
      kubernetes.io/hostname: {m.name}
      kubernetes.io/os: linux
      node.example.com/pool: {m.pool}
      topology.kubernetes.io/region: region-1
      topology.kubernetes.io/zone: region-1{m.zone}
    name: {m.name}
    resourceVersion: "81234567"
    uid: {uid(m.name)}
  spec:
    podCIDR: 10.244.0.0/24
    providerID: cloud:///region-1{m.zone}/{suffix(m.name, 12)}
{taint}  status:
    addresses:
    - address: {m.name}
      type: Hostname
    allocatable:
      cpu: {m.cpu}m
      ephemeral-storage: "95551679124"
      hugepages-1Gi: "0"
      hugepages-2Mi: "0"
      memory: {m.memory * 1024}Ki
{gpu}      pods: "58"
    capacity:
      cpu: "{m.cpu // 1000 + 1}"
      ephemeral-storage: 104845292Ki
      hugepages-1Gi: "0"
      hugepages-2Mi: "0"
      memory: {(m.memory + 1000) * 1024}Ki
{gpu}      pods: "58"
    conditions:
    - lastHeartbeatTime: "2026-03-02T08:00:00Z"
      lastTransitionTime: "2026-03-01T08:00:00Z"
      message: kubelet has sufficient memory available
      reason: KubeletHasSufficientMemory
      status: "False"
      type: MemoryPressure
    - lastHeartbeatTime: "2026-03-02T08:00:00Z"
      lastTransitionTime: "2026-03-01T08:00:00Z"
      message: kubelet is posting ready status
      reason: KubeletReady
      status: "True"
      type: Ready
    nodeInfo:
      architecture: amd64
      kubeletVersion: v1.37.0
      operatingSystem: linux
"""


def pod_text(app: App, number: int, m: Machine | None, serial: int, phase: str = "") -> str:
    """A Pod."""
    set_name = f"{app.name}-{suffix(app.name, 9)}" if app.kind == "ReplicaSet" else app.name
    end = str(number) if app.kind == "StatefulSet" else suffix(f"{app.name} {number}")
    name = f"{set_name}-{end}"
    value = CLASSES[app.priority_class][0]
    policy = CLASSES[app.priority_class][2]
    apart = (
        f"""    affinity:
      podAntiAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
        - labelSelector:
            matchLabels:
              app: {app.name}
          topologyKey: kubernetes.io/hostname
"""
        if app.apart
        else ""
    )
    gpu = f'          nvidia.com/gpu: "{app.gpus}"\n' if app.gpus else ""
    where = f"    nodeName: {m.name}\n" if m else ""
    pool = f"    nodeSelector:\n      node.example.com/pool: {app.pool}\n" if app.pool else ""
    tolerate = (
        "    - effect: NoSchedule\n      key: nvidia.com/gpu\n      operator: Exists\n" if app.gpus else ""
    )
    if app.kind == "DaemonSet":
        tolerate = "    - operator: Exists\n"
    start = f"2026-03-{1 + serial % 27:02}T{serial % 24:02}:{serial % 60:02}:00Z"
    waits = (
        ""
        if m
        else "      message: '0/58 nodes are available: insufficient cpu.'\n      reason: Unschedulable\n"
    )
    status = f"""  status:
    conditions:
    - lastProbeTime: null
      lastTransitionTime: "{start}"
{waits}      status: "{bool(m)}"
      type: PodScheduled
""" + (
        f"""    containerStatuses:
    - containerID: containerd://{sha256(name.encode()).hexdigest()}
      image: example/{app.name}:1.4.2
      imageID: example/{app.name}@sha256:{sha256(app.name.encode()).hexdigest()}
      lastState: {{}}
      name: {app.name}
      ready: true
      restartCount: 0
      started: true
      state:
        running:
          startedAt: "{start}"
    hostIP: 10.0.0.{serial % 250}
    phase: {phase or "Running"}
    podIP: 10.244.{serial // 250}.{serial % 250}
    podIPs:
    - ip: 10.244.{serial // 250}.{serial % 250}
    qosClass: Burstable
    startTime: "{start}"
"""
        if m
        else "    phase: Pending\n    qosClass: Burstable\n"
    )
    return f"""- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      prometheus.io/scrape: "true"
    creationTimestamp: "{start}"
    generateName: {set_name}-
    labels:
      app: {app.name}
      pod-template-hash: {suffix(app.name, 9)}
    name: {name}
    namespace: {app.namespace}
    ownerReferences:
    - apiVersion: apps/v1
      blockOwnerDeletion: true
      controller: true
      kind: {app.kind}
      name: {set_name}
      uid: {uid(app.kind + set_name)}
    resourceVersion: "{80000000 + serial}"
    uid: {uid(f"pod {serial}")}
  spec:
{apart}    containers:
    - env:
      - name: POD_NAME
        valueFrom:
          fieldRef:
            apiVersion: v1
            fieldPath: metadata.name
      image: example/{app.name}:1.4.2
      imagePullPolicy: IfNotPresent
      livenessProbe:
        failureThreshold: 3
        httpGet:
          path: /healthz
          port: 8080
          scheme: HTTP
        periodSeconds: 10
        successThreshold: 1
        timeoutSeconds: 1
      name: {app.name}
      ports:
      - containerPort: 8080
        protocol: TCP
      resources:
        limits:
          memory: {app.memory}Mi
{gpu}        requests:
          cpu: {app.cpu}m
          memory: {app.memory}Mi
{gpu}      terminationMessagePath: /dev/termination-log
      terminationMessagePolicy: File
      volumeMounts:
      - mountPath: /var/run/secrets/kubernetes.io/serviceaccount
        name: kube-api-access-{suffix(name)}
        readOnly: true
    dnsPolicy: ClusterFirst
    enableServiceLinks: true
{where}{pool}    preemptionPolicy: {policy}
    priority: {value}
    priorityClassName: {app.priority_class}
    restartPolicy: Always
    schedulerName: default-scheduler
    securityContext: {{}}
    serviceAccount: default
    serviceAccountName: default
    terminationGracePeriodSeconds: {app.grace}
    tolerations:
{tolerate}    - effect: NoExecute
      key: node.kubernetes.io/not-ready
      operator: Exists
      tolerationSeconds: 300
    - effect: NoExecute
      key: node.kubernetes.io/unreachable
      operator: Exists
      tolerationSeconds: 300
    volumes:
    - name: kube-api-access-{suffix(name)}
      projected:
        defaultMode: 420
        sources:
        - serviceAccountToken:
            expirationSeconds: 3607
            path: token
        - configMap:
            items:
            - key: ca.crt
              path: ca.crt
            name: kube-root-ca.crt
{status}"""


def budget_text(app: App, allowed: int) -> str:
    """A PodDisruptionBudget."""
    return f"""- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata:
    creationTimestamp: "2026-03-01T08:00:00Z"
    generation: 1
    name: {app.name}
    namespace: {app.namespace}
    resourceVersion: "81000000"
    uid: {uid(f"pdb {app.name}")}
  spec:
    maxUnavailable: 1
    selector:
      matchExpressions:
      - key: app
        operator: In
        values:
        - {app.name}
  status:
    conditions:
    - lastTransitionTime: "2026-03-01T08:00:00Z"
      message: ""
      observedGeneration: 1
      reason: SufficientPods
      status: "True"
      type: DisruptionAllowed
    currentHealthy: 3
    desiredHealthy: 2
    disruptionsAllowed: {allowed}
    expectedPods: 3
    observedGeneration: 1
"""


def class_text(name: str, value: int, default: bool, policy: str) -> str:
    """A PriorityClass."""
    given = "  globalDefault: true\n" if default else ""
    return f"""- apiVersion: scheduling.k8s.io/v1
  description: pods of class {name}
{given}  kind: PriorityClass
  metadata:
    creationTimestamp: "2026-03-01T08:00:00Z"
    generation: 1
    name: {name}
    resourceVersion: "300"
    uid: {uid(f"class {name}")}
  preemptionPolicy: {policy}
  value: {value}
"""


def dump(scale: int = 1) -> str:
    """The text of the whole dump."""
    return "".join(Dump(scale).lines())


def sample() -> str:
    """The text of docs/cluster.yaml: three nodes, whose batch work is in the way of what waits."""
    small = Dump()
    small.machines = [Machine(f"worker-{i}", "general", "abc"[i], 4000, 16000) for i in range(3)]
    placed = [("proxy", 0), ("proxy", 1), ("proxy", 2), ("web", 0), ("web", 1), ("web", 2)]
    placed += [("search", 1), ("search", 2), ("report", 0)]
    parts = [node_text(m) for m in small.machines]
    parts += [small.put(app, small.machines[i], i) for app, i in placed]
    parts += [pod_text(APPS[app], 1000 + i, None, 100 + i) for i, app in enumerate(("checkout", "payment"))]
    parts += [budget_text(APPS[app], allowed) for app, allowed in (("web", 1), ("search", 0))]
    parts += [class_text(name, *fields) for name, fields in CLASSES.items()]
    return "apiVersion: v1\nitems:\n" + "".join(parts) + 'kind: List\nmetadata:\n  resourceVersion: ""\n'


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else "1"
    sys.stdout.write(sample() if wanted == "sample" else dump(int(wanted)))
