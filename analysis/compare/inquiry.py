"""Which two schedulers are compared, and in which scenarios: what `podrace verify` and `podrace diff` ask."""

from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType

import msgspec

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import nearest_fixes, one_line
from ...checker.core.exploration import Budget
from ...model.history import CHANGES, RELEASES, Composition, Patch, key_of
from ...model.history.versions import exact
from ...properties import PROPERTIES
from ...reports.verify.comparison import Comparison, Pair
from ...scenarios import Scenario, number_of
from ..request import plan
from ..request.in_release import refusal_of
from ..request.method import NOBODY, Method, Watcher
from ..request.option_files import split_option
from ..request.options import parse_fix, parse_gates, parse_property
from ..request.patches import read_patch, with_patches
from ..request.plan import Selection
from ..request.release_names import NEWEST
from .listener import DEAF, Listener
from .safety_nets import NETS
from .schedulers import Comparer

FRAMEWORK = "framework"
"""The change before which no plugin could take part: a scenario with plugins says nothing of a release without it."""


class Candidate(Data):
    """A change that may be put into a release: one of upstream's by its key, or a patch."""

    key: str = ""
    patch: Patch | None = None

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.key if self.patch is None else self.patch.name

    @property
    def contents(self) -> list[str]:
        """The classes of a patch, or the key: candidates that share one of these are the same change."""
        classes = () if self.patch is None else self.patch.classes
        return [f"{cls.__module__}:{cls.__name__}" for cls in classes] or [self.key]


def candidates_of(names: Sequence[str]) -> list[Candidate]:
    """The changes that `PATCH.py[:CLASS]` and upstream numbers stand for. Raises UsageProblem."""
    found: list[Candidate] = []
    for name in names:
        one = _candidate(name)
        if any(not set(one.contents).isdisjoint(other.contents) for other in found):
            raise UsageProblem(f"`{one_line(name)}` names a change twice: name each change once")
        found.append(one)
    return found


def _candidate(name: str) -> Candidate:
    path, _ = split_option(name)
    if path.suffix == ".py" or path.is_file():
        return Candidate(patch=read_patch(name))
    key = key_of(number_of(name) or name)
    if key not in CHANGES:
        known = nearest_fixes(key, list(CHANGES))
        raise UsageProblem(
            f"unknown change `{one_line(name)}`: name a Python file, or an upstream change; {known}"
        )
    return Candidate(key=key)


def put_in(
    release: str,
    candidates: Sequence[Candidate],
    with_fixes: Sequence[str] = (),
    gates: Mapping[str, bool] | None = None,
) -> Composition:
    """The release with these changes. Raises UsageProblem if one of upstream's is in it already."""
    keys = [c.key for c in candidates if c.patch is None]
    for key in keys:
        if CHANGES[key].is_in(release):
            raise UsageProblem(
                f"{exact(release)} has {key} already: choose an earlier release with --release"
            )
    found = plan.compose(release, list(dict.fromkeys([*with_fixes, *keys])), (), gates)
    return with_patches(found, [c.patch for c in candidates if c.patch is not None])


def default_release(candidates: Sequence[Candidate]) -> str:
    """The newest version, if it has none of these changes; else the first version of the newest release without the oldest of them."""
    changes = [CHANGES[c.key] for c in candidates if c.patch is None]
    release = RELEASES[: max(min((change.age.release for change in changes), default=len(RELEASES)), 1)][-1]
    coming = release == RELEASES[-1] and not any(change.is_in(NEWEST) for change in changes)
    return NEWEST if coming else release


def with_changes(
    names: Sequence[str], against: str | None, selection: Selection, budget: Budget, method: Method,
    watcher: Watcher = NOBODY, listener: Listener[Pair] = DEAF, alone: bool = False,
) -> Comparison:  # fmt: skip
    """A release (or another, `against`) compared with the same and these changes, `alone`: without the regression checks. Raises UsageProblem."""
    candidates = candidates_of(names)
    fixes = [parse_fix(name, list(CHANGES)) for name in selection.with_fixes]
    base = plan.release_of(selection.release, default_release(candidates))
    gates = parse_gates(selection.gates)
    after = put_in(base, candidates, fixes, gates)
    old = plan.release_of(against, base)
    before = plan.compose(old, fixes, (), gates)
    runs, left_out = runs_of(selection, before, after)
    comparer = Comparer(
        before, after, runs, budget, method, watcher, left_out, gates,
        nets=not alone, listener=listener, by_relevance=not selection.names,
    )  # fmt: skip
    if against is None and comparer.is_no_comparison():
        changes = " + ".join(c.name for c in candidates)
        raise UsageProblem(
            f"{changes} changes nothing on {before.label}: in every scenario the two systems are the same; "
            + (
                _wanted_beside(comparer.scenarios(), {c.key for c in candidates}, base, fixes)
                or "choose another --release or --scenario, or look for what overrides it"
            )
        )
    compared = comparer.compare()
    left = nets_not_asked(runs) if alone else ()
    return msgspec.structs.replace(compared, alone=left)


def _wanted_beside(scenarios: Sequence[Scenario], asked: Set[str], release: str, fixes: Sequence[str]) -> str:
    """What to add for a race that one of these changes is the fix of, and that needs another change to be there at all."""
    for scenario in scenarios:
        if scenario.race is None or asked.isdisjoint(scenario.race.fixes):
            continue
        there = {*fixes, *asked}
        wanted = [
            key for key in plan.race_beside(scenario) if key not in there and not CHANGES[key].is_in(release)
        ]
        if wanted:
            options = " ".join(f"--with-fix {key}" for key in wanted)
            return f"{scenario.name} is a race seen only with {', '.join(wanted)}: add {options}"
    return ""


def nets_not_asked(runs: Sequence[plan.Run]) -> tuple[str, ...]:
    """The safety nets that these runs leave out in some scenario."""
    files = {run.scenario.file for run in runs}
    asked = {(run.scenario.file, run.property) for run in runs}
    return tuple(net for net in NETS if any((file, net) not in asked for file in files))


def two_releases(
    before: str, after: str, selection: Selection, budget: Budget, method: Method, watcher: Watcher = NOBODY,
    listener: Listener[Pair] = DEAF, option: str = "--after",
) -> Comparison:  # fmt: skip
    """Two releases compared; `option` names the second. Raises UsageProblem."""
    gates = parse_gates(selection.gates)
    first, second = (plan.compose(plan.release_of(name), (), (), gates) for name in (before, after))
    if first.release == second.release:
        raise UsageProblem(
            f"{option} {one_line(after)} is the same release as {'--before ' if option == '--after' else ''}{one_line(before)}: name another"
        )
    runs, left_out = runs_of(selection, first, second)
    return Comparer(
        first, second, runs, budget, method, watcher, left_out, gates, listener=listener
    ).compare()


def runs_of(
    selection: Selection, before: Composition, after: Composition
) -> tuple[list[plan.Run], tuple[str, ...]]:
    """What is run on the first scheduler, and the scenarios that do not fit. Raises Problem."""
    own = selection.own
    asked = [parse_property(name, [*PROPERTIES, *own]) for name in selection.properties] or [*own]
    chosen = plan.chosen_scenarios(selection.names, selection.given)
    scenarios = [plan.in_time(scenario, selection.time, selection.slow) for scenario in chosen]
    is_chosen = bool(selection.names or selection.given)
    for scenario in scenarios:
        plan.refuse_unknown_ignored(scenario, own)
    gates = parse_gates(selection.gates)
    fitting = [s for s in scenarios if is_chosen or all(fits(s, c, gates) for c in (before, after))]
    runs = [
        plan.Run(scenario, before, name, own=own.get(name))
        for scenario in fitting
        for name in dict.fromkeys(asked or (*plan.default_properties(scenario), *scenario.also))
    ]
    plan.refuse_all_ignored(runs)
    return runs, tuple(s.name for s in scenarios if s not in fitting)


def fits(
    scenario: Scenario, composition: Composition, gates: Mapping[str, bool] = MappingProxyType({})
) -> bool:
    """Whether a scenario says something of a scheduler: one with plugins only where there are plugins, one that sets gates only
    where there are these, one with claims or groups where they are modelled. `gates` are those that were asked for.
    """
    has_plugins = any(pod.extension_points for pod in scenario.spec.pods)
    if has_plugins and any(change.key == FRAMEWORK for change in composition.missing):
        return False
    if not plan.has_gates_of(composition.release, scenario):
        return False
    return refusal_of(scenario, plan.with_gates_of(scenario, composition, gates)) is None
