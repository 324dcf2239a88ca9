"""The cluster of a case as Go: with the wrappers of upstream's own tests where they have a method for it, else as JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...model.environment.cluster.placement_rules import ANY_ADDRESS
from ...reports.step import Value
from ..case import Case
from .model_values import values_at_start

Object = Mapping[str, Any]


def quoted(text: str) -> str:
    """A string literal of Go."""
    return json.dumps(text, ensure_ascii=False)


def go_value(value: Value) -> str:
    """A value of the model in Go."""
    return quoted(value) if isinstance(value, str) else "nil" if value is None else str(value).lower()


def cluster_lines(case: Case) -> Iterator[str]:
    """The declaration of `cluster`."""
    yield "\tcluster := Cluster{"
    yield from _list("Nodes", "*v1.Node", (_node(node) for node in case.nodes))
    yield from _list("Pods", "*v1.Pod", (_pod(pod) for pod in case.pods))
    if case.budgets:
        budgets = (f"*fromJSON[policyv1.PodDisruptionBudget](`{json.dumps(b)}`)" for b in case.budgets)
        yield from _list("Budgets", "policyv1.PodDisruptionBudget", budgets)
    if case.groups:
        groups = (f"*fromJSON[group](`{json.dumps(kinds)}`)" for kinds in case.groups)
        yield from _list("Groups", "group", groups)
    if case.node_versions:
        versions = (f"{quoted(name)}: {_node(node)}" for name, node in case.node_versions.items())
        yield from _list("NodeVersions", "*v1.Node", versions, "map[string]")
    if case.pod_versions:
        versions = (f"{quoted(name)}: {_pod(_unnumbered(pod))}" for name, pod in case.pod_versions.items())
        yield from _list("PodVersions", "*v1.Pod", versions, "map[string]")
    if values := values_at_start(case):
        pairs = {f"{quoted(v)}:": go_value(value) for v, value in values.items()}
        most = max(map(len, pairs))
        yield from _list("Model", "any", (f"{v:{most}} {value}" for v, value in pairs.items()), "map[string]")
    fields = dict(_fields(case))
    width = max(map(len, fields), default=0) + 1
    yield from (f"\t\t{name + ':':{width}} {value}," for name, value in fields.items())
    yield "\t}"


def _fields(case: Case) -> Iterator[tuple[str, str]]:
    if case.absent_nodes:
        yield "NodesCreatedLater", _strings(case.absent_nodes)
    if case.absent_pods:
        yield "CreatedLater", _strings(case.absent_pods)
    if case.absent_groups:
        yield "GroupsCreatedLater", _strings(case.absent_groups)
    if len(case.order) > 1:
        yield "Order", _strings(case.order)
    if case.points:
        points = ", ".join(f"{quoted(pod)}: {_strings(names)}" for pod, names in case.points.items())
        yield "Plugins", f"map[string][]string{{{points}}}"
    if case.gates:
        gates = ", ".join(f"{quoted(gate)}: {str(on).lower()}" for gate, on in case.gates.items())
        yield "Gates", f"map[string]bool{{{gates}}}"
    if not case.backoff:
        yield "NoBackoff", "true"


def _list(name: str, kind: str, items: Iterator[str], many: str = "[]") -> Iterator[str]:
    yield f"\t\t{name}: {many}{kind}{{"
    yield from (f"\t\t\t{item}," for item in items)
    yield "\t\t},"


def _strings(texts: list[str]) -> str:
    return f"[]string{{{', '.join(map(quoted, texts))}}}"


def _resources(amounts: Mapping[str, str]) -> str:
    return (
        f"map[v1.ResourceName]string{{{', '.join(f'{quoted(k)}: {quoted(v)}' for k, v in amounts.items())}}}"
    )


def _map(texts: Mapping[str, str]) -> str:
    return f"map[string]string{{{', '.join(f'{quoted(k)}: {quoted(v)}' for k, v in texts.items())}}}"


def _node(node: Object) -> str:
    allocatable = node["status"]["allocatable"]
    plain = not node["spec"] and node["status"] == {"allocatable": allocatable, "capacity": allocatable}
    if not plain or not node["metadata"].keys() <= _NAMED:
        return f"fromJSON[v1.Node](`{json.dumps(node)}`)"
    made = f"st.MakeNode().Name({quoted(node['metadata']['name'])}).UID({quoted(node['metadata']['uid'])})"
    for key, value in node["metadata"].get("labels", {}).items():
        made += f".Label({quoted(key)}, {quoted(value)})"
    return f"{made}.Capacity({_resources(allocatable)}).Obj()"


_KNOWN = {
    "schedulerName", "containers", "priority", "preemptionPolicy", "terminationGracePeriodSeconds", "nodeName", "nodeSelector",
    "topologySpreadConstraints", "affinity",
}  # fmt: skip
_NAMED = {"name", "namespace", "uid", "labels"}
"""The fields of a pod's spec, and of its metadata, for which there is a wrapper below: a pod with others is written whole, as it would be another one without them."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _pod(pod: Object) -> str:
    metadata, spec = pod["metadata"], pod["spec"]
    plain = metadata.keys() <= _NAMED and spec.keys() <= _KNOWN and pod["status"].keys() <= {"phase"}
    if not plain or not _has_plain_terms(spec.get("affinity", {})) or len(spec["containers"]) != 1:
        return f"fromJSON[v1.Pod](`{json.dumps(pod)}`)"
    name = quoted(metadata["name"])
    made = (
        f"st.MakePod().Namespace({quoted(metadata['namespace'])}).Name({name}).UID({quoted(metadata['uid'])})"
    )
    if spec["schedulerName"] != "default-scheduler":
        made += f".SchedulerName({quoted(spec['schedulerName'])})"
    for key, value in metadata.get("labels", {}).items():
        made += f".Label({quoted(key)}, {quoted(value)})"
    if "nodeName" in spec:
        made += f".Node({quoted(spec['nodeName'])}).Phase({quoted(pod['status']['phase'])})"
    made += f".Req({_resources(spec['containers'][0]['resources']['requests'])})"
    made += "".join(f".{_port(port)}" for port in spec["containers"][0].get("ports", ()))
    made += f".Priority({spec['priority']})" if spec["priority"] else ""
    if spec["preemptionPolicy"] != "PreemptLowerPriority":
        made += f".PreemptionPolicy({quoted(spec['preemptionPolicy'])})"
    if "nodeSelector" in spec:
        made += f".NodeSelector({_map(spec['nodeSelector'])})"
    for kind, of_kind in spec.get("affinity", {}).items():
        made += "".join(f".{_term(kind, term)}" for term in of_kind[REQUIRED])
    for constraint in spec.get("topologySpreadConstraints", ()):
        made += f".{_spread(constraint)}"
    if spec["terminationGracePeriodSeconds"] == 0:
        made += ".ZeroTerminationGracePeriod()"
    return f"{made}.Obj()"


def _port(port: Object) -> str:
    """A host port, in a container of its own as the wrappers have it."""
    if (port["protocol"], port["hostIP"]) == ("TCP", ANY_ADDRESS):
        return f"HostPort({port['hostPort']})"
    fields = f"HostPort: {port['hostPort']}, Protocol: {quoted(port['protocol'])}, HostIP: {quoted(port['hostIP'])}"
    return f"ContainerPort([]v1.ContainerPort{{{{{fields}}}}})"


def _unnumbered(pod: Object) -> Object:
    """Without the annotation that says the version's number: the driver gives it one by its name."""
    return {**pod, "metadata": {k: v for k, v in pod["metadata"].items() if k != "annotations"}}


def _has_plain_terms(affinity: Object) -> bool:
    """Whether it is required terms between pods of one namespace, which are all that upstream's wrappers have a method for."""
    return affinity.keys() <= {"podAffinity", "podAntiAffinity"} and all(
        of_kind.keys() == {REQUIRED} and all(t.keys() <= {"topologyKey", "labelSelector"} for t in of_kind[REQUIRED])
        for of_kind in affinity.values()
    )  # fmt: skip


def _term(kind: str, term: Object) -> str:
    method = kind[0].upper() + kind[1:]
    return f"{method}({quoted(term['topologyKey'])}, {_selector(term.get('labelSelector'))}, st.{method}WithRequiredReq)"


def _selector(selector: Object | None) -> str:
    if selector is None:
        return "nil"
    if selector.keys() == {"matchLabels"}:
        return f"&metav1.LabelSelector{{MatchLabels: {_map(selector['matchLabels'])}}}"
    return f"fromJSON[metav1.LabelSelector](`{json.dumps(selector)}`)"


def _spread(constraint: Object) -> str:
    said = _selector(constraint.get("labelSelector"))
    skew, key = constraint["maxSkew"], quoted(constraint["topologyKey"])
    when = f"v1.{constraint['whenUnsatisfiable']}"
    least = f"ptr.To[int32]({constraint['minDomains']})" if "minDomains" in constraint else "nil"
    policies = [_policy(constraint.get(name)) for name in ("nodeAffinityPolicy", "nodeTaintsPolicy")]
    return f"SpreadConstraint({skew}, {key}, {when}, {said}, {least}, {', '.join(policies)}, nil)"


def _policy(said: str | None) -> str:
    return "nil" if said is None else f"ptr.To(v1.NodeInclusionPolicy{said})"
