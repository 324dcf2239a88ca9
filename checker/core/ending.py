"""How a process is told to end."""

from typing import Any


class Terminated(KeyboardInterrupt):
    """Somebody else than the user at the keyboard told this process to end (SIGTERM): what was decided is still to be told.

    `decided` is what a search of several properties had decided by then, by their names.
    """

    def __init__(self) -> None:
        super().__init__()
        self.decided: dict[str, Any] = {}
