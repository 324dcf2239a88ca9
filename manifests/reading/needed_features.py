"""The features that a pod needs of its node, as the scheduler infers them from the specification (component-helpers nodedeclaredfeatures, InferForScheduling, 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from .manifest_files import Manifest

RESTART_ALL = "RestartAllContainersOnContainerExits"
HOST_NETWORK_USERS = "UserNamespacesHostNetworkSupport"


def needed_features(fields: Mapping[str, Manifest]) -> frozenset[str]:
    """Of a pod specification: some container restarts all others when it exits; the host's network goes with a user namespace of the pod's own."""
    found = set()
    if (
        "hostNetwork" in fields
        and fields["hostNetwork"].boolean()
        and "hostUsers" in fields
        and not fields["hostUsers"].boolean()
    ):
        found.add(HOST_NETWORK_USERS)
    for name in ("containers", "initContainers"):
        for container in fields[name].elements("a list of containers") if name in fields else ():
            if _restarts_all(container):
                found.add(RESTART_ALL)
    return frozenset(found)


def _restarts_all(container: Manifest) -> bool:
    given = container.fields(("restartPolicyRules",), "a container")
    rules = given["restartPolicyRules"].elements("a list of rules") if "restartPolicyRules" in given else []
    actions = [rule.fields(("action",), "a rule with `action`").get("action") for rule in rules]
    return any(a is not None and a.scalar("an action") == "RestartAllContainers" for a in actions)
