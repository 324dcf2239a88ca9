"""A run that violates a property on the unchanged code, and that the changed code cannot execute to its end: a mend may change an earlier step.

From the last state that is the same on both sides, each side makes random moves; then from the step that differs, which may be one that no random move
makes. Nothing follows from a single one of these runs.
"""

import msgspec

from ...analysis.request.plan import Selection, plan
from ...reports.verify.code_change import Race
from .beyond import RUNS, Play, played, roaming, violations_of
from .monitors import monitors_of
from .replays import Counterexample, Replay

FEWEST = 6
"""In so many of its random runs the unchanged code must violate the property."""

MOST_BATCHES = 4
"""How many times `RUNS` runs the unchanged code makes for that."""

MORE_AFTER = 3
"""How many times as many runs the changed code makes: if the change meant nothing to it, none of these would violate it by a chance of some 1 in 4,000."""


def mended_earlier(
    race: Race, found: Counterexample, changed: Replay, release: str, before: Play, after: Play
) -> Race:
    """The race, which closes if random runs of the unchanged code violate the property from there, and none of the changed code do."""
    name, scenario = race.property, found.scenario
    forced = changed.outcome.forced
    same = next((number for number, step in enumerate(forced) if step.differs), len(forced))
    composition = plan(Selection(release=release, given=[scenario], properties=(name,)))[0].composition
    monitors = monitors_of(scenario.spec, composition.classes, [name])

    def violating(end: int, play: Play, batch: int) -> int:
        case = msgspec.structs.replace(found.case, steps=found.case.steps[:end])
        seeds = range(batch * RUNS, (batch + 1) * RUNS)
        runs = played([roaming(case, seed, {}, ranked=seed % 4 > 0) for seed in seeds], play)
        return sum(name in bad for bad in violations_of(runs, monitors).values()) if len(runs) == RUNS else -1

    for end in range(same, min(same + 1, len(forced)) + 1):
        some = batches = 0
        while some < FEWEST and batches < MOST_BATCHES and (some or not batches):
            here = violating(end, before, batches)
            if here < 0:
                return race
            some, batches = some + here, batches + 1
        if some < FEWEST:
            continue
        if any(violating(end, after, batch) for batch in range(MORE_AFTER * batches)):
            return race
        words = f"from step {end} on, {some} of {batches * RUNS} random runs of the unchanged code violate it, and none of {MORE_AFTER * batches * RUNS} of the changed code"
        return msgspec.structs.replace(
            race, outcome="closes", after="CANNOT BE FORCED", words=f"{words}; {race.words}"
        )
    return race
