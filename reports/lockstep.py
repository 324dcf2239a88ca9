"""What came of random runs of the model on the real scheduler: the document of `podrace lockstep`, free of any engine.

Field names are stable: people parse them.
"""

import msgspec

from .tours import TourWord


class Cause(msgspec.Struct, frozen=True):
    """Differences that begin at the same step of the model in the same kinds of variables, or with the same refusal.

    `runs` is how many random runs ended in it. `words` says what the example shows, which has `steps` steps; `trace` is the file that it was stored in.
    `stopped`: time was up before nothing more could be left out of that. `decided`: the answer of a plugin of the user's that went before, which the model does not know.
    """

    name: str
    runs: int
    words: str
    steps: int
    trace: str = ""
    stopped: bool = False
    decided: str = ""


class Lockstep(msgspec.Struct, frozen=True):
    """The random runs on one version.

    `steps` counts the steps up to the first difference of each run; `taken` says how often each was taken, and `never` which steps of these models
    were not. `within_locks` are steps that cannot be forced and were left out, with the reason. `instead` are modules of which another version was taken.
    `own` describes the plugins of the user's.
    """

    scheduler: str
    release: str
    seed: int
    clusters: int
    runs: int
    steps: int
    seconds: float
    causes: tuple[Cause, ...] = ()
    taken: dict[str, int] = {}
    never: tuple[str, ...] = ()
    within_locks: dict[str, str] = {}
    instead: dict[str, str] = {}
    own: str = ""

    @property
    def verdict(self) -> TourWord:
        """IN STEP: no run differs. INCOMPLETE: a plugin of the user's decided each of those that end early."""
        if any(not cause.decided for cause in self.causes):
            return "DIFFERS"
        return "INCOMPLETE" if self.causes else "IN STEP"

    @property
    def differing(self) -> int:
        """How many runs differ."""
        return sum(cause.runs for cause in self.causes)
