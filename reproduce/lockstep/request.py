"""What `podrace lockstep` is asked for: random runs on a version to its document, and one stored difference executed again."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version as version_of_package
from pathlib import Path

import msgspec

from ...analysis.request.option_files import write_text
from ...base.problems import Problem, UsageProblem
from ...base.text import one_line
from ...checker.trace.fingerprint import fingerprint
from ...model.history import Composition, GateProblem, resolve
from ...model.history.versions import canonical, exact
from ...reports.lockstep import Cause, Lockstep
from ...reports.stored import StoredScenario, StoredStep, StoredTrace, format_trace
from ...scenarios import parse_scenario
from ..case import Case
from ..modules.toolchain import Go
from ..outcome import Outcome
from ..random_runs.quick_steps import QuickSteps
from ..random_runs.random_runs import Model, RandomRun, Wanted
from ..request import Code, code_of
from ..running import Built, Say, built_for, run_cases
from .lockstep import WITHIN_LOCKS, Compared, Difference, Play, lockstep, played_again
from .shrinking import MOST_SECONDS, possible, shrunk

NO_PROPERTY = ""
"""What a stored run that is no counterexample has for a property."""


def plays(built: Built) -> Play:
    """The driver's binary."""

    def play(cases: Sequence[Case]) -> Mapping[str, Outcome]:
        return run_cases(built, cases)

    return play


def held(
    code: Code,
    wanted: Wanted,
    go: Go,
    say: Say,
    folder: Path | None = None,
    composed: Callable[[Composition], Composition] = lambda composition: composition,
) -> Lockstep:
    """The random runs on one version or tree. With a `folder`, each cause is shrunk, and stored there. Raises GoProblem, UsageProblem.

    `composed` changes the model that is held against the version.
    """
    version = code.version
    try:
        composition = composed(resolve(code.release, gates=wanted.gates))
    except GateProblem as problem:
        raise UsageProblem(f"--kubernetes {version}: {problem}: name another version") from None
    built = built_for(version, go, say)
    play = plays(built)
    began = time.monotonic()

    def tell(found: Compared) -> None:
        differing = sum(found.causes.values())
        say(f"{version}: {found.runs:,} runs, {found.steps:,} steps, {differing:,} differ")

    found = lockstep(composition, wanted, play, progress=tell)
    seconds = time.monotonic() - began
    causes = []
    for number, (name, runs) in enumerate(found.causes.most_common(), 1):
        example, file, stopped = found.examples[name], "", False
        if folder is not None:
            say(f"{version}: shrinking {name}")
            small = shrunk(example, play)
            example, stopped = small.difference, small.stopped
            if stopped:
                say(f"{version}: not shrunk to the end within {MOST_SECONDS:.0f} s and {small.tries:,} tries")
            place = "" if version.tree is None else f"{version.tree.name}-"
            target = folder / f"{place}{version.tag}-{number}.json"
            write_text("--store", target, format_trace(stored_run(example)))
            file = str(target)
        causes.append(Cause(name, runs, example.words, example.at, file, stopped, example.decided))
    return Lockstep(
        scheduler=str(version),
        release=composition.label,
        seed=wanted.seed,
        clusters=wanted.clusters,
        runs=found.runs,
        steps=found.steps,
        seconds=round(seconds, 1),
        causes=tuple(causes),
        taken=dict(sorted(found.taken.items())),
        never=tuple(sorted(found.known - set(found.taken) - set(wanted.without))),
        within_locks=dict(WITHIN_LOCKS),
        instead=dict(built.instead),
        own=built.own,
    )


def stored_run(difference: Difference) -> StoredTrace:
    """The run of a difference, in the form of a stored trace without a property."""
    run = difference.run
    steps = []
    for number in run.path[: difference.at]:
        transition = run.model.system.transitions[number]
        args = {name: getattr(value, "name", value) for name, value in transition.args}
        steps.append(StoredStep(f"{transition.part}.{transition.step}", args))
    scenario = run.model.scenario
    return StoredTrace(
        scenario=StoredScenario(scenario.name, scenario.file, scenario.text),
        release=exact(run.model.composition.release),
        property=NO_PROPERTY,
        steps=tuple(steps),
        podrace=version_of_package("podrace"),
        fingerprint=fingerprint(run.model.system),
    )


def run_of(stored: StoredTrace, file: str) -> RandomRun:
    """The run of a stored trace in the model as it is now. Raises Problem if it is none any more."""
    if stored.fixes.added or stored.fixes.removed or stored.fixes.patches is not msgspec.UNSET:
        raise Problem(f"{file}: fixes: a run of {stored.release}{stored.fixes.words} is no run of a version")
    gates = parse_scenario(stored.scenario.text, file).feature_gates
    model = Model.of(stored.scenario.text, resolve(stored.release, gates=gates))
    numbers = {}
    for number, t in enumerate(model.system.transitions):
        args = {name: getattr(value, "name", value) for name, value in t.args}
        numbers[StoredStep(f"{t.part}.{t.step}", args).label] = number
    path = [numbers[step.label] for step in stored.steps if step.label in numbers]
    run = possible(model, QuickSteps(model.system), path)
    if len(run.path) < len(stored.steps):
        step = next(
            s for i, s in enumerate(stored.steps) if i >= len(run.path) or numbers.get(s.label) != run.path[i]
        )
        raise Problem(
            f"{file}: the model has changed: `{one_line(step.label, 200)}` is not possible there any more"
        )
    return run


def again(
    stored: StoredTrace,
    file: str,
    go: Go,
    say: Say,
    kubernetes: str | None = None,
    release: str | None = None,
) -> Lockstep:
    """One stored run executed again. Raises GoProblem, Problem."""
    code = code_of(kubernetes or exact(stored.release), release)
    version = code.version
    if code.release != canonical(stored.release):
        raise UsageProblem(
            f"{file}: a run of {stored.release}, and {version} is to be run: leave out --kubernetes"
        )
    run = run_of(stored, file)
    began = time.monotonic()
    built = built_for(version, go, say)
    difference = played_again(run, plays(built)) or played_again(replace(run, waits=True), plays(built))
    causes = (
        () if difference is None else (Cause(difference.cause, 1, difference.words, difference.at, file),)
    )
    found = Compared()
    found.add(run, difference)
    return Lockstep(
        str(version), stored.release, 0, 1, 1, found.steps, round(time.monotonic() - began, 1), causes, dict(found.taken),
        instead=dict(built.instead),
    )  # fmt: skip
