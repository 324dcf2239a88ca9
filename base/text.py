"""Words for messages: quoted input, counts, likely names."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class Slow(str):
    """What a user waits minutes for: it is also printed where stderr is no terminal."""


def one_line(text: str, limit: int = 60) -> str:
    """What a user wrote, made fit to be quoted inside one line."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 state`, `1,024 states`, `3 priority classes`, `2 queries`."""
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """The noun as it stands after a number."""
    if number == 1:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


MOST_LISTED = 50
"""So many names fit into a line that somebody reads."""


def known_names(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown name: the likely one if there is one, and all that are known; of very many, the nearest."""
    names = list(known)
    # Numbers are near each other without meaning the same.
    is_number = not any(c.isalpha() for c in name)
    close = [] if is_number else get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.6)
    likely = next((n for n in names if close and n.lower() == close[0]), None)
    listed = f"known: {', '.join(names)}" if names else "none is known"
    if len(names) > MOST_LISTED:
        near = get_close_matches(name.lower(), names, n=MOST_NEAR, cutoff=0)
        listed = f"the nearest of {len(names)}: {', '.join(near)}"
    return f"did you mean `{likely}`? ({listed})" if likely else listed


MOST_NEAR = 5
"""So many names are listed that are near to one that is not known; there are more than anybody reads in a message."""


def nearest_names(name: str, known: Iterable[str]) -> str:
    """The names that are nearest to one that is not known, for before a remedy; nothing where none is near."""
    by_letters = {one.lower(): one for one in known}
    close = get_close_matches(name.lower(), by_letters, n=MOST_NEAR, cutoff=0.5)
    return f"the nearest: {', '.join(by_letters[one] for one in close)}; " if close else ""


def nearest_fixes(key: str, known: Sequence[str]) -> str:
    """A remedy for an upstream change that is not known: the nearest that are, and the command that lists all."""
    if key.isascii() and key.isdigit():
        numbers = [name for name in known if name.isdigit()]
        close = sorted(numbers, key=lambda name: (abs(int(name) - int(key)), name))[:MOST_NEAR]
        nearest = f"the nearest: {', '.join(close)}; "
    else:
        nearest = nearest_names(key, known)
    return f"{nearest}`podrace fixes` lists all {len(known)}"
