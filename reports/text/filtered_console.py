"""The console that prints reports: what is not ours is filtered on its way out."""

from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ..filtered import WithoutCommands, shown


class FilteredConsole(Console):
    """A console for text without markup. Only its own colours reach the stream, and no command to a terminal or a CI service."""

    def __init__(self, file: TextIO, width: int | None = None, no_color: bool | None = None) -> None:
        stream: TextIO = WithoutCommands(file)  # type: ignore[assignment]
        super().__init__(
            file=stream, width=width, highlight=False, markup=False, emoji=False, no_color=no_color
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich does, filtered."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text.isprintable() else Segment(shown(text), style)


class ResultConsole(FilteredConsole):
    """A console for results: a closed pipe is an error, for whoever writes them to see to."""

    def on_broken_pipe(self) -> None:
        """Called where rich would end the process with code 1, which means something else here."""
        raise BrokenPipeError
