"""Everything that `-f` names, as records; and the account of what was read and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import parse_qs

import msgspec

from ...base.text import one_line
from . import scheduler_log
from .lines import LONGEST, Skipped, lines_of, open_source, whole_log
from .pairs import Pairs
from .prefixes import ANY, Pieces
from .records import EVER, Attempt, Binding, Claim, Lease, Node, Pod, Write, time_of
from .sorting import AT_ONCE, Sorting
from .wrappings import NOT_READABLE, WRITES, AuditEvent, NotUnderstood, Other, Reference, inside, unwrapped

LEASE = ("kube-system", "kube-scheduler")
LATEST = 60_000_000
"""An API server gives up a request after a minute; for lines of which nobody says what moment of the request their time is."""

CLAIMS = "resourceclaims"
_GROUPS = {"leases": "coordination.k8s.io", CLAIMS: "resource.k8s.io"}
_SUBS = {
    "pods": ("", "status", "binding", "eviction", "resize", "ephemeralcontainers"),
    "bindings": ("",),
    "nodes": ("", "status"),
    "leases": ("",),
    CLAIMS: ("", "status"),
}
_BINDING = msgspec.json.Decoder(Binding)
_BODIES: Mapping[str, tuple[str, msgspec.json.Decoder[Any], str]] = {
    "pods": ("pod", msgspec.json.Decoder(Pod), "Pod"),
    "nodes": ("node", msgspec.json.Decoder(Node), "Node"),
    "leases": ("lease", msgspec.json.Decoder(Lease), "Lease"),
    CLAIMS: ("claim", msgspec.json.Decoder(Claim), "ResourceClaim"),
}
"""By resource: where a write has the body, how it is read, and its kind."""

_LIST, _ANY = msgspec.json.Decoder(list[msgspec.Raw]), msgspec.json.Decoder(msgspec.Raw)
_DOCUMENTS = {b"{": b"}", b"[": b"]", b"[{": b"}]"}
"""Lines with which a document over several lines begins, and those with which it ends."""

NO_EVENT, NO_LINE = "JSON, but no audit event", "neither JSON nor a line of klog"
NO_OBJECT = "an object, not an event"
FOREIGN = (NO_EVENT, NO_LINE, NO_OBJECT)
"""Why nothing could be made of lines that no API server and no scheduler logs."""

MOST_ENDS = 100
"""After so many lines that could have been the end of a document, the file's end is."""
T = TypeVar("T", Pod, Node, Lease, Binding, Claim)


class _List(msgspec.Struct):
    kind: str = ""
    items: list[msgspec.Raw] = []


class _DeleteOptions(msgspec.Struct):
    """What a DELETE or an Eviction can say besides."""

    dryRun: list[str] | None = None
    deleteOptions: _DeleteOptions | None = None


class _Status(msgspec.Struct):
    kind: str = ""
    status: str = ""


_OPTIONS, _STATUS = msgspec.json.Decoder(_DeleteOptions), msgspec.json.Decoder(_Status)


@dataclass
class Account:
    """What was read. `skipped`: lines by why nothing could be made of them; `levels`: by resource, how many events of which level; `namespaces`: those that something was written to."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    events: int = 0
    skipped: Skipped = field(default_factory=Skipped)
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    servers: set[str] = field(default_factory=set)
    unfinished: int = 0
    flushed: float | None = None
    backwards: int = 0
    first: int = EVER
    last: int = -EVER
    namespaces: set[str] = field(default_factory=set)


@dataclass
class Read:
    """The records of all files."""

    account: Account
    writes: Sorting
    attempts: list[Attempt]


class Reader:
    """Reads files one after the other."""

    def __init__(self, progress: Callable[[Account], None] | None = None, at_once: int = AT_ONCE) -> None:
        self.account = Account()
        self.writes = Sorting(at_once)
        self.attempts: list[Attempt] = []
        self._progress = progress
        self._pairs = Pairs()
        self._told = 0
        self._written = scheduler_log.Written(datetime.now(UTC))
        self._server = ""
        self._in_klog = False

    def read(self, names: Sequence[str]) -> Read:
        """All files. Raises Problem for what cannot be opened."""
        first: dict[str, int] = {}
        for name in names:
            self.account.files += 1
            number = first.setdefault(whole_log(name), self.account.files)
            self._server, self._in_klog = f"file {number}", False
            self.account.skipped.file = "stdin" if name == "-" else one_line(name, 200)
            self.account.skipped.line = 0
            if name != "-":
                self._written = scheduler_log.Written(_last_written(name))
            with open_source(name) as stream:
                self._file(stream)
        self.account.unfinished = self._pairs.unfinished()
        if self.account.events and self.account.first <= self.account.last:
            scheduler_log.in_the_year_of(self.attempts, self.account.first, self.account.last)
        return Read(self.account, self.writes, self.attempts)

    def _file(self, stream: IO[bytes]) -> None:
        lines = lines_of(stream, self.account.skipped, self._count)
        pieces = Pieces(LONGEST)
        for line in lines:
            self.account.lines += 1
            self.account.skipped.begun = self.account.skipped.line
            if scheduler_log.is_klog(line):  # as it is written, with nothing before it
                self._klog(line.rstrip(), "", self._server)
            elif line.strip() in _DOCUMENTS and not (self._in_klog and line[:1] == b"\t"):
                self._document(line, lines)
            elif (whole := pieces.whole(line.rstrip(b"\r\n"))) is not None:
                self._line(whole.strip(b" \r\n"))
        if cut_off := pieces.rest():
            self.account.skipped.add("not JSON, or cut off", cut_off, begun=0)

    def _count(self, size: int) -> None:
        self.account.bytes += size
        if self._progress is not None and self.account.bytes - self._told > 8 << 20:
            self._told = self.account.bytes
            self._progress(self.account)

    def _document(self, first: bytes, lines: Iterable[bytes]) -> None:
        """A JSON document over several lines, as kubectl, gcloud, aws and jq print them; others may follow it."""
        parts, size, attempts = [first], len(first), 0
        end = _DOCUMENTS[first.strip()]
        for line in lines:
            self.account.lines += 1
            parts.append(line)
            size += len(line)
            if size > LONGEST * 8:
                self.account.skipped.add(
                    f"a document over several lines larger than {LONGEST >> 17} MiB: write it with jq -c"
                )
                return
            if line.rstrip() == end and attempts < MOST_ENDS:
                # What is not indented can have such a line in its middle.
                attempts += 1
                if (members := _members(parts)) is not None:
                    break
        else:
            members = _members(parts)
        if members is None:
            self.account.skipped.add("not JSON, or cut off", len(parts))
            return
        for member in members:
            self._value(bytes(member))

    def _line(self, line: bytes) -> None:
        if line[:1] in (b"#", b"s") and self._metric(line):
            return
        self._value(line.removesuffix(b",") if line[:1] == b"{" else line)

    def _value(self, text: bytes) -> None:
        try:
            for found in inside(text, self._server):
                if isinstance(found, Other):
                    self._other(found)
                else:
                    self._event(found)
        except NotUnderstood as why:
            self.account.skipped.add(str(why))

    def _metric(self, line: bytes) -> bool:
        if line.startswith((b"# HELP ", b"# TYPE ")):
            return True
        number = scheduler_log.of_metric(line)
        if number is not None:
            self.account.flushed = (self.account.flushed or 0.0) + number
        return number is not None or line.startswith(b"scheduler_")

    def _other(self, found: Other) -> None:
        try:
            if found.log and found.raw[:1] == b"{":
                self._attempt(scheduler_log.of_json(found.raw), found.server)
            elif found.log:
                self._of_text(found)
            elif found.kind == "Event":
                self._attempt(scheduler_log.of_event(found.raw))
            elif found.kind.endswith("List"):
                for item in msgspec.json.decode(found.raw, type=_List).items:
                    for member in unwrapped(item):
                        if isinstance(member, Other) and member.kind == "Event":
                            self._attempt(scheduler_log.of_event(member.raw))
            else:
                self.account.skipped.add(NO_OBJECT)
        except NOT_READABLE:
            self.account.skipped.add(NO_EVENT)

    def _of_text(self, found: Other) -> None:
        line = found.raw
        if scheduler_log.is_klog(line):
            self._klog(line, found.time, found.server)
        elif self._in_klog and scheduler_log.goes_on(line):
            return
        elif line[:1] == b"\t":
            self._value(line.strip())
        elif (written := scheduler_log.of_header(line, self._written)) is not None:
            self._in_klog, self._written = True, written
        elif not self._in_klog or b'":' in line or line[:1] == b"{":
            # klog breaks long values, such as the scheduler's configuration, into lines; what has fields of JSON may be the rest of an event.
            self.account.skipped.add(NO_LINE)

    def _klog(self, line: bytes, passed_on: str, log: str) -> None:
        self._in_klog = True
        try:
            self._attempt(scheduler_log.of_klog(line, self._written, passed_on), log)
        except ValueError:
            self.account.skipped.add("a line of klog with a date that there is not")

    def _attempt(self, attempt: Attempt | None, log: str = "") -> None:
        if attempt is not None:
            attempt.log, attempt.named = log, log not in ("", ANY, self._server)
            self.attempts.append(attempt)

    def _event(self, event: AuditEvent) -> None:
        reference = event.objectRef
        self._in_klog = False
        self.account.events += 1
        self._covered(time_of(event.stageTimestamp or event.requestReceivedTimestamp))
        if reference is None:
            return
        if _shows_namespace(event, reference):
            self.account.namespaces.add(
                reference.name if reference.resource == "namespaces" else reference.namespace
            )
        if reference.resource not in _SUBS:
            return
        resource, sub = reference.resource, reference.subresource
        label = f"{resource}/{sub}" if sub else resource
        if event.verb not in WRITES or sub not in _SUBS[resource] or not _is_of(reference):
            return
        if _is_dry_run(event):
            return
        if event.stage == "RequestReceived":
            self._pairs.began(label, event.auditID)
            return
        if event.stage == "ResponseStarted":
            self._pairs.answered(event.auditID)
            return
        if event.stage not in ("ResponseComplete", "Panic"):
            return
        self._pairs.ended(label, event.auditID)
        self.account.levels.setdefault(label, Counter())[event.level] += 1
        begin, end = time_of(event.requestReceivedTimestamp), time_of(event.stageTimestamp)
        if begin is None and end is None:
            self.account.skipped.add("an audit event without a time")
            return
        if begin is not None and end is None and event.server == ANY:
            begin, end = begin - LATEST, begin + LATEST
        begin = end - LATEST if begin is None and end is not None else begin
        end = begin + LATEST if end is None and begin is not None else end
        assert begin is not None
        assert end is not None
        if end < begin:
            self.account.backwards += 1
            begin, end = end, begin
        self.account.servers.add(event.server)
        self.writes.add(self._write(event, reference, begin, end))

    def _covered(self, written: int | None) -> None:
        """A line of any request, also of one that is not looked at, shows that the log goes so far. What is before 1970, as Go's zero time, is no time."""
        if written is not None and written > 0:
            self.account.first = min(self.account.first, written)
            self.account.last = max(self.account.last, written)

    def _write(self, event: AuditEvent, reference: Reference, begin: int, end: int) -> Write:
        panicked = event.stage == "Panic"
        code = event.responseStatus.code if event.responseStatus and not panicked else 0
        write = Write(
            begin, end, event.verb, reference.resource, reference.subresource, reference.namespace,
            reference.name, reference.uid, code, _user(event), event.userAgent,
            event.sourceIPs[0] if event.sourceIPs else "", event.server, event.level, event.auditID,
        )  # fmt: skip
        body = event.responseObject
        if write.of_binding or write.sub == "eviction":
            write.binding = _body(_BINDING, event.requestObject, "Binding")
            write.whole = write.binding is not None
            write.name = write.name or (write.binding.metadata.name if write.binding else "")
            return write
        attribute, decoder, kind = _BODIES[write.resource]
        found = _body(decoder, body, kind)
        deletes = write.resource in ("nodes", CLAIMS) and write.verb == "delete"
        write.whole = found is not None or (deletes and _is_success(body))
        if write.resource == "pods" and write.verb == "create" and not (write.accepted or write.refused):
            found = _body(decoder, event.requestObject, kind)  # what may have come about
        elif (
            write.resource in ("pods", "nodes")
            and write.sub == "status"
            and not write.whole
            and write.accepted
        ):
            found = _sent(decoder, event.requestObject)
            write.patch = found is not None
        if found is not None:
            setattr(write, attribute, found)
            write.name, write.uid = write.name or found.metadata.name, write.uid or found.metadata.uid
        return write


def _members(parts: Sequence[bytes]) -> list[msgspec.Raw] | None:
    """The members of a document, or the document; None if it is none."""
    text = b"".join(parts)
    try:
        return _LIST.decode(text) if text.lstrip()[:1] == b"[" else [_ANY.decode(text)]
    except NOT_READABLE:
        return None


def _user(event: AuditEvent) -> str:
    """Whose rights the request had: of one who impersonates another, that is the other."""
    user = event.impersonatedUser or event.user
    return user.username if user else ""


def _shows_namespace(event: AuditEvent, reference: Reference) -> bool:
    """Whether an accepted write shows that a namespace is there. Where there is none, nothing is created, but a collection may be deleted, and
    a review is of no object.
    """
    if event.verb not in WRITES or event.verb == "deletecollection" or event.stage != "ResponseComplete":
        return False
    if event.responseStatus is None or not 200 <= event.responseStatus.code < 300:
        return False
    return bool(
        reference.namespace or reference.resource == "namespaces"
    ) and not reference.resource.endswith("reviews")


def _is_dry_run(event: AuditEvent) -> bool:
    """Whether nothing came of a request, as it asked for itself: in its address, or with the options of a DELETE or an Eviction."""
    address, _, query = event.requestURI.partition("?")
    if "dryRun=" in query and any(value for value in parse_qs(query).get("dryRun", ())):
        return True
    removes = event.verb in ("delete", "deletecollection") or address.endswith("/eviction")
    if not removes or b'"dryRun"' not in bytes(event.requestObject):
        return False
    try:
        options = _OPTIONS.decode(event.requestObject)
    except NOT_READABLE:
        return False
    return bool(options.dryRun or (options.deleteOptions and options.deleteOptions.dryRun))


def _is_of(reference: Reference) -> bool:
    if reference.resource == "leases" and (reference.namespace, reference.name) != LEASE:
        return False
    return reference.apiGroup == _GROUPS.get(reference.resource, "")


def _body(decoder: msgspec.json.Decoder[T], body: msgspec.Raw, kind: str) -> T | None:
    """The body, if it was logged and is of this kind; what a forged one has besides is no error."""
    if not body:
        return None
    try:
        found = decoder.decode(body)
    except NOT_READABLE:
        return None
    if found.kind:
        return found if found.kind == kind else None
    # In the log of a managed service, `@type` can stand for the kind.
    known = found.target.name if isinstance(found, Binding) else found.metadata.uid
    return found if known else None


def _is_success(body: msgspec.Raw) -> bool:
    """Whether a body is the Status that a DELETE gives of an object that is gone."""
    try:
        return bool(body) and _STATUS.decode(body).status == "Success"
    except NOT_READABLE:
        return False


def _sent(decoder: msgspec.json.Decoder[T], body: msgspec.Raw) -> T | None:
    """What was sent for the status: all of it, or a patch; of a list of JSON patch operations nobody makes sense here."""
    if not body or bytes(body)[:1] != b"{":
        return None
    try:
        return decoder.decode(body)
    except NOT_READABLE:
        return None


def _last_written(name: str) -> datetime:
    """When a file was last written."""
    try:
        return datetime.fromtimestamp(Path(name).stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return datetime.now(UTC)
