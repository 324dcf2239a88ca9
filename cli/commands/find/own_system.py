"""Systems of the user's own, for `check`."""

import sys
from collections.abc import Sequence

from ....analysis.own_systems import Budget, Decided, Engine, code_of, decide, names_own_system, own_system
from ....base.problems import UsageProblem
from ....reports.filtered import shown
from ...terminal.console import complaint, print_form, print_json, tolerant_of_closed_pipes
from ...terminal.progress_display import progress_display


def check_own_systems(
    targets: Sequence[str],
    sizes: Sequence[str],
    properties: Sequence[str],
    budget: Budget,
    engine: Engine,
    first: bool,
    form: str,
    fail_on_vacuous: bool,
    no_color: bool,
    not_for_these: Sequence[str],
) -> int:
    """Check systems and report; gives the exit code. Raises UsageProblem."""
    others = [target for target in targets if not names_own_system(target)]
    if others:
        raise UsageProblem(f"`{others[0]}` is no system of your own: check scenarios in a run of their own")
    if not_for_these:
        which = "them" if len(not_for_these) > 1 else "it"
        raise UsageProblem(
            f"{', '.join(not_for_these)} cannot be used with a system of your own: leave {which} out"
        )
    if form not in ("text", "json"):
        raise UsageProblem(f"-o {form}: a system of your own is reported as text or json")
    found: list[Decided] = []
    with progress_display(no_color) as display:
        for target in targets:
            display.start(target)
            found.append(decide(own_system(target, sizes), properties, budget, engine, display.watch, first))
            if found[-1].is_cut:
                break
    for target in targets[len(found) :]:
        print(complaint(f"{target}: not begun, as podrace was told to end"), file=sys.stderr)
    with tolerant_of_closed_pipes():
        if form == "json":
            print_json([row for one in found for row in one.to_plain()])
        else:
            print_form(shown("\n".join(one.text() for one in found)))
    return code_of(found, fail_on_vacuous)
