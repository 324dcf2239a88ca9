"""`podrace verify` and `podrace diff`: which two schedulers, in which scenarios, and what the exit code is."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..analysis.execute import Method
from ..analysis.options import UsageProblem, parse_fix, parse_property, parse_release
from ..analysis.own.patches import read_patch, with_patches
from ..analysis.own.python_file import split_option
from ..analysis.plan import (
    Run,
    chosen_scenarios,
    compose,
    default_properties,
    refuse_all_ignored,
    refuse_unknown_ignored,
)
from ..checker.core.exploration import Budget
from ..model.history import CHANGES, RELEASES, Composition, Patch
from ..properties import PROPERTIES, Property
from ..reports.verify.comparison import Comparison
from ..scenarios import Scenario, known_names, number_of, one_line
from .comparison import Comparer
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay

GOOD, BAD, INCONCLUSIVE = 0, 1, 3

FRAMEWORK = "framework"
"""The change before which no plugin could take part: a scenario with plugins says nothing of a release without it."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What two schedulers are compared by, and how that is reported."""

    scenarios: Sequence[str] = ()
    properties: Sequence[str] = ()
    own: Mapping[str, type[Property]] = field(default_factory=dict)
    strict: bool = False
    form: str = "text"
    no_color: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that may be put into a release: one of upstream's by its key, or a patch."""

    key: str = ""
    patch: Patch | None = None

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.key if self.patch is None else self.patch.name


def candidates_of(names: Sequence[str]) -> list[Candidate]:
    """The changes that `PATCH.py[:CLASS]` and upstream numbers stand for. Raises UsageProblem."""
    return [_candidate(name) for name in dict.fromkeys(names)]


def _candidate(name: str) -> Candidate:
    path, _ = split_option(name)
    if path.suffix == ".py" or path.is_file():
        return Candidate(patch=read_patch(name))
    key = number_of(name) or name
    if key not in CHANGES:
        known = known_names(key, list(CHANGES))
        raise UsageProblem(
            f"unknown change `{one_line(name)}`: name a Python file, or an upstream change; {known}"
        )
    return Candidate(key=key)


def put_in(release: str, candidates: Sequence[Candidate], with_fixes: Sequence[str] = ()) -> Composition:
    """The release with these changes. Raises UsageProblem if one of upstream's is in it already."""
    keys = [c.key for c in candidates if c.patch is None]
    for key in keys:
        if CHANGES[key].is_in(release):
            raise UsageProblem(f"{release} has {key} already: choose an earlier release with --release")
    found = compose(release, list(dict.fromkeys([*with_fixes, *keys])), ())
    return with_patches(found, [c.patch for c in candidates if c.patch is not None])


def default_release(candidates: Sequence[Candidate]) -> str:
    """The newest release without the oldest of these changes; for patches alone, the newest."""
    firsts = [CHANGES[c.key].age for c in candidates if c.patch is None]
    return RELEASES[max(min(firsts) - 1, 0)] if firsts else RELEASES[-1]


def verify(
    names: Sequence[str], release: str | None, against: str | None, with_fixes: Sequence[str], inquiry: Inquiry,
    budget: Budget, method: Method,
) -> int:  # fmt: skip
    """Carry out a whole `podrace verify`; gives the exit code. Raises UsageProblem."""
    candidates = candidates_of(names)
    fixes = [parse_fix(name, list(CHANGES)) for name in with_fixes]
    base = parse_release(release, RELEASES) if release is not None else default_release(candidates)
    after = put_in(base, candidates, fixes)
    old = base if against is None else parse_release(against, RELEASES)
    before = compose(old, fixes, ())
    runs, left_out = runs_of(inquiry, before, after)
    changes = " + ".join(c.name for c in candidates) if against is None else ""
    comparison = _compare(before, after, runs, left_out, inquiry, budget, method, changes)
    _print(comparison, inquiry)
    return verify_code(comparison, inquiry.strict)


def diff(before: str, after: str, inquiry: Inquiry, budget: Budget, method: Method) -> int:
    """Carry out a whole `podrace diff`; gives the exit code. Raises UsageProblem."""
    first, second = (compose(parse_release(name, RELEASES), (), ()) for name in (before, after))
    runs, left_out = runs_of(inquiry, first, second)
    comparison = _compare(first, second, runs, left_out, inquiry, budget, method)
    _print(comparison, inquiry)
    return diff_code(comparison)


def _compare(
    before: Composition, after: Composition, runs: Sequence[Run], left_out: tuple[str, ...], inquiry: Inquiry,
    budget: Budget, method: Method, changes: str = "",
) -> Comparison:  # fmt: skip
    """Compare; `changes`, if named, must change something."""
    with ProgressDisplay(message_console(inquiry.no_color)) as display:
        comparer = Comparer(before, after, runs, budget, method, display, left_out)
        if changes and comparer.is_no_comparison():
            raise UsageProblem(
                f"{changes} changes nothing on {before.label}: in every scenario the two systems are the same; choose another "
                "--release or --scenario, or look for what overrides it"
            )
        return comparer.compare()


def runs_of(inquiry: Inquiry, before: Composition, after: Composition) -> tuple[list[Run], tuple[str, ...]]:
    """What is run on the first scheduler, and the scenarios that do not fit. Raises UsageProblem or ScenarioError."""
    asked = [parse_property(name, [*PROPERTIES, *inquiry.own]) for name in inquiry.properties] or [
        *inquiry.own
    ]
    scenarios = chosen_scenarios(inquiry.scenarios)
    for scenario in scenarios:
        refuse_unknown_ignored(scenario, inquiry.own)
    fitting = [s for s in scenarios if inquiry.scenarios or (fits(s, before) and fits(s, after))]
    runs = [
        Run(scenario, before, name, own=inquiry.own.get(name))
        for scenario in fitting
        for name in dict.fromkeys(asked or (*default_properties(scenario), *scenario.also))
    ]
    refuse_all_ignored(runs)
    return runs, tuple(s.name for s in scenarios if s not in fitting)


def fits(scenario: Scenario, composition: Composition) -> bool:
    """Whether a scenario says something of a scheduler: one with plugins does only where there are plugins."""
    has_plugins = any(pod.extension_points for pod in scenario.spec.pods)
    return not has_plugins or all(change.key != FRAMEWORK for change in composition.missing)


def verify_code(comparison: Comparison, strict: bool = False) -> int:
    """1 if something regressed or went out of reach (with `strict`: or is still violated), 3 if that is not known."""
    outcomes = [pair.outcome for pair in comparison.pairs]
    if "REGRESSED" in outcomes or comparison.witnesses_lost or (strict and "still violated" in outcomes):
        return BAD
    return INCONCLUSIVE if "inconclusive" in outcomes or comparison.undecided else GOOD


def diff_code(comparison: Comparison) -> int:
    """1 if a verdict differs, 3 if that is not known, 0 if all are the same."""
    pairs = [(pair.before.verdict, pair.after.verdict) for pair in comparison.pairs]
    if any(one != other for one, other in pairs if "INCONCLUSIVE" not in (one, other)):
        return BAD
    return INCONCLUSIVE if any("INCONCLUSIVE" in pair for pair in pairs) else GOOD


def _print(comparison: Comparison, inquiry: Inquiry) -> None:
    from ..reports.verify import comparison_text

    with tolerant_of_closed_pipes():
        if inquiry.form == "text":
            console = result_console(inquiry.no_color)
            comparison_text.print_comparison(console, comparison)
        else:
            from ..reports.verify.comparison_forms import FORMS

            sys.stdout.write(FORMS[inquiry.form](comparison))
