"""The fields that Kubernetes' objects have: one that is like them and none of them is a mistake.

A reader looks only at the fields that it asks for. So a misspelt one would change what an object means, and nobody would say so. The lists are those of Kubernetes 1.36
(k8s.io/api, k8s.io/kube-scheduler), with what older versions had beside; resource.k8s.io, whose versions differ, is not among them. What an API server has written cannot be misspelt, but may be newer than the lists:
a field that is like none of them is passed over with a note. In metadata and status nothing is refused.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache

import yaml

from ...base.text import one_line
from .manifest_files import Remarks
from .manifest_values import Manifest

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SOURCES = (
    "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk glusterfs hostPath iscsi nfs "
    "photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume"
)
_OBJECT = "apiVersion kind metadata:ObjectMeta status"

_LISTED = {
    "Pod": f"{_OBJECT}:PodStatus spec:PodSpec",
    "PodSpec": (
        "activeDeadlineSeconds affinity:Affinity automountServiceAccountToken containers:Container dnsConfig dnsPolicy enableServiceLinks ephemeralContainers "
        "hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets initContainers:Container nodeName nodeSelector os overhead "
        "preemptionPolicy priority priorityClassName readinessGates resourceClaims:PodResourceClaim resources:ResourceRequirements restartPolicy runtimeClassName "
        "schedulerName schedulingGates:PodSchedulingGate schedulingGroup:PodSchedulingGroup securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace "
        "subdomain terminationGracePeriodSeconds tolerations:Toleration topologySpreadConstraints:TopologySpreadConstraint volumes:Volume workloadRef:WorkloadReference"
    ),
    "Container": (
        "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports:ContainerPort readinessProbe resizePolicy "
        "resources:ResourceRequirements restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath "
        "terminationMessagePolicy tty volumeDevices volumeMounts workingDir"
    ),
    "ContainerPort": "containerPort hostIP hostPort name protocol",
    "ResourceRequirements": "claims limits requests",
    "Affinity": "nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity",
    "NodeAffinity": f"{_PREFERRED}:PreferredSchedulingTerm {_REQUIRED}:NodeSelector",
    "PreferredSchedulingTerm": "preference:NodeSelectorTerm weight",
    "NodeSelector": "nodeSelectorTerms:NodeSelectorTerm",
    "NodeSelectorTerm": "matchExpressions:NodeSelectorRequirement matchFields:NodeSelectorRequirement",
    "NodeSelectorRequirement": "key operator values",
    "PodAffinity": f"{_PREFERRED}:WeightedPodAffinityTerm {_REQUIRED}:PodAffinityTerm",
    "PodAntiAffinity": f"{_PREFERRED}:WeightedPodAffinityTerm {_REQUIRED}:PodAffinityTerm",
    "WeightedPodAffinityTerm": "podAffinityTerm:PodAffinityTerm weight",
    "PodAffinityTerm": (
        "labelSelector:LabelSelector matchLabelKeys mismatchLabelKeys namespaceSelector:LabelSelector namespaces topologyKey"
    ),
    "LabelSelector": "matchExpressions:LabelSelectorRequirement matchLabels",
    "LabelSelectorRequirement": "key operator values",
    "Toleration": "effect key operator tolerationSeconds value",
    "TopologySpreadConstraint": (
        "labelSelector:LabelSelector matchLabelKeys maxSkew minDomains nodeAffinityPolicy nodeTaintsPolicy topologyKey whenUnsatisfiable"
    ),
    "PodResourceClaim": "name resourceClaimName resourceClaimTemplateName source",
    "PodSchedulingGroup": "podGroupName",
    "WorkloadReference": "name podGroup podGroupReplicaKey",
    "PodSchedulingGate": "name",
    "Volume": (
        f"{_SOURCES} configMap downwardAPI emptyDir ephemeral:EphemeralVolumeSource gitRepo image name "
        "persistentVolumeClaim:PersistentVolumeClaimVolumeSource projected secret"
    ),
    "PersistentVolumeClaimVolumeSource": "claimName readOnly",
    "EphemeralVolumeSource": "readOnly volumeClaimTemplate:PersistentVolumeClaimTemplate",
    "PersistentVolumeClaimTemplate": f"{_OBJECT} spec:PersistentVolumeClaimSpec",
    "Node": f"{_OBJECT}:NodeStatus spec:NodeSpec",
    "NodeSpec": "configSource externalID podCIDR podCIDRs providerID taints:Taint unschedulable",
    "Taint": "effect key timeAdded value",
    "Namespace": f"{_OBJECT} spec",
    "PriorityClass": f"{_OBJECT} description globalDefault preemptionPolicy value",
    "PodDisruptionBudget": f"{_OBJECT}:PodDisruptionBudgetStatus spec:PodDisruptionBudgetSpec",
    "PodDisruptionBudgetSpec": "maxUnavailable minAvailable selector:LabelSelector unhealthyPodEvictionPolicy",
    "Deployment": f"{_OBJECT} spec:DeploymentSpec",
    "DeploymentSpec": (
        "minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit rollbackTo selector:LabelSelector strategy "
        "template:PodTemplateSpec"
    ),
    "ReplicaSet": f"{_OBJECT} spec:ReplicaSetSpec",
    "ReplicaSetSpec": "minReadySeconds replicas selector:LabelSelector template:PodTemplateSpec",
    "StatefulSet": f"{_OBJECT} spec:StatefulSetSpec",
    "StatefulSetSpec": (
        "minReadySeconds ordinals:StatefulSetOrdinals persistentVolumeClaimRetentionPolicy podManagementPolicy replicas revisionHistoryLimit "
        "selector:LabelSelector serviceName template:PodTemplateSpec updateStrategy volumeClaimTemplates:PersistentVolumeClaimTemplate"
    ),
    "StatefulSetOrdinals": "start",
    "Job": f"{_OBJECT} spec:JobSpec",
    "JobSpec": (
        "activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector maxFailedIndexes parallelism "
        "podFailurePolicy podReplacementPolicy selector:LabelSelector successPolicy suspend template:PodTemplateSpec ttlSecondsAfterFinished"
    ),
    "PodTemplateSpec": "metadata:ObjectMeta spec:PodSpec",
    "StorageClass": (
        f"{_OBJECT} allowVolumeExpansion allowedTopologies mountOptions parameters provisioner reclaimPolicy volumeBindingMode"
    ),
    "PersistentVolume": f"{_OBJECT} spec:PersistentVolumeSpec",
    "PersistentVolumeSpec": (
        f"{_SOURCES} accessModes capacity claimRef local mountOptions nodeAffinity:VolumeNodeAffinity persistentVolumeReclaimPolicy storageClassName "
        "volumeAttributesClassName volumeMode"
    ),
    "VolumeNodeAffinity": "required:NodeSelector",
    "PersistentVolumeClaim": f"{_OBJECT} spec:PersistentVolumeClaimSpec",
    "PersistentVolumeClaimSpec": (
        "accessModes dataSource dataSourceRef resources:ResourceRequirements selector:LabelSelector storageClassName volumeAttributesClassName volumeMode volumeName"
    ),
    "PodGroup": f"{_OBJECT} spec:PodGroupSpec",
    "PodGroupSpec": (
        "disruptionMode parentCompositePodGroupName podGroupTemplateRef preemptionPolicy priority priorityClassName resourceClaims:PodResourceClaim "
        "schedulingConstraints schedulingPolicy:PodGroupPolicy workloadRef"
    ),
    "PodGroupPolicy": "basic gang:GangSchedulingPolicy",
    "CompositePodGroup": f"{_OBJECT} spec:CompositePodGroupSpec",
    "CompositePodGroupSpec": (
        "disruptionMode parentCompositePodGroupName preemptionPolicy priority priorityClassName schedulingConstraints schedulingPolicy:PodGroupPolicy workloadRef"
    ),
    "GangSchedulingPolicy": "minCount minGroupCount",
    "Workload": f"{_OBJECT} spec",
    "KubeSchedulerConfiguration": (
        "apiVersion kind clientConnection delayCacheUntilActive enableContentionProfiling enableProfiling extenders:Extender healthzBindAddress leaderElection "
        "metricsBindAddress parallelism percentageOfNodesToScore podInitialBackoffSeconds podMaxBackoffSeconds profiles:KubeSchedulerProfile "
        "algorithmSource bindTimeoutSeconds disablePreemption failureDomains hardPodAffinitySymmetricWeight pluginConfig plugins schedulerName"
    ),
    "KubeSchedulerProfile": (
        "percentageOfNodesToScore pluginConfig:PluginConfig plugins:Plugins schedulerName"
    ),
    "Plugins": (
        "bind:PluginSet filter:PluginSet multiPoint:PluginSet permit:PluginSet placementGenerate:PluginSet placementScore:PluginSet postBind:PluginSet "
        "postFilter:PluginSet preBind:PluginSet preEnqueue:PluginSet preFilter:PluginSet preScore:PluginSet queueSort:PluginSet reserve:PluginSet "
        "score:PluginSet unreserve:PluginSet"
    ),
    "PluginSet": "disabled:Plugin enabled:Plugin",
    "Plugin": "name weight",
    "PluginConfig": "args name",
    "DefaultPreemptionArgs": "apiVersion kind minCandidateNodesAbsolute minCandidateNodesPercentage",
    "NodeAffinityArgs": "addedAffinity:NodeAffinity apiVersion kind",
    "NodeResourcesFitArgs": "apiVersion ignoredResourceGroups ignoredResources kind scoringStrategy",
    "PodTopologySpreadArgs": "apiVersion defaultConstraints:TopologySpreadConstraint defaultingType kind",
    "Extender": (
        "bindVerb enableHTTPS enableHttps filterVerb httpTimeout ignorable managedResources:ExtenderManagedResource nodeCacheCapable preemptVerb prioritizeVerb "
        "tlsConfig urlPrefix weight"
    ),
    "ExtenderManagedResource": "ignoredByScheduler name",
}  # fmt: skip
"""The fields of each type, with the type of those that have fields of their own."""

_ONLY_NOTED = {
    "ObjectMeta": (
        "annotations clusterName creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation initializers labels managedFields name "
        "namespace ownerReferences resourceVersion selfLink uid"
    ),
    "NodeStatus": (
        "addresses allocatable capacity conditions config daemonEndpoints declaredFeatures features images nodeInfo phase runtimeHandlers volumesAttached "
        "volumesInUse"
    ),
    "PodStatus": (
        "allocatedResources conditions containerStatuses ephemeralContainerStatuses extendedResourceClaimStatus hostIP hostIPs initContainerStatuses message "
        "nodeAllocatableResourceClaimStatuses nominatedNodeName observedGeneration phase podIP podIPs qosClass reason resize resourceClaimStatuses resources "
        "startTime"
    ),
    "PodDisruptionBudgetStatus": (
        "conditions currentHealthy desiredHealthy disruptedPods disruptionsAllowed expectedPods observedGeneration"
    ),
}  # fmt: skip
"""What an API server or a controller writes: of these a field that is like one of them is noted, and any other says nothing to the scheduler."""


def _parsed(listed: str) -> Mapping[str, str]:
    pairs = (word.partition(":") for word in listed.split())
    return {name: kind for name, _, kind in pairs}


_TYPES = {kind: _parsed(listed) for kind, listed in (_LISTED | _ONLY_NOTED).items()}

LIKE = 0.85
"""So much alike are a name and its misspelling, with any letters large or small; no two fields that a version of Kubernetes up to 1.37 has added are to those that it had."""


@lru_cache(maxsize=1 << 12)
def likely_field(kind: str, name: str) -> str:
    """The field of a type that is meant by a name which is none of its fields; empty if none is like it."""
    lower = {known.lower(): known for known in _TYPES[kind]}
    close = get_close_matches(name.lower(), lower, n=1, cutoff=LIKE)
    return lower[close[0]] if close else ""


def check_fields(top: Manifest, kind: str, shown: str, remarks: Remarks, strict: bool) -> None:
    """Refuse fields of an object of this kind that are misspelt, and note those that are not known; if `strict`, refuse these, too.

    `shown` is the object as remarks name it. Kinds whose fields are not listed are passed over.
    """
    if kind in _TYPES and not _has_known(top.node, kind):
        _check(top, top.node, top.path, kind, shown, remarks, strict)


def _has_known(node: yaml.Node, kind: str) -> bool:
    """Whether all fields of a value of a type are known: so nearly all are, and their paths need not be made."""
    if isinstance(node, yaml.SequenceNode):
        return all(_has_known(element, kind) for element in node.value)
    if not isinstance(node, yaml.MappingNode):
        return True
    known = _TYPES[kind]
    for key, value in node.value:
        inner = known.get(key.value)
        if inner is None or (inner and not _has_known(value, inner)):
            return False
    return True


def _check(
    top: Manifest, node: yaml.Node, path: str, kind: str, shown: str, remarks: Remarks, strict: bool
) -> None:
    """The same of a value of a type, or of a list of such; what is of another form is its reader's affair."""
    if isinstance(node, yaml.SequenceNode):
        for i, element in enumerate(node.value):
            _check(top, element, f"{path}[{i}]", kind, shown, remarks, strict)
    if not isinstance(node, yaml.MappingNode):
        return
    known = _TYPES[kind]
    for key, value in node.value:
        inner = known.get(key.value)
        if inner:
            _check(top, value, f"{path}.{key.value}" if path else key.value, inner, shown, remarks, strict)
        elif inner is None:
            _unknown(top.at(path, key), kind, shown, remarks, strict)


def _unknown(key: Manifest, kind: str, shown: str, remarks: Remarks, strict: bool) -> None:
    written = key.node.value
    name, likely = one_line(written), likely_field(kind, written)
    if kind in _ONLY_NOTED:
        if likely:
            remarks.add(f"`{name}` is no field of {kind}, and passed over: did you mean `{likely}`?", shown)
    elif likely:
        key.fail(f"unknown field `{name}` of {kind}; did you mean `{likely}`?")
    elif strict:
        key.fail(
            f"unknown field `{name}` of {kind}: remove it, or leave out --strict, and it is passed over with a note"
        )
    else:
        remarks.doubt(f"`{name}` is no field of {kind} in Kubernetes 1.36: passed over", shown, room=True)
