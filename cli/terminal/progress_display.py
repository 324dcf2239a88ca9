"""Live progress on a terminal, on stderr; where stderr is piped, only a line before work that takes minutes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING

from ...analysis.request.method import Watcher
from ...analysis.request.options import bytes_in_words, scaled_down
from ...base.text import Slow
from .console import complaint, message_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ...analysis.request.method import Progress


class ProgressDisplay(Watcher):
    """Two lines that say what is being searched and how far; they disappear when the searches end. With a `clock`, how long it has taken: it goes on while nothing is said."""

    def __init__(self, console: Console | None, clock: bool = False) -> None:
        self._live = None
        self._what = self._text = ""
        self._began = time.monotonic() if clock else None
        if console is not None and console.is_terminal:
            from rich.live import Live

            self._live = Live(
                console=console,
                transient=True,
                auto_refresh=clock,
                refresh_per_second=1,
                get_renderable=self._lines,
            )

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
        if self._live is None and isinstance(text, Slow):
            with suppress(OSError):
                print(complaint(text), file=sys.stderr, flush=True)
        self._show(text)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the terminal to what is printed in between."""
        if self._live is not None:
            self._live.stop()
        try:
            yield
        finally:
            if self._live is not None:
                self._live.start()

    def _show(self, text: str) -> None:
        if self._live is not None:
            self._text = text
            self._live.refresh()

    def _lines(self) -> Text:
        from rich.text import Text

        lines = Text(overflow="ellipsis", no_wrap=True)
        if self._began is not None:
            minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
            lines.append(f"{minutes}:{seconds:02}  ", "dim")
        return lines.append(f"{self._what}\n", "bold").append(self._text)


def progress_display(no_color: bool, clock: bool = False) -> ProgressDisplay:
    """The display on stderr; rich, which takes a while to import, is asked whether that is a terminal only if it may be one."""
    may_be = sys.stderr.isatty() or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    return ProgressDisplay(message_console(no_color) if may_be else None, clock)


def describe(progress: Progress) -> str:
    """States, speed, depth, frontier, memory and time, in one line."""
    speed = progress.states / progress.seconds if progress.seconds > 0 else 0.0
    return (
        f"{progress.states:,} states  {scaled_down(speed)} states/s  depth {progress.depth}  "
        f"frontier {progress.frontier:,}  {bytes_in_words(progress.memory)}  {progress.seconds:.0f} s"
    )
