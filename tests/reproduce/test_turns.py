"""Whose goroutines a step may let go in the driver: those of its own actor, and at least one."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import podrace.model.history.changes
import podrace.model.scheduler
from podrace.model.language import Component

TURNS = (
    Path(podrace.model.history.changes.__file__).parents[3] / "reproduce" / "driver" / "turns" / "whose.go"
)

NOT_HELD = {
    "API server": "a Binding that lands after its process is none of the scheduler's",
    "cache timers": "no release that the driver plays has them",
    "kubelet": "another program",
    "permit plugin": "it decides on a pod that waits, whose binding cycle then goes on by itself",
    "pod informer": "it fills its store when the watch delivers",
    "process": "it ends with all that it has under way",
    "queue timers": "fake time passes",
    "requeue goroutine": "the driver for 1.13 plays it",
    "second scheduler": "another program",
    "second scheduler's informer": "another program's",
    "CSINode informer": "as slice informer",
    "VolumeAttachment informer": "as slice informer",
    "slice informer": "what its handlers move is compared when they are through",
    "second pod informer": "it fills its store when the watch delivers",
}
"""Actors of the scheduler that are not held before and after their calls, and why."""


def parts(of: type[Component] = Component) -> Iterator[type[Component]]:
    for part in of.__subclasses__():
        yield part
        yield from parts(part)


def test_all_goroutines_of_the_scheduler_have_their_steps_watched() -> None:
    """A step that lets go nobody, or somebody else's goroutine, is an error: for each actor that the driver holds."""
    for module in pkgutil.walk_packages(podrace.model.scheduler.__path__, "podrace.model.scheduler."):
        import_module(module.name)
    own = ("podrace.model.scheduler.", "podrace.model.history.")
    steps = (f for part in parts() if part.__module__.startswith(own) for f in vars(part).values())
    actors = {f.__podrace_step__.actor for f in steps if hasattr(f, "__podrace_step__")}
    watched = set(re.findall(r'^\t"([^"]+)": +func\(', TURNS.read_text(encoding="utf-8"), re.MULTILINE))
    assert watched | NOT_HELD.keys() == actors
    assert not watched & NOT_HELD.keys()
