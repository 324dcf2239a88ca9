"""How wide a text is, and what of it fits: shortened in its middle, or on several lines.

Nobody knows which font a drawing is seen in, so that widths are those of DejaVu Sans, the widest of the usual ones: what
fits by them fits in Arial, Helvetica and Segoe UI.
"""

from itertools import accumulate

_HUNDREDTHS = {
    28: "ijl",
    32: " .,|",
    34: ":;/\\I!",
    38: "-()[]fJt'",
    42: "r",
    50: '_*"',
    53: "?csz",
    60: "kvxyL",
    64: "abdeghnopqu0123456789FETYPSAVXZK",
    70: "BCR",
    78: "UDNGOQH",
    84: "w<>=+~&",
    88: "M@",
    98: "mW%",
    100: "…—",
}
_WIDTHS = {letter: hundredths / 100 for hundredths, letters in _HUNDREDTHS.items() for letter in letters}
_OTHER = 1.0
_BOLD = 1.12
ELLIPSIS = "…"
_AFTER = "-/.,=_:"
"""Where a word is broken, if it must be: after one of these."""


def width(text: str, size: float, bold: bool = False) -> float:
    """How wide a text is at the most, in the unit of `size`."""
    return sum(_WIDTHS.get(letter, _OTHER) for letter in text) * size * (_BOLD if bold else 1)


def shortened(text: str, room: float, size: float, bold: bool = False) -> str:
    """A text that fits: the whole, or as much of its beginning and its end as fits, the end more, where names of pods differ."""
    if width(text, size, bold) <= room:
        return text
    for kept in range(len(text) - 1, 0, -1):
        front = kept * 2 // 5
        found = text[:front] + ELLIPSIS + text[len(text) - kept + front :]
        if width(found, size, bold) <= room:
            return found
    return ELLIPSIS


def lines(text: str, room: float, size: float, bold: bool = False) -> list[str]:
    """A text on as many lines as it needs. A word that is too long for a line is broken, and nothing is left out."""
    found: list[str] = []
    line = ""
    for word in text.split():
        joined = f"{line} {word}" if line else word
        if width(joined, size, bold) <= room:
            line = joined
            continue
        if line:
            found.append(line)
        *whole, line = _broken(word, room, size, bold)
        found += whole
    return [*found, line] if line else found


def at_most(text: str, room: float, size: float, most: int, bold: bool = False) -> list[str]:
    """A text on `most` lines: where it needs more, it is shortened until it does not."""
    found = lines(text, room, size, bold)
    for kept in range(len(text) - 1, 0, -1):
        if len(found) <= most:
            break
        front = kept * 2 // 5
        found = lines(text[:front] + ELLIPSIS + text[len(text) - kept + front :], room, size, bold)
    return found if len(found) <= most else [ELLIPSIS]


def _broken(word: str, room: float, size: float, bold: bool) -> list[str]:
    """A word in pieces that fit, broken after punctuation if a third of a line is kept by that."""
    pieces = []
    while width(word, size, bold) > room:
        ends = accumulate(width(letter, size, bold) for letter in word)
        fits = max(sum(end <= room for end in ends), 1)
        good = max((i + 1 for i in range(fits) if word[i] in _AFTER), default=0)
        cut = good if good * 3 >= fits else fits
        pieces.append(word[:cut])
        word = word[cut:]
    return [*pieces, word] if word else pieces
