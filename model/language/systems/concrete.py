"""Run a model on concrete data: the very functions that engines explore, folded to constants."""

from collections.abc import Callable, Mapping
from typing import Any

from ..declarations.component import Component, Model
from ..declarations.shapes import declared
from ..declarations.tracer import NeverEnabled, StepTrace, tracing
from ..declarations.views import Record
from ..expressions.errors import ModelError
from ..expressions.expr import Expr, const, fresh_graph
from ..expressions.expr import Variable as Var
from .system import initialise, model_variables


class NotEnabled(Exception):
    """A guard (`require` or `limit`) of the call does not hold in this state; the state is unchanged."""


class _Constants(dict[Var, Expr]):
    """The values of a state, each made when it is read first: a call reads few of them."""

    def __init__(self, codes: Mapping[Var, int]) -> None:
        super().__init__()
        self._codes = codes

    def get(self, var: Var, default: Any = None) -> Any:
        """As of any mapping: the constant, or what was assigned since."""
        found = super().get(var)
        if found is None and var in self._codes:
            found = self[var] = const(var.sort, self._codes[var])
        return default if found is None else found


class Concrete:
    """A model in one concrete state, at first its initial state.

    `do` calls a method or step of the model's parts and keeps what it assigned; `get` reads. Values
    come and go as Python values: bool, int, enum members, entities or None.
    """

    def __init__(self, model: Model) -> None:
        with fresh_graph():
            initialise(model)
        self.model = model
        self._codes = {var: var.initial for var in model_variables(model)}

    def part(self, name: str) -> Component:
        """A part of the model."""
        return self.model.parts[name]

    def _run(self, call: Callable[[], Any], keep: bool) -> Any:
        with fresh_graph():
            trace = StepTrace(stops=True)
            trace.values = _Constants(self._codes)
            try:
                with tracing(trace):
                    result = self._plain(call())
            except NeverEnabled:
                raise NotEnabled from None
            if any(bound.is_const and not bound.value for bound in trace.constraints.values()):
                raise NotEnabled
            if keep:
                self._codes = {var: _code(trace.read(var), var.name) for var in self._codes}
        return result

    def do(self, call: Callable[[], Any]) -> Any:
        """Run `call`, which may assign to the state; gives what it returns. Raises NotEnabled."""
        return self._run(call, keep=True)

    def get(self, call: Callable[[], Any]) -> Any:
        """Evaluate `call` without changing the state."""
        return self._run(call, keep=False)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Expr):
            return self.model.entities.decode(value.sort, _code(value, "the result"))
        if isinstance(value, Record):
            return {name: self._plain(value.read_field(name)) for name in declared(type(value))}
        if isinstance(value, dict):
            return {key: self._plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._plain(item) for item in value)
        return value


def _code(value: Expr, what: str) -> int:
    if not value.is_const:
        raise ModelError(f"{what} is not a constant: {value!r}")
    return int(value.value)
