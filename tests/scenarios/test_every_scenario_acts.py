"""What the scenarios that come with podrace ask for acts in some run of each, whatever the verdict; a table says what does not, and why that is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.asked_for import asked_for
from podrace.model.history import RELEASES, resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios, read_scenario
from tests.scenarios.acting import idle_parts

FOLDER = Path(__file__).parents[2] / "scenarios"

NEVER = {
    ("actors/one-too-many.yaml", "pod web-c, which is to come"): "it comes with 3 undelivered events, and the scope has 2, which are enough for the race",
}  # fmt: skip
"""What never acts on the release of the scenario."""

NO_LONGER = {
    ("expired-assumption", "assume expiries"): "assumed pods no longer expire from 1.25 on (110925), which is why it holds",
}  # fmt: skip
"""What never acts on the newest release."""


@pytest.mark.campaign
@pytest.mark.parametrize("file", [str(path.relative_to(FOLDER)) for path in sorted(FOLDER.rglob("*.yaml"))])
def test_each_part_acts(file: str) -> None:
    scenario = read_scenario(FOLDER / file, file)
    release = scenario.release or RELEASES[-1]
    assert idle_parts(scenario, release, 80, 300)[1] == {part for of, part in NEVER if of == file}


@pytest.mark.parametrize(("name", "part"), NO_LONGER)
def test_what_no_release_has_any_more_is_told(name: str, part: str) -> None:
    (scenario,) = find_scenarios(name)
    system = instrument(scenario.spec, resolve(RELEASES[-1]).classes, [PROPERTIES["S-CAP"]])
    (result,) = check(system, ["S-CAP"], parts=asked_for)
    assert result.coverage.never_acted == {part: "no step of this scenario stands for it"}
