"""Long lines broken between words."""

from __future__ import annotations

import textwrap

WIDTH = 110


def wrapped(first: str, text: str, end: str = "") -> str:
    """`first` and then `text`; where lines are too long they go on below the beginning of `text`, shifted a little."""
    shift = " " * (min(len(first), 16) + 2)
    lines = textwrap.wrap(
        first + text,
        WIDTH - len(end),
        subsequent_indent=shift,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{end}\n".join(lines)


def paragraph(text: str) -> list[str]:
    """The lines of a text, those broken that are too long for a comment."""
    return [part for line in text.splitlines() for part in textwrap.wrap(line, WIDTH - 4) or [""]]
