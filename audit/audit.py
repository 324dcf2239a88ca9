"""`podrace audit`: from the names of files to the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

import msgspec

from ..base.problems import Problem
from ..base.structs import Data
from ..base.text import counted, known_names, one_line
from ..reports.audit_report import Answer, AuditAccount, AuditReport
from .checks.affinity import AntiAffinity
from .checks.bindings import LeaseHeld, OneBinding
from .checks.capacity import Capacity
from .checks.check import LONGEST, Check, Trust, Window
from .checks.conditions import Conditions
from .checks.devices import Devices
from .checks.nominations import Nominations
from .checks.waiting import Waiting
from .history.history import History
from .history.objects import BEFORE
from .history.one_cluster import OneCluster
from .reading.lines import open_source
from .reading.reading import CLAIMS, FOREIGN, Account, Read, Reader
from .reading.records import EVER, Claim, Node, Pod, Write, time_text
from .reading.sorting import AT_ONCE

SKEW = 50_000
"""By how much, in microseconds, the clocks of several API servers may differ."""

LARGEST = 1 << 30
"""So many bytes the state at the start may have."""

MOST_NAMESPACES = 20
"""How many namespaces are named if somebody asks about one that the log does not have."""

CLOCKS = "times by which requests have an order: a file for each API server, --clock-skew"

ALWAYS = (Capacity, Conditions, AntiAffinity, OneBinding, Waiting)


class Asked(Data, slots=False):
    """What is asked. `complete`: the logs have every write of their period. `initial` names what `kubectl get -o json` printed when they began.

    `growing`: the logs are being written, so that an event and a namespace may still come.
    """

    files: Sequence[str]
    initial: Sequence[str] = ()
    complete: bool = False
    skew: int = SKEW
    window: Window = field(default_factory=Window)
    properties: Sequence[str] = ()
    at_once: int = AT_ONCE
    explain: bool = False
    release: str | None = None
    growing: bool = False


_KINDS: Mapping[str, type] = {"Pod": Pod, "Node": Node, "ResourceClaim": Claim, "Namespace": Node}
"""What is read of the state at the start; of a Namespace only the name is looked at."""

_Before = Mapping[str, list[Any]]
"""What there was when the log began, by kind."""


def _namespaces(before: _Before) -> list[str]:
    """The namespaces that there were, those of pods and claims among them."""
    of_objects = [one.metadata.namespace for kind in ("Pod", "ResourceClaim") for one in before[kind]]
    return [*of_objects, *(one.metadata.name for one in before["Namespace"])]


class _State(msgspec.Struct):
    kind: str = ""
    items: list[msgspec.Raw] = []


def audit_logs(asked: Asked, progress: Callable[[Account], None] | None = None) -> AuditReport:
    """The answers. Raises Problem for what cannot be read or is unknown."""
    # Unknown names are told before a gigabyte is read.
    _refuse_unknown(asked.properties)
    _refuse_reversed(asked.window)
    before: _Before = {kind: [] for kind in _KINDS}
    for name in asked.initial:
        _read_state(name, before)
    read = Reader(progress, asked.at_once).read(asked.files)
    account = read.account
    if account.lines == sum(account.skipped[reason] for reason in FOREIGN) > 0 and not asked.growing:
        raise Problem(_no_audit_log(asked, account))
    waiting, nominations = Waiting(read.attempts, account.flushed), Nominations()
    capacity, apart = Capacity(), AntiAffinity()
    lease, devices = LeaseHeld(), Devices()
    checks: list[Check] = [capacity, Conditions(), apart, OneBinding(), waiting]
    wanted = set(asked.properties)
    history = History([*checks, lease, devices, nominations], asked.skew if _several(account) else 0)
    for check in (*checks, lease, devices, nominations):
        check.history = history
    history.begin_with(before["Pod"], before["Node"])
    claims = before["ResourceClaim"]
    devices.begin_with(claims, bool(claims) or not (before["Pod"] or before["Node"]))
    counter = _Counted([*_namespaces(before), *(one.pod.rpartition("/")[0] for one in read.attempts)])
    history.take(OneCluster(asked.skew).through(counter.through(read.writes)))
    counter.namespaces |= account.namespaces
    if "leases" in account.levels or LeaseHeld.id in wanted:
        checks.append(lease)
    if account.levels.keys() & {CLAIMS, f"{CLAIMS}/status"} or Devices.id in wanted:
        checks.append(devices)
    unknown = _unknown_namespace(asked.window.namespace, counter)
    if unknown and account.events and not asked.growing:
        raise Problem(unknown)
    trust = _trust(asked, account, history, unknown)
    checks = [check for check in checks if not wanted or check.id in wanted]
    answers = [check.answer(trust, asked.window) for check in checks]
    if not any(answer.hits for answer in answers) and _is_no_audit_log(read, asked):
        raise Problem(_no_audit_log(asked, account, len(read.attempts)))
    if asked.explain:
        answers = [
            _explained(answer, asked, check, lease) for answer, check in zip(answers, checks, strict=True)
        ]
    by_others = sorted([*capacity.by_others, *apart.by_others])
    signs = [*(words for _, words in by_others), *waiting.signs, *nominations.at_the_end()]
    return AuditReport(
        tuple(answers),
        _told(account, counter.number, read.writes.twice),
        time_text(history.first) if counter.number else None,
        time_text(history.last) if counter.number else None,
        tuple(dict.fromkeys(signs)),
        tuple(one_line(name, 200) for name in asked.files),
    )


def _told(account: Account, written: int, twice: int) -> AuditAccount:
    levels = {resource: dict(levels) for resource, levels in sorted(account.levels.items())}
    return AuditAccount(
        account.files, account.bytes, account.lines, account.events, written, dict(account.skipped), levels, twice, len(account.servers), account.skipped.places
    )  # fmt: skip


def _is_no_audit_log(read: Read, asked: Asked) -> bool:
    """Whether none of the lines is of an audit log, or of a scheduler's. If all are damaged, they can have been; and after a dump it may be that nothing was written."""
    account = read.account
    if asked.growing or account.events or any(attempt.log for attempt in read.attempts):
        return False
    damaged = bool(account.skipped) and account.skipped.keys().isdisjoint(FOREIGN)
    return not damaged and (account.lines > 0 or not asked.initial)


def _explained(answer: Answer, asked: Asked, check: Check, lease: LeaseHeld) -> Answer:
    """The answer, its first violation with the races that explain it."""
    from .explained import Processes, explained, release_of

    if not answer.hits or check.first is None:
        return answer
    case = check.first()
    if answer.property == Conditions.id:  # also kubelets write the body in which it is seen first
        case = replace(case, senders=tuple(s for s in case.senders if lease.are_schedulers([s])))
    if not case.undecided and not (case.senders and lease.are_schedulers(case.senders)):
        case = replace(
            case, undecided="not every Binding was sent by a user who writes the scheduler's lease"
        )
    processes = Processes.UNKNOWN
    if lease.several_processes(case.senders):
        processes = Processes.SEVERAL
    elif lease.one_process(case.since, case.until, case.senders):
        processes = Processes.ONE
    said = explained(answer.property, case, asked.release or release_of(lease.agents), processes)
    first, *others = answer.hits
    first = msgspec.structs.replace(first, explained=said.words, run=said.run)
    return msgspec.structs.replace(answer, hits=(first, *others))


def policy() -> str:
    """The audit policy that logs what all questions need, and nothing secret."""
    return files(__package__).joinpath("policy.yaml").read_text(encoding="utf-8")


def known_properties() -> list[str]:
    """What can be asked."""
    return [check.id for check in (*ALWAYS, LeaseHeld, Devices)]


def _refuse_unknown(names: Sequence[str]) -> None:
    for name in names:
        if name not in known_properties():
            raise Problem(
                f"--property {one_line(name)}: a log of the API cannot answer it; {known_names(name, known_properties())}"
            )


def _refuse_reversed(window: Window) -> None:
    if window.since is not None and window.until is not None and window.since > window.until:
        raise Problem(
            f"--since {time_text(window.since)} is later than --until {time_text(window.until)}: write the earlier time as --since"
        )


def _no_audit_log(asked: Asked, account: Account, events: int = 0) -> str:
    names = ", ".join(one_line(name, 200) for name in asked.files)
    seen = [f"{counted(number, 'line')}: {reason}" for reason, number in account.skipped.items()]
    seen += [f"Events about pods, as `kubectl get events` prints them: {events:,}"] if events else []
    told = "; ".join(seen)
    why = f" ({told})" if told else ""
    return one_line(
        f"{names}: no audit event in {counted(account.lines, 'line')}{why}: name a log that the API server writes to --audit-log-path",
        LONGEST,
    )


def _unknown_namespace(name: str | None, counted: _Counted) -> str:
    """What is wrong with the namespace that is asked about; nothing if something is known of it."""
    if name is None or name in counted.namespaces:
        return ""
    known = sorted(counted.namespaces)
    # The one that was meant is among those that are named.
    near = get_close_matches(name, known, n=1)
    told = known_names(name, [*near, *(n for n in known if n not in near)][:MOST_NAMESPACES])
    more = f" and {len(known) - MOST_NAMESPACES:,} more" if len(known) > MOST_NAMESPACES else ""
    return one_line(
        f"--namespace {one_line(name) or '(none)'}: nothing is of it, neither in the log nor in --initial; {told}{more}",
        LONGEST,
    )


class _Counted:
    """Counts what passes, and has the namespaces of which something is known."""

    def __init__(self, known: Iterable[str]) -> None:
        self.number = 0
        self.namespaces = {namespace or "default" for namespace in known}

    def through(self, writes: Iterable[Write]) -> Iterator[Write]:
        """The same."""
        for write in writes:
            self.number += 1
            yield write


def _several(account: Account) -> bool:
    """Whether lines come, or may come, from clocks of several API servers."""
    return len(account.servers) > 1 or "*" in account.servers


def _trust(asked: Asked, account: Account, history: History, unknown: str) -> Trust:
    skipped = sum(account.skipped.values())
    gaps = history.gaps + history.from_before if asked.initial else history.gaps
    clocks = _clocks(history)
    against: list[tuple[str, str]] = []
    """What speaks against the log, and what would close that."""
    if not account.events:
        against.append(("there is no audit event in what was read", "a log that the API server writes"))
    if not asked.complete:
        against.append((
            "podrace cannot know that the log has every write of its period: if it does, use --complete",
            "--complete, if the log has every write of its period",
        ))  # fmt: skip
    if skipped:
        many = "line was" if skipped == 1 else "lines were"
        against.append(
            (f"{skipped:,} {many} skipped, and can be any write", "the lines that were skipped, whole")
        )
    if account.unfinished:
        against.append((
            f"of {account.unfinished:,} requests at least, only one of the two lines is in the log",
            "both lines of each request",
        ))  # fmt: skip
    if account.backwards:
        against.append(
            (f"{account.backwards:,} requests ended before they began, as their times say", CLOCKS)
        )
    if asked.complete:
        against += [
            (f"the log is not complete: {gap} ({count:,})", "the lines that are missing")
            for gap, count in gaps.items()
        ]
    against += [(clock, CLOCKS) for clock in clocks]
    if unknown:
        against.append((unknown, "a --namespace that the log has"))
    start = (
        () if asked.initial else ("what existed when the log began is not known: give a dump with --initial",)
    )
    times = account.first, account.last
    return Trust(
        tuple(reason for reason, _ in against), start, dict(history.missing), frozenset(account.levels), not clocks,
        history.contradictions.early_until,
        *(times if times[0] <= times[1] else (BEFORE, EVER)), tuple(dict.fromkeys(remedy for _, remedy in against)),
    )  # fmt: skip


def _clocks(history: History) -> list[str]:
    """What resourceVersions say against the times."""
    if not history.contradictions.against_versions:
        return []
    beyond = history.contradictions.against_versions / 1_000_000
    told = (
        f"beyond the {history.skew / 1_000_000:g} s of --clock-skew"
        if history.skew
        else "so these are lines of several API servers: give a file for each"
    )
    return [
        f"resourceVersions are in another order than the times, by {beyond:.3f} s: the clocks differ, {told}"
    ]


def _read_state(name: str, before: _Before) -> None:
    shown = one_line(name, 200)
    with open_source(name, "--initial", "`kubectl get nodes,pods -A -o json` prints it") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Problem(f"--initial {shown}: larger than {LARGEST >> 30} GiB: dump only nodes and pods")
    try:
        state = msgspec.json.decode(data, type=_State)
        if not state.kind.endswith("List"):
            raise Problem(
                f"--initial {shown}: expected the list that `kubectl get nodes,pods -A -o json` prints, not {one_line(state.kind) or 'an object without a kind'}"
            )
        _take_items(state, before)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise Problem(
            f"--initial {shown}: not what `kubectl get nodes,pods -A -o json` prints: write it to a file with that command"
        ) from None


def _take_items(state: _State, before: _Before) -> None:
    """What is in a list; lists may be in lists, as jq puts several together."""
    for item in state.items:
        inner = msgspec.json.decode(item, type=_State)
        kind = inner.kind or state.kind.removesuffix("List")
        if kind == "List" or (kind.endswith("List") and kind.removesuffix("List") in _KINDS):
            _take_items(inner, before)
        elif kind in _KINDS:
            before[kind].append(msgspec.json.decode(item, type=_KINDS[kind]))
