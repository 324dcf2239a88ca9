"""A run that violates a property in its last step, on both sides: whether one side alone mends it with the next calls of somebody who is amid something.

A mend may look right after the step in which the violation begins, such as a pod that is forgotten as soon as it was assumed.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ...analysis.request.plan import Selection, plan
from ...reports.verify.code_change import Race
from ..case import Case
from .beyond import Play, Run, played, roaming
from .monitors import Monitors, monitors_of
from .replays import Counterexample, is_new

MOVES = 8
"""So many moves, two a call, one of those who are amid something goes on by itself, and those whom it starts. Nobody else acts in between."""

PATIENCE = 4
"""So many times as many it goes on where it does not mend, before a race counts as open for that."""

MOST_HELD = 8
"""So many of them are tried."""


def mended_afterwards(
    race: Race,
    found: Counterexample,
    release: str,
    before: Play,
    after: Play,
    base: Callable[[], int | None] = lambda: None,
) -> Race:
    """The race, which closes if the property stays violated on the unchanged code, whichever actor continues, and an actor mends it on the changed code.

    It opens the other way about, if the same goes on violating it for long, and a second time; `base` is how many steps the shortest run to the
    violation has in the model without the change. What the property reads and cannot be seen is as in the model in the end.
    """
    name = race.property
    composition = plan(Selection(release=release, given=[found.scenario], properties=(name,)))[0].composition
    monitors = monitors_of(found.scenario.spec, composition.classes, [name])
    if name not in monitors.monitors:
        return race

    def goes_on(play: Play, moves: int = MOVES) -> dict[int, tuple[Run, list[bool]]]:
        cases = [roaming(found.case, number, {}, alone=True, moves=moves) for number in range(MOST_HELD)]
        return {
            number: (run, _violating(run, found.case, monitors, name))
            for number, run in played(cases, play).items()
        }

    sides = goes_on(before), goes_on(after)
    number = _mends(*sides, first=(True, False))
    if number is not None:
        bad = sides[1][number][1]
        words = (
            f"the run ends there, and the changed code mends it at once: {_move(*sides[1][number])}"
            if bad[0]
            else "the changed code executes the whole run, and what was seen of it does not violate it"
        )
        return msgspec.structs.replace(race, outcome="closes", after="DIFFERS", words=words, differs=True)
    number = _mends(sides[1], sides[0])
    if number is None or not is_new(found.length, base()):
        return race
    again, long = (goes_on(before), goes_on(after)), goes_on(after, PATIENCE * MOVES)
    steady = _mends(again[1], again[0]) == number
    if steady and _mends({number: long[number]} if number in long else {}, again[0]) == number:
        words = f"the run ends there. The unchanged code mends it at once, and the changed code does not: {_move(*again[0][number])}"
        return msgspec.structs.replace(
            race, outcome="opens", before="DIFFERS", words=words, differs=True, **found.told
        )
    return race


def _mends(
    kept: Mapping[int, tuple[Run, list[bool]]],
    mended: Mapping[int, tuple[Run, list[bool]]],
    first: Sequence[bool] = (True,),
) -> int | None:
    """Whose calls mend on one side what stays violated on the other one, whichever actor continues. `first` is what the run itself may have made of it on the side that mends."""
    if not kept or not all(bad and all(bad) for _, bad in kept.values()):
        return None
    return next(
        (n for n, (_, bad) in mended.items() if n in kept and bad and bad[0] in first and not bad[-1]), None
    )


def _move(run: Run, bad: list[bool]) -> str:
    """The call that mends."""
    return run.outcome.roam[bad.index(False) - 1].move


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
