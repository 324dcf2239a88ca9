"""Free runs of the real scheduler, checked for being behaviours of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from podrace.checker.core.trace import plain_value
from podrace.checker.explicit.states.expander import Native
from podrace.checker.trace.validation import Answer, Bounds, Explanation, Observation, Search
from podrace.reports.step import Value
from podrace.reproduce.random_runs.random_runs import Model
from tests.tools.recorded.compared import Compared, OddValue
from tests.tools.recorded.possible_steps import PossibleSteps
from tests.tools.recorded.records import Record

BOUNDS = Bounds(steps=40, states=30_000)
"""Between two turns: where nobody is held, whole cycles can pass."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found out about one record. `odd`: a value that no state of the model has, in the turn after those that are explained."""

    record: Record
    explanation: Explanation
    odd: str | None = None

    @property
    def explained(self) -> bool:
        """Whether the record is a behaviour of the model."""
        return self.explanation.answer is Answer.EXPLAINED and self.odd is None


class Validator:
    """Explains records of one cluster on one version."""

    def __init__(self, model: Model, bounds: Bounds = BOUNDS) -> None:
        self.system, self.bounds = model.system, bounds
        self.possible = PossibleSteps(self.system)
        decode = self.system.universe.decode
        self.codes: dict[str, dict[Value, int]] = {
            v.name: {plain_value(decode(v.sort, code)): code for code in range(v.lo, v.hi + 1)}
            for v in self.system.variables
        }

    @cached_property
    def search(self) -> Search[bytes]:
        """The search, compiled once."""
        return Search(self.system, Native(self.system), self.bounds)

    def judge(self, record: Record) -> Judged:
        """Look for a run of the model that explains a record."""
        observations, odd = list[Observation](), None
        try:
            observations.extend(self.observations(record))
        except OddValue as value:
            odd = str(value)
        return Judged(record, self.search.explain(observations), odd)

    def observations(self, record: Record) -> Iterator[Observation]:
        """What each turn says to the search; the first is the state at the start. Raises OddValue after those before it."""
        seen: dict[str, Value] = {}
        values = {name: tuple(codes) for name, codes in self.codes.items()}
        compared = Compared(values)
        for number, turn in enumerate(record.turns):
            seen.update(turn.seen)
            for name in turn.lost:
                del seen[name]
            codes = self._codes(compared.after(turn, seen))
            if number == 0:
                yield Observation(codes, frozenset(), 0)
            else:
                yield Observation(codes, self.possible.of(turn))

    def _codes(self, values: Mapping[str, tuple[Value, ...]]) -> dict[str, int | frozenset[int]]:
        found: dict[str, int | frozenset[int]] = {}
        for name, several in values.items():
            own = [self.codes[name][value] for value in several]
            found[name] = own[0] if len(own) == 1 else frozenset(own)
        return found
