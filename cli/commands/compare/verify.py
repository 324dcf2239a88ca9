"""`podrace verify` and `podrace diff`: two schedulers compared, and what the exit code is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from ....analysis.compare.listener import DEAF, Listener
from ....analysis.request.method import budget_of
from ....base.problems import UsageProblem
from ...configuration import arguments as arg
from ...configuration.app import app, examples, given
from ...terminal.console import print_answer, result_console, tolerant_of_closed_pipes
from ...terminal.progress_display import ProgressDisplay, progress_display

if TYPE_CHECKING:
    from ....reports.verify.comparison import Comparison
    from ....reports.verify.comparison_rows import StreamedRows
    from ....reports.verify.needed import Needed

GOOD, BAD, INCONCLUSIVE = 0, 1, 3

Row = TypeVar("Row")


@app.command(
    help="Say what a change, such as a Go diff, fixes and breaks.\n\n"
    "CHANGE is a Python file with subclasses of parts of the scheduler (FILE.py:CLASS for one of them; see "
    "`podrace new-patch`), or the number of an upstream change. Without --release, podrace takes the newest release, or the last one without the "
    "upstream change. Without --scenario, it takes the catalogue, the most relevant races first. It always compares the regression checks (such as S-CONS: no pod is lost), unless you use --alone.\n\n"
    "CHANGE may also be a change of kube-scheduler's Go code: a unified diff (`-`: on stdin), a kubernetes source tree, or --repo and --range. "
    "podrace builds it, and replays known counterexamples with and without it. Needs Go 1.26 or later.\n\n"
    "Exit codes: 0 nothing regressed, 1 a property regressed or a binding or a witness is out of reach (with --strict also: a "
    "property is still violated), 2 wrong usage or input, 3 inconclusive (a budget ran out, or Ctrl-C or SIGTERM came; the results so far are printed).",
    epilog=examples(
        "podrace verify 72259",
        "podrace verify mine.py --release 1.36 --property S-NOM",
        "podrace verify pr.diff --kubernetes v1.36.3",
    ),
)
def verify(
    context: typer.Context,
    changes: list[str] | None = None,
    release: str | None = None,
    against: str | None = None,
    with_fix: list[str] | None = None,
    gate: list[str] | None = None,
    scenario: list[str] | None = None,
    property_: list[str] | None = None,
    own: list[str] | None = None,
    time: arg.Time = None,
    slow: list[str] | None = None,
    strict: bool = False,
    alone: bool = False,
    minimal: bool = False,
    repo: Path | None = None,
    range_: str | None = None,
    kubernetes: str | None = None,
    go_test: Path | None = None,
    output: arg.ComparisonForm = "text",
    max_states: str | None = None,
    timeout: str | None = None,
    jobs: str | None = None,
    verbose: bool = False,
    no_color: bool = False,
) -> None:
    changes = changes or []
    from .verify_go import is_go_change, judged

    if is_go_change(changes, repo) or range_ is not None:
        if others := given(context, NOT_FOR_GO):
            raise UsageProblem(
                f"{others[0]} is not for a Go change: it takes --kubernetes, --scenario, --go-test, --timeout and --jobs"
            )
        if kubernetes and release:
            raise UsageProblem("a Go change has one version: leave out --release")
        kubernetes = kubernetes or release
        limits = (max_states, timeout, jobs)
        raise typer.Exit(
            judged(changes, repo, range_, kubernetes, scenario or (), limits, output, no_color, go_test)
        )
    _refuse_what_is_for_others(context)
    budget = budget_of(max_states, None, timeout, jobs)
    from ....analysis.compare.inquiry import with_changes
    from ....analysis.request.method import Method
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.plan import Selection

    selection = Selection(
        scenario or (), release, with_fix or (), properties=property_ or (), own=own_properties(own or (), property_ or ()),
        gates=gate or (), time=time, slow=slow or (),
    )  # fmt: skip
    if minimal:
        from ....analysis.compare.minimal_changes import changes_needed
        from ....reports.verify.needed import FORMS, TriedRows, print_needed

        with progress_display(no_color) as display:
            sets = listener_of(TriedRows, output, display, no_color)
            needed = changes_needed(changes, selection, budget, Method(), display, sets)
        print_answer(needed, output, no_color, print_needed, FORMS)
        raise typer.Exit(needed_code(needed))
    from ....reports.verify.comparison_rows import Rows

    with progress_display(no_color) as display:
        rows = listener_of(Rows, output, display, no_color)
        comparison = with_changes(changes, against, selection, budget, Method(), display, rows, alone)
    print_whole(comparison, output, no_color, verbose)
    raise typer.Exit(verify_code(comparison, strict))


NOT_FOR_GO = ("against", "with_fix", "gate", "property_", "own", "strict", "alone", "minimal", "time", "slow")
"""The parameters of the options that say nothing of a Go change."""


def _refuse_what_is_for_others(context: typer.Context) -> None:
    """Raises UsageProblem for options of which one says nothing of a model's change, or not beside another."""
    asked = context.params
    if not asked["changes"]:
        raise UsageProblem("name a CHANGE: a Python file, the number of an upstream change, or a Go diff")
    if asked["go_test"] is not None:
        raise UsageProblem("--go-test is for Go changes: name a diff")
    if asked["kubernetes"] is not None:
        raise UsageProblem("--kubernetes is for Go changes: write --release")
    if asked["minimal"] and (asked["against"] is not None or asked["strict"]):
        raise UsageProblem("--minimal compares sets of changes: leave out --against and --strict")


@app.command(
    help="Compare the verdicts of two releases.\n\n"
    "Exit codes: 0 all verdicts are the same, 1 one differs, 2 wrong usage or input, 3 inconclusive (a budget ran out)."
)
def diff(
    releases: list[str] | None = None,
    before: str | None = None,
    after: str | None = None,
    gate: list[str] | None = None,
    scenario: list[str] | None = None,
    property_: list[str] | None = None,
    own: list[str] | None = None,
    output: arg.ComparisonForm = "text",
    max_states: str | None = None,
    timeout: str | None = None,
    jobs: str | None = None,
    verbose: bool = False,
    no_color: bool = False,
) -> None:
    match [*([before] if before else []), *(releases or ()), *([after] if after else [])]:
        case [str(one), str(other)]:
            pass
        case _:
            raise UsageProblem(
                "name two releases, such as `podrace diff 1.33 1.36`; for a Go diff, use `podrace verify FILE`"
            )
    budget = budget_of(max_states, None, timeout, jobs)
    from ....analysis.compare.inquiry import two_releases
    from ....analysis.request.method import Method
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.plan import Selection
    from ....reports.verify.comparison_rows import Rows

    chosen = own_properties(own or (), property_ or ())
    selection = Selection(scenario or (), properties=property_ or (), own=chosen, gates=gate or ())
    with progress_display(no_color) as display:
        rows = listener_of(Rows, output, display, no_color)
        comparison = two_releases(one, other, selection, budget, Method(), display, rows)
    print_whole(comparison, output, no_color, verbose)
    raise typer.Exit(diff_code(comparison))


class _Streamed(Listener[Row]):
    """Prints the rows of a comparison as they are decided, whether or not stdout is a terminal."""

    def __init__(self, rows: StreamedRows[Row], display: ProgressDisplay) -> None:
        self._rows = rows
        self._display = display

    def begin(self, before: str, after: str, asked: Sequence[tuple[str, ...]]) -> None:
        with self._printing():
            self._rows.begin(before, after, asked)

    def decided(self, row: Row) -> None:
        with self._printing():
            self._rows.decided(row)

    @contextmanager
    def _printing(self) -> Iterator[None]:
        with self._display.aside(), tolerant_of_closed_pipes():
            yield


def listener_of(
    rows: type[StreamedRows[Row]], form: str, display: ProgressDisplay, no_color: bool
) -> Listener[Row]:
    """What prints the rows of a text; other forms are printed whole."""
    return _Streamed(rows(result_console(no_color)), display) if form == "text" else DEAF


def print_whole(comparison: Comparison, form: str, no_color: bool, whole: bool) -> None:
    from ....reports.verify.comparison_forms import FORMS
    from ....reports.verify.comparison_text import print_comparison

    print_answer(comparison, form, no_color, partial(print_comparison, whole=whole), FORMS)


def verify_code(comparison: Comparison, strict: bool = False) -> int:
    """1 if something regressed or went out of reach (with `strict`: or is still violated), 3 if that is not known.

    Of what nobody asked for, the safety nets, what is violated on both schedulers does not count.
    """
    outcomes: set[str] = {pair.outcome for pair in comparison.pairs}
    outcomes |= {net.outcome for net in comparison.nets}
    if "REGRESSED" in outcomes or comparison.witnesses_lost or (strict and "still violated" in outcomes):
        return BAD
    open_ = "inconclusive" in outcomes or comparison.undecided or comparison.left is not None
    return INCONCLUSIVE if open_ else GOOD


def diff_code(comparison: Comparison) -> int:
    """1 if a verdict differs, 3 if that is not known, 0 if all are the same."""
    pairs = [(pair.before.verdict, pair.after.verdict) for pair in comparison.pairs]
    if any(one != other for one, other in pairs if "INCONCLUSIVE" not in (one, other)):
        return BAD
    open_ = comparison.left is not None or any("INCONCLUSIVE" in pair for pair in pairs)
    return INCONCLUSIVE if open_ else GOOD


def needed_code(needed: Needed) -> int:
    """0 if some set of the changes is enough, 1 if none is, 3 if that is not known."""
    if needed.stopped or any(tried.verdict == "INCONCLUSIVE" for tried in needed.tried):
        return INCONCLUSIVE
    return GOOD if needed.minimal else BAD
