"""Searches of several slices with one code: slices with the same transitions, which differ in some variables and in what they ask.

To compile a system takes longer than most searches of it. So the slices are laid into one system with one more variable for each, which nothing
changes: it says whether that slice is meant. A variable that not all slices have keeps its initial value where none that has it is meant. The states in which one
slice is meant are then the states of that slice, with the same transitions, and are found in the same order.

One search asks for all of them, as most differ in what they remember of the run, and few remember what cannot be seen in the state. It ends where one is violated: the search of that
one alone would have ended there, too. What was found is the answer of a slice whose variables tell all those states apart: its own search finds the same ones in the same order. Any other is searched by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ...model.language import (
    BOOL,
    Expr,
    Transition,
    TransitionSystem,
    Variable,
    all_of,
    any_of,
    negate,
    select,
)
from ...model.language.expressions.expr import fresh_graph, variable
from ..codegen.program import Program, generate
from ..core.exploration import Budget, Exploration, Watcher
from ..core.interpreter import Interpreter
from ..llvm.machine_code import MachineCode, compile_system
from ..reduction.slicing import key_of
from .engine import Search
from .states.budget import SearchBudget
from .states.workers import Workers

MOST_STATES = 1_000_000
"""A larger search is done in code of its own: that computes nothing for others, and its states may be shorter."""

_ASKED = "what is asked"
_WORD, _ODD = 2**64 - 1, np.uint64(0x9E3779B97F4A7C15)

Question = tuple[object, ...]


class SharedCode:
    """Slices of one system, each of invariants without scales of time, and the code of those that can share it."""

    def __init__(self, slices: Sequence[TransitionSystem]) -> None:
        self._slices = slices

    def explore(
        self, system: TransitionSystem, budget: Budget, progress: Watcher | None
    ) -> Exploration | None:
        """What the native engine gives for one of the slices; None for another system, for one that shares nothing, and for a large search."""
        group = self._groups.get(_question(system))
        return None if group is None else group.explore(system, budget, progress)

    @cached_property
    def _groups(self) -> Mapping[Question, _Group]:
        """Those that share code, by the question of each slice that does."""
        kinds: dict[object, list[TransitionSystem]] = {}
        for one in self._slices:
            kinds.setdefault(_kind_of(one), []).append(one)
        groups = [_Group(alike) for alike in kinds.values() if len(alike) > 1]
        return {key: group for group in groups for key in group.numbers}


def _question(system: TransitionSystem) -> Question:
    """What tells the slices of one system apart, and from other questions about them; the same for a slice that was made once more."""
    tables = (system.invariants, system.witnesses, system.resettabilities, system.livenesses)
    return (
        tuple(tuple(table) for table in tables),
        tuple((v.name, v.lo, v.hi, v.initial) for v in system.variables),
        tuple(
            (key_of(t), tuple(name for name, _ in t.constraints), frozenset(v.name for v in t.updates))
            for t in system.transitions
        ),
    )


def _kind_of(system: TransitionSystem) -> object:
    """The transitions but for what they change: slices that have the same share code."""
    return tuple(
        (key_of(t), id(t.guard), tuple((name, id(e)) for name, e in t.constraints))
        for t in system.transitions
    )


class _Group:
    """Slices of one kind as one system, which is compiled for the first search."""

    def __init__(self, slices: Sequence[TransitionSystem]) -> None:
        self._slices, self._are_large = slices, False
        self.numbers = {_question(one): number for number, one in enumerate(slices)}
        self._asked = [Variable(f"asked[{number}]", BOOL, 0, 1, 0) for number in range(len(slices))]
        self._together = [*range(len(slices))]
        self._answers: dict[tuple[int, Budget], Exploration] = {}
        self._has: dict[Variable, set[int]] = {}
        for number, one in enumerate(slices):
            for v in one.variables:
                self._has.setdefault(v, set()).add(number)

    @cached_property
    def _system(self) -> TransitionSystem:
        return self._joined()

    @cached_property
    def _program(self) -> Program:
        return generate(self._system)

    @cached_property
    def _code(self) -> MachineCode:
        return compile_system(self._program.ir, soon=True)

    def explore(
        self, system: TransitionSystem, budget: Budget, progress: Watcher | None
    ) -> Exploration | None:
        """One of the slices, unless it has too many states for this."""
        number = self.numbers[_question(system)]
        while not self._are_large and (number, budget) not in self._answers:
            asked = [other for other in self._together if (other, budget) not in self._answers]
            if number not in asked or budget.timeout is not None:
                asked = [number]
            search, found = self._searched(asked, budget, progress)
            if found.stopped == "timeout":
                return self._answer(found, system)
            if not found.complete and found.stopped != "answered":
                self._are_large = True  # the others have about as many
                return None
            found = replace(found, seconds=found.seconds / len(asked))
            alone = len(asked) == 1
            apart = [other for other in asked if alone or self._tells_apart(other, search)]
            done = [other for other in apart if alone or found.complete or self._is_violated(other, found)]
            self._answers |= {(other, budget): found for other in done}
            if not alone:
                self._together = apart if done else []
        answer = self._answers.get((number, budget))
        return answer and self._answer(answer, system)

    def _searched(
        self, asked: Sequence[int], budget: Budget, progress: Watcher | None
    ) -> tuple[Search, Exploration]:
        """What these slices come to, until one of them is violated."""
        most = min(budget.max_states or MOST_STATES, MOST_STATES)
        bound = SearchBudget(replace(budget, max_states=most), progress)  # the time begins before compiling
        given = {self._asked[number]: 1 for number in asked}
        initial = tuple(given.get(v, v.initial) for v in self._program.system.variables)
        with Workers(budget.jobs) as workers:
            search = Search(self._program, bound, workers, code=self._code, initial=initial)
            return search, search.run()

    def _tells_apart(self, number: int, search: Search) -> bool:
        """Whether no two states that were found are the same to a slice. That it does not tell them apart may be said wrongly, by chance."""
        fields, count = self._program.layout.fields, search.state.states
        unseen = [v for v, has in self._has.items() if number not in has]
        if not unseen:
            return True
        if search.store is None:
            return False
        size = self._program.layout.words
        words = search.store.states[: count * size].reshape(count, size)
        found = np.zeros(count, np.uint64)
        for word in range(size):
            mask = sum(fields[v].mask for v in unseen if fields[v].word == word)
            found = found * _ODD + (words[:, word] & np.uint64(_WORD ^ mask))
        found.sort()
        return bool((found[1:] != found[:-1]).all())

    def _is_violated(self, number: int, found: Exploration) -> bool:
        """Whether it is this slice that was violated where the search ended."""
        one = self._slices[number]
        interpreter, state = Interpreter(one), one.initial
        for path in found.violations.values():
            for transition in path:
                state = interpreter.successor(state, transition)
            return not all(interpreter.holds(e, state) for e in one.invariants.values())
        return False

    def _answer(self, found: Exploration, system: TransitionSystem) -> Exploration:
        """What was found, in the words of one slice."""
        return replace(
            found,
            violations=dict(zip(system.invariants, found.violations.values(), strict=False)),
            witnesses={name: path for name, path in found.witnesses.items() if name in system.witnesses},
        )

    def _joined(self) -> TransitionSystem:
        with fresh_graph():
            asked = [*map(variable, self._asked)]
            witnesses: dict[str, list[Expr]] = {}
            for here, one in zip(asked, self._slices, strict=True):
                for name, seen in one.witnesses.items():
                    witnesses.setdefault(name, []).append(here & seen)
            alike = zip(*(one.transitions for one in self._slices), strict=True)
            return replace(
                self._slices[0],
                variables=(*self._asked, *self._has),
                transitions=tuple(self._laid(asked, members) for members in alike),
                invariants={
                    _ASKED: all_of(
                        negate(here) | e
                        for here, one in zip(asked, self._slices, strict=True)
                        for e in one.invariants.values()
                    )
                },
                witnesses={name: any_of(seen) for name, seen in witnesses.items()},
            )

    def _laid(self, asked: Sequence[Expr], members: Sequence[Transition]) -> Transition:
        """A transition with the updates of all slices, each for those that have its variable."""
        updates = {v: e for member in members for v, e in member.updates.items()}
        if any(updates[v] is not e for member in members for v, e in member.updates.items()):
            raise ValueError("these are not slices of one system")
        return replace(
            members[0],
            updates={
                v: e
                if len(self._has[v]) == len(members)
                else select(any_of(asked[number] for number in self._has[v]), e, variable(v))
                for v, e in updates.items()
            },
        )
