"""Which known race explains what the log shows: one that has a run which agrees with the record.

The record is reduced to a pod or two on a node or two (audit/records.py). A race brings the faults of its scenario. By trace validation, it explains the record if on the
cluster's release some run with these faults does what the log shows. What the log itself rules out is not asked of the model.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from ..analysis.request.release_names import nearest_read
from ..analysis.shown.steps import steps_of
from ..base.structs import Data
from ..checker.core.trace import plain_value
from ..checker.explicit.states.expander import Native
from ..checker.trace.validation import Answer, Bounds, Explanation, Observation, Search
from ..model.environment.cluster.scope import BOUNDS as SCOPE
from ..model.history import RELEASE_ORDER, Composition, resolve
from ..model.history.versions import exact
from ..model.language import TransitionSystem
from ..properties import instrument
from ..scenarios import Scenario, catalogue, parse_scenario
from ..scenarios.catalogue import hazards
from .checks.cases import Case
from .checks.check import listed
from .records import SMALL, Record, does, record_of

BOUNDS = Bounds(steps=400, states=400_000)

PROCESS = frozenset({"leader_changes", "restarts"})
"""Faults after which another process schedules, which holds the lease under another name."""

REJECTED = "permit_rejections"
"""A fault that takes a plugin which rejects pods; and the pod is tried again once another one has gone."""

_AGENT = re.compile(r"kube-scheduler/v1\.([0-9]{1,3})(?:\.([0-9]{1,3}))?(?:[-+ ]|$)", re.ASCII)
_NO_FAULTS = (
    "pod_events", "node_events", "pod_creations", "pod_deletions", "pod_updates", "node_updates", "evictions",
    "scale_downs", "claim_events", "volume_creations", "volume_deletions", "provision_failures", "bind_timeouts", "filter_timeouts",
    "claim_creations", "claim_deletions", "missed_claim_updates", "device_failures", "device_withdrawals", "device_taints",
)  # fmt: skip
_FAULTS = tuple(n for n, bound in SCOPE.items() if bound.least is not None and n not in _NO_FAULTS)
_ASKED = frozenset({"S-CAP", "S-COND"})
"""Whose races are asked: those of bindings that the scheduler does not know of, or knows of too late."""

GROWN = "grown-in-flight"
"""The race that takes no fault, but a pod that is changed before it is bound."""

IN_DOUBT = "late_bindings"
"""A fault that the log shows: a Binding was answered with an error."""


ISSUES = {
    "two-generals": 96579,
    "leader-hand-over": 137308,
    "late-binding": 137308,
    "in-doubt": 100140,
    "late-condition": 139417,
    GROWN: 126891,
}
"""Upstream's issues of the open hazards that are asked; those of races stand in their scenarios."""


class Processes(Enum):
    """What the log shows of the processes that sent the requests."""

    ONE = "one scheduler held the lease all the time"
    SEVERAL = "schedulers that held the lease one after the other sent these requests"
    UNKNOWN = ""


class Candidate(Data, slots=False):
    """A known race, and the faults that it takes."""

    scenario: Scenario
    faults: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """Its name and title, with the number of its issue where it has one."""
        number = self.scenario.race.issue if self.scenario.race else ISSUES.get(self.scenario.name)
        issue = f", kubernetes/kubernetes#{number}" if number else ""
        return f"{self.scenario.name} ({self.scenario.title}{issue})"

    @property
    def another_process(self) -> bool:
        """Whether it takes another process that schedules."""
        return any(name in PROCESS for name, _ in self.faults)

    def ruled_out(self, processes: Processes) -> bool:
        """Whether the processes that the log shows are not those of this race."""
        return processes is (Processes.ONE if self.another_process else Processes.SEVERAL)


def release_of(agents: Iterable[str]) -> str | None:
    """The version of the scheduler, as its requests name it: of several of one release the newest, and the newest read up to it.

    None if they name none, several releases, or one that the model does not have.
    """
    named = {(1, int(match[1]), int(match[2] or 0)) for agent in agents if (match := _AGENT.match(agent))}
    releases = {f"{major}.{minor}" for major, minor, _ in named}
    return nearest_read(max(named)) if len(releases) == 1 and releases <= set(RELEASE_ORDER) else None


def candidates(of: str, grown: bool = False, in_doubt: bool = False) -> list[Candidate]:
    """The races and open hazards that break this property by some fault, those with the fewest faults first.

    Where a pod was changed before it was bound, or a Binding was answered with an error, also those that take that.
    """
    found = []
    for scenario in (*hazards(), *catalogue()):
        faults = tuple(
            (name, getattr(scenario.spec.scope, name))
            for name in _FAULTS
            if getattr(scenario.spec.scope, name)
        )
        if not in_doubt and any(name == IN_DOUBT for name, _ in faults):
            continue
        if scenario.name == GROWN and grown:
            found.append(Candidate(scenario, ()))
        elif faults and ("S-CAP" in scenario.properties or of in _ASKED.intersection(scenario.properties)):
            found.append(Candidate(scenario, faults))
    return sorted(found, key=lambda c: (sum(n for _, n in c.faults), c.scenario.name))


class Explained(Data, slots=False):
    """`words`: which races explain a violation, which do not, and what is not decided. `run`: that of the first race that does, a line a step."""

    words: tuple[str, ...]
    run: tuple[str, ...] = ()


def explained(of: str, case: Case, release: str | None, processes: Processes) -> Explained:
    """What known races say of the violation of a property."""
    runs: list[tuple[str, ...]] = []
    words = tuple(_sentences(of, case, release, processes, runs))
    return Explained(words, runs[0] if runs else ())


def _sentences(
    of: str, case: Case, release: str | None, processes: Processes, runs: list[tuple[str, ...]]
) -> Iterator[str]:
    undecided = case.undecided or (
        "" if release else "no line says of which release the scheduler is; --release says so"
    )
    if undecided or release is None:
        yield f"which race explains it is not decided: {undecided}"
        return
    composition = resolve(release)
    by, refused, open_, ruled_out = list[Candidate](), list[Candidate](), list[Candidate](), list[Candidate]()
    for candidate in candidates(of, case.grown, case.in_doubt):
        names = {name for name, _ in candidate.faults}
        if any(other.faults and {name for name, _ in other.faults} <= names for other in by):
            continue  # what takes more faults than one that explains it says nothing more
        if candidate.ruled_out(processes):
            ruled_out.append(candidate)
            continue
        answer, run = _ask(candidate, of, case, composition)
        if run:
            runs.append(run)
        {Answer.EXPLAINED: by, Answer.REFUSED: refused, Answer.UNKNOWN: open_}[answer].append(candidate)
    what = does(of, case)
    for candidate in by:
        yield f"explained by {candidate.words}: a run of {exact(release)} with it {what}"
    for candidate in open_:
        yield f"not decided: {candidate.words}: the search for a run of {exact(release)} came to its bounds"
    if ruled_out:
        yield f"ruled out, as {processes.value}: {_named(ruled_out)}"
    if refused:
        yield f"no run of {exact(release)} that {what}: {_named(refused)}"
    if not by and not open_:
        yield f"no known race explains this on {exact(release)}, for {SMALL[of]}"
    elsewhere = [
        hazard.name
        for hazard in hazards()
        if of in hazard.properties and all(hazard is not c.scenario for c in candidates(of, True, True))
    ]
    if elsewhere:
        yield f"not asked, as they take more than a fault: {', '.join(elsewhere)}"
    if case.larger:
        yield f"what the scheduler knew of it is not asked: {listed(case.larger)} asked for less before"


def _named(found: Iterable[Candidate]) -> str:
    return ", ".join(candidate.scenario.name for candidate in found)


def _ask(
    candidate: Candidate, of: str, case: Case, composition: Composition
) -> tuple[Answer, tuple[str, ...]]:
    """Whether a run of the race agrees with the record, and which, if one does."""
    record = record_of(of, case, candidate.faults, grown=candidate.scenario.name == GROWN)
    spec = parse_scenario(record.cluster, "explained.yaml").spec
    system = instrument(spec, composition.classes, [])
    found = Search(system, Native(system), BOUNDS).explain(_observed(system, record))
    return found.answer, _run(system, candidate, case, found) if found.answer is Answer.EXPLAINED else ()


def _run(system: TransitionSystem, candidate: Candidate, case: Case, found: Explanation) -> tuple[str, ...]:
    """The run, with what the log shows beside the steps after which it is so."""
    names = " and ".join(
        f"{name} is {pod.pod}" for name, pod in zip(("first", "second"), case.pods, strict=False)
    )
    lines = [f"A run of {candidate.scenario.name} that agrees with the log, in which {names}:"]
    last = found.at[-1]
    for step in steps_of(system, found.trace)[:last]:
        lines.append(
            f"{step.number}. {step.sentence}{' So does the log show it.' if step.number == last else ''}"
        )
    return tuple(lines)


def _observed(system: TransitionSystem, record: Record) -> list[Observation]:
    """What was seen, in codes."""
    decode = system.universe.decode
    codes = {
        v.name: {plain_value(decode(v.sort, code)): code for code in range(v.lo, v.hi + 1)}
        for v in system.variables
    }
    return [Observation({name: codes[name][value] for name, value in seen.items()}) for seen in record.seen]
