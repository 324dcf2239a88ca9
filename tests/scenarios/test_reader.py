"""Scenario files: what they mean, and one exact line for every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.base.problems import Problem
from podrace.model.environment.cluster.scope import BOUNDS
from podrace.model.environment.objects import Config, Scope
from podrace.scenarios import Scenario, parse_scenario, read_scenario
from podrace.scenarios.tables.pods import PODS

GOOD = """\
name: example
title: An example
race: {issue: 72124, fixes: [72259], seed: true}
release: 1.13.0
properties: [S-NOM]
also: [S-CAP]
nodes:
  n2: {cpu: 2, labels: {zone: a}}
  n1: {cpu: 1}
pods:
  v: {cpu: 2, priority: -5, nodeName: n2, terminationGracePeriodSeconds: 0}
  p: {cpu: 1, labels: {app: x}, terminationGracePeriodSeconds: 30}
  late: {cpu: 1, exists: false}
  a:
    cpu: 1
    podAffinity: {preferred: [{matchLabels: {app: x}, topologyKey: zone}]}
    podAntiAffinity: {required: [{matchLabels: {app: x}, topologyKey: kubernetes.io/hostname}]}
scope: {pod_events: 3, pod_gc: false}
config: {scored: true}
"""


def parse(text: str) -> Scenario:
    return parse_scenario(text, "s.yaml")


def complaint(text: str) -> str:
    with pytest.raises(Problem) as caught:
        parse(text)
    return str(caught.value)


def cluster(nodes: str = "{n: {cpu: 2}}", pods: str = "{p: {cpu: 1}}", rest: str = "") -> str:
    return f"nodes: {nodes}\npods: {pods}\n{rest}"


def test_every_field_is_read() -> None:
    scenario = parse(GOOD)
    assert (scenario.name, scenario.title, scenario.file) == ("example", "An example", "s.yaml")
    assert scenario.race is not None
    assert (scenario.race.issue, scenario.race.fixes, scenario.race.seed) == (72124, ("72259",), True)
    assert (scenario.release, scenario.properties, scenario.also) == ("1.13.0", ("S-NOM",), ("S-CAP",))
    n2, n1 = scenario.spec.nodes
    assert (n2.name, n2.index, n2.cpu.value, n2.labels["zone"]) == ("n2", 0, 2, "a")
    assert (n1.name, n1.index, n1.cpu.value) == ("n1", 1, 1)
    v, p, late, a = scenario.spec.pods
    assert (v.name, v.priority.value, v.node, v.graceful) == ("v", -5, n2, False)
    assert (p.labels, p.graceful, p.exists, late.exists) == ({"app": "x"}, True, True, False)
    preferred, required = a.terms
    assert (preferred.required, preferred.anti, preferred.topology_key) == (False, False, "zone")
    assert (required.required, required.anti, required.match_labels) == (True, True, {"app": "x"})
    assert scenario.spec.scope == Scope(
        pod_events=3, pod_gc=False, pod_creations=1, config=Config(scored=True)
    )


def test_only_nodes_and_pods_are_needed() -> None:
    scenario = parse(cluster())
    assert (scenario.name, scenario.race, scenario.release, scenario.properties) == ("s", None, None, ())
    assert scenario.spec.scope == Scope()


def test_a_release_keeps_its_last_zero() -> None:
    assert parse(cluster(rest="release: 1.10\n")).release == "1.10"


@pytest.mark.parametrize(
    ("node", "pod", "expected"),
    [
        ("2", "1", (2, 1)),
        ("2", "500m", (4, 1)),
        ("1.5", "1", (3, 2)),
        ("2000m", "2", (1, 1)),
        ("3", "0", (1, 0)),
    ],
)
def test_quantities_become_whole_numbers_of_the_greatest_common_unit(
    node: str, pod: str, expected: tuple[int, int]
) -> None:
    spec = parse(cluster(f"{{n: {{cpu: {node}}}}}", f"{{p: {{cpu: {pod}}}}}")).spec
    assert (spec.nodes[0].cpu.value, spec.pods[0].cpu.value) == expected


def test_a_complaint_names_the_line_of_a_field() -> None:
    error = parse(GOOD).complaint("properties[0]", "unknown property")
    assert str(error) == "s.yaml:5: properties[0]: unknown property"


SCOPE = "a mapping of bounds"
TOP = "name, title, race, release, featureGates, properties, also, expect, ask, ignore, nodes, pods, namespaces, podDisruptionBudgets, devices, sharedCounters, resourceClaims, resourceClaimTemplates, deviceClasses, csiDrivers, storageClasses, volumes, volumeClaims, podGroups, controllers, descheduler, gateKeepers, extender, extenders, scope, config"
MANY_PODS = "{" + ", ".join(f"p{i}: {{cpu: 1}}" for i in range(17)) + "}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # not YAML, or not what podrace reads of it
        ("", "s.yaml: the file is empty: a scenario has at least `nodes` and `pods`"),
        ("# nothing\n", "s.yaml: the file is empty: a scenario has at least `nodes` and `pods`"),
        (
            "hello",
            "s.yaml:1: expected a scenario: a mapping with `nodes` and `pods`, not `hello`",
        ),
        ("- a\n- b\n", "s.yaml:1: expected a scenario: a mapping with `nodes` and `pods`, not a list"),
        ("name: [a\npods: 1\n", "s.yaml:2: not a YAML that podrace reads: expected ',' or ']', but got ':'"),
        (
            "name: a\n\tpods: 1\n",
            "s.yaml:2: not a YAML that podrace reads: found character '\\t' that cannot start any token",
        ),
        ("name: a\x00b\n", "s.yaml:1: not YAML: a control character stands there: remove it"),
        (
            "nodes: {}\n---\nnodes: {}\n",
            "s.yaml:2: a second document: put each scenario in a file of its own (Kubernetes objects: `podrace check -f FILE`)",
        ),
        (
            "a: &a [1, 2]\nb: *a\n",
            "s.yaml:2: not a YAML that podrace reads: the alias *a is not allowed: write the value out",
        ),
        (
            "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
            "s.yaml:2: not a YAML that podrace reads: the alias *a is not allowed: write the value out",
        ),
        (
            "a: " + "[" * 5000,
            "s.yaml:1: not a YAML that podrace reads: nested more than 20 levels deep: a scenario needs 12",
        ),
        (
            "name: !!python/object/apply:os.system [ls]\n",
            (
                "s.yaml:1: the tag `tag:yaml.org,2002:python/object/apply:os.system` is not allowed: "
                "a scenario is plain data"
            ),
        ),
        ("? [a, b]\n: 1\n", "s.yaml:1: expected a name before the colon, not a list"),
        # fields
        (
            "kind: Pod\napiVersion: v1\nmetadata: {name: p}\n",
            (
                "s.yaml:1: this is a Kubernetes object, not a scenario: `podrace check -f FILE` reads objects, "
                "and with --write-scenario it writes a scenario of them"
            ),
        ),
        (
            cluster(rest="node: 1\n"),
            (f"s.yaml:3: unknown field `node`; did you mean `nodes`? (known: {TOP})"),
        ),
        (
            cluster(rest="<<: {a: 1}\n"),
            (f"s.yaml:3: unknown field `<<`; known: {TOP}"),
        ),
        (
            cluster(rest="pods: {}\n"),
            "s.yaml:3: `pods` was already given in line 2: remove or rename one of them",
        ),
        (
            cluster(rest="name: Big Name\n"),
            (
                "s.yaml:3: name: expected a name of at most 63 lower-case letters, "
                "digits, `-` and `.`, not `Big Name`"
            ),
        ),
        (
            cluster(rest="name: [a]\n"),
            "s.yaml:3: name: expected a name of at most 63 lower-case letters, digits, `-` and `.`, not a list",
        ),
        (
            cluster(rest='title: "a\\nb"\n'),
            "s.yaml:3: title: expected one line of at most 200 printable characters",
        ),
        (cluster(rest="release: [1]\n"), 's.yaml:3: release: expected a release such as "1.13", not a list'),
        (
            cluster(rest="properties: S-NOM\n"),
            ("s.yaml:3: properties: expected a list of property identifiers, not `S-NOM`"),
        ),
        (
            cluster(rest="properties:\n- S-NOM\n- S-NOM\n"),
            ("s.yaml:5: properties[1]: `S-NOM` is listed twice: remove one of them"),
        ),
        (
            cluster(rest="properties: [5]\n"),
            (
                "s.yaml:3: properties[0]: expected a property identifier such as S-NOM, "
                'not `5`: put it in quotes ("5")'
            ),
        ),
        (
            cluster(rest="race: {issue: 5}\n"),
            ("s.yaml:3: race: `fixes` is missing: give the number(s) in kubernetes/kubernetes"),
        ),
        (
            cluster(rest="race: {issue: 5, fixes: []}\n"),
            ("s.yaml:3: race.fixes: the list is empty: name the upstream change that fixes the race"),
        ),
        (
            cluster(rest="race: {issue: x, fixes: [5]}\n"),
            ("s.yaml:3: race.issue: expected a whole number from 1 to 10000000, not `x`"),
        ),
        # the cluster
        ("pods: {p: {cpu: 1}}\n", "s.yaml:1: the cluster has no nodes: add at least one under `nodes`"),
        ("nodes: {n: {cpu: 1}}\n", "s.yaml:1: the cluster has no pods: add at least one under `pods`"),
        (cluster(nodes="{}"), "s.yaml:1: nodes: the cluster has no nodes: add at least one"),
        (cluster(nodes="[n]"), "s.yaml:1: nodes: expected a mapping from names to nodes, not a list"),
        (cluster(nodes="{n: 2}"), "s.yaml:1: nodes.n: expected a mapping such as {cpu: 2}, not `2`"),
        (
            cluster(nodes="{n: {}}"),
            "s.yaml:1: nodes.n: `cpu` is missing: give the allocatable CPU, such as 2 or 500m",
        ),
        (
            cluster(pods="{p: {}}"),
            "s.yaml:2: pods.p: `cpu` is missing: give the requested CPU, such as 2 or 500m",
        ),
        (
            cluster(pods=MANY_PODS),
            "s.yaml:2: pods: 17 pods are more than an exhaustive search can cover: at most 16",
        ),
        (
            cluster(pods="{P!: {cpu: 1}}"),
            (
                "s.yaml:2: pods.P!: expected a name of at most 63 lower-case letters, "
                "digits, `-` and `.`, not `P!`"
            ),
        ),
        (
            cluster(pods="\n  p: {cpu: 1}\n  p: {cpu: 1}"),
            ("s.yaml:4: pods: `p` was already given in line 3: remove or rename one of them"),
        ),
        (
            cluster(pods="{p: {cpus: 1}}"),
            f"s.yaml:2: pods.p: unknown field `cpus`; did you mean `cpu`? (known: {', '.join(PODS.names)})",
        ),
        (
            cluster(pods="{p: {cpu: 3}}"),
            (
                "s.yaml:2: pods.p.cpu: the pod requests 3, but the largest node, n, has 2: "
                "lower the request or enlarge a node"
            ),
        ),
        (
            cluster(pods="{p: {cpu: 2500m}}"),
            (
                "s.yaml:2: pods.p.cpu: the pod requests 2500m, but the largest node, n, "
                "has 2: lower the request or enlarge a node"
            ),
        ),
        (
            cluster(pods="{p: {cpu: -1}}"),
            (
                "s.yaml:2: pods.p.cpu: expected a CPU quantity from 0 to 1000000 such as 2, "
                "0.5 or 500m, not `-1`"
            ),
        ),
        (
            cluster(pods="{p: {cpu: 0.0001}}"),
            (
                "s.yaml:2: pods.p.cpu: expected a CPU quantity from 0 to 1000000 such "
                "as 2, 0.5 or 500m, not `0.0001`"
            ),
        ),
        (
            cluster(pods="{p: {cpu: " + "9" * 5000 + "}}"),
            (
                "s.yaml:2: pods.p.cpu: expected a CPU quantity from 0 to "
                f"1000000 such as 2, 0.5 or 500m, not `{'9' * 57}...`"
            ),
        ),
        (
            cluster(pods="{p: {cpu: two}}"),
            (
                "s.yaml:2: pods.p.cpu: expected a CPU quantity from 0 to 1000000 such as 2, "
                "0.5 or 500m, not `two`"
            ),
        ),
        (
            cluster(pods="{p: {cpu: 1, priority: 99999999999999999999}}"),
            (
                "s.yaml:2: pods.p.priority: expected a whole "
                "number from -2147483648 to 2000001000, not `99999999999999999999`"
            ),
        ),
        (
            cluster(pods="{p: {cpu: 1, priority: 1.5}}"),
            ("s.yaml:2: pods.p.priority: expected a whole number from -2147483648 to 2000001000, not `1.5`"),
        ),
        (
            cluster(pods="{p: {cpu: 1, priority: 0x10}}"),
            (
                "s.yaml:2: pods.p.priority: expected a whole number from "
                "-2147483648 to 2000001000 in plain decimal digits, not `0x10`"
            ),
        ),
        (
            cluster(pods="{p: {cpu: 1, exists: yes}}"),
            "s.yaml:2: pods.p.exists: expected true or false, not `yes`",
        ),
        (
            cluster(pods="{p: {cpu: 1, labels: {a: 1}}}"),
            ('s.yaml:2: pods.p.labels.a: expected a label value, not `1`: put it in quotes ("1")'),
        ),
        (
            cluster(pods="{p: {cpu: 1, nodeName: m}}"),
            "s.yaml:2: pods.p.nodeName: there is no node `m`; known: n",
        ),
        (
            cluster(nodes="{node-a: {cpu: 2}}", pods="{p: {cpu: 1, nodeName: node-b}}"),
            ("s.yaml:2: pods.p.nodeName: there is no node `node-b`; did you mean `node-a`? (known: node-a)"),
        ),
        (
            cluster(pods="{p: {cpu: 1, nodeName: n, exists: false}}"),
            (
                "s.yaml:2: pods.p.nodeName: a pod that does not "
                "exist yet cannot be bound: remove `nodeName` or `exists: false`"
            ),
        ),
        (
            cluster(pods="{p: {cpu: 2, nodeName: n}, q: {cpu: 1, nodeName: n}}"),
            (
                "s.yaml:1: nodes.n: the pods bound to "
                "the node (p, q) request 3, but it has 2: lower a request, enlarge the node, or unbind a pod"
            ),
        ),
        (
            cluster(pods="{p: {cpu: 1, podAffinity: {soft: []}}}"),
            (
                "s.yaml:2: pods.p.podAffinity: unknown field `soft`; known: required, preferred, "
                "requiredDuringSchedulingIgnoredDuringExecution, preferredDuringSchedulingIgnoredDuringExecution"
            ),
        ),
        (
            cluster(pods="{p: {cpu: 1, podAffinity: {required: [{topologyKey: zone}]}}}"),
            (
                "s.yaml:2: "
                "pods.p.podAffinity.required[0]: `matchLabels` is missing: a term needs `matchLabels` and `topologyKey`"
            ),
        ),
        # the scope
        (cluster(rest="scope: 3\n"), f"s.yaml:3: scope: expected {SCOPE}, not `3`"),
        (
            cluster(rest="scope: {pod_events: 0}\n"),
            ("s.yaml:3: scope.pod_events: expected a whole number from 1 to 15, not `0`"),
        ),
        (
            cluster(rest="scope: {node_deletions: 16}\n"),
            ("s.yaml:3: scope.node_deletions: expected a whole number from 0 to 15, not `16`"),
        ),
        (cluster(rest="scope: {pod_gc: 1}\n"), "s.yaml:3: scope.pod_gc: expected true or false, not `1`"),
        (
            cluster(pods="{p: {cpu: 1, exists: false}}", rest="scope: {pod_creations: 0}\n"),
            (
                "s.yaml:3: "
                "scope.pod_creations: p could never appear: allow at least 1, or remove `exists: false`"
            ),
        ),
    ],
)
def test_every_mistake_is_one_line(text: str, message: str) -> None:
    assert complaint(text) == message


def test_an_unknown_bound_lists_the_nearest_of_the_model() -> None:
    found = complaint(cluster(rest="scope: {node_deletion: 1}\n"))
    assert found.startswith(
        f"s.yaml:3: scope: unknown field `node_deletion`; did you mean `node_deletions`? (the nearest of {len(BOUNDS)}: node_deletions, "
    )


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert complaint(cluster(rest='"\\e[31m": 1\n')) == (
        f"s.yaml:3: unknown field `\N{REPLACEMENT CHARACTER}[31m`; known: {TOP}"
    )


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(Problem) as caught:
        read_scenario(tmp_path / "no.yaml", "no.yaml")
    assert (
        str(caught.value)
        == "no.yaml: no such file; `podrace races` lists the scenarios that come with podrace"
    )


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(Problem) as caught:
        read_scenario(tmp_path, "d")
    assert str(caught.value) == "d: cannot be read: Is a directory"


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_bytes(b"name: a\n\xff\xfe\n")
    with pytest.raises(Problem) as caught:
        read_scenario(tmp_path / "b.yaml", "b.yaml")
    assert str(caught.value) == "b.yaml:2: not a text in UTF-8: save the file in that encoding"


def test_a_big_file(tmp_path: Path) -> None:
    (tmp_path / "big.yaml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(Problem) as caught:
        read_scenario(tmp_path / "big.yaml", "big.yaml")
    assert (
        str(caught.value) == "big.yaml: larger than 1 MiB, so it is not a scenario: name the YAML file of one"
    )
