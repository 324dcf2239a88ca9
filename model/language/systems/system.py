"""The transition system: what every engine, exporter and report reads.

`trace_system` runs every step of a model once per binding of its parameters and keeps the graph:
guards and updates as expressions over the state before the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, is_dataclass, replace
from functools import cached_property
from inspect import iscoroutine, isgenerator
from itertools import product
from typing import Any

from ....base.problems import UsageProblem
from ....base.structs import Data, dataclass
from ..declarations.component import Component, Model, StepMethod, steps_of
from ..declarations.fairness import Case, Fairness
from ..declarations.lasting import Lasts
from ..declarations.shapes import scalars_of
from ..declarations.tracer import Looking, NeverEnabled, Starting, StepTrace, tracing
from ..expressions.errors import Location, ModelError
from ..expressions.expr import Expr, Variable, all_of, as_expr, const, fresh_graph
from ..expressions.graph import topological, variables_of
from ..expressions.sorts import BOOL, Universe
from .gathering import narrate
from .telling import NAMES_ALONE, Narration

State = tuple[int, ...]


class Transition(Data):
    """One step with its parameters bound.

    Enabled where `guard` and every limit hold; then each variable in `updates` takes its new value,
    all at once, and every other variable keeps its own. `fair` transitions are those that a resettability may count on;
    `fairness` names the fair sets that the transition belongs to, which liveness counts on.
    """

    part: str
    step: str
    args: tuple[tuple[str, Any], ...]
    actor: str
    fair: bool
    guard: Expr
    constraints: tuple[tuple[str, Expr], ...]
    updates: Mapping[Variable, Expr]
    doc: str = ""
    location: Location = ("", 0)
    fairness: tuple[Fairness, ...] = ()
    lasts: Lasts = Lasts.ANY_TIME

    @property
    def label(self) -> str:
        """Part, step and arguments, for example `scheduler.bind(pod=p, outcome=OK)`."""
        shown = ", ".join(f"{n}={getattr(v, 'name', v)}" for n, v in self.args)
        return f"{self.part}.{self.step}({shown})"

    @property
    def enabled(self) -> Expr:
        """Guard and constraints together."""
        return all_of((self.guard, *(e for _, e in self.constraints)))

    def waits(self, fairness: Fairness) -> Expr:
        """The condition under which a fair set of this transition waits for it."""
        return self.enabled if fairness.within_bounds else self.guard

    @property
    def reads(self) -> frozenset[Variable]:
        """The variables that decide whether and how this transition acts."""
        return frozenset(
            variables_of((self.guard, *(e for _, e in self.constraints), *self.updates.values()))
        )

    @property
    def writes(self) -> frozenset[Variable]:
        """The variables that this transition can change."""
        return frozenset(self.updates)


class NotingScope:
    """The bounds that a model is built with. `read` has the names of the bounds that were read."""

    def __init__(self, scope: Any) -> None:
        self._scope = scope
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self._scope, name)


class Explainer:
    """Asks the model, for a report, why a step has its outcome. It works only in its own process: a copy says nothing.

    `bounds` has the bounds of the scope that the code of each step reads, by part and name.
    """

    def __init__(
        self, model: Model | None = None, bounds: Mapping[tuple[str, str], frozenset[str]] | None = None
    ) -> None:
        self._model = model
        self.bounds = bounds or {}

    @property
    def model(self) -> Model | None:
        """The model itself; None in another process."""
        return self._model

    def reasons(self, transition: Transition) -> dict[str, Expr]:
        """The reasons in words, each with the states before the step in which it is one."""
        if self._model is None or transition.part not in self._model.parts:
            return {}
        part, args = self._model.parts[transition.part], dict(transition.args)
        with fresh_graph():
            said = evaluate_in(self._model, lambda: part.explains(transition.step, args))
            return {text: as_expr(when, BOOL) for text, when in said.items()}

    def said_of(self, part: str, question: str) -> dict[str, Expr]:
        """The sentences with which a part of the model answers, each with the states in which it is true."""
        asked = getattr(self._model.parts.get(part), question, None) if self._model is not None else None
        if self._model is None or asked is None:
            return {}
        with fresh_graph():
            said: list[tuple[str, Any]] = evaluate_in(self._model, lambda: list(asked()))
            return {text: as_expr(when, BOOL) for text, when in said}

    def __reduce__(self) -> tuple[type[Explainer], tuple[()]]:
        return Explainer, ()


class TransitionSystem(Data, slots=False):
    """Variables with their initial values, transitions, and named predicates over the state.

    `invariants` must hold in every reachable state. `witnesses` should be reachable. `resettabilities` must stay
    reachable: from every reachable state, fair transitions alone can lead to a state that satisfies
    the predicate. `livenesses` are violated by a fair run that is as one of their cases says. `views` are expressions that only reports look at; they keep nothing alive.
    `scales`: timers of minutes wait until nothing shorter is under way, instead of firing at any moment; an engine is given a system in which its guards say so (`checker/reduction/scales_of_time.py`).
    `narration` is how steps and changes are told, and `explainer` says why they go as they do: no engine asks them, and they tell
    no two systems apart.
    """

    name: str
    universe: Universe
    variables: tuple[Variable, ...]
    transitions: tuple[Transition, ...]
    invariants: Mapping[str, Expr] = field(default_factory=dict)
    witnesses: Mapping[str, Expr] = field(default_factory=dict)
    resettabilities: Mapping[str, Expr] = field(default_factory=dict)
    views: Mapping[str, Expr] = field(default_factory=dict)
    livenesses: Mapping[str, tuple[Case, ...]] = field(default_factory=dict)
    scales: bool = False
    narration: Narration = field(default=NAMES_ALONE, compare=False, repr=False)
    explainer: Explainer = field(default_factory=Explainer, compare=False, repr=False)

    @property
    def initial(self) -> State:
        """The initial state: one code per variable, in the order of `variables`."""
        return tuple(v.initial for v in self.variables)

    @cached_property
    def position(self) -> dict[Variable, int]:
        """Where each variable stands in a state tuple."""
        return {v: i for i, v in enumerate(self.variables)}

    @property
    def constraints(self) -> tuple[str, ...]:
        """The names of all bounds of the scenario, in order of first use."""
        return tuple(dict.fromkeys(name for t in self.transitions for name, _ in t.constraints))

    @cached_property
    def fair_sets(self) -> dict[Fairness, tuple[int, ...]]:
        """Every fair set with the numbers of its transitions, in order of first use."""
        found: dict[Fairness, list[int]] = {}
        for number, t in enumerate(self.transitions):
            for fairness in t.fairness:
                found.setdefault(fairness, []).append(number)
        return {fairness: tuple(members) for fairness, members in found.items()}

    def roots(self) -> list[Expr]:
        """Every expression that an engine evaluates, in a deterministic order."""
        found: list[Expr] = []
        for t in self.transitions:
            found += [t.guard, *(e for _, e in t.constraints), *t.updates.values()]
        for table in (self.invariants, self.witnesses, self.resettabilities):
            found += table.values()
        return found + self.liveness_predicates()

    def liveness_predicates(self) -> list[Expr]:
        """Every expression that a liveness property looks at."""
        return [e for cases in self.livenesses.values() for case in cases for e in case.predicates]

    @property
    def size(self) -> int:
        """The number of nodes of the expression graph."""
        return len(topological(self.roots()))

    @property
    def bits(self) -> int:
        """The number of bits of a packed state."""
        return sum(v.bits for v in self.variables)

    def describe(self, state: State) -> dict[str, Any]:
        """A state as a mapping from variable names to Python values."""
        return {v.name: self.universe.decode(v.sort, c) for v, c in zip(self.variables, state, strict=True)}

    def with_predicates(self, **tables: Any) -> TransitionSystem:
        """A copy with `invariants`, `witnesses`, `resettabilities`, `livenesses` or `views` replaced."""
        return replace(self, **tables)

    def with_expressions(self, new: Mapping[Expr, Expr]) -> TransitionSystem:
        """A copy whose predicates and views are what `new` has for them; the transitions stay."""

        def table(old: Mapping[str, Expr]) -> dict[str, Expr]:
            return {name: new[e] for name, e in old.items()}

        return replace(
            self,
            invariants=table(self.invariants),
            witnesses=table(self.witnesses),
            resettabilities=table(self.resettabilities),
            views=table(self.views),
            livenesses={
                name: tuple(
                    Case(c.name, new[c.persistent], tuple(new[e] for e in c.recurrent)) for c in cases
                )
                for name, cases in self.livenesses.items()
            },
        )


def model_variables(model: Model) -> list[Variable]:
    """Every state variable of the model, parts in order."""
    return [
        scalar.variable
        for part in model.parts.values()
        for cell in part._cells.values()
        for scalar in scalars_of(cell)
    ]


def initialise(model: Model) -> None:
    """Run every part's `setup` and store what it assigns as the variables' initial values."""
    trace = Starting()
    for var in model_variables(model):
        trace.values[var] = const(var.sort, var.initial)
    with tracing(trace):
        for part in model.parts.values():
            seen = dict(trace.values)
            part.setup()
            if part.only_looks:
                _refuse_writes(part, trace, seen, "`setup` of a property says how its own state begins")
    for var, value in trace.values.items():
        if not value.is_const:
            raise UsageProblem(
                f"{var.name.partition('.')[0]} cannot be asked while numbers are left open, as `prove` and ranges such as 1..2 do: they decide what `{var.name}` is at the start. Ask for other properties with --property, or write one number for each range"
            )
        var.initial = value.value


def _trace_step(step: StepMethod, args: tuple[Any, ...], observers: list[_Observer]) -> Transition | None:
    trace = StepTrace(stops=True)
    with tracing(trace):
        try:
            done = getattr(step.part, step.name)(*args)
        except NeverEnabled:
            return None
        if isgenerator(done) or iscoroutine(done):
            done.close()
            raise ModelError(
                f"the body of `{step.name}` would never run: a step has no `yield`, and is not `async`",
                step.location,
            )
        trace.stops = False  # a monitor looks on
        for observer in observers:
            _observe(observer, trace)
    named = tuple(zip((n for n, _ in step.domains), args, strict=True))
    made = Transition(
        part=step.part.name,
        step=step.name,
        args=named,
        actor=step.info.actor,
        fair=step.info.fair,
        guard=trace.guard,
        constraints=tuple((n, e) for n, e in trace.constraints.items() if not (e.is_const and e.value)),
        updates=_changes(trace),
        doc=step.doc,
        location=step.location,
        lasts=step.info.scale(step.part),
    )
    return replace(made, fairness=step.info.fairness(made.label, step.part, dict(named)))


_CHANGES = (
    "is another when it is read again: it must not depend on chance, on time or on what ran before. "
    "What changes is declared state; a choice is a parameter"
)


def _says(transition: Transition | None) -> list[tuple[object, int]] | None:
    """What a step does, of the graph in use."""
    if transition is None:
        return None
    said = (("", transition.guard), *transition.constraints, *transition.updates.items())
    return [(what, id(e)) for what, e in said]


def _refuse_namesakes(step: StepMethod, found: Transition, known: dict[Fairness, tuple[type, ...]]) -> None:
    """Raise ModelError if the step's actor is that of another step by name, but of a value of another kind."""
    if not step.info.each or not found.fairness:
        return
    whose = step.info.whose(step.part, dict(found.args))
    kinds = tuple(Component if isinstance(one, Component) else type(one) for one in whose)
    own, other = found.fairness[0], known.setdefault(found.fairness[0], kinds)
    if other != kinds:
        one, another = (", ".join(kind.__name__ for kind in some) for some in (kinds, other))
        raise ModelError(
            f"the actor `{own.name}` of step `{step.name}` is of {one}, and of {another} in another step: are they one? Give actors two names, or members",
            step.location,
        )


def _changes(trace: StepTrace) -> dict[Variable, Expr]:
    return {v: e for v, e in trace.values.items() if not (e.op == "var" and e.value is v)}


def _observe(observer: _Observer, trace: StepTrace) -> None:
    """Let a monitor see the step, unless the step changes nothing that the monitor looks at."""
    changed = _changes(trace).keys()
    if observer.idle is not None and changed.isdisjoint(observer.idle):
        return
    unseen, guard, constraints = dict(trace.values), trace.guard, dict(trace.constraints)
    trace.reads = set()
    observer.part.observe()
    if observer.part.only_looks:
        _refuse_changes(observer.part, trace, unseen, (guard, *constraints.values()))
    if changed.isdisjoint(trace.reads):
        trace.values = unseen
        if trace.guard is guard and [*map(id, trace.constraints.values())] == [
            *map(id, constraints.values())
        ]:
            observer.idle = trace.reads


def _refuse_changes(
    part: Component, trace: StepTrace, seen: Mapping[Variable, Expr], before: tuple[Expr, ...]
) -> None:
    """Raise ModelError if a property has made the step wait, or has changed what is not its own."""
    if [*map(id, (trace.guard, *trace.constraints.values()))] != [*map(id, before)]:
        raise ModelError("`require` is for steps: `observe` only looks, so write `with when(...)`")
    _refuse_writes(part, trace, seen, "`observe` only looks")


def _refuse_writes(part: Component, trace: StepTrace, seen: Mapping[Variable, Expr], why: str) -> None:
    """Raise ModelError if a property has changed what is not its own."""
    for var, value in trace.values.items():
        if value is not seen.get(var) and not var.name.startswith(f"{part.name}."):
            raise ModelError(f"{why}: it cannot change `{var.name}`")


@dataclass(slots=True)
class _Observer:
    """A monitor, and what it read when nothing of that had changed: then it will read the same again."""

    part: Component
    idle: set[Variable] | None = None


def evaluate_in(model: Model, read: Callable[[], Any]) -> Any:
    """What `read` gives over the symbolic state of `model` (in the graph in use). Raises ModelError if it assigns to the state."""
    with tracing(Looking()):
        return read()


def trace_system(
    model: Model,
    name: str = "",
    invariants: Mapping[str, Callable[[], Any]] | None = None,
    witnesses: Mapping[str, Callable[[], Any]] | None = None,
    resettabilities: Mapping[str, Callable[[], Any]] | None = None,
    views: Mapping[str, Callable[[], Any]] | None = None,
    livenesses: Mapping[str, Callable[[], Iterable[Case]]] | None = None,
    started: Callable[[], None] = lambda: None,
    twice: bool = False,
) -> TransitionSystem:
    """Trace every step of `model`, and the given predicates, into a transition system.

    Predicates are functions without arguments that read the model's state. `started` is called when every `setup` has run, before
    any step is read. `twice`: each is read a second time, and must be the same then. Raises ModelError for any
    mistake in the model, with the file and line of the mistake.
    """
    with fresh_graph():
        initialise(model)
        started()
        observers = [_Observer(p) for p in model.parts.values() if type(p).observe is not Component.observe]
        transitions = []
        actors: dict[Fairness, tuple[type, ...]] = {}
        bounds: dict[tuple[str, str], frozenset[str]] = {}
        scope = model.entities.scope
        noting = NotingScope(scope)
        if is_dataclass(scope):  # bounds with names
            model.entities.scope = noting
        try:
            for part in model.parts.values():
                for step in steps_of(part):
                    if part.only_looks:
                        raise ModelError(
                            f"`{step.name}` is a step, and a property only looks: write it into a patch, a class derived from a part",
                            step.location,
                        )
                    noting.read = set()
                    for args in product(*(values for _, values in step.domains)):
                        found = _trace_step(step, args, observers)
                        if twice and _says(found) != _says(_trace_step(step, args, observers)):
                            raise ModelError(f"step `{step.name}` {_CHANGES}", step.location)
                        if found is not None:
                            _refuse_namesakes(step, found, actors)
                            transitions.append(found)
                    bounds[part.name, step.name] = frozenset(noting.read)
        finally:
            model.entities.scope = scope

        def predicates(
            table: Mapping[str, Callable[[], Any]] | None, of_bool: bool = True
        ) -> dict[str, Expr]:
            sort = BOOL if of_bool else None
            found = {key: as_expr(evaluate_in(model, read), sort) for key, read in (table or {}).items()}
            for key, read in (table or {}).items() if twice else ():
                if as_expr(evaluate_in(model, read), sort) is not found[key]:
                    raise ModelError(f"`{key}` {_CHANGES}")
            return found

        return TransitionSystem(
            name=name or type(model).__name__,
            universe=model.entities,
            variables=tuple(v for v in model_variables(model) if v.lo != v.hi),
            transitions=tuple(transitions),
            invariants=predicates(invariants),
            witnesses=predicates(witnesses),
            resettabilities=predicates(resettabilities),
            views=predicates(views, of_bool=False),
            explainer=Explainer(model, bounds),
            livenesses={key: _cases(model, read) for key, read in (livenesses or {}).items()},
            narration=narrate(model),
        )


def _cases(model: Model, read: Callable[[], Iterable[Case]]) -> tuple[Case, ...]:
    cases: tuple[Case, ...] = evaluate_in(model, lambda: tuple(read()))
    return tuple(
        Case(c.name, as_expr(c.persistent, BOOL), tuple(as_expr(e, BOOL) for e in c.recurrent)) for c in cases
    )


def actors(transitions: Iterable[Transition]) -> list[str]:
    """The actors, in order of first appearance."""
    return list(dict.fromkeys(t.actor for t in transitions))
