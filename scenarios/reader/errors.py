"""Mistakes in scenario files and names: one line that says where, what, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ScenarioError(Exception):
    """A scenario that cannot be used. The message is one line: place, mistake, remedy."""


def one_line(text: str, limit: int = 60) -> str:
    """What a user wrote, made fit to be quoted inside one line."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def known_names(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown name: the likely one if there is one, and all that are known."""
    names = list(known)
    # Numbers are near each other without meaning the same.
    is_number = not any(c.isalpha() for c in name)
    close = [] if is_number else get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.6)
    likely = next((n for n in names if close and n.lower() == close[0]), None)
    listed = f"known: {', '.join(names)}" if names else "none is known"
    return f"did you mean `{likely}`? ({listed})" if likely else listed
