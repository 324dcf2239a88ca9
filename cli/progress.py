"""Live progress on a terminal, on stderr; nothing where stderr is piped."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from ..checker.core.exploration import Progress


class ProgressDisplay:
    """Two lines that say what is being searched and how far; they disappear when the searches end."""

    def __init__(self, console: Console) -> None:
        self._live = (
            Live(console=console, transient=True, auto_refresh=False) if console.is_terminal else None
        )
        self._what = ""

    def __enter__(self) -> ProgressDisplay:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def start(self, what: str) -> None:
        """A new search begins."""
        self._what = what
        self._show("building the model")

    def watch(self, progress: Progress) -> None:
        """Show where the search stands."""
        if self._live is not None:
            self._show(describe(progress))

    def say(self, text: str) -> None:
        """Show where other work stands."""
        self._show(text)

    def _show(self, text: str) -> None:
        if self._live is not None:
            lines = Text(overflow="ellipsis", no_wrap=True).append(f"{self._what}\n", "bold").append(text)
            self._live.update(lines, refresh=True)


def describe(progress: Progress) -> str:
    """States, speed, depth, frontier, memory and time, in one line."""
    speed = progress.states / progress.seconds if progress.seconds > 0 else 0.0
    return (
        f"{progress.states:,} states  {short(speed)} states/s  depth {progress.depth}  "
        f"frontier {progress.frontier:,}  {memory(progress.memory)}  {progress.seconds:.0f} s"
    )


def short(number: float) -> str:
    """A number with at most three digits before its letter."""
    for letter, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= scale:
            return f"{number / scale:.1f}{letter}"
    return f"{number:.0f}"


def memory(count: int) -> str:
    """Bytes, rounded."""
    for letter, scale in (("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {letter}iB".replace("kiB", "KiB")
    return f"{count} B"
