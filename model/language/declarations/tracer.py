"""Tracing: running a step's Python body once, over symbolic state.

A `StepTrace` holds the value of every variable at this point of the body. Assignment replaces it; what a
`with when(c):` block assigned is merged with what was there before at its end, so that reading after writing sees the
new value. `require` and `constraint` collect the step's guard.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from ..expressions.errors import ModelError
from ..expressions.expr import Expr, Value, all_of, as_expr, clamp, implies, negate, select, variable
from ..expressions.expr import Variable as Var
from ..expressions.ranges import range_where
from ..expressions.sorts import BOOL

T = TypeVar("T")


class NeverEnabled(Exception):
    """The step that is traced can run in no state, so the rest of its body does not matter."""


class StepTrace:
    """The symbolic state in the middle of one step's body. With `stops`, it raises NeverEnabled as soon as no state can run the step."""

    __slots__ = (
        "closed",
        "constraints",
        "guard",
        "order",
        "path",
        "reads",
        "renewed",
        "replaced",
        "stops",
        "values",
    )

    def __init__(self, stops: bool = False) -> None:
        self.stops = stops
        self.values: dict[Var, Expr] = {}
        self.replaced: dict[Var, Expr | None] | None = None  # what the innermost block assigned over
        self.order: dict[Var, int] = {}  # in which variables were first assigned
        self.path: tuple[Expr, ...] = ()
        self.guard: Expr = as_expr(True)
        self.constraints: dict[str, Expr] = {}
        self.closed: dict[int, Expr] = {}  # depth -> none of the `when`s of this chain held
        self.reads: set[Var] = set()
        self.renewed: list[object] = []  # tables that another was assigned to, as a whole

    def read(self, var: Var) -> Expr:
        """The value of `var` here."""
        self.reads.add(var)
        found = self.values.get(var)
        return variable(var) if found is None else found

    def write(self, var: Var, value: Value) -> None:
        """Assign; raises ModelError unless every value that is possible where the step can run is in the variable's range."""
        new = value if type(value) is Expr and value.sort is var.sort else as_expr(value, var.sort)
        if new.lo < var.lo or new.hi > var.hi:
            found = self.range_here(new, (var.lo, var.hi))
            if found is None:
                return
            lo, hi = found
            if lo < var.lo or hi > var.hi:
                raise ModelError(
                    f"`{var.name}` holds {var.lo}..{var.hi}, but the assigned value can be "
                    f"{lo}..{hi}: widen the variable, `require` first that it cannot, or use `clamp`"
                )
            new = clamp(new, var.lo, var.hi)  # never acts where the step can run
        values, replaced, order = self.values, self.replaced, self.order
        if replaced is not None and var not in replaced:
            replaced[var] = values.get(var)
            if var not in order:
                order[var] = len(order)
        values[var] = new
        if self.closed:
            self.closed.pop(len(self.path), None)

    def range_here(self, value: Expr, wanted: tuple[int, int]) -> tuple[int, int] | None:
        """Bounds of a value where the step can run and gets to this point; None if that is nowhere.

        They are as close as it takes to see that the value is within what is wanted, if it is.
        """
        known = (self.guard, *self.constraints.values(), *self.path)
        return None if any(c.is_const and not c.value for c in known) else range_where(value, known, wanted)

    def require(self, condition: Value) -> None:
        """The step can run only if the condition holds (on the path taken)."""
        needed = as_expr(condition, BOOL)
        self.guard = guard = all_of((self.guard, implies(all_of(self.path), needed) if self.path else needed))
        if guard.op == "const" and self.stops and not guard.value:
            raise NeverEnabled

    def constraint(self, name: str, condition: Value) -> None:
        """Like `require`, for a bound of the scenario: when it stops a step, the verdict names it."""
        bound = implies(all_of(self.path), condition)
        self.constraints[name] = all_of((self.constraints.get(name, True), bound))


class Looking(StepTrace):
    """Symbolic state for code that is no step: such code assigns nothing, and makes no step wait."""

    __slots__ = ()

    def write(self, var: Var, value: Value) -> None:
        """Refused."""
        raise ModelError(f"a property only looks: it cannot change `{var.name}`")

    def require(self, condition: Value) -> None:
        """Refused."""
        raise ModelError(
            "`require` is for steps: a property returns a condition, such as `implies(this, that)`"
        )

    def constraint(self, name: str, condition: Value) -> None:
        """Refused."""
        raise ModelError("`constraint` is for steps: a property looks at all states")


class Starting(StepTrace):
    """The initial state, while `setup` assigns it."""

    __slots__ = ()

    def require(self, condition: Value) -> None:
        """Refused."""
        raise ModelError("`require` is for steps: `setup` says what the initial state is")

    def constraint(self, name: str, condition: Value) -> None:
        """Refused."""
        raise ModelError("`constraint` is for steps: `setup` says what the initial state is")


class Block:
    """The states in which a condition holds, for the time of a `with`; at its end, what was assigned is merged.

    A block notes what it assigns over instead of copying the state: most blocks assign little of much.
    """

    __slots__ = ("condition", "depth", "outer", "trace")

    def __init__(self, trace: StepTrace, condition: Expr) -> None:
        self.trace, self.condition = trace, condition

    def __enter__(self) -> None:
        trace = self.trace
        self.depth, self.outer = len(trace.path), trace.replaced
        trace.path = (*trace.path, self.condition)
        trace.replaced = {}

    def __exit__(self, error: object, *_: object) -> None:
        trace, depth, outer = self.trace, self.depth, self.outer
        replaced, values = trace.replaced, trace.values
        assert replaced is not None
        trace.replaced, trace.path = outer, trace.path[:depth]
        if error is not None:  # the step cannot be traced: nothing of the block stays
            for var, old in replaced.items():
                if old is None:
                    del values[var]
                else:
                    values[var] = old
            return
        if replaced:
            self._merge(replaced, values, outer)
        closed = trace.closed
        if closed:
            for inner in [d for d in closed if d > depth]:
                del closed[inner]

    def _merge(
        self, replaced: dict[Var, Expr | None], values: dict[Var, Expr], outer: dict[Var, Expr | None] | None
    ) -> None:
        condition = self.condition
        # In the order in which the step first assigned them: the numbering of the graph depends on it.
        for var in replaced if len(replaced) == 1 else sorted(replaced, key=self.trace.order.__getitem__):
            old = replaced[var]
            if outer is not None and var not in outer:
                outer[var] = old
            if old is not (new := values[var]):
                values[var] = select(condition, new, variable(var) if old is None else old)


class _When(Block):
    """A block after which `otherwise` may follow."""

    __slots__ = ()

    def __exit__(self, error: object, *rest: object) -> None:
        super().__exit__(error, *rest)
        if error is None:
            self.trace.closed[self.depth] = negate(self.condition)


class _Where(Block):
    """A block after which no `otherwise` may follow."""

    __slots__ = ()

    def __exit__(self, error: object, *rest: object) -> None:
        super().__exit__(error, *rest)
        if error is None:
            self.trace.closed.pop(self.depth, None)


class _Otherwise(Block):
    """A block for what earlier blocks of the same chain left."""

    __slots__ = ("left",)

    def __init__(self, trace: StepTrace, rest: Expr, condition: Expr) -> None:
        super().__init__(trace, all_of((rest, condition)))
        self.left = rest, condition

    def __exit__(self, error: object, *rest: object) -> None:
        super().__exit__(error, *rest)
        if error is None:
            left, condition = self.left
            self.trace.closed[self.depth] = all_of((left, negate(condition)))


_active: list[StepTrace] = []


def active() -> StepTrace:
    """The trace in progress; ModelError outside one."""
    if not _active:
        raise ModelError("the state of a model can be read and written only while it is traced")
    return _active[-1]


def renewed() -> Sequence[object]:
    """The tables to which another was assigned in the trace in progress; none outside of one."""
    return _active[-1].renewed if _active else ()


@contextmanager
def tracing(trace: StepTrace) -> Iterator[StepTrace]:
    """Make `trace` the one that reads and writes go to."""
    _active.append(trace)
    try:
        yield trace
    finally:
        _active.pop()


def require(condition: Value, *more: Value) -> None:
    """The step being traced can run only in states where the condition holds, and each further one."""
    trace = active()
    trace.require(condition)
    for another in more:
        trace.require(another)


def constraint(name: str, condition: Value) -> None:
    """A bound of the scenario: the step cannot run beyond it, and a verdict says that it was hit."""
    active().constraint(name, condition)


def when(condition: Value) -> Block:
    """`with when(c):` does what the block says in the states where `c` holds."""
    return _When(active(), as_expr(condition, BOOL))


def where(condition: Expr) -> Block:
    """`when` for the language's own writes: an `otherwise` never refers to one."""
    return _Where(active(), condition)


def current_path() -> tuple[Expr, ...]:
    """The conditions of the `when` blocks around this point; none outside a trace."""
    return _active[-1].path if _active else ()


def otherwise(condition: Value = True) -> Block:
    """After `when` at the same level: the states where it did not hold (and `condition` does)."""
    trace = active()
    rest = trace.closed.get(len(trace.path))
    if rest is None:
        raise ModelError("`otherwise` must directly follow a `when` block at the same level")
    return _Otherwise(trace, rest, as_expr(condition, BOOL))


def before(read: Callable[[], T]) -> T:
    """What `read` gives in the state before the step (for observers, which run at its end)."""
    outer, inner = active(), StepTrace()
    with tracing(inner):
        result = read()
    outer.reads |= inner.reads
    return result
