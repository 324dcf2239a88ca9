"""The filter of all output: names, titles and messages come from files that others wrote, and must only be read.

A terminal obeys control characters (ESC moves its cursor, colours, renames it), and takes letters of no width or of another direction
for what they are not. CI services obey lines of a step's output: `::error::` of GitHub, `##[group]`, `##vso[...]`, `##teamcity[...]`.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TextIO

INSTEAD = "\N{REPLACEMENT CHARACTER}"

_PLAIN = "\n\t"
_ANSI = r"\x1b\[[0-9;]*m|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # colours and links: ours, for what is not ours is shown()
_COMMAND = re.compile(rf"^((?:[^\S\n]|{_ANSI})*):((?:{_ANSI})*):", re.MULTILINE)
_BLANK = re.compile(rf"(?:[^\S\n]|{_ANSI})*:?(?:{_ANSI})*")
_BRACKET = re.compile(r"##(?=[A-Za-z]*\[)")
_END = re.compile(r"#{0,2}[A-Za-z]{0,12}\Z")

_Given = ParamSpec("_Given")


def shown(text: str) -> str:
    """A text without what nobody sees: controls, letters of no width, changes of direction. Lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(c if _is_shown(c) else INSTEAD for c in text)


def on_one_line(text: str) -> str:
    """The same on one line, with single blanks."""
    return shown(" ".join(text.split()))


def without_commands(text: str) -> str:
    """A text in which no line is a command to a CI service: `: :error` and `## [group]`."""
    return without_brackets(_COMMAND.sub(r"\1: \2:", text))


def without_brackets(text: str) -> str:
    """A text without commands that count anywhere in a line: `## [group]`."""
    return _BRACKET.sub("## ", text)


def escaped_json(text: str) -> str:
    """A document in JSON with the same value, in which such letters are escapes, as are commands to CI services."""
    lines = _BRACKET.sub(r"#\\u0023", text).split("\n")
    return "\n".join(line if line.isprintable() else "".join(map(_as_in_json, line)) for line in lines)


def _as_in_json(letter: str) -> str:
    if _is_shown(letter):
        return letter
    import json  # it takes a while to import, and hardly a document needs it

    return json.dumps(letter)[1:-1]


def to_json(document: Any, indent: int = 2) -> str:
    """A document as JSON, filtered, with a newline at the end: the same document gives the same text. On one line if `indent` is 0."""
    import msgspec  # not loaded by commands that print none

    text = msgspec.json.format(msgspec.json.encode(document, enc_hook=str), indent=indent)
    return escaped_json(text.decode()) + "\n"


def text_filtered(form: Callable[_Given, str]) -> Callable[_Given, str]:
    """Decorates a form that is no JSON: what it gives is filtered."""

    @wraps(form)
    def filtered(*given: _Given.args, **named: _Given.kwargs) -> str:
        return shown(form(*given, **named))

    return filtered


class WithoutCommands:
    """A stream to which no line goes that is a command to a CI service, however it is put together. What is written to it is
    `shown` already.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line = ""  # what matters of the line that is being written

    def write(self, text: str) -> int:
        """As a stream does."""
        whole = without_commands(self._line + text)
        # Of a command that has begun already, the rest is set apart.
        safe = whole[len(self._line) :] if whole.startswith(self._line) else f" {without_commands(text)}"
        self._stream.write(safe)
        last = (self._line + safe).rpartition("\n")[2]
        if not _BLANK.fullmatch(last):
            end = _END.search(last)
            last = f"x{end[0] if end else ''}"
        self._line = last
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _is_shown(letter: str) -> bool:
    return letter in _PLAIN or letter.isprintable() or unicodedata.category(letter) == "Zs"
