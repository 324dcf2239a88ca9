"""What is to be reproduced: a stored trace as it is, or what the search finds for a race or a hazard in the very version that is run."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from ..analysis.chain import verdicts
from ..analysis.request.method import NOBODY, USUAL, Method, Watcher
from ..analysis.request.plan import Run, Selection, default_release, plan
from ..analysis.request.release_names import known_releases, parse_release, versions_of
from ..analysis.stored.replayed import read_trace
from ..analysis.stored.saved_trace import stored_trace
from ..base.problems import Problem, UsageProblem
from ..base.structs import Data
from ..base.text import known_names, one_line
from ..checker.core.exploration import Budget
from ..model.history.versions import canonical, exact
from ..properties import PROPERTIES
from ..reports.document import Finding
from ..reports.stored import StoredTrace
from ..scenarios import Scenario, catalogue, find_scenarios, hazards
from .modules.module import KubernetesVersion
from .modules.own import own_scheduler
from .modules.toolchain import find_go
from .modules.trees import version_named


class Code(Data):
    """Whose code is run, and the model's name of the version that it is compared with."""

    version: KubernetesVersion
    release: str


def code_of(kubernetes: str, release: str | None = None) -> Code:
    """The code of a version or a tree, compared with the model of `release`, or else of the same or nearest version. Raises UsageProblem."""
    version = version_named(kubernetes, release)
    return Code(version, parse_release(release) if release else release_of(version))


def with_own(code: Code, scheduler: str | None) -> Code:
    """The code with the user's scheduler in a directory, if one is named. Raises UsageProblem."""
    if scheduler is None:
        return code
    own = own_scheduler(scheduler, find_go())
    return replace(code, version=replace(code.version, own=own))


class Wanted(Data):
    """What the options ask for. `release` is what the model is composed as, where that is another version than the one that is run."""

    name: str
    kubernetes: str | None = None
    release: str | None = None
    properties: Sequence[str] = ()
    gates: Sequence[str] = ()


class Question(Data):
    """One counterexample to be run on a version; or, without a `trace`, why there is none: HOLDS, or the search did not end.

    `file` is where a stored trace comes from, and empty where the search found it.
    """

    name: str
    version: KubernetesVersion
    trace: StoredTrace | None
    finding: Finding | None = None
    file: str = ""

    @property
    def place(self) -> str:
        """What messages about the question name."""
        return self.file or self.name


def is_trace(name: str) -> bool:
    """Whether a file of a stored trace is meant."""
    path = Path(name)
    return path.suffix == ".json" or (path.is_file() and path.suffix not in (".yaml", ".yml"))


def questions(
    wanted: Wanted, budget: Budget, method: Method = USUAL, watcher: Watcher = NOBODY
) -> list[Question]:
    """The counterexamples that are asked for. Raises Problem."""
    if is_trace(wanted.name):
        return [_stored(wanted)]
    return list(searched(found_scenarios(wanted.name), wanted, budget, method, watcher))


def searched(
    scenarios: Sequence[Scenario],
    wanted: Wanted,
    budget: Budget,
    method: Method = USUAL,
    watcher: Watcher = NOBODY,
) -> Iterator[Question]:
    """What the search finds in these scenarios, composed as the version that is run."""
    for scenario in scenarios:
        code = code_for(wanted, exact(default_release(scenario)))
        selection = Selection(
            release=exact(code.release), properties=wanted.properties, gates=wanted.gates, given=[scenario]
        )
        runs = [run for run in plan(selection) if not run.ignored]
        for run, finding in zip(runs, verdicts(runs, budget, method, watcher), strict=True):
            yield question_of(run, finding, code.version)


def question_of(run: Run, finding: Finding, version: KubernetesVersion) -> Question:
    """The question about what came out of a run."""
    name = f"{run.scenario.name} {run.property}"
    trace = None if finding.trace is None else stored_trace(run, finding)
    return Question(name, version, trace, finding)


def found_scenarios(name: str) -> list[Scenario]:
    """The scenarios that a name stands for."""
    try:
        return find_scenarios(name)
    except Problem as problem:
        if Path(name).suffix in (".yaml", ".yml") or "/" in name:
            raise
        guess = _likely(name, [scenario.name for scenario in (*catalogue(), *hazards())])
        raise Problem(
            f"unknown race or hazard `{one_line(name)}`; {guess}`podrace races` and docs/hazards.md have those that are known; or name a "
            "trace that `podrace check --save-trace` wrote"
        ) from problem


def _likely(name: str, known: Sequence[str]) -> str:
    """The question whether one of many names is meant, if one is near."""
    question, mark, _ = known_names(name, known).partition("?")
    return f"{question}? " if mark else ""


def code_for(wanted: Wanted, otherwise: str) -> Code:
    """What is to be run, and what it is compared with."""
    return code_of(wanted.kubernetes if wanted.kubernetes is not None else otherwise, wanted.release)


def release_of(version: KubernetesVersion) -> str:
    """The model's name of a version. Raises UsageProblem if the model does not have it."""
    known = canonical(version.plain)
    if known is not None:
        return known
    minor = f"{version.major}.{version.minor}"
    near = [exact(v) for v in versions_of(minor)]
    newest = known_releases()[-1]
    there = (
        f"of {minor} it has {', '.join(near)}: name one of these"
        if near
        else f"its newest is {newest}: name that or an earlier one"
    )
    raise UsageProblem(
        f"--kubernetes: the model does not have {version}, {there}, or say with --release what to compare it with"
    )


def _stored(wanted: Wanted) -> Question:
    file = one_line(wanted.name, 200)
    return question_about(read_trace(Path(wanted.name)), file, wanted)


def question_about(trace: StoredTrace, path: str, wanted: Wanted) -> Question:
    """The question about a trace, which messages call by the name of its file. Raises Problem."""
    if not trace.property:
        raise UsageProblem(
            f"{path}: a run that violates nothing: `podrace lockstep {path}` executes it again"
        )
    if trace.property not in PROPERTIES and trace.asks is msgspec.UNSET:
        raise Problem(
            f"{path}: property: podrace has no `{one_line(trace.property)}`, and properties of your own are not run on the real scheduler; "
            f"{_likely(trace.property, list(PROPERTIES))}`podrace properties` lists its own"
        )
    if wanted.properties or wanted.gates:
        raise UsageProblem(f"--property and --gate are for races and hazards: {path} says both itself")
    fixes = trace.fixes
    if fixes.patches is not msgspec.UNSET:
        raise Problem(
            f"{path}: it was found with a patch of yours ({', '.join(fixes.patches)}), which no kubernetes has"
        )
    release = canonical(trace.release)
    if release is None:
        raise Problem(
            f"{path}: unknown release `{one_line(trace.release)}`: make the trace again with `podrace check --save-trace`"
        )
    version = code_for(wanted, exact(release)).version
    agreed = wanted.release is not None and parse_release(wanted.release) == release
    if version.plain != exact(release) and not agreed:
        raise UsageProblem(
            f"{path}: a trace of {exact(release)}, and {version} is to be run: make one with `podrace check --release "
            f"{exact(release_of(version))} --save-trace`, or say --release {exact(release)} to run it all the same"
        )
    if (fixes.added or fixes.removed) and not agreed:
        raise UsageProblem(
            f"{path}: a trace of {exact(release)}{fixes.words}, which is no version: say --release {exact(release)} to run it on {version} all "
            "the same"
        )
    name = f"{one_line(trace.scenario.name)} {trace.property}"
    return Question(name, version, trace, file=path)
