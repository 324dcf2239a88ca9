"""Writes what docs/notebook/history.md says is modelled of each release, from the model's history: `make reference`."""

import re
from pathlib import Path

from podrace.model.history import CHANGES, LATER, PRE_RELEASES, RELEASES, Change

PAGE = Path(__file__).parent / "notebook" / "history.md"


def modelled(heading: str) -> str:
    """The line of a section: the changes that came with its release first, numbers before names."""
    first = heading if heading in (*RELEASES, *PRE_RELEASES) else LATER
    found = sorted((c for c in CHANGES.values() if c.first_in == first), key=_place)
    return f"Modelled: {', '.join(map(_words, found)) or 'none'}."


def page(text: str) -> str:
    """The page with these lines made anew."""
    return re.sub(r"^(## (.+)\n\n)Modelled: .*$", lambda m: m[1] + modelled(m[2]), text, flags=re.MULTILINE)


def _words(change: Change) -> str:
    """A change as it is named on the page, with the patch versions that it came to."""
    return f"`{change.key}`" + (f" ({', '.join(change.backports)})" if change.backports else "")


def _place(change: Change) -> tuple[bool, int, str]:
    number = re.match(r"\d+", change.key)
    return not change.key.isdigit(), int(number[0]) if number else 0, change.key


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
