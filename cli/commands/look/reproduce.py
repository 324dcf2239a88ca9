"""`podrace reproduce`: counterexamples executed on kube-scheduler's own code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ....analysis.request.method import budget_of
from ....base.problems import UsageProblem
from ...configuration import arguments as arg
from ...configuration.app import app, examples
from ...terminal.console import print_answer, print_form, tolerant_of_closed_pipes
from ...terminal.output import say
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from ....reproduce.patches import GoPatch
    from ....reproduce.reproducing import Prepared


@app.command(
    help="Execute a counterexample on kube-scheduler's own code.\n\npodrace compares the state after each step. "
    "TRACE is what `podrace check --save-trace` wrote. RACE is one of `podrace races`, or the number of its issue or fix, and HAZARD one of "
    "docs/hazards.md, such as ghost: for these, podrace first searches for a counterexample on the version. Without --run, it only writes a Go module that executes the run. Needs Go 1.26 or later.\n\n"
    "Exit codes: 0 nothing to reproduce (the property holds, or the version lacks a feature that the run needs), 1 reproduced, 2 wrong usage or input, "
    "3 the real scheduler differs from the model, or cannot be forced.",
    epilog=examples(
        "podrace reproduce ghost --kubernetes v1.36.3 --run", "podrace reproduce ghost --directory ghost"
    ),
)
def reproduce(
    what: str,
    kubernetes: str | None = None,
    run: bool = False,
    directory: Path | None = None,
    go_test: bool = False,
    go_patch: list[str] | None = None,
    output: arg.Form = "text",
    release: str | None = None,
    property_: list[str] | None = None,
    gate: list[str] | None = None,
    max_states: str | None = None,
    max_memory: str | None = None,
    timeout: str | None = None,
    jobs: str | None = None,
    cache: Path | None = None,
    no_cache: bool = False,
    no_color: bool = False,
) -> None:
    budget = budget_of(max_states, max_memory, timeout, jobs)
    from ....analysis.request.method import Method, cache_folder
    from ....reports.reproduction import exit_code
    from ....reports.text.reproduction_text import print_reproductions
    from ....reproduce.modules.toolchain import find_go
    from ....reproduce.patches import read_patch
    from ....reproduce.reproducing import prepare, written
    from ....reproduce.reproducing import reproduce as reproduced
    from ....reproduce.request import Wanted, questions
    from ....reproduce.running import refuse_unusable

    if go_patch and not go_test:
        raise UsageProblem("--go-patch: it goes with --go-test")
    patches = [read_patch(name) for name in go_patch or ()]
    if not (go_test and directory is None and not run):
        find_go()
    if directory is not None:
        refuse_unusable(directory)
    wanted = Wanted(what, kubernetes, release, property_ or (), gate or ())
    method = Method(cache=cache_folder(cache, no_cache))
    with progress_display(no_color) as display:
        display.start(what)
        asked = prepare(questions(wanted, budget, method, display))
        if not asked:
            raise UsageProblem(
                f"{what}: nothing would be looked at, for all is ignored: name another property"
            )
        if go_test:
            raise typer.Exit(_go_test(asked, patches, directory, run, display.say))
        if directory is None and not run:
            directory = Path(f"reproduce-{asked[0].about['name']}-{asked[0].question.version.tag}")
            refuse_unusable(directory)
        found = []
        if directory is not None:
            display.start(f"writing {directory}")
            found = written(asked, directory, find_go())
        if run:
            found = reproduced(asked, find_go(), display.say)
    if directory is not None and run and directory.exists():
        say(f"wrote {directory}", no_color)
    print_answer(found, output, no_color, print_reproductions)
    raise typer.Exit(exit_code(found))


PASSED = (
    "the model has the race in this version, and the test does not make it happen: that says nothing about the race; "
    "run it without --go-test, which says where the two part"
)


def _go_test(
    asked: Sequence[Prepared], patches: Sequence[GoPatch], directory: Path | None, run: bool, tell: Callable[[str], None]
) -> int:  # fmt: skip
    """Print the tests, or write them with all that they need, and run them. Gives the exit code: 1 if one has failed, 3 if one passes that had to fail."""
    from ....reports.filtered import shown
    from ....reproduce.go_tests import go_tests, must_fail
    from ....reproduce.go_tests.running import run_go_tests, write_go_tests
    from ....reproduce.modules.toolchain import find_go

    tests = go_tests(asked)
    version = asked[0].question.version
    if directory is not None:
        write_go_tests(directory, version, find_go(), tests, patches)
        tell(f"wrote {directory}: run `go run ./gen && go test -v .` there")
    results = run_go_tests(version, find_go(), tests, patches, tell) if run else {}
    odd = {name for name, result in results.items() if result.passed and not patches and must_fail(asked)}
    with tolerant_of_closed_pipes():
        if directory is None and not run:
            print_form(shown("\n".join(tests.values())))
        for result in results.values():
            sys.stdout.write(f"{'PASS' if result.passed else 'FAIL'}: {result.name} on {version}\n")
            print_form(shown("".join(f"  {line}\n" for line in result.said)))
            if result.name in odd:
                print_form(shown(f"  {PASSED}\n"))
    if not all(result.passed for result in results.values()):
        return 1
    return 3 if odd else 0
