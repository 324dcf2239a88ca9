"""The section `gateKeepers`, and the gates of pods."""

from collections.abc import Iterable, Mapping, Sequence

from ....base.text import known_names
from ....model.environment.cluster.workloads import KeeperSpec
from ....model.environment.objects import Pod
from ...tables.actors import KEEPERS
from ...tables.pods import GATES_OF_POD
from ...values.labels import known, label_key, read_name, refuse_fields
from ...values.yaml_values import Value
from .draft import Draft


def read_gates(fields: Mapping[str, Value]) -> list[str]:
    """The names of a pod's scheduling gates."""
    if "schedulingGates" not in fields:
        return []
    gates = fields["schedulingGates"]
    found: list[str] = []
    for element in gates.elements("a list of gates, such as [{name: example.com/quota}]"):
        gate = GATES_OF_POD.fields(element, "a gate, such as {name: example.com/quota}")
        name = label_key(gate["name"])
        if name in found:
            element.fail(f"{gate['name'].described} is listed twice: remove one of them")
        found.append(name)
    if found and "nodeName" in fields:
        gates.fail("a pod with gates is on no node: remove `nodeName` or `schedulingGates`")
    return found


def read_keepers(draft: Draft) -> None:
    """The gate keepers; with any, gates go one by one."""
    made, example = draft.pods, "{gate: example.com/quota, quota: 1}"
    members = draft.members("gateKeepers", "gate keepers", KEEPERS, example)
    if "gateKeepers" in draft.sections and not members:
        draft.sections["gateKeepers"].fail("nobody keeps a gate: name a keeper, or remove the section")
    gates = list(dict.fromkeys(name for pod in made for name in pod.gates))
    found: list[KeeperSpec] = []
    for name, member in members.items():
        fields = member.fields
        KEEPERS.require(member.place, fields)
        gate = _gate(fields["gate"], gates)
        if any(other.gate == gate for other in found):
            fields["gate"].fail(f"two keepers take {fields['gate'].described} away: remove one of them")
        waits = fields["waitsFor"].elements("a list of gates") if "waitsFor" in fields else []
        awaited = tuple(_gate(element, gates) for element in waits)
        if gate in awaited:
            fields["waitsFor"].fail("it would wait for itself: name other gates")
        directs = _directs(fields["directs"], gate, made) if "directs" in fields else ()
        keeper = KeeperSpec(name, gate, waits_for=awaited, directs=directs, **KEEPERS.read(fields))
        if keeper.apart and not directs:
            fields["apart"].fail("it writes nothing else: add `directs`, or remove this")
        found.append(keeper)
    draft.keepers = tuple(found)


def _gate(value: Value, gates: Iterable[str]) -> str:
    gate = label_key(value)
    if gate not in gates:
        value.fail(f"no pod has the scheduling gate {value.described}; {known_names(gate, gates)}")
    return gate


def _directs(value: Value, gate: str, made: Sequence[Pod]) -> tuple[str, ...]:
    pods = {pod.name: pod for pod in made}
    found: list[str] = []
    for key, word in value.items("a mapping from pods to what each is updated to, such as {p: east}"):
        version, name = read_name(word), known(key, pods, "pod")
        if gate not in pods[name].gates:
            key.fail(f"{name} has no such gate: add it to its `schedulingGates`, or remove the pod here")
        if version not in pods[name].later:
            word.fail(f"{name} has no such update; {known_names(version, pods[name].later)}")
        found.append(f"{name}.{version}")
    return tuple(found)


def refuse_keepers(draft: Draft) -> None:
    """Refuse what is not modelled of pods whose gates go one by one."""
    why = "of a pod whose gates go one by one, this is not modelled: remove `{}` or `gateKeepers`"
    for pod in draft.pods if "gateKeepers" in draft.sections else ():
        fields = draft.pod_members[pod.name].fields
        if pod.gates:
            refuse_fields(fields, ("recreates", "podGroup", "resourceClaims"), why)
        if pod.gates and pod.name in draft.owned:
            fields["schedulingGates"].fail(
                "gates of pods that a controller makes again and again do not go one by one: remove `gateKeepers`, or the pod from its controller"
            )
