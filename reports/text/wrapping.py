"""Paragraphs fitted to the terminal."""

from rich.console import Console
from rich.text import Text

INDENT = "  "
LEAST_WIDTH = 20


def print_wrapped(console: Console, text: Text, indent: str = "", first: str | None = None) -> None:
    """Print a paragraph, fitted to the console's width; `first` stands before its first line in the place of the indent."""
    for number, line in enumerate(text.wrap(console, max(console.width - len(indent), LEAST_WIDTH))):
        line.rstrip()
        before = first if number == 0 and first is not None else indent
        console.print(Text(before).append_text(line), soft_wrap=True)
