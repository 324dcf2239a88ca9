"""Which runs a command line asks for: scenarios, releases and properties, all of them checked before any run.

The scope as options give it: NAME=VALUE, as in the `scope` section of a scenario.
"""

import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from ...base.problems import NotInRelease, Problem, UsageProblem
from ...base.structs import Data
from ...base.text import listed, nearest_fixes, one_line
from ...model.environment.cluster.scope import ANY_TIME, SCALES, SHORT_ACTORS
from ...model.environment.objects import Scope
from ...model.history import CHANGES, Composition, GateProblem, Patch, resolve
from ...properties import PROPERTIES, Property
from ...reports.document import Word
from ...scenarios import Scenario, catalogue, find_scenarios
from ...scenarios.reader.sections.scope_section import read_scope
from ...scenarios.values.yaml_values import parse_document
from .in_release import refusal_of
from .options import known_gate, nearest_properties, parse_fix, parse_gates, parse_property
from .patches import with_patches
from .release_names import NEWEST, parse_release

SAFETY = ("invariant", "deadlock freedom")
"""The kinds of properties that a run of finitely many steps violates."""


class Selection(Data):
    """What the options of `podrace check` ask for. `given` are scenarios beside the named ones; `remark` is one on every run of these.

    `gates` are as `--gate` gives them.
    """

    names: Sequence[str] = ()
    release: str | None = None
    with_fixes: Sequence[str] = ()
    without_fixes: Sequence[str] = ()
    properties: Sequence[str] = ()
    own: Mapping[str, type[Property]] = field(default_factory=dict)
    fair_flush: bool = False
    patches: Sequence[Patch] = ()
    given: Sequence[Scenario] = ()
    remark: str = ""
    gates: Sequence[str] = ()
    time: str | None = None
    slow: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing in particular is asked for."""
        return self == Selection()


def at_any_time(scenario: Scenario) -> Scenario:
    """The scenario without scales of time."""
    return replace(
        scenario, spec=replace(scenario.spec, scope=replace(scenario.spec.scope, time=ANY_TIME, slow=()))
    )


class Run(Data):
    """One property to be checked in one scenario on one release; `expected` is what is known to come out, after `expected_steps`.

    `remark` says, for the reader of the result, why it is run. `own` is the property if it is the user's; `origin`
    is the field of the file that asks for the run, if it is none of those that name properties. What goes on, or stays possible, for ever takes any time,
    so such a property has no scales of time, and neither has a scenario that leaves numbers open, or a release whose flush takes no minutes.
    """

    scenario: Scenario
    composition: Composition
    property: str
    expected: Word | None = None
    expected_steps: int | None = None
    remark: str = ""
    own: type[Property] | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        scope = self.scenario.spec.scope
        endless = self.prop.kind in ("liveness", "resettability")
        if scope.time != ANY_TIME and (
            self.scenario.open or endless or not self.composition.flush_takes_minutes
        ):
            object.__setattr__(self, "scenario", at_any_time(self.scenario))

    @builtins.property
    def ignored(self) -> str:
        """Why the scenario says that this property is not to be looked at, or not for any pod; empty if it does not say so."""
        everybody = {pod.name for pod in self.scenario.spec.pods} <= self.silenced.keys()
        for_each = "; ".join(f"{pod}: {reason}" for pod, reason in self.silenced.items())
        return self.scenario.ignore.get(self.property, for_each if everybody else "")

    @builtins.property
    def silenced(self) -> Mapping[str, str]:
        """For which pods it is not to be looked at, and why."""
        return self.scenario.silenced.get(self.property, {})

    @builtins.property
    def prop(self) -> type[Property]:
        """The class of the property, the user's own or that of the catalogue, less what is silenced."""
        return (self.own or PROPERTIES[self.property]).ignoring(frozenset(self.silenced))


def plan(selection: Selection) -> list[Run]:
    """The runs, in the order in which they are reported. Raises Problem."""
    if selection.is_empty:
        return _before_and_after()
    properties = _unique(parse_property(name, [*PROPERTIES, *selection.own]) for name in selection.properties)
    properties = properties or list(selection.own)
    release = parse_release(selection.release) if selection.release is not None else None
    with_fixes = _unique(parse_fix(name, list(CHANGES)) for name in selection.with_fixes)
    without_fixes = _unique(parse_fix(name, list(CHANGES)) for name in selection.without_fixes)
    gates = parse_gates(selection.gates)
    runs = []
    everything = not selection.names and not selection.given
    for scenario in chosen_scenarios(selection.names, selection.given):
        if everything and release is not None and not has_gates_of(release, scenario):
            continue
        refuse_unknown_ignored(scenario, selection.own)
        if selection.fair_flush:
            scenario = with_a_fair_flush(scenario)
        scenario = in_time(scenario, selection.time, selection.slow)
        beside = race_beside(scenario) if release is None else ()
        composition = compose_for(
            scenario,
            release or default_release(scenario),
            _unique([*with_fixes, *beside]),
            without_fixes,
            gates,
        )
        if everything and release is not None and refusal_of(scenario, composition) is not None:
            continue
        composition = with_patches(composition, selection.patches)
        remark = selection.remark if scenario.file in {given.file for given in selection.given} else ""
        for identifier in properties or default_properties(scenario):
            own = selection.own.get(identifier)
            runs.append(Run(scenario, composition, identifier, remark=remark, own=own))
    return runs


def in_time(scenario: Scenario, time: str | None, slow: Sequence[str]) -> Scenario:
    """The same with scales of time or without, and with these actors slow, as the options say. Raises UsageProblem."""
    return replace(
        scenario, spec=replace(scenario.spec, scope=scope_in_time(scenario.spec.scope, time, slow))
    )


def scope_in_time(scope: Scope, time: str | None, slow: Sequence[str]) -> Scope:
    """The same of a scope. Raises UsageProblem."""
    if time is None and not slow:
        return scope
    unknown = [name for name in slow if name not in SHORT_ACTORS]
    if unknown:
        raise UsageProblem(
            f"--slow: no actor is called `{one_line(unknown[0])}`: use {', '.join(SHORT_ACTORS[:-1])} or {SHORT_ACTORS[-1]}"
        )
    time = time or (SCALES if slow else scope.time)
    if slow and time != SCALES:
        raise UsageProblem("--slow is for --time scales: with --time any every actor may be slow")
    slow = tuple(dict.fromkeys(slow)) or (scope.slow if time == SCALES else ())
    return replace(scope, time=time, slow=tuple(slow))


def with_a_fair_flush(scenario: Scenario) -> Scenario:
    """The same with liveness counting on the periodic flush. Raises UsageProblem if there is none."""
    scope = scenario.spec.scope
    if not scope.flush:
        raise UsageProblem(
            f"--fair-flush: {scenario.name} has no periodic flush (`flush: false` in its scope)"
        )
    return replace(scenario, spec=replace(scenario.spec, scope=replace(scope, fair_flush=True)))


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def chosen_scenarios(names: Sequence[str], given: Sequence[Scenario] = ()) -> list[Scenario]:
    """The given scenarios and those that these names stand for, each once; without any, the whole catalogue.

    Raises Problem.
    """
    if not names:
        return list(given or catalogue())
    found = {scenario.file: scenario for scenario in given}
    for name in names:
        for scenario in find_scenarios(name):
            other = found.setdefault(scenario.file, scenario)
            if (
                other != scenario
            ):  # one of podrace's, and a file of the user's whose name is the same: that one gets its whole name
                own = scenario if scenario.file == name else other
                found[other.file] = scenario if own is other else other
                whole = Path(own.file).absolute().as_posix()
                found.setdefault(whole, replace(own, file=whole))
    return list(found.values())


def release_of(text: str | None, otherwise: str = NEWEST) -> str:
    """The release that an option names, if it is there. Raises UsageProblem."""
    return parse_release(text) if text is not None else otherwise


def compose(
    release: str,
    with_fixes: Sequence[str],
    without_fixes: Sequence[str],
    gates: Mapping[str, bool] | None = None,
) -> Composition:
    """A release with these changes put in and taken out, and feature gates set. Raises UsageProblem for a contradiction, and for
    a gate that cannot be set so.
    """
    try:
        return resolve(release, with_fixes, without_fixes, gates)
    except GateProblem as problem:
        raise UsageProblem(f"--gate: {problem}") from None
    except ValueError as error:
        options = "--with-fix or --gate" if "the gate" in str(error) else "--with-fix or --without-fix"
        raise UsageProblem(f"{error}: leave out {options}") from None


def compose_for(
    scenario: Scenario,
    release: str,
    with_fixes: Sequence[str],
    without_fixes: Sequence[str],
    gates: Mapping[str, bool] | None = None,
) -> Composition:
    """The same with the gates that a scenario sets, where `gates` does not. Raises NotInRelease for one that cannot be set so."""
    asked = gates or {}
    own = {name: on for name, on in checked_gates(scenario, release).items() if name not in asked}
    return compose(release, with_fixes, without_fixes, {**own, **asked})


def has_gates_of(release: str, scenario: Scenario) -> bool:
    """Whether a release has the gates that a scenario sets: of the whole catalogue, only such scenarios are meant."""
    try:
        checked_gates(scenario, release)
    except NotInRelease:
        return False
    return True


def with_gates_of(scenario: Scenario, composition: Composition, asked: Mapping[str, bool]) -> Composition:
    """A composition as a scenario has it that sets gates which were not `asked` for. Raises NotInRelease."""
    if not scenario.feature_gates:
        return composition
    made = compose_for(scenario, composition.release, composition.added, composition.removed, asked)
    return replace(made, patches=composition.patches, notes=composition.notes)


def checked_gates(scenario: Scenario, release: str) -> dict[str, bool]:
    """The gates that a scenario sets, by their names in the table. Raises NotInRelease for one that a release does not have so."""
    found = {}
    for written, on in scenario.feature_gates.items():
        try:
            name = known_gate(written)
            resolve(release, gates={name: on})
        except (UsageProblem, GateProblem) as problem:
            place = f"featureGates.{one_line(written)}"
            raise NotInRelease(str(scenario.complaint(place, str(problem)))) from None
        found[name] = on
    return found


OPEN_RACE = "gone-victim"
"""The race that the first run begins with, as long as the newest version does not have its fix."""


def _open_today() -> list[Run]:
    """A race that is open in the newest version."""
    (scenario,) = find_scenarios(OPEN_RACE)
    composition = compose_for(scenario, NEWEST, (), ())
    if not set(race_fixes(scenario)) <= {change.key for change in composition.missing}:
        return []
    remark = f"it is open in {composition.label}, the newest version"
    return [Run(scenario, composition, p, "VIOLATED", remark=remark) for p in default_properties(scenario)]


def _before_and_after() -> list[Run]:
    """A race that is open today. Then every seed race on the release just before its fix, and on the same release with the fix put in; then what the
    fix leaves open, and that further changes close it.
    """
    runs = _open_today()
    for scenario in catalogue():
        if scenario.race is None or not scenario.race.seed:
            continue
        release = default_release(scenario)
        before = race_beside(scenario)
        fixed = compose_for(scenario, release, [*race_fixes(scenario), *before], ())
        properties = default_properties(scenario)
        runs += [
            Run(scenario, compose_for(scenario, release, before, ()), p, expected="VIOLATED")
            for p in properties
        ]
        runs += [Run(scenario, fixed, p, expected="HOLDS") for p in properties]
        runs += _residual(scenario, release)
    return runs


def _residual(scenario: Scenario, release: str) -> list[Run]:
    residual = scenario.race.residual if scenario.race else None
    if residual is None:
        return []
    fixes, further = race_fixes(scenario), checked_changes(scenario, residual.closed_by)
    left = f"still open after {listed(fixes)}: another interleaving breaks {residual.property} although the fix is in"
    closed = f"{listed([*fixes, *further])} together make {residual.property} hold"
    return [
        Run(scenario, compose_for(scenario, release, fixes, ()), residual.property, "VIOLATED", remark=left),
        Run(
            scenario,
            compose_for(scenario, release, [*fixes, *further], ()),
            residual.property,
            "HOLDS",
            remark=closed,
        ),
    ]


def race_fixes(scenario: Scenario) -> tuple[str, ...]:
    """The upstream changes that fix the race of a scenario, checked against the model's."""
    return checked_changes(scenario, scenario.race.fixes if scenario.race else ())


def race_beside(scenario: Scenario) -> tuple[str, ...]:
    """The changes that are put in beside the fix and without it, checked against the model's."""
    return checked_changes(scenario, scenario.race.beside if scenario.race else ())


def checked_changes(scenario: Scenario, keys: tuple[str, ...]) -> tuple[str, ...]:
    """These upstream changes, named in the race of a scenario, checked against the model's."""
    for key in keys:
        if key not in CHANGES:
            raise scenario.complaint(
                "race", f"unknown fix `{one_line(key)}`; {nearest_fixes(key, list(CHANGES))}"
            )
    return keys


def default_release(scenario: Scenario) -> str:
    """The release that a scenario is meant for; the newest if it does not say."""
    if scenario.release is None:
        return NEWEST
    try:
        return parse_release(scenario.release)
    except UsageProblem as problem:
        raise scenario.complaint("release", str(problem)) from None


def default_properties(scenario: Scenario) -> tuple[str, ...]:
    """The properties that a scenario is meant for, checked against the catalogue; all if it does not say."""
    for section, names in (("properties", scenario.properties), ("also", scenario.also)):
        for i, name in enumerate(names):
            if name not in PROPERTIES:
                problem = f"unknown property `{name}`; {nearest_properties(name, tuple(PROPERTIES))}"
                raise scenario.complaint(f"{section}[{i}]", problem)
    return scenario.properties or tuple(PROPERTIES)


def refuse_all_ignored(runs: Sequence[Run]) -> None:
    """Refuse to look at nothing, which would be no success. Raises UsageProblem."""
    if runs and all(run.ignored for run in runs):
        why = "; ".join(dict.fromkeys(f"{run.property}: {run.ignored}" for run in runs))
        raise UsageProblem(
            f"nothing would be looked at, for all is ignored ({one_line(why, 300)}): name another property"
        )


def refuse_unknown_ignored(scenario: Scenario, own: Mapping[str, type[Property]]) -> None:
    """Refuse to ignore what no property is, for it would be a mistyped one that is still looked at; and to ignore for single
    pods what is about none. Raises Problem.
    """
    known = {**PROPERTIES, **own}
    places = {f"ignore.{one_line(name)}": name for name in scenario.ignore}
    of_pods = {
        f"pods.{pod}.ignore.{one_line(name)}": name
        for name, pods in scenario.silenced.items()
        for pod in pods
    }
    for path, name in (places | of_pods).items():
        if name not in known:
            problem = f"unknown property `{one_line(name)}`; {nearest_properties(name, tuple(known))}"
            raise scenario.complaint(path, problem)
        if path in of_pods and not known[name].concerns:
            problem = f"{name} is not about single pods, so it cannot be ignored for one"
            raise scenario.complaint(
                path, f"{problem}: ignore it for the whole file, in the section `ignore` at its top"
            )


def parse_scope(settings: Sequence[str]) -> Scope:
    """The scope with these bounds; the others are as by default. Raises UsageProblem."""
    lines = []
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip() or "\n" in setting:
            raise UsageProblem(f"--scope: `{one_line(setting)}`: write NAME=VALUE, such as node_deletions=1")
        lines.append(f"{name.strip()}: {value.strip()}")
    if not lines:
        return Scope()
    try:
        return read_scope(parse_document("\n".join(lines) + "\n", "--scope"), {})
    except Problem as error:
        raise UsageProblem(str(error)) from None
