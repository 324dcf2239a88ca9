"""The JSON Schema (draft 2020-12) of scenario files, for editors; made from the names and bounds that the reader has."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.environment.cluster.placement_rules import NODE_NAME
from ..model.environment.cluster.scope import BOUNDS, MAX_COUNT, RESOURCE_STRATEGIES, SCORE_PLUGINS, Bound
from ..model.environment.cluster.workloads import OwnerKind
from ..model.environment.objects import ExtensionPoint, Operator
from .reader.cluster_section import (
    MAX_PODS,
    MAX_VERSIONS,
    STATUSES,
)
from .reader.scenario import EXPECTED, MAX_REASON, MAX_STEPS
from .reader.sections.budget_section import MAX_ALLOWED, MAX_AVAILABLE
from .reader.sections.budget_section import POLICIES as EVICTION_POLICIES
from .reader.sections.claim_section import CONDITIONS
from .reader.sections.config_section import MAX_WEIGHT, NUMBERS, SWITCHES
from .reader.sections.controller_section import (
    MANAGEMENT,
    MAX_REPLICAS,
    MAX_SHARE,
    MOST_SKEW,
    REPLACEMENT,
    STRATEGIES,
)
from .reader.sections.extender_section import COUNTS, MAX_EXTENDER_WEIGHT, MAX_EXTENDERS, VERBS
from .reader.sections.extender_section import MAX_SCORE as MAX_EXTENDER_SCORE
from .reader.sections.gate_section import MAX_QUOTA
from .reader.sections.group_section import MAX_MIN_COUNT
from .reader.sections.pod_section import MAX_GRACE, MAX_PRIORITY, MIN_PRIORITY, POLICIES
from .reader.sections.volume_section import ACCESS_MODES, MODES
from .reader.values.directives import (
    EFFECTS,
    INCLUSION,
    MAX_OTHERS,
    MAX_SECONDS,
    MAX_SKEW,
    PREFERRED,
    REQUIRED,
)
from .reader.values.host_ports import MAX_PORT, PROTOCOLS
from .reader.values.labels import MAX_ENTITIES, OF_LABELS
from .schema_shapes import Schema, about, listed, mapping, part, table, whole, whole_or_range, word

NAME: Schema = {"$ref": "#/$defs/name"}
LABELS: Schema = {"$ref": "#/$defs/labels"}
LABEL_KEY: Schema = {"$ref": "#/$defs/labelKey"}
LABEL_VALUE: Schema = {"$ref": "#/$defs/labelValue"}
FLAG: Schema = {"type": "boolean"}
IGNORED: Schema = {
    "type": "object",
    "additionalProperties": {"type": "string", "minLength": 1, "maxLength": MAX_REASON},
}
# What is read as it is written may look like something else: 1.13, 72259, true.
WORD: Schema = {"type": ["string", "number", "boolean"]}

SHARED: Mapping[str, Schema] = {
    "name": {
        "description": "A name of at most 63 lower-case letters, digits, `-` and `.`.",
        "type": ["string", "number", "boolean"],
        "pattern": "^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$",
    },
    "labelKey": {"type": ["string", "number", "boolean"], "maxLength": 317},
    "labelValue": {"type": "string", "maxLength": 63},
    "labels": {"type": "object", "additionalProperties": {"$ref": "#/$defs/labelValue"}},
    "cpu": {
        "description": "CPU, such as 2, 0.5 or 500m; or a range such as 1..4 or 500m..2000m.",
        "type": ["string", "number"],
        "pattern": r"^([0-9]{1,9}(\.[0-9]{1,9})?m?|[0-9]{1,9}m?\.\.[0-9]{1,9}m?)$",
        "minimum": 0,
    },
    "bytes": {
        "description": "Bytes, such as 1000, 128Mi, 1.5G or 1e9; or a range such as 1Gi..4Gi.",
        "type": ["string", "number"],
        "pattern": r"^[0-9]{1,19}(\.[0-9]{1,9})?([KMGTP]i|[kMGTP]|[eE][0-9]{1,2})?$"
        r"|^[0-9]{1,19}([KMGTP]i|[kMGTP])?\.\.[0-9]{1,19}([KMGTP]i|[kMGTP])?$",
        "minimum": 0,
    },
}
"""Parts that many fields refer to."""

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
            "conditions": part("conditions"),
            "declaredFeatures": listed(LABEL_KEY),
            "exists": about(FLAG, "false: a node that may join later."),
            "updates": about(
                table(part("nodeUpdate"), 1, MAX_VERSIONS - 1),
                "What the node's object may be updated to: by a name, the fields that change.",
            ),
        },
        ["cpu"],
    ),
    "nodeUpdate": {
        **mapping(
            {
                **_RESOURCES,
                "pods": whole(0, MAX_PODS),
                "labels": LABELS,
                "taints": listed(part("taint")),
                "unschedulable": FLAG,
                "conditions": part("conditions"),
                "declaredFeatures": listed(LABEL_KEY),
            },
            about="What changes in the node's object; what is not named stays.",
        ),
        "minProperties": 1,
    },
    "podUpdate": {
        **mapping(
            {
                **{name: schema for name, schema in _RESOURCES.items() if name in ("cpu", "memory")},
                "labels": LABELS,
                "tolerations": listed(part("toleration")),
                "nodeSelector": LABELS,
                "nodeAffinity": part("nodeAffinity"),
            },
            about="What changes in the pod's object; what is not named stays.",
        ),
        "minProperties": 1,
    },
    "conditions": about(
        {"type": "object", "additionalProperties": {"enum": [*STATUSES, True, False]}},
        "The node's conditions, by type; Ready is True unless it is named.",
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
            "creationTimestamp": about(
                WORD, "metadata.creationTimestamp of a pod that waits at the start; only the order counts."
            ),
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
            "defaultSpread": about(
                part("labelSelector"),
                "The selector of its service or controller, which makes its constraints by default.",
            ),
            "hostPorts": about(
                listed({"anyOf": [whole(1, MAX_PORT), part("hostPort")]}),
                "The ports of its node that the pod occupies.",
            ),
            "extensionPoints": listed(word(point.value for point in ExtensionPoint)),
            "resourceClaims": about(
                listed(
                    {
                        "anyOf": [
                            WORD,
                            mapping({"name": WORD, "resourceClaimName": WORD}, ["resourceClaimName"]),
                            mapping(
                                {"name": WORD, "resourceClaimTemplateName": WORD},
                                ["name", "resourceClaimTemplateName"],
                            ),
                        ]
                    }
                ),
                "The ResourceClaims that the pod refers to.",
            ),
            "volumes": about(
                listed(
                    {
                        "anyOf": [
                            WORD,
                            mapping(
                                {
                                    "name": WORD,
                                    "persistentVolumeClaim": mapping({"claimName": WORD}, ["claimName"]),
                                },
                                ["persistentVolumeClaim"],
                            ),
                        ]
                    }
                ),
                "The PersistentVolumeClaims whose volumes the pod mounts.",
            ),
            "podGroup": about(WORD, "The group of pods that the pod belongs to."),
            "finalizers": about(
                listed(LABEL_KEY),
                "What keeps the object of a deleted pod until a controller takes it away, as batch.kubernetes.io/job-tracking does.",
            ),
            "recreates": about(
                WORD, "The pod whose name it takes, with a UID of its own, when that one is gone."
            ),
            "ready": about(FLAG, "false: it is bound at the start, and not ready."),
            "phase": about(
                word(("Pending", "Running")),
                "Pending: it is bound at the start, and its containers are not started yet.",
            ),
            "deleted": about(FLAG, "true: it is bound at the start, and somebody has deleted it already."),
            "finishes": about(
                FLAG, "true: once it is bound, the pod may succeed or fail, and its object stays."
            ),
            "extenderSelector": about(
                LABELS, "The labels that an extender of the scheduler wants of the pod's node."
            ),
            "schedulerName": about(
                WORD, "Another name than default-scheduler: a second scheduler places the pod."
            ),
            "requiredFeatures": about(listed(LABEL_KEY), "The features that the pod's node has to declare."),
            "updates": about(
                table(part("podUpdate"), 1, MAX_VERSIONS - 1),
                "What the pod's object may be updated to: by a name, the fields that change.",
            ),
            "schedulingGates": about(
                listed(part("schedulingGate")),
                "Gates that a user may remove later, all at once; one by one where there are `gateKeepers`.",
            ),
            "ignore": about(
                IGNORED, "Properties that are not to be looked at for this pod, with the reason."
            ),
        },
        ["cpu"],
    ),
    "hostPort": mapping({"port": whole(1, MAX_PORT), "protocol": word(PROTOCOLS), "hostIP": WORD}, ["port"]),
    "schedulingGate": mapping({"name": LABEL_KEY}, ["name"]),
    "toleration": mapping(
        {
            "key": LABEL_KEY,
            "operator": word(("Equal", "Exists")),
            "value": LABEL_VALUE,
            "effect": word(EFFECTS),
            "tolerationSeconds": about(
                whole(0, MAX_SECONDS), "How long the pod stays where such a taint is; only with NoExecute."
            ),
        }
    ),
    "nodeAffinity": mapping(
        {
            "required": part("nodeSelector"),
            REQUIRED: part("nodeSelector"),
            "preferred": listed(part("preferredNodes")),
            PREFERRED: listed(part("preferredNodes")),
        }
    ),
    "preferredNodes": mapping(
        {
            "weight": whole(1, 100),
            "matchExpressions": listed(part("nodeRequirement")),
            "preference": mapping(
                {"matchExpressions": listed(part("nodeRequirement"))}, ["matchExpressions"]
            ),
        }
    ),
    "nodeSelector": mapping(
        {"nodeSelectorTerms": listed(part("nodeSelectorTerm"), 1)}, ["nodeSelectorTerms"]
    ),
    "nodeSelectorTerm": mapping(
        {
            "matchExpressions": listed(part("nodeRequirement")),
            "matchFields": listed(part("nodeField")),
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
            "whenUnsatisfiable": word(("DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": part("labelSelector"),
            **_SELECTOR,
            "others": table(whole(0, MAX_OTHERS)),
            "minDomains": whole(1, MAX_SKEW),
            "nodeAffinityPolicy": word(INCLUSION),
            "nodeTaintsPolicy": word(INCLUSION),
            "matchLabelKeys": listed(LABEL_KEY),
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
    "nodeField": mapping(
        {
            "key": word((NODE_NAME,)),
            "operator": word(("In", "NotIn")),
            "values": listed({"type": "string", "maxLength": 253}, 1),
        },
        ["key", "operator", "values"],
    ),
    "namespace": mapping({"labels": LABELS}),
    "device": mapping(
        {
            "node": about(WORD, "Where the device is; none for one that all nodes reach."),
            "deviceClassName": about(WORD, "The device class that it is in."),
            "bindingConditions": about(
                FLAG, "Whether a pod is bound only once its driver has said that it is ready."
            ),
        }
    ),
    "resourceClaim": mapping(
        {
            "device": about(WORD, "What is allocated to the claim at the start."),
            "deviceClassName": about(WORD, "The device class that it asks for."),
            "reservedFor": about(listed(WORD), "The pods that may use it, at the start."),
            "bindingConditions": about(word(tuple(CONDITIONS)), "What is known of its device at the start."),
            "exists": FLAG,
        }
    ),
    "resourceClaimTemplate": mapping(
        {"deviceClassName": about(WORD, "The device class that claims made from it ask for.")}
    ),
    "deviceClass": mapping(
        {"extendedResourceName": about(WORD, "The extended resource that devices of the class stand for.")}
    ),
    "storageClass": mapping(
        {
            "volumeBindingMode": about(word(MODES), "When claims of the class are bound."),
            "provisioner": about(WORD, "Who makes volumes of the class."),
        }
    ),
    "volume": mapping(
        {
            "storageClassName": about(WORD, "The class of the volume."),
            "nodes": about(listed(WORD), "The nodes that its node affinity names; none for all."),
            "claimRef": about(WORD, "The claim that it is reserved for at the start."),
            "exists": FLAG,
        },
        ["storageClassName"],
    ),
    "volumeClaim": mapping(
        {
            "storageClassName": about(WORD, "The class of the claim."),
            "volumeName": about(WORD, "The volume that it names at the start."),
            "accessModes": listed(word(ACCESS_MODES)),
            "exists": FLAG,
        },
        ["storageClassName"],
    ),
    "podGroup": mapping(
        {
            "minCount": about(
                whole(1, MAX_MIN_COUNT), "A gang of at least so many pods; without, the policy is basic."
            ),
            "exists": about(FLAG, "false: a user may create it later."),
        }
    ),
    "controller": mapping(
        {
            "kind": about(word([kind.value for kind in OwnerKind]), "What makes the pods anew."),
            "pods": about(
                {"anyOf": [listed(WORD, 1), table(listed(WORD, 1), 1)]},
                "The pods that it may make; of a DaemonSet by node.",
            ),
            "replicas": whole(1, MAX_REPLICAS),
            "completions": about(whole(1, MAX_REPLICAS), "So many pods of a Job are to succeed."),
            "podReplacementPolicy": word(REPLACEMENT),
            "podManagementPolicy": word(MANAGEMENT),
        },
        ["kind", "pods"],
    ),
    "deschedulerPlugin": mapping(
        {
            "nodeFit": about(FLAG, "true: it evicts only what fits on another node."),
            "prefers": about(LABELS, "The labels of the nodes that pods prefer."),
            "topologyKey": LABEL_KEY,
            "maxSkew": whole(1, MOST_SKEW),
            "matchLabels": LABELS,
            "matchExpressions": listed(part("requirement")),
            "thresholds": whole(1, MAX_SHARE),
            "targetThresholds": whole(1, MAX_SHARE),
        }
    ),
    "descheduler": mapping(
        dict.fromkeys(STRATEGIES, part("deschedulerPlugin")),
        about="The plugins of the descheduler that are enabled.",
    ),
    "gateKeeper": mapping(
        {
            "gate": about(LABEL_KEY, "The scheduling gate that it takes away."),
            "quota": about(whole(1, MAX_QUOTA), "Of so many pods at once it may have taken its gate away."),
            "waitsFor": about(listed(LABEL_KEY), "Gates that have to be gone before it looks at a pod."),
            "directs": about(table(WORD), "By pod: the update that it writes."),
            "apart": about(FLAG, "true: it writes that before it takes the gate away, not with it."),
        },
        ["gate"],
    ),
    "extender": mapping(
        {
            "resource": about(LABEL_KEY, "The extended resource that it keeps count of."),
            "ignoredByScheduler": about(FLAG, "true: NodeResourcesFit does not look at the resource."),
            "verbs": about(listed(word(VERBS), 1), "What it is called for."),
            "ignorable": about(FLAG, "true: its errors are passed over."),
            "counts": about(word(COUNTS), "When it begins to count a pod on a node."),
            "nodes": about(listed(NAME), "The nodes that it lets through; without, all."),
            "unresolvable": about(
                FLAG, "true: what it rejects it calls unresolvable, so that preemption does not try it."
            ),
            "scores": about(
                table(whole(0, MAX_EXTENDER_SCORE), 0, MAX_ENTITIES),
                "The score that it gives to each node; 0 to those that are not named.",
            ),
            "weight": about(whole(1, MAX_EXTENDER_WEIGHT), "How much its scores count."),
        },
        ["verbs"],
        about="An extender of the scheduler, with a view of its own.",
    ),
    "podDisruptionBudget": mapping(
        {
            "selector": part("labelSelector"),
            "disruptionsAllowed": whole_or_range(0, MAX_ALLOWED),
            "namespace": NAME,
            "disruptedPods": listed(WORD),
            "minAvailable": about(whole(0, MAX_AVAILABLE), "So many of its pods the budget wants."),
            "unhealthyPodEvictionPolicy": about(
                word(EVICTION_POLICIES), "When pods that are not ready may be evicted."
            ),
        },
        ["selector"],
    ),
}
"""The objects of a cluster and their parts."""


DRAFT = "https://json-schema.org/draft/2020-12/schema"

_RELEASE = about(
    WORD,
    'The scheduler\'s release, such as "1.34"; a release means its first version; or a patch version, such as "1.34.4".',
)
_GATES = about(
    table(FLAG), "Feature gates that are set, such as SchedulerAsyncPreemption: see `podrace gates`."
)
_CHANGES = about(listed(WORD), "Upstream changes, such as 72259.")
_PROPERTIES = about(listed({"type": "string"}), "Identifiers such as S-NOM: see `podrace properties`.")


def _bound(bound: Bound) -> Schema:
    """A bound of the scope: on or off, or a count; of faults that strike objects, also with the names of these."""
    if bound.least is None:
        return FLAG
    count = whole(bound.least, MAX_COUNT)
    if not bound.strikes:
        return count
    fields = {"count": whole(1, MAX_COUNT), **{section: listed(WORD, 1) for section in bound.strikes}}
    return {"anyOf": [count, mapping(fields, about="How many, and which objects they strike.")]}


SECTIONS: Mapping[str, Schema] = {
    "verdict": mapping({"verdict": word(EXPECTED), "steps": whole(0, MAX_STEPS)}, ["verdict"]),
    "verdicts": table({"anyOf": [word(EXPECTED), part("verdict")]}),
    "expectation": mapping(
        {
            "release": _RELEASE,
            "with_fixes": _CHANGES,
            "without_fixes": _CHANGES,
            "featureGates": _GATES,
            "verdicts": part("verdicts"),
        },
        ["verdicts"],
    ),
    "scope": mapping(
        {name: _bound(bound) for name, bound in BOUNDS.items()},
        about="How often what may happen, and how far views may lag.",
    ),
    "config": mapping(
        {
            **dict.fromkeys(SWITCHES, FLAG),
            **{name: whole(0, most) for name, (_, most) in NUMBERS.items()},
            "scoreWeights": mapping(dict.fromkeys(SCORE_PLUGINS, whole(0, MAX_WEIGHT))),
            "scoringStrategy": about(
                word(RESOURCE_STRATEGIES), "How NodeResourcesFit scores; resources are scored only with it."
            ),
        },
        about="The scheduler's configuration.",
    ),
    "race": mapping(
        {
            "issue": whole(1, 10_000_000),
            "fixes": listed(WORD, 1),
            "beside": listed(WORD, 1),
            "seed": FLAG,
            "residual": part("residual"),
        },
        ["issue", "fixes"],
        "The upstream race that the scenario shows.",
    ),
    "residual": mapping(
        {"property": {"type": "string"}, "closed_by": listed(WORD, 1)}, ["property", "closed_by"]
    ),
}
"""The sections beside the cluster."""


def schema_of_scenarios() -> Schema:
    """The schema: what it refuses, the reader refuses; the reader also compares fields with one another."""
    top = mapping(
        {
            "name": about(NAME, "What the scenario is called; the file's name unless given."),
            "title": about(
                {"type": ["string", "number", "boolean"], "maxLength": 200}, "What it shows, in one line."
            ),
            "race": part("race"),
            "release": _RELEASE,
            "featureGates": _GATES,
            "properties": _PROPERTIES,
            "also": about(listed({"type": "string"}), "Further properties that are of interest here."),
            "expect": about(
                {
                    "anyOf": [
                        {**part("verdicts"), "minProperties": 1},
                        listed(part("expectation"), 1),
                    ]
                },
                "What should come out, for `podrace test`.",
            ),
            "ignore": about(
                IGNORED,
                "Properties that are not to be looked at, with the reason.",
            ),
            "nodes": table(part("node"), 1, MAX_ENTITIES),
            "pods": table(part("pod"), 1, MAX_ENTITIES),
            "namespaces": table(part("namespace")),
            "podDisruptionBudgets": table(part("podDisruptionBudget"), 0, MAX_ENTITIES),
            "devices": table(part("device"), 0, MAX_ENTITIES),
            "resourceClaims": table(part("resourceClaim"), 0, MAX_ENTITIES),
            "resourceClaimTemplates": table(part("resourceClaimTemplate"), 0, MAX_ENTITIES),
            "deviceClasses": table(part("deviceClass"), 0, MAX_ENTITIES),
            "storageClasses": table(part("storageClass"), 0, MAX_ENTITIES),
            "volumes": table(part("volume"), 0, MAX_ENTITIES),
            "volumeClaims": table(part("volumeClaim"), 0, MAX_ENTITIES),
            "podGroups": table(part("podGroup"), 0, MAX_ENTITIES),
            "controllers": table(part("controller"), 0, MAX_ENTITIES),
            "descheduler": {**part("descheduler"), "minProperties": 1},
            "gateKeepers": table(part("gateKeeper"), 1, MAX_ENTITIES),
            "extender": part("extender"),
            "extenders": table(part("extender"), 1, MAX_EXTENDERS),
            "scope": part("scope"),
            "config": part("config"),
        },
        ["nodes", "pods"],
    )
    head = {"$schema": DRAFT, "title": "A scenario of podrace"}
    return {**head, **top, "$defs": {**SHARED, **OBJECTS, **SECTIONS}}


__all__ = ["schema_of_scenarios"]
