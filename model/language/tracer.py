"""Tracing: running a step's Python body once, over symbolic state.

A `Trace` holds the value of every variable at this point of the body. Assignment replaces it; a
`with when(c):` block runs on a copy that is merged at its end, so that reading after writing sees the
new value. `require` and `limit` collect the step's guard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .errors import ModelError
from .expr import Expr, Value, all_of, any_of, as_expr, clamp, implies, negate, select, variable
from .expr import Variable as Var
from .ranges import range_where
from .sorts import BOOL

T = TypeVar("T")


class StepTrace:
    """The symbolic state in the middle of one step's body."""

    def __init__(self) -> None:
        self.values: dict[Var, Expr] = {}
        self.path: tuple[Expr, ...] = ()
        self.guard: Expr = as_expr(True)
        self.constraints: dict[str, Expr] = {}
        self.closed: dict[int, Expr] = {}  # depth -> none of the `when`s of this chain held
        self.reads: set[Var] = set()

    def read(self, var: Var) -> Expr:
        """The value of `var` here."""
        self.reads.add(var)
        found = self.values.get(var)
        return variable(var) if found is None else found

    def write(self, var: Var, value: Value) -> None:
        """Assign; raises ModelError unless every value that is possible where the step can run is in the variable's range."""
        new = as_expr(value, var.sort)
        if new.lo < var.lo or new.hi > var.hi:
            if any(c.is_const and not c.value for c in self.path):
                return
            lo, hi = range_where(new, (self.guard, *self.constraints.values(), *self.path))
            if lo < var.lo or hi > var.hi:
                raise ModelError(
                    f"`{var.name}` holds {var.lo}..{var.hi}, but the assigned value can be "
                    f"{lo}..{hi}: widen the variable, `require` first that it cannot, or use `clamp`"
                )
            new = clamp(new, var.lo, var.hi)  # never acts where the step can run
        self.values[var] = new
        self.closed.pop(len(self.path), None)

    def require(self, condition: Value) -> None:
        """The step can run only if the condition holds (on the path taken)."""
        self.guard = all_of((self.guard, implies(all_of(self.path), as_expr(condition, BOOL))))

    def constraint(self, name: str, condition: Value) -> None:
        """Like `require`, for a bound of the scenario: when it stops a step, the verdict names it."""
        bound = implies(all_of(self.path), as_expr(condition, BOOL))
        self.constraints[name] = all_of((self.constraints.get(name, True), bound))

    @contextmanager
    def when(self, condition: Expr) -> Iterator[None]:
        """Run the block where the condition holds, and merge what it assigned."""
        depth = len(self.path)
        before = self.values
        self.values = dict(before)
        self.path = (*self.path, condition)
        try:
            yield
        finally:
            inside, self.values, self.path = self.values, before, self.path[:depth]
        for var, value in inside.items():
            old = before.get(var)
            if old is not value:
                before[var] = select(condition, value, variable(var) if old is None else old)
        self.closed = {d: c for d, c in self.closed.items() if d <= depth}


_active: list[StepTrace] = []


def active() -> StepTrace:
    """The trace in progress; ModelError outside one."""
    if not _active:
        raise ModelError("the state of a model can be read and written only while it is traced")
    return _active[-1]


@contextmanager
def tracing(trace: StepTrace) -> Iterator[StepTrace]:
    """Make `trace` the one that reads and writes go to."""
    _active.append(trace)
    try:
        yield trace
    finally:
        _active.pop()


def require(condition: Value) -> None:
    """The step being traced can run only in states where the condition holds."""
    active().require(condition)


def constraint(name: str, condition: Value) -> None:
    """A bound of the scenario: the step cannot run beyond it, and a verdict says that it was hit."""
    active().constraint(name, condition)


@contextmanager
def when(condition: Value) -> Iterator[None]:
    """`with when(c):` does what the block says in the states where `c` holds."""
    trace, c = active(), as_expr(condition, BOOL)
    depth = len(trace.path)
    with trace.when(c):
        yield
    trace.closed[depth] = negate(c)


@contextmanager
def where(condition: Expr) -> Iterator[None]:
    """`when` for the language's own writes: an `otherwise` never refers to one."""
    trace = active()
    depth = len(trace.path)
    with trace.when(condition):
        yield
    trace.closed.pop(depth, None)


def current_path() -> tuple[Expr, ...]:
    """The conditions of the `when` blocks around this point; none outside a trace."""
    return _active[-1].path if _active else ()


@contextmanager
def otherwise(condition: Value = True) -> Iterator[None]:
    """After `when` at the same level: the states where it did not hold (and `condition` does)."""
    trace = active()
    depth = len(trace.path)
    if depth not in trace.closed:
        raise ModelError("`otherwise` must directly follow a `when` block at the same level")
    rest = trace.closed[depth]
    c = as_expr(condition, BOOL)
    with trace.when(all_of((rest, c))):
        yield
    trace.closed[depth] = all_of((rest, negate(c)))


def before(read: Callable[[], T]) -> T:
    """What `read` gives in the state before the step (for observers, which run at its end)."""
    outer, inner = active(), StepTrace()
    with tracing(inner):
        result = read()
    outer.reads |= inner.reads
    return result


__all__ = [
    "StepTrace",
    "active",
    "any_of",
    "before",
    "constraint",
    "current_path",
    "otherwise",
    "require",
    "tracing",
    "when",
    "where",
]  # fmt: skip
