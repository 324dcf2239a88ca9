"""What can be wrong with the class of a patch before it is traced: names, signatures, places."""

import dis
import inspect
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from ...base.text import known_names
from ...model.history import CHANGES
from ...model.language import Component, Expr
from ...model.language.declarations.component import parameter_hints
from ...patching import call_of, parts

PARTS: dict[str, type[Component]] = parts()
"""The classes that a patch may derive from, by their names."""

_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Functions of which a call runs nothing yet."""


class PatchMistake(Exception):
    """One phrase that says what is wrong and what to do; `line` is where, 0 if nowhere in particular."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def check_part(cls: type[Component]) -> None:
    """Raises PatchMistake if a class changes no part of the scheduler."""
    if not any(issubclass(cls, part) for part in PARTS.values()):
        parts = ", ".join(PARTS)
        for base in cls.__mro__[1:]:
            whole = [name for name, part in PARTS.items() if base is not Component and issubclass(part, base)]
            if issubclass(base, Component) and whole:
                parts = f"{whole[0]}, of which {base.__name__} is a part"
                raise PatchMistake(f"{cls.__name__} changes no part of the scheduler: derive it from {parts}")
        raise PatchMistake(f"{cls.__name__} changes no part of the scheduler: derive it from one of {parts}")


def check_members(cls: type[Component]) -> None:
    """Raises PatchMistake if a class overrides nothing, or something in a way that does not fit."""
    own = {name: thing for name, thing in vars(cls).items() if not name.startswith("__")}
    if not own:
        bases = [b for b in cls.__mro__[1:] if b.__module__ == cls.__module__]
        if not bases:
            raise PatchMistake(f"{cls.__name__} overrides nothing: define the method that it is to change")
    for name, thing in own.items():
        _check_member(cls, name, thing)


def check_names(classes: Sequence[type]) -> None:
    """Raises PatchMistake for a method that overrides nothing and that nothing else in the file names: most likely misspelt.

    That a method of a name calls `super()` by the same name has nobody call it; one of another part may well call it.
    """
    functions = [(cls, f) for cls in classes for f in map(function_of, vars(cls).values()) if f is not None]
    named_by = [(cls, f.__code__.co_name, set(_names_in(f.__code__))) for cls, f in functions]
    for cls in classes:
        if not issubclass(cls, Component):
            continue
        for name, thing in vars(cls).items():
            function = function_of(thing)
            if (
                function is None
                or name.startswith("__")
                or hasattr(function, "__podrace_step__")
                or any(
                    name in names
                    for owner, caller, names in named_by
                    if caller != name or not (issubclass(owner, cls) or issubclass(cls, owner))
                )
            ):
                continue
            if _inherited(cls, name) is None:
                raise PatchMistake(
                    f"{cls.__name__}.{name} overrides nothing; {_remedy(cls, name)}", _line(function)
                )


def overridable(cls: type) -> dict[str, FunctionType]:
    """The methods that a class has from the model, by name, its own first."""
    found: dict[str, FunctionType] = {}
    for base in cls.__mro__:
        if base is Component or base is object:
            continue
        for name, thing in vars(base).items():
            if isinstance(thing, FunctionType) and not name.startswith("__"):
                found.setdefault(name, thing)
    return found


def shown_parameters(function: FunctionType) -> str:
    """The parameters without `self` and without annotations."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return ", ".join(str(p.replace(annotation=inspect.Parameter.empty)) for p in parameters)


def _check_member(cls: type[Component], name: str, thing: Any) -> None:
    function, inherited = function_of(thing), _inherited(cls, name)
    if inherited is None or _is_words(name):
        return
    old = function_of(inherited[1])
    base = _known_as(cls, inherited[0])
    if old is None or isinstance(inherited[1], property) != isinstance(thing, property):
        what = "a property" if isinstance(inherited[1], property) else "a method" if old else "state"
        raise PatchMistake(
            f"{cls.__name__}.{name}: in {base} this is {what}: keep it so, or choose another name",
            _line(function),
        )
    if function is None:
        raise PatchMistake(f"{cls.__name__}.{name}: in {base} this is a method: override it with one")
    if not _same_parameters(function, old):
        raise PatchMistake(
            f"{cls.__name__}.{name}({shown_parameters(function)}) overrides {base}.{name}({shown_parameters(old)}): "
            "give it the same parameters",
            _line(function),
        )
    if function.__code__.co_flags & ~old.__code__.co_flags & _LATER:
        raise PatchMistake(
            f"the body of {cls.__name__}.{name} would never run: a method has no `yield`, and is not `async`",
            _line(function),
        )
    if old.__annotations__.get("return") in (Expr, Expr.__name__) and _returns_nothing(function):
        raise PatchMistake(
            f"{cls.__name__}.{name} returns nothing, where {base}.{name} gives an expression: return one",
            _line(function),
        )
    if _is_step(cls, name):
        bare = [
            p.name
            for p in list(inspect.signature(function).parameters.values())[1:]
            if p.annotation is p.empty
        ]
        if bare:
            raise PatchMistake(
                f"{cls.__name__}.{name} overrides a step: annotate its parameter `{bare[0]}` as {base}.{name} does",
                _line(function),
            )
        _check_kinds(f"{cls.__name__}.{name}", function, f"{base}.{name}", old)


def _check_kinds(name: str, function: FunctionType, base: str, old: FunctionType) -> None:
    """A step exists once for each value of its parameters: of other kinds it would be another step."""
    try:
        ours, theirs = parameter_hints(function), parameter_hints(old)
    except Exception:  # annotations are expressions: it is said, in one line, when the step is bound
        return
    for parameter, kind in theirs.items():
        if parameter in ours and ours[parameter] != kind:
            raise PatchMistake(
                f"{name} overrides a step: its parameter `{parameter}` is {_kind_name(ours[parameter])}, where {base} has "
                f"{_kind_name(kind)}: annotate it so",
                _line(function),
            )


def _kind_name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _returns_nothing(function: FunctionType) -> bool:
    """Whether the function comes to its end, and never with another value than None."""
    found: list[bool] = []
    last: object = ...
    for instruction in dis.get_instructions(function):
        if instruction.opname == "RETURN_CONST":
            found.append(instruction.argval is None)
        elif instruction.opname == "RETURN_VALUE":
            found.append(last is None)
        last = instruction.argval if instruction.opname == "LOAD_CONST" else ...
    return bool(found) and all(found)


def _same_parameters(new: FunctionType, old: FunctionType) -> bool:
    """Whether a call of the old method fits the new one; steps are called by these names, too."""
    ours, theirs = (list(inspect.signature(f).parameters.values())[1:] for f in (new, old))
    further = ours[len(theirs) :]
    return [(p.name, p.kind) for p in ours[: len(theirs)]] == [(p.name, p.kind) for p in theirs] and all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in further
    )


def _inherited(cls: type, name: str) -> tuple[type, Any] | None:
    """Where a class has a name from, and what it is there."""
    for base in cls.__mro__[1:]:
        if name in vars(base):
            return base, vars(base)[name]
    return None


def _known_as(cls: type, base: type) -> str:
    """The name of a base, or of the part that it is a piece of: a part may be written in several classes, each on top of another."""
    whole = (name for name, part in PARTS.items() if issubclass(cls, part) and issubclass(part, base))
    return next(whole, base.__name__)


def _is_words(name: str) -> bool:
    """Whether a class declares under this name how it is told, which adds to what its bases declare."""
    return name in Component.__annotations__ and name in vars(Component)


def _is_step(cls: type, name: str) -> bool:
    return any(hasattr(vars(base).get(name), "__podrace_step__") for base in cls.__mro__[1:])


def function_of(thing: Any) -> FunctionType | None:
    if isinstance(thing, property):
        thing = thing.fget
    return thing if isinstance(thing, FunctionType) else None


def _line(function: FunctionType | None) -> int:
    return 0 if function is None else function.__code__.co_firstlineno


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_in(inner)


def _remedy(cls: type, name: str) -> str:
    """Where there is such a method, or which are near."""
    earlier = [c for change in CHANGES.values() for c in change.classes]
    for other in (*PARTS.values(), *earlier):
        if name in overridable(other) and not issubclass(cls, other):
            return f"`{name}` is a method of {call_of(other) or other.__name__} of podrace.patching: derive from that"
    return known_names(name, sorted(overridable(cls).keys() - vars(cls).keys()))
