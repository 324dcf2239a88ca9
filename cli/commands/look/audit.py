"""`podrace audit`: which scheduling invariants a cluster broke, by its audit log."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ....base.problems import UsageProblem
from ...configuration.app import app, examples
from ...terminal.console import print_answer
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from ....audit.audit import Asked
    from ....reports.audit_report import AuditReport


@app.command(
    "audit",
    help="Say which scheduling invariants a cluster broke.\n\n"
    "FILE is an audit log of an API server, plain or gzip, also as EKS, GKE, AKS or OpenShift store it. Add the output of `kubectl get events -o json`, a log of kube-scheduler, or its metrics. Each property is HIT (broken in every order that agrees with the log), EXCLUDED (broken in none, and the log has every event that could break it) or NOT EXCLUDED, with the reasons.\n\n"
    "Exit codes: 0 all is excluded, 1 something was hit, 2 wrong usage or input, 3 something is not excluded.",
    epilog=examples(
        "podrace audit audit-*.log.gz",
        "kubectl get nodes,pods -A -o json > start.json    # when the log begins",
        "podrace audit --initial start.json --complete audit.log -o html > a.html",
        "podrace audit --policy > audit-policy.yaml",
    ),
)
def audit_logs(
    names: list[str] | None = None,
    filename: list[str] | None = None,
    initial: list[str] | None = None,
    complete: bool = False,
    since: str | None = None,
    until: str | None = None,
    namespace: str | None = None,
    property_: list[str] | None = None,
    clock_skew: str = "50ms",
    explain: bool = False,
    release: str | None = None,
    policy: bool = False,
    follow: bool = False,
    report: Path | None = None,
    output: Literal["text", "json", "html", "markdown"] = "text",
    no_color: bool = False,
) -> None:
    from ....analysis.request.options import bytes_in_words, parse_skew
    from ....analysis.request.release_names import parse_release
    from ....analysis.stored.report_directory import refuse_unusable, write_audit_report
    from ....audit.audit import Asked
    from ....audit.audit import audit_logs as answered
    from ....audit.audit import policy as shipped_policy
    from ....audit.checks.check import Window
    from ....audit.reading.reading import Account
    from ....reports.audit_report import exit_code
    from ....reports.formats.audit_forms import FORMS
    from ....reports.text.audit_text import print_audit

    files = [*(names or ()), *(filename or ())]
    if policy:
        if files:
            raise UsageProblem("--policy prints a policy and reads no log: leave out one of the two")
        sys.stdout.write(shipped_policy())
        raise typer.Exit(0)
    if release is not None and not explain:
        raise UsageProblem(
            "--release is the scheduler of the races that explain: add --explain, or leave it out"
        )
    if not files:
        raise UsageProblem("name audit logs, such as audit.log, or - for the standard input")
    if [*files, *(initial or ())].count("-") > 1:
        raise UsageProblem("-: the standard input can be read only once: name it once")
    asked = Asked(
        files,
        initial or (),
        complete,
        round(parse_skew(clock_skew) * 1_000_000),
        Window(_time("--since", since), _time("--until", until), namespace),
        property_ or (),
        explain=explain,
        release=None if release is None else parse_release(release),
    )
    if report is not None:
        refuse_unusable(report)
    if follow:
        answers = _followed(asked)
    else:
        with progress_display(no_color) as display:
            display.start("reading")

            def progress(account: Account) -> None:
                display.say(f"{bytes_in_words(account.bytes)}  {account.lines:,} lines")

            answers = answered(asked, progress)
    if report is not None:
        write_audit_report(report, answers)
    print_answer(answers, output, no_color, print_audit, FORMS)
    raise typer.Exit(exit_code(answers))


def _followed(asked: Asked) -> AuditReport:
    """Tell on standard error what is new, until somebody interrupts; the last answers."""
    from ....audit.following import followed, news
    from ....base.text import one_line

    last, told = None, set[tuple[str, str, str]]()
    try:
        for last in followed(asked, _paused):
            for name, hit in news(last, told):
                typer.echo(f"{name} HIT {hit.time}: {one_line(hit.words, 300)}", err=True)
    except KeyboardInterrupt:
        if last is None:
            raise
    assert last is not None
    return last


def _paused(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _time(option: str, text: str | None) -> int | None:
    from ....audit.reading.records import time_of
    from ....base.text import one_line

    moment = None if text is None else time_of(text)
    if text is not None and moment is None:
        raise UsageProblem(f"{option}: `{one_line(text)}` is no time: write for example 2026-02-01T10:00:00Z")
    return moment
