"""The pod that a violation is about, for forms that point into files."""

from collections.abc import Sequence

import msgspec

from ..checker.core.interpreter import Interpreter
from ..checker.trace.execution import ReplayError, confirm_no_way_back, replay
from ..model.language import TransitionSystem
from ..properties import PROPERTIES, instrument
from ..reports.document import Finding
from .every_cluster import settled_run
from .request.plan import Run
from .shown.steps import label_of


def with_subjects(runs: Sequence[Run], findings: Sequence[Finding]) -> list[Finding]:
    """The findings; each violated one knows the pod that it is about, if its property is one of pods."""
    return [_with_subject(run, finding) for run, finding in zip(runs, findings, strict=True)]


def _with_subject(run: Run, finding: Finding) -> Finding:
    if finding.trace is None or finding.place is None:
        return finding
    subject = subject_of(settled_run(run, finding), finding)
    if subject is None:
        return finding
    return msgspec.structs.replace(finding, place=msgspec.structs.replace(finding.place, subject=subject))


def subject_of(run: Run, finding: Finding) -> str | None:
    """The first pod for which alone the counterexample violates the property: it is executed again, looked at for one pod
    after the other. None if the property is not one of pods.
    """
    prop = run.own or PROPERTIES[run.property]
    pods = [pod.name for pod in run.scenario.spec.pods]
    if not prop.concerns:
        return None
    for name in pods:
        if name in run.silenced:
            continue
        alone = prop.ignoring(frozenset(pods) - {name})
        system = instrument(run.scenario.spec, run.composition.classes, [alone])
        if _is_violated(system, run.property, finding):
            return name
    return None


def _is_violated(system: TransitionSystem, name: str, finding: Finding) -> bool:
    numbers = {transition.label: number for number, transition in enumerate(system.transitions)}
    path = tuple(numbers[label_of(step)] for step in finding.story)
    interpreter = Interpreter(system)
    if name in system.invariants:
        last = replay(system, path[: len(finding.trace or ())]).states[-1]
        return not interpreter.holds(system.invariants[name], last)
    if name in system.resettabilities:
        try:
            confirm_no_way_back(system, path[: len(finding.trace or ())], name)
        except ReplayError:
            return False
        return True
    states = replay(system, path).states
    repeated = states[len(states) - len(finding.cycle) - 1 :]
    return any(
        all(interpreter.holds(case.persistent, state) for state in repeated)
        and all(any(interpreter.holds(expr, state) for state in repeated) for expr in case.recurrent)
        for case in system.livenesses[name]
    )
