"""`podrace check -f --upgrade X.Y`: the cluster on the version that it runs, and on another, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ....base.problems import UsageProblem
from ...terminal.output import Output, print_account
from ...terminal.progress_display import progress_display

if TYPE_CHECKING:
    from ....analysis.own_systems import Budget
    from ....analysis.request.plan import Selection
    from ....analysis.request.representative_cluster import Represented

GOOD, WORSE, OPEN = 0, 1, 3


def print_upgrade(
    represented: Represented, to: str, selection: Selection, budget: Budget, out: Output
) -> int:
    """Compare, print, and give the exit code: 1 if a property becomes violated, 3 if that is not known. Raises UsageProblem."""
    import msgspec

    from ....analysis.compare.inquiry import two_releases
    from ....analysis.request.method import Method
    from ....analysis.request.release_names import parse_release
    from ....reports.verify.comparison_forms import FORMS
    from ....reports.verify.comparison_rows import Rows
    from ..compare.verify import listener_of, print_whole

    forms = ("text", *FORMS)
    if out.form not in forms:
        raise UsageProblem(f"--upgrade prints {', '.join(forms)}: leave out --output {out.form}")
    if doubts := dict.fromkeys([*represented.doubts, *represented.on(parse_release(to)).doubts]):
        raise UsageProblem(
            f"--upgrade: podrace does not model all that decides it ({'; '.join(doubts)}): check each version by itself, with --release"
        )
    print_account(represented.account, out)
    with progress_display(out.no_color) as display:
        rows = listener_of(Rows, out.form, display, out.no_color)
        compared = two_releases(
            represented.version,
            to,
            replace(selection, names=()),
            budget,
            Method(),
            display,
            rows,
            "--upgrade",
        )
    told = msgspec.structs.replace(compared, notes=(*compared.notes, represented.caveat))
    print_whole(told, out.form, out.no_color, out.extent == "whole")
    outcomes = {pair.outcome for pair in compared.pairs}
    if "REGRESSED" in outcomes:
        return WORSE
    return OPEN if "inconclusive" in outcomes or compared.left is not None else GOOD
