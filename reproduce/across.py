"""Every race and every hazard on one version: which are reproduced, which are gone, and where the model and the real scheduler part."""

from collections.abc import Sequence

from ..analysis.request.method import NOBODY, USUAL, Method, Watcher
from ..base.problems import NotInRelease
from ..checker.core.exploration import Budget
from ..reports.reproduction import Reproduction
from ..scenarios import Scenario, catalogue, hazards
from .modules.toolchain import Go
from .reproducing import Prepared, prepare, reproduce
from .request import Question, Wanted, code_for, searched
from .running import Say


def everything() -> list[Scenario]:
    """The hazards, and then the races."""
    return [*hazards(), *catalogue()]


def across(
    scenarios: Sequence[Scenario],
    wanted: Wanted,
    go: Go,
    budget: Budget,
    method: Method = USUAL,
    watcher: Watcher = NOBODY,
    say: Say | None = None,
) -> list[Reproduction]:
    """What becomes of each of them on the version that is wanted; one whose configuration the version does not have is NOT THERE."""
    asked: list[Prepared] = []
    for scenario in scenarios:
        try:
            asked += prepare(list(searched([scenario], wanted, budget, method, watcher)))
        except NotInRelease as problem:
            asked += [_absent(scenario, one, wanted, str(problem)) for one in scenario.properties]
    return reproduce(asked, go, say or watcher.say)


def _absent(scenario: Scenario, identifier: str, wanted: Wanted, why: str) -> Prepared:
    version = code_for(wanted, "").version
    made = Reproduction(
        scenario.name,
        str(version),
        wanted.release or version.plain,
        identifier,
        "NOT THERE",
        why,
        title=scenario.title,
    )
    return Prepared(Question(scenario.name, version, None), reproduction=made)
