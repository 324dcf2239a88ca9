"""Paragraphs fitted to the terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

INDENT = "  "
LEAST_WIDTH = 20


def print_wrapped(console: Console, text: Text | str, indent: str = "", first: str | None = None) -> None:
    """Print a paragraph, fitted to the console's width; `first` stands before its first line in the place of the indent."""
    text = Text(text) if isinstance(text, str) else text
    for number, line in enumerate(text.wrap(console, max(console.width - len(indent), LEAST_WIDTH))):
        line.rstrip()
        before = first if number == 0 and first is not None else indent
        console.print(Text(before).append_text(line), soft_wrap=True)


def print_headed(console: Console, what: str, verdict: str, style: str) -> None:
    """Print what something is about, and in its colour what came of it."""
    print_wrapped(console, Text(f"{what} ", "bold").append(verdict, style))


def print_lines(console: Console, lines: Iterable[str], indent: str = "", style: str = "") -> None:
    """Print paragraphs one below the other."""
    for line in lines:
        print_wrapped(console, Text(line, style), indent)
