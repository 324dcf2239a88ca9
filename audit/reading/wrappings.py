"""A line of a log, out of its wrapping.

- plain: an audit event a line; an EventList, as the webhook backend sends it; before the event a time (CloudWatch's export to S3) or the
  name of a node (`oc adm node-logs`)
- EKS: CloudWatch's `message` or `@message`; `events` of filter-log-events, `logEvents` of a subscription, `results` of a query
- GKE: a LogEntry of Cloud Logging with an AuditLog of k8s.io as `protoPayload`
- AKS: a record of the category kube-audit with the event as text in `properties.log`, alone or among `records`; `log_s` of the table
  AzureDiagnostics; a row of the tables AKSAudit, AKSAuditAdmin and AKSControlPlane
- collectors: the line, or what it holds, as `log` (Docker, Fluent Bit), `MESSAGE` (journald), `textPayload` or `jsonPayload` (Cloud Logging), `line` (logcli), `_raw` (Splunk),
  `_source` and `hits` (Elasticsearch), `data` (Loki)
- OpenShift's logging: the event with fields of the collector's, of which `k8s_audit_level` has the level, and `hostname` the server
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from .prefixes import ANY, bare
from .records import Int

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
STAGES = frozenset({"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"})
LEVELS = frozenset({"Metadata", "Request", "RequestResponse"})

MOST_NESTED = 6
"""So many wrappings around each other; nobody has more than three."""


class User(msgspec.Struct):
    """Who sent a request."""

    username: str = ""


class Reference(msgspec.Struct):
    """What a request is about."""

    resource: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    apiGroup: str = ""
    subresource: str = ""


class ResponseStatus(msgspec.Struct):
    """How a request ended."""

    code: Int = 0


class AuditEvent(msgspec.Struct, kw_only=True):
    """An event of audit.k8s.io/v1; `server` says who wrote it, where the wrapping tells."""

    kind: str = ""
    apiVersion: str = ""
    level: str = ""
    auditID: str = ""
    stage: str = ""
    requestURI: str = ""
    verb: str = ""
    user: User | None = None
    impersonatedUser: User | None = None
    sourceIPs: list[str] | None = None
    userAgent: str = ""
    objectRef: Reference | None = None
    responseStatus: ResponseStatus | None = None
    requestObject: msgspec.Raw = msgspec.Raw()
    responseObject: msgspec.Raw = msgspec.Raw()
    requestReceivedTimestamp: str = ""
    stageTimestamp: str = ""
    server: str = ""


class Line(AuditEvent, kw_only=True):
    """All that a line can be, for one pass over it."""

    items: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()
    at_message: msgspec.Raw = msgspec.field(name="@message", default=msgspec.Raw())
    events: msgspec.Raw = msgspec.Raw()
    logEvents: msgspec.Raw = msgspec.Raw()
    results: msgspec.Raw = msgspec.Raw()
    records: msgspec.Raw = msgspec.Raw()
    properties: msgspec.Raw = msgspec.Raw()
    protoPayload: msgspec.Raw = msgspec.Raw()
    log_s: str = ""
    pod_s: str = ""
    aks_message: msgspec.Raw = msgspec.field(name="Message", default=msgspec.Raw())
    aks_pod: str = msgspec.field(name="PodName", default="")
    logStreamName: str = ""
    logStream: str = ""
    timestamp: msgspec.Raw = msgspec.Raw()
    insertId: str = ""
    AuditId: str = ""
    msg: str = ""
    caller: msgspec.Raw = msgspec.Raw()
    k8s_audit_level: str = ""
    hostname: str = ""
    log: msgspec.Raw = msgspec.Raw()
    journal: msgspec.Raw = msgspec.field(name="MESSAGE", default=msgspec.Raw())
    journal_host: str = msgspec.field(name="_HOSTNAME", default="")
    textPayload: msgspec.Raw = msgspec.Raw()
    jsonPayload: msgspec.Raw = msgspec.Raw()
    line: msgspec.Raw = msgspec.Raw()
    splunk: msgspec.Raw = msgspec.field(name="_raw", default=msgspec.Raw())
    result: msgspec.Raw = msgspec.Raw()
    source: msgspec.Raw = msgspec.field(name="_source", default=msgspec.Raw())
    hits: msgspec.Raw = msgspec.Raw()
    data: msgspec.Raw = msgspec.Raw()
    kubernetes: msgspec.Raw = msgspec.Raw()
    stream: str = ""


class Hits(msgspec.Struct):
    """What a search found."""

    hits: list[msgspec.Raw] = []


class LokiStream(msgspec.Struct):
    """Lines of one stream, each with its time before it."""

    values: list[list[str]] = []


class LokiData(msgspec.Struct):
    """What a query found."""

    result: list[LokiStream] = []


class Collected(msgspec.Struct):
    """Of a pod whose log was collected."""

    pod_name: str = ""


class Properties(msgspec.Struct):
    """Of a record of Azure's."""

    log: str = ""
    pod: str = ""


class Column(msgspec.Struct):
    """Of a query's result."""

    field: str = ""
    value: str = ""


class AksRow(msgspec.Struct, rename="pascal", kw_only=True):
    """A row of AKSAudit."""

    audit_id: str = ""
    level: str = ""
    stage: str = ""
    request_uri: str = ""
    verb: str = ""
    user: User | None = None
    user_agent: str = ""
    source_ips: list[str] | None = None
    object_ref: Reference | None = None
    response_status: ResponseStatus | None = None
    request_object: msgspec.Raw = msgspec.Raw()
    response_object: msgspec.Raw = msgspec.Raw()
    request_received_time: str = ""
    stage_received_time: str = ""
    time_generated: str = ""
    pod_name: str = ""


class GkeCaller(msgspec.Struct):
    """Of a LogEntry."""

    principalEmail: str = ""
    callerIp: str = ""
    callerSuppliedUserAgent: str = ""


class GkeStatus(msgspec.Struct):
    """A google.rpc.Status."""

    code: Int = 0


class GkePayload(msgspec.Struct):
    """An AuditLog."""

    serviceName: str = ""
    methodName: str = ""
    resourceName: str = ""
    status: GkeStatus | None = None
    authenticationInfo: GkeCaller | None = None
    requestMetadata: GkeCaller | None = None
    request: msgspec.Raw = msgspec.Raw()
    response: msgspec.Raw = msgspec.Raw()


_LINE = msgspec.json.Decoder(Line)
_TEXT = msgspec.json.Decoder(str)
_RAWS = msgspec.json.Decoder(list[msgspec.Raw])
_ROWS = msgspec.json.Decoder(list[list[Column]])
_PROPERTIES = msgspec.json.Decoder(Properties)
_PROPERTIES_TEXT = msgspec.json.Decoder(Properties | str)
_AKS = msgspec.json.Decoder(AksRow)
_GKE = msgspec.json.Decoder(GkePayload)
_HITS, _LOKI = msgspec.json.Decoder(Hits), msgspec.json.Decoder(LokiData)
_COLLECTED = msgspec.json.Decoder(Collected)

NOT_READABLE = (msgspec.MsgspecError, RecursionError, ValueError)
"""What decoding anything at all can raise."""

_GRPC = {3: 422, 5: 404, 6: 409, 7: 403, 9: 409, 10: 409, 11: 400, 16: 401}


class Other(msgspec.Struct):
    """A line of JSON that is no audit event: an object, a list of them, or a line of a log. `time` is when that was passed on, where its wrapping says so; `server` as of an event."""

    kind: str
    raw: bytes
    log: bool = False
    time: str = ""
    server: str = ""


class NotUnderstood(Exception):
    """Why a line is none that podrace knows."""


def unwrapped(data: bytes | msgspec.Raw, server: str = "", depth: int = 0) -> Iterator[AuditEvent | Other]:
    """What a JSON value holds. Raises NotUnderstood."""
    if depth > MOST_NESTED:
        raise NotUnderstood("wrapped too often")
    try:
        line = _LINE.decode(data)
    except (msgspec.ValidationError, UnicodeDecodeError):
        raise NotUnderstood("JSON, but no audit event") from None
    except NOT_READABLE:
        raise NotUnderstood("not JSON, or cut off") from None
    if line.k8s_audit_level:  # OpenShift's collector, which needs `level` for itself
        line.level = line.k8s_audit_level
        server = line.hostname or (server if depth else ANY)
    if line.auditID or (line.apiVersion.startswith("audit.k8s.io/") and line.kind == "Event"):
        if not _is_whole(line):
            raise NotUnderstood("an audit event that lacks something that every one has")
        line.server = server
        yield line
    elif line.kind == "EventList" and line.apiVersion.startswith("audit.k8s.io/"):
        yield from _each(line.items, server, depth)
    elif line.msg or line.caller:
        yield Other("", bytes(data), log=True, server=server)
    elif line.kind:
        yield Other(line.kind, bytes(data))
    else:
        yield from _wrapped(line, data, server, depth)


def _is_whole(event: AuditEvent) -> bool:
    """Whether an audit event has what every one has, and is about what its address says: else the line is damaged.

    Without an address, as some who pass logs on shorten them, it is about what its objectRef says.
    """
    path = event.requestURI.partition("?")[0].split("/")
    if (
        event.stage not in STAGES
        or event.level not in LEVELS
        or event.user is None
        or not event.verb
        or not event.auditID
    ):
        return False
    if event.objectRef is None:
        of_resource = path[1:2] in (["api"], ["apis"]) and len(path) > 3
        return not (event.verb in WRITES and (of_resource or not event.requestURI))
    if not event.requestURI:
        return True
    reference = event.objectRef
    return all(part in path for part in (reference.resource, *reference.subresource.split("/")[:1]) if part)


def _wrapped(line: Line, data: bytes | msgspec.Raw, server: str, depth: int) -> Iterator[AuditEvent | Other]:
    # What collects logs collects those of all API servers.
    own = server
    server = line.logStreamName or line.logStream or line.pod_s or line.aks_pod or (server if depth else ANY)
    try:
        if line.log:
            # Docker's own file is that of one container; what others collect names the pod.
            pod = _COLLECTED.decode(line.kubernetes).pod_name if line.kubernetes else ""
            server = pod or (own if line.stream and not line.kubernetes else server)
        for text in (
            line.message, line.at_message, line.log, line.journal, line.textPayload, line.jsonPayload, line.line, line.splunk, line.source,
        ):  # fmt: skip
            if text:
                yield from inside(_inner(text).strip(b" \r\n"), line.journal_host or server, depth + 1)
                return
        for several in (line.events, line.logEvents, line.records):
            if several:
                yield from _each(several, server, depth)
                return
        yield from _of_service(line, data, server, depth)
    except NOT_READABLE:
        raise NotUnderstood("JSON, but no audit event") from None


def _of_service(
    line: Line, data: bytes | msgspec.Raw, server: str, depth: int
) -> Iterator[AuditEvent | Other]:
    """What stands in a record of one of the services that keep logs, by the field that each has of its own."""
    if line.results:
        for row in _ROWS.decode(line.results):
            for column in row:
                if column.field == "@message":
                    yield from inside(column.value.encode(), server, depth + 1)
    elif line.protoPayload:
        yield _of_gke(line, _GKE.decode(line.protoPayload))
    elif line.properties:
        properties = _PROPERTIES_TEXT.decode(line.properties)
        if isinstance(properties, str):
            properties = _PROPERTIES.decode(properties.encode())
        yield from inside(properties.log.encode(), properties.pod or server, depth + 1)
    elif line.log_s:
        yield from inside(line.log_s.encode(), server, depth + 1)
    elif line.result:
        yield from unwrapped(line.result, server, depth + 1)
    elif line.hits:
        for hit in _HITS.decode(line.hits).hits:
            yield from unwrapped(hit, server, depth + 1)
    elif line.data:
        for stream in _LOKI.decode(line.data).result:
            for value in stream.values:
                yield from inside(value[-1].encode(), server, depth + 1)
    elif line.AuditId:
        yield _of_aks(_AKS.decode(data))
    elif line.aks_message:  # of a union of tables each row has the columns of all, and most are empty
        yield from inside(_inner(line.aks_message).strip(b" \r\n"), server, depth + 1)
    else:
        raise NotUnderstood("JSON, but no audit event")


def inside(text: bytes, server: str = "", depth: int = 0) -> Iterator[AuditEvent | Other]:
    """What stands in a line of text: JSON, perhaps with a time, the name of a node or more before it, or a line of a log."""
    if text[:1] == b"[" and text[1:2] in (b"{", b"]"):
        yield from _each(msgspec.Raw(text), server, depth)
        return
    time = ""
    if text[:1] != b"{":
        text, named, time = bare(text)
        server = named or server
    if text[:1] == b"\t":  # what klog writes so may look like anything
        yield Other("", text, log=True, time=time, server=server)
        return
    start = text.find(b"{", 0, 400)
    if start == 0:
        for found in unwrapped(text, server, depth):
            if isinstance(found, Other):
                found.time = found.time or time
            yield found
        return
    first = text[:start].split() if start > 0 else []
    if len(first) == 1 and not first[0].endswith((b"]", b'"', b"=")):
        word = first[0].decode("utf-8", "replace")
        yield from unwrapped(text[start:], server if _is_time(word) else word, depth)
    else:
        yield Other("", text, log=True, time=time, server=server)


def _is_time(word: str) -> bool:
    return word[:4].isdigit() and word[4:5] == "-" and "T" in word


def _inner(text: msgspec.Raw) -> bytes:
    """A text's content, or the object that stands where a text was expected."""
    raw = bytes(text)
    return raw if raw[:1] == b"{" else _TEXT.decode(raw).encode()


def _each(several: msgspec.Raw, server: str, depth: int) -> Iterator[AuditEvent | Other]:
    try:
        members = _RAWS.decode(several)
    except NOT_READABLE:
        raise NotUnderstood("JSON, but no audit event") from None
    for member in members:
        yield from unwrapped(member, server, depth + 1)


def _of_aks(row: AksRow) -> AuditEvent:
    return AuditEvent(
        level=row.level,
        auditID=row.audit_id,
        stage=row.stage or "ResponseComplete",
        requestURI=row.request_uri,
        verb=row.verb,
        user=row.user,
        sourceIPs=row.source_ips,
        userAgent=row.user_agent,
        objectRef=row.object_ref,
        responseStatus=row.response_status,
        requestObject=row.request_object,
        responseObject=row.response_object,
        requestReceivedTimestamp=row.request_received_time,
        stageTimestamp=row.stage_received_time or row.time_generated,
        server=row.pod_name,
    )


def _of_gke(line: Line, log: GkePayload) -> AuditEvent:
    """A LogEntry as an audit event. Which moment of the request its time is is documented nowhere: so the request may have begun a minute
    before, and ended a minute after.
    """
    if log.serviceName != "k8s.io":
        raise NotUnderstood("a LogEntry of another service than k8s.io")
    caller, asked = log.authenticationInfo or GkeCaller(), log.requestMetadata or GkeCaller()
    reference, verb = _gke_reference(log.methodName, log.resourceName)
    code = log.status.code if log.status else 0
    return AuditEvent(
        level="RequestResponse" if log.response else "Request" if log.request else "Metadata",
        auditID=line.insertId or "gke",
        stage="ResponseComplete",
        verb=verb,
        user=User(caller.principalEmail),
        sourceIPs=[asked.callerIp] if asked.callerIp else None,
        userAgent=asked.callerSuppliedUserAgent,
        objectRef=reference,
        responseStatus=ResponseStatus(200 if code == 0 else _GRPC.get(code, 500)),
        requestObject=log.request,
        responseObject=log.response,
        requestReceivedTimestamp=_TEXT.decode(line.timestamp) if line.timestamp else "",
        server=ANY,
    )


def _gke_reference(method: str, name: str) -> tuple[Reference, str]:
    """io.k8s.core.v1.pods.binding.create of core/v1/namespaces/NAMESPACE/pods/NAME/binding."""
    parts = method.split(".")
    verb, path = parts[-1], name.split("/")
    found = Reference(apiGroup="" if path[0] == "core" else path[0])
    rest = path[2:]
    if rest[:1] == ["namespaces"] and len(rest) >= 3:
        found.namespace, rest = rest[1], rest[2:]
    fields: list[Any] = [*rest[:3], "", "", ""]
    found.resource, found.name, found.subresource = fields[:3]
    return found, verb
