"""The rooms of the model: imports go downwards only, those for type checking alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "model"

_SURROUNDINGS = {"environment", "environment.cluster", "environment.controllers", "environment.storage"}

_WHAT_CHANGES = {
    *_SURROUNDINGS,
    "scheduler",
    "scheduler.cycles",
    "scheduler.podgroups",
    "scheduler.dynamicresources",
    "scheduler.volumebinding",
    "scheduler.framework",
    "scheduler.cache",
    "scheduler.queue",
    "scheduler.preemption",
}

_ROOMS_OF_CHANGES = (
    "cycles", "cache", "queue", "framework", "preemption", "dynamicresources", "volumebinding", "podgroups",
)  # fmt: skip

BELOW = {
    "environment.cluster": set[str](),
    "environment": {"environment.cluster"},
    "environment.controllers": {"environment", "environment.cluster"},
    "environment.storage": {"environment", "environment.cluster"},
    "scheduler.framework": _SURROUNDINGS,
    "scheduler.cache": {*_SURROUNDINGS, "scheduler.framework"},
    "scheduler.queue": {*_SURROUNDINGS, "scheduler.framework"},
    "scheduler.preemption": {*_SURROUNDINGS, "scheduler.framework", "scheduler.cache", "scheduler.queue"},
    "scheduler.cycles": {
        *_SURROUNDINGS,
        "scheduler.framework",
        "scheduler.cache",
        "scheduler.queue",
        "scheduler.preemption",
    },
    "scheduler.dynamicresources": {
        *_SURROUNDINGS,
        "scheduler.framework",
        "scheduler.queue",
        "scheduler.cycles",
    },
    "scheduler.volumebinding": {*_SURROUNDINGS, "scheduler.framework", "scheduler.queue", "scheduler.cycles"},
    "scheduler.podgroups": {
        *_SURROUNDINGS,
        "scheduler.framework",
        "scheduler.cache",
        "scheduler.queue",
        "scheduler.cycles",
        "scheduler.preemption",
    },
    "scheduler": {
        *_SURROUNDINGS,
        "scheduler.cycles",
        "scheduler.podgroups",
        "scheduler.dynamicresources",
        "scheduler.volumebinding",
        "scheduler.framework",
        "scheduler.cache",
        "scheduler.queue",
        "scheduler.preemption",
    },
    "history.versions": set[str](),
    "history.registry": {"history.versions"},
    **{
        f"history.changes.{room}": {"history.versions", "history.registry", *_WHAT_CHANGES}
        for room in _ROOMS_OF_CHANGES
    },
    "history.changes": {
        "history.versions",
        "history.registry",
        *(f"history.changes.{room}" for room in _ROOMS_OF_CHANGES),
        *_WHAT_CHANGES,
    },
    "history": {"history.changes", "history.registry", "history.versions"},
}
"""For each room, the rooms that it may import beside itself and the language."""


def modules() -> dict[str, Path]:
    """Every module of these rooms by its name below `model`; a package by the name of its folder."""
    found = {}
    for room in ("environment", "scheduler", "history"):
        for path in sorted((MODEL / room).rglob("*.py")):
            names = path.relative_to(MODEL).with_suffix("").parts
            found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


MODULES = modules()


def room_of(module: str) -> str:
    names = module.split(".")
    return ".".join(names if MODULES[module].name == "__init__.py" else names[:-1])


def imported(module: str) -> Iterator[str]:
    """The modules of these rooms that a module imports, at run time or for type checking."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = ["model", *package.split(".")]
            base = ".".join([*above[: len(above) - node.level + 1], *filter(None, [node.module])])
            names = [f"{base}.{alias.name}" for alias in node.names]
            yield from {
                found
                for name in names
                for found in (name.removeprefix("model."), base.removeprefix("model."))
                if found in MODULES and (found == name.removeprefix("model.") or found != package)
            }


GRAPH = {module: set(imported(module)) - {module} for module in MODULES}


def test_the_graph_is_not_empty() -> None:
    assert len(GRAPH) > 40
    assert "scheduler.cycles.failure" in GRAPH["scheduler.cycles.schedule_one"]
    assert "scheduler.queue.scheduling_queue" in GRAPH["scheduler.cycles.next_pod"], "for type checking only"


def test_no_module_imports_itself_by_a_detour() -> None:
    assert len(list(TopologicalSorter(GRAPH).static_order())) == len(GRAPH)


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_rooms_below(room: str) -> None:
    own = [module for module in GRAPH if room_of(module) == room]
    assert own
    used = {room_of(target) for module in own for target in GRAPH[module]}
    assert used - {room} <= BELOW[room]


def test_every_room_has_its_place() -> None:
    assert {room_of(module) for module in MODULES} == BELOW.keys()
