"""The functions of a Go source file, and the values and types of its package, as tokens."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ...base.structs import Data
from .go_tokens import CLOSE, OPEN, is_name, matching, split, tokens_of


class Function(Data):
    """One function or method with a body, or a variable, constant or type of the package, whose `body` is its declaration.

    `receiver` and `signature` are their tokens without the brackets around the receiver; `body` is without its braces; `imports` are
    the paths of the file's packages by the name that the file gives them.
    """

    name: str
    receiver: tuple[str, ...]
    signature: tuple[str, ...]
    body: tuple[str, ...]
    imports: Mapping[str, str]

    @property
    def tokens(self) -> tuple[str, ...]:
        """All of it."""
        if is_value(self.name):
            return self.body
        bare = self.name.rpartition(".")[2]
        taken = ("(", *self.receiver, ")") if self.receiver else ()
        return ("func", *taken, bare, *self.signature, "{", *self.body, "}")


def is_value(name: str) -> bool:
    """Whether it is a variable, constant or type of a package, which is named `var Name`, `const Name` or `type Name`."""
    return name.startswith(("var ", "const ", "type "))


def functions_of(source: str) -> dict[str, Function]:
    """Each function and method with a body, by `Name` or `Type.Name`, and each value of the package. Of equal names the last counts."""
    tokens = tokens_of(source)
    imports = _imports(tokens)
    found: dict[str, Function] = {}
    at = depth = 0
    while at < len(tokens):
        token = tokens[at]
        if token == "func" and depth == 0 and tokens[at - 1 : at] in ([], [";"]):
            function, end = _function(tokens, at, imports)
            if function is not None:
                found[function.name] = function
                at = end
                continue
        if token in ("var", "const", "type") and depth == 0 and tokens[at - 1 : at] in ([], [";"]):
            end = _end_of_declaration(tokens, at)
            found |= {value.name: value for value in _values(tokens[at:end], imports)}
            at = end
            continue
        depth += (token in OPEN) - (token in CLOSE)
        at += 1
    return found


def _function(tokens: list[str], at: int, imports: Mapping[str, str]) -> tuple[Function | None, int]:
    """The function that begins here, and where it ends; None for what is none or has no body."""
    receiver: list[str] = []
    at += 1
    if at < len(tokens) and tokens[at] == "(":
        end = matching(tokens, at)
        receiver, at = tokens[at + 1 : end], end + 1
    if at >= len(tokens) or not is_name(tokens[at]):
        return None, 0
    name, begin = tokens[at], at + 1
    at = begin
    while at < len(tokens) and tokens[at] != ";":
        if tokens[at] == "{" and tokens[at - 1] not in ("interface", "struct"):
            end = matching(tokens, at)
            full = f"{_receiver(receiver)}.{name}" if receiver else name
            body = tuple(tokens[at + 1 : end])
            return Function(full, tuple(receiver), tuple(tokens[begin:at]), body, imports), end + 1
        at = matching(tokens, at) + 1 if tokens[at] in OPEN else at + 1
    return None, 0


def results_at(source: str, line: int) -> list[str] | None:
    """The types of what the innermost function around the beginning of a line returns; None if there is none around it."""
    tokens = tokens_of("\n".join(source.split("\n")[: line - 1]))
    around: list[list[str] | None] = []
    at = 0
    while at < len(tokens):
        if tokens[at] == "func" and (found := _results(tokens, at)) is not None:
            types, at = found
            around.append(types)
        elif tokens[at] == "{":
            around.append(None)
        elif tokens[at] == "}" and around:
            around.pop()
        at += 1
    return next((types for types in reversed(around) if types is not None), None)


def _results(tokens: Sequence[str], at: int) -> tuple[list[str], int] | None:
    """The types that a function returns, and where its body begins; None of a type of functions, and of what is cut off."""
    at += 1
    if tokens[at : at + 1] == ["("] and (end := matching(tokens, at)) + 1 < len(tokens):
        at = end + 1 if is_name(tokens[end + 1]) and tokens[end + 2 : end + 3] == ["("] else at  # a receiver
    if at < len(tokens) and is_name(tokens[at]):
        at += 1
    while tokens[at : at + 1] == ["["]:
        at = matching(tokens, at) + 1
    if tokens[at : at + 1] != ["("]:
        return None
    begin = at = matching(tokens, at) + 1
    while at < len(tokens) and tokens[at] not in (*CLOSE, ",", ";", "=", ":="):
        if tokens[at] == "{" and tokens[at - 1] not in ("interface", "struct"):
            return _types(tokens[begin:at]), at
        at = matching(tokens, at) + 1 if tokens[at] in OPEN else at + 1
    return None


def _types(results: Sequence[str]) -> list[str]:
    """The types of results, which may have names: of `a, b T` both have one."""
    if results[:1] != ["("]:
        return [" ".join(results)] if results else []
    parts = split(results[1:-1], ",")
    if not any(_is_named(part) for part in parts):
        return [" ".join(part) for part in parts]
    found: list[str] = []
    for part in reversed(parts):
        found.append(" ".join(part[1:]) if _is_named(part) else found[-1])
    return found[::-1]


def _is_named(part: Sequence[str]) -> bool:
    """Whether a result is `name T`, and no `T`, `pkg.T` or `T[U]`."""
    if len(part) < 2 or not is_name(part[0]) or part[1] == ".":
        return False
    return part[1] != "[" or matching(part, 1) < len(part) - 1


def _end_of_declaration(tokens: list[str], at: int) -> int:
    """Where the declaration of values that begins here ends."""
    while at < len(tokens) and tokens[at] != ";":
        at = matching(tokens, at) + 1 if tokens[at] in OPEN else at + 1
    return at


def _values(tokens: list[str], imports: Mapping[str, str]) -> Iterator[Function]:
    """The values or types that are declared, one by one or in brackets; not those without a name. A type's body is without its name."""
    kind, rest = tokens[0], tokens[1:]
    for value in split(rest[1:-1], ";") if rest[:1] == ["("] else [rest]:
        if value and value[0] != "_":
            body = value[1:] if kind == "type" else value
            yield Function(f"{kind} {value[0]}", (), (), tuple(body), imports)


def _receiver(tokens: Sequence[str]) -> str:
    """The type of `(p *Type)` or `(p *Type[T])`."""
    bare = tokens[: tokens.index("[")] if "[" in tokens else tokens
    return bare[-1] if bare else ""


def _imports(tokens: list[str]) -> dict[str, str]:
    """The imported paths by the names that stand for them in this file."""
    found: dict[str, str] = {}
    at = 0
    while "import" in tokens[at:]:
        at = tokens.index("import", at)
        if tokens[at - 1 : at] not in ([], [";"]):
            break
        at += 1
        end = matching(tokens, at) if tokens[at] == "(" else tokens.index(";", at)
        for place in range(at, end):
            if tokens[place][0] in '"`':
                path = tokens[place][1:-1]
                alias = tokens[place - 1]
                found[alias if is_name(alias) else _last_name(path)] = path
        at = end
    return found


def _last_name(path: str) -> str:
    """The name of a package that is not given another: the last part of its path, or the one before a module's version."""
    parts = path.split("/")
    versioned = (
        len(parts) > 1 and re.fullmatch(r"v[2-9]\d*", parts[-1]) and not path.startswith("k8s.io/api/")
    )
    return parts[-2 if versioned else -1].partition(".")[0].replace("-", "_")
