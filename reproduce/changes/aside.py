"""Changed lines that need no run: those that only log or count, and those that return an error as the code on the other side does.

An error is returned as before if the other side returns it in the same words, in the same function and at the same place of the diff, after the same changed
statements, and of a call of the same name. The condition before it is changed, too, so that it must be executed. Between the two may be a function that only
one side has and that is called once: it returns the error of the call, and its caller returns that.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from ...base.structs import Data

_TOLD = re.compile(
    r"(?:(?:klog|klog\.FromContext\(\w+\)|\w*[lL]ogger\w*)\.(?:V\(\w+\)\.)?(?:Info|Error|Warning)(?:f|S)?\("
    r"|metrics\.(?!Register)[A-Z]\w+(?:\.(?:WithLabelValues|Inc|Dec|Set|Add|Observe))?\("
    r"|utilruntime\.HandleError(?:With\w+)?\()(.*)"
)
_LOOKS = re.compile(
    r"AsError|CallType|Code|Diff|Errorf?|Format|Get(?:Name|Namespace|Pod)|Info|KObj(?:s|Slice)?|KRef|Label|[Ll]en|Message|Name|Node|Now|ProfileName"
    r"|Seconds|Since|SinceInSeconds|Sprintf|[Ss]tring|Type|Victims|WithLabelValues|float64|int|int64"
)
"""What may be called for a log or a metric: it changes nothing."""
_COUNTS = re.compile(r"Inc|Dec|Set|Add|Observe")
"""The same of what a metric returns."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`')
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_FUNCTION = re.compile(r"func (?:\([^)]*\) )?(\w+)")
_ERROR_MET = re.compile(r"(?:\} else )?if (?:(?:.*, )?err :?= (.*); )?err != nil \{")
_ERROR_SET = re.compile(r"(?:.*, )?err :?= (.*)")
_ERROR_RETURNED = re.compile(r"return (?:.*, )?(?:err|fmt\.Errorf\(.*\))")
_ERROR_ITSELF = re.compile(r"return (?:.*, )?err")
_NO_STATEMENT = re.compile(r"(?:[\s(){}]|else)*|//.*|(?:\} else )?if [^(]* \{")


def is_told_only(line: str) -> bool:
    """Whether a line only logs or counts, which no state shows."""
    match = _TOLD.fullmatch(_STRING.sub('""', line.strip()))
    return match is not None and all(
        _LOOKS.fullmatch(name) or (after and _COUNTS.fullmatch(name))
        for after, name in re.findall(r"(\)\.)?(\w+)\(", match[1])
    )


class _Returned(Data):
    """A line that returns the error of the changed condition before it, and may be unchanged itself: the function that it is in, the changed place of the diff, the call, and the changed statements before it there."""

    number: int
    within: str
    hunk: int
    calls: str
    text: str
    before: tuple[str, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """What the same line on the other side has."""
        return self.within, self.hunk, self.calls, self.text, self.before


def errors_as_before(one: Sequence[str], other: Sequence[str]) -> tuple[frozenset[int], frozenset[int]]:
    """The changed lines of each side that return an error as the other side does."""
    hunks = [
        (number, code[1:])
        for number, code in enumerate(SequenceMatcher(None, one, other, autojunk=False).get_opcodes())
        if code[0] != "equal"
    ]
    here, there = ({number: range(at[side], at[side + 1]) for number, at in hunks} for side in (0, 2))
    sides = [_followed(one, other, here), _followed(other, one, there)]
    counts = [Counter(made.key for made, _ in side) for side in sides]
    found = [
        frozenset(n for made, lines in side for n in lines if counts[0][made.key] == counts[1][made.key])
        for side in sides
    ]
    return found[0], found[1]


def _followed(
    lines: Sequence[str], other: Sequence[str], hunks: Mapping[int, range]
) -> list[tuple[_Returned, list[int]]]:
    """Those of a side, each with its lines: of a function that only this side has, they count where it is called."""
    found = list(_returned(lines, hunks))
    own = _functions(lines).keys() - _functions(other).keys()
    text = "\n".join(lines)
    through = {
        name: callers[0]
        for name in own
        if len(re.findall(rf"\b{name}\b(?=\()", text)) == 2  # it is defined, and called
        if len(callers := [made for made in found if made.calls == name and made.within not in own]) == 1
    }
    made: list[tuple[_Returned, list[int]]] = []
    for one in found:
        caller = through.get(one.within)
        if caller is not None and _ERROR_ITSELF.fullmatch(one.text):
            start = _functions(lines)[one.within] + 1
            before = (*caller.before, *_statements(lines[start : _begin(lines, one.number)]))
            there = _Returned(one.number, caller.within, caller.hunk, one.calls, caller.text, before)
            made.append((there, [one.number, caller.number]))
        elif one not in through.values():
            made.append((one, [one.number]))
    return made


def _returned(lines: Sequence[str], hunks: Mapping[int, range]) -> Iterator[_Returned]:
    for hunk, at in hunks.items():
        for number in range(at.start + 1, min(at.stop + 1, len(lines))):
            text, within = lines[number].strip(), _function_of(lines, number)
            calls = _call_before(lines, number)
            if within is not None and calls is not None and _ERROR_RETURNED.fullmatch(text):
                before = _statements(
                    lines[max(at.start, _functions(lines)[within] + 1) : _begin(lines, number)]
                )
                yield _Returned(number, within, hunk, calls, text, before)


def _call_before(lines: Sequence[str], number: int) -> str | None:
    """The call whose error the line before meets, without what it is a method of; None if that is no such condition."""
    met = _ERROR_MET.fullmatch(lines[number - 1].strip())
    if met is None:
        return None
    made = met[1]
    if made is None:
        match = _ERROR_SET.fullmatch(lines[number - 2].strip()) if number > 1 else None
        made = "" if match is None else match[1]
    text, last = _STRING.sub('""', made), ""
    while text != last:
        text, last = _IN_BRACKETS.sub("", text), text
    if not made.endswith(")") or not re.fullmatch(r"[A-Za-z_][\w.]*", text):
        return None
    return text.partition(".")[2] or text


def _begin(lines: Sequence[str], number: int) -> int:
    """Where the condition before a line begins, with the call that it is about."""
    return number - 1 - (";" not in lines[number - 1])


def _statements(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for line in lines if not _NO_STATEMENT.fullmatch(text := line.strip()))


def _functions(lines: Sequence[str]) -> dict[str, int]:
    """The functions of a file, with the line in which each begins; two of one name (methods) are not told apart, and left out."""
    found = [(match[1], number) for number, line in enumerate(lines) if (match := _FUNCTION.match(line))]
    names = Counter(name for name, _ in found)
    return {name: number for name, number in found if names[name] == 1}


def _function_of(lines: Sequence[str], number: int) -> str | None:
    """The function that a line is in; None if that is one without a name."""
    depth = _depth(lines[number])
    for at in range(number - 1, -1, -1):
        line = lines[at]
        if not line.strip() or _depth(line) >= depth:
            continue
        depth = _depth(line)
        if depth == 0:
            match = _FUNCTION.match(line)
            return match[1] if match is not None and match[1] in _functions(lines) else None
        if "func(" in line:
            return None
    return None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip("\t"))
