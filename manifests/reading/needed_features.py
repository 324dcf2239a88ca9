"""The features that a pod needs of its node, as the scheduler infers them from the specification (component-helpers nodedeclaredfeatures, InferForScheduling, 1.36)."""

from __future__ import annotations

from .manifest_values import Fields, Manifest

RESTART_ALL = "RestartAllContainersOnContainerExits"
HOST_NETWORK_USERS = "UserNamespacesHostNetworkSupport"


def needed_features(fields: Fields) -> frozenset[str]:
    """Of a pod specification: some container restarts all others when it exits; the host's network goes with a user namespace of the pod's own."""
    found = set()
    if fields.boolean("hostNetwork") and "hostUsers" in fields and not fields.boolean("hostUsers"):
        found.add(HOST_NETWORK_USERS)
    for name in ("containers", "initContainers"):
        containers = fields.elements(name, "a list of containers")
        found |= {RESTART_ALL for container in containers if _restarts_all(container)}
    return frozenset(found)


def _restarts_all(container: Manifest) -> bool:
    rules = container.mapping("a container").elements("restartPolicyRules", "a list of rules")
    actions = [rule.mapping("a rule with `action`").get("action") for rule in rules]
    return any(a is not None and a.scalar("an action") == "RestartAllContainers" for a in actions)
