"""What the log shows, as a small cluster of the model and what was seen of it by and by: a record for trace validation."""

from collections.abc import Iterable, Mapping

from ..base.structs import Data
from .checks.cases import Case

CAPACITY, APART, CONDITION, TWICE = "S-CAP", "S-AFF", "S-COND", "A-TWICE"

SMALL: Mapping[str, str] = {
    CAPACITY: "two pods and the room that the others left",
    APART: "two pods and the nodes that they are on",
    CONDITION: "one pod and the node that it is on",
    TWICE: "one pod and the node that it is on",
}
"""The properties of which the model can be asked, and what of the cluster it is asked about."""

Value = bool | int | str | None

_SENT = "BIND"
"""Of a binding cycle: its next step is to send the Binding."""


class Record(Data, slots=False):
    """A cluster as YAML, and the values of some variables at moments one after the other."""

    cluster: str
    seen: tuple[Mapping[str, Value], ...]


def does(of: str, case: Case) -> str:
    """What a run does that agrees with the record, in words."""
    first, last = case.pods[0].pod, case.pods[-1].pod
    return {
        CAPACITY: f"binds {first} and then {last} to the node",
        APART: f"binds {first} and then {last} too close to it",
        CONDITION: f"binds {first} and has it say PodScheduled=False",
        TWICE: f"binds {first} and comes to send another Binding of it",
    }[of]


def record_of(of: str, case: Case, faults: Iterable[tuple[str, int]], grown: bool) -> Record:
    """The record of a violation, in a cluster with these faults."""
    scope: dict[str, Value] = {"pod_events": 2, **dict(faults)}
    if of in (CONDITION, TWICE):
        return _of_one(of, scope)
    return _of_two(of, case, scope, grown)


def _of_two(of: str, case: Case, scope: dict[str, Value], grown: bool) -> Record:
    ranks = sorted({pod.priority for pod in case.pods})
    first, second = (f"cpu: 1, priority: {ranks.index(pod.priority)}" for pod in case.pods)
    cpu, where = 1, "n"
    nodes = ["n: {cpu: %d, labels: {zone: z}}"]
    if of == APART:
        cpu, apart = 2, "podAntiAffinity: {required: [{matchLabels: {app: x}, topologyKey: zone}]}"
        first, second = (f"{pod}, labels: {{app: x}}, {apart}" for pod in (first, second))
        if not case.together:
            nodes.append("m: {cpu: %d, labels: {zone: z}}")
            where = "m"
    elif grown:
        cpu, second = 2, f"{second}, updates: {{larger: {{cpu: 2}}}}"
    there = {f"api.node_exists[{name}]": True for name in ("n", where)} if of == APART else {}

    def seen(node: str | None) -> Mapping[str, Value]:
        late: dict[str, Value] = {"api.pod[second].version": 1} if grown else {}
        return {
            **there, **late, "api.pod[first].exists": True, "api.pod[second].exists": True, "api.pod[first].node": "n", "api.pod[second].node": node,
        }  # fmt: skip

    pods = [f"first: {{{first}}}", f"second: {{{second}}}"]
    return Record(_cluster([node % cpu for node in nodes], pods, scope), (seen(None), seen(where)))


def _of_one(of: str, scope: dict[str, Value]) -> Record:
    nodes, pods = ["n: {cpu: 1}"], ["first: {cpu: 1}"]
    if "permit_rejections" in scope:  # a plugin that rejects, and somebody whose end has the pod tried again
        nodes.append("away: {cpu: 1, unschedulable: true}")
        pods = [
            "first: {cpu: 1, extensionPoints: [permit]}",
            "other: {cpu: 1, nodeName: away, terminationGracePeriodSeconds: 0}",
        ]
        scope = {**scope, "pod_deletions": 1}
    said: tuple[str, Value] = (
        ("api.pod[first].failed", True) if of == CONDITION else ("binding.phase[first]", _SENT)
    )
    waits: dict[str, Value] = {"api.pod[first].exists": True, "api.pod[first].node": None}
    return Record(
        _cluster(nodes, pods, scope), (waits, {**waits, "api.pod[first].node": "n", said[0]: said[1]})
    )


def _cluster(nodes: Iterable[str], pods: Iterable[str], scope: Mapping[str, Value]) -> str:
    bounds = ", ".join(f"{name}: {value}" for name, value in scope.items())
    return f"name: explained\nnodes: {{{', '.join(nodes)}}}\npods: {{{', '.join(pods)}}}\nscope: {{flush: false, {bounds}}}\n"
