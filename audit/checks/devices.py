"""S-DEV: no device is allocated to two claims, as their statuses say it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...base.structs import Data
from ...reports.audit_report import Hit
from ..history.objects import BEFORE, PodHistory
from ..history.versions import Versions, number_of
from ..reading.reading import CLAIMS
from ..reading.records import EVER, Allocated, Claim, Write
from .check import Check, Found, Trust, at

MOST_PAIRS = 10_000

Device = tuple[str, str, str]
"""Driver, pool and name."""


@dataclass(slots=True, eq=False)
class _Claim:
    """A claim: the devices that it has by and by, None where a body is missing; when it was seen last, and when it has left."""

    key: str
    uid: str
    holds: Versions[frozenset[Device] | None] = field(default_factory=Versions)
    seen_at: int = BEFORE
    must_leave: int = EVER
    may_leave: int = EVER

    def surely_holds(self, device: Device, moment: int, complete: bool) -> bool:
        """Whether it was there and had the device at this moment, in all orders."""
        if moment >= self.must_leave or not (complete or self.seen_at >= moment):
            return False
        values = self.holds.possible(moment, moment, also_next=not complete)
        return bool(values) and all(value is not None and device in value for value in values)


class _Pair(Data):
    """Two claims that may have had a device at once from this moment on, and the writer of the second allocation."""

    moment: int
    first: _Claim
    second: _Claim
    device: Device
    by: str


class Devices(Check):
    """Looks at all other claims that have a device whenever one gets it. Administrators' access is left out, as it takes no device; what is shared is left open."""

    id = "S-DEV"
    sentence = "No device is allocated to two claims."
    needs = ("bodies of ResourceClaims",)
    kinds = (CLAIMS,)

    def __init__(self) -> None:
        super().__init__()
        self._claims: dict[str, _Claim] = {}
        self._named: dict[str, _Claim] = {}
        self._holders: dict[Device, dict[_Claim, None]] = {}
        self._pairs: list[_Pair] = []

    def begin_with(self, claims: Iterable[Claim], complete: bool) -> None:
        """What claims there were when the log began; `complete`: these are all."""
        for claim in claims:
            self._body(claim, BEFORE, BEFORE, "")
        if not complete:
            self.leave_open(
                "what claims there were when the log began is not known: dump nodes,pods,resourceclaims"
            )

    def wrote(self, write: Write, pod: PodHistory | None) -> None:
        """Look at a write of a claim."""
        if write.resource != CLAIMS or write.refused:
            return
        if write.verb == "deletecollection":
            for claim in self._named.values():
                if claim.key.startswith(f"{write.namespace}/") or not write.namespace:
                    claim.must_leave = min(claim.must_leave, write.begin)
        elif not write.accepted:
            self.leave_open("a write of a claim ran into an error, and may have been carried out", write.key)
            self._unknown(write)
        elif write.verb == "delete" and write.claim is None:
            claim = self._known(write.key, write.uid)
            claim.must_leave = min(claim.must_leave, write.begin)
            if write.whole:
                self._gone(claim, write.end)
            else:
                self.history.missing[self.needs[0]] += 1
        elif write.claim is None:
            self.history.missing[self.needs[0]] += 1
            self._unknown(write)
        else:
            self._body(write.claim, write.begin, write.end, write.user, write.verb == "delete")

    def found(self, trust: Trust) -> list[Found]:
        """Those pairs of which both surely had the device."""
        found = []
        for pair in self._pairs:
            after = pair.moment + 1  # both writes have ended
            if not all(c.surely_holds(pair.device, after, trust.complete) for c in (pair.first, pair.second)):
                continue
            device = "/".join(pair.device)
            words = f"{device} is allocated to {pair.first.key} and to {pair.second.key}, which got it last"
            found.append(
                Found(
                    pair.moment, Hit(at(pair.moment), words, (pair.first.key, pair.second.key), "", pair.by)
                )
            )
        return found

    def _body(self, body: Claim, begin: int, end: int, by: str, deletes: bool = False) -> None:
        meta = body.metadata
        claim = self._known(f"{meta.namespace}/{meta.name}", meta.uid)
        claim.seen_at = max(claim.seen_at, begin)
        if (deletes or meta.deletionTimestamp) and not meta.finalizers:
            claim.must_leave = min(claim.must_leave, begin)
            self._gone(claim, end)
            return
        devices = _devices(body)
        if shared := sorted("/".join(device) for device in _shared(body)):
            self.leave_open(
                "claims share a device, and its capacity is in no log: that it was given away twice cannot be excluded",
                f"{shared[0]} of {claim.key}",
            )
        if claim.holds.add(begin, end, number_of(meta.resourceVersion), devices):
            for device in sorted(devices):
                self._has(claim, device, begin, end, by)

    def _has(self, claim: _Claim, device: Device, begin: int, end: int, by: str) -> None:
        holders = self._holders.setdefault(device, {})
        for other in [holder for holder in holders if holder.may_leave < begin]:
            del holders[other]
        for other in holders:
            values = other.holds.possible(begin, end)
            if other is claim or not any(value is None or device in value for value in values):
                continue
            shown = "/".join(device)
            self.suspect(
                "in some order of what the log has, two claims have a device",
                f"{shown} of {other.key} and {claim.key} at {at(end)}",
            )
            if len(self._pairs) < MOST_PAIRS:
                since = max((v.end for v in other.holds.known if v.value and device in v.value), default=end)
                self._pairs.append(_Pair(max(since, end), other, claim, device, by))
        holders[claim] = None

    def _unknown(self, write: Write) -> None:
        claim = self._known(write.key, write.uid)
        claim.holds.add(write.begin, write.end, None, None)

    def _known(self, key: str, uid: str) -> _Claim:
        """The claim of a UID, or of a name where no other UID is known of it."""
        found = self._claims.get(uid) if uid else self._named.get(key)
        if found is None:
            named = self._named.get(key)
            found = named if named is not None and not named.uid else _Claim(key, uid)
            found.uid = uid
            self._named[key] = found
            if uid:
                self._claims[uid] = found
        return found

    def _gone(self, claim: _Claim, end: int) -> None:
        claim.may_leave = min(claim.may_leave, end)
        self._claims.pop(claim.uid, None)
        if self._named.get(claim.key) is claim:
            del self._named[claim.key]


def _devices(body: Claim) -> frozenset[Device]:
    """The devices that a claim has for itself alone."""
    return frozenset(_key(result) for result in _results(body) if not result.shareID)


def _shared(body: Claim) -> frozenset[Device]:
    """The devices of which a claim has a share."""
    return frozenset(_key(result) for result in _results(body) if result.shareID)


def _results(body: Claim) -> list[Allocated]:
    allocation = body.status.allocation
    results = allocation.devices.results if allocation else None
    return [result for result in results or () if not result.adminAccess]


def _key(result: Allocated) -> Device:
    return result.driver, result.pool, result.device
