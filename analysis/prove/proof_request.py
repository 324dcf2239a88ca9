"""What `podrace prove` is asked: up to which size, on what scheduler, by which properties."""

from __future__ import annotations

import builtins
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import field, replace

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...checker.parametric.parametric_system import ParametricSystem
from ...model.environment.cluster.scope import ANY_TIME
from ...model.environment.objects import Scope
from ...model.history import CHANGES, Composition, resolve
from ...properties import PROPERTIES, Property, instrument
from ...scenarios import Scenario
from ...scenarios.template import LOWEST_PRIORITY, ClusterTemplate, Limits, concrete, instantiate, templates
from ...scenarios.writing import Unwritable, scenario_text
from ..ask.asked_property import ID as ASK
from ..ask.asked_property import asked_property
from ..ask.question import Question
from ..request.in_release import HOW_GROUPS, has_entries, refusal_of, schedules_groups
from ..request.options import parse_fix, parse_gates, parse_property
from ..request.own_code import theirs, what_it_changed
from ..request.own_modules import digest_of
from ..request.own_properties import own_properties
from ..request.patches import patches_of, with_patches
from ..request.plan import compose, release_of


class ProofRequest(Data):
    """What the command line asks for. The clusters of a large placement are explored in so many `parts`. `own` is as `--properties` gives it, `patches` as `--patch`, `gates` as `--gate`.

    `asked`: whether an order of steps can happen, of whichever pods and nodes.
    """

    pods: int
    nodes: int
    release: str | None = None
    with_fixes: Sequence[str] = ()
    without_fixes: Sequence[str] = ()
    properties: Sequence[str] = ()
    own: Sequence[str] = ()
    patches: Sequence[str] = ()
    example: ClusterTemplate = field(default_factory=lambda: ClusterTemplate((), 0))
    max_states: int | None = None
    jobs: int = 1
    gates: Sequence[str] = ()
    parts: int = 1
    max_memory: int | None = None
    asked: Question | None = None


class ProofQuestion(Data):
    """What is asked of the clusters of an template. `own` is as `--properties` gives it, `patches` as `--patch`.

    `sources` is the digest of their files when the proof began: each worker reads them anew.
    """

    template: ClusterTemplate
    release: str
    with_fixes: tuple[str, ...]
    without_fixes: tuple[str, ...]
    property: str
    own: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    gates: tuple[tuple[str, bool], ...] = ()
    sources: str = ""
    asked: Question | None = None

    @builtins.property
    def cls(self) -> type[Property]:
        """The property."""
        if self.asked is not None:
            return asked_property(self.asked)
        return own_properties(self.own).get(self.property) or PROPERTIES[self.property]

    def in_template(self, template: ClusterTemplate) -> Iterator[tuple[str, ProofQuestion]]:
        """What is asked of the clusters of a template: an order of steps of every choice of pods and nodes, which are said."""
        if self.asked is None:
            yield "", replace(self, template=template)
            return
        spec = instantiate(template).spec
        for names, asked in self.asked.about([p.name for p in spec.pods], [n.name for n in spec.nodes]):
            chosen = ", ".join(f"{name} = {value}" for name, value in names.items())
            yield chosen and f"; {chosen}", replace(self, template=template, asked=asked)

    @builtins.property
    def composition(self) -> Composition:
        """The scheduler that is asked about."""
        found = resolve(self.release, self.with_fixes, self.without_fixes, dict(self.gates))
        return with_patches(found, patches_of(self.patches))

    @builtins.property
    def command(self) -> str:
        """The command that asks the same of a scenario."""
        return "check FILE" if self.asked is None else shlex.join(["ask", "FILE", *self.asked.items])

    @builtins.property
    def options(self) -> str:
        """The options of `podrace check` by which it asks the same of a scenario that names the release and the gates."""
        composition = self.composition
        given = [f"--with-fix {key}" for key in composition.added]
        given += [f"--without-fix {key}" for key in composition.removed]
        given += [f"--patch {source}" for source in self.patches]
        given += [f"--properties {source}" for source in self.own]
        given += [f"--property {self.property}"] if self.own else []
        return "".join(f" {option}" for option in given)

    def parametric_system(self) -> ParametricSystem:
        """The system with its parameters: the requests, capacities and priorities.

        Raises UsageProblem if a file of the user's is no longer what it was when the proof began.
        """
        composition, prop, digest = self._read()
        if digest != self.sources:
            files = ", ".join([*self.own, *self.patches])
            raise UsageProblem(f"{files}: changed while the proof was running: run it again")
        found = instantiate(self.template)
        with theirs() if digest else nullcontext():
            system = instrument(found.spec, composition.classes, [prop])
        if changed := what_it_changed():
            raise UsageProblem(f"{', '.join([*self.own, *self.patches])}: {changed}")
        return ParametricSystem(system, found.parameters, found.assumptions())

    def begun(self) -> ProofQuestion:
        """The question about the files as they are now."""
        return replace(self, sources=self._read()[2])

    def _read(self) -> tuple[Composition, type[Property], str]:
        composition, prop = self.composition, self.cls
        classes = [cls for patch in composition.patches for cls in patch.classes]
        return composition, prop, digest_of([prop, *classes])


def template_of(
    resources: Sequence[str],
    scope: Scope,
    *,
    graceful: bool,
    negative_priorities: bool,
    empty_requests: bool,
    one_priority: bool = False,
    gangs: Sequence[int] = (),
    together: bool = False,
) -> ClusterTemplate:
    """What all clusters have in common: CPU where no resource is named, and what may be unusual about pods."""
    limits = Limits(
        least_request=int(not empty_requests), least_priority=LOWEST_PRIORITY if negative_priorities else 0
    )
    named = tuple(dict.fromkeys(resources or ["cpu"]))
    if one_priority:
        limits = replace(limits, priority=0, least_priority=0)
    return ClusterTemplate(
        (),
        0,
        resources=named,
        graceful=graceful,
        limits=limits,
        scope=scope,
        gangs=tuple(gangs),
        together=together,
    )


def _refuse_unreadable(example: ClusterTemplate, composition: Composition) -> None:
    """Refuse what a scenario of such a cluster may not have, or gets from its reader as a template does not. Raises UsageProblem.

    The scope of a template is read without a cluster: it could be that of nobody's nodes, or what is not modelled next to groups.
    """
    template = next(templates(int(not example.gangs), 1, example))
    found = instantiate(template)
    values = {q.name: 1 for table in found.requests for q in table.values()}
    values |= {q.name: template.pods for table in found.capacities for q in table.values()}
    values |= {q.name: max(q.lo, 0) for q in found.priorities}
    spec = concrete(template, values)
    try:
        scenario_text(spec, name="a", title="", release=None, properties=[], gates=composition.gates)
    except Unwritable as reason:
        why = re.sub("^no scenario file can say this cluster: (written:[0-9]+: )?", "", str(reason))
        raise UsageProblem(
            f"--scope: not in the clusters of a proof, for which `podrace check` takes a scenario: {why}"
        ) from None
    if refusal := refusal_of(Scenario("--gate", "", "", spec), composition):
        raise UsageProblem(refusal)


def questions(request: ProofRequest) -> Iterator[ProofQuestion]:
    """One question for each property. Raises UsageProblem."""
    own = own_properties(request.own, request.properties)
    own |= {} if request.asked is None else {ASK: asked_property(request.asked)}
    release = release_of(request.release)
    fixes = [
        tuple(parse_fix(name, list(CHANGES)) for name in names)
        for names in (request.with_fixes, request.without_fixes)
    ]
    composition = compose(release, fixes[0], fixes[1], parse_gates(request.gates))
    gates = composition.gates
    if request.example.gangs and not schedules_groups(composition):
        raise UsageProblem(f"--gang: gangs are for where the feature gate of groups is on: {HOW_GROUPS}")
    limits = request.example.limits
    if request.example.gangs and has_entries(composition) and limits.priority != limits.least_priority:
        raise UsageProblem(
            "--gang: the priorities of groups in 1.37 have to be known, and a proof leaves them open: add --one-priority"
        )
    if request.example.together and not request.example.gangs:
        raise UsageProblem("--together is about the pods of gangs: add --gang N")
    _refuse_unreadable(request.example, composition)
    names = [parse_property(name, [*PROPERTIES, *own]) for name in request.properties]
    for name in dict.fromkeys(names or [*own] or ["S-NOM", "S-NOMVIS", "S-CAP"]):
        kind = (own.get(name) or PROPERTIES[name]).kind
        sources = tuple(request.own) if name in own else ()
        example = request.example
        if name == ASK or kind == "resettability" or not composition.flush_takes_minutes or example.gangs:
            example = replace(example, scope=replace(example.scope, time=ANY_TIME, slow=()))
        yield ProofQuestion(
            example,
            release,
            fixes[0],
            fixes[1],
            name,
            sources,
            tuple(request.patches),
            gates,
            asked=request.asked,
        ).begun()
