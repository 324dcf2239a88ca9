"""Lines that can be damaged one by one, to see whether anything that is run depends on them.

A condition is negated, a call or an assignment is left out, and other values are returned, while a variable of the environment names the line. So one
binary serves for all of them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from string import ascii_letters, digits

from ...analysis.upstream.go_functions import results_at
from ...analysis.upstream.go_tokens import split, tokens_of
from .lines import ChangedLine

VARIABLE = "PODRACE_DAMAGED"
_FILE = "podrace_damaged.go"
_GO = "podraceDamaged"
_ERROR = f"{_GO}Error"
_SOURCE = f"""import (
	"errors"
	"os"
)

var (
	{_GO} = os.Getenv("{VARIABLE}")
	{_ERROR} = errors.New("podrace damaged a line")
)
"""

_CONDITION = re.compile(r"(\s*(?:\} else )?if (?:[^;]*; )?)([^;]+)( \{)")
_CALLED = re.compile(r"(?:defer |go )?[A-Za-z_][\w.]*")
_ASSIGNED = re.compile(r"[A-Za-z_*][\w.*]*(?:, [A-Za-z_*][\w.*]*)* (?:=|\+=|-=|\|=) \S.*|[\w.]+(?:\+\+|--)")
_OTHERS = re.compile(r"(?:func|for|switch|case|select|panic|var|const|type|import|if)\b")
_JUMPS = ("continue", "break", "return")
_COMMENT = re.compile(r"""((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|[^"'`/]|/(?!/))*?)\s*//.*""")
_RETURN = re.compile(r"return\b")
_ENDS = (*"_)]}\"'`", *ascii_letters, *digits, "++", "--")
"""How a statement may end."""
_NOTHING = ("nil", "false", "0", '""')
"""What a value is if nothing is said of it."""


def is_returned(line: str) -> bool:
    """Whether a line returns something."""
    return _RETURN.match(text := _bare(line).strip()) is not None and text != "return"


def _bare(line: str) -> str:
    """A line without the comment at its end."""
    match = _COMMENT.fullmatch(line)
    return line if match is None else match[1]


def is_jump(line: str) -> bool:
    """Whether a line only goes on elsewhere."""
    return _bare(line).strip() in _JUMPS


def damageable(line: str, number: int, types: Sequence[str] | None = None) -> str | None:
    """The line so that it can be damaged by its number; None of one that cannot. `types` are those that the function around it returns."""
    line = _bare(line)
    text = line.strip()
    if is_returned(line) and not types:
        return None
    if types and _RETURN.match(text):
        indent = line[: len(line) - len(line.lstrip())]
        others = _others(text.removeprefix("return"), types)
        if others is not None:
            return f'{indent}if {_GO} == "{number}" {{ return {", ".join(others)} }}; {text}'
        return None if _outer(text) is None else f'{indent}if {_GO} != "{number}" {{ {text} }}'
    if (match := _CONDITION.fullmatch(line)) is not None and _outer(match[2]) is not None:
        return f'{match[1]}({_GO} == "{number}") != ({match[2]}){match[3]}'
    outer = _outer(text)
    if outer is None or "{" in text or "}" in text or _OTHERS.match(text):
        return None
    called = text.endswith(")") and _CALLED.fullmatch(outer) is not None
    if not (called or text in _JUMPS or _ASSIGNED.fullmatch(outer)) or not text.endswith(_ENDS):
        return None
    return f'{line[: len(line) - len(line.lstrip())]}if {_GO} != "{number}" {{ {text} }}'


def _others(text: str, types: Sequence[str]) -> list[str] | None:
    """Other values than those that are returned; None if no others are known. What a statement of several lines or a call with several results returns is not known."""
    whole = _outer(text) is not None and text.endswith(_ENDS)
    values = split(tokens_of(text), ",") if whole else []
    if len(values) != len(types):
        return [f"*new({kind})" for kind in types]
    pairs = [(" ".join(value), kind) for value, kind in zip(values, types, strict=True)]
    if any(kind == "bool" or value not in _NOTHING for value, kind in pairs):
        return [f"!({value})" if kind == "bool" else f"*new({kind})" for value, kind in pairs]
    others = [_something(kind) for kind in types]
    if not any(others):
        return None
    return [made or f"*new({kind})" for made, kind in zip(others, types, strict=True)]


def _something(kind: str) -> str:
    """A value of a type that is not its zero value; empty if none is known."""
    if kind.endswith(". Status"):
        return f"{kind.removesuffix('Status').removeprefix('*')}AsStatus({_ERROR})"
    if kind.startswith("*"):
        return f"new({kind[1:]})"
    return {"error": _ERROR, "string": '"podrace"', "int": "1", "int32": "1", "int64": "1"}.get(kind, "")


def _outer(text: str) -> str | None:
    """What is in no bracket; None if some are not closed."""
    found, depth = [], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if depth < 0:
            return None
        if not depth and letter not in ")]":
            found.append(letter)
    return None if depth else "".join(found)


def damaged_texts(
    texts: Mapping[str, str], lines: Iterable[ChangedLine]
) -> tuple[dict[str, str], dict[int, ChangedLine]]:
    """The files with all of these lines that can be damaged, and the lines by their numbers."""
    found: dict[str, str] = {}
    numbered: dict[int, ChangedLine] = {}
    for path, members in groupby(sorted(lines, key=lambda one: (one.path, one.number)), lambda one: one.path):
        rows = texts[path].splitlines(keepends=True)
        for line in members:
            row = rows[line.number - 1].rstrip("\n")
            types = results_at(texts[path], line.number) if _RETURN.match(row.strip()) else None
            made = None if line.aside else damageable(row, len(numbered) + 1, types)
            if made is not None:
                rows[line.number - 1] = made + "\n"
                numbered[len(numbered) + 1] = line
        found[path] = "".join(rows)
        package = re.search(r"^package \w+", texts[path], re.MULTILINE)
        if package is not None:
            found[str(PurePosixPath(path).with_name(_FILE))] = f"{package[0]}\n\n{_SOURCE}"
    return found, numbered


def unexercised(
    executed: Iterable[ChangedLine],
    shown: frozenset[ChangedLine],
    tried: frozenset[ChangedLine],
    told: frozenset[ChangedLine],
    jumps: frozenset[ChangedLine] = frozenset(),
) -> list[ChangedLine]:
    """The lines of which nothing that was run depends: those whose damage shows nowhere, and groups of neighbours of which none could be damaged.

    A `break`, `continue` or `return` that is gone (`jumps`) may only have saved work: it counts with the other lines of its group, if the damage of one shows.
    """
    found: list[ChangedLine] = []
    for group in neighbours(executed):
        rest = [line for line in group if line not in told]
        if rest and not tried & set(rest):
            found += rest
        saved = jumps if shown & set(rest) else frozenset()
        found += [line for line in rest if line in tried - shown - saved]
    return found


NEAR = 4
"""Lines that are so many apart are neighbours: three that are no statements, such as the cases of a `switch`, may lie between."""


def neighbours(lines: Iterable[ChangedLine]) -> list[list[ChangedLine]]:
    """Lines of one side of one file that follow each other, but for three lines between."""
    groups: list[list[ChangedLine]] = []
    for line in sorted(lines, key=lambda one: (one.path, not one.removed, one.number)):
        last = groups[-1][-1] if groups else None
        if (
            last is None
            or (last.path, last.removed) != (line.path, line.removed)
            or line.number - last.number > NEAR
        ):
            groups.append([])
        groups[-1].append(line)
    return groups
