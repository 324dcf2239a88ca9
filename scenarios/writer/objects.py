"""Nodes and pods as a scenario file says them, with the versions that their objects may be updated to."""

from collections.abc import Mapping
from typing import Any

from ...model.environment.cluster.workloads import OwnerKind
from ...model.environment.objects import ClusterSpec, Node, Pod
from ..reader.sections.claim_section import IMPLICIT
from ..reader.sections.controller_section import DAEMON_TOLERATIONS
from ..tables.amounts import Amounts
from ..tables.nodes import NODE_UPDATES, NODES
from ..tables.pods import POD_UPDATES, PODS
from ..tables.rules import time_in_words
from ..tables.table import plain


def nodes_in_words(spec: ClusterSpec) -> dict[str, Any]:
    """The section `nodes`."""
    amounts = Amounts(spec)
    return {node.name: _node(node, amounts, spec.scope.node_lifecycle) for node in spec.nodes}


def _node(node: Node, amounts: Amounts, lifecycle: bool) -> dict[str, Any]:
    whole = _node_fields(node, amounts)
    # The node lifecycle controller brings versions of its own, which the reader adds: their names have capital letters.
    later = {
        word: _changed(whole, _node_fields(version, amounts), NODE_UPDATES.names)
        for word, version in node.later.items()
        if not lifecycle or word == word.lower()
    }
    return _said(whole) | ({"updates": later} if later else {})


def _node_fields(node: Node, amounts: Amounts) -> dict[str, Any]:
    return {**amounts.of(f"node {node.name}", node.room[0]), **NODES.say(node)}


def _said(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without those that say what is so without them."""
    return {k: v for k, v in plain(whole).items() if v != 0 or k not in ("memory", "ephemeral-storage")}


def _changed(base: Mapping[str, Any], version: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """What an update changes; of one that changes nothing, the labels."""
    found = {k: v for k, v in version.items() if k in known and v != base[k]}
    return found or {"labels": version["labels"]}


def pods_in_words(spec: ClusterSpec) -> dict[str, Any]:
    """The section `pods`."""
    daemons = {
        name
        for of in spec.owners
        if of.kind is OwnerKind.DAEMON_SET
        for _, names in of.slots
        for name in names
    }
    special = {claim.name: claim.wishes[0] for claim in spec.claims if claim.special}
    templates = templates_of(spec)
    amounts = Amounts(spec)
    arrivals = any(pod.arrival for pod in spec.pods)
    found = {}
    for pod in spec.pods:
        told = _pod(pod, amounts, pod.name in daemons)
        if arrivals and pod.exists and pod.node is None and pod.recreates is None:
            told["creationTimestamp"] = time_in_words(pod.arrival)
        if pod.extended_claim is not None:
            wish = special[pod.extended_claim]
            backed = {f"{IMPLICIT}{wish.of}": wish.count}
            told["resources"] = {**told.get("resources", {}), **backed}
        claims = [_claim(pod, name, templates) for name in pod.claims if name != pod.extended_claim]
        found[pod.name] = told | ({"resourceClaims": claims} if claims else {})
    return found


def templates_of(spec: ClusterSpec) -> dict[str, str]:
    """The names of the templates from which claims are made, by the name of the claim."""
    generated = {name for pod in spec.pods for name in pod.generated}
    made = [c for c in spec.claims if c.name in generated]
    kinds = list(dict.fromkeys((c.wishes, c.amount, c.tolerates, c.briefly) for c in made))
    return {c.name: f"template-{kinds.index((c.wishes, c.amount, c.tolerates, c.briefly)) + 1}" for c in made}


def _claim(pod: Pod, name: str, templates: Mapping[str, str]) -> Any:
    if name not in pod.generated:
        return name
    own = name.removeprefix(f"{pod.name}-")
    return {"name": own, "resourceClaimTemplateName": templates[name]}


def _pod(pod: Pod, amounts: Amounts, daemon: bool) -> dict[str, Any]:
    whole = _pod_fields(pod, amounts, daemon)
    later = {
        word: _changed(whole, _pod_fields(version, amounts, False), POD_UPDATES.names)
        for word, version in pod.later.items()
    }
    return _said(whole) | ({"updates": later} if later else {})


def _pod_fields(pod: Pod, amounts: Amounts, daemon: bool) -> dict[str, Any]:
    told = {**amounts.of(f"pod {pod.name}", pod.requests), **PODS.say(pod)}
    if daemon:  # its controller adds some
        if pod.tolerations[-len(DAEMON_TOLERATIONS) :] == DAEMON_TOLERATIONS:
            told["tolerations"] = told["tolerations"][: -len(DAEMON_TOLERATIONS)]
        told["nodeAffinity"] = _without_node(told["nodeAffinity"])
    return told


def _without_node(affinity: dict[str, Any]) -> dict[str, Any]:
    """What a DaemonSet's pod requires without the node's name, which its controller adds."""
    if "required" not in affinity:
        return affinity
    terms = affinity["required"]["nodeSelectorTerms"]
    own = [{k: v for k, v in term.items() if k != "matchFields"} for term in terms]
    others = {name: told for name, told in affinity.items() if name != "required"}
    return others if own == [{}] else {"required": {"nodeSelectorTerms": own}, **others}
