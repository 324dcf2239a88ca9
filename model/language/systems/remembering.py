"""Who remembers an entity: every variable of a model that is kept for it, or may refer to it.

An entity stands for one individual after the other where a system makes individuals without end. That is sound, and loses
nothing, in a state in which nobody remembers the one before: such a state is the same as one in which there never was one, but for the name,
and a name that nobody knows can be given again (garbage collection of names, as for history-dependent automata:
Montanari and Pistore, 1998). The variables are found in what the parts declare, so that state that is added later cannot be overlooked.
"""

from collections.abc import Collection, Iterator

from ..declarations.component import Component
from ..declarations.tracer import active
from ..expressions.expr import Expr, Variable, all_of, as_expr, const, select
from ..expressions.sorts import Entity
from .gathering import located


def concerns(key: object, entity: Entity) -> bool:
    """Whether a key is the entity, or an entity of another kind that is about it, such as a version of it."""
    if key is entity:
        return True
    other = isinstance(key, Entity) and type(key) is not type(entity)
    return other and any(value is entity for value in vars(key).values())


def kept_for(part: Component, entity: Entity) -> Iterator[tuple[str, Variable]]:
    """The variables of a part that are kept for the entity, each with its state (part and fields, without keys)."""
    for name, cell in part._cells.items():
        for variable, state, keys in located(cell, f"{part.name}.{name}"):
            if any(concerns(key, entity) for key in keys):
                yield state, variable


def referring_to(part: Component, entity: Entity) -> Iterator[tuple[Variable, Entity]]:
    """The variables of a part that may refer to the entity, or to another that is about it, each with that one."""
    for name, cell in part._cells.items():
        for variable, _, keys in located(cell, f"{part.name}.{name}"):
            kind = variable.sort.tag
            if kind is None or not issubclass(kind, Entity) or any(concerns(key, entity) for key in keys):
                continue
            for other in part.universe[kind]:
                if concerns(other, entity):
                    yield variable, other


def is_forgotten(asker: Component, entity: Entity, but: Collection[str] = ()) -> Expr:
    """Whether no part of the model keeps anything of the entity. Monitors do not count, nor does state that is named in `but`."""
    read = active().read
    found = []
    for part in asker._model.parts.values():
        if part.bookkeeping:
            continue
        found += [read(v) == _zero(v) for state, v in kept_for(part, entity) if state not in but]
        found += [read(v) != other for v, other in referring_to(part, entity)]
    return all_of(as_expr(one) for one in found)


def forget(asker: Component, entity: Entity, states: Collection[str]) -> None:
    """Within a step: what monitors keep of the entity becomes zero, and what these states do; no monitor refers to it any more."""
    for part in asker._model.parts.values():
        for state, variable in kept_for(part, entity):
            if part.bookkeeping or state in states:
                active().write(variable, _zero(variable))
        if part.bookkeeping:
            for variable, other in referring_to(part, entity):
                kept = active().read(variable)
                active().write(variable, select(kept == other, None, kept))


def _zero(variable: Variable) -> Expr:
    return const(variable.sort, min(max(0, variable.lo), variable.hi))
