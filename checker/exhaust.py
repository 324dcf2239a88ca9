"""One property of a system with unknown parameters: every choice of them is searched to the end, all in one search."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from ..base.structs import Data
from ..model.language import Parameter, TransitionSystem
from .core.exploration import Budget, Exploration, Lasso, Watcher
from .core.result import EngineDisagreement, Verdict
from .core.trace import LassoTrace, Trace
from .family.outcome import CellOutcome, FamilyOutcome, FirstReached
from .family.search import FamilySearch, Part
from .parametric.explorer import Explorer
from .parametric.parameters import with_parameters
from .parametric.parametric_system import ParametricSystem
from .parametric.regions import smallest
from .reduction.conclusion import disagreement, times_fired, verdict_of
from .reduction.questions import kind_of
from .trace.execution import ReplayError, confirm
from .trace.lasso import confirm_lasso


class Searched(Data):
    """What came out for the choices of a cell; `trace` is a counterexample of its example, executed by the interpreter."""

    cell: CellOutcome
    verdict: Verdict
    trace: Trace | None


class Exhausted(Data, slots=False):
    """What came out for each cell, and what any choice reached.

    `stopped` names the budgets that ran out. `states` is how many states differ. `fired` says how often each step (`part.step`) could be taken, `witnesses`
    where each was reached first: no run to them has been executed. `parametric` has scales of time only if they were used.
    """

    parametric: ParametricSystem
    slice: TransitionSystem
    cells: tuple[Searched, ...]
    states: int
    stopped: frozenset[str]
    fired: Mapping[str, int]
    constraints_hit: frozenset[str]
    witnesses: Mapping[str, FirstReached]

    def smallest(self, one: Searched) -> Mapping[Parameter, int]:
        """The least member of a cell: that with the least sum, of these the first in the order of parameters."""
        answers, assumed = one.cell.answers, self.parametric.assumptions
        return smallest(self.parametric.parameters, list(answers), assumed, list(answers.values()))

    def count(self, verdict: Verdict | None = None) -> int:
        """How many cells have this verdict; without one, how many there are."""
        return sum(verdict in (None, one.verdict) for one in self.cells)


def runs_to_witnesses(
    parametric: ParametricSystem, property_id: str, reached: Mapping[str, FirstReached], budget: Budget
) -> dict[str, int]:
    """The length of a shortest run to each witness, executed by the interpreter in a member that takes it, and searched for in that alone.

    What the budget is too small for counts as not reached. Raises EngineDisagreement.
    """
    if not reached:
        return {}
    ranges = {
        q: (min(values), max(values))
        for q in parametric.parameters
        for values in ([first.example[q] for first in reached.values()],)
    }
    explorer, lengths = Explorer(parametric, property_id, ranges), dict[str, int]()
    for name, first in reached.items():
        answer = explorer.explore(first.example, budget)
        if name not in answer.witnesses and not answer.complete and not answer.violations:
            continue
        claim = f"all clusters together reach `{name}` after {first.depth} steps"
        if name not in answer.witnesses or len(answer.witnesses[name]) != first.depth:
            raise EngineDisagreement(f"{claim}, but one by itself does not")
        with disagreement(claim):
            lengths[name] = explorer.confirm_witness(answer, name, first.example)
    return lengths


def exhaust(
    parametric: ParametricSystem,
    property_id: str,
    budget: Budget,
    *,
    part: Part = (),
    ahead: bool = False,
    progress: Watcher | None = None,
) -> Exhausted:
    """Search every choice of a part. Counterexamples have the budget without its bound of states; `ahead` is as of `FamilySearch`.

    Raises EngineDisagreement, and what `FamilySearch` raises.
    """
    ends = None if budget.timeout is None else time.monotonic() + budget.timeout
    parametric, sliced, found = _searched(parametric, property_id, budget, part, ahead, progress)
    searches = _Alone(parametric, property_id, found, budget, ends)
    if kind_of(parametric.system, property_id) == "resettability":
        cells = tuple(map(searches.resettable, found.cells))
    else:
        traces = searches.counterexamples()
        cells = tuple(
            Searched(
                cell,
                verdict_of(found.stopped is None and cell.violated is None, number in traces),
                traces.get(number),
            )
            for number, cell in enumerate(found.cells)
        )
    return Exhausted(
        parametric,
        sliced,
        cells,
        found.states,
        frozenset(reason for reason in (found.stopped, *searches.stopped) if reason is not None),
        times_fired(sliced, found.fired),
        found.constraints_hit,
        found.witnesses,
    )


def _searched(
    parametric: ParametricSystem,
    property_id: str,
    budget: Budget,
    part: Part,
    ahead: bool,
    progress: Watcher | None,
) -> tuple[ParametricSystem, TransitionSystem, FamilyOutcome]:
    """What was found about the choices, with the slice that was explored, and the system that it is a slice of.

    That has scales of time if it asks for them, unless a timer can wait for ever with some choice while work goes on.
    """
    search = FamilySearch(parametric, property_id, part=part, ahead=ahead)
    found, sliced = search.run(budget, progress), search.explored
    if found.endless:
        anytime = replace(parametric.system, scales=False)
        parametric = replace(parametric, system=anytime, assumptions=search.assumed)
        del search  # and its memory
        search = FamilySearch(parametric, property_id, ahead=ahead)
        found, sliced = search.run(budget, progress), search.explored
    return parametric, sliced, found


class _Alone:
    """Searches for members of cells by themselves. `stopped` are the budgets that they ran out of."""

    def __init__(
        self,
        parametric: ParametricSystem,
        property_id: str,
        found: FamilyOutcome,
        budget: Budget,
        ends: float | None,
    ) -> None:
        self.parametric, self.property, self.found = parametric, property_id, found
        self.budget, self._ends = budget, ends
        self.stopped: set[str | None] = set()

    @cached_property
    def _explorer(self) -> Explorer:
        cells = [cell for cell in self.found.cells if cell.violated is not None] or self.found.cells
        examples = [cell.example for cell in cells]
        ranges = {
            q: (min(e[q] for e in examples), max(e[q] for e in examples)) for q in self.parametric.parameters
        }
        return Explorer(self.parametric, self.property, ranges)

    def _explored(self, cell: CellOutcome, max_states: int | None) -> tuple[Exploration, Trace | None]:
        left = None if self._ends is None else max(0.0, self._ends - time.monotonic())
        answer = self._explorer.explore(
            cell.example, replace(self.budget, max_states=max_states, timeout=left)
        )
        return answer, self._explorer.confirm(answer, cell.example)

    def resettable(self, cell: CellOutcome) -> Searched:
        """What a search for a member alone says: in all states of a cell, its members have the same ways on."""
        if self.found.stopped is not None:
            return Searched(cell, Verdict.INCONCLUSIVE, None)
        answer, trace = self._explored(cell, self.budget.max_states)
        if trace is None and not answer.complete:
            self.stopped.add(answer.stopped)
        elif answer.complete and answer.states != cell.states:
            raise EngineDisagreement(
                f"all clusters together reach {cell.states} states of {cell.example}, and one by itself {answer.states}"
            )
        return Searched(cell, verdict_of(answer.complete, trace is not None), trace)

    def counterexamples(self) -> dict[int, Trace]:
        """A counterexample for each violating cell, of an invariant a shortest: one is searched alone, and what it finds is executed in the others.

        Where that is no counterexample, or of an invariant not of the length that the family's search claims, the cell is searched alone. A cell whose own
        search runs out of the budget has none.
        """
        waiting = {number: cell for number, cell in enumerate(self.found.cells) if cell.violated is not None}
        traces: dict[int, Trace] = {}
        while waiting:
            number, cell = next(iter(waiting.items()))
            answer, trace = self._explored(cell, None)
            if trace is None and not answer.complete:
                self.stopped.add(answer.stopped)
                del waiting[number]
                continue
            lasso = isinstance(trace, LassoTrace)
            if not isinstance(trace, Trace) or not (lasso or len(trace.steps) == cell.violated):
                raise EngineDisagreement(
                    f"all clusters together break {self.property} after {cell.violated} steps, but one by itself does not"
                )
            for other, its in list(waiting.items()):
                if lasso or its.violated == cell.violated:
                    try:
                        if not lasso:
                            self._explorer.confirm_time(answer.violations[self.property], its.example)
                        traces[other] = self._executed(trace, its)
                    except ReplayError:
                        continue
                    del waiting[other]
            if number in waiting:
                raise EngineDisagreement(
                    f"the counterexample of {cell.example} is confirmed once, and not again"
                )
        return traces

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {t.label: number for number, t in enumerate(self.parametric.system.transitions)}

    def _executed(self, trace: Trace, cell: CellOutcome) -> Trace:
        """The run of a trace, of the parameters of another cell. Raises ReplayError if it is no counterexample there."""
        system, values = self.parametric.system, {q.name: value for q, value in cell.example.items()}
        path = tuple(self._numbers[step.label] for step in trace.steps)
        if not isinstance(trace, LassoTrace):
            return confirm(system, path, self.property, values)
        lasso = Lasso(path[: trace.turn], path[trace.turn :], trace.case)
        return confirm_lasso(with_parameters(system, values), lasso, self.property)
