"""Components, models, steps: the classes that people write, and how a model is put together.

A component declares state and methods. It reaches the others by the names that the model gives them:

    class Nominator(Component):
        informer: Informer                  # a link, found by its name in the model
        node = per(Pod, ref(Node))          # state

    class Cluster(Model):
        informer: Informer                  # a part
        nominator: Nominator

A change to the model is a subclass of one of its components. `build` puts a model together with any
number of such changes: of two that override the same method, the earlier in the list wins.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from ....base.structs import Data
from ..expressions.errors import Location, ModelError
from ..expressions.expr import Value, const, true
from ..expressions.sorts import Entity, Universe
from .fairness import Fairness
from .lasting import Lasts
from .narration import Channel, Knowledge, Reader, Words
from .shapes import declared, scalars_of
from .views import store, view_of

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound="Model")


class StepInfo(Data):
    """The arguments of `@step` for a method."""

    actor: str
    fair: bool
    goroutine: str
    each: tuple[str, ...]
    random: bool
    lasts: Lasts | None

    def whose(self, part: Component, args: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values, and the part, that distinguish this step's goroutine from other goroutines of the same name."""
        return tuple(part if name == "self" else args[name] for name in self.each)

    def scale(self, part: Component) -> Lasts:
        """The scale of time of the step of this part."""
        return self.lasts or (part.steps_last if self.fair else Lasts.ANY_TIME)

    def fairness(self, label: str, part: Component, args: Mapping[str, Any]) -> tuple[Fairness, ...]:
        """The fair sets that the step of this part belongs to with these arguments."""
        if not self.fair:
            return ()
        names = [str(getattr(one, "name", one)) for one in self.whose(part, args)]
        own = Fairness(self.goroutine + (f" of {', '.join(names)}" if names else ""))
        return (own, Fairness(label, strong=True)) if self.random else (own,)


def step(
    actor: str,
    fair: bool = True,
    *,
    goroutine: str = "",
    each: str | tuple[str, ...] = (),
    random: bool = False,
    lasts: Lasts | None = None,
) -> Callable[[F], F]:
    """Mark a method as an atomic step of `actor`.

    Each parameter is annotated with a kind of entity, an Enum class, bool, or numbers: `Annotated[int, range(1, 4)]` or
    `Literal[1, 2, 4]`; the step exists once for every combination of their values. An overriding method stays a step, with the actor and fairness of the
    method that it overrides.

    The fair steps of one goroutine are a weakly fair set: while it can go on, it goes on eventually, by any of
    its steps. The goroutine is the actor's unless `goroutine` names another. `each` names one or several parameters: every value has its own goroutine.
    "self" stands for the part: if several parts have the step, each part has its own goroutine. `random` says that the step is the
    outcome of a random choice: each of its bindings is a strongly fair set by itself, so an outcome that is possible again and again happens eventually.

    `lasts` is the scale of time of the step. Without it, a fair step lasts as `steps_last` of the part says, and any other step takes any time.
    Only systems with scales of time use it.
    """

    if not isinstance(actor, str):
        raise ModelError('`@step` must say whose step it is: write `@step(actor="...")`')

    def mark(function: F) -> F:
        names = (each,) if isinstance(each, str) else tuple(each)
        info = StepInfo(actor, fair, goroutine or actor, tuple(name for name in names if name), random, lasts)
        function.__podrace_step__ = info  # type: ignore[attr-defined]
        return function

    return mark


class Component:
    """A part of a model: declared state, methods, steps. Links to other parts are annotations."""

    _model: Model
    _cells: dict[str, Any]
    name: str

    kinds: ClassVar[Sequence[type[Entity]]] = ()
    """The kinds of entities that this part adds to a model."""

    phrases: ClassVar[Mapping[str, Words]] = {}
    """Words for changes of the declared state, by paths below this part: `place`, `pod.node` for a record's field.

    If a class declares `phrases`, reports never show state of this class that `phrases` lacks.
    """

    knowledge: ClassVar[Sequence[Knowledge]] = ()
    """What this part knows of the world."""

    channels: ClassVar[Sequence[Channel]] = ()
    """The queues of this part in which events are on their way."""

    reads: ClassVar[Sequence[tuple[str, Reader]]] = ()
    """The readers in this part, by the channels of other parts that they read."""

    steps_last: ClassVar[Lasts] = Lasts.ANY_TIME
    """The scale of time of this part's fair steps that do not say it themselves."""

    bookkeeping: ClassVar[bool] = False
    """Whether reports never show the state of this part, such as a monitor's."""

    only_looks: ClassVar[bool] = False
    """Whether `observe` must neither make a step wait nor change another part's state, because it would then observe another system."""

    def read_field(self, name: str) -> Any:
        """The current value of a declared field."""
        return view_of(self._cells[name])

    def write_field(self, name: str, value: Any) -> None:
        """Assign to a declared field."""
        store([(true(), self._cells[name])], value)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            model = self.__dict__.get("_model")
            if model is not None and name in model.parts:
                part = self.__dict__[name] = model.parts[name]  # the next time it is found at once
                return part
            known = ", ".join(sorted(declared(type(self)))) or "none"
            near = get_close_matches(name, [*declared(type(self)), *(model.parts if model else ())], 1)
            guess = f"did you mean `{near[0]}`? Its state" if near else "its state"
            raise ModelError(f"{type(self).__name__} has no `{name}`; {guess}: {known}")
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        # Plain attributes would be invisible to every engine: all state is declared.
        if name in declared(type(self)) or "_ready" not in self.__dict__:
            object.__setattr__(self, name, value)
        else:
            raise ModelError(f"`{name}` is not declared state of {type(self).__name__}")

    @property
    def scope(self) -> Any:
        """The bounds that the model is built with."""
        return self._model.entities.scope

    @property
    def universe(self) -> Universe:
        """The entities of the model."""
        return self._model.entities

    def explains(self, step: str, args: Mapping[str, Any]) -> Mapping[str, Value]:
        """Override to explain the outcome of a step with these arguments: reasons in words, each with its condition on the state before the step. Used only in reports."""
        return {}

    def setup(self) -> None:
        """Override to assign initial values, with concrete data only."""

    def reset(self) -> None:
        """Within a step: all of this part's state becomes zero, as if it had been declared just now."""
        for cell in self._cells.values():
            for scalar in scalars_of(cell):
                store([(true(), scalar)], const(scalar.variable.sort, scalar.zero))

    def observe(self) -> None:
        """Override to run at the end of every step that changes something read here (monitors of properties)."""


class Model:
    """A closed system: its annotations name its parts."""

    parts: dict[str, Component]
    entities: Universe

    view_order: ClassVar[Sequence[str]] = ()
    """The order in which what components know is shown; knowledge that it does not name comes last."""

    def add(self, name: str, part: type[Component]) -> Component:
        """Add a part that the model itself does not know, for example a monitor."""
        if name in self.parts:
            raise ModelError(f"the model already has a part `{name}`")
        made = part()
        made._model, made.name = self, name
        made._cells = {n: s.allocate(f"{name}.{n}", self.entities) for n, s in declared(part).items()}
        self.parts[name] = made
        made.__dict__["_ready"] = True
        return made


def part_classes(root: type[Model]) -> dict[str, type[Component]]:
    """The component class of each part that a model class names, in order."""
    hints = get_type_hints(root)
    own = {"parts", "entities"}
    return {
        n: c for n, c in hints.items() if n not in own and isinstance(c, type) and issubclass(c, Component)
    }


def build(root: type[M], universe: Universe, changes: Sequence[type[Component]] = ()) -> M:
    """A model whose parts have `changes` applied.

    Each change must be a subclass of one of the model's component classes; the first in the list has
    the last word. Raises ModelError if a change fits no component.
    """
    classes = part_classes(root)
    applied: dict[str, list[type[Component]]] = {name: [] for name in classes}
    for change in changes:
        homes = [name for name, base in classes.items() if issubclass(change, base)]
        if not homes:
            raise ModelError(
                f"{change.__name__} changes no component of {root.__name__}: "
                f"derive it from one of {', '.join(c.__name__ for c in classes.values())}"
            )
        for home in homes:
            applied[home].append(change)
    model = root()
    model.parts, model.entities = {}, universe
    for name, base in classes.items():
        model.add(name, combine(base, applied[name]))
    return model


def combine(base: type[Component], changes: Sequence[type[Component]]) -> type[Component]:
    """One class with all changes mixed in, the first in front."""
    bases = list(dict.fromkeys(changes))
    if not bases:
        return base
    if len(bases) == 1:
        return bases[0]
    # A class must precede its own bases for Python to find a resolution order.
    ordered: list[type[Component]] = []
    for cls in bases:
        at = next((i for i, placed in enumerate(ordered) if issubclass(cls, placed)), len(ordered))
        ordered.insert(at, cls)
    return type(base.__name__, tuple(ordered), {"__module__": base.__module__})


class StepMethod(Data):
    """A step of a part, with the domains of its parameters."""

    part: Component
    name: str
    info: StepInfo
    domains: tuple[tuple[str, tuple[Any, ...]], ...]
    doc: str
    location: Location


def steps_of(part: Component) -> list[StepMethod]:
    """The steps of a part, in the order in which its classes define them, bases first."""
    infos: dict[str, StepInfo] = {}
    for base in reversed(type(part).__mro__):
        for name, thing in vars(base).items():
            info = getattr(thing, "__podrace_step__", None)
            if info is not None:
                infos[name] = info
    return [_step_method(part, name, info) for name, info in infos.items()]


def _step_method(part: Component, name: str, info: StepInfo) -> StepMethod:
    function = getattr(type(part), name)
    code = function.__code__
    location = (code.co_filename, code.co_firstlineno)
    if not code.co_argcount and not code.co_flags & inspect.CO_VARARGS:
        raise ModelError(f"step `{name}` has no `self`: a step is a method", location)
    if code.co_kwonlyargcount:
        raise ModelError(f"step `{name}` has parameters behind a `*`: take that away", location)
    domains = domains_of(part.universe, function, f"step `{name}`")
    for each in info.each:
        if each != "self" and each not in dict(domains):
            raise ModelError(f"step `{name}` has no parameter `{each}`, as `each` says", location)
    return StepMethod(part, name, info, domains, inspect.getdoc(function) or "", location)


Domains = tuple[tuple[str, tuple[Any, ...]], ...]
"""The names of parameters, each with its values."""


def domains_of(universe: Universe, function: Callable[..., Any], what: str) -> Domains:
    """The values of each parameter of a method, by its annotations. Raises ModelError for one that has none."""
    code = function.__code__
    hints = parameter_hints(function)
    found = []
    for parameter in _parameters(function):
        values = _values(universe, hints.get(parameter))
        if values is None:
            raise ModelError(
                f"parameter `{parameter}` of {what} needs a kind of entity, an Enum class, bool or numbers such as "
                "`Annotated[int, range(3)]` as its annotation",
                (code.co_filename, code.co_firstlineno),
            )
        if not values and get_origin(hints[parameter]) is Annotated:
            raise ModelError(
                f"parameter `{parameter}` of {what} has no value: its range is empty",
                (code.co_filename, code.co_firstlineno),
            )
        found.append((parameter, values))
    return tuple(found)


def _parameters(function: Callable[..., Any]) -> list[str]:
    """The names of a method's parameters, without the first."""
    code = function.__code__
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or hasattr(function, "__wrapped__"):
        return list(inspect.signature(function).parameters)[1:]
    return list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])


def parameter_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a method's parameters; what it returns may be annotated with names that exist for type checkers only."""
    written = {n: a for n, a in function.__annotations__.items() if n != "return"}
    names = inspect.unwrap(function).__globals__  # a wrapper may stand elsewhere
    named = {n: names.get(a) if isinstance(a, str) else a for n, a in written.items()}
    if all(isinstance(kind, type) for kind in named.values()):
        return named  # as nearly all are: a class, or its name
    bare = SimpleNamespace(__annotations__=written)
    return get_type_hints(bare, names, include_extras=True)


def _values(universe: Universe, kind: Any) -> tuple[Any, ...] | None:
    if kind is bool:
        return (False, True)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(kind)
    if isinstance(kind, type) and issubclass(kind, Entity):
        return universe[kind]
    if get_origin(kind) is Literal and all(type(value) is int for value in get_args(kind)):
        return get_args(kind)
    if get_origin(kind) is Annotated and get_args(kind)[0] is int and isinstance(get_args(kind)[1], range):
        return tuple(get_args(kind)[1])
    return None
