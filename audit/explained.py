"""Which known race explains that a node was overfilled: one that has a run which agrees with the record.

The record is reduced to what made the node overfull: the pod that was bound last, and the last one before it without which it would have fitted; one node, with
the room that all others left. A race brings the faults of its scenario. By trace validation, it explains the record if on the cluster's
release some run with these faults binds the one pod, and then the other. What the log itself rules out is not asked of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from ..checker.core.trace import plain_value
from ..checker.explicit.states.expander import Native
from ..checker.trace.validation import Answer, Bounds, Observation, Search
from ..model.environment.scope import Scope
from ..model.history import RELEASE_ORDER, Composition, resolve
from ..model.language import TransitionSystem
from ..properties import instrument
from ..scenarios import Scenario, catalogue, parse_scenario
from ..scenarios.catalogue import hazards
from .checks.capacity import Overfilled

BOUNDS = Bounds(steps=400, states=400_000)

PROCESS = frozenset({"leader_changes", "restarts"})
"""Faults after which another process schedules, which holds the lease under another name."""

_AGENT = re.compile(r"kube-scheduler/v(1\.[0-9]{1,3})(?:\.[0-9]{1,3})?(?:[-+ ]|$)", re.ASCII)
_NO_FAULTS = (
    "pod_events", "node_events", "pod_creations", "pod_deletions", "pod_updates", "node_updates", "evictions",
    "scale_downs", "claim_events", "volume_creations", "volume_deletions", "provision_failures", "bind_timeouts",
)  # fmt: skip
_FAULTS = tuple(f.name for f in fields(Scope) if f.type == "int" and f.name not in _NO_FAULTS)
_CLUSTER = """\
name: explained
nodes: {{n: {{cpu: 1}}}}
pods:
  first: {{cpu: 1, priority: {first}}}
  second: {{cpu: 1, priority: {second}}}
scope: {{{scope}}}
"""


@dataclass(frozen=True)
class Candidate:
    """A known race, and the faults that it takes."""

    scenario: Scenario
    faults: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """Its name and title, with the number of its issue where it has one."""
        issue = f", kubernetes/kubernetes#{self.scenario.race.issue}" if self.scenario.race else ""
        return f"{self.scenario.name} ({self.scenario.title}{issue})"


def release_of(agents: Iterable[str]) -> str | None:
    """The release of the scheduler, as its requests name it; None if they name none, several, or one that the model does not have."""
    named = {match[1] for agent in agents if (match := _AGENT.match(agent))}
    return next(iter(named)) if len(named) == 1 and named <= set(RELEASE_ORDER) else None


def candidates() -> list[Candidate]:
    """The races and open hazards that overfill a node by some fault, those with the fewest faults first."""
    found = []
    for scenario in (*hazards(), *catalogue()):
        faults = tuple(
            (name, getattr(scenario.spec.scope, name))
            for name in _FAULTS
            if getattr(scenario.spec.scope, name)
        )
        if "S-CAP" in scenario.properties and faults:
            found.append(Candidate(scenario, faults))
    return sorted(found, key=lambda c: (sum(n for _, n in c.faults), c.scenario.name))


def explained(case: Overfilled, release: str | None, one_process: bool) -> Iterator[str]:
    """Sentences: which races explain it, which do not, and what is not decided. `one_process`: the log shows that one process scheduled all the time."""
    if release is None:
        yield "which race explains it is not decided: no line says of which release the scheduler is; --release says so"
        return
    if case.first is None:
        yield "which race explains it is not decided: more than one pod was too much, and the model is asked of two"
        return
    composition = resolve(release)
    by, refused, open_, ruled_out = list[Candidate](), list[Candidate](), list[Candidate](), list[Candidate]()
    for candidate in candidates():
        names = {name for name, _ in candidate.faults}
        if any({name for name, _ in other.faults} <= names for other in by):
            continue  # what takes more faults than one that explains it says nothing more
        if one_process and names & PROCESS:
            ruled_out.append(candidate)
            continue
        answer = _ask(candidate, case, composition)
        {Answer.EXPLAINED: by, Answer.REFUSED: refused, Answer.UNKNOWN: open_}[answer].append(candidate)
    pods = f"{case.first.pod} and then {case.second.pod}"
    for candidate in by:
        yield f"explained by {candidate.words}: a run of {release} with it binds {pods} to the node"
    for candidate in open_:
        yield f"not decided: {candidate.words}: the search for a run of {release} came to its bounds"
    if ruled_out:
        yield f"ruled out, as one scheduler held the lease all the time: {', '.join(c.scenario.name for c in ruled_out)}"
    if refused:
        yield f"no run of {release} that binds {pods} to the node: {', '.join(c.scenario.name for c in refused)}"
    if not by and not open_:
        yield f"no known race explains this on {release}, for two pods and the room that the others left"


def _ask(candidate: Candidate, case: Overfilled, composition: Composition) -> Answer:
    assert case.first is not None
    ranks = sorted({case.first.priority, case.second.priority})
    scope = {"pod_events": 2, "flush": "false", **dict(candidate.faults)}
    text = _CLUSTER.format(
        first=ranks.index(case.first.priority),
        second=ranks.index(case.second.priority),
        scope=", ".join(f"{name}: {value}" for name, value in scope.items()),
    )
    spec = parse_scenario(text, "explained.yaml").spec
    system = instrument(spec, composition.classes, [])
    return Search(system, Native(system), BOUNDS, beyond=False).explain(_record(system)).answer


def _record(system: TransitionSystem) -> list[Observation]:
    """First the one pod is on the node and the other waits; then both are there."""
    decode = system.universe.decode
    codes = {
        v.name: {plain_value(decode(v.sort, code)): code for code in range(v.lo, v.hi + 1)}
        for v in system.variables
    }

    def seen(second: str | None) -> dict[str, int]:
        wanted: dict[str, bool | str | None] = {
            "api.pod[first].exists": True,
            "api.pod[second].exists": True,
            "api.pod[first].node": "n",
            "api.pod[second].node": second,
        }
        return {name: codes[name][value] for name, value in wanted.items()}

    return [Observation(seen(None)), Observation(seen("n"))]
