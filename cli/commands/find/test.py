"""`podrace test`: scenario files held to what they expect."""

from pathlib import Path
from typing import Literal

import typer

from ....analysis.request.method import budget_of
from ...configuration import arguments as arg
from ...configuration.app import app, examples
from ...terminal.console import result_console, tolerant_of_closed_pipes
from ...terminal.output import Output, exit_code, say, write_directory
from ...terminal.output import report as print_report
from ...terminal.progress_display import progress_display
from .known_violations import known_violations


@app.command(
    "test",
    help="Compare scenario files with the verdicts they expect.\n\n"
    "In a directory and its subdirectories, podrace checks all YAML files with a section `expect`; docs/scenarios.md describes it. `podrace init` writes a file to begin with.\n\n"
    "Exit codes: 0 all is as expected, 1 something is not, 2 wrong usage or input, 3 inconclusive (a budget ran out).",
    epilog=examples(
        "podrace test clusters/",
        "podrace test mine.yaml -o junit > results.xml",
        "podrace test clusters/ --baseline known.yaml",
    ),
)
def check_expectations(
    paths: list[Path] | None = None,
    own: list[str] | None = None,
    time: arg.Time = None,
    slow: list[str] | None = None,
    baseline: Path | None = None,
    write_baseline: Path | None = None,
    output: Literal["text", "json", "junit", "github", "markdown"] = "text",
    report: Path | None = None,
    fail_on_vacuous: bool = False,
    timings: bool = False,
    max_states: str | None = None,
    max_memory: str | None = None,
    timeout: str | None = None,
    jobs: str | None = None,
    cache: Path | None = None,
    no_cache: bool = False,
    no_color: bool = False,
) -> None:
    budget = budget_of(max_states, max_memory, timeout, jobs)
    from ....analysis.chain import verdicts
    from ....analysis.request.expected_runs import files_to_test, runs_expected, skipped_words
    from ....analysis.request.method import Method, cache_folder
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.plan import refuse_all_ignored
    from ....reports.text.findings_text import print_expectations

    out = Output(output, no_color=no_color, fail_on_vacuous=fail_on_vacuous, timings=timings, report=report)
    method = Method(cache=cache_folder(cache, no_cache), whole_findings=True)
    chosen = own_properties(own or ())
    out.refuse_unusable()
    known = known_violations(baseline, write_baseline, chosen)
    asked, skipped = files_to_test(paths or [Path()])
    runs = runs_expected(asked, chosen, time, slow or ())
    refuse_all_ignored(runs)
    with progress_display(no_color) as display:
        findings = verdicts(runs, budget, method, display)
    findings = known.hold(findings, out)
    if out.points_into_files:
        from ....analysis.subjects import with_subjects

        findings = with_subjects(runs, findings)
    with tolerant_of_closed_pipes():
        if output == "text":
            files = [run.scenario.file for run in runs]
            print_expectations(result_console(no_color), files, findings, out.style())
        else:
            print_report(findings, out)
    write_directory(runs, findings, out)
    if skipped:
        say(skipped_words(skipped), no_color)
    raise typer.Exit(exit_code(findings, out.style()))
