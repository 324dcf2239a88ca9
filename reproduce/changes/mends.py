"""Open hazards that a change may mend: those whose shipped patch changes the same functions."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...base.problems import UsageProblem
from ...reports.verify.code_change import Touched
from ...scenarios import Scenario
from ..patches import MADE_FOR, MENDED_BY, read_patch
from .functions import touched_by
from .texts import FileChange, applied, parse_diff


def mendable(
    scenarios: Sequence[Scenario], files: Iterable[FileChange], touched: Iterable[Touched], base: Path
) -> list[Scenario]:
    """Those of the scenarios, the ones first whose patch has most in common with the change."""
    paths = {one.path for one in files}
    mine = {one.place for one in touched if one.what != "new"}
    near: dict[str, int] = {}
    for name in dict.fromkeys(name for names in MENDED_BY.values() for name in names):
        patch = read_patch(name)
        if paths & set(patch.files):
            try:
                changes = applied(parse_diff(patch.diff, name), base, name, MADE_FOR)
            except UsageProblem:  # this version is another
                continue
            near[name] = len(mine & {one.place for one in touched_by(changes) if one.what != "new"})
    ranks = {hazard: max(near.get(name, 0) for name in names) for hazard, names in MENDED_BY.items()}
    found = [one for one in scenarios if ranks.get(one.name)]
    return sorted(found, key=lambda one: -ranks[one.name])
