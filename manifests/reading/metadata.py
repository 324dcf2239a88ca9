"""metadata: names, labels, owners, whether an object is being deleted, and the annotation `podrace.io/ignore`.

By this annotation a pod says what is not to be looked at for it: `podrace.io/ignore: "S-UNIQ: the reason"`.
"""

import re
from collections.abc import Mapping

from ...base.structs import Data
from ...base.text import one_line
from ...scenarios.tables.resources import MAX_REASON
from ...scenarios.values.labels import label_key, read_labels
from .manifest_values import Manifest

ANNOTATION = "podrace.io/ignore"

_LINE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,62}):\s*(\S.*)")


def read_ignored(metadata: Mapping[str, Manifest]) -> Mapping[str, str]:
    """Of these fields of a metadata: the properties that are not to be looked at, each with the reason."""
    if "annotations" not in metadata:
        return {}
    annotations = metadata["annotations"].fields((ANNOTATION,), "a mapping from annotations to texts")
    if ANNOTATION not in annotations:
        return {}
    value = annotations[ANNOTATION]
    wanted = 'a line for each property, with the reason: "S-UNIQ: the reason"'
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, value.text(wanted).splitlines())):
        match = _LINE.fullmatch(line)
        if match is None:
            value.expect(wanted)
        identifier, reason = match[1], match[2].strip()
        if identifier in found:
            value.fail(f"{identifier} is given twice: remove one of the lines")
        if not reason.isprintable() or len(reason) > MAX_REASON:
            value.fail(
                f"expected for {identifier} a reason of at most {MAX_REASON} printable characters in one line"
            )
        found[identifier] = reason
    if not found:
        value.expect(wanted)
    return found


_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
# Names of priority classes and others may be system:node-critical and the like.
CLUSTER_WIDE = (
    "Node", "PriorityClass", "Namespace", "PersistentVolume", "StorageClass", "DeviceClass", "ResourceSlice", "DeviceTaintRule",
    "CSINode", "CSIDriver", "VolumeAttachment",
)  # fmt: skip


class Owner(Data):
    """The controller that an object belongs to."""

    kind: str
    name: str
    uid: str


class Meta(Data):
    """An object's metadata. `name` is namespace/name for what has a namespace; `ignored` are properties with reasons.

    `version` is its resourceVersion, `finalizers` what keeps it when it is deleted. `line` is where the name stands.
    """

    kind: str
    name: str
    namespace: str
    uid: str
    version: str
    labels: Mapping[str, str]
    owner: Owner | None
    owners: tuple[Owner, ...]
    deleted: bool
    ignored: Mapping[str, str]
    place: Manifest
    line: int
    finalizers: tuple[str, ...] = ()

    @property
    def source(self) -> tuple[str, int]:
        """File and line."""
        return self.place.file, self.line

    @property
    def identity(self) -> tuple[str, str]:
        """What no other object has, nor another version of this one."""
        return self.uid, self.version

    @property
    def shown(self) -> str:
        """Kind/namespace/name."""
        return f"{self.kind}/{self.name}"

    def annotations(self, *keys: str) -> dict[str, str]:
        """Those of these annotations that it has."""
        given = self.place.mapping("a mapping").get("annotations")
        found = given.fields(keys, "a mapping from annotations to texts") if given is not None else {}
        return {key: value.scalar("a text") for key, value in found.items()}


def read_meta(top: Manifest, kind: str, value: Manifest | None) -> Meta:
    """The metadata of an object of this kind."""
    if value is None:
        top.fail(f"`metadata` is missing: a {kind} has at least `metadata.name`")
    fields = value.mapping("a mapping with `name`")
    if "name" not in fields:
        hint = (
            "`generateName` is not enough, for reports name objects"
            if "generateName" in fields
            else "name it"
        )
        value.fail(f"`name` is missing from the metadata of this {kind}: {hint}")
    name, namespace = _name(fields["name"]), ""
    if kind not in CLUSTER_WIDE:
        namespace = read_label(fields["namespace"], "a namespace") if "namespace" in fields else "default"
    owners = [_owner(element) for element in fields.elements("ownerReferences", "a list of owners")]
    return Meta(
        kind,
        f"{namespace}/{name}" if namespace else name,
        namespace,
        fields.text("uid", "a uid"),
        fields.scalar("resourceVersion", "a version"),
        read_labels(fields),
        next((o for o, controls in owners if controls), None),
        tuple(o for o, _ in owners),
        bool(fields.scalar("deletionTimestamp", "a time")),
        read_ignored(fields),
        value,
        fields["name"].line,
        tuple(dict.fromkeys(label_key(e) for e in fields.elements("finalizers", "a list of finalizers"))),
    )


def _owner(value: Manifest) -> tuple[Owner, bool]:
    fields = value.mapping("an owner with `kind` and `name`")
    kind, name = (fields.need(n, "an owner has `kind`, `name` and `uid`") for n in ("kind", "name"))
    uid, controls = fields.text("uid", "a uid"), fields.boolean("controller")
    return Owner(one_line(kind.text("a kind")), name.text("a name"), uid), controls


def _name(value: Manifest) -> str:
    wanted = "a name of at most 253 lower-case letters, digits, `-` and `.`"
    written = value.text(wanted)
    if len(written) > 253 or not _SUBDOMAIN.fullmatch(written):
        value.expect(wanted)
    return written


def read_key(value: Manifest) -> str:
    """The key of a label, which is a text."""
    value.text("a label key such as app or example.com/zone")
    return label_key(value)


def read_label(value: Manifest, what: str) -> str:
    """A name that is a DNS label; `what` it is, for the message of the Problem if it is none."""
    wanted = f"{what} of at most 63 lower-case letters, digits and `-`"
    written = value.text(wanted)
    if not _LABEL.fullmatch(written):
        value.expect(wanted)
    return written
