"""The tools of `podrace mcp`: what each takes, and its answer as the command's text and as the document of `-o json`.

The server runs in the directory that it may read: names of files are relative to it, and none leads out of it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ...analysis.request.method import Method
from ...analysis.request.option_files import split_option
from ...analysis.request.options import parse_states, parse_timeout
from ...analysis.request.own_properties import own_properties
from ...analysis.request.patches import patches_of
from ...analysis.request.plan import Selection, plan
from ...base.problems import Problem, UsageProblem
from ...base.structs import Data
from ...base.text import one_line
from ...reports.filtered import to_json
from ...reports.text.filtered_console import FilteredConsole
from ...scenarios import number_of

if TYPE_CHECKING:
    from ...analysis.own_systems import Budget

WIDTH = 100
"""How wide texts are."""

Names = list[str]
Scenario = Annotated[
    str, Meta(description="A name or number that `hazards` or `podrace races` lists, or a scenario file (YAML).")
]  # fmt: skip
Release = Annotated[
    str | None, Meta(description="The version of kube-scheduler, such as 1.34, 1.34.3 or latest.")
]
Fixes = Annotated[Names, Meta(description="Numbers of upstream changes that `podrace fixes` lists.")]
Gates = Annotated[Names, Meta(description="Feature gates, such as SchedulerAsyncPreemption=false.")]
Properties = Annotated[Names, Meta(description="Identifiers such as S-CAP; without, those of the scenario.")]
Patches = Annotated[Names, Meta(description="Patches in Python. Refused unless the server allows code.")]
Own = Annotated[Names, Meta(description="Property files in Python. Refused unless the server allows code.")]


class Limits(Struct, kw_only=True, forbid_unknown_fields=True):
    """What every search may use; the server allows no more than it was started with."""

    timeout: Annotated[str | None, Meta(description="Stop each search after, such as 30s.")] = None
    max_states: Annotated[str | None, Meta(description="Stop each search after so many states, such as 1M.")] = None  # fmt: skip


class Check(Limits):
    """Check safety and liveness properties of kube-scheduler in a small cluster, over all interleavings.

    VIOLATED has a shortest counterexample; HOLDS means all interleavings within the stated scope; INCONCLUSIVE means that a budget ran out.
    """

    scenario: Scenario
    release: Release = None
    properties: Properties = []
    with_fix: Fixes = []
    without_fix: Fixes = []
    gates: Gates = []
    patches: Patches = []
    property_files: Own = []


class Ask(Limits):
    """Ask whether steps of the scheduler and its surroundings can happen in this order, with anything between them. Ask this before you claim a race.

    POSSIBLE has a shortest run; IMPOSSIBLE says which condition is in the way; both are about this cluster and its scope.
    """

    scenario: Scenario
    steps: Annotated[
        Names,
        Meta(
            min_length=1,
            description="Steps in order: a sentence (`scheduler assumes q on n1`), a name (`failure.requeue(p)`) or a Go function "
            "(`AddUnschedulablePodIfNotPresent(p)`). Before a step: `then:` directly after the one before, `not:` not between the steps next to it, "
            "`never:` not at all. `end: p parked` or `end: S-CAP` is the state to end in.",
        ),
    ]
    release: Annotated[str | None, Meta(description="One version, several with commas, or 1.28..1.36.")] = (
        None
    )
    with_fix: Fixes = []
    without_fix: Fixes = []
    gates: Gates = []
    patches: Patches = []


class Verify(Limits):
    """Compare a version with the same version and a change: which properties the change fixes, and which it breaks."""

    changes: Annotated[
        Names,
        Meta(
            min_length=1,
            description="Numbers of upstream changes; patches in Python are refused unless the server allows code.",
        ),
    ]
    scenarios: Annotated[Names, Meta(min_length=1, description="The scenarios to compare in, as in `check`.")]
    release: Release = None
    properties: Properties = []
    with_fix: Fixes = []
    gates: Gates = []
    property_files: Own = []


class Explain(Struct, kw_only=True, forbid_unknown_fields=True):
    """Execute a stored counterexample again, and tell it step by step."""

    trace: Annotated[str, Meta(description="A trace that `podrace check --save-trace` or `ask` wrote.")]
    patches: Patches = []
    property_files: Own = []


class Hazards(Struct, kw_only=True, forbid_unknown_fields=True):
    """List the races that are open in current releases of kube-scheduler."""

    words: Annotated[Names, Meta(description="List only those that say every word.")] = []


class Answer(Data, slots=False):
    """What a tool gives: a text for people and models, and the document."""

    text: str
    document: dict[str, Any]


class Tools(Data, slots=False):
    """The tools, within what the person who started the server allows. Methods raise Problem."""

    budget: Budget
    allow_code: bool = False

    @cached_property
    def by_name(self) -> Mapping[str, tuple[type[Struct], Callable[[Any], Answer]]]:
        """What each tool takes, and what answers it."""
        return {
            "check": (Check, self._check),
            "ask": (Ask, self._ask),
            "verify": (Verify, self._verify),
            "explain": (Explain, self._explain),
            "hazards": (Hazards, self._hazards),
        }

    def answer(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """The answer of the tool. Raises Problem for what is wrong, unknown or not allowed."""
        if name not in self.by_name:
            raise UsageProblem(f"unknown tool `{one_line(name)}`: there are {', '.join(self.by_name)}")
        takes, function = self.by_name[name]
        try:
            return function(msgspec.convert(dict(arguments), takes))
        except msgspec.ValidationError as error:
            raise UsageProblem(f"{name}: {one_line(str(error), 200)}") from None

    def _check(self, given: Check) -> Answer:
        from ...analysis.chain import verdicts
        from ...analysis.request.plan import refuse_all_ignored
        from ...reports.text.findings_text import print_report

        selection = self._selection(given)
        own = own_properties(self._code(given.property_files), given.properties)
        runs = plan(replace(selection, release=given.release, properties=given.properties, own=own))
        refuse_all_ignored(runs)
        findings = verdicts(runs, self._budget(given), Method())
        findings = [msgspec.structs.replace(one, seconds=None) for one in findings]
        return _answered("findings", findings, lambda console: print_report(console, findings))

    def _ask(self, given: Ask) -> Answer:
        from ...analysis.ask.question import read_question
        from ...analysis.possible.releases import answers, releases_of, runs_of
        from ...reports.answers.ask_report import since_when

        question = read_question(given.steps)
        releases = releases_of(given.release.split(",") if given.release is not None else ())
        runs = runs_of(question, self._selection(given), releases)
        found = [one.untimed() for one in answers(runs, self._budget(given))]

        def tell(console: FilteredConsole) -> None:
            for one in found:
                one.print(console)
                console.print()
            if len(found) > 1:
                console.print(f"{since_when((one.label, one.answer) for one in found)}.", soft_wrap=True)

        return _answered("answers", found, tell)

    def _verify(self, given: Verify) -> Answer:
        from ...analysis.compare.inquiry import with_changes
        from ...reports.verify.comparison_forms import comparison_to_json
        from ...reports.verify.comparison_text import print_comparison

        for change in given.changes:
            path, _ = split_option(change)
            if path.exists() or (number_of(change) is None and (path.suffix or "/" in change)):
                self._code([change])
        selection = Selection(
            [_scenario(name) for name in given.scenarios], given.release, given.with_fix, properties=given.properties,
            own=own_properties(self._code(given.property_files), given.properties), gates=given.gates,
        )  # fmt: skip
        found = with_changes(given.changes, None, selection, self._budget(given), Method())
        text = _told(lambda console: print_comparison(console, found, False))
        return Answer(text, json.loads(comparison_to_json(found)))

    def _explain(self, given: Explain) -> Answer:
        from ...analysis.stored.replayed import read_trace, replayed
        from ...reports.text.findings_text import print_report

        path = Path(_inside(given.trace))
        own, patches = (self._code(names) for names in (given.property_files, given.patches))
        found = replayed(read_trace(path), own_properties(own), str(path), patches_of(patches))
        if not found.violated:
            raise Problem(f"{path}: {found.why_not}")
        findings = [msgspec.structs.replace(found.finding(), seconds=None)]
        return _answered("findings", findings, lambda console: print_report(console, findings))

    def _hazards(self, given: Hazards) -> Answer:
        from ...analysis.known import hazards

        rows = hazards(given.words)
        lines = [f"{row['name']} ({row['release']}, {', '.join(row['properties'])}): {row['title']}" for row in rows]  # fmt: skip
        text = "\n".join(lines) or "No race matches all of these words."
        return _answered("hazards", rows, lambda console: console.print(text, soft_wrap=True, markup=False))

    def _selection(self, given: Check | Ask) -> Selection:
        return Selection(
            (_scenario(given.scenario),), with_fixes=given.with_fix, without_fixes=given.without_fix,
            patches=patches_of(self._code(given.patches)), gates=given.gates,
        )  # fmt: skip

    def _budget(self, given: Limits) -> Budget:
        most = self.budget
        if given.timeout is not None:
            seconds = parse_timeout(given.timeout)
            if most.timeout is not None and seconds > most.timeout:
                raise UsageProblem(f"timeout: this server allows {most.timeout:g}s at most: ask for less")
            most = replace(most, timeout=seconds)
        if given.max_states is not None:
            states = parse_states(given.max_states)
            if most.max_states is not None and states > most.max_states:
                raise UsageProblem(f"max_states: this server allows {most.max_states} at most: ask for less")
            most = replace(most, max_states=states)
        return most

    def _code(self, names: Sequence[str]) -> Sequence[str]:
        """The Python files that may be run. Raises UsageProblem for others."""
        for name in names:
            if not self.allow_code:
                raise UsageProblem(
                    f"`{one_line(name)}` is code, and this server runs none: it would have to be started with --allow-code"
                )
            path, _ = split_option(name)
            if path.suffix != ".py":
                raise UsageProblem(f"`{one_line(name)}`: name a Python file, such as mine.py")
            _inside(str(path))
        return names


def _scenario(name: str) -> str:
    """The name of a scenario, or of a file that may be read."""
    is_file = Path(name).suffix in (".yaml", ".yml") or (number_of(name) is None and "/" in name)
    return _inside(name) if is_file else name


def _inside(name: str) -> str:
    """The file below the working directory, relative to it, with links followed. Raises UsageProblem for any other."""
    here = Path.cwd().resolve()
    try:
        found = (here / name).resolve()
        if not found.is_relative_to(here):
            raise UsageProblem(f"`{one_line(name)}` is outside the directory that this server may read")
        if not found.is_file():
            raise UsageProblem(f"`{one_line(name)}`: there is no such file")
    except (OSError, ValueError):
        raise UsageProblem(f"`{one_line(name)}` can be no name of a file") from None
    return str(found.relative_to(here))


def _answered(name: str, document: Any, tell: Callable[[FilteredConsole], None]) -> Answer:
    return Answer(_told(tell), {name: json.loads(to_json(document, 0))})


def _told(tell: Callable[[FilteredConsole], None]) -> str:
    written = io.StringIO()
    tell(FilteredConsole(written, WIDTH, no_color=True))
    return written.getvalue()
