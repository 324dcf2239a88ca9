"""`podrace ask`: can steps happen in this order?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ....analysis.request.method import budget_of
from ....base.problems import NoSuchStep, UsageProblem
from ...configuration import arguments as arg
from ...configuration.app import app, examples
from ...configuration.command_groups import CommandHelp
from ...terminal.console import print_answer
from ...terminal.output import Output, save_traces, say
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from rich.console import Console

    from ....analysis.own_systems import Budget
    from ....analysis.request.plan import Run
    from ....reports.answers.ask_report import AskAnswer
    from ....reports.answers.proof_report import Proof

CODES = {"INCONCLUSIVE": 3, "NOT THERE": 1, "IMPOSSIBLE": 1, "POSSIBLE": 0}
"""The exit code of each answer; of several, the first decides."""

IN_ORDER = {"--then": "then", "--not-between": "not"}
"""Options whose place among the steps counts, and the words for them before a step."""


class StepsInOrder(CommandHelp):
    """The command's line with these options as arguments: click keeps the order of arguments alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As click's."""
        return super().parse_args(ctx, list(_as_steps(args)))


def _as_steps(args: Sequence[str]) -> list[str]:
    found: list[str] = []
    left = list(args)
    while left:
        one = left.pop(0)
        name, equals, value = one.partition("=")
        if one == "--":
            return [*found, one, *left]
        if name not in IN_ORDER:
            found.append(one)
            continue
        if not equals:
            if not left:
                raise UsageProblem(f"{name}: write a step behind it")
            value = left.pop(0)
        found.append(f"{IN_ORDER[name]}: {value}")
    return found


@app.command(
    cls=StepsInOrder,
    help="Ask whether steps can happen in this order.\n\nOther steps can happen between them. "
    "STEP is a sentence from a report (`scheduler nominates p to n1`), the name of a step (`failure.nominate(p)`), or a function of "
    "kube-scheduler (`AddUnschedulablePodIfNotPresent(p)`). `then: STEP` happens directly after the previous step. `not: STEP` does not happen between the previous step and the next. docs/ask.md has examples from reviews.\n\n"
    "Exit codes: 0 possible, 1 impossible in this cluster within its scope, 2 wrong usage or input, 3 inconclusive (a budget ran out), or with --run: not reproduced.",
    epilog=examples(
        'podrace ask 72124 "writes p nominated to n1" "scheduler assumes q on n1"',
        'podrace ask mine.yaml "users delete p" --then "pop(p)" --end "p parked"',
        'podrace ask 72124 "scheduler assumes q on n1" --release 1.13..1.20',
    ),
)
def ask(
    scenario: str | None = None,
    steps: list[str] | None = None,
    then: list[str] | None = None,
    not_between: list[str] | None = None,
    never: list[str] | None = None,
    end: list[str] | None = None,
    release: str | None = None,
    with_fix: list[str] | None = None,
    without_fix: list[str] | None = None,
    gate: list[str] | None = None,
    patch: list[str] | None = None,
    pods: str | None = None,
    nodes: str | None = None,
    scope: list[str] | None = None,
    time: arg.Time = None,
    slow: list[str] | None = None,
    output: arg.Form = "text",
    save_trace: Path | None = None,
    run: bool = False,
    go_test: Path | None = None,
    timings: bool = False,
    verbose: bool = False,
    max_states: str | None = None,
    max_memory: str | None = None,
    timeout: str | None = None,
    jobs: str | None = None,
    no_color: bool = False,
) -> None:  # fmt: skip
    if then or not_between:
        raise UsageProblem(
            "--then and --not-between have a place among the steps: give them on the command line"
        )
    budget = budget_of(max_states, max_memory, timeout, jobs)
    extra = [*(f"never: {s}" for s in never or ()), *(f"end: {s}" for s in end or ())]
    releases = release.split(",") if release is not None else ()
    changes: dict[str, Any] = {
        "with_fixes": with_fix or (),
        "without_fixes": without_fix or (),
        "gates": gate or (),
    }
    if pods is not None or nodes is not None or scope:
        if pods is None or nodes is None:
            raise UsageProblem("--pods, --nodes and --scope belong together: give --pods and --nodes")
        if save_trace or run or go_test or timeout:
            raise UsageProblem(
                "--pods and --nodes ask about all clusters: leave out --save-trace, --run, --go-test and --timeout"
            )
        items = [*([] if scenario is None else [scenario]), *(steps or ()), *extra]
        changes["patches"] = patch or ()
        raise typer.Exit(
            _everywhere(
                items, (pods, nodes), scope or (), releases, changes, budget, output, verbose, no_color
            )
        )
    if scenario is None:
        raise UsageProblem("name a SCENARIO, or ask about all clusters with --pods and --nodes")
    from ....analysis.ask.question import read_question
    from ....analysis.possible.releases import answers, releases_of, runs_of
    from ....analysis.request.patches import patches_of
    from ....analysis.request.plan import Selection
    from ....reproduce.asked import on_code
    from ....reproduce.modules.toolchain import find_go

    question = read_question([*(steps or ()), *extra])
    Output(save_trace=save_trace).refuse_unusable()
    selection = Selection((scenario,), patches=patches_of(patch or ()), time=time, slow=slow or (), **changes)
    runs = _refuse_unusable(go_test, runs_of(question, selection, releases_of(releases)))
    go = find_go() if run else None
    with progress_display(no_color) as display:
        found = answers(runs, budget, watcher=display)
        if go is not None:
            found = on_code(runs, found, go, display.say)
    told = found if timings or output == "text" else [one.untimed() for one in found]
    print_answer(told, output, no_color, partial(_print, whole=verbose))
    _write(runs, found, save_trace, go_test, no_color)
    raise typer.Exit(_code(map(_on_code, found)))


def _write(
    runs: Sequence[Run],
    found: Sequence[AskAnswer],
    save_trace: Path | None,
    go_test: Path | None,
    no_color: bool,
) -> None:
    """Write what was asked for of the possible orders."""
    from ....analysis.request.option_files import write_text
    from ....reproduce.asked import run_of_answer
    from ....reproduce.go_tests import go_tests

    if save_trace is not None:
        pairs = [(run, one.finding) for run, one in zip(runs, found, strict=True) if one.finding is not None]
        save_traces([run for run, _ in pairs], [finding for _, finding in pairs], save_trace, no_color)
    if go_test is not None and found[0].finding is not None:
        (text,) = go_tests([run_of_answer(runs[0], found[0])]).values()
        write_text("--go-test", go_test, text)
        say(f"wrote {go_test}", no_color)


def _on_code(found: AskAnswer) -> str:
    """The answer; what kube-scheduler did not do is not known to be possible."""
    refused = found.on_code and not found.on_code.is_reproduced
    return "INCONCLUSIVE" if refused else found.answer


def _code(answers: Iterable[str]) -> int:
    given = {*answers}
    return next(code for answer, code in CODES.items() if answer in given)


def _everywhere(
    items: Sequence[str],
    size: tuple[str, str],
    scope: Sequence[str],
    releases: Sequence[str],
    changes: Mapping[str, Any],
    budget: Budget,
    output: str,
    verbose: bool,
    no_color: bool,
) -> int:
    """In all clusters up to a size, in one release or several; the exit code."""
    from ....analysis.ask.question import read_question
    from ....analysis.possible.releases import releases_of
    from ....analysis.prove.proof_of_property import prove_all
    from ....analysis.prove.proof_request import ProofRequest, template_of
    from ....analysis.request.options import parse_size
    from ....analysis.request.plan import parse_scope
    from ....reports.answers.ask_report import since_when
    from ....reports.answers.proof_report import print_proof

    request = ProofRequest(
        parse_size("--pods", size[0]),
        parse_size("--nodes", size[1]),
        asked=read_question(items),
        example=template_of((), parse_scope(scope), graceful=True, negative_priorities=False, empty_requests=True),
        max_states=budget.max_states,
        max_memory=budget.max_memory,
        jobs=budget.jobs,
        **changes,
    )  # fmt: skip
    proofs: list[Proof] = []
    answers: list[tuple[str, str]] = []
    absent: list[NoSuchStep] = []
    with progress_display(no_color) as display:
        for one in releases_of(releases):
            try:
                (proof,) = prove_all(replace(request, release=one), display)
            except NoSuchStep as problem:
                absent.append(problem)
                answers.append((str(one), "NOT THERE"))
            else:
                proofs.append(proof)
                answers.append((proof.release, proof.answer))
    if not proofs:
        raise absent[0]

    def tell(console: Console, proofs: Sequence[Proof]) -> None:
        for proof in proofs:
            print_proof(console, proof, verbose)
            console.print()
        if len(answers) > 1:
            console.print(f"{since_when(answers)}.", style="bold", soft_wrap=True)

    print_answer(proofs, output, no_color, tell)
    return _code(answer for _, answer in answers)


def _refuse_unusable(go_test: Path | None, runs: list[Run]) -> list[Run]:
    """Find out before the search that no test could be written."""
    from ....analysis.request.option_files import refuse_unwritable

    if go_test is not None:
        refuse_unwritable("--go-test", go_test)
        if len(runs) > 1:
            raise UsageProblem(
                f"--go-test: a test is for one release, and {len(runs)} are asked about: name one"
            )
    return runs


def _print(console: Console, found: Sequence[AskAnswer], whole: bool) -> None:
    from ....reports.answers.ask_report import since_when

    for number, one in enumerate(found):
        if number:
            console.print()
        one.print(console, whole)
    if len(found) > 1:
        console.print()
        console.print(
            f"{since_when((one.label, one.answer) for one in found)}.", style="bold", soft_wrap=True
        )
