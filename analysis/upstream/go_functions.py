"""The functions of a Go source file, and a hash of each that only its tokens decide.

Comments, whitespace and line breaks do not count: semicolons are inserted as the language specifies (Go specification,
"Semicolons"), and those before a closing bracket are dropped, like a trailing comma, so that the layout of the code makes
no difference.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<newline>\n)
    |(?P<space>[ \t\r]+)
    |(?P<line>//[^\n]*)
    |(?P<block>/\*.*?\*/)
    |(?P<raw>`[^`]*`)
    |(?P<string>"(?:\\.|[^"\\\n])*")
    |(?P<rune>'(?:\\.|[^'\\\n])+')
    |(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<name>[^\W\d]\w*)
    |(?P<operator><<=|>>=|&\^=|\.\.\.|&&|\|\||<-|\+\+|--|==|!=|<=|>=|:=|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|>>|&\^|[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)
_ENDS = {"break", "continue", "fallthrough", "return", "++", "--", ")", "]", "}"}
_KEYWORDS = {
    "case", "chan", "const", "default", "defer", "else", "for", "func", "go", "goto", "if", "import", "interface",
    "map", "package", "range", "select", "struct", "switch", "type", "var",
}  # fmt: skip
_OPEN, _CLOSE = {"(", "[", "{"}, {")", "]", "}"}


def functions_of(source: str) -> dict[str, str]:
    """The hash of each function and method with a body, by `Name` or `Type.Name`. Of equal names the last counts."""
    tokens = list(_tidy(_tokens(source)))
    found, at, depth = {}, 0, 0
    while at < len(tokens):
        token = tokens[at]
        if token == "func" and depth == 0 and tokens[at - 1 : at] in ([], [";"]):
            name, end = _function(tokens, at)
            if name and end:
                text = "\n".join(tokens[at:end])
                found[name] = hashlib.sha256(text.encode()).hexdigest()[:16]
                at = end
                continue
        depth += (token in _OPEN) - (token in _CLOSE)
        at += 1
    return found


def _tokens(source: str) -> Iterator[str]:
    """The tokens, with the semicolons that line ends stand for."""
    last = ""
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup, match[0]
        ends_line = kind in ("newline", "line") or (kind == "block" and "\n" in text)
        if ends_line and _ends_statement(last):
            yield ";"
            last = ";"
        if kind not in ("newline", "space", "line", "block"):
            yield text
            last = text


def _ends_statement(token: str) -> bool:
    if token in _ENDS:
        return True
    return (
        bool(token)
        and (token[0] in "\"`'" or token[0].isalnum() or token[0] == "_")
        and token not in _KEYWORDS
    )


def _tidy(tokens: Iterator[str]) -> Iterator[str]:
    """Without what only layout asks for: semicolons and commas before a closing bracket."""
    held = ""
    for token in tokens:
        if held and token not in _CLOSE:
            yield held
        held = ""
        if token in (";", ","):
            held = token
        else:
            yield token
    if held:
        yield held


def _function(tokens: list[str], at: int) -> tuple[str, int]:
    """The name of the function that begins here, and where it ends; nothing for what is none or has no body."""
    receiver, at = "", at + 1
    if at < len(tokens) and tokens[at] == "(":
        end = _matching(tokens, at)
        receiver, at = _receiver(tokens[at + 1 : end]), end + 1
    if at >= len(tokens) or not (tokens[at][0].isalpha() or tokens[at][0] == "_"):
        return "", 0
    name, at = tokens[at], at + 1
    while at < len(tokens) and tokens[at] != ";":
        if tokens[at] == "{" and tokens[at - 1] not in ("interface", "struct"):
            return (f"{receiver}.{name}" if receiver else name), _matching(tokens, at) + 1
        at = _matching(tokens, at) + 1 if tokens[at] in _OPEN else at + 1
    return "", 0


def _receiver(tokens: list[str]) -> str:
    """The type of `(p *Type)` or `(p *Type[T])`."""
    bare = tokens[: tokens.index("[")] if "[" in tokens else tokens
    return bare[-1] if bare else ""


def _matching(tokens: list[str], at: int) -> int:
    """Where the bracket that opens here closes; the end of the file if nowhere."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] in _OPEN) - (tokens[place] in _CLOSE)
        if depth == 0:
            return place
    return len(tokens) - 1
