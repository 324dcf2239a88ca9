"""Misspelt fields are refused, fields that no version has are noted, and what an API server writes is never refused."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.manifests import read_manifests
from podrace.manifests.reading.known_fields import likely_field
from tests.manifests.manifest_objects import OBJECTS, REQUIRED, Path, at, spec, text_of


def with_field(way: Path, name: str, value: Any = "x") -> str:
    """The small set of objects, with one more field at this place."""
    return at((*way, name), value)


def read(folder: File, text: str, strict: bool = False) -> list[str]:
    """The notes about fields of these objects."""
    file = folder / "m.yaml"
    file.write_text(text)
    return [r for r in read_manifests([str(file)], strict=strict).remarks if "no field of" in r]


POD = ("preemptor", "spec")
CONTAINER = (*POD, "containers", 0)
PROFILE = ("config", "profiles", 0)


@pytest.mark.parametrize(
    ("way", "name", "problem"),
    [
        (POD, "nodeselector", "spec: unknown field `nodeselector` of PodSpec; did you mean `nodeSelector`?"),
        (POD, "toleration", "spec: unknown field `toleration` of PodSpec; did you mean `tolerations`?"),
        (POD, "preemptionpolicy", "spec: unknown field `preemptionpolicy` of PodSpec; did you mean `preemptionPolicy`?"),
        (POD, "terminationGracePeriod", "spec: unknown field `terminationGracePeriod` of PodSpec; did you mean `terminationGracePeriodSeconds`?"),
        (
            (*CONTAINER, "resources"), "request",
            "spec.containers[0].resources: unknown field `request` of ResourceRequirements; did you mean `requests`?",
        ),
        (CONTAINER, "resource", "spec.containers[0]: unknown field `resource` of Container; did you mean `resources`?"),
        ((*POD, "affinity"), "nodeAffinty", "spec.affinity: unknown field `nodeAffinty` of Affinity; did you mean `nodeAffinity`?"),
        (
            (*POD, "affinity", "podAntiAffinity", REQUIRED, 0), "namespace",
            f"spec.affinity.podAntiAffinity.{REQUIRED}[0]: unknown field `namespace` of PodAffinityTerm; did you mean `namespaces`?",
        ),
        (
            (*POD, "affinity", "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecutions",
            f"spec.affinity.nodeAffinity: unknown field `requiredDuringSchedulingIgnoredDuringExecutions` of NodeAffinity; did you mean `{REQUIRED}`?",
        ),
        ((*POD, "tolerations", 0), "tolerationSecond", "spec.tolerations[0]: unknown field `tolerationSecond` of Toleration; did you mean `tolerationSeconds`?"),
        (
            (*POD, "topologySpreadConstraints", 0), "minDomain",
            "spec.topologySpreadConstraints[0]: unknown field `minDomain` of TopologySpreadConstraint; did you mean `minDomains`?",
        ),
        (
            (*POD, "topologySpreadConstraints", 0, "labelSelector"), "matchLabel",
            "spec.topologySpreadConstraints[0].labelSelector: unknown field `matchLabel` of LabelSelector; did you mean `matchLabels`?",
        ),
        (("node", "spec"), "taint", "spec: unknown field `taint` of NodeSpec; did you mean `taints`?"),
        (("deployment", "spec"), "replica", "spec: unknown field `replica` of DeploymentSpec; did you mean `replicas`?"),
        (("deployment", "spec", "template", "spec"), "nodeSelectr", "spec.template.spec: unknown field `nodeSelectr` of PodSpec; did you mean `nodeSelector`?"),
        (("config",), "profile", "unknown field `profile` of KubeSchedulerConfiguration; did you mean `profiles`?"),
        ((*PROFILE,), "schedulername", "profiles[0]: unknown field `schedulername` of KubeSchedulerProfile; did you mean `schedulerName`?"),
        ((*PROFILE, "plugins"), "multipoint", "profiles[0].plugins: unknown field `multipoint` of Plugins; did you mean `multiPoint`?"),
        ((*PROFILE, "plugins", "filter"), "disable", "profiles[0].plugins.filter: unknown field `disable` of PluginSet; did you mean `disabled`?"),
        (
            (*PROFILE, "pluginConfig", 0, "args"), "minCandidateNodesAbsolut",
            "profiles[0].pluginConfig[0].args: unknown field `minCandidateNodesAbsolut` of DefaultPreemptionArgs; did you mean `minCandidateNodesAbsolute`?",
        ),
        (("class",), "globaldefault", "unknown field `globaldefault` of PriorityClass; did you mean `globalDefault`?"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)  # fmt: skip
def test_a_misspelt_field_is_refused_where_it_stands(
    tmp_path: File, way: Path, name: str, problem: str
) -> None:
    with pytest.raises(Problem) as caught:
        read(tmp_path, with_field(way, name))
    file = tmp_path / "m.yaml"
    (line,) = (i for i, text in enumerate(file.read_text().splitlines(), 1) if f"{name}: x" in text)
    assert str(caught.value) == f"{file}:{line}: {problem}"


def test_a_field_that_no_version_has_is_noted_and_refused_if_strict(tmp_path: File) -> None:
    some = with_field(POD, "wishes")
    assert read(tmp_path, some) == [
        "`wishes` is no field of PodSpec in Kubernetes 1.36: passed over (Pod/shop/api-1)"
    ]
    with pytest.raises(Problem) as caught:
        read(tmp_path, some, strict=True)
    assert str(caught.value).endswith(
        "spec: unknown field `wishes` of PodSpec: remove it, or leave out --strict, and it is passed over with a note"
    )


@pytest.mark.parametrize(
    ("way", "name", "note"),
    [
        (("preemptor", "metadata"), "label", "`label` is no field of ObjectMeta, and passed over: did you mean `labels`? (Pod/shop/api-1)"),
        (("victim", "status"), "phases", "`phases` is no field of PodStatus, and passed over: did you mean `phase`? (Pod/shop/batch-1)"),
        (("node", "status"), "capacities", ""),
        (("victim", "status"), "volumeHealth", ""),
        (("victim", "metadata"), "somethingNew", ""),
    ],
)  # fmt: skip
def test_in_metadata_and_status_nothing_is_refused(tmp_path: File, way: Path, name: str, note: str) -> None:
    for strict in (False, True):
        assert read(tmp_path, with_field(way, name), strict) == ([note] if note else [])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("PodSpec", "evictionResponders"),
        ("NodeSpec", "podPreemptionPolicy"),
        ("PodStatus", "volumeHealth"),
        ("JobSpec", "scheduling"),
        ("Plugins", "podGroupPostFilter"),
    ],
)
def test_the_new_fields_of_1_37_are_like_none_of_the_others(kind: str, name: str) -> None:
    assert likely_field(kind, name) == ""


def test_every_field_that_a_reader_asks_for_is_known(tmp_path: File) -> None:
    assert read(tmp_path, text_of(list(OBJECTS.values())), strict=True) == []


def test_keys_that_are_names_are_free(tmp_path: File) -> None:
    """Labels, resources and node selectors may be called as a field is, and almost."""
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"label": "x", "spec": "y"}},
        "spec": spec("1", nodeSelector={"nodeselector": "x"}, overhead={"cpus": "1"}),
    }  # fmt: skip
    assert read(tmp_path, text_of([OBJECTS["node"], pod])) == []


def test_a_version_that_no_server_has(tmp_path: File) -> None:
    pod = OBJECTS["victim"] | {"apiVersion": "v2"}
    with pytest.raises(
        Problem, match=r"m\.yaml:\d+: .*apiVersion: there is no such version of Pod: `v2`; known: v1$"
    ):
        read(tmp_path, text_of([pod]))


def test_a_version_that_may_be_newer_is_noted_and_refused_if_strict(tmp_path: File) -> None:
    file = tmp_path / "m.yaml"
    newer = OBJECTS["class"] | {"apiVersion": "scheduling.k8s.io/v2"}
    file.write_text(text_of([OBJECTS["node"], newer, OBJECTS["victim"], OBJECTS["preemptor"]]))
    assert (
        "scheduling.k8s.io/v2 is a version that podrace does not know: read as v1 (PriorityClass/high)"
        in read_manifests([str(file)]).remarks
    )
    with pytest.raises(
        Problem,
        match=r"there is no such version of PriorityClass: `scheduling.k8s.io/v2`; known: scheduling.k8s.io/v1, .*v1alpha1$",
    ):
        read_manifests([str(file)], strict=True)


def configured(**fields: Any) -> str:
    """The small set of objects, with other fields of the configuration."""
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **fields}
    return text_of([OBJECTS["node"], OBJECTS["victim"], OBJECTS["preemptor"], OBJECTS["class"], config])


def remarks_on(folder: File, text: str, strict: bool = False) -> list[str]:
    file = folder / "m.yaml"
    file.write_text(text)
    return list(read_manifests([str(file)], strict=strict).remarks)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("schedulerName", "other", "schedulerName: a configuration has no such field since v1alpha2: write a profile with it"),
        ("plugins", {"filter": {"disabled": [{"name": "NodePorts"}]}}, "plugins: a configuration has no such field since v1alpha2: move it into a profile"),
        ("pluginConfig", [{"name": "NodeResourcesFit", "args": {}}], "pluginConfig: a configuration has no such field since v1alpha2: move it into a profile"),
        (
            "disablePreemption", True,
            "disablePreemption: a configuration has no such field since v1beta1: disable DefaultPreemption at postFilter in each profile",
        ),
        (
            "algorithmSource", {"policy": {}},
            "algorithmSource: a configuration has no such field since v1alpha2: say in a profile which plugins run",
        ),
        (
            "algorithmSource", {"provider": "MyProvider"},
            "algorithmSource: a configuration has no such field since v1alpha2: say in a profile which plugins run",
        ),
    ],
)  # fmt: skip
def test_what_old_configurations_decide_without_profiles(
    tmp_path: File, field: str, value: Any, problem: str
) -> None:
    with pytest.raises(Problem) as caught:
        remarks_on(tmp_path, configured(**{field: value}))
    assert str(caught.value).endswith(f": {problem}")


@pytest.mark.parametrize(
    "fields",
    [
        {"disablePreemption": False, "algorithmSource": {"provider": "DefaultProvider"}},
        {"algorithmSource": {"provider": "ClusterAutoscalerProvider"}},
        {"algorithmSource": {}, "schedulerName": "default-scheduler", "plugins": {}, "pluginConfig": []},
        {"failureDomains": "kubernetes.io/hostname", "hardPodAffinitySymmetricWeight": 1, "bindTimeoutSeconds": 600},
    ],
)  # fmt: skip
def test_what_old_configurations_say_and_is_so_anyway(tmp_path: File, fields: dict[str, Any]) -> None:
    """As kube-scheduler of 1.13 to 1.18 writes its own defaults."""
    old = configured(apiVersion="kubescheduler.config.k8s.io/v1alpha1", **fields)
    assert remarks_on(tmp_path, old, strict=True) == []


def test_a_version_of_a_configuration_that_there_is_not(tmp_path: File) -> None:
    some = configured(apiVersion="kubescheduler.config.k8s.io/v2")
    assert remarks_on(tmp_path, some) == [
        "kubescheduler.config.k8s.io/v2 is a version that podrace does not know: read as v1 (KubeSchedulerConfiguration)"
    ]
    with pytest.raises(Problem, match=r"there is no such version of KubeSchedulerConfiguration: .*v1alpha1$"):
        remarks_on(tmp_path, some, strict=True)


def test_a_plugin_that_there_is_not_is_disabled_without_effect(tmp_path: File) -> None:
    disabled = [{"name": name} for name in ("NodeResourceFit", "NodePorts", "VolumeZone")]
    some = configured(profiles=[{"plugins": {"filter": {"disabled": disabled}}}])
    assert remarks_on(tmp_path, some) == [
        "kube-scheduler has no such plugin to disable, and goes on without a word: did you mean `NodeResourcesFit`? (NodeResourceFit)"
    ]


@pytest.mark.parametrize(
    ("version", "kind", "said"),
    [
        ("v1", "ResourceQuota", "may keep pods from being created, which does not apply here to those that are still owed"),
        (
            "v1", "Policy",
            "said up to 1.22 which predicates run and which extenders are asked, which only a KubeSchedulerConfiguration says here",
        ),
        (
            "componentconfig/v1alpha1", "KubeSchedulerConfiguration",
            "said in old releases what only one of kubescheduler.config.k8s.io says here",
        ),
        ("kyverno.io/v1", "Policy", "say nothing to the scheduler's model"),
    ],
)  # fmt: skip
def test_kinds_that_are_left_out(tmp_path: File, version: str, kind: str, said: str) -> None:
    other = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}
    text = text_of([OBJECTS["node"], OBJECTS["victim"], other])
    assert remarks_on(tmp_path, text) == [f"objects of kind {kind} {said}: left out ({tmp_path / 'm.yaml'})"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("Sometimes", "there is no such restart policy: `Sometimes`; known: Always, OnFailure, Never"),
        (["Always"], "expected a restart policy: Always, OnFailure, Never, not a list"),
    ],
)
def test_a_restart_policy_that_there_is_not(tmp_path: File, value: object, said: str) -> None:
    with pytest.raises(Problem) as caught:
        read(tmp_path, with_field((*POD, "initContainers", 0), "restartPolicy", value))
    assert str(caught.value).endswith(f"initContainers[0].restartPolicy: {said}")
