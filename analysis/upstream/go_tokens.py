"""The tokens of Go source, without comments and layout.

Semicolons are inserted as the language specifies (Go specification, "Semicolons"), and those before a closing bracket are
dropped, like a trailing comma, so that the layout of the code makes no difference.
"""

import re
from collections.abc import Iterator, Sequence

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
KEYWORDS = frozenset((
    "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto", "if",
    "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var",
))  # fmt: skip
_NO_END = KEYWORDS - _ENDS
OPEN, CLOSE = frozenset("([{"), frozenset(")]}")


def tokens_of(source: str) -> list[str]:
    """All tokens of a file."""
    return list(_tidy(_tokens(source)))


def is_name(token: str) -> bool:
    """Whether a token is an identifier."""
    return (token[0].isalpha() or token[0] == "_") and token not in KEYWORDS


def matching(tokens: Sequence[str], at: int) -> int:
    """Where the bracket that opens here closes; the end of the tokens if nowhere."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] in OPEN) - (tokens[place] in CLOSE)
        if depth == 0:
            return place
    return len(tokens) - 1


def split(tokens: Sequence[str], separator: str) -> list[list[str]]:
    """The parts between separators that stand in no bracket; none of nothing."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in OPEN) - (token in CLOSE)
        if token == separator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


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
        and (token[0] in "\"`'" or token[0].isalnum() or token[0] in "_.")
        and token not in _NO_END
        and token not in (".", "...")
    )


def _tidy(tokens: Iterator[str]) -> Iterator[str]:
    """Without what only layout asks for: semicolons and commas before a closing bracket."""
    held = ""
    for token in tokens:
        if held and token not in CLOSE:
            yield held
        held = ""
        if token in (";", ","):
            held = token
        else:
            yield token
    if held:
        yield held
