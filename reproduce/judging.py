"""The verdict on what the real scheduler did.

REPRODUCED says all of this: every step was forced; nothing that can be seen differs, before the first step and after each; and the property is violated by
the model's state with every visible variable overwritten by its real value. So nothing is called reproduced which the real state does not
show. Of a run that goes on for ever, the steps that repeat were executed and led back to the same real state; of a pod that is stuck, fake time
showed that it is not bound before the periodic flush.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from ..analysis.ask.asked_property import ID as ASK
from ..analysis.request.plan import Run
from ..analysis.stored.replayed import Replayed
from ..base.structs import Data
from ..checker.core.interpreter import Interpreter
from ..checker.core.trace import LassoTrace, plain_value
from ..checker.trace.lasso import case_of
from ..model.language import Expr, State, TransitionSystem, variables_of
from ..properties import Property, instrument
from ..reports.reproduction import (
    FLUSH_SECONDS,
    Differing,
    RealStep,
    Reproduction,
    ReproductionWord,
    seconds_in_words,
)
from ..reports.step import Value
from .case import Case, codes_of, typed, variables_of_model
from .outcome import Outcome
from .timing.timing import NO_WAITS, Timing

BOOKKEEPING = ("faults.", "users.")
"""Parts of the model that nothing real stands for: what may still go wrong, and what users have done."""


SOON = 60
"""In how many seconds whatever helps a pod, other than the flush, has bound it."""


class Verdict(Data):
    """A verdict with the number of the step that it is about, and what it rests on."""

    word: ReproductionWord
    at: int | None
    words: str


class RealRun(Data, slots=False):
    """A run of the model, and what the real scheduler did of it, with the timing that it was given."""

    found: Replayed
    case: Case
    outcome: Outcome
    timing: Timing = NO_WAITS

    @property
    def run(self) -> Run:
        """What was asked."""
        return self.found.run

    @property
    def system(self) -> TransitionSystem:
        """The system that the run is one of."""
        return self.found.system

    @cached_property
    def differing(self) -> list[tuple[Differing, ...]]:
        """After each step that was forced, what differs."""
        return [
            tuple(d for d in step.differs if not self.timing.may_be_ahead(number, d))
            for number, step in enumerate(self.outcome.forced)
        ]

    @cached_property
    def real_states(self) -> list[dict[str, Value]]:
        """All that was seen, before the first step and after each that was forced."""
        states = [dict(self.outcome.initial)]
        for step in self.outcome.forced:
            states.append({**states[-1], **step.real})
        return states

    @property
    def is_whole(self) -> bool:
        """Whether every step was forced."""
        return len(self.outcome.forced) == len(self.case.steps)

    def overlaid(self, number: int) -> State | None:
        """The model's state after so many steps with what was really seen; None if that has no place in the model."""
        state = list(self.found.trace.states[number])
        for i, variable in enumerate(self.system.variables):
            if variable.name in self.real_states[number]:
                code = codes_of(self.system.universe, variable).get(
                    typed(self.real_states[number][variable.name])
                )
                if code is None:
                    return None
                state[i] = code
        return tuple(state)

    @cached_property
    def violated(self) -> bool | None:
        """Whether the property is violated on the real state; None if that cannot be said."""
        name, trace = self.run.property, self.found.trace
        if not self.is_whole:
            return None
        if isinstance(trace, LassoTrace):
            return self._goes_on(trace)
        last = self.overlaid(len(self.case.steps))
        if last is None:
            return None
        if name in self.system.invariants:
            return not Interpreter(self.system).holds(self.system.invariants[name], last)
        # No way back: what fair steps can lead to was searched from the model's own state.
        return True if last == trace.states[-1] else None

    def _goes_on(self, trace: LassoTrace) -> bool | None:
        """Whether the run can go on as it does, for ever, in violation of a liveness.

        What can be seen at both ends of the cycle must be the same there. What is seen at the later end only, such as the order of NodeInfos that had not changed
        at the other, is held to the model after each step, and so is the same as at the turn of the model.
        """
        turn, end = self.real_states[trace.turn], self.real_states[-1]
        if trace.cycle and any(turn[name] != end[name] for name in turn.keys() & end.keys()):
            return False
        around = [self.overlaid(number) for number in range(trace.turn, len(trace.steps) + 1)]
        states = [state for state in around if state is not None]
        if len(states) < len(around):
            return None
        interpreter, case = Interpreter(self.system), case_of(self.system, self.run.property, trace.case)
        lasting = all(interpreter.holds(case.persistent, state) for state in states)
        return lasting and all(any(interpreter.holds(e, state) for state in states) for e in case.recurrent)

    @property
    def end(self) -> bool | None:
        """Whether a run that was executed to its end violates the property, pods that were bound early being no violation; None if that is not known.

        What the property reads and cannot be seen is as in the model, whose steps were all executed. That is not known of a run
        that differs in something else that the property reads.
        """
        if self.violated is None:
            return None
        if self.violated and self.unseen and self.verdict().word != "REPRODUCED" and self._reads_differing:
            return None
        return self.violated and not self._helped_early()

    @property
    def _reads_differing(self) -> bool:
        """Whether something that the property reads has differed on the way."""
        differing = {d.variable for found in self.differing for d in found}
        return bool(differing & set(_read_by(self.run, self.system)))

    @property
    def unseen(self) -> tuple[str, ...]:
        """What the property reads and cannot be seen."""
        seen = self.real_states[-1]
        own = variables_of_model(self.system)
        return tuple(
            name
            for name in _read_by(self.run, self.system)
            if name in own and name not in seen and not name.startswith(BOOKKEEPING)
        )

    @property
    def waiting(self) -> list[str]:
        """The pods that are parked in the end and not bound."""
        return [
            pod.name
            for pod in self.run.scenario.spec.pods
            if self._last.get(f"queue.sub_queue[{pod.name}]") == "UNSCHEDULABLE"
        ]

    @cached_property
    def _last(self) -> dict[str, Value]:
        """The model's state in the end."""
        values = self.system.describe(self.found.trace.states[-1])
        return {name: plain_value(value) for name, value in values.items()}

    def verdict(self) -> Verdict:
        """What the real scheduler made of the run."""
        outcome = self.outcome
        if outcome.verdict in ("NOT THERE", "CRASHED"):
            word: ReproductionWord = "NOT THERE" if outcome.verdict == "NOT THERE" else "CRASHED"
            return Verdict(word, outcome.at, outcome.why or "the driver does not say why")
        if outcome.start:
            return Verdict("DIFFERS", 0, f"before the first step {outcome.start[0].words}")
        first = next((number for number, found in enumerate(self.differing, 1) if found), None)
        if first is not None:
            more = len(self.differing[first - 1]) - 1
            rest = f", and {more} more" if more else ""
            return Verdict("DIFFERS", first, self.differing[first - 1][0].words + rest + self._all_the_same())
        if not self.is_whole:
            at = outcome.at or len(outcome.forced) + 1
            return Verdict("CANNOT BE FORCED", at, outcome.why or "the driver does not say where it is held")
        return self._of_whole()

    def _all_the_same(self) -> str:
        if self.outcome.verdict == "CANNOT BE FORCED":
            return f"; then step {self.outcome.at} cannot be forced: {self.outcome.why}"
        if self.violated:
            return f"; all the same, the real state violates {self.run.property} in the end"
        return ""

    def _of_whole(self) -> Verdict:
        name, steps = self.run.property, len(self.case.steps)
        if self.violated is None:
            return Verdict("DIFFERS", steps, "the real state has no place in the model")
        if not self.violated:
            why = f"every step was forced, and the real state does not violate {name}"
            return Verdict("DIFFERS", steps, why)
        helped = self._helped_early()
        if helped:
            return Verdict("DIFFERS", steps, helped)
        ends = "is the one that was asked for" if name == ASK else f"violates {name}"
        said = f"All {steps} steps were forced, and the real state {ends}"
        if isinstance(self.found.trace, LassoTrace) and self.found.trace.cycle:
            said += f"; steps {self.found.trace.turn + 1} to {steps} lead back to the same real state"
        return Verdict("REPRODUCED", None, f"{said}.")

    def _helped_early(self) -> str:
        """That pods which are stuck in the model were bound without the flush."""
        if self.run.prop.kind not in ("deadlock freedom", "liveness") or self.outcome.epilogue is None:
            return ""
        if self.case.loop_from is not None or not self.waiting:
            return ""
        bound = self.outcome.bound_after
        early = [pod for pod in self.waiting if pod in bound and not self._is_flushed(pod)]
        if len(early) < len(self.waiting):
            return ""
        times = ", ".join(f"{pod} after {seconds_in_words(bound[pod])}" for pod in early)
        return f"in the model nobody helps but the flush, and here were bound: {times}"

    def _is_flushed(self, pod: str) -> bool:
        """Whether the flush has bound a pod after the run. It comes the earlier, the longer the pod has been parked; nothing follows where it comes so soon that anybody else may have helped."""
        due = self.timing.flushed.get(pod, FLUSH_SECONDS)
        return self.outcome.bound_after[pod] >= (due if due > SOON else FLUSH_SECONDS)

    def consequence(self) -> tuple[str, ...]:
        """What followed for the pods that were not bound in the end."""
        if self.outcome.epilogue is None:
            return ()
        bound, lines = self.outcome.bound_after, []
        ways = {seconds_in_words(_seconds(when)): places for when, places in self.outcome.moments.items()}
        pods = [*self.waiting, *bound, *(pod for places in ways.values() for pod in places)]
        for pod in dict.fromkeys(pods):
            if self._last.get(f"api.pod[{pod}].node") is not None:
                continue
            way = _way([(when, places.get(pod)) for when, places in ways.items()])
            if pod in bound:
                how = " (by the periodic flush)" if self._is_flushed(pod) else ""
                lines.append(f"{pod} is bound after {seconds_in_words(bound[pod])}{how}{way}.")
            elif way:
                last = list(ways)[-1]
                lines.append(f"{pod} is not bound within {last}{way}.")
        return tuple(lines)


def _seconds(text: str) -> float:
    """The number of seconds that the driver writes as `660s`."""
    return float(text.removesuffix("s"))


def _way(moments: Sequence[tuple[str, str | None]]) -> str:
    """For example `: UNSCHEDULABLE after 10 s, ACTIVE after 5 min`; each place where a pod is first seen."""
    told: list[str] = []
    before = None
    for when, place in moments:
        if place is not None and place != before:
            told.append(f"{place} after {when}")
            before = place
    return f": {', '.join(told)}" if told else ""


def _read_by(run: Run, system: TransitionSystem) -> list[str]:
    """The variables that the property itself reads: not what tells whether anybody can still move."""
    if run.prop.kind == "deadlock freedom":
        predicates: list[Expr] = [_alone(run)]
    elif run.property in system.invariants:
        predicates = [system.invariants[run.property]]
    elif run.property in system.resettabilities:
        predicates = [system.resettabilities[run.property]]
    else:
        predicates = [e for case in system.livenesses[run.property] for e in case.predicates]
    return sorted({v.name for v in variables_of(predicates)})


def _alone(run: Run) -> Expr:
    kind: Any = type(run.prop)
    body = {"kind": "invariant", "__module__": run.prop.__module__, "__doc__": run.prop.__doc__}
    alone: type[Property] = kind(run.prop.__name__, (run.prop,), body)
    system = instrument(run.scenario.spec, run.composition.classes, [alone])
    return system.invariants[run.property]


def reproduction_of(
    found: Replayed, case: Case, outcome: Outcome, about: Mapping[str, Any], timing: Timing = NO_WAITS
) -> Reproduction:
    """The document about one counterexample that was run; `about` are the fields that do not come of the run."""
    real = RealRun(found, case, outcome, timing)
    verdict = real.verdict()
    seen = outcome.verdict not in ("NOT THERE",)
    return Reproduction(
        **about,
        verdict=verdict.word,
        at=verdict.at,
        words=verdict.words,
        steps=steps_of(real),
        initial=outcome.start,
        loop_from=None if case.loop_from is None else case.loop_from + 1,
        violated=real.violated,
        unseen=real.unseen if seen and real.is_whole else (),
        consequence=real.consequence(),
        bound_after=outcome.bound_after,
        log=outcome.log,
    )


def steps_of(real: RealRun) -> tuple[RealStep, ...]:
    """The steps of the model beside what was seen of each."""
    shown = []
    for number, step in enumerate(real.found.steps):
        wait = real.case.steps[number].wait_ms
        if number < len(real.outcome.forced):
            done = real.outcome.forced[number]
            shown.append(RealStep(step, True, wait, done.points, done.real, real.differing[number]))
        else:
            shown.append(RealStep(step, False, wait))
    return tuple(shown)
