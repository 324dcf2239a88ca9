"""Random small clusters for lockstep, as scenario files: one to three nodes that may change, two to four pods, and every fault once or twice.

A number determines a cluster. Half of them have something rarer besides (`rarer_things.py`). What is drawn is what the model knows of pods and nodes; most clusters have little of it, so that steps
interleave rather than be refused.
"""

from collections.abc import Iterator
from random import Random

from .rarer_things import RarerThings

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"

FAULTS = (
    "node_deletions", "node_creations", "pod_deletions", "bind_failures", "lost_replies", "write_failures", "status_failures",
    "plugin_errors", "permit_rejections", "restarts", "leader_changes", "external_binds", "relists",
)  # fmt: skip

_SELECTS_X = "labelSelector: {matchLabels: {app: x}}"


def varied_cluster(number: int, *, changing: bool = True, rarer: bool = True) -> str:
    """The scenario file of this number; `changing` off: without updates of nodes, and without finalizers; `rarer` off: without what is rarer."""
    changes = Random(f"changes {number}") if changing else None
    rare = Random(f"rarer {number}") if rarer else None
    return _Drawing(Random(number), changes, rare).text(f"varied-{number}")


class _Drawing:
    """`changes` draws how nodes change and who has finalizers, apart from the rest; `rare` what is rarer."""

    def __init__(self, random: Random, changes: Random | None, rare: Random | None) -> None:
        self.random, self.rare = random, rare
        self.changing = changes is not None and changes.random() < 0.4
        self.changes = changes or Random(0)
        self.finalizers = changes is not None
        self.nodes = [f"n{i + 1}" for i in range(random.choice((1, 2, 2, 3)))]
        self.cpus = {name: random.choice((1, 2, 2, 3)) for name in self.nodes}
        self.tainted = self.chance(0.15)
        self.zones = self.chance(0.4)
        self.points: set[str] = set()

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def text(self, name: str) -> str:
        later = self.nodes[-1] if len(self.nodes) > 1 and self.chance(0.2) else None
        lines = [f"name: {name}", "nodes:"]
        lines += [f"  {node}: {{{', '.join(self._node(node, node == later))}}}" for node in self.nodes]
        lines.append("pods:")
        room = {node: cpu for node, cpu in self.cpus.items() if node != later}
        protected = self.chance(0.2)
        rarer = None if self.rare is None else RarerThings(self.rare, protected)
        there = []
        for i in range(self.random.choice((2, 2, 3, 3, 4))):
            fields = self._pod(i, room, protected)
            if "exists: false" not in fields:
                there.append(f"p{i + 1}")
            if rarer is not None:
                fields += rarer.of_pod(*_known(fields))
            lines.append(f"  p{i + 1}: {{{', '.join(fields)}}}")
        lines += (
            [f"  {pod}" for pod in rarer.second_pods(there, max(self.cpus.values()))]
            if rarer is not None
            else []
        )
        allowed = 0
        if protected:
            allowed = self.random.randint(0, 1)
            lines.append("podDisruptionBudgets:")
            lines.append(f"  b: {{selector: {{matchLabels: {{app: x}}}}, disruptionsAllowed: {allowed}}}")
        scope = {
            "pod_events": self.random.randint(2, 4),
            "node_events": 2,
            "file_order": "true",  # the driver queues pods in it
            **({"node_updates": self.changes.randint(1, 3)} if self.changing else {}),
            **{fault: self.random.randint(1, 2) for fault in self._faults() if self.chance(0.6)},
            **dict(rarer.scope(any("nodeName" in line for line in lines) or not allowed) if rarer else ()),
        }
        lines.append(f"scope: {{{', '.join(f'{name}: {value}' for name, value in scope.items())}}}")
        return "\n".join(lines) + "\n"

    def _node(self, node: str, later: bool) -> list[str]:
        fields = [f"cpu: {self.cpus[node]}"]
        if self.zones:
            fields.append(f"labels: {{{ZONE}: {self.random.choice('ab')}}}")
        if self.tainted and self.chance(0.5):
            fields.append("taints: [{key: t, effect: NoSchedule}]")
        if later:
            fields.append("exists: false")
        if self.changing:
            fields.append(f"updates: {{{', '.join(self._versions(node))}}}")
        return fields

    def _versions(self, node: str) -> Iterator[str]:
        """What the node can become: one to three versions, each with one change or two."""
        changes = {
            "cpu": str(self.changes.choice([cpu for cpu in (1, 2, 3) if cpu != self.cpus[node]])),
            "unschedulable": "true",
            "taints": "[{key: t, effect: NoSchedule}]",
            "labels": f"{{{ZONE}: {self.changes.choice('abc')}}}",
        }
        for i in range(self.changes.randint(1, 3)):
            chosen = self.changes.sample(sorted(changes), self.changes.choice((1, 1, 2)))
            yield f"v{i + 1}: {{{', '.join(f'{field}: {changes[field]}' for field in chosen)}}}"

    def _pod(self, i: int, room: dict[str, int], protected: bool) -> list[str]:
        cpu = min(self.random.choice((1, 1, 2)), max(self.cpus.values()))
        fields = [f"cpu: {cpu}", f"priority: {self.random.randint(0, 3)}"]
        holders = [node for node, left in room.items() if left >= cpu]
        bound = bool(i and holders) and self.chance(0.4)
        if bound:
            node = self.random.choice(holders)
            room[node] -= cpu
            fields.append(f"nodeName: {node}")
        elif i and self.chance(0.15):
            fields.append("exists: false")
        if self.chance(0.5):
            fields.append("terminationGracePeriodSeconds: 0")
        if self.tainted and (bound or self.chance(0.5)):
            fields.append("tolerations: [{key: t, operator: Exists}]")
        if self.chance(0.1):
            fields.append("preemptionPolicy: Never")
        points = [point for point in ("reserve", "permit", "preBind") if self.chance(0.25)]
        self.points.update(points)
        if points:
            fields.append(f"extensionPoints: [{', '.join(points)}]")
        if not bound and self.chance(0.1):
            fields.append("schedulingGates: [{name: example.com/quota}]")
        if self.finalizers and not bound and self.changes.random() < 0.1:
            fields.append("finalizers: [example.com/tracking]")
        if protected or self.chance(0.4):
            fields += ["labels: {app: x}", *self._rules(bound)]
        return fields

    def _faults(self) -> list[str]:
        """The faults that can happen here: those of plugins only where one has work to do."""
        impossible = set()
        if not self.points & {"reserve", "preBind"}:
            impossible.add("plugin_errors")
        if "permit" not in self.points:
            impossible.add("permit_rejections")
        return [fault for fault in FAULTS if fault not in impossible]

    def _rules(self, bound: bool) -> list[str]:
        """What the pod wants of where pods like it are; a bound one wants nothing that may not hold already."""
        key = self.random.choice((HOST, ZONE)) if self.zones else HOST
        term = f"{{topologyKey: {key}, {_SELECTS_X}}}"
        if self.chance(0.3) and not bound:
            return [f"podAntiAffinity: {{required: [{term}]}}"]
        if self.chance(0.2) and not bound:
            return [f"podAffinity: {{required: [{term}]}}"]
        if self.chance(0.3) and not bound:
            return [f"topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {key}, {_SELECTS_X}}}]"]
        return []


def _known(fields: list[str]) -> tuple[int, str | None, bool]:
    """What a pod with these fields asks for, where it is bound, and whether it tolerates anything."""
    said = dict(field.split(": ", 1) for field in fields)
    return int(said["cpu"]), said.get("nodeName"), "tolerations" in said
