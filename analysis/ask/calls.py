"""Which steps of a system run a function of upstream's, and in which states: its elements in the model are watched while the steps are traced."""

import sys
from collections.abc import Iterable
from typing import Any

from ...base.structs import Data
from ...model.history.upstream import elements_of, mirrors, not_modelled, parts
from ...model.language import Entity, Expr, TransitionSystem
from ...model.language.declarations.tracer import NeverEnabled, StepTrace, active, current_path, tracing
from ...model.language.expressions.expr import Variable, all_of, any_of, as_expr, const, equal


class Call(Data):
    """A transition runs an element where `where` holds, with these values, by the names of the parameters."""

    transition: int
    element: str
    where: Expr
    values: tuple[Any, ...]


class GoFunction(Data):
    """A function of upstream's: where it is (`file:Type.Name`), what stands for it in the model, and if nothing does, why."""

    places: tuple[str, ...]
    elements: tuple[str, ...]
    reason: str


def go_function(name: str) -> GoFunction | None:
    """The functions of docs/notebook/functions.md with this name, with or without their type; None if there are none."""
    known = {place for row in mirrors() for place in row.places}
    others = {p for part in parts() for row in part.others for p in row.patterns if "*" not in p}
    places = sorted(p for p in known | others if _is_named(p.partition(":")[2], name))
    if not places:
        return None
    elements = tuple(dict.fromkeys(element for place in places for element in elements_of(place)))
    rows = [row for place in places if (row := not_modelled(place)) is not None]
    return GoFunction(tuple(places), elements, rows[0].reason if rows else "")


def go_names() -> list[str]:
    """The names of all functions that have elements."""
    return sorted({place.partition(":")[2] for row in mirrors() for place in row.places})


def _is_named(known: str, name: str) -> bool:
    return known == name or known.rpartition(".")[2] == name


def calls_of(system: TransitionSystem, elements: Iterable[str]) -> list[Call]:
    """Where the steps of a system run these elements of the model.

    An element that only gives a condition is none: it is looked at, and nothing happens.
    """
    model = system.explainer.model
    if model is None:
        return []
    wanted: dict[str, dict[str, str]] = {}
    for element in elements:
        owner, _, name = element.rpartition(".")
        wanted.setdefault(name, {})[owner] = element
    found: list[Call] = []
    for number, t in enumerate(system.transitions):
        step = getattr(model.parts.get(t.part), t.step, None)
        if step is not None:
            watcher = _Watcher(wanted)
            with tracing(StepTrace(stops=True)):
                watcher.run(step, [value for _, value in t.args])
            found += (Call(number, *seen) for seen in watcher.done)
    return found


_Seen = tuple[str, Expr, tuple[Any, ...]]
"""Element, states and values of a call."""


class _Watcher:
    """What is called while one step is traced."""

    def __init__(self, wanted: dict[str, dict[str, str]]) -> None:
        self.wanted = wanted
        self.open: dict[int, tuple[_Seen, dict[Variable, Expr]]] = {}
        self.done: list[_Seen] = []

    def run(self, step: Any, args: list[Any]) -> None:
        earlier = sys.getprofile()
        sys.setprofile(self._look)
        try:
            step(*args)
        except NeverEnabled:
            pass
        finally:
            sys.setprofile(earlier)

    def _look(self, frame: Any, event: str, result: Any) -> None:
        if event == "call" and frame.f_code.co_name in self.wanted:
            element = self._element(frame)
            if element is not None:
                code = frame.f_code
                names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                values = tuple(frame.f_locals[n] for n in names if n != "self" and n in frame.f_locals)
                seen = element, all_of(current_path()), values
                self.open[id(frame)] = seen, dict(active().values)
        elif event == "return" and id(frame) in self.open:
            seen, before = self.open.pop(id(frame))
            now = active().values
            if result is None or any(before.get(v) is not now[v] for v in now):
                self.done.append(seen)

    def _element(self, frame: Any) -> str | None:
        owners = self.wanted[frame.f_code.co_name]
        here = frame.f_globals.get("__name__", "")
        at = {f"{cls.__module__}.{cls.__qualname__}" for cls in type(frame.f_locals.get("self")).__mro__} | {
            here
        }
        return next(
            (e for owner, e in owners.items() if any(name.endswith(f".model.{owner}") for name in at)), None
        )


def is_about(system: TransitionSystem, call: Call, names: Iterable[str]) -> Expr:
    """Where the call has all these objects among its values."""
    return all_of(
        [call.where, *(any_of(_is(system, value, name) for value in call.values) for name in names)]
    )


def _is(system: TransitionSystem, value: Any, name: str) -> Expr:
    if isinstance(value, Expr):
        kind = value.sort.tag
        if kind is None:
            return as_expr(False)
        named = {code: system.universe.decode(value.sort, code) for code in range(value.lo, value.hi + 1)}
        return any_of(
            equal(value, const(value.sort, code)) for code, one in named.items() if is_named(one, name)
        )
    return as_expr(is_named(value, name))


def is_named(value: Any, name: str) -> bool:
    """Whether a value is the object or enum member of this name, or is about that object, such as a version of it."""
    if getattr(value, "name", None) == name:
        return True
    about = vars(value).values() if isinstance(value, Entity) else ()
    return any(isinstance(one, Entity) and type(one) is not type(value) and one.name == name for one in about)
