"""Execute a stored trace again, in the model as it is now."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ...base.problems import Problem
from ...base.structs import Data
from ...base.text import known_names, nearest_fixes, one_line
from ...checker.core.exploration import Lasso
from ...checker.core.interpreter import Interpreter
from ...checker.core.result import Result
from ...checker.core.trace import LassoTrace, Trace, plain_value
from ...checker.reduction.questions import kind_of
from ...checker.trace.disabled_reason import why_disabled
from ...checker.trace.execution import ReplayError, confirm_no_way_back, replay
from ...checker.trace.fingerprint import fingerprint
from ...checker.trace.lasso import confirm_lasso
from ...model.history import GateProblem, Patch, UnknownName, resolve
from ...model.history.versions import exact
from ...model.language import TransitionSystem
from ...properties import PROPERTIES, Property
from ...reports.document import Finding
from ...reports.step import ShownStep
from ...reports.stored import MAX_BYTES, StoredStep, StoredTrace, parse_trace
from ...scenarios import parse_scenario
from ..altered_questions import with_question_noted
from ..ask.asked_property import ID as ASK
from ..ask.asked_property import asked_property
from ..ask.question import read_question
from ..findings import finding_of
from ..request.options import nearest_properties
from ..request.patches import with_patches
from ..request.plan import Run, at_any_time, refuse_unknown_ignored, with_a_fair_flush
from ..shown.steps import steps_of
from ..systems import system_of


class Replayed(Data, slots=False):
    """What became of a stored trace. `trace` is what could be executed of it; `why_not` says why it shows no violation
    any more, and is empty if it does. `changed`: the model is not the one that the trace was found in.
    """

    run: Run
    system: TransitionSystem
    trace: Trace
    why_not: str
    changed: bool

    @property
    def release(self) -> str:
        """The version that it is executed on, in full."""
        return exact(self.run.composition.release)

    @property
    def violated(self) -> bool:
        """Whether the run is still possible and still violates the property."""
        return not self.why_not

    @property
    def remarks(self) -> dict[int, str]:
        """What is to be said before the step of each number; a number behind the last step: after it."""
        trace = self.trace
        if isinstance(trace, LassoTrace):
            return {trace.turn + 1: "indefinitely:" if trace.cycle else "here it stays indefinitely"}
        return {len(trace.steps) + 1: "from here there is no way out"} if trace.closure else {}

    @property
    def steps(self) -> tuple[ShownStep, ...]:
        """What could be executed, as the reports know it."""
        return steps_of(self.system, self.trace)

    def caveats(self, path: Path) -> list[str]:
        """That the model is another one than the trace in this file was found in, if it is."""
        change = f"{path}: the model has changed since this was stored (another fingerprint); the steps below are today's"
        return [change] if self.changed else []

    @property
    def result(self) -> Result:
        """The verdict of this run. Nothing was searched."""
        kind = kind_of(self.system, self.run.property)
        return Result.replayed(self.system.name, self.run.property, kind, self.trace)

    def finding(self) -> Finding:
        """The counterexample as the reports know it: the figures are those of this run."""
        return finding_of(self.run, self.system, self.result)


def read_trace(path: Path) -> StoredTrace:
    """The trace in a file. Raises Problem."""
    file = one_line(str(path), 200)
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Problem(
            f"{file}: cannot be read: {reason}: name a file that `podrace check --save-trace` wrote"
        ) from None
    if len(data) > MAX_BYTES:
        raise Problem(f"{file}: larger than {MAX_BYTES >> 20} MiB, so it is no trace of podrace")
    return parse_trace(data, file)


def replayed(
    stored: StoredTrace,
    own: Mapping[str, type[Property]] | None = None,
    file: str = "the trace",
    patches: Sequence[Patch] = (),
) -> Replayed:
    """Execute a stored trace with the reference interpreter.

    `own` are properties of the user's, `patches` those that the trace was found with. Raises Problem if the trace speaks of what podrace does not know.
    """
    run = run_of(stored, own or {}, file, patches)
    system = system_of(run)
    run = with_question_noted(run)
    changed = bool(stored.fingerprint) and stored.fingerprint != fingerprint(system)
    path, unknown = path_of(system, stored.steps)
    try:
        trace = replay(system, path)
    except ReplayError as error:
        trace = replay(system, path[: error.step])
        why = why_disabled(system, trace.states[-1], path[error.step])
        able = ", ".join(error.enabled) or "nothing"
        obstacle = f"{_step(stored, error.step)} is no longer enabled, {why}; enabled there: {able}"
        return Replayed(run, system, trace, obstacle, changed)
    if unknown is not None:
        return Replayed(run, system, trace, f"{_step(stored, len(path))} {unknown}", changed)
    return Replayed(run, system, *_judged(system, stored, trace), changed)


def run_of(
    stored: StoredTrace, own: Mapping[str, type[Property]], file: str, patches: Sequence[Patch] = ()
) -> Run:
    """What a stored trace is a run of, at any time: a run with scales of time is also one without. Raises Problem."""
    identifier = stored.property
    if stored.asks is not msgspec.UNSET:
        own = {**own, ASK: asked_property(read_question(stored.asks))}
    if identifier not in PROPERTIES and identifier not in own:
        raise Problem(
            f"{file}: property: podrace has no `{one_line(identifier)}`; if it is your own, name its file with --properties; "
            f"{nearest_properties(identifier, [*PROPERTIES, *own])}"
        )
    try:
        scenario = parse_scenario(stored.scenario.text, one_line(stored.scenario.file, 200))
        refuse_unknown_ignored(scenario, own)
        if stored.scenario.fair_flush:
            scenario = with_a_fair_flush(scenario)
        gates = {} if stored.fixes.gates is msgspec.UNSET else stored.fixes.gates
        composition = resolve(stored.release, stored.fixes.added, stored.fixes.removed, gates)
    except Problem as error:
        raise Problem(f"{file}: scenario: {error}") from None
    except UnknownName as error:
        is_fix = error.what == "fix"
        known = nearest_fixes(error.name, error.known) if is_fix else known_names(error.name, error.known)
        raise Problem(f"{file}: unknown {error.what} `{one_line(error.name)}`; {known}") from None
    except (GateProblem, ValueError) as error:
        raise Problem(f"{file}: fixes: {one_line(str(error), 200)}") from None
    _refuse_other_patches(stored, file, patches)
    composition = with_patches(composition, patches)
    return Run(at_any_time(scenario), composition, identifier, own=own.get(identifier))


def _refuse_other_patches(stored: StoredTrace, file: str, patches: Sequence[Patch]) -> None:
    """A trace is replayed with the patches that it was found with. Raises Problem."""
    needed = () if stored.fixes.patches is msgspec.UNSET else stored.fixes.patches
    named = tuple(patch.name for patch in patches)
    if named != needed:
        with_what = " + ".join(one_line(name) for name in needed) or "no patch"
        remedy = "name its file with --patch" if needed else "leave out --patch"
        raise Problem(f"{file}: fixes: it was found with {with_what}: {remedy}")


def path_of(system: TransitionSystem, steps: tuple[StoredStep, ...]) -> tuple[tuple[int, ...], str | None]:
    """The transitions of the steps up to the first that the model does not have, and what is to be said of that one."""
    known = {
        (f"{t.part}.{t.step}", _tagged({name: plain_value(value) for name, value in t.args})): number
        for number, t in enumerate(system.transitions)
    }
    path: list[int] = []
    for step in steps:
        number = known.get((step.step, _tagged(step.args)))
        if number is None:
            same = [t.label for t in system.transitions if f"{t.part}.{t.step}" == step.step]
            has = (
                f"; of this step it has {', '.join(same[:6])}{', ...' if len(same) > 6 else ''}"
                if same
                else ""
            )
            return tuple(path), f"is unknown to the model{has}"
        path.append(number)
    return tuple(path), None


def _tagged(args: Mapping[str, object]) -> frozenset[tuple[str, str, object]]:
    return frozenset((name, type(value).__name__, value) for name, value in args.items())


def _step(stored: StoredTrace, position: int) -> str:
    return f"step {position + 1} of {len(stored.steps)}, `{one_line(stored.steps[position].label, 200)}`,"


def _case_of_today(system: TransitionSystem, liveness: str, name: str) -> str:
    """The name of a case of a liveness; traces of 0.1 have some in older words."""
    known = {case.name for case in system.livenesses.get(liveness, ())}
    return (
        name if name in known else name.replace("made anew", "recreated").replace("for ever", "indefinitely")
    )


def _judged(system: TransitionSystem, stored: StoredTrace, trace: Trace) -> tuple[Trace, str]:
    """The trace, cut where it first violates the property; or why it does not."""
    name = stored.property
    if name in system.invariants:
        interpreter = Interpreter(system)
        for position, state in enumerate(trace.states):
            if not interpreter.holds(system.invariants[name], state):
                return Trace(trace.steps[:position], trace.states[: position + 1]), ""
        return trace, f"all {len(stored.steps)} steps are possible, but they no longer violate {name}"
    try:
        if name in system.resettabilities:
            return confirm_no_way_back(system, trace.path, name), ""
        if stored.lasso is None:
            return trace, f"it does not say from where on the run violates {name} indefinitely (`lasso`)"
        turn, case = stored.lasso.turn, _case_of_today(system, name, stored.lasso.case)
        return confirm_lasso(system, Lasso(trace.path[:turn], trace.path[turn:], case), name), ""
    except (ReplayError, ValueError) as error:
        return (
            trace,
            f"all {len(stored.steps)} steps are possible, but they no longer violate {name}: {error}",
        )
