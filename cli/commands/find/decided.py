"""What `podrace check` does once it is known what is asked: the runs are planned, decided and reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....analysis.request.plan import plan, refuse_all_ignored
from ....base.structs import Data
from ....reports.filtered import shown
from ...terminal.console import print_form, tolerant_of_closed_pipes
from ...terminal.output import exit_code, print_account, report_everywhere
from ...terminal.progress_display import progress_display
from .on_code import report_tours, tours_of

if TYPE_CHECKING:
    from ....analysis.closing import Closings
    from ....analysis.own_systems import Budget
    from ....analysis.request.method import Method
    from ....analysis.request.plan import Selection
    from ....analysis.request.representative_cluster import Represented
    from ....reproduce.request import Code
    from ...terminal.output import Output
    from .known_violations import KnownViolations


class Asked(Data):
    """What is asked: `search` is the budget with the disk of the searches, `closing` how many seconds are for what closes a race."""

    selection: Selection
    budget: Budget
    method: Method
    out: Output
    known: KnownViolations
    closing: float
    represented: Represented | None
    code: Code | None


def decide(asked: Asked) -> int:
    """Decide each run and report; gives the exit code. Raises Problem."""
    from ....analysis.chain import verdicts

    runs, out = plan(asked.selection), asked.out
    if asked.represented is not None:
        print_account(asked.represented.account, out)
    refuse_all_ignored(runs)
    with progress_display(out.no_color) as display:
        findings = verdicts(runs, asked.budget, asked.method, display)
        found: Closings = {}
        if out.tells_closings and asked.closing:
            from ....analysis.closing import closings

            found = closings(runs, findings, asked.budget, asked.method, asked.closing, display)
        tours = [] if asked.code is None else tours_of(runs, asked.code, asked.budget, display)
    if out.points_into_files:
        from ....analysis.subjects import with_subjects  # what every cluster needs takes a while to import

        findings = with_subjects(runs, findings)
    if asked.represented is not None:
        findings = asked.represented.tell([run.scenario.file for run in runs], findings)
    findings = asked.known.hold(findings, out)
    if asked.code is not None and out.form == "json":
        return report_tours(findings, tours, out, exit_code(findings, out.style()))
    code = report_everywhere(runs, findings, out, found)
    if asked.selection.is_empty and out.form == "text":
        with tolerant_of_closed_pipes():
            print_form(shown(NEXT))
    return code if asked.code is None else report_tours(findings, tours, out, code)


NEXT = """
What to do next:
  podrace check -v                      # the same in full: steps, notes, versions
  podrace check gone-victim --affected  # which versions have this race
  podrace check 72124 --report race     # step by step, with pictures in race/
  podrace init cluster.yaml             # a scenario of your own to begin with
"""
"""The end of the first run."""
