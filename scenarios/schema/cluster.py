"""Nodes, pods and what they are described with."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.environment.objects import ExtensionPoint, Operator
from ..reader.budgets import MAX_ALLOWED
from ..reader.cluster import MAX_PODS
from ..reader.directives import EFFECTS, MAX_OTHERS, MAX_SKEW
from ..reader.labels import OF_LABELS
from ..reader.pods import MAX_GRACE, MAX_PRIORITY, MIN_PRIORITY, POLICIES
from ..reader.terms import PREFERRED, REQUIRED
from .parts import (
    FLAG,
    IGNORED,
    LABEL_KEY,
    LABEL_VALUE,
    LABELS,
    NAME,
    WORD,
    Schema,
    about,
    listed,
    mapping,
    part,
    table,
    whole,
    whole_or_range,
    word,
)

_RESOURCES: dict[str, Schema] = {
    "cpu": part("cpu"),
    "memory": part("bytes"),
    "ephemeral-storage": part("bytes"),
    "resources": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
}
_SELECTOR: dict[str, Schema] = {
    "matchLabels": LABELS,
    "matchExpressions": listed(part("requirement")),
}
_TERM: dict[str, Schema] = {
    "topologyKey": {"type": "string"},
    "labelSelector": part("labelSelector"),
    **_SELECTOR,
    "namespaces": listed(NAME),
    "namespaceSelector": part("labelSelector"),
}
_TERMS, _PREFERRED_TERMS = listed(part("podAffinityTerm")), listed(part("weightedTerm"))

OBJECTS: Mapping[str, Schema] = {
    "node": mapping(
        {
            **_RESOURCES,
            "pods": about(whole_or_range(0, MAX_PODS), "How many pods the node admits."),
            "labels": LABELS,
            "taints": listed(part("taint")),
            "unschedulable": FLAG,
            "exists": about(FLAG, "false: a node that may join later."),
        },
        ["cpu"],
    ),
    "taint": mapping(
        {"key": LABEL_KEY, "value": LABEL_VALUE, "effect": word(EFFECTS)},
        ["key", "effect"],
    ),
    "pod": mapping(
        {
            **_RESOURCES,
            "priority": whole_or_range(MIN_PRIORITY, MAX_PRIORITY),
            "preemptionPolicy": word(POLICIES),
            "namespace": NAME,
            "labels": LABELS,
            "nodeName": about(WORD, "The node that the pod is bound to at the start."),
            "exists": about(FLAG, "false: a pod that a user may create later."),
            "startTime": about(WORD, "status.startTime of a bound pod; only the order counts."),
            "terminationGracePeriodSeconds": about(
                whole(0, MAX_GRACE), "0: a DELETE removes the pod at once."
            ),
            "tolerations": listed(part("toleration")),
            "nodeSelector": LABELS,
            "nodeAffinity": part("nodeAffinity"),
            "podAffinity": part("podAffinity"),
            "podAntiAffinity": part("podAffinity"),
            "topologySpreadConstraints": listed(part("topologySpreadConstraint")),
            "extensionPoints": listed(word(point.value for point in ExtensionPoint)),
            "schedulingGates": about(
                listed(part("schedulingGate")), "Gates that a user may remove later, all at once."
            ),
            "ignore": about(
                IGNORED, "Properties that are not to be looked at for this pod, with the reason."
            ),
        },
        ["cpu"],
    ),
    "schedulingGate": mapping({"name": LABEL_KEY}, ["name"]),
    "toleration": mapping(
        {
            "key": LABEL_KEY,
            "operator": word(("Equal", "Exists")),
            "value": LABEL_VALUE,
            "effect": word(EFFECTS),
        }
    ),
    "nodeAffinity": mapping(
        {
            "required": part("nodeSelector"),
            REQUIRED: part("nodeSelector"),
            "preferred": about({"not": {}}, "A score that the model does not have."),
            PREFERRED: about({"not": {}}, "A score that the model does not have."),
        }
    ),
    "nodeSelector": mapping(
        {"nodeSelectorTerms": listed(part("nodeSelectorTerm"), 1)}, ["nodeSelectorTerms"]
    ),
    "nodeSelectorTerm": mapping(
        {
            "matchExpressions": listed(part("nodeRequirement")),
            "matchFields": listed(part("nodeRequirement")),
        }
    ),
    "podAffinity": mapping(
        {
            "required": _TERMS,
            "preferred": _PREFERRED_TERMS,
            REQUIRED: _TERMS,
            PREFERRED: _PREFERRED_TERMS,
        }
    ),
    "podAffinityTerm": mapping(_TERM, ["topologyKey"]),
    "weightedTerm": mapping({"weight": whole(1, 100), "podAffinityTerm": part("podAffinityTerm"), **_TERM}),
    "topologySpreadConstraint": mapping(
        {
            "maxSkew": whole(1, MAX_SKEW),
            "topologyKey": LABEL_KEY,
            "whenUnsatisfiable": word(("DoNotSchedule",)),
            "labelSelector": part("labelSelector"),
            **_SELECTOR,
            "others": table(whole(0, MAX_OTHERS)),
        },
        ["maxSkew", "topologyKey"],
    ),
    "labelSelector": mapping(_SELECTOR),
    "requirement": mapping(
        {"key": LABEL_KEY, "operator": word(o.value for o in OF_LABELS), "values": listed(LABEL_VALUE)},
        ["key", "operator"],
    ),
    "nodeRequirement": mapping(
        {"key": LABEL_KEY, "operator": word(o.value for o in Operator), "values": listed(LABEL_VALUE)},
        ["key", "operator"],
    ),
    "namespace": mapping({"labels": LABELS}),
    "podDisruptionBudget": mapping(
        {
            "selector": part("labelSelector"),
            "disruptionsAllowed": whole_or_range(0, MAX_ALLOWED),
            "namespace": NAME,
            "disruptedPods": listed(WORD),
        },
        ["selector"],
    ),
}
"""The objects of a cluster and their parts."""
