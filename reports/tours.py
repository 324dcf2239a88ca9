"""What came of a tour: every transition of a scenario, taken by the real scheduler. The part `on_code` of the document of `podrace check --on-code`.

Field names are stable: people parse them.
"""

from typing import Literal

import msgspec

TourWord = Literal["IN STEP", "DIFFERS", "INCOMPLETE"]


class Departure(msgspec.Struct, frozen=True):
    """Runs that differ at the same step in the same kinds of variables. `words` says what the example shows, and `steps` are its labels.

    `shrunk`: no single step can be left out of it; otherwise time was up. `decided`: the answer of a plugin of the user's that went before, which the model does not know.
    """

    name: str
    runs: int
    transitions: int
    words: str
    steps: tuple[str, ...]
    shrunk: bool = True
    decided: str = ""


class Tour(msgspec.Struct, frozen=True):
    """The tour of a scenario on a version, or on the sources in `tree`.

    Of `transitions`, so many were `taken` by the real scheduler without a difference; lie `within_lock`, where nobody can be held; are `not_forced`, by the reason; lie `behind` those; are
    `differing`, or lie `behind_differing`; or were `left`, because time was up or no way was found. `bound` says which budget cut the graph, and is empty if it is whole. `instead` are modules of which another version was taken.
    With plugins of the user's, which `own` describes, so many transitions were `decided` by them, by the answer. So many of those taken were `known`: an earlier tour of the same binary has taken them.
    """

    scenario: str
    scheduler: str
    release: str
    states: int
    transitions: int
    taken: int
    within_lock: int
    not_forced: dict[str, int]
    behind: int
    differing: int
    behind_differing: int
    left: int
    runs: int
    steps: int
    seconds: float
    bound: str = ""
    tree: str = ""
    departures: tuple[Departure, ...] = ()
    instead: dict[str, str] = {}
    own: str = ""
    decided: dict[str, int] = {}
    known: int = 0

    @property
    def verdict(self) -> TourWord:
        """IN STEP: every transition was taken without a difference, but for those that cannot be forced and what lies behind them."""
        if any(not departure.decided for departure in self.departures):
            return "DIFFERS"
        return "INCOMPLETE" if self.left or self.bound or self.departures else "IN STEP"

    @property
    def plugins_decide(self) -> bool:
        """Whether a plugin of the user's led to where the model does not go."""
        return any(departure.decided for departure in self.departures)

    @property
    def is_whole(self) -> bool:
        """Whether every transition was taken without a difference."""
        return self.taken == self.transitions and not self.bound
