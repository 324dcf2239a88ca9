"""Which variables of the model say what a component knows: the only place where reports get the scheduler's parts from.

A pattern's group `subject` is the pod or node that a variable is about, its group `fact` what it says of it. A variable
that no pattern matches is a goroutine's own affair, or bookkeeping.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...model.language import TransitionSystem
from ...reports.evidence import Cell, Channel, Memory, Picture, Reader, View
from ...reports.step import Value

_POD = r"\[(?P<subject>[^\]]+)\]"
_OBJECT = r"(?P<fact>exists|node|nominated|failed|terminating|gated)"


@dataclass(frozen=True, slots=True)
class Pattern:
    """Variables of one kind; `fact` where the name of the variable does not say it; `about` the subject, with {}."""

    pattern: str
    fact: str = ""
    about: str = "{}"


@dataclass(frozen=True, slots=True)
class Watch:
    """The variables of one watch: events in `log`. Of each reader: the name, its position, its filter, its being busy."""

    name: str
    part: str
    subject: str
    about: str
    readers: tuple[tuple[str, str, str, str], ...]


_NODE = "node {}"
_CYCLE = "the cycle"

VIEWS: Mapping[str, tuple[Pattern, ...]] = {
    "API server": (
        Pattern(rf"api\.pod{_POD}\.{_OBJECT}"),
        Pattern(rf"api\.node_exists{_POD}", "exists", _NODE),
    ),
    "lister": (
        Pattern(rf"pod_watch\.lister{_POD}\.{_OBJECT}"),
        Pattern(rf"node_watch\.lister{_POD}", "exists", _NODE),
    ),
    "queue": (
        Pattern(rf"queue\.(?P<fact>place){_POD}"),
        Pattern(rf"queue\.copy{_POD}\.(?P<fact>nominated|failed|terminating|gated)"),
    ),
    "nominator": (Pattern(rf"nominator\.node{_POD}", "nominated"),),
    "cache": (
        Pattern(rf"cache\.pod{_POD}\.(?P<fact>node|assumed|terminating)"),
        Pattern(rf"cache\.live{_POD}", "exists", _NODE),
    ),
    "snapshot": (
        Pattern(rf"snapshot\.pod{_POD}\.(?P<fact>node|terminating)"),
        Pattern(rf"snapshot\.live{_POD}", "exists", _NODE),
    ),
    "scheduling cycle": (
        Pattern(r"scheduler\.(?P<fact>pod|phase|host|nominee|error)", "", _CYCLE),
        Pattern(rf"scheduler\.(?P<fact>verdict){_POD}", "", _NODE),
        Pattern(rf"preemption\.(?P<fact>victim){_POD}"),
    ),
    "other goroutines": (
        Pattern(rf"binding\.phase{_POD}", "binding cycle"),
        Pattern(rf"failure\.phase{_POD}", "failure handler"),
        Pattern(rf"failure\.retry{_POD}", "requeue goroutine"),
        Pattern(rf"waiting\.signal{_POD}", "permit"),
    ),
}
"""What each component knows, by its name."""

KEYS = {"queue": ("sub_queue", "NONE")}
"""The fact without which a component has no word on a pod, and its value then."""

FLEETING = frozenset({"snapshot"})
"""What is only there while a scheduling cycle runs."""

COMPARED = ("exists", "node", "nominated")
"""On these facts all components should agree in the end."""

WATCHES = (
    Watch(
        "pod watch",
        "pod_watch",
        "pod",
        "{}",
        (
            ("the lister", "listed", "", ""),
            ("the queue handler", "next[QUEUE]", "for_queue", "handlers.queue_busy"),
            ("the cache handler", "next[CACHE]", "for_cache", "handlers.cache_busy"),
        ),
    ),
    Watch(
        "node watch",
        "node_watch",
        "node",
        _NODE,
        (("the lister", "listed", "", ""), ("the node handler", "", "", "handlers.node_busy")),
    ),
)
"""The watches, and who is told by them."""

PICTURES = (
    Picture("as the API server has it", "API server", "API server"),
    Picture("as the scheduler believes", "cache", "nominator"),
)
"""Whose ideas of the cluster are drawn."""


def memory_of(system: TransitionSystem, value: Callable[[str], Value]) -> Memory:
    """What the components of a system know; `value` gives what a variable is in the beginning."""
    names = [variable.name for variable in system.variables]
    views = tuple(
        View(view, cells, *KEYS.get(view, ("", "")), fleeting=view in FLEETING)
        for view, patterns in VIEWS.items()
        if (cells := tuple(_cells(names, patterns, value)))
    )
    known = set(names)
    channels = tuple(c for w in WATCHES if (c := _channel(w, known, value)) is not None)
    return Memory(views, channels, COMPARED)


def _cells(names: list[str], patterns: tuple[Pattern, ...], value: Callable[[str], Value]) -> list[Cell]:
    found = []
    for name in names:
        for pattern in patterns:
            match = re.fullmatch(pattern.pattern, name)
            if match is not None:
                groups = match.groupdict()
                subject = pattern.about.format(groups.get("subject", ""))
                found.append(Cell(name, subject, pattern.fact or groups["fact"], value(name)))
                break
    return found


def _channel(watch: Watch, names: set[str], value: Callable[[str], Value]) -> Channel | None:
    def cell(name: str, fact: str) -> Cell:
        return Cell(name, "", fact, value(name))

    length = f"{watch.part}.log.length"
    if length not in names:
        return None
    entries: list[tuple[Cell, ...]] = []
    while f"{watch.part}.log[{len(entries)}].{watch.subject}" in names:
        start = f"{watch.part}.log[{len(entries)}]."
        own = sorted(name for name in names if name.startswith(start))
        entries.append(tuple(cell(name, name.removeprefix(start).removeprefix("object.")) for name in own))
    readers = []
    for reader, position, only, busy in watch.readers:
        variable = f"{watch.part}.{position}"
        readers.append(
            Reader(
                reader,
                cell(variable, "position") if variable in names else None,
                only,
                cell(busy, "busy") if busy in names else None,
            )
        )
    return Channel(
        watch.name, cell(length, "length"), tuple(entries), watch.subject, watch.about, tuple(readers)
    )
