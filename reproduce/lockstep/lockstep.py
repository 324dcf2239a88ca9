"""The model held against the real scheduler, step by step, on random runs.

Each run of the model becomes a case, and the driver executes it and compares the state after each step. What differs first in a run, or cannot be forced,
is its *difference*; differences of one *cause* begin at the same step of the model in the same kinds of variables. Whatever
comes out is an error of the model, of the driver, or of what the driver reads: in the model there is none left when nothing comes out.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from ...base.structs import Data
from ...checker.trace.execution import replay
from ...model.history import Composition
from ...reports.reproduction import Differing
from ..case import Case, case_of_run, in_order_of_start
from ..outcome import Outcome
from ..random_runs.random_runs import Model, RandomRun, Wanted, random_runs
from ..waiting import waiting

Play = Callable[[Sequence[Case]], Mapping[str, Outcome]]
"""Has the real scheduler execute cases: what became of each, by its name."""

AT_ONCE = 50
"""Cases that one process of the driver is given."""

FEW = 2
"""How many kinds of variables a cause names; of more, their parts of the model."""

WITHIN_LOCKS = {
    "scheduler.pop_amid_move": "Pop comes amid a move, which is one call",
    "failure.requeue_too_soon": "Pop comes amid AddUnschedulableIfNotPresent, which is one call",
    "handlers.update_around_pop": "Pop comes amid Update, which is one call",
}
"""Steps that no wrapper can force, and why."""

HELD = frozenset({"scheduler.pop_amid_move", "failure.requeue_too_soon"})
"""Those of them that can be forced where the queue is built so that its callers can be held amid a call."""


class Difference(Data, slots=False):
    """Where a run of the model and the real scheduler part: at step `at`, counted from 1, 0 before the first.

    `decided`: the last answer of a plugin of the user's up to there, which the model does not know.
    """

    run: RandomRun
    at: int
    cause: str
    words: str
    decided: str = ""


def case_for(run: RandomRun, name: str) -> Case:
    """The case of a run, executed by the interpreter."""
    model = run.model
    trace = replay(model.system, run.path)
    case = case_of_run(
        name, "", model.scenario.spec, model.composition, model.system, trace, run.timing.waits
    )
    case = msgspec.structs.replace(in_order_of_start(case), epilogue=False, drops_beyond=True)
    return waiting(case) if run.waits else case


def difference_of(run: RandomRun, outcome: Outcome) -> Difference | None:
    """Where the real scheduler parted from a run, if it did; after an answer of a plugin of the user's, this is the cause."""
    found = _parting(run, outcome)
    decision = None if found is None else outcome.decided_by(found.at, _pods_of_step(run, found.at))
    if found is None or decision is None:
        return found
    cause = f"decided by {decision.kind}, then {_step_name(run, found.at)}"
    return Difference(run, found.at, cause, f"{decision.words}; {found.words}", decision.kind)


def _parting(run: RandomRun, outcome: Outcome) -> Difference | None:
    if outcome.start:
        return _differing(run, 0, outcome.start)
    for number, step in enumerate(outcome.forced, 1):
        found = [d for d in step.differs if not run.timing.may_be_ahead(number - 1, d)]
        if found:
            return _differing(run, number, found)
    if len(outcome.steps) == len(run.path) and outcome.verdict in ("DONE", "DIFFERS"):
        return None
    at = outcome.at or len(outcome.steps)
    why = outcome.why or "the driver does not say why"
    cause = f"{_step_name(run, at)}: {outcome.verdict}: {_without_names(why)}"
    return Difference(run, at, cause, f"{_step_label(run, at)}: {outcome.verdict}: {why}")


def _differing(run: RandomRun, at: int, found: Sequence[Differing]) -> Difference:
    kinds = sorted({d.variable.partition("[")[0] + _member(d.variable) for d in found})
    if len(kinds) > FEW:
        kinds = sorted({kind.partition(".")[0] for kind in kinds})
    words = "; ".join(d.words for d in found)
    return Difference(
        run, at, f"{_step_name(run, at)}: {', '.join(kinds)}", f"{_step_label(run, at)}: {words}"
    )


def _member(variable: str) -> str:
    """What follows the indices: `.nominated` of `api.pod[p].nominated`."""
    return re.sub(r"\[[^\]]*\]", "", variable[variable.find("[") :]) if "[" in variable else ""


def _without_names(text: str) -> str:
    """A reason as it is in any cluster: without names and numbers of pods, nodes and goroutines, and without who stands where."""
    return re.sub(r"\b([pn])?[0-9]+\b", lambda m: m[1] or "0", text.partition(": ")[0])


def _step_name(run: RandomRun, at: int) -> str:
    if not 1 <= at <= len(run.path):
        return "start"
    transition = run.model.system.transitions[run.path[at - 1]]
    return f"{transition.part}.{transition.step}"


def _pods_of_step(run: RandomRun, at: int) -> set[str]:
    if not 1 <= at <= len(run.path):
        return set()
    pods = {pod.name for pod in run.model.scenario.spec.pods}
    args = run.model.system.transitions[run.path[at - 1]].args
    return pods & {str(getattr(value, "name", value)) for _, value in args}


def _step_label(run: RandomRun, at: int) -> str:
    if not 1 <= at <= len(run.path):
        return "before the first step"
    return f"step {at}, {run.model.system.transitions[run.path[at - 1]].label}"


@dataclass
class Compared:
    """What came of some runs: the causes of their differences, the earliest example of each, how often each step was taken, and the steps that
    the models have.
    """

    runs: int = 0
    steps: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Difference] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)

    def add(self, run: RandomRun, difference: Difference | None) -> None:
        """Take in one run."""
        self.runs += 1
        self.known.update(f"{t.part}.{t.step}" for t in run.model.system.transitions)
        self.steps += len(run.path) if difference is None else difference.at
        for number in run.path[: None if difference is None else difference.at]:
            transition = run.model.system.transitions[number]
            self.taken[f"{transition.part}.{transition.step}"] += 1
        if difference is not None:
            self.causes[difference.cause] += 1
            known = self.examples.get(difference.cause)
            if known is None or difference.at < known.at:
                self.examples[difference.cause] = difference


def lockstep(
    composition: Composition,
    wanted: Wanted,
    play: Play,
    enough: Callable[[Compared], bool] = lambda compared: False,
    progress: Callable[[Compared], None] = lambda compared: None,
) -> Compared:
    """Random runs of a version's model, executed by `play`, until all are done or it is `enough`."""
    found = Compared()
    for number, batch in enumerate(_batches(random_runs(composition, wanted))):
        cases = [case_for(run, f"{number}.{i}") for i, run in enumerate(batch)]
        outcomes = play(cases)
        for run, case in zip(batch, cases, strict=True):
            found.add(run, difference_of(run, outcomes[case.id]))
        progress(found)
        if enough(found):
            break
    return found


def _batches(runs: Iterable[RandomRun]) -> Iterator[list[RandomRun]]:
    left = iter(runs)
    while batch := [run for run in islice(left, AT_ONCE) if run.path]:
        yield batch


def played_again(run: RandomRun, play: Play) -> Difference | None:
    """Where the real scheduler parts from one run."""
    case = case_for(run, "again")
    return difference_of(run, play([case])[case.id])


__all__ = [
    "WITHIN_LOCKS", "Compared", "Difference", "Model", "Play", "RandomRun", "Wanted", "case_for", "difference_of", "lockstep",
    "played_again",
]  # fmt: skip
