"""Random small clusters with claims of devices for lockstep, as scenario files: one or two nodes, one to three devices, two or three pods.

A number determines a cluster. Pods want one claim or two, some of them share one, and some have theirs made from a template. What is allocated at the start is reserved for the pod that runs with
it, or for nobody any more.
"""

from random import Random

FAULTS = ("pod_deletions", "bind_failures", "write_failures", "status_failures", "plugin_errors")

CHANGES = ("claim_deletions", "missed_claim_updates")
"""What happens to claims. With the first, claims come and go: PreEnqueue and hints ask whether they are there."""


def claim_cluster(number: int) -> str:
    """The scenario file of this number."""
    return _Drawing(Random(f"claims {number}")).text(f"claims-{number}")


class _Drawing:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.nodes = [f"n{i + 1}" for i in range(random.choice((1, 1, 2)))]
        self.devices = {
            f"d{i + 1}": random.choice((*self.nodes, *self.nodes, None))
            for i in range(random.choice((1, 1, 2, 3)))
        }
        self.claims: dict[str, list[str]] = {f"c{i + 1}": [] for i in range(random.choice((1, 2, 2, 3)))}
        self.free = list(self.devices)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def text(self, name: str) -> str:
        pods = {f"p{i + 1}": self._pod() for i in range(self.random.choice((2, 2, 3)))}
        if self.chance(0.4):
            pods["x"] = self._running()
        lines = [f"name: {name}", "nodes:"]
        lines += [f"  {node}: {{cpu: {self.random.choice((1, 2, 3))}}}" for node in self.nodes]
        lines.append("devices:")
        lines += [
            f"  {device}: {{{f'node: {node}' if node else ''}}}" for device, node in self.devices.items()
        ]
        lines.append("resourceClaims:")
        lines += [f"  {claim}: {{{', '.join(fields)}}}" for claim, fields in self.claims.items()]
        lines.append("pods:")
        lines += [f"  {pod}: {{{', '.join(fields)}}}" for pod, fields in pods.items()]
        scope = {
            "pod_events": self.random.randint(2, 4),
            "claim_events": self.random.randint(2, 3),
            "file_order": "true",
            **{fault: self.random.randint(1, 2) for fault in FAULTS if self.chance(0.5)},
            **{change: self.random.randint(1, 2) for change in CHANGES if self.chance(0.25)},
        }
        if not any("resourceClaims" in line for line in lines if line.startswith("  ")):
            scope.pop("plugin_errors", None)  # no plugin has work for any pod
        lines.append(f"scope: {{{', '.join(f'{name}: {value}' for name, value in scope.items())}}}")
        return "\n".join(lines) + "\n"

    def _pod(self) -> list[str]:
        """A pod that waits; most want a claim."""
        fields = ["cpu: 1", f"priority: {self.random.randint(0, 2)}"]
        if self.chance(0.9):
            some = self.random.sample(list(self.claims), min(len(self.claims), self.random.choice((1, 1, 2))))
            fields.append(f"resourceClaims: [{', '.join(some)}]")
        if self.chance(0.5):
            fields.append("terminationGracePeriodSeconds: 0")
        return fields

    def _running(self) -> list[str]:
        """A pod that runs, with a claim that may be reserved for it."""
        node = self.random.choice(self.nodes)
        claim = self.random.choice(list(self.claims))
        device = next((d for d in self.free if self.devices[d] in (node, None)), None)
        fields = ["cpu: 1", f"nodeName: {node}", "priority: 0"]
        if device is None:
            return fields
        self.claims[claim] = [f"device: {device}", "reservedFor: [x]"]
        if self.chance(0.3):
            fields.append("finishes: true")
        return [*fields, f"resourceClaims: [{claim}]"]
