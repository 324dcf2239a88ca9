"""What ends a command early: what its user got wrong, or somebody who wants it to stop."""

from typing import Any


class Problem(Exception):
    """Something that podrace was given cannot be used. The message is one line: place, mistake, remedy."""


class UsageProblem(Problem):
    """A wrong option or argument: its name is the place."""


class NoSuchStep(UsageProblem):
    """Words that no step or state of a system has; in another cluster or release they may mean one."""


class NotInRelease(Problem):
    """The scenario has something that its release does not."""


class Terminated(KeyboardInterrupt):
    """The process was told to end (SIGTERM, Ctrl-C): what was decided is still to be told.

    `decided` is what a search of several properties had decided by then, by their names.
    """

    def __init__(self) -> None:
        super().__init__()
        self.decided: dict[str, Any] = {}
