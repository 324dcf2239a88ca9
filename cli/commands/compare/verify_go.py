"""`podrace verify` of a Go change: a diff, a tree or two commits, from the command line to the judgement."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ....analysis.request.method import Method, budget_of, cache_folder
from ....analysis.request.plan import default_properties
from ....base.problems import UsageProblem
from ....base.text import one_line
from ...terminal.console import print_answer, result_console, tolerant_of_closed_pipes
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from ....analysis.own_systems import Budget
    from ....reports.verify.code_change import CodeChange, Probed, Race
    from ....reproduce.changes.sources import Change

DIFFS = (".diff", ".patch")


def is_go_change(changes: Sequence[str], repo: Path | None) -> bool:
    """Whether the user means a change of Go code: a diff, `-` for one on stdin, a directory, or commits of a checkout."""
    return repo is not None or any(c == "-" or c.endswith(DIFFS) or Path(c).is_dir() for c in changes)


def judged(
    changes: Sequence[str],
    repo: Path | None,
    span: str | None,
    kubernetes: str | None,
    scenarios: Sequence[str],
    limits: tuple[str | None, str | None, str | None],
    output: str,
    no_color: bool,
    tests: Path | None = None,
) -> int:
    """Judge it, print that, and give the exit code."""
    from ....reports.verify.code_change import exit_code
    from ....reports.verify.code_change_forms import FORMS
    from ....reports.verify.code_change_forms import print_answer as tell

    _refuse(changes, repo, span)
    if tests is not None:
        from ....reproduce.running import refuse_unusable

        refuse_unusable(tests, "--go-test")
    states, timeout, jobs = limits
    budget = budget_of(states, None, timeout, jobs)
    with tolerant_of_closed_pipes(), tempfile.TemporaryDirectory(prefix="podrace-change-") as folder:
        found = _judged(
            changes, repo, span, kubernetes, scenarios, budget, output, no_color, Path(folder), tests
        )
        print_answer(found, output, no_color, tell, FORMS)
    return exit_code(found)


def _refuse(changes: Sequence[str], repo: Path | None, span: str | None) -> None:
    if (repo is None) != (span is None):
        raise UsageProblem("--repo and --range belong together: --repo DIR --range BASE..HEAD")
    if repo is not None and changes:
        raise UsageProblem("--repo names the change: leave out CHANGE")
    if repo is not None and not repo.is_dir():
        raise UsageProblem(
            f"--repo: `{one_line(str(repo), 120)}` is no directory: name a checkout of kubernetes"
        )
    if repo is None and len(changes) != 1:
        raise UsageProblem(
            "a Go change is judged by itself: name one diff or tree, and its version with --kubernetes"
        )


def _judged(
    changes: Sequence[str],
    repo: Path | None,
    span: str | None,
    kubernetes: str | None,
    scenarios: Sequence[str],
    budget: Budget,
    output: str,
    no_color: bool,
    folder: Path,
    tests: Path | None,
) -> CodeChange:
    import msgspec

    from ....reports.verify.code_change_forms import print_row, print_touched
    from ....reproduce.changes.functions import WhatChanged, not_compiled, unjudged, what_changed
    from ....reproduce.changes.judge import Effort, Judging, cannot_matter
    from ....reproduce.changes.sources import of_diff, of_range, of_tree
    from ....reproduce.changes.tests import write_tests
    from ....reproduce.changes.texts import parse_diff
    from ....reproduce.modules.toolchain import FLAGS, find_go
    from ....scenarios import find_scenarios, shipped

    console = result_console(no_color)
    told = output == "text"
    chosen = [one for name in scenarios for one in find_scenarios(name)] or shipped()
    for one in chosen:
        default_properties(one)  # refuses unknown ones
    with progress_display(no_color, clock=True) as display:
        left_out: dict[str, str] = {}
        others: tuple[str, ...] = ()
        if repo is not None and span is not None:
            change: Change = of_range(repo, span, kubernetes, folder)
        elif Path(changes[0]).is_dir():
            change = of_tree(Path(changes[0]), kubernetes, find_go())
        else:
            name = "stdin" if changes[0] == "-" else changes[0]
            diff = parse_diff(_read(changes[0]), name)
            left_out = not_compiled(diff)
            others = unjudged(diff)
            if len(left_out) + len(others) == len(diff):
                nothing = WhatChanged((), tuple(left_out.items()), unjudged=others)
                return cannot_matter(nothing, name, kubernetes or "any version")
            change = of_diff(diff, name, kubernetes, find_go(), display.say)
        what = what_changed(change.files, change.base, left_out, others)
        if told:
            print_touched(console, what.touched, what.passed_over)
        if not what.can_matter:
            return cannot_matter(what, change.name, change.base_words, change.notes, change.uncompared)

        def tell(one: Race | Probed) -> None:
            if told:
                with display.aside():
                    print_row(console, one)

        go = find_go()
        effort = Effort(budget, Method(cache=cache_folder(None, False)), chosen, not scenarios)
        judging = Judging(change, what, effort, go, tell, display)
        found = judging.judged()
        if tests is not None:
            try:
                files = write_tests(tests, change, go, judging.tested, judging.roamed)
                words = f"wrote {tests} with {', '.join(files)}: run `GOFLAGS='{FLAGS}' sh -c 'go run ./gen && go test -v .'` there"
            except UsageProblem as problem:  # the judgement stands without
                words = str(problem)
            found = msgspec.structs.replace(found, notes=(*found.notes, words))
        return found


def _read(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageProblem(f"{one_line(name, 120)}: cannot be read: {reason}") from None
