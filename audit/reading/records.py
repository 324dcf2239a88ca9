"""What is kept of an audit log: writes of pods, nodes and leases with those parts of their bodies that an answer can need.

Everything else of a body is dropped when it is read, environment variables and other places of secrets first of all.
Times are whole microseconds since 1970, in UTC.
"""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec

Int = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
"""What Go reads as an int64: a body with a larger number is none."""

Quantity = str | Int | float
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)

EVER = 1 << 62
"""Later than every time of a log."""


def time_of(text: str) -> int | None:
    """The time that an RFC 3339 text stands for; None if it is none."""
    try:
        moment = datetime.fromisoformat(text)
        return time_of_moment(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def time_of_moment(moment: datetime) -> int:
    """The time that a datetime with a zone stands for."""
    return (moment - _EPOCH) // _TICK


def moment_of(time: int) -> datetime:
    """The same time as a datetime."""
    return _EPOCH + time * _TICK


def time_text(time: int) -> str:
    """The time as RFC 3339 in UTC, to the millisecond."""
    try:
        moment = _EPOCH + time * _TICK
    except OverflowError:
        return "?"
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


class Meta(msgspec.Struct):
    """Of an object's metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    labels: dict[str, str] | None = None
    deletionTimestamp: str | None = None
    deletionGracePeriodSeconds: Int | None = None
    finalizers: list[str] | None = None


class Resources(msgspec.Struct, omit_defaults=True):
    """Requests and limits."""

    requests: dict[str, Quantity] | None = None
    limits: dict[str, Quantity] | None = None


class Port(msgspec.Struct, omit_defaults=True):
    """A port of a container."""

    hostPort: Int = 0
    protocol: str = "TCP"
    hostIP: str = ""


class Container(msgspec.Struct, omit_defaults=True):
    """What a container asks for."""

    name: str = ""
    resources: Resources | None = None
    restartPolicy: str | None = None
    ports: list[Port] | None = None


class Condition(msgspec.Struct):
    """A condition."""

    type: str = ""
    status: str = ""
    reason: str = ""


class PodAffinity(msgspec.Struct, omit_defaults=True):
    """Required terms; read where they are used."""

    requiredDuringSchedulingIgnoredDuringExecution: list[msgspec.Raw] | None = None


class Affinity(msgspec.Struct, omit_defaults=True):
    """The anti-affinity of a pod."""

    podAntiAffinity: PodAffinity | None = None


class Group(msgspec.Struct):
    """The group that a pod belongs to."""


class PodSpec(msgspec.Struct):
    """Of a pod's specification."""

    nodeName: str | None = None
    containers: list[Container] = []
    initContainers: list[Container] | None = None
    overhead: dict[str, Quantity] | None = None
    resources: Resources | None = None
    affinity: Affinity | None = None
    priority: Int | None = None
    schedulingGroup: Group | None = None


class ContainerStatus(msgspec.Struct):
    """What the kubelet has given a container."""

    name: str = ""
    resources: Resources | None = None
    allocatedResources: dict[str, Quantity] | None = None


class ClaimedResource(msgspec.Struct):
    """A container's extended resource that a ResourceClaim provides."""

    resourceName: str = ""


class ClaimedResources(msgspec.Struct):
    """Extended resources that no node has to have."""

    requestMappings: list[ClaimedResource] = []


class PodStatus(msgspec.Struct):
    """Of a pod's status."""

    phase: str = ""
    conditions: list[Condition] | None = None
    nominatedNodeName: str | None = None
    containerStatuses: list[ContainerStatus] | None = None
    initContainerStatuses: list[ContainerStatus] | None = None
    resources: Resources | None = None
    allocatedResources: dict[str, Quantity] | None = None
    extendedResourceClaimStatus: ClaimedResources | None = None


class Pod(msgspec.Struct):
    """Of a pod."""

    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class NodeStatus(msgspec.Struct):
    """Of a node's status."""

    allocatable: dict[str, Quantity] | None = None


class Node(msgspec.Struct):
    """Of a node."""

    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class LeaseSpec(msgspec.Struct):
    """Who holds a lease."""

    holderIdentity: str | None = None
    leaseTransitions: Int = 0


class Lease(msgspec.Struct):
    """Of a lease."""

    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)
    spec: LeaseSpec = msgspec.field(default_factory=LeaseSpec)


class Allocated(msgspec.Struct):
    """A device of a claim."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    adminAccess: bool | None = None
    shareID: str | None = None


class AllocatedDevices(msgspec.Struct):
    """Of an allocation."""

    results: list[Allocated] | None = None


class Allocation(msgspec.Struct):
    """What a claim has."""

    devices: AllocatedDevices = msgspec.field(default_factory=AllocatedDevices)


class ClaimStatus(msgspec.Struct):
    """Of a ResourceClaim's status."""

    allocation: Allocation | None = None


class Claim(msgspec.Struct):
    """Of a ResourceClaim."""

    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)
    status: ClaimStatus = msgspec.field(default_factory=ClaimStatus)


class Target(msgspec.Struct):
    """The object that a Binding names."""

    name: str = ""


class Binding(msgspec.Struct):
    """A Binding, as it is sent."""

    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)
    target: Target = msgspec.field(default_factory=Target)


class Write(msgspec.Struct):
    """One request that writes. It took effect between `begin` and `end`, if it did. `patch`: of the body, only what was sent is known.

    `code` is that of the response, 0 where it is not known. `whole`: the response's body was logged. `identity` is the audit ID. `server` says which API server wrote
    the line, as far as the wrapping tells.
    """

    begin: int
    end: int
    verb: str
    resource: str
    sub: str
    namespace: str
    name: str
    uid: str
    code: int
    user: str
    agent: str
    address: str
    server: str
    level: str
    identity: str = ""
    whole: bool = False
    patch: bool = False
    pod: Pod | None = None
    node: Node | None = None
    lease: Lease | None = None
    binding: Binding | None = None
    claim: Claim | None = None

    @property
    def key(self) -> str:
        """namespace/name."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def creates(self) -> bool:
        """Whether it made the object: also an apply can."""
        return self.sub == "" and (self.verb == "create" or (self.verb == "patch" and self.code == 201))

    @property
    def of_binding(self) -> bool:
        """Whether it is about a Binding."""
        return self.sub == "binding" or self.resource == "bindings"

    @property
    def accepted(self) -> bool:
        """Whether the API server said that it did it."""
        return 200 <= self.code < 300

    @property
    def refused(self) -> bool:
        """Whether the API server said that it did not do it. A time-out says neither."""
        return 300 <= self.code < 500 and self.code not in (408, 499)


class Attempt(msgspec.Struct, gc=False):
    """What a scheduler's log or an Event says of a pod. `guessed`: the year of the time is not that of any line. `log` tells logs apart, and is empty for an Event; `named`: it is told by who wrote the line."""

    time: int
    pod: str
    what: str
    node: str = ""
    event: str = ""
    guessed: bool = False
    log: str = ""
    named: bool = False
