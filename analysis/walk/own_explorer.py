"""Walks in a system of one's own: what each part knows is what its variables are."""

import re
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

import msgspec

from ...base.text import counted
from ...checker.core.exploration import Path
from ...model.language import BOOL, TransitionSystem
from ...model.language.expressions.expr import Variable
from ...model.language.systems.telling import FactWords, ViewCells, named
from ...reports.step import ShownStep
from ..own_systems import OwnSystem
from .explorer import Explorer

_VARIABLE = re.compile(r"(?P<part>\w+)\.(?P<field>\w+)(?:\[(?P<keys>.*)\])?")


class OwnExplorer(Explorer):
    """Walks in a system that a file of the user's declares."""

    def __init__(self, own: OwnSystem) -> None:
        self.kinds = own.kinds
        safety = {name: own.says(name) or name for name in own.system.invariants}
        name, _, file = own.name.partition(" ")
        super().__init__(_with_views(own.system), (name, file.strip("()"), ""), safety, safety)

    def opening(self) -> tuple[str, ...]:
        """How many entities of each kind there are."""
        return (f"{', '.join(counted(n, kind) for kind, n in self.kinds.items())}.",) if self.kinds else ()

    def step(self, path: Path) -> ShownStep:
        """With what the method says; what it changes is seen in the state."""
        step = super().step(path)
        return msgspec.structs.replace(
            step, told=f"{step.call}: {step.summary}." if step.summary else step.call
        )


def _with_views(system: TransitionSystem) -> TransitionSystem:
    """The system in which each part has a view of its own: of each entity, what the variables about it are."""
    cells: dict[str, list[tuple[str, str, str]]] = {}
    facts: dict[str, FactWords] = {}
    for v in system.variables:
        part, subject, fact = _about(v)
        cells.setdefault(part, []).append((v.name, subject, fact))
        facts[fact] = FactWords(f"{fact} {{value}}", " ".join(_denied(system, v, fact)), False, {})
    views = tuple(ViewCells(part, tuple(found)) for part, found in cells.items())
    return replace(system, narration=replace(system.narration, views=views, facts=facts))


def _about(v: Variable) -> tuple[str, str, str]:
    """The part, the entity, and what is said of it. A variable about several entities is the first one's; one about none, the part's own."""
    found = _VARIABLE.fullmatch(v.name)
    if found is None:
        return v.name, v.name, v.name
    field = found["field"].replace("_", " ")
    if found["keys"] is None:
        return found["part"], found["part"], field
    subject, *others = found["keys"].split(", ")
    return found["part"], subject, " ".join([field, *(f"of {other}" for other in others)])


def _denied(system: TransitionSystem, v: Variable, fact: str) -> Iterator[str]:
    """What is said where the value is an absence: false, none, or the first member of an enum."""
    first = system.universe.decode(v.sort, v.lo)
    if isinstance(first, Enum):
        yield from (fact, named(first))
    elif v.sort is BOOL:
        yield from ("not", fact)
    else:
        yield from ("no", fact)
