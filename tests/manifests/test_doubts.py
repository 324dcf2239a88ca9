"""What of objects is taken otherwise than it may be: a doubt, so that nothing HOLDS, or a note with a reason why it cannot make anything hold."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml

from podrace.api import check
from podrace.manifests import Size, read_manifests, represent
from podrace.manifests.doubts import doubts_of
from podrace.manifests.telling.scenario_text import scenario_of
from tests.manifests.claim_objects import (
    as_list,
    made,
    node,
    pod,
    storage_class,
    volume,
    volume_claim,
)

ROOT = Path(__file__).parents[2]
Some = tuple[dict[str, Any], ...]

# --- every note ----------------------------------------------------------------------------------------------

HARMLESS = {
    "the scheduler passes over its {what}:": "the gate is off",
    "devices back extended resources from": "so does the scheduler of that version",
    "some nodes have the extended resource": "`_doubts` of the same class makes it a doubt about each pod that asks for it",
    "several classes back the extended res": "the same",
    "objects that are there twice, with th": "they are one object",
    "{ANNOTATION} counts on Pods and in th": "it says what is not to be checked, and nothing about scheduling",
    "FOLDER_PASSED_OVER": "the verdict is about the files that were given",
    "FOREIGN": "the same",
    "DAEMONS_OWED": "pods that are left out neither come nor go, as every verdict says",
    "objects of kind {one_line(kind)} {sai": "a doubt where the kind names its version; of the others the pods and claims that they are about are in doubt, or owed pods are left out",
    "the pod is being deleted: it is nobod": "pods that are left out neither come nor go, as every verdict says",
    "OrderedReady: the StatefulSet creates": "so does its controller; pods that are left out do not come",
    "OrderedReady: while a pod of the Stat": "the same",
    "a claim of devices is left out, and t": "`ClusterClaims.doubt` makes it a doubt about each kept pod",
    "why": "`volume_doubts` are doubts about each kept pod; a pod that `_volume_notes` are about fits nowhere, and is not kept",
    "the pool is {why}, and its devices ar": "so does the allocator",
    "{device.unlike}, which is not modelle": "`PublishedDevices.doubt` makes it a doubt about each claim that may have it",
    "the device is tainted: only claims th": "so does the allocator",
    "SELECTOR_UNREAD": "`PublishedDevices.doubt` makes it a doubt about each claim of the class",
    "a term of node affinity compares with": "so does the scheduler",
    "the node has not said yet what it can": "so does the scheduler",
    "the node has more {one_line(resource)": "more than sixteen pods can ask for together",
    "the node does not say how much cpu it": "so does the scheduler",
    "the node does not say how many pods i": "so does the scheduler",
    "the node has more pods than podrace c": "more than sixteen",
    "the budget has no status yet: it allo": "so does the scheduler",
    "a budget without a selector protects": "so does the scheduler",
    "`{name}` is no field of {kind}, and p": "in metadata and status the API server drops it",
    "the kubelet puts off a resize: to the": "to the scheduler the pod counts with what it asks for already, and a kubelet allocates it only where it fits",
    "{BY_ITSELF}: {exact(release)} does no": "so does the scheduler",
    "{BY_ITSELF}: {why}": "a doubt unless the gate is known to be off: then so does the scheduler",
    "below 100 nodes every node is examine": "another feasible node wins then, and every feasible node may win here",
    "NodeResourcesFit ignores {', '.join(m": "so does the scheduler; the verbs of the extender are doubts",
    "plugins that are enabled in addition": "a doubt unless it is one of Kubernetes' own that only scores, or runs by default",
    "kube-scheduler has no such plugin to": "so does the scheduler",
}  # fmt: skip
"""Why a note that is no doubt cannot make a property wrongly hold, by how it begins."""


def notes(method: str) -> set[str]:
    """How the notes begin that are added by this method of Remarks, or by a name that stands for one of several."""
    found = set()
    for file in sorted((ROOT / "manifests").rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            to = ast.unparse(call.func)
            if (
                to.endswith(f"emarks.{method}")
                or to == f"said.{method}"
                or (method == "add" and to == "note")
            ):
                found.add(ast.unparse(call.args[0]).removeprefix("f").strip("\"'")[:37].strip())
    return found


def test_every_note_is_a_doubt_or_has_a_reason() -> None:
    """A new note fails here until somebody has said which of the two it is."""
    assert notes("add") - {"why"} == HARMLESS.keys() - {"why"}
    assert len(notes("doubt")) >= 25
    assert not notes("doubt") & HARMLESS.keys()


# --- volumes -------------------------------------------------------------------------------------------------

NODES = (node("n1"), node("n2", zone="b"))
BOUND = (storage_class("csi"), volume("pv", claim="data"), volume_claim("data", bound="pv"))
OPEN = (storage_class("csi"), volume_claim("data"))
WAITS = pod("a", "data")


def csi_node(at: str, count: int | None = None) -> dict[str, Any]:
    driver = {"name": "csi.example.com", **({} if count is None else {"allocatable": {"count": count}})}
    return made("CSINode", at, "storage.k8s.io/v1", spec={"drivers": [driver]})


def driver(**spec: Any) -> dict[str, Any]:
    return made("CSIDriver", "csi.example.com", "storage.k8s.io/v1", spec=spec)


def attached(volume: str, at: str = "n1") -> dict[str, Any]:
    spec = {"attacher": "csi.example.com", "nodeName": at, "source": {"persistentVolumeName": volume}}
    return made("VolumeAttachment", f"csi-{volume}-{at}", "storage.k8s.io/v1", spec=spec)


ONLY_KEPT = "nodes and pods that are left out may differ in how many volumes of csi.example.com they take or have: only the limits of those that are kept are modelled"
ANY = (csi_node("n1"), csi_node("n2"), driver())
RUNS = (volume("pv2", claim="other"), volume_claim("other", bound="pv2"), pod("b", "other", nodeName="n1"))
ON_N2 = (volume("pv2", claim="other"), volume_claim("other", bound="pv2"), pod("b", "other", nodeName="n2"))


def written(folder: Path, *some: dict[str, Any]) -> str:
    file = folder / "m.yaml"
    file.write_text(as_list(*some))
    return str(file)


def doubts(folder: Path, *some: dict[str, Any], release: str | None = None, nodes: Some = NODES) -> list[str]:
    return doubts_of(represent(read_manifests([written(folder, *nodes, *some)]), Size(3, 2)), release)


@pytest.mark.parametrize(
    ("some", "doubt"),
    [
        ((WAITS,),
         "claims of volumes are not among the objects, and taken to fit everywhere: dump pvc, pv and storageclass, too (shop/data of shop/a)"),
        ((WAITS, volume_claim("data"), *ANY),
         "the claim is not bound, and its StorageClass csi is not among the objects: it is taken to fit everywhere; dump storageclass, too (shop/data of shop/a)"),
        ((WAITS, volume_claim("data", None), *ANY),
         "the claim is not bound, and StorageClasses are not among the objects: it is taken to fit everywhere; dump storageclass, too (shop/data of shop/a)"),
        ((WAITS, volume_claim("data", bound="pv"), *ANY),
         "the claim's volume is not among the objects, and taken to be reached by every node: dump pv, too (shop/data of shop/a)"),
        ((WAITS, storage_class("csi"), volume_claim("data", meta={"annotations": {"volume.kubernetes.io/selected-node": "n2"}}), *ANY),
         "a node is selected for the claim already: the model begins without, and has it there alone (shop/data of shop/a)"),
        ((WAITS, *BOUND), "how many volumes of csi.example.com a node takes is not known: dump csinodes, too"),
        ((WAITS, *BOUND, *RUNS, csi_node("n1", 1), driver()),
         "Node/n1 takes no more than 1 volumes of csi.example.com, which is not modelled"),
        ((WAITS, *BOUND, *RUNS, csi_node("n1", 1), driver(attachRequired=False)),
         "Node/n1 takes no more than 1 volumes of csi.example.com, which is not modelled"),
        ((WAITS, *BOUND, *RUNS, csi_node("n1", 1), driver(), attached("pv2")),  # the driver may come to n2, where any number of volumes fits until then
         "Node/n1 takes no more than 1 volumes of csi.example.com, which is not modelled"),
        ((WAITS, *BOUND, volume("pv3"), csi_node("n1", 1), attached("pv3")), ONLY_KEPT),  # n2 is left out
        ((WAITS, *BOUND, csi_node("n1", 1), attached("pv")), ONLY_KEPT),  # its own from before, which counts twice
        ((WAITS, *BOUND, *RUNS, csi_node("n1", 9), driver()),
         "which volumes of csi.example.com are attached to Node/n1 is not known: dump volumeattachments, too"),
        ((WAITS, *BOUND, csi_node("n2"), driver(preventPodSchedulingIfMissing=True)),  # n1 has no CSINode yet
         "csi.example.com is not installed on Node/n1, and keeps pods away until it is (preventPodSchedulingIfMissing), which is not modelled"),
        ((WAITS, *BOUND, csi_node("n2")),  # and what its driver asks for, nobody knows
         "whether csi.example.com keeps pods from Node/n1, where it is not installed, is not known: dump csidrivers, too"),
        ((WAITS, *BOUND, *ON_N2, csi_node("n1", 9), csi_node("n2")),  # no pod of n1 uses a volume
         "which volumes of csi.example.com are attached to Node/n1 is not known: dump volumeattachments, too"),
        ((WAITS, *OPEN, csi_node("n1")),
         "whether csi.example.com says where it has capacity is not known: dump csidrivers, too (shop/data of shop/a)"),
        ((WAITS, *OPEN, csi_node("n1"), driver(storageCapacity=True)),
         "where csi.example.com has capacity for a volume (CSIStorageCapacity) is not modelled (shop/data of shop/a)"),
    ],
)  # fmt: skip
def test_what_of_volumes_is_in_doubt(tmp_path: Path, some: Some, doubt: str) -> None:
    assert doubts(tmp_path, *some) == [doubt]


@pytest.mark.parametrize(
    "some",
    [
        (pod("a"),),
        (WAITS, *BOUND, *ANY),
        (WAITS, *OPEN, *ANY),
        (WAITS, *OPEN, csi_node("n1"), made("CSIDriver", "x.example.com", "storage.k8s.io/v1", spec={"storageCapacity": True})),
        (WAITS, storage_class("csi", waits=False), volume_claim("data"), csi_node("n1")),
        (WAITS, *BOUND, *RUNS, csi_node("n1", 3), driver(), attached("pv2")),
        (WAITS, *BOUND, *RUNS, csi_node("n1", 1), csi_node("n2", 9), attached("pv2")),
        (WAITS, *BOUND, *RUNS, csi_node("n1", 2), csi_node("n2"), attached("pv2")),  # a comes, goes, and comes again
        (WAITS, *BOUND, *RUNS, csi_node("n1", 3), driver(attachRequired=False)),
        (WAITS, *BOUND, csi_node("n1", 2), attached("pv")),
        (WAITS, *BOUND, csi_node("n1"), csi_node("n2"), driver(preventPodSchedulingIfMissing=True)),
        (WAITS, storage_class("csi", "kubernetes.io/no-provisioner"), volume("pv", csi=None, local={"path": "/x"}), volume_claim("data")),
    ],
)  # fmt: skip
def test_what_of_volumes_is_known(tmp_path: Path, some: Some) -> None:
    some = tuple(_without_csi(o) if o["kind"] == "PersistentVolume" and o["spec"]["csi"] is None else o for o in some)  # fmt: skip
    assert doubts(tmp_path, *some) == []


def test_limits_of_volumes_are_in_the_scenario(tmp_path: Path) -> None:
    """The important pod needs a place for a volume. Preemption does not make one since 1.32 (docs/findings/attached-victim.md)."""
    low = pod("b", "other", nodeName="n1", priority=0)
    some = (
        volume("pv2", claim="other"),
        volume_claim("other", bound="pv2"),
        low,
        *BOUND,
        pod("a", "data", priority=9),
    )
    told = (csi_node("n1", 1), attached("pv2"), attached("gone"), volume("gone"), driver())
    small = (node("n1", cpu="1"),)
    kept = represent(read_manifests([written(tmp_path, *small, *some, *told)]), Size(3, 2))
    document = yaml.safe_load(scenario_of(kept, "m", "m", []))
    assert document["csiDrivers"] == {"csi.example.com": {"nodes": {"n1": 1}}}
    assert document["volumes"]["gone"] == {"storageClassName": "csi.example.com", "attachedTo": "n1"}
    assert document["pods"]["shop/b"]["volumes"] == ["shop/other"]
    assert "S-LIMIT" in document["properties"]
    assert doubts_of(kept, None) == []
    (finding,) = check(filename=written(tmp_path, *small, *some, *told), property="L-INV", cache=False)
    assert finding.verdict == "VIOLATED"
    (finding,) = check(
        filename=written(tmp_path, *small, *some, csi_node("n1", 3), driver(), attached("pv2")),
        property="L-INV",
        cache=False,
    )
    assert finding.verdict == "HOLDS"


def _without_csi(written: dict[str, Any]) -> dict[str, Any]:
    return {**written, "spec": {k: v for k, v in written["spec"].items() if k != "csi"}}


LEFT = "Node/n1 takes no more than 1 volumes of csi.example.com, which is not modelled"
OLD = "Node/n1 takes no more than 1 volumes of ebs.csi.aws.com, which is not modelled"


def of_old_plugin(name: str, claim: str = "") -> dict[str, Any]:
    old = _without_csi(volume(name, claim=claim))
    old["spec"]["awsElasticBlockStore"] = {"volumeID": name}
    return old


def for_old_plugin(one: dict[str, Any]) -> dict[str, Any]:
    return yaml.safe_load(yaml.safe_dump(one).replace("csi.example.com", "ebs.csi.aws.com"))


def with_volume(one: dict[str, Any], **source: Any) -> dict[str, Any]:
    one["spec"]["volumes"] = [{"name": "scratch", **source}]
    return one


OF_OLD = (storage_class("csi"), of_old_plugin("pv", "data"), volume_claim("data", bound="pv"))
MADE = {"volumeClaimTemplate": {"spec": {"storageClassName": "csi", "accessModes": ["ReadWriteOnce"]}}}


@pytest.mark.parametrize(
    ("some", "doubt"),
    [
        # Of these attachments the plugin counts none (getNodeVolumeAttachmentInfo): it goes by the PersistentVolume and its `csi`.
        ((WAITS, *OF_OLD, of_old_plugin("gone"), *map(for_old_plugin, (csi_node("n1", 1), driver(), attached("gone")))), OLD),
        ((WAITS, *BOUND, csi_node("n1", 1), driver(), attached("nowhere")), LEFT),
        # Two volumes of one handle count once, and twice in the model.
        ((WAITS, *BOUND, volume("pv2", claim="other", csi={"driver": "csi.example.com", "volumeHandle": "pv"}), *RUNS[1:], csi_node("n1", 1), driver(), attached("pv2")), LEFT),
        # A disk that a pod names itself counts.
        ((WAITS, *OF_OLD, with_volume(pod("b", nodeName="n1"), awsElasticBlockStore={"volumeID": "x"}), *map(for_old_plugin, (csi_node("n1", 2), driver(), attached("pv")))), OLD.replace("1 vol", "2 vol")),
        # A pod that is left out uses the volume, so that it is no new one.
        ((WAITS, pod("w", "other"), *BOUND, volume("pv2", claim="other"), volume_claim("other", bound="pv2"), pod("b", "data", nodeName="n1"), pod("c", "data", nodeName="n1"), csi_node("n1", 1), driver(), attached("pv")), LEFT),
        # Who has volumes only that are made for the pod does not hear that one is detached (isSchedulableAfterVolumeAttachmentDeleted).
        ((with_volume(pod("a"), ephemeral=MADE), storage_class("csi"), volume("gone"), csi_node("n1", 1), driver(), attached("gone")), LEFT),
    ],
)  # fmt: skip
def test_a_limit_that_the_model_would_get_wrong_is_a_doubt(tmp_path: Path, some: Some, doubt: str) -> None:
    kept = represent(read_manifests([written(tmp_path, node("n1"), *some)]), Size(3, 2))
    assert doubt in doubts_of(kept, None)
    assert "csiDrivers" not in yaml.safe_load(scenario_of(kept, "m", "m", []))


def test_pods_that_are_left_out_want_places_for_volumes_too(tmp_path: Path) -> None:
    many = range(9)
    some = [o for i in many for o in (pod(f"w{i}", f"c{i}"), volume(f"v{i}", claim=f"c{i}"), volume_claim(f"c{i}", bound=f"v{i}"))]  # fmt: skip
    told = (storage_class("csi"), driver(), attached("x"))
    wide = (node("n1", cpu="64"),)
    few = "Node/n1 takes no more than {} volumes of csi.example.com, which is not modelled"
    assert doubts(tmp_path, *some, *told, csi_node("n1", 8), nodes=wide) == [few.format(8)]
    assert doubts(tmp_path, *some, *told, csi_node("n1", 30), nodes=wide) == []


@pytest.mark.parametrize(
    ("source", "provisioner"),
    [("awsElasticBlockStore", "kubernetes.io/aws-ebs"), ("vsphereVolume", "kubernetes.io/vsphere-volume")],
)
def test_older_plugins_count_for_their_drivers(tmp_path: Path, source: str, provisioner: str) -> None:
    name = {"awsElasticBlockStore": "ebs.csi.aws.com", "vsphereVolume": "csi.vsphere.vmware.com"}[source]
    said = f"how many volumes of {name} a node takes is not known: dump csinodes, too"
    old = _without_csi(volume("pv", claim="data"))
    old["spec"][source] = {}
    assert doubts(tmp_path, WAITS, storage_class("csi"), old, volume_claim("data", bound="pv")) == [said]
    assert doubts(tmp_path, WAITS, storage_class("csi", provisioner), volume_claim("data")) == [said]


# --- pods, nodes, configurations -----------------------------------------------------------------------------

HOST = "kubernetes.io/hostname"


def of_pod(**more: Any) -> Some:
    return (pod("a", **more),)


def status(**more: Any) -> Some:
    return (pod("a", status={"phase": "Pending", **more}),)


def configured(**more: Any) -> Some:
    return (pod("a"), {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **more})  # fmt: skip


def profile(**plugins: Any) -> Some:
    return configured(profiles=[{"plugins": plugins}])


def arguments(plugin: str, **args: Any) -> Some:
    return configured(profiles=[{"pluginConfig": [{"name": plugin, "args": args}]}])


def term(**more: Any) -> dict[str, Any]:
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "x"}}, **more}
        ]
    }


def spread(**more: Any) -> list[dict[str, Any]]:
    rule = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule"}
    return [{**rule, "labelSelector": {"matchLabels": {"app": "x"}}, **more}]


def owed(**more: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": pod("t", **more)["spec"]}
    return made("ReplicaSet", "r", "apps/v1", "shop", spec={"replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": template})  # fmt: skip


BARE = {**node("n1"), "metadata": {"name": "n1", "uid": "u"}}
POLICY = {"apiVersion": "v1", "kind": "Policy", "predicates": []}
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x": "kind: KubeSchedulerConfiguration\n"}}  # fmt: skip


def of_scheduler(*flags: str, version: str = "v1.36.3", name: str = "kube-scheduler-m") -> Some:
    """A pod that waits, and the scheduler's own."""
    own = made("Pod", name, "v1", "kube-system")
    own["spec"] = {
        "containers": [
            {
                "name": "c",
                "image": f"registry.k8s.io/kube-scheduler:{version}",
                "command": ["kube-scheduler", *flags],
            }
        ]
    }
    return pod("a"), own | {"status": {"phase": "Running"}}


def of_node(written: dict[str, Any]) -> dict[str, Any]:
    written["metadata"]["ownerReferences"] = [
        {"kind": "Node", "name": "n1", "apiVersion": "v1", "uid": "u", "controller": True}
    ]
    return written


def full(name: str, at: str = "", **more: Any) -> dict[str, Any]:
    """A pod that fills a node, on one or waiting."""
    where: dict[str, Any] = {"nodeName": at} if at else {}
    found = pod(name, **more, **where)
    found["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4"
    return found


CASES: list[tuple[str, Some, str | None, str]] = [
    ("nominated", status(nominatedNodeName="n1"), None, "the pod is nominated already"),
    ("disrupted", status(conditions=[{"type": "DisruptionTarget", "status": "True"}]), None, "the pod has the condition DisruptionTarget"),
    ("disk", of_pod(), None, "a disk that is named in the pod itself (gcePersistentDisk)"),
    ("limited disk", of_pod(), None, "a disk that is named in the pod itself (azureDisk)"),
    ("Lt", of_pod(tolerations=[{"key": "k", "operator": "Lt", "value": "5"}]), None, "a toleration that compares numbers"),
    ("field", of_pod(quux={"x": 1}), None, "`quux` is no field of PodSpec"),
    ("namespaces", of_pod(affinity={"podAntiAffinity": term(namespaceSelector={"matchLabels": {"team": "a"}})}), None, "a namespaceSelector asks for labels"),
    ("label keys of terms", of_pod(affinity={"podAntiAffinity": term(matchLabelKeys=["rev"])}), "1.30", "matchLabelKeys and mismatchLabelKeys"),
    ("label keys", of_pod(topologySpreadConstraints=spread(matchLabelKeys=["rev"])), "1.26", "matchLabelKeys of a topology spread constraint"),
    ("taint policy", of_pod(topologySpreadConstraints=spread(nodeTaintsPolicy="Honor")), "1.25", "nodeTaintsPolicy of a topology"),
    ("pod level", of_pod(resources={"requests": {"cpu": "1"}}), "1.33", "resources of the pod as a whole"),
    ("sidecar port", of_pod(initContainers=[{"name": "i", "restartPolicy": "Always", "ports": [{"hostPort": 80}]}]), "1.33", "host ports of init containers"),
    ("sidecar", of_pod(initContainers=[{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}]), "1.28", "a sidecar counts like a container"),
    ("far sidecar", (pod("a"), pod("x", nodeName="n2", initContainers=[{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}])), "1.28", "a sidecar counts like a container"),
    ("overhead", of_pod(overhead={"cpu": "1"}), "1.17", "the overhead of a pod counts from 1.18 on"),
    ("selector", of_pod(affinity={"podAntiAffinity": term(namespaceSelector={})}), "1.21", "a namespaceSelector counts from 1.22 on"),
    ("gate", (pod("a"), pod("g", schedulingGates=[{"name": "x"}])), "1.26", "a scheduling gate keeps a pod back from 1.27 on"),
    ("RuntimeClass", (owed(runtimeClassName="kata"),), None, "a RuntimeClass gives overhead"),
    ("LimitRange", (owed(), made("LimitRange", "l", "v1", "shop")), None, "a LimitRange of the namespace"),
    ("addedAffinity", arguments("NodeAffinity", addedAffinity={}), None, "addedAffinity is not modelled"),
    ("defaultConstraints", arguments("PodTopologySpread", defaultConstraints=spread()), None, "defaultConstraints of PodTopologySpread"),
    ("plugin", profile(filter={"enabled": [{"name": "Coscheduling"}]}), None, "plugins that are enabled in addition"),
    ("kept plugin", profile(multiPoint={"disabled": [{"name": "VolumeBinding"}]}), None, "plugins that are disabled, but cannot be in the model"),
    ("half a plugin", profile(preFilter={"disabled": [{"name": "NodePorts"}]}), None, "a plugin that filters, and whose preFilter"),
    ("some profiles", configured(profiles=[{}, {"schedulerName": "x", "plugins": {"filter": {"disabled": [{"name": "NodePorts"}]}}}]), None, "NodePorts is switched off for some profiles"),
    ("some settings", configured(profiles=[{}, {"schedulerName": "x", "pluginConfig": [{"name": "DefaultPreemption", "args": {"minCandidateNodesAbsolute": 1}}]}]), None, "the arguments of DefaultPreemption differ"),
    ("extender", configured(extenders=[{"urlPrefix": "http://x", "filterVerb": "f"}]), None, "filterVerb of an extender is left out"),
    ("ConfigMap", (pod("a"), MAP), None, "a KubeSchedulerConfiguration that lies in another object"),
    ("Policy", (pod("a"), POLICY), None, "objects of kind Policy"),
    ("hostname", of_pod(nodeSelector={HOST: "n1"}), None, "the node has no label kubernetes.io/hostname"),
    ("flag", of_scheduler("--feature-gates=X=true", "--qps=5", "--leader-elect=false", "--v", "5"), None, "kube-scheduler is started with --qps, which is not read"),
    ("two schedulers", (*of_scheduler(), of_scheduler(version="v1.35.0", name="kube-scheduler-n")[1]), None, "the kube-scheduler Pods are of several versions"),
    ("static pod", (full("a", priority=9), of_node(full("s", "n1"))), None, "a static pod may be preempted"),
    ("version", ({**owed(), "apiVersion": "apps/v2"},), None, "apps/v2 is a version that podrace does not know"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "some", "release", "begins"), CASES, ids=[c[0] for c in CASES])
def test_what_is_in_doubt(tmp_path: Path, name: str, some: Some, release: str | None, begins: str) -> None:
    if "disk" in name:
        (written,) = some
        written["spec"]["volumes"] = [{"name": "v", "azureDisk" if "limited" in name else "gcePersistentDisk": {}}]  # fmt: skip
    nodes = (BARE, node("n2")) if name == "hostname" else NODES
    found = doubts(tmp_path, *some, release=release, nodes=nodes)
    assert len(found) == 1, found
    assert found[0].startswith(begins)
    if release is not None:  # the scheduler of a newer release does as podrace does
        assert doubts(tmp_path, *some, nodes=nodes) == []


@pytest.mark.parametrize(
    "some",
    [
        # A pod that is not kept, and is on no kept node; one that is on a kept node, and whose room is known.
        (full("a"), full("x", "n2", tolerations=[{"key": "k", "operator": "Lt", "value": "5"}], priority=9)),
        # Only pods that are still owed go without what a RuntimeClass or a LimitRange gives.
        (pod("a", runtimeClassName="kata"), made("LimitRange", "l", "v1", "shop")),
        (owed(), made("LimitRange", "l", "v1", "other")),
        configured(extenders=[{"urlPrefix": "http://x", "filterVerb": "f", "managedResources": [{"name": "example.com/fpga"}]}]),
        profile(multiPoint={"enabled": [{"name": "ImageLocality"}, {"name": "NodeVolumeLimits"}]}),
        of_pod(affinity={"podAntiAffinity": term(namespaceSelector={})}),
        of_pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}),
        of_pod(tolerations=[{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}], preemptionPolicy="Never"),
        of_pod(overhead={"cpu": "1"}, initContainers=[{"name": "i", "resources": {"requests": {"cpu": "2"}}}]),
        (pod("a"), {**node("n9"), "status": {"allocatable": {"cpu": "1", "pods": "1"}, "images": [{"names": ["x"], "sizeBytes": 1}]}}),
    ],
)  # fmt: skip
def test_what_is_read_or_is_about_others_is_not_in_doubt(tmp_path: Path, some: Some) -> None:
    assert doubts(tmp_path, *some) == []


def test_a_backoff_of_minutes_is_in_doubt_with_scales_of_time(tmp_path: Path) -> None:
    """S-STUCK HELD with `--time scales`, which assumes that no backoff takes minutes, beside a configuration with one of an hour."""
    file = tmp_path / "m.yaml"

    def found(scales: bool, **more: Any) -> list[str]:
        file.write_text(as_list(*NODES, *configured(**more)))
        return doubts_of(represent(read_manifests([str(file)]), Size(3, 2)), None, scales)

    hour = {"podInitialBackoffSeconds": 3600, "podMaxBackoffSeconds": 3600}
    (line,) = found(True, **hour)
    assert line.startswith("a backoff may take minutes, as the periodic flush does")
    assert found(False, **hour) == found(True, podMaxBackoffSeconds=20) == []


def test_a_kept_node_that_goes_while_another_stays_is_in_doubt(tmp_path: Path) -> None:
    going = node("n1")
    going["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}
    assert doubts(tmp_path, full("a"), full("b"), nodes=(going, node("n2"))) == [
        "the node is being deleted: that it goes is not in the scenario, as another kept node stays (Node/n1)"
    ]


def test_room_that_pods_keep_which_are_left_out_is_in_doubt(tmp_path: Path) -> None:
    """A field that podrace does not know, of a pod on a kept node."""
    (found,) = doubts(tmp_path, pod("a"), pod("x", nodeName="n1", quux={}))
    assert found == "`quux` is no field of PodSpec in Kubernetes 1.36: passed over (Pod/shop/x)"


def test_nothing_holds_of_a_dump_without_its_volumes(tmp_path: Path) -> None:
    """Until now S-CAP HOLDS, exit code 0, with "taken to fit everywhere" in a note."""
    file = tmp_path / "m.yaml"

    def ask(*some: dict[str, Any]) -> Any:
        file.write_text(as_list(*NODES, *some))
        (found,) = check(filename=str(file), property="S-CAP", cache=False)
        return found

    bare, whole = ask(WAITS), ask(WAITS, *BOUND, *ANY)
    assert (bare.verdict, bare.vacuous) == ("INCONCLUSIVE", False)
    assert bare.scope["not_modelled"] == (
        "claims of volumes are not among the objects, and taken to fit everywhere: dump pvc, pv and storageclass, too "
        "(shop/data of shop/a)"
    )
    assert (whole.verdict, "not_modelled" in whole.scope) == ("HOLDS", False)


def test_a_pod_that_comes_again_has_the_doubts_of_its_claims(tmp_path: Path) -> None:
    """No pod waits here, so no note is about one: the pod that is asked about is one that its controller would make."""
    owner = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}]
    runs = pod("a", "data", nodeName="n1")
    runs["metadata"]["ownerReferences"] = owner
    (found,) = doubts(tmp_path, runs)
    assert found.endswith("dump pvc, pv and storageclass, too (shop/data of shop/a-again)")


def away(key: str, namespaces: dict[str, Any]) -> dict[str, Any]:
    """A pod on n2 that keeps others away by labels of their namespaces, or of itself."""
    keep = {"labelSelector": {}, "topologyKey": key, **namespaces}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [keep]}}
    found = full("x", "n2", affinity=affinity, priority=9)
    found["metadata"]["labels"] = {"app": "x"}
    return found


@pytest.mark.parametrize(
    ("given", "release"),
    [({"namespaceSelector": {"matchLabels": {"team": "t"}}}, None), ({"matchLabelKeys": ["app"]}, "1.30.4")],
)
def test_a_term_of_a_pod_elsewhere_that_reaches_a_kept_node_is_in_doubt(
    tmp_path: Path, given: dict[str, Any], release: str | None
) -> None:
    """S-CAP HELD where a pod on a node that is not kept may close the zone of the kept one, or not."""
    both = (node("n1"), node("n2"))
    (found,) = doubts(
        tmp_path, full("a"), away("topology.kubernetes.io/zone", given), nodes=both, release=release
    )
    assert found.endswith("(Pod/shop/x)")
    near = away("topology.kubernetes.io/zone", given)
    near["spec"]["affinity"] = {"podAffinity": near["spec"]["affinity"]["podAntiAffinity"]}
    assert doubts(tmp_path, full("a"), near, nodes=both, release=release) == []


@pytest.mark.parametrize(
    ("given", "release"), [({"quux": {}}, None), ({"resources": {"requests": {"cpu": "4"}}}, "1.33.4")]
)
def test_what_a_pod_takes_of_a_node_that_is_not_kept_is_in_doubt(
    tmp_path: Path, given: dict[str, Any], release: str | None
) -> None:
    """b was taken to fit n1 alone, so n2 was not kept, and L-PLACE HELD."""
    x = full("x", "n2", priority=9)
    x["spec"] |= given
    kept = represent(read_manifests([written(tmp_path, *NODES, full("a"), x)]), Size(3, 2))
    assert [n.name for n in kept.nodes] == ["n1"]
    (found,) = doubts_of(kept, release)
    assert found.endswith("(Pod/shop/x)")


def test_a_node_that_spread_constraints_count_or_a_pod_is_nominated_to_is_in_doubt(tmp_path: Path) -> None:
    """Whether a node without the label is a domain decides elsewhere, too; a nomination takes room of pods that are kept."""
    constraint = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
    some = (full("a", topologySpreadConstraints=[constraint]), full("x", "n2", priority=9))
    bare = {**node("n2"), "metadata": {"name": "n2", "uid": "u"}}
    assert [line.rpartition("(")[2] for line in doubts(tmp_path, *some, nodes=(node("n1"), bare))] == [
        "Node/n2)"
    ]
    other = full(
        "b", priority=9, nodeSelector={"no": "where"}, status={"phase": "Pending", "nominatedNodeName": "n1"}
    )
    assert doubts(tmp_path, full("a"), other, nodes=(node("n1"),)) == [
        "the pod is nominated already: the model begins without nominations (Pod/shop/b)"
    ]


def test_what_a_pod_waits_for_that_seems_to_fit_nowhere_is_in_doubt(tmp_path: Path) -> None:
    """A node without the label counts as a domain with nobody, and one namespace as one without labels: b was not kept, and L-PLACE HELD of a alone."""
    host, apps = "kubernetes.io/hostname", {"matchLabels": {"app": "b"}}
    spread = {"maxSkew": 1, "topologyKey": host, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": apps}
    beside = {"topologyKey": host, "labelSelector": apps, "namespaceSelector": {"matchLabels": {"team": "t"}}}
    bare = node("n3")
    bare["metadata"] = {"name": "n3", "uid": "u"}
    bare["spec"] = {"unschedulable": True}

    def labelled(made: dict[str, Any]) -> dict[str, Any]:
        made["metadata"]["labels"] = {"app": "b"}
        return made

    there = tuple(labelled(pod(name, nodeName=at, priority=9)) for name, at in (("m1", "n1"), ("m2", "n2")))
    b = labelled(pod("b", topologySpreadConstraints=[spread]))
    (found,) = doubts(tmp_path, pod("a"), b, *there, nodes=(node("n1"), node("n2"), bare))
    assert found.endswith("(Node/n3)")
    for one in there:
        one["metadata"]["namespace"] = "other"
    b = labelled(
        pod("b", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [beside]}})
    )
    (found,) = doubts(tmp_path, pod("a"), b, *there)
    assert found.endswith("(Pod/shop/b)")
    # It fits on one node for sure, and nobody contests it there: it is not kept, and in doubt all the same.
    there[1]["metadata"]["namespace"] = "shop"
    (found,) = doubts(tmp_path, pod("a"), b, *there)
    assert found.endswith("(Pod/shop/b)")
    # A pod on a node without the key meets no term: what else the node lacks decides where b fits.
    near = {"topologyKey": host, "labelSelector": apps}
    b = labelled(
        pod("b", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}})
    )
    far = labelled(pod("m", nodeName="n3", priority=9))
    (found,) = doubts(tmp_path, pod("a"), b, far, nodes=(node("n1"), node("n2"), bare))
    assert found.endswith("(Node/n3)")
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    far = pod("m", nodeName="n3", priority=9, affinity=apart)
    (found,) = doubts(tmp_path, pod("a"), labelled(pod("b")), far, nodes=(node("n1"), node("n2"), bare))
    assert found.endswith("(Node/n3)")
