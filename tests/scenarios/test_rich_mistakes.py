"""One exact line for every mistake in the fields that go beyond CPU and priority."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.model.environment.cluster.scope import BOUNDS
from podrace.scenarios import parse_scenario


def complaint(nodes: str, pods: str, rest: str = "") -> str:
    with pytest.raises(Problem) as caught:
        parse_scenario(f"nodes: {nodes}\npods: {pods}\n{rest}", "s.yaml")
    return str(caught.value)


BYTES = "expected a whole number of bytes from 0 to 1Pi such as 1000, 128Mi or 1.5G"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("memory: 100m", f"memory: {BYTES}, not `100m`"),
        ("memory: 1.5", f"memory: {BYTES}, not `1.5`"),
        ("memory: [1]", f"memory: {BYTES}, not a list"),
        ("resources: 3", "resources: expected a mapping from extended resources, such as example.com/gpu, to whole numbers, not `3`"),
        ("resources: {gpu: 1}", "resources.gpu: the scheduler ignores `gpu`: give it a domain, such as example.com/gpu"),
        (
            "resources: {memory: 1}",
            "resources.memory: `memory` is no extended resource: write it next to `resources`, not below it",
        ),
        (
            "resources: {example.com/gpu: 500m}",
            "resources.example.com/gpu: expected a whole number from 0 to 1125899906842624, not `500m`",
        ),
        ("pods: -1", "pods: expected a whole number from 0 to 1000, not `-1`"),
        ("unschedulable: 1", "unschedulable: expected true or false, not `1`"),
        ("taints: {key: a}", "taints: expected a list of taints, not a mapping"),
        ("taints: [{key: a}]", "taints[0]: `effect` is missing: a taint needs `key` and `effect`"),
        (
            "taints: [{key: a, effect: NoSchedul}]",
            ("taints[0].effect: there is no such effect: `NoSchedul`; did you mean `NoSchedule`? "
            "(known: NoSchedule, PreferNoSchedule, NoExecute)"),
        ),
        (
            "taints: [{key: a b, effect: NoSchedule}]",
            "taints[0].key: expected a label key such as app or example.com/zone, not `a b`",
        ),
        (
            'labels: {a: "-"}',
            ("labels.a: expected a label value of at most 63 letters, digits, `-`, `_` and `.`, "
            "a letter or digit at both ends, not `-`"),
        ),
        ("updates: {}", "updates: give node n 1 to 7 updates"),
        ("updates: [a]", "updates: expected a mapping from names to what changes, not a list"),
        ("updates: {initial: {cpu: 2}}", "updates.initial: `initial` is what the node is at first: give the update another name"),
        ("updates: {a: {}}", "updates.a: the update changes nothing: name a field, such as `taints: []`"),
        (
            "updates: {a: {exists: false}}",
            ("updates.a: unknown field `exists`; known: cpu, memory, ephemeral-storage, resources, pods, labels, taints, "
            "unschedulable, conditions, declaredFeatures"),
        ),
        (
            "updates: {a: {cpu: 1..2}}",
            "updates.a.cpu: a node with updates has no ranges: give one amount, or remove the updates",
        ),
        (
            "memory: 1Gi..2Gi, updates: {a: {cpu: 2}}",
            "memory: a node with updates has no ranges: give one amount, or remove the updates",
        ),
        ('labels: {"a b": c}', "labels.a b: expected a label key such as app or example.com/zone, not `a b`"),
    ],
)  # fmt: skip
def test_nodes(fields: str, message: str) -> None:
    assert complaint(f"{{n: {{cpu: 1, {fields}}}}}", "{p: {cpu: 1}}") == f"s.yaml:1: nodes.n.{message}"


OPERATORS = "(known: In, NotIn, Exists, DoesNotExist)"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            "memory: 1Gi",
            (".memory: the pod requests 1Gi, but no node says how much memory it has: "
            "give it to a node, too, or remove it here"),
        ),
        (
            "resources: {example.com/gpu: 3}",
            (".resources.example.com/gpu: the pod requests 3, but the largest node, n, has 2: "
            "lower the request or enlarge a node"),
        ),
        (
            "ephemeral-storage: 3G",
            (".ephemeral-storage: the pod requests 3G, but the largest node, n, has 2G: "
            "lower the request or enlarge a node"),
        ),
        (
            "preemptionPolicy: never",
            (".preemptionPolicy: there is no such preemption policy: `never`; did you mean `Never`? "
            "(known: PreemptLowerPriority, Never)"),
        ),
        (
            "namespace: A",
            ".namespace: expected a name of at most 63 lower-case letters, digits, `-` and `.`, not `A`",
        ),
        (
            "nodeName: n, creationTimestamp: 2021-08-04T12:00:00Z",
            ".creationTimestamp: only of pods that wait at the start it says who came first: remove it, or `nodeName`, `exists` and `recreates`",
        ),
        (
            "startTime: 2021-08-04T12:00:00Z",
            ".startTime: only a pod on a node has started: add `nodeName`, or remove `startTime`",
        ),
        (
            "nodeName: n, startTime: 5",
            ".startTime: expected a time such as 2021-08-04T12:00:00Z, not `5`",
        ),
        (
            "nodeName: n, startTime: 2021-13-04T12:00:00Z",
            ".startTime: expected a time such as 2021-08-04T12:00:00Z, not `2021-13-04T12:00:00Z`",
        ),
        (
            "extensionPoints: [prebind]",
            (".extensionPoints[0]: there is no such extension point: `prebind`; did you mean `preBind`? "
            "(known: reserve, permit, preBind)"),
        ),
        (
            "schedulingGates: [a]",
            ".schedulingGates[0]: expected a gate, such as {name: example.com/quota}, not `a`",
        ),
        ("schedulingGates: [{}]", ".schedulingGates[0]: `name` is missing: a gate is known by its name"),
        (
            "schedulingGates: [{name: a b}]",
            ".schedulingGates[0].name: expected a label key such as app or example.com/zone, not `a b`",
        ),
        (
            "schedulingGates: [{name: a}, {name: a}]",
            ".schedulingGates[1]: `a` is listed twice: remove one of them",
        ),
        (
            "nodeName: n, schedulingGates: [{name: a}]",
            ".schedulingGates: a pod with gates is on no node: remove `nodeName` or `schedulingGates`",
        ),
        ("hostPorts: 80", ".hostPorts: expected a list of ports, such as [80] or [{port: 53, protocol: UDP}], not `80`"),
        ("hostPorts: [0]", ".hostPorts[0]: expected a whole number from 1 to 65535, not `0`"),
        ("hostPorts: [http]", ".hostPorts[0]: expected a whole number from 1 to 65535, not `http`"),
        ("hostPorts: [{protocol: UDP}]", ".hostPorts[0]: `port` is missing: a port is a number from 1 to 65535"),
        (
            "hostPorts: [{port: 80, protocol: tcp}]",
            ".hostPorts[0].protocol: there is no such protocol: `tcp`; did you mean `TCP`? (known: TCP, UDP, SCTP)",
        ),
        (
            "hostPorts: [{port: 80, hostIP: n1}]",
            ".hostPorts[0].hostIP: expected an address such as 10.0.0.1, not `n1`",
        ),
        (
            "hostPorts: [{hostPort: 80}]",
            ".hostPorts[0]: unknown field `hostPort`; did you mean `hostIP`? (known: port, protocol, hostIP)",
        ),
        (
            "hostPorts: [{port: 80, hostIP: 10.0.0.1}, 80]",
            ".hostPorts[1]: the pod would be in its own way with TCP 0.0.0.0:80: remove one of the two ports",
        ),
        ("extensionPoints: [permit, permit]", ".extensionPoints[1]: `permit` is listed twice: remove one of them"),
        (
            "tolerations: [{operator: Exists, key: a, value: b}]",
            ".tolerations[0].value: Exists compares with nothing: remove `value`, or make the operator Equal",
        ),
        (
            "tolerations: [{effect: NoSchedule}]",
            ".tolerations[0]: `key` is missing: without it the operator must be Exists, which tolerates every taint",
        ),
        (
            "tolerations: [{key: a, tolerationSeconds: 5}]",
            ".tolerations[0].tolerationSeconds: only the effect NoExecute has a time: add `effect: NoExecute`, or remove `tolerationSeconds`",
        ),
        ("nodeSelector: {zone: 1}", '.nodeSelector.zone: expected a label value, not `1`: put it in quotes ("1")'),
        (
            "topologySpreadConstraints: [{maxSkew: 1}]",
            ".topologySpreadConstraints[0]: `topologyKey` is missing: a constraint needs `maxSkew` and `topologyKey`",
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone}]",
            (
                ".topologySpreadConstraints[0]: "
                "`matchLabels` is missing: give the labels of the pods that are counted"
            ),
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, matchLabels: {a: b}}]",
            ".topologySpreadConstraints[0].maxSkew: expected a whole number from 1 to 2147483648, not `0`",
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]",
            (
                ".topologySpreadConstraints[0]: "
                "`matchLabels` is missing: give the labels of the pods that are counted"
            ),
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, labelSelector: {}, matchLabels: {}}]",
            (
                ".topologySpreadConstraints[0].matchLabels: "
                "`labelSelector` is there, too: move `matchLabels` into it"
            ),
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, matchLabels: {}, others: {a: -1}}]",
            ".topologySpreadConstraints[0].others.a: expected a whole number from 0 to 1000000, not `-1`",
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, matchLabels: {}, others: 2}]",
            (
                ".topologySpreadConstraints[0].others: "
                "expected a mapping from values of the topology key to numbers of pods, not `2`"
            ),
        ),
        ("nodeAffinity: {}", ".nodeAffinity: `required` is missing: give `nodeSelectorTerms` below it, or `preferred`"),
        (
            "nodeAffinity: {preferred: [{weight: 5}]}",
            ".nodeAffinity.preferred[0]: `matchExpressions` is missing: say which nodes the pod prefers",
        ),
        (
            "nodeAffinity: {preferred: [{preference: {}}]}",
            ".nodeAffinity.preferred[0].preference: `matchExpressions` is missing: say which nodes the pod prefers",
        ),
        (
            "nodeAffinity: {preferred: [{preference: {}, matchExpressions: []}]}",
            ".nodeAffinity.preferred[0].matchExpressions: `preference` is there, too: move `matchExpressions` into it",
        ),
        (
            "nodeAffinity: {preferred: [{matchExpressions: [{key: a, operator: Exists}]}]}",
            ": without scores, ScheduleAnyway, preferred nodes and preferred pods decide nothing: add `config: {scored: true}`, or remove them",
        ),
        (
            "podAffinity: {preferred: [{weight: 1, topologyKey: zone, labelSelector: {}}]}",
            ": without scores, ScheduleAnyway, preferred nodes and preferred pods decide nothing: add `config: {scored: true}`, or remove them",
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, matchLabels: {}}]",
            ": without scores, ScheduleAnyway, preferred nodes and preferred pods decide nothing: add `config: {scored: true}`, or remove them",
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, matchLabels: {}, minDomains: 2}]",
            ".topologySpreadConstraints[0].minDomains: ScheduleAnyway has no minDomains: remove it",
        ),
        (
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Maybe, matchLabels: {}}]",
            ".topologySpreadConstraints[0].whenUnsatisfiable: there is no such action: `Maybe`; known: DoNotSchedule, ScheduleAnyway",
        ),
        ("defaultSpread: {}", ".defaultSpread: an empty selector makes no constraints: name a label"),
        (
            "defaultSpread: {matchLabels: {a: b}}, topologySpreadConstraints: []",
            ".defaultSpread: a pod with topology spread constraints of its own has none by default: remove one of them",
        ),
        (
            "nodeAffinity: {required: {}}",
            ".nodeAffinity.required: `nodeSelectorTerms` is missing: give a list of terms, of which one must match",
        ),
        (
            "nodeAffinity: {required: {nodeSelectorTerms: []}}",
            (".nodeAffinity.required.nodeSelectorTerms: the list is empty: "
            "give at least one term, or remove the affinity"),
        ),
    ],
)  # fmt: skip
def test_pods(fields: str, message: str) -> None:
    node = "{n: {cpu: 1, ephemeral-storage: 2G, resources: {example.com/gpu: 2}}}"
    assert complaint(node, f"{{p: {{cpu: 1, {fields}}}}}") == f"s.yaml:2: pods.p{message}"


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("matchExpressions: [{key: a}]", ".matchExpressions[0]: `operator` is missing: a requirement needs `key` and `operator`"),
        (
            "matchExpressions: [{key: a, operator: Is}]",
            (".matchExpressions[0].operator: there is no such operator: `Is`; "
            "known: In, NotIn, Exists, DoesNotExist, Gt, Lt"),
        ),
        ("matchExpressions: [{key: a, operator: In}]", ".matchExpressions[0]: `values` is missing: In needs at least one"),
        (
            "matchExpressions: [{key: a, operator: Exists, values: [b]}]",
            ".matchExpressions[0].values: Exists compares with nothing: remove `values`",
        ),
        (
            'matchExpressions: [{key: a, operator: Gt, values: ["1", "2"]}]',
            ".matchExpressions[0]: Gt compares with one number: give exactly one in `values`",
        ),
        (
            "matchExpressions: [{key: a, operator: Lt, values: [x]}]",
            ".matchExpressions[0].values[0]: expected a whole number, not `x`",
        ),
        (
            'matchExpressions: [{key: a, operator: Gt, values: ["-1"]}]',
            (".matchExpressions[0].values[0]: a number with a sign is no label value, so Gt would match no node: "
            "write one without a sign"),
        ),
        (
            "matchFields: [{key: metadata.name, operator: In, values: [7]}]",
            '.matchFields[0].values[0]: expected the name of a node, not `7`: put it in quotes ("7")',
        ),
        (
            "matchFields: [{key: metadata.names, operator: In, values: [n]}]",
            (".matchFields[0].key: there is no such field of a node: `metadata.names`; "
            "did you mean `metadata.name`? (known: metadata.name)"),
        ),
        (
            "matchFields: [{key: metadata.name, operator: Exists}]",
            ".matchFields[0].operator: there is no such operator: `Exists`; known: In, NotIn",
        ),
        (
            "matchFields: [{key: metadata.name, operator: In, values: [n, m]}]",
            ".matchFields[0]: a field is compared with one name: give exactly one in `values`, or several terms",
        ),
    ],
)  # fmt: skip
def test_node_selector_terms(term: str, message: str) -> None:
    pod = f"{{p: {{cpu: 1, nodeAffinity: {{required: {{nodeSelectorTerms: [{{{term}}}]}}}}}}}}"
    path = "pods.p.nodeAffinity.required.nodeSelectorTerms[0]"
    assert complaint("{n: {cpu: 1}}", pod) == f"s.yaml:2: {path}{message}"


@pytest.mark.parametrize(
    ("pods", "message"),
    [
        ("p: {cpu: 1, recreates: q}", "pods.p.recreates: there is no pod `q`; known: p"),
        ("p: {cpu: 1, recreates: p}", "pods.p.recreates: a pod does not take its own name: name another"),
        (
            "q: {cpu: 1}, p: {cpu: 1, recreates: q, nodeName: n}",
            "pods.p.nodeName: a pod that takes another's name is created when that one is gone: remove `nodeName`",
        ),
        (
            "q: {cpu: 1}, p: {cpu: 1, recreates: q, exists: false}",
            "pods.p.exists: a pod that takes another's name is created when that one is gone: remove `exists`",
        ),
        (
            "q: {cpu: 1, exists: false}, p: {cpu: 1, recreates: q}",
            "pods.p.recreates: pod q is not there at the start: name one that is",
        ),
        (
            "q: {cpu: 1}, r: {cpu: 1, recreates: q}, p: {cpu: 1, recreates: r}",
            "pods.p.recreates: pod r is not there at the start: name one that is",
        ),
        (
            "q: {cpu: 1}, r: {cpu: 1, recreates: q}, p: {cpu: 1, recreates: q}",
            "pods.p.recreates: the name of pod q is used again by another pod: a name is used at most twice",
        ),
        (
            "q: {cpu: 1, namespace: team}, p: {cpu: 1, recreates: q}",
            "pods.p.recreates: pod q is in another namespace: names are used again within one",
        ),
    ],
)
def test_names_that_are_used_again(pods: str, message: str) -> None:
    assert complaint("{n: {cpu: 1}}", f"{{{pods}}}") == f"s.yaml:2: {message}"


@pytest.mark.parametrize(
    ("affinity", "message"),
    [
        (
            "required: [{matchLabels: {a: b}}]",
            ".required[0]: `topologyKey` is missing: a term needs `matchLabels` and `topologyKey`",
        ),
        (
            "required: [{labelSelector: {}, matchLabels: {a: b}, topologyKey: z}]",
            ".required[0].matchLabels: `labelSelector` is there, too: move `matchLabels` into it",
        ),
        (
            "required: [], requiredDuringSchedulingIgnoredDuringExecution: []",
            (".required: `required` is short for `requiredDuringSchedulingIgnoredDuringExecution`, "
            "which is there, too: remove one of them"),
        ),
        (
            "required: [{weight: 1, matchLabels: {}, topologyKey: z}]",
            (".required[0]: unknown field `weight`; known: topologyKey, labelSelector, matchLabels, "
            "matchExpressions, namespaces, namespaceSelector"),
        ),
        (
            "preferred: [{weight: 101, matchLabels: {}, topologyKey: z}]",
            ".preferred[0].weight: expected a whole number from 1 to 100, not `101`",
        ),
        (
            "preferred: [{podAffinityTerm: {}, topologyKey: z}]",
            ".preferred[0].topologyKey: `podAffinityTerm` is there, too: move `topologyKey` into it",
        ),
        (
            "preferred: [{podAffinityTerm: {topologyKey: z}}]",
            ".preferred[0].podAffinityTerm: `matchLabels` is missing: a term needs `matchLabels` and `topologyKey`",
        ),
        (
            "required: [{labelSelector: {matchExpressions: [{key: a, operator: Gt, values: [b]}]}, topologyKey: z}]",
            (".required[0].labelSelector.matchExpressions[0].operator: there is no such operator: `Gt`; "
            "known: In, NotIn, Exists, DoesNotExist"),
        ),
        (
            "required: [{matchLabels: {}, topologyKey: z, namespaces: [A]}]",
            ".required[0].namespaces[0]: expected a name of at most 63 lower-case letters, digits, `-` and `.`, not `A`",
        ),
    ],
)  # fmt: skip
def test_affinity(affinity: str, message: str) -> None:
    pod = f"{{p: {{cpu: 1, podAntiAffinity: {{{affinity}}}}}}}"
    assert complaint("{n: {cpu: 1}}", pod) == f"s.yaml:2: pods.p.podAntiAffinity{message}"


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (
            "podDisruptionBudgets: {b: 1}",
            "podDisruptionBudgets.b: expected a mapping such as {selector: {matchLabels: {app: web}}}, not `1`",
        ),
        (
            "podDisruptionBudgets: {b: {disruptionsAllowed: 1}}",
            "podDisruptionBudgets.b: `selector` is missing: say which pods the budget protects",
        ),
        (
            "podDisruptionBudgets: {b: {selector: {matchLabels: {a: b}}, disruptedPods: [q]}}",
            "podDisruptionBudgets.b.disruptedPods[0]: there is no pod `q`; known: p",
        ),
        ("namespaces: {team: [a]}", "namespaces.team: expected a mapping with labels, not a list"),
        (
            "config: {percentageOfNodesToScore: 50}",
            "config.percentageOfNodesToScore: below 100 nodes every node is examined, whatever this says: remove it",
        ),
        ("scope: {pod_deletions: }", "scope.pod_deletions: nothing stands after the colon: give a value, or remove the field"),
        ("sharedCounters: {memory: 2}", "sharedCounters: no device takes a part of memory: name it in `consumesCounters` of one, or remove it"),
        (
            "config: {hardPodAffinityWeight: 2}",
            "config.hardPodAffinityWeight: without scores this decides nothing: add `scored: true`, or remove it",
        ),
        (
            "config: {minCandidateNodesAbsolute: 0, minCandidateNodesPercentage: 0}",
            ("config: no candidate would ever be enough: let minCandidateNodesPercentage or "
            "minCandidateNodesAbsolute be at least 1"),
        ),
        (
            "scope: {plugin_errors: 1}",
            ("scope.plugin_errors: no plugin could do so: give a pod `extensionPoints` with reserve or preBind, "
            "or remove the bound"),
        ),
        (
            "scope: {permit_rejections: 1}",
            ("scope.permit_rejections: no plugin could do so: give a pod `extensionPoints` with permit, "
            "or remove the bound"),
        ),
        (
            "scope: {node_updates: 1}",
            "scope.node_updates: no node has anything to be updated to: give one `updates`, or remove the bound",
        ),
        (
            "scope: {config: {}}",
            f"scope: unknown field `config`; the nearest of {len(BOUNDS)}: backoff, evictions, scale_down_waits, bound_finalizers, scale_downs",
        ),
        (
            "scope: {slow: [scheduler]}",
            "scope.slow: with `time: any` every actor may be slow: add `time: scales`, or remove this",
        ),
        (
            "scope: {time: minutes}",
            "scope.time: there is no such scale of time: `minutes`; known: any, scales",
        ),
        (
            "scope: {late_bindings: 1, leader_changes: 1}",
            "scope.late_bindings: which of two Bindings of a pod is executed late is not told apart: remove this or `leader_changes`",
        ),
        (
            "scope: {watch_stalls: 1, leader_changes: 1}",
            "scope.watch_stalls: what the watches of a standby show then is not modelled: remove this or `leader_changes`",
        ),
        (
            "scope: {evictions: 1}",
            "scope.evictions: evictions take from budgets that are kept: add `disruption_controller: true`",
        ),
        (
            "scope: {scale_down_looks_again: true}",
            "scope.scale_down_looks_again: there is no autoscaler to look: add `scale_downs: 1`, or remove this",
        ),
    ],
)  # fmt: skip
def test_other_sections(rest: str, message: str) -> None:
    assert complaint("{n: {cpu: 1}}", "{p: {cpu: 1}}", rest) == f"s.yaml:3: {message}"


def test_nodes_that_are_too_small_for_their_pods() -> None:
    pods = "{p: {cpu: 0, memory: 1Gi, nodeName: n}, q: {cpu: 0, memory: 1Gi, nodeName: n}, r: {cpu: 0, nodeName: n}}"
    assert complaint("{n: {cpu: 1, memory: 1536Mi}}", pods) == (
        "s.yaml:1: nodes.n: the pods bound to the node (p, q) request 2Gi of memory, but it has 1536Mi: "
        "lower a request, enlarge the node, or unbind a pod"
    )
    assert complaint("{n: {cpu: 1, memory: 2Gi, pods: 2}}", pods) == (
        "s.yaml:1: nodes.n.pods: 3 pods are bound to the node (p, q, r): raise the number, or unbind a pod"
    )


def test_scores_and_labels_that_change() -> None:
    nodes = "{n: {cpu: 1, updates: {west: {labels: {zone: west}}}}}"
    assert complaint(nodes, "{p: {cpu: 1}}", "config: {scored: true}") == (
        "s.yaml:1: nodes.n.updates: scores look at the labels that a node has at first: let no update change labels, "
        "or remove `scored: true`"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("updates: {}", "updates: give pod p 1 to 7 updates"),
        ("updates: {initial: {cpu: 2}}", "updates.initial: `initial` is what the pod is at first: give the update another name"),
        ("updates: {a: {}}", "updates.a: the update changes nothing: name a field, such as `labels: {}`"),
        (
            "updates: {a: {priority: 2}}",
            "updates.a: unknown field `priority`; known: cpu, memory, labels, tolerations, nodeSelector, nodeAffinity",
        ),
        ("updates: {a: {cpu: 1..2}}", "updates.a.cpu: a pod with updates has no ranges: give one amount, or remove the updates"),
        (
            "tolerations: [{key: a, operator: Exists}], updates: {a: {tolerations: []}}",
            "updates.a: tolerations can be added, not taken away: name those that the pod has at first, too",
        ),
        (
            "updates: {a: {nodeSelector: {disk: ssd}}}",
            ("updates.a: what a pod asks of its node stays once it has no scheduling gates: give it `schedulingGates`, or leave nodeSelector and "
            "nodeAffinity as they are"),
        ),
        (
            "schedulingGates: [{name: x}], nodeSelector: {disk: ssd}, updates: {a: {nodeSelector: {}}}",
            ("updates.a: what a gated pod asks of its node can be narrowed, not widened: name the labels and the requirements that it has at "
            "first, too"),
        ),
    ],
)  # fmt: skip
def test_updates_of_pods(fields: str, message: str) -> None:
    assert complaint("{n: {cpu: 1}}", f"{{p: {{cpu: 1, {fields}}}}}") == f"s.yaml:2: pods.p.{message}"


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (
            "config: {scored: true}",
            "scores look at the labels that a pod has at first: let no update change labels, or remove `scored: true`",
        ),
        (
            "podDisruptionBudgets: {b: {selector: {matchLabels: {app: web}}}}",
            "budgets look at the labels that a pod has at first: let no update change labels, or remove the budgets",
        ),
    ],
)
def test_labels_that_others_look_at_stay(rest: str, message: str) -> None:
    pods = "{p: {cpu: 1, updates: {a: {labels: {app: web}}}}}"
    assert complaint("{n: {cpu: 1}}", pods, rest) == f"s.yaml:2: pods.p.updates.a: {message}"


def test_updates_that_could_never_come() -> None:
    assert complaint(
        "{n: {cpu: 1, updates: {larger: {cpu: 2}}}}", "{p: {cpu: 1}}", "scope: {node_updates: 0}"
    ) == ("s.yaml:3: scope.node_updates: n.larger could never appear: allow at least 1, or remove `updates`")


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        (
            "",
            "scope.disruption_controller: a disruption controller has nothing to count: add `podDisruptionBudgets`, or remove this",
        ),
        (
            "podDisruptionBudgets: {b: {selector: {matchLabels: {a: b}}, disruptionsAllowed: 1..2}}",
            "b: a budget that is kept allows a number of disruptions, not a range",
        ),
        (
            "podDisruptionBudgets: {b: {selector: {matchLabels: {a: b}}, disruptionsAllowed: 2}}",
            (
                "it allows 2 disruptions and has 1 running pods, and the disruption controller would never allow more than run: "
                "lower `disruptionsAllowed`"
            ),
        ),
    ],
)
def test_budgets_that_no_disruption_controller_would_have_set(budgets: str, message: str) -> None:
    pods = "{p: {cpu: 1, labels: {a: b}, nodeName: n}, q: {cpu: 1, labels: {a: b}}}"
    found = complaint("{n: {cpu: 1}}", pods, f"scope: {{disruption_controller: true}}\n{budgets}")
    assert found.endswith(message)


def test_pods_that_are_bound_are_not_in_each_others_way() -> None:
    bound = "cpu: 1, nodeName: n, hostPorts: [80]"
    assert complaint("{n: {cpu: 3}}", f"{{a: {{{bound}}}, b: {{{bound}}}, p: {{cpu: 1}}}}") == (
        "s.yaml:1: nodes.n: a and b, which are bound to the node, want the same host port: unbind one of them"
    )


def test_updates_of_pods_that_could_never_come() -> None:
    assert complaint(
        "{n: {cpu: 1}}", "{p: {cpu: 1, updates: {larger: {cpu: 2}}}}", "scope: {pod_updates: 0}"
    ) == ("s.yaml:3: scope.pod_updates: p.larger could never appear: allow at least 1, or remove `updates`")
    assert complaint("{n: {cpu: 1}}", "{p: {cpu: 1}}", "scope: {pod_updates: 1}") == (
        "s.yaml:3: scope.pod_updates: no pod has anything to be updated to: give one `updates`, or remove the bound"
    )


def test_a_device_of_another_class() -> None:
    rest = "devices: {d: {deviceClassName: gpu}}\nresourceClaims: {c: {device: d, deviceClassName: nic}}\n"
    assert complaint("{n: {cpu: 1}}", "{p: {cpu: 1, resourceClaims: [c]}}", rest) == (
        "s.yaml:4: resourceClaims.c.device: `d` is of class gpu: name the class of both alike, as `deviceClassName`"
    )


def test_switches_that_nothing_could_follow() -> None:
    assert complaint("{n: {cpu: 1}}", "{p: {cpu: 1}}", "scope: {bound_finalizers: true}") == (
        "s.yaml:3: scope.bound_finalizers: no pod has finalizers that could keep it: give one `finalizers`, or remove `bound_finalizers`"
    )
    assert complaint("{n: {cpu: 1}}", "{p: {cpu: 1}}", "scope: {taint_eviction: true}") == (
        "s.yaml:3: scope.taint_eviction: no node has a taint with the effect NoExecute, at first or by `updates`: give one such a taint, or remove `taint_eviction`"
    )
