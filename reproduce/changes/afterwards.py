"""A run that violates a property in its last step, on both sides: whether the changed code mends it with the next calls of somebody who is amid something.

A mend may look right after the step in which the violation begins, such as a pod that is forgotten as soon as it was assumed.
"""

from __future__ import annotations

import msgspec

from ...analysis.request.plan import Selection, plan
from ...reports.verify.code_change import Race
from ..case import Case
from .beyond import Play, Run, played, roaming
from .monitors import Monitors, monitors_of
from .replays import Counterexample

MOVES = 4
"""So many calls one of those who are amid something goes on by itself. Nobody else acts in between."""

MOST_HELD = 8
"""So many of them are tried."""


def closed_afterwards(race: Race, found: Counterexample, release: str, before: Play, after: Play) -> Race:
    """The race, which closes if the property stays violated on the unchanged code, whoever goes on, and somebody mends it on the changed code.

    What the property reads and cannot be seen is as in the model in the end.
    """
    scenario, name = found.scenario, race.property
    composition = plan(Selection(release=release, given=[scenario], properties=(name,)))[0].composition
    monitors = monitors_of(scenario.spec, composition.classes, [name])
    if name not in monitors.monitors:
        return race
    cases = [roaming(found.case, number, {}, alone=True, moves=MOVES) for number in range(MOST_HELD)]
    kept, mended = (played(cases, play) for play in (before, after))
    bad = [
        {number: _violating(run, found.case, monitors, name) for number, run in side.items()}
        for side in (kept, mended)
    ]
    if not bad[0] or not all(found and all(found) for found in bad[0].values()):
        return race
    for number, states in bad[1].items():
        if number in bad[0] and states[:1] == [True] and not states[-1]:
            move = mended[number].outcome.roam[states.index(False) - 1].move
            words = f"the run ends there, and the changed code mends it at once: {move}"
            return msgspec.structs.replace(race, outcome="closes", after="DIFFERS", words=words, differs=True)
    return race


def _violating(run: Run, case: Case, monitors: Monitors, name: str) -> list[bool]:
    """Whether the property is violated by the last step alone, and by it together with each further move, as if they were one; empty if that cannot be said."""
    model, states = dict(case.initial), []
    for number, seen in enumerate(run.states):
        model |= case.steps[number - 1].changes if 0 < number <= len(case.steps) else {}
        states.append({**model, **seen})
    found = []
    for end in states[run.start :]:
        bad = list(monitors.each([*states[: run.start], end], [name]))
        if len(bad) <= run.start:
            return []
        found.append(name in bad[-1])
    return found
