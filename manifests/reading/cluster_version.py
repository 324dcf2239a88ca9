"""Which version of Kubernetes a dump is of: what its objects say about it, the surest first."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...base.structs import Data
from ...base.text import one_line
from .manifest_files import Remarks
from .manifest_values import Manifest
from .metadata import Meta

_NUMBERS = re.compile(
    r"v?([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,4})(-(?:alpha|beta|rc)[^+]*)?([-+].*)?", re.ASCII
)
_IMAGE = re.compile(r"(?:.*/)?kube-scheduler(?:-[a-z0-9]+)?:([^@\s]+)(?:@.*)?", re.ASCII)
_FLAG = re.compile(r"(?:^|(?<=\s))--?([A-Za-z][\w-]*)", re.ASCII)
NOT_READ = "which is not read: give what it changes by --gate or a KubeSchedulerConfiguration, and take the flag away"
_HARMLESS = re.compile(
    r"(?:.*kubeconfig|authentication-.*|authorization-.*|requestheader-.*|client-ca-file|(?:bind-|secure-)?(?:address|port)|cert-dir|tls-.*|leader-elect.*"
    r"|lock-object-.*|v|vmodule|log.*|alsologtostderr|stderrthreshold|.*profiling|master|kube-api-.*|permit-.*|http2-.*|.*metric.*|write-config-to|help|version)"
)
"""Flags of kube-scheduler that say nothing about how it schedules."""
_GATES = re.compile(r"(?:^|(?<=\s))--?feature-gates[= ]((?:\w+=(?:true|false),?)+)(?=\s|$)", re.ASCII)
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")

Numbers = tuple[int, int, int]
Read = tuple[Numbers, bool, str, str]
"""What a text says: the numbers, whether it is no pre-release, what names the pre-release, and what a vendor added. The newest is the greatest."""


class ClusterVersion(Data):
    """A version that a dump names: `by` says what names it, `sure` how far that is the scheduler's version. `stage` is as `-rc.1` for a pre-release, `vendor` as `-gke.1000`."""

    numbers: Numbers
    by: str
    sure: str
    stage: str = ""
    vendor: str = ""

    @property
    def running(self) -> str:
        """The version, without what a vendor adds."""
        return ".".join(map(str, self.numbers)) + self.stage


_SURE = {
    "the image of the kube-scheduler Pod": "that is what the scheduler runs",
    "kubectl version": "that is the API server; the scheduler is this version, or one release older during an upgrade",
    "the kubelet of a control-plane Node": "the scheduler usually is the same version",
    "the newest kubelet": "the scheduler is this version or newer, because a kubelet may be three releases older",
}
"""What names a version, the surest first, and how sure it is."""


@dataclass(slots=True)
class NamedVersions:
    """The versions that the objects read so far name: the newest by each of those that may name one. `flags` are the feature gates that the scheduler is started with; None if nothing says them."""

    found: dict[str, Read] = field(default_factory=dict)
    flags: dict[str, bool] | None = None

    def read_server(self, top: Manifest) -> bool:
        """Note what `kubectl version -o json` prints, and say whether this is that."""
        fields = top.fields(("serverVersion", "clientVersion", "kind"), "an object") if top.is_mapping else {}
        if "kind" in fields or not {"serverVersion", "clientVersion"} & fields.keys():
            return False
        if "serverVersion" not in fields:
            fields["clientVersion"].fail(
                "this is the version of kubectl alone: ask with a connection to the cluster, for its `serverVersion`"
            )
        server = fields["serverVersion"].fields(("gitVersion",), "a mapping")
        if "gitVersion" not in server or not self._note("kubectl version", _text(server["gitVersion"])):
            fields["serverVersion"].fail("no version in `gitVersion`, such as v1.34.3")
        return True

    def read_node(self, meta: Meta, fields: Mapping[str, Manifest]) -> None:
        """Note the version of a Node's kubelet."""
        status = fields.get("status")
        info = status.fields(("nodeInfo",), "a mapping").get("nodeInfo") if status is not None else None
        if info is None or not info.is_mapping:
            return
        said = info.fields(("kubeletVersion",), "a mapping").get("kubeletVersion")
        if said is not None:
            self._note("the newest kubelet", _text(said))
            if any(key in meta.labels for key in _CONTROL_PLANE):
                self._note("the kubelet of a control-plane Node", _text(said))

    def read_pod(self, meta: Meta, fields: Mapping[str, Manifest], remarks: Remarks) -> None:
        """Note the version in the image of the scheduler, as kubeadm and others run it, and the flags that it is given and the model is not."""
        spec = fields.get("spec")
        if not meta.name.startswith("kube-system/kube-scheduler") or spec is None:
            return
        containers = spec.fields(("containers",), "a mapping").get("containers")
        for container in containers.elements("a list") if containers is not None else ():
            written = container.fields(("image", "command", "args"), "a mapping")
            match = _IMAGE.fullmatch(_text(written["image"])) if "image" in written else None
            if match is None:
                continue
            known = self.found.get("the image of the kube-scheduler Pod")
            self._note("the image of the kube-scheduler Pod", match[1])
            if known is not None and known != (_read(match[1]) or known):
                remarks.doubt(
                    "the kube-scheduler Pods are of several versions, of which one has the lease: give --release, and leave the others out",
                    f"the image of {meta.shown}",
                )
            parts = (
                written[part].elements("a list of words") for part in ("command", "args") if part in written
            )
            said = " ".join(_text(word) for words in parts for word in words)
            if said and self.flags not in (None, gates := _gates(said)):
                remarks.doubt(
                    "the kube-scheduler Pods are started with several --feature-gates, of which those of one are taken: give them by --gate",
                    f"the flags of {meta.shown}",
                )
            elif said:
                self.flags = gates
            for flag in _FLAG.findall(_GATES.sub("", said)):
                if not _HARMLESS.fullmatch(flag):
                    remarks.doubt(
                        f"kube-scheduler is started with --{one_line(flag)}, {NOT_READ}",
                        f"the flags of {meta.shown}",
                    )

    def surest(self) -> ClusterVersion | None:
        """The version by the surest of what names one; None where nothing does."""
        for by, sure in _SURE.items():
            if by in self.found:
                numbers, _, stage, vendor = self.found[by]
                return ClusterVersion(numbers, by, sure, stage, vendor)
        return None

    def _note(self, by: str, text: str) -> bool:
        read = _read(text)
        if read is not None:
            self.found[by] = max(read, self.found.get(by, read))
        return read is not None


def _gates(said: str) -> dict[str, bool]:
    """The feature gates of a command line."""
    settings = [s.split("=") for listed in _GATES.findall(said) for s in listed.split(",") if s]
    return {name: on == "true" for name, on in settings}


def _read(text: str) -> Read | None:
    match = _NUMBERS.fullmatch(text)
    return match and (
        (int(match[1]), int(match[2]), int(match[3])),
        match[4] is None,
        match[4] or "",
        match[5] or "",
    )


def _text(value: Manifest) -> str:
    return str(value.node.value) if value.is_scalar else ""
