"""The sources that the driver is built from: a copy of upstream's in which the goroutine that moves parked pods can be held amid the move.

What is not changed is linked, so the copy takes no room. Four things are changed, none of which decides anything: the queue's lock is one that testing/synctest knows how to wait for; a call stands between a move and
the note of its event, and between a requeue and Done; the recorder of metrics ends where there is nothing left to write, which it looks for a thousand times a second otherwise; and of the groups
of a tree, where upstream goes through a Go map, results come in the order of the trace, and members in that of the tree.

The copy has a fixed place for each version, whatever tree it is of: Go knows packages by their place, and builds only what has changed.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from ...base.files import write_whole

OLDEST = (1, 33)
"""The first release whose queue is changed."""

QUEUE = "pkg/scheduler/backend/queue"
LOCK = "podrace_lock.go"
CYCLE = "pkg/scheduler/schedule_one_podgroup.go"
ORDER = "podrace_order.go"
ENTRIES = "pkg/scheduler/framework/types.go"
GROUPS = "podrace_groups.go"

LEFT_OUT = frozenset({".git", "vendor", "_output", "test", "logo", "CHANGELOG", "hack", "cluster", "docs"})

_REQUEUE = re.compile(r"^\tdefer p\.Done\(pInfo\.Pod\.UID\)$", re.MULTILINE)
_REQUEUE_ASKED = re.compile(r"^(\t\tif !calledDone \{\n)(\t\t\tp\.Done\(pInfo\.Pod\.UID\))$", re.MULTILINE)
_EVENT = re.compile(r"^(\t+)(if added := p\.activeQ\.addEventIfAnyInFlight\()", re.MULTILINE)
_FLUSH = re.compile(
    r"(FlushMetrics\(\) \{\n\tfor i := 0; i < r\.bufferSize)(; i\+\+ \{\n.*?\n\}\n)", re.DOTALL
)

_RESULTS = re.compile(r"^(\tfor _, podGroupResult := range )podGroupResults \{$", re.MULTILINE)
_MEMBERS = re.compile(r"^(\t\tfor _, list := range )pgqi\.queuedPodInfos \{$", re.MULTILINE)


def with_holds(queue: str) -> str | None:
    """The text of scheduling_queue.go with another lock, and with a call amid a move and amid a requeue; None if this version has another text there."""
    queue, locks = re.subn(r"^\tlock sync\.RWMutex$", "\tlock PodraceRWMutex", queue, flags=re.MULTILINE)
    queue, events = _EVENT.subn(r"\1podraceAmid(activated)\n\1\2", queue)
    queue, requeues = _REQUEUE.subn(
        "\tdefer func() {\n\t\tpodraceAmid(true)\n\t\tp.Done(pInfo.Pod.UID)\n\t}()", queue
    )
    queue, asked = _REQUEUE_ASKED.subn(r"\1\t\t\tpodraceAmid(true)\n\2", queue)
    if not re.search(r"\bsync\.", queue):
        queue = queue.replace('\t"sync"\n', "")
    return queue if (locks, events, requeues + asked) == (1, 1, 1) else None


def with_short_flush(recorder: str) -> str:
    """The text of metric_recorder.go whose flush ends where nothing is left; as it is if this version has another text there."""

    def shortened(match: re.Match[str]) -> str:
        waiting = "+".join(f"len(r.{channel})" for channel in re.findall(r"<-r\.(\w+):", match[2]))
        return f"{match[1]} && {waiting} > 0{match[2]}"

    return _FLUSH.sub(shortened, recorder)


def with_order(text: str) -> str:
    """The text of schedule_one_podgroup.go, or of types.go, where the groups of a tree come in an order that the driver knows; as it is if this version has another text there."""
    text = _RESULTS.sub(r"\1podraceOrdered(schedFwk, podGroupResults) {", text)
    return _MEMBERS.sub(r"\1podraceByGroup(pgqi) {", text)


def held_copy(sources: Path, folder: Path) -> bool:
    """Make `folder` a copy of a version's sources; gives whether movers can be held there."""
    if folder.exists():
        shutil.rmtree(folder)
    linked(sources, folder)
    recorder = folder / "pkg/scheduler/metrics/metric_recorder.go"
    if recorder.is_file():
        text = recorder.read_text(encoding="utf-8")
        if (short := with_short_flush(text)) != text:
            _rewrite(recorder, short)
    for path, added in ((CYCLE, ORDER), (ENTRIES, GROUPS)):
        file = folder / path
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        if (ordered := with_order(text)) != text:
            _rewrite(file, ordered)
            _rewrite(file.with_name(added), source(added))
    queue = folder / QUEUE / "scheduling_queue.go"
    changed = with_holds(queue.read_text(encoding="utf-8")) if queue.is_file() else None
    if changed is None:
        return False
    _rewrite(queue, changed)
    _rewrite(queue.with_name(LOCK), source(LOCK))
    return True


def written_as() -> str:
    """The text of all that is changed in a copy, and how."""
    return files(__package__).joinpath("held.py").read_text(encoding="utf-8") + "".join(
        map(source, (LOCK, ORDER, GROUPS))
    )


def source(name: str) -> str:
    """A file that is added to a copy: the lock, with the call amid a move, or the order of groups."""
    return files("podrace.reproduce").joinpath("sources", name).read_text(encoding="utf-8")


def _rewrite(file: Path, text: str) -> None:
    file.unlink(missing_ok=True)  # it may be a link to the module cache
    write_whole(file, text.encode(), durable=False)


def linked(sources: Path, folder: Path) -> None:
    """Make `folder` a copy of links to the files of a tree, as far as the scheduler can be built of them."""
    for place, file in _files(sources):
        target = folder / place / file
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(sources / place / file, target)
        except OSError:  # another file system
            shutil.copyfile(sources / place / file, target)


def digest_of(tree: Path) -> str:
    """What tells one tree from another: all files that Go builds of."""
    found = hashlib.sha256()
    for place, file in _files(tree):
        if file.endswith((".go", ".s", ".mod", ".sum")):
            found.update(str(place / file).encode() + b"\0")
            found.update(hashlib.sha256((tree / place / file).read_bytes()).digest())
    return found.hexdigest()[:16]


def _files(tree: Path) -> Iterator[tuple[Path, str]]:
    for place, folders, names in os.walk(tree):
        at = Path(place).relative_to(tree)
        folders[:] = sorted(f for f in folders if at.parts or f not in LEFT_OUT)
        for name in sorted(names):
            if not (Path(place) / name).is_symlink():
                yield at, name
