"""What became of a counterexample on kube-scheduler's own code: the document that the forms of `podrace reproduce` are made of, free of any engine.

Field names are stable: people parse them.
"""

import builtins
from collections.abc import Sequence
from typing import Literal

import msgspec

from .step import ShownStep, Value, show

ReproductionWord = Literal[
    "REPRODUCED", "DIFFERS", "CANNOT BE FORCED", "NOT THERE", "CRASHED", "HOLDS", "UNDECIDED", "NOT RUN"
]

FLUSH_SECONDS = 300
"""How long a pod is parked before the periodic flush takes it (podMaxInUnschedulablePodsDuration)."""


class Differing(msgspec.Struct, frozen=True):
    """A variable that the real scheduler has otherwise than the model."""

    variable: str
    model: Value
    real: Value

    @property
    def words(self) -> str:
        """For example `queue.sub_queue[p]: model BACKOFF, real UNSCHEDULABLE`."""
        return f"{self.variable}: model {show(self.model)}, real {show(self.real)}"


class RealStep(msgspec.Struct, frozen=True):
    """A step of the model, and what the real scheduler did.

    `points` are the calls that its actor was let go through, `real` the variables that have changed really since the step before, as far as they can be
    seen. A step that was not forced has no points and is not `forced`.
    """

    step: ShownStep
    forced: bool = False
    wait_ms: int = 0
    points: tuple[str, ...] = ()
    real: dict[str, Value] = {}
    differs: tuple[Differing, ...] = ()


class Reproduction(msgspec.Struct, frozen=True):
    """The verdict on one counterexample on one version.

    `scheduler` is the version that was run, such as v1.36.3, `release` what the model was composed as. `at` is the number of the step at which the real
    scheduler differs, cannot be forced or lacks something; 0 before the first. `words` says what the verdict rests on. `violated` says whether the
    property is violated on the real state in the end, None where that is not known. `unseen` are the variables that the property reads and that
    cannot be seen in this version. `consequence` says what followed for whom, as far as it was waited for. `instead` are modules of which
    another version was taken, because the one that belongs here is not to be had. `loop_from` is the number of the first step that repeats.
    """

    name: str
    scheduler: str
    release: str
    property: str
    verdict: ReproductionWord
    words: str
    at: int | None = None
    title: str = ""
    sentence: str = ""
    steps: tuple[RealStep, ...] = ()
    initial: tuple[Differing, ...] = ()
    loop_from: int | None = None
    violated: bool | None = None
    unseen: tuple[str, ...] = ()
    consequence: tuple[str, ...] = ()
    bound_after: dict[str, float] = {}
    instead: dict[str, str] = {}
    log: tuple[str, ...] = ()
    folder: str = ""

    @builtins.property
    def forced(self) -> int:
        """How many steps were forced."""
        return sum(step.forced for step in self.steps)

    @builtins.property
    def differences(self) -> int:
        """How many differences there are, counted by variable."""
        met = {d.variable for step in self.steps for d in step.differs} | {d.variable for d in self.initial}
        return len(met)

    @builtins.property
    def headline(self) -> str:
        """The verdict with the step that it is about, for example `DIFFERS at step 3`."""
        return self.verdict if self.at is None else f"{self.verdict} at step {self.at}"

    @builtins.property
    def is_reproduced(self) -> bool:
        """Whether the real scheduler violates the property in the way that the model says."""
        return self.verdict == "REPRODUCED"


REPRODUCED, NOTHING, OTHERWISE = 1, 0, 3
_CODES = {"REPRODUCED": REPRODUCED, "HOLDS": NOTHING, "NOT THERE": NOTHING, "NOT RUN": NOTHING}


def exit_code(found: Sequence[Reproduction]) -> int:
    """1 something was reproduced, 0 nothing was there to reproduce, 3 something differs, cannot be forced or is undecided."""
    codes = {_CODES.get(one.verdict, OTHERWISE) for one in found}
    return OTHERWISE if OTHERWISE in codes else max(codes, default=NOTHING)


def is_as_modelled(one: Reproduction) -> bool:
    """Whether the real scheduler is as the model has it, as far as it was asked."""
    return one.verdict in ("REPRODUCED", "HOLDS", "NOT THERE")


def account_of(found: Sequence[Reproduction]) -> str:
    """For example `16 reproduced, 21 gone, 1 differs`."""
    words = {
        "REPRODUCED": "reproduced",
        "HOLDS": "gone (the property holds there)",
        "NOT THERE": "not there",
        "DIFFERS": "not as the model has it",
        "CANNOT BE FORCED": "not to be forced",
        "CRASHED": "crashed",
        "UNDECIDED": "undecided",
    }
    counts = {word: sum(one.verdict == verdict for one in found) for verdict, word in words.items()}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def seconds_in_words(seconds: float) -> str:
    """For example `5 min 31 s`, `4.2 s`."""
    if seconds < 60:
        return f"{round(seconds, 1):g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"
