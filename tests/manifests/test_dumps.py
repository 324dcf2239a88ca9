"""What stands in dumps of real clusters beside the ordinary: objects twice, and amounts that no machine has."""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.manifests import Inventory, read_manifests
from podrace.manifests.situation import Situation
from podrace.model.environment.objects import Toleration
from tests.manifests.manifest_objects import text_of
from tests.manifests.test_representative import node, pod, term


def read(folder: Path, *some: dict[str, Any]) -> Inventory:
    file = folder / "m.yaml"
    file.write_text(text_of(list(some)))
    return read_manifests([str(file)])


def versioned(version: str | None) -> dict[str, Any]:
    made = pod("p", "1")
    made["metadata"]["uid"] = "uid-p"
    if version is not None:
        made["metadata"]["resourceVersion"] = version
    return made


def test_an_object_that_is_printed_twice_counts_once(tmp_path: Path) -> None:
    found = read(tmp_path, node("n1"), versioned("7"), deepcopy(versioned("7")))
    assert [p.name for p in found.pending] == ["shop/p"]
    assert list(found.remarks) == [
        "objects that are there twice, with the same resourceVersion, count once (Pod/shop/p)"
    ]


@pytest.mark.parametrize("again", [versioned("8"), versioned(None)])
def test_two_versions_of_an_object_are_refused(tmp_path: Path, again: dict[str, Any]) -> None:
    with pytest.raises(Problem, match="Pod/shop/p was already given in"):
        read(tmp_path, node("n1"), versioned("7"), again)


def test_a_node_has_no_more_than_podrace_counts(tmp_path: Path) -> None:
    virtual = node("n1")
    virtual["status"]["allocatable"] |= {"memory": str((1 << 63) - 1), "cpu": "1E"}
    found = read(tmp_path, virtual, pod("p", "1"))
    assert found.nodes[0].allocatable["memory"] == 1 << 50
    assert found.nodes[0].allocatable["cpu"] == 1_000_000_000
    assert sorted(found.remarks) == [
        "the node has more cpu than podrace counts: it counts with 1000000 (Node/n1)",
        "the node has more memory than podrace counts: it counts with 1Pi (Node/n1)",
    ]


def stored(name: str, **allocatable: str) -> dict[str, Any]:
    """A node that an API server has stored, with nothing else to allocate."""
    found = node(name)
    found["metadata"]["uid"] = f"uid-{name}"
    found["status"]["allocatable"] = allocatable
    return found


def test_a_stored_node_has_none_of_what_it_does_not_name(tmp_path: Path) -> None:
    found = read(tmp_path, stored("n1", pods="250000"), pod("p", "1"), pod("q", "0"))
    assert (found.nodes[0].allocatable, found.nodes[0].pods) == ({"cpu": 0}, 100_000)
    fits = Situation(found).fits
    assert [fits(p, found.nodes[0]) for p in found.pending] == [False, True]
    assert found.remarks == [
        "the node does not say how much cpu it has: as to kube-scheduler, none (Node/n1)",
        "the node has more pods than podrace counts: it counts with 100000 (Node/n1)",
    ]
    written = node("n1")
    del written["status"]["allocatable"]["cpu"]
    with pytest.raises(Problem, match=r"status\.allocatable: `cpu` is missing"):
        read(tmp_path, written, pod("p", "1"))


BY_NAME = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
APART = {"affinity": {"podAntiAffinity": term("web", "kubernetes.io/hostname")}}


@pytest.mark.parametrize(("rule", "noted"), [(BY_NAME, True), (APART, True), ({}, False)])
def test_a_stored_node_without_a_hostname_is_noted_if_a_rule_goes_by_it(
    tmp_path: Path, rule: dict[str, Any], noted: bool
) -> None:
    bare = stored("n1", cpu="4", pods="110")
    del bare["metadata"]["labels"]
    remark = (
        "the node has no label kubernetes.io/hostname: it counts as if it had one with its name, and the verdict is not about what rules by that "
        "label make of it (Node/n1)"
    )
    assert read(tmp_path, bare, pod("p", "1", **rule)).remarks == [remark] * noted
    del bare["metadata"]["uid"]
    assert read(tmp_path, bare, pod("p", "1", **rule)).remarks == []


@pytest.mark.parametrize(
    ("written", "refused"),
    [("010", True), ("+07", True), ("'010'", False), ("10", False), ("08", False), ("0", False)],
)
@pytest.mark.parametrize("resource", ["cpu", "memory", "pods"])
def test_what_kubectl_reads_as_octal_is_refused(
    tmp_path: Path, resource: str, written: str, refused: bool
) -> None:
    named = {"cpu": "4", "pods": "110", resource: written}
    listed = ", ".join(f"{r}: {amount}" for r, amount in named.items())
    file = tmp_path / "m.yaml"
    file.write_text(
        f"{text_of([pod('p', '0')])}---\napiVersion: v1\nkind: Node\nmetadata: {{name: n1}}\nstatus: {{allocatable: {{{listed}}}}}\n"
    )
    if not refused:
        assert read_manifests([str(file)]).nodes[0].name == "n1"
        return
    with pytest.raises(Problem) as caught:
        read_manifests([str(file)])
    assert str(caught.value).endswith(
        f"{resource}: `{written}` is an octal number to kubectl: write it without the zero in front, or in quotes"
    )


def test_a_pod_that_asks_for_more_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"requests\.cpu: expected a CPU quantity from 0 to 1000000 "):
        read(tmp_path, node("n1"), pod("p", "1E"))


def test_memory_that_a_vendor_counts_in_pieces(tmp_path: Path) -> None:
    batch = "kubernetes.io/batch-memory"
    has = node("n1")
    has["status"]["allocatable"][batch] = "100Gi"
    assert read(tmp_path, has, pod("p", "1")).nodes[0].allocatable[batch] == 100 << 30


def configured(*ignored: dict[str, list[str]]) -> dict[str, Any]:
    """A configuration with a profile for each: what its NodeResourcesFit ignores."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {"schedulerName": name, "pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}
            for name, args in zip(("default-scheduler", "other"), ignored, strict=False)
        ],
    }


GPU = "example.com/gpu"


def asking(resource: str) -> dict[str, Any]:
    made = pod("p", "1")
    made["spec"]["containers"][0]["resources"]["requests"][resource] = 1
    return made


@pytest.mark.parametrize(
    ("resource", "ignored", "counted"),
    [
        (GPU, {"ignoredResources": [GPU]}, False),
        (GPU, {"ignoredResourceGroups": ["example.com"]}, False),
        (GPU, {"ignoredResources": ["example.com/fpga"], "ignoredResourceGroups": ["example.org"]}, True),
        (GPU, {}, True),
        ("memory", {"ignoredResources": ["memory"]}, True),  # only extended resources are ignored
    ],
)
def test_resources_that_the_fit_ignores(
    tmp_path: Path, resource: str, ignored: dict[str, list[str]], counted: bool
) -> None:
    found = read(tmp_path, node("n1"), asking(resource), configured(ignored))
    assert (resource in found.pending[0].requests) is counted
    assert Situation(found).fits(found.pending[0], found.nodes[0]) is not counted
    assert list(found.remarks) == []


def test_resources_that_only_some_profiles_ignore_count(tmp_path: Path) -> None:
    found = read(tmp_path, node("n1"), asking(GPU), configured({"ignoredResources": [GPU]}, {}))
    assert found.pending[0].requests[GPU] == 1
    assert list(found.remarks) == [
        f"{GPU} is among the ignoredResources of some profiles only: it counts for all (Pod/shop/p)"
    ]


def test_an_empty_text_in_a_toleration_is_none(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = [
        {"key": "", "operator": "Exists", "effect": ""},
        {"key": "k", "operator": "", "value": "v"},
        {"key": "k", "operator": "Exists", "value": ""},
    ]
    found = read(tmp_path, node("n1"), pod("p", "1", tolerations=said))
    assert list(found.pending[0].tolerations) == [
        Toleration("", "Exists", "", ""),
        Toleration("k", "Equal", "v", ""),
        Toleration("k", "Exists", "", ""),
    ]


@pytest.mark.parametrize("kind", ["ReplicationController", "LimitRange", "RuntimeClass"])
def test_kinds_that_say_something_about_pods_are_not_told_to_say_nothing(tmp_path: Path, kind: str) -> None:
    version = "node.k8s.io/v1" if kind == "RuntimeClass" else "v1"
    other = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}
    (remark,) = read(tmp_path, node("n1"), pod("p", "1"), other).remarks
    assert remark.startswith(f"objects of kind {kind} ")
    assert "still owed" in remark


LEFT_OUT = "plugins that are enabled in addition to the modelled ones are left out"
ALWAYS_ON = "plugins that are disabled, but cannot be in the model, are kept"


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        ({"queueSort": {"disabled": [{"name": "*"}], "enabled": [{"name": "Own"}]}}, [f"{LEFT_OUT} (Own)"]),
        ({"permit": {"enabled": [{"name": "Own"}]}}, [f"{LEFT_OUT} (Own)"]),
        ({"preEnqueue": {"disabled": [{"name": "SchedulingGates"}]}}, [f"{ALWAYS_ON} (SchedulingGates)"]),
        ({"reserve": {"disabled": [{"name": "VolumeBinding"}]}}, [f"{ALWAYS_ON} (VolumeBinding)"]),
        ({"bind": {"disabled": [{"name": "*"}], "enabled": [{"name": "DefaultBinder"}]}}, []),
        ({"score": {"enabled": [{"name": "Own"}]}, "preScore": {"disabled": [{"name": "*"}]}}, []),
        ({"multiPoint": {"enabled": [{"name": "VolumeBinding"}, {"name": "PrioritySort"}]}}, []),
    ],
)
def test_plugins_at_every_point_that_decides(
    tmp_path: Path, plugins: dict[str, Any], expected: list[str]
) -> None:
    configuration = configured({})
    configuration["profiles"][0]["plugins"] = plugins
    assert list(read(tmp_path, node("n1"), pod("p", "1"), configuration).remarks) == expected


def listed(*some: dict[str, Any], kind: str = "List") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "items": list(some)}


def bare(thing: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in thing.items() if key not in ("apiVersion", "kind")}


def own(kind: str) -> dict[str, Any]:
    return {"apiVersion": "x.io/v1", "kind": kind, "metadata": {"name": "mine"}}


def test_lists_may_be_in_lists(tmp_path: Path) -> None:
    pods = listed(bare(pod("p", "1")), bare(pod("q", "1")), kind="PodList")
    found = read(tmp_path, listed(listed(node("n1")), listed(pods)))
    assert ([n.name for n in found.nodes], [p.name for p in found.pending]) == (["n1"], ["shop/p", "shop/q"])
    assert list(found.remarks) == []


def test_a_kind_that_is_called_a_list_is_left_out_with_a_note(tmp_path: Path) -> None:
    found = read(tmp_path, own("AllowList"), listed(node("n1"), pod("p", "1")))
    assert list(found.remarks) == [
        f"objects of kind AllowList say nothing to the scheduler's model: left out ({tmp_path}/m.yaml)"
    ]


def in_json(*some: dict[str, Any], indent: int | None = None, between: str = "\n") -> str:
    return between.join(json.dumps(thing, indent=indent) for thing in some)


@pytest.mark.parametrize(
    "text",
    [
        in_json(node("n1"), pod("p", "1"), pod("q", "1")),
        in_json(listed(node("n1")), listed(pod("p", "1"), pod("q", "1")), indent=4),
        in_json(listed(node("n1")), listed(pod("p", "1"), pod("q", "1")), indent=4, between="\n\n").replace(
            "\n", "\r\n"
        ),
        in_json(node("n1"), pod("p", "1"), pod("q", "1"), between="\n---\n"),
    ],
    ids=["lines", "indented", "CRLF", "dashes"],
)
def test_objects_of_json_one_after_the_other(tmp_path: Path, text: str) -> None:
    """As several calls of `kubectl get -o json` leave them in one file, also where that is packed."""
    plain, packed = tmp_path / "m.json", tmp_path / "m.json.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    for file in (plain, packed):
        found = read_manifests([str(file)])
        assert ([n.name for n in found.nodes], [p.name for p in found.pending]) == (
            ["n1"],
            ["shop/p", "shop/q"],
        )


def test_a_mistake_in_the_second_object_is_named_in_its_line(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text(in_json(node("n1"), pod("p", "x")))
    with pytest.raises(Problem, match=r"m\.json:2: spec\.containers\[0\]\.resources\.requests\.cpu: "):
        read_manifests([str(file)])


@pytest.mark.parametrize(
    "data",
    [gzip.compress(b"kind: List\n" * 100, mtime=0)[:40], b"\x1f\x8bnothing"],
    ids=["cut off", "nothing"],
)
def test_a_damaged_gzip_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "m.gz"
    file.write_bytes(data)
    with pytest.raises(Problem) as caught:
        read_manifests([str(file)])
    assert str(caught.value) == f"{file}: packed by gzip, and damaged or cut off: pack or copy it again"
