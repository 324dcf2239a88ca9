"""Random small clusters with all that may happen to them: for runs of which nobody knows beforehand what they show.

The same seed gives the same cluster. Amounts are small, so that pods are in one another's way.
"""

from __future__ import annotations

from random import Random

FAULTS = {
    "pod_deletions": 2,
    "node_deletions": 1,
    "node_creations": 1,
    "bind_failures": 2,
    "lost_replies": 1,
    "write_failures": 1,
    "status_failures": 1,
}
"""What may go wrong or change in any free run, and how often at most."""

PLUGIN_FAULTS = {"plugin_errors": ("reserve", "preBind"), "permit_rejections": ("permit",)}
"""What only plugins at these extension points can do."""

ZONES = ("east", "west")
POINTS = ("reserve", "permit", "preBind")


def random_cluster(seed: int, release: str) -> str:
    """A scenario file: one to three nodes, two to four pods; with spread, anti-affinity, gates and plugins now and then."""
    rng = Random(seed)
    nodes = {f"n{i + 1}": rng.randint(1, 3) for i in range(rng.choice((1, 2, 2, 2, 3)))}
    room = dict(nodes)
    lines = [f"name: free-{seed}", f'release: "{release}"', "nodes:"]
    for number, (name, cpu) in enumerate(nodes.items()):
        fields = [f"cpu: {cpu}", f"labels: {{zone: {ZONES[number % 2]}}}"]
        if number and rng.random() < 0.15:
            fields.append("exists: false")
            room[name] = 0
        lines.append(f"  {name}: {{{', '.join(fields)}}}")
    lines.append("pods:")
    absent, points = 0, set[str]()
    for number in range(rng.choice((2, 3, 3, 4)) if len(nodes) < 3 else 2):
        cpu = rng.randint(1, max(nodes.values()))
        fields = [f"cpu: {cpu}", f"priority: {rng.choice((0, 0, 5, 10))}"]
        holders = [name for name, left in room.items() if left >= cpu]
        if number and holders and rng.random() < 0.35:
            node = rng.choice(holders)
            room[node] -= cpu
            fields.append(f"nodeName: {node}")
        else:
            if number and rng.random() < 0.3:
                fields.append("exists: false")
                absent += 1
            if rng.random() < 0.1:
                fields.append("schedulingGates: [{name: example.com/quota}]")
            own = [point for point in POINTS if rng.random() < 0.12]
            if own:
                fields.append(f"extensionPoints: [{', '.join(own)}]")
                points.update(own)
        if rng.random() < 0.6:
            fields.append("terminationGracePeriodSeconds: 0")
        if rng.random() < 0.15:
            fields.append("preemptionPolicy: Never")
        lines.append(f"  p{number + 1}: {{{', '.join([*fields, *_placement(rng)])}}}")
    scope = {"pod_events": 8, "node_events": 4, "pod_creations": absent, **_faults(rng, points)}
    written = [f"{name}: {count}" for name, count in scope.items()]
    if rng.random() < 0.2:
        written.append("backoff: false")
    return "\n".join([*lines, f"scope: {{{', '.join(written)}}}"]) + "\n"


def _faults(rng: Random, points: set[str]) -> dict[str, int]:
    """Up to four kinds of faults that can happen in this cluster."""
    kinds = [*FAULTS, *(name for name, needed in PLUGIN_FAULTS.items() if points.intersection(needed))]
    return {name: FAULTS.get(name, 1) for name in rng.sample(kinds, rng.randint(1, 4))}


def _placement(rng: Random) -> list[str]:
    """Where the pod may go beside its size."""
    kind = rng.random()
    if kind < 0.15:
        anti = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: x}}}"
        return ["labels: {app: x}", f"podAntiAffinity: {{required: [{anti}]}}"]
    if kind < 0.3:
        return [
            "labels: {app: y}",
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, matchLabels: {app: y}}]",
        ]
    if kind < 0.4:
        return [f"labels: {{app: {rng.choice('xy')}}}"]
    return []
