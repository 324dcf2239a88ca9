"""An observer of a run: how much of a sequence of steps has happened.

The observer is laid over the expressions of a traced system: a few bits of state, which steps of the sequence set. It never
changes what the system can do, but for steps that must never come: they are not taken. So every engine, reduction and report
works on it as on any other system.

Bit i says that the first i steps of the sequence have happened in their order, in such a way that the next one may still follow. A run can match the
sequence in several ways, and where a step must follow directly, or without another step between, a later way may be the only one; so there is a bit for
each beginning, as in the subset construction for finite automata.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...base.structs import Data
from ...model.language import BOOL, Expr, Transition, TransitionSystem, negate
from ...model.language.declarations.narration import Words
from ...model.language.expressions.expr import Variable, all_of, any_of, as_expr, variable
from ...model.language.systems.telling import Address

Events = Mapping[int, Expr]
"""By the number of a transition: in which states before it, it is the step that is meant."""


class Watched(Data):
    """A step of a sequence: what it is, whether it comes directly after the one before, and what must not come between."""

    events: Events
    directly: bool = False
    without: Events | None = None


class Order(Data):
    """What is watched for: steps, what must never come, a state to end in, and what must not come between the last step and that."""

    steps: tuple[Watched, ...]
    never: Events
    end: Expr
    after: Events | None = None


def lay_over(system: TransitionSystem, name: str, wanted: Order) -> TransitionSystem:
    """The system with an observer. The invariant `name` says that the sequence has not happened; the view `name: N` that N of its steps have."""
    observer = Observer(name, wanted)
    transitions = tuple(observer.watching(t, number) for number, t in enumerate(system.transitions))
    said = {
        bit.name: Address(f"{name}.step", (i,), Words("(step {0} of the question)", "", decisive=True))
        for i, bit in enumerate(observer.bits)
        if i
    } | {observer.bits[0].name: Address(f"{name}.step", (0,), Words())}
    narration = replace(system.narration, addresses={**system.narration.addresses, **said})
    return replace(
        system,
        variables=(*system.variables, *observer.variables),
        transitions=transitions,
        invariants={name: negate(all_of((observer.at(len(wanted.steps)), wanted.end)))},
        witnesses={},
        resettabilities={},
        livenesses={},
        views={**system.views, **{f"{name}: {i}": observer.at(i) for i in range(1, len(wanted.steps) + 1)}},
        narration=narration,
    )


class Observer:
    """The bits of one sequence, and how a transition sets them."""

    def __init__(self, name: str, wanted: Order) -> None:
        self.wanted = wanted
        size = len(wanted.steps)
        self.bits = tuple(Variable(f"{name}.step[{i}]", BOOL, 0, 1, int(not i)) for i in range(size + 1))
        # Without a condition on what comes before the first step, nothing ends its beginning.
        self.starts_anywhere = self._kept(0, -1) is True
        self.variables = self.bits[1:] if self.starts_anywhere else self.bits

    def at(self, i: int) -> Expr:
        """Whether the first i steps have happened, and the next may follow."""
        return as_expr(True) if i == 0 and self.starts_anywhere else variable(self.bits[i])

    def watching(self, t: Transition, number: int) -> Transition:
        """The transition with what it does to the bits."""
        updates = dict(t.updates)
        for i, bit in enumerate(self.bits):
            if bit not in self.variables:
                continue
            before = self.wanted.steps[i - 1].events.get(number) if i else None
            kept = self._kept(i, number)
            if before is None and kept is True:
                continue
            goes_on = all_of((self.at(i), kept))
            comes = as_expr(False) if before is None else all_of((self.at(i - 1), before))
            updates[bit] = any_of((comes, goes_on))
        never = self.wanted.never.get(number)
        guard = t.guard if never is None else all_of((t.guard, negate(never)))
        return replace(t, guard=guard, updates=updates)

    def _kept(self, i: int, number: int) -> Expr | bool:
        """Where a transition leaves it possible that step i + 1 follows; for -1, True only if every transition does, everywhere."""
        steps = self.wanted.steps
        directly = i < len(steps) and steps[i].directly
        without = steps[i].without if i < len(steps) else self.wanted.after
        if directly:
            return False
        if not without:
            return True
        if number < 0:
            return False
        ending = without.get(number)
        return True if ending is None else negate(ending)


def conjuncts(condition: Expr) -> Sequence[Expr]:
    """The parts of a condition that must all hold."""
    if condition.op != "and":
        return [] if condition.is_const and condition.value else [condition]
    return [part for arg in condition.args for part in conjuncts(arg)]
