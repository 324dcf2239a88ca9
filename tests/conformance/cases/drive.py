"""Runs the scheduling goroutine of a situation: the model's own steps, in the order that a case asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

from podrace.model.environment.objects import Node, Pod
from podrace.model.language import NotEnabled
from podrace.model.language.declarations.component import StepMethod, steps_of
from podrace.model.scheduler.framework.status import NodeStatus, Phase
from tests.conformance.cases.case_cluster import CaseSituation
from tests.conformance.cases.cases import NotTranslated
from tests.conformance.cases.upstream_plugins import code_named

CHOICES = ("choose_candidate", "assume")
MAX_STEPS = 10_000


def stand_at(
    here: CaseSituation, phase: Phase, statuses: Mapping[str, str] | None, missing: NodeStatus
) -> None:
    """The goroutine stands at a phase; filters said this of the nodes, and of all others nothing."""
    scheduler = here.part("scheduler")

    def stand() -> None:
        scheduler.pod = here.preemptor
        scheduler.phase = phase
        for name, node in here.nodes.items():
            here.part("snapshot").listed[node] = True
            said = (statuses or {}).get(name)
            scheduler.verdict[node] = missing if said is None else scheduler.verdict_of(code_named(said))

    here.model.do(stand)


@dataclass
class Drive:
    """A run of the goroutine, and what it chose from.

    `order` is the order in which nodes are looked at. `candidates` and `hosts` are the nodes that the model
    lets win; the run goes on with the first, or with the one of them that is `hoped` for.
    """

    here: CaseSituation
    order: Sequence[Node] = ()
    hoped: Node | None = None
    candidates: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    evicted: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    @property
    def phase(self) -> Phase:
        """Where the goroutine stands."""
        found: Phase = self.here.model.get(lambda: self.here.part("scheduler").phase)
        return found

    def run(self, until: Collection[Phase] = (Phase.IDLE,)) -> Drive:
        """Take steps until the goroutine stands at one of these phases."""
        for _ in range(MAX_STEPS):
            if not self._take_one():
                if self.here.preemptor.node is not None:
                    raise NotTranslated("the pod that is to be scheduled has a nodeName")
                raise RuntimeError(f"the model is stuck at {self.phase.name}")
            if self.phase in until:
                self._finish_evictions()
                return self
        raise RuntimeError(f"the model did not come to {', '.join(p.name for p in until)}")

    def _finish_evictions(self) -> None:
        """What the preemption goroutine does, if one was started."""
        for _ in range(MAX_STEPS):
            if not self._take_one("async_preemption"):
                return

    def _take_one(self, *parts: str) -> bool:
        for step in [step for part in parts or ("scheduler", "failure") for step in self._steps(part)]:
            if step.name in CHOICES:
                if self._choose(step):
                    return True
                continue
            for args in self._arguments(step):
                if self._take(step, args):
                    return True
        return False

    def _steps(self, part: str) -> list[StepMethod]:
        return steps_of(self.here.part(part))

    def _arguments(self, step: StepMethod) -> Iterator[tuple[Any, ...]]:
        domains: list[Sequence[Any]] = []
        for name, values in step.domains:
            if name == "pod":
                domains.append((self.here.preemptor,))
            elif name == "ok":
                domains.append((True,))
            elif name == "node":
                domains.append(self.order or values)
            else:
                domains.append(values)
        yield from product(*domains)

    def _take(self, step: StepMethod, args: tuple[Any, ...]) -> bool:
        try:
            self.here.model.do(partial(getattr(step.part, step.name), *args))
        except NotEnabled:
            return False
        self.steps.append(step.name)
        if step.name in ("evict", "evict_last"):
            victim: Pod = args[1]
            self.evicted.append(victim.name)
        return True

    def _choose(self, step: StepMethod) -> bool:
        chosen = [args for args in self._arguments(step) if self._enabled(step, args)]
        if not chosen:
            return False
        names = [args[1].name for args in chosen]
        if step.name == "assume":
            self.hosts = names
        else:
            self.candidates = names
        return self._take(step, next((a for a in chosen if a[1] is self.hoped), chosen[0]))

    def _enabled(self, step: StepMethod, args: tuple[Any, ...]) -> bool:
        try:
            self.here.model.get(partial(getattr(step.part, step.name), *args))
        except NotEnabled:
            return False
        return True
