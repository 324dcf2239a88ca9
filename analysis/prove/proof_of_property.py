"""The questions of `podrace prove`, each asked of every cluster, and what came out in groups."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from ...base.problems import NoSuchStep, Terminated, UsageProblem
from ...base.text import counted
from ...checker.exhaust import runs_to_witnesses
from ...checker.family.outcome import FirstReached
from ...checker.jobs import Job, LostWorker, pool_of
from ...checker.parametric.grounding import TooManyCases
from ...checker.parametric.parametric_system import ParametricSystem, Regions
from ...checker.parametric.regions import UndecidedRegions, evaluate
from ...checker.reduction.idle_parts import never_acted_by_steps
from ...checker.trace.fingerprint import fingerprint
from ...model.environment.cluster.scope import SCALES
from ...model.history.versions import exact
from ...model.language.expressions.expr import fresh_graph
from ...reports.answers.ask_report import AskAnswer
from ...reports.answers.proof_report import SHOWN, Proof, Row, ViolatingGroup
from ...reports.document import WithScales, Word
from ...scenarios import Scenario
from ...scenarios.template import ClusterTemplate, concrete, instantiate, sizes, templates
from ...scenarios.writing import Unwritable, scenario_text
from ..altered_questions import Altered, altered_by
from ..chain import verdict_on
from ..findings import scope_of, witness_words
from ..possible.answered import answer, searched, steps_possible
from ..request.method import NOBODY, Watcher
from ..request.option_files import OutputDirectory
from ..request.plan import Run
from ..scheduler_version import version_of
from ..shown.believable import MOST_STATES
from ..shown.orders import orders_of_all
from .cluster_families import (
    LOOKED_AT,
    BatchOutcome,
    ClusterOutcome,
    FamilyTask,
    explore_family,
    family_tasks,
    named,
    shared_budget,
)
from .proof_request import ProofQuestion, ProofRequest, questions

_CUT = "podrace was told to end before every cluster was explored and every counterexample shown"
_NOT_SHOWN = "--examples DIR writes one cluster of each group as a scenario, and podrace check shows its counterexample"

MOST_EXPLAINED = 12
"""In about so many clusters it is looked how far an order of steps is possible that is so in none."""


def prove_all(request: ProofRequest, watcher: Watcher = NOBODY) -> list[Proof]:
    """The proof of each property, or what stands against it. Raises UsageProblem."""
    proofs: list[Proof] = []
    for question in list(questions(request)):
        proofs.append(prove_one(request, question, watcher, is_cut=bool(proofs) and proofs[-1].stopped))
    return proofs


def prove_one(request: ProofRequest, question: ProofQuestion, watcher: Watcher, is_cut: bool) -> Proof:
    """The proof of one property; `is_cut`: podrace was told to end before this one began. Raises UsageProblem."""
    prover = Prover(request, question, watcher)
    try:
        return prover.cut() if is_cut else prover.run()
    except (TooManyCases, UndecidedRegions, LostWorker) as error:
        raise UsageProblem(f"cannot go on: {error}") from None


def write_examples(proofs: Sequence[Proof], directory: Path) -> list[str]:
    """Write the simplest cluster of each group as a scenario file; what could not be written, and why. Raises UsageProblem."""
    unwritten = []
    with OutputDirectory("--examples", directory) as folder:
        for proof in proofs:
            for number, group in enumerate(proof.groups, 1):
                if group.scenario:
                    folder.write(f"{proof.property.lower()}-group-{number}.yaml", group.scenario)
                else:
                    unwritten.append(f"{proof.property}, group {number} is not written: {group.unwritten}")
    return unwritten


class Placement:
    """What is asked of one placement of the pods; it is traced and sliced once that is needed, which of most it is not here."""

    def __init__(self, question: ProofQuestion) -> None:
        self.question = question

    @cached_property
    def parametric(self) -> ParametricSystem:
        """All of its clusters."""
        return self.question.parametric_system()

    @cached_property
    def regions(self) -> Regions:
        """The clusters that can be told apart."""
        return Regions(self.parametric, self.question.property)


class Prover:
    """One property, all templates up to a size."""

    def __init__(self, request: ProofRequest, question: ProofQuestion, watcher: Watcher) -> None:
        self.request, self.question, self.watcher = request, question, watcher
        self.composition = question.composition
        self.elsewhere: list[NoSuchStep] = []
        """Why a question about the order of steps cannot be asked of some choices of pods and nodes."""
        self.what = f"{question.property} on {self.composition.label}"
        self.found: dict[str, list[BatchOutcome]] = {}
        self.placements: dict[str, Placement] = {}
        self.idle = set(question.patches)
        """The patches that have made no difference to any template so far."""
        self.altered: dict[str, Altered] = {}
        """What the patches do to the question, by template."""
        self.is_cut = False
        """Whether the process was told to end before every cluster was explored."""

    def run(self) -> Proof:
        """Ask about every template."""
        began = time.monotonic()
        self.watcher.start(self.what)
        try:
            self._sweep(list(self._chunks()))
            return self._proof(time.monotonic() - began)
        except Terminated:
            self.is_cut = True
        return self._proof(time.monotonic() - began)

    def cut(self) -> Proof:
        """What is said where nothing was asked any more."""
        self.is_cut = True
        return self._proof(0.0)

    def _chunks(self) -> Iterator[Job]:
        for pods, nodes in sizes(
            self.request.pods, self.request.nodes, least=int(not self.request.example.gangs)
        ):
            for template in templates(pods, nodes, self.request.example):
                for chosen, question in self.question.in_template(template):
                    name = f"{template.pods} pods, {nodes} nodes: {template}{chosen}"
                    self.watcher.say(f"telling clusters apart: {name}")
                    placement = Placement(question)
                    if question.asked is not None or question.sources:  # else nothing can be wrong with it
                        try:
                            _ = placement.parametric
                        except NoSuchStep as problem:
                            self.elsewhere.append(problem)
                            continue
                    self._look_for_idle_patches(placement)
                    self.placements[name] = placement
                    self.found[name] = []
                    whole = FamilyTask(
                        question,
                        self.request.max_states,
                        self.request.jobs,
                        max_memory=self.request.max_memory,
                    )
                    for number, piece in enumerate(family_tasks(whole, self.request.parts)):
                        yield Job(f"{name} #{number}", piece)
        if not self.placements:
            raise (
                self.elsewhere[-1]
                if self.elsewhere
                else UsageProblem(
                    "the question is about more pods or nodes than --pods and --nodes allow: allow more"
                )
            )

    def _look_for_idle_patches(self, placement: Placement) -> None:
        """A patch that makes a difference to one template is not idle; nor are all that are left idle if together they make one."""
        if not self.composition.patches:
            return
        question = placement.question
        spec = instantiate(question.template).spec
        self.altered[str(question.template)] = altered_by(self.composition, spec, question.cls)
        if not self.idle:
            return
        whole = fingerprint(placement.parametric.system)
        for source in sorted(self.idle):
            if _without(question, {source}) != whole:
                self.idle.discard(source)
        while len(self.idle) > 1 and _without(question, self.idle) != whole:
            self.idle.discard(max(self.idle))

    def _sweep(self, chunks: list[Job]) -> None:
        """Work on all chunks; where a share of the memory was too little, once more afterwards, when nobody else needs the rest."""

        what = "placements" if self.request.parts == 1 else "parts of placements"
        total = len(chunks)
        pool = pool_of(self.request.jobs, len(chunks))
        began, done, states = time.monotonic(), 0, 0

        def take(chunk: Job, result: BatchOutcome) -> None:
            nonlocal done, states
            self.found[_template_of(chunk)].append(result)
            done += 1
            states += sum(cluster.states for cluster in result.clusters)
            left = (time.monotonic() - began) / done * (total - done)
            self.watcher.say(f"{done:,} of {total:,} {what}  {states:,} states  about {left:.0f} s left")

        short: list[tuple[Job, BatchOutcome]] = []
        for chunk, result in pool.results(explore_family, chunks):
            if result.short_of_memory and self.request.jobs > 1:
                short.append((chunk, result))
            else:
                take(chunk, result)
        for chunk, first in short:
            self.watcher.say(f"again, with all of the memory: {chunk.name}")
            result = explore_family(replace(chunk.task, share=1))
            # Other programs may have taken the memory meanwhile: what was found stays found.
            take(chunk, max(result, first, key=_decided) if result.short_of_memory else result)

    def _proof(self, seconds: float) -> Proof:
        outcomes = [(name, o) for name, results in self.found.items() for r in results for o in r.clusters]
        violated = [(name, o) for name, o in outcomes if o.verdict == "VIOLATED"]
        counts = _counts([o for _, o in outcomes])
        open_ = "INCONCLUSIVE" if counts["inconclusive"] or self.is_cut else ""
        results = [r for some in self.found.values() for r in some]
        fired = {step for r in results for step in r.fired}
        groups = tuple(self._groups(violated))
        template = self.question.template
        return Proof(
            property=self.question.property,
            release=self.composition.label,
            verdict="VIOLATED" if violated else open_ or "HOLDS FOR ALL",
            pods=self.request.pods,
            nodes=self.request.nodes,
            gangs=template.gangs,
            **counts,
            transitions=sum(o.transitions for _, o in outcomes),
            depth=max((o.depth for _, o in outcomes), default=0),
            distinct=sum(r.distinct for r in results),
            parts=max(map(len, self.found.values()), default=1),
            short_of_memory=any(r.short_of_memory for r in results),
            stopped=self.is_cut,
            altered=next(filter(None, (found.alters for found in self.altered.values())), ""),
            seconds=round(seconds, 3),
            covers=covers(template),
            rows=tuple(self._rows()),
            groups=groups,
            with_scales=self._with_scales(groups, [name for name, _ in violated]),
            why=self._why(outcomes) if not (violated or open_) else None,
            sentence=self.question.cls.sentence(),
            question=() if self.question.asked is None else self.question.asked.items,
            scope=scope_of(template.scope)
            | orders_of_all(template.scope, self.composition.classes, bool(template.gangs)),
            constraints_hit=tuple(sorted({b for r in results for b in r.constraints})),
            **({} if self.is_cut else self._seen(results, fired)),
            never_acted={} if violated or open_ else _never_acted(results, fired),
            notes=(*self.composition.notes, *self._notes(bool(groups))),
            version=version_of(self.composition),
        )

    def _seen(self, results: Sequence[BatchOutcome], fired: Collection[str]) -> dict[str, Any]:
        """What came about in some cluster, and what in none."""
        reached = self._witnesses_executed()
        missed = {witness for r in results for witness in r.possible[0]} - {*reached}
        return {
            "witnesses_reached": tuple(map(witness_words, reached)),
            "witnesses_missed": tuple(map(witness_words, sorted(missed))),
            "steps_never_fired": _never_fired(results, fired),
        }

    def _witnesses_executed(self) -> tuple[str, ...]:
        """The witnesses that some cluster reached, each executed by the interpreter in one of the first template that reached it."""
        first: dict[str, tuple[str, bool, int, tuple[int, ...]]] = {}
        for name, results in self.found.items():
            for r in results:
                for witness, (depth, values) in r.witnesses.items():
                    first.setdefault(witness, (name, r.scales, depth, values))
        together: dict[tuple[str, bool], dict[str, FirstReached]] = {}
        for witness, (name, scales, depth, values) in first.items():
            parameters = self.placements[name].parametric.parameters
            reached = FirstReached(depth, dict(zip(parameters, values, strict=True)))
            together.setdefault((name, scales), {})[witness] = reached
        executed: list[str] = []
        budget = shared_budget(None, self.request.max_memory, 1)
        for (name, scales), asked in together.items():
            self.watcher.say(f"executing what was reached: {name}")
            parametric = self.placements[name].parametric
            if not scales:
                parametric = replace(parametric, system=replace(parametric.system, scales=False))
            executed += runs_to_witnesses(parametric, self.question.property, asked, budget)
        return tuple(sorted(executed))

    def _with_scales(
        self, groups: Sequence[ViolatingGroup], violated: Sequence[str]
    ) -> WithScales | msgspec.UnsetType:
        """What comes out with scales of time of the violating placements, if all that is shown needs a delay."""
        shown = [group.finding.with_scales for group in groups if group.finding is not None]
        if not shown or not all(one and one.verdict != "VIOLATED" for one in shown):
            return msgspec.UNSET
        jobs = []
        for name in dict.fromkeys(violated):
            question = self.placements[name].question
            scope = replace(question.template.scope, time=SCALES)
            timed = replace(question, template=replace(question.template, scope=scope))
            most = min(self.request.max_states or MOST_STATES, MOST_STATES)
            jobs.append(Job(name, FamilyTask(timed, most, self.request.jobs, (), self.request.max_memory)))
        self.watcher.start(f"{self.what}: whether only with a delay of minutes")
        pool = pool_of(self.request.jobs, len(jobs))
        results = [result for _, result in pool.results(explore_family, jobs)]
        found = {cluster.verdict for result in results for cluster in result.clusters}
        worst: Word = next(word for word in ("VIOLATED", "INCONCLUSIVE", "HOLDS") if word in found)
        return WithScales(worst, sum(result.distinct for result in results))

    def _notes(self, violated: bool) -> Iterator[str]:
        if self.is_cut:
            yield from [_CUT, _NOT_SHOWN] if violated else [_CUT]
        else:
            yield from self._idle_notes()
        if self.elsewhere:
            count, tried = len(self.elsewhere), len(self.elsewhere) + len(self.placements)
            yield (
                f"{count} of {counted(tried, 'choice')} of placement, pods and nodes have no such step, as in: {self.elsewhere[-1]}"
            )

    def _idle_notes(self) -> Iterator[str]:
        for patch in self.composition.patches:
            if patch.source in self.idle:
                yield f"{patch.name} changes nothing in any of these clusters: the scheduler is the same without it"
        yield from dict.fromkeys(note for found in self.altered.values() for note in found.notes)

    def _rows(self) -> Iterator[Row]:
        outcomes: dict[ClusterTemplate, list[ClusterOutcome]] = {}
        for name, placement in self.placements.items():
            here = outcomes.setdefault(placement.question.template, [])
            here += [o for r in self.found[name] for o in r.clusters]
        for template, found in outcomes.items():
            yield Row(
                pods=template.pods, nodes=len(template.bound), placement=str(template), **_counts(found)
            )

    def _groups(self, violated: list[tuple[str, ClusterOutcome]]) -> Iterator[ViolatingGroup]:
        """Clusters whose counterexamples take the same steps, the shortest first. Once podrace was told to end, nothing more is searched for them."""
        groups: dict[tuple[tuple[str, int], ...], list[tuple[str, ClusterOutcome]]] = {}
        for name, outcome in violated:
            groups.setdefault(tuple(sorted(Counter(outcome.steps).items())), []).append((name, outcome))
        shortest = sorted(groups.values(), key=lambda members: min(map(self._simplicity, members)))
        for number, members in enumerate(shortest):
            name, outcome = min(members, key=self._simplicity)
            placement, values = self.placements[name], outcome.values
            if not self.is_cut:
                parameters = placement.parametric.parameters
                least = placement.regions.smallest(dict(zip(parameters, values, strict=True)))
                values = tuple(least[q] for q in parameters)
            yield self._group(number, placement.question, values, members)

    def _why(self, outcomes: list[tuple[str, ClusterOutcome]]) -> AskAnswer | None:
        """Why an order of steps is not possible, in one cluster: of some small and large ones, one in which most of the steps are."""
        if self.question.asked is None:
            return None
        self.watcher.start(f"{self.what}: why it is not possible")
        room = shared_budget(LOOKED_AT, self.request.max_memory, 1)
        found: list[tuple[int, Run]] = []
        by_size = sorted(outcomes, key=lambda one: one[1].states)
        for name, outcome in by_size[:: max(1, len(by_size) // MOST_EXPLAINED)]:
            question = self.placements[name].question
            values = named(question, outcome.values)
            spec = concrete(question.template, values)
            scenario = Scenario(_in_words(question.template, values), "", spec.name, spec)
            run = Run(scenario, self.composition, question.property, own=question.cls)
            found.append((steps_possible(searched(run, room), len(self.question.asked.steps)), run))
        if not found:
            return None
        _, run = max(found, key=lambda one: one[0])
        return answer(run, shared_budget(None, self.request.max_memory, 1))

    def _simplicity(self, member: tuple[str, ClusterOutcome]) -> tuple[bool, int, int, tuple[int, ...]]:
        """Less is simpler; what a scenario file cannot say comes last."""
        name, outcome = member
        question = self.placements[name].question
        oversize = _oversize(question.template, named(question, outcome.values))
        return oversize, len(outcome.trace), len(outcome.values), outcome.values

    def _group(
        self,
        number: int,
        question: ProofQuestion,
        values: tuple[int, ...],
        members: list[tuple[str, ClusterOutcome]],
    ) -> ViolatingGroup:
        chosen = named(question, values)
        spec = concrete(question.template, chosen)
        count = len(members)
        name = f"{question.property.lower()}-group-{number + 1}"
        title = "The simplest of several violating clusters" if count > 1 else "A violating cluster"
        finding = None
        if number < SHOWN and not self.is_cut:
            scenario = Scenario(name, title, name, replace(spec, name=name))
            own = question.cls if question.own or question.asked is not None else None
            self.watcher.start(f"{self.what}: group {number + 1}")
            run = Run(scenario, self.composition, question.property, own=own)
            budget = shared_budget(None, self.request.max_memory, 1)
            finding = verdict_on(run, budget) if question.asked is None else answer(run, budget).finding
        text, unwritten = "", ""
        try:
            text = scenario_text(
                spec,
                name=name,
                title=title,
                release=exact(question.release),
                properties=[] if question.own or question.asked is not None else [question.property],
                gates=question.gates,
                comment=f"Found by podrace {'prove' if question.asked is None else 'ask'} on {self.composition.label}. To see it: podrace {question.command}{question.options}",
            )
        except Unwritable as reason:
            unwritten = str(reason)
        return ViolatingGroup(
            clusters=count,
            example=_in_words(question.template, chosen),
            steps=min(len(o.trace) for _, o in members),
            scenario=text,
            unwritten=unwritten,
            finding=finding,
        )


def _counts(outcomes: Sequence[ClusterOutcome]) -> dict[str, Any]:
    """The counts that a proof and each of its rows have."""
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    return {
        "clusters": len(outcomes),
        "states": sum(o.states for o in outcomes),
        "violated": verdicts["VIOLATED"],
        "inconclusive": verdicts["INCONCLUSIVE"],
    }


def _never_fired(results: Sequence[BatchOutcome], fired: Collection[str]) -> tuple[str, ...]:
    steps = dict.fromkeys(step for r in results for step in r.possible[1])
    return tuple(step for step in steps if step not in fired)


def _never_acted(results: Sequence[BatchOutcome], fired: Collection[str]) -> dict[str, str]:
    """What the scope asks for, and what never took a step in any cluster of any template that has it."""
    idle: dict[str, str] = {}
    acting: set[str] = set()
    for r in results:
        here = never_acted_by_steps(r.parts, fired)
        idle |= here
        acting |= r.parts.keys() - here.keys()
    return {name: why for name, why in idle.items() if name not in acting}


def _decided(outcome: BatchOutcome) -> int:
    """How many clusters are decided."""
    return sum(cluster.verdict != "INCONCLUSIVE" for cluster in outcome.clusters)


def _without(question: ProofQuestion, sources: set[str]) -> str:
    """The fingerprint of the system without some patches; empty if it cannot be built, for another patch needs what is left out."""
    others = tuple(source for source in question.patches if source not in sources)
    try:
        return fingerprint(replace(question, patches=others).begun().parametric_system().system)
    except Exception:  # whatever a patch raises where a method of another's is missing
        return ""


def _template_of(chunk: Job) -> str:
    return chunk.name.rpartition(" #")[0]


def _oversize(template: ClusterTemplate, values: dict[str, int]) -> bool:
    """Whether no node could hold some pod: the reader of scenarios takes that for a mistake."""
    unknown = instantiate(template)
    with fresh_graph():
        chosen = {q: values[q.name] for q in unknown.parameters}
        return any(evaluate(e, chosen) for e in unknown.oversize())


def covers(template: ClusterTemplate) -> str:
    """Which clusters a proof speaks of, exactly."""
    limits, resources = template.limits, " and ".join(template.resources)
    gangs = ""
    if template.gangs:
        each = " and ".join(map(str, template.gangs))
        gangs = f"; gangs of {each} pods next to the other pods, all of one gang alike, minCount being all of them"
        if template.together:
            gangs += ", whose pods arrive one after the other"
    return (
        f"all requests from {limits.least_request} and all capacities up to {_amount(limits.capacity)} units of {resources}, "
        f"all priorities from {_amount(limits.least_priority)} to {_amount(limits.priority)}, and every placement at the start in "
        "which the bound pods fit and all other pods wait in activeQ, in any order of arrival; pods without affinity, "
        f"tolerations or budgets, {'with' if template.graceful else 'without'} a grace period; nodes without taints{gangs}"
    )


def _amount(number: int) -> str:
    power = abs(number).bit_length() - 1
    if abs(number) > 1 << 16 and abs(number) == 1 << power:
        return f"{'-' if number < 0 else ''}2^{power}"
    return f"{number:,}"


def _in_words(template: ClusterTemplate, values: dict[str, int]) -> str:
    spec = concrete(template, values)
    nodes = [f"{n.name} has {_amounts(n.name, template, values)}" for n in spec.nodes]
    pods = [
        f"{p.name} asks for {_amounts(owner, template, values)} with priority {values[f'{owner}.priority']}"
        + (f", on {p.node.name}" if p.node is not None else "")
        + (f", in the gang {p.group}" if p.group is not None else "")
        for p, owner in zip(spec.pods, template.owners, strict=True)
    ]
    return "; ".join([*nodes, *pods])


def _amounts(name: str, template: ClusterTemplate, values: dict[str, int]) -> str:
    return " and ".join(f"{values[f'{name}.{r}']} {r}" for r in template.resources)
