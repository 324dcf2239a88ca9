"""Free runs of the real scheduler, checked for being behaviours of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..checker.core.trace import plain_value
from ..checker.explicit.states.expander import Native
from ..checker.trace.validation import Answer, Bounds, Explanation, Observation, Search
from ..model.history import resolve
from ..model.history.versions import canonical
from ..model.language import TransitionSystem, Variable
from ..properties import instrument
from ..reports.step import Value
from ..scenarios import Scenario
from .not_compared import hidden
from .possible_steps import PossibleSteps
from .records import Record, Turn

BOUNDS = Bounds(steps=40, states=30_000)
"""Between two turns: where nobody is held, whole cycles can pass."""

NOWHERE = -(1 << 62)
"""The code of a real value that the model's variable cannot have."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found out about one record. `observations` are those that its turns became."""

    record: Record
    explanation: Explanation

    @property
    def explained(self) -> bool:
        """Whether the record is a behaviour of the model."""
        return self.explanation.answer is Answer.EXPLAINED


class Validator:
    """Explains records of one cluster on one version."""

    def __init__(self, scenario: Scenario, release: str, bounds: Bounds = BOUNDS) -> None:
        self.scenario, self.release, self.bounds = scenario, release, bounds
        self.system: TransitionSystem = instrument(scenario.spec, resolve(canonical(release)).classes, [])
        self.possible = PossibleSteps(self.system)
        self._variables = {variable.name: variable for variable in self.system.variables}

    @cached_property
    def search(self) -> Search[bytes]:
        """The search, compiled once."""
        return Search(self.system, Native(self.system), self.bounds, beyond=False)

    def judge(self, record: Record) -> Judged:
        """Look for a run of the model that explains a record."""
        return Judged(record, self.search.explain(list(self.observations(record))))

    def observations(self, record: Record) -> Iterator[Observation]:
        """What each turn says to the search; the first is the state at the start."""
        seen: dict[str, Value] = {}
        for number, turn in enumerate(record.turns):
            seen.update(turn.seen)
            for name in turn.lost:
                del seen[name]
            codes = {name: self._code(name, value) for name, value in self._compared(seen, turn).items()}
            if number == 0:
                yield Observation(codes, frozenset(), 0)
            else:
                yield Observation(codes, self.possible.of(turn))

    def _compared(self, seen: Mapping[str, Value], turn: Turn) -> dict[str, Value]:
        """The variables whose values can be compared where everybody stands after a turn."""
        ahead = hidden(turn)
        return {
            name: value
            for name, value in seen.items()
            if name in self._variables and not name.startswith(ahead)
        }

    def _code(self, name: str, value: Value) -> int:
        return self._codes(self._variables[name]).get(value, NOWHERE)

    def _codes(self, variable: Variable) -> Mapping[Value, int]:
        known = self._tables.get(variable)
        if known is None:
            decode = self.system.universe.decode
            known = {plain_value(decode(variable.sort, c)): c for c in range(variable.lo, variable.hi + 1)}
            self._tables[variable] = known
        return known

    @cached_property
    def _tables(self) -> dict[Variable, Mapping[Value, int]]:
        return {}
