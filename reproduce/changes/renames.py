"""Changes that only give other names: the tokens of Go differ in nothing but names that no program can see.

Such are names of functions, methods and variables that are not exported: throughout a package, where the new name occurs nowhere before and the old one nowhere after; and names of what is declared in one function. Names of types and fields are none, since reflection and `%+v` show them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from ...analysis.upstream.go_functions import functions_of
from ...analysis.upstream.go_tokens import is_name, matching, tokens_of
from ...model.history.upstream import TYPE
from .texts import OTHER_SOURCES, FileChange

_DIRECTIVE = re.compile(r"^//(?:go:|line |export |extern )?.*$|^// ?\+build.*$", re.MULTILINE)
_DIRECTIVES = ("//go:", "//line ", "//export ", "//extern ", "//+build", "// +build")
_FIXED = frozenset((
    "any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64", "int", "int8",
    "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "true",
    "false", "iota", "nil", "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make",
    "max", "min", "new", "panic", "print", "println", "real", "recover", "init", "main", "_",
))  # fmt: skip
"""Names that mean something by themselves."""

Place = tuple[str, str]
"""An old name, and the new one."""


def directives(text: str) -> list[str]:
    """The comments that the compiler reads."""
    return [line for line in _DIRECTIVE.findall(text) if line.startswith(_DIRECTIVES)]


def renamed(files: Sequence[FileChange], base: Path) -> tuple[Place, ...]:
    """The names that change, if that is all that these files change; otherwise nothing. `base` is the tree before."""
    found: dict[str, str] = {}
    for folder in {PurePosixPath(one.path).parent for one in files}:
        mine = [one for one in files if PurePosixPath(one.path).parent == folder]
        names = _in_package(mine, base / folder)
        if names is None:
            return ()
        found |= names
    return tuple(sorted(found.items()))


def _in_package(files: Sequence[FileChange], folder: Path) -> dict[str, str] | None:
    pairs = [(one.before, one.after) for one in files]
    if any(before is None or after is None or not _same_but_names(before, after) for before, after in pairs):
        return None
    if any(path.suffix in OTHER_SOURCES for path in folder.iterdir()):
        return None
    changed = {PurePosixPath(one.path).name for one in files}
    others = [
        path.read_text(encoding="utf-8")
        for path in folder.glob("*.go")
        if path.name not in changed and not path.name.endswith("_test.go")
    ]
    sides = [[*others, *(pair[side] or "" for pair in pairs)] for side in (0, 1)]
    if any("go:linkname" in text or 'import "C"' in text for text in sides[0]):
        return None
    package = _Package(*sides)
    found: dict[str, str] = {}
    for before, after in pairs:
        names = package.names(before or "", after or "")
        if names is None:
            return None
        found |= names
    return found


def _same_but_names(before: str, after: str) -> bool:
    old, new = tokens_of(before), tokens_of(after)
    return (
        directives(before) == directives(after)
        and len(old) == len(new)
        and all(
            one == other or (is_name(one) and is_name(other)) for one, other in zip(old, new, strict=True)
        )
    )


class _Package:
    """The tokens of all files of a package, before and after."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        old, new = ([tokens_of(text) for text in side] for side in (before, after))
        self.used = [frozenset(token for file in side for token in file) for side in (old, new)]
        self.fields = frozenset(token for file in old for token in _in_structs(file))
        self.declared = frozenset(name for file in old for name in _declared(file))
        self.own = frozenset(
            re.split("[ .]", name)[-1]
            for text in before
            for name in functions_of(text)
            if not name.startswith(TYPE)
        )

    def names(self, before: str, after: str) -> dict[str, str] | None:
        """What a file names otherwise; None if that is more than names."""
        old, new = tokens_of(before), tokens_of(after)
        found = {(x, y) for x, y in zip(old, new, strict=True) if x != y}
        everywhere = {pair for pair in found if self._is_fresh(*pair)}
        if len({x for x, _ in everywhere}) != len(everywhere) or len({y for _, y in everywhere}) != len(
            everywhere
        ):
            return None
        covered: set[int] = set()
        imports = _imported(before)
        for begin, end in _functions(old):
            local = {
                (x, y) for x, y in zip(old[begin:end], new[begin:end], strict=True) if x != y
            } - everywhere
            if not all(self._is_local(x, y, old[begin:end], new[begin:end], imports) for x, y in local):
                return None
            covered |= set(range(begin, end))
        rest = [
            (x, y)
            for at, (x, y) in enumerate(zip(old, new, strict=True))
            if x != y and (x, y) not in everywhere and at not in covered
        ]
        return None if rest else dict(sorted(found))

    def _is_fresh(self, old: str, new: str) -> bool:
        """A function, a method or a value of the package: its name is gone everywhere, and the new one is new everywhere."""
        return (
            _is_hidden(old, new)
            and old in self.own
            and old not in self.fields
            and old not in self.used[1]
            and new not in self.used[0]
        )

    def _is_local(
        self, old: str, new: str, before: Sequence[str], after: Sequence[str], imports: frozenset[str]
    ) -> bool:
        """Declared in the function: nothing else has the old name, and nothing in it the new one."""
        if not _is_hidden(old, new) or {old, new} & (self.declared | imports) or "." in imports:
            return False
        if {old, new} & frozenset(_in_structs(before)):
            return False
        for at, (x, y) in enumerate(zip(before, after, strict=True)):
            chosen = at > 0 and before[at - 1] == "."
            keyed = at + 1 < len(before) and before[at + 1] == ":"
            if chosen and x != y and old in (x, y):
                return False
            if not chosen and ((x == old) != (y == new) or (x == old and keyed) or x == new):
                return False
        return True


def _is_hidden(old: str, new: str) -> bool:
    return not any(name[0].isupper() or name in _FIXED for name in (old, new))


def _in_structs(tokens: Sequence[str]) -> Iterator[str]:
    """What stands in the declarations of structs."""
    for at, token in enumerate(tokens[:-1]):
        if token == "struct" and tokens[at + 1] == "{":
            yield from tokens[at + 2 : matching(tokens, at + 1)]


def _functions(tokens: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the functions of a file begin and end."""
    depth, begin = 0, None
    for at, token in enumerate(tokens):
        if token == "func" and depth == 0 and (at == 0 or tokens[at - 1] == ";"):
            begin = at
        depth += (token in "([{") - (token in ")]}")
        if begin is not None and depth == 0 and token == ";":
            yield begin, at
            begin = None
    if begin is not None:
        yield begin, len(tokens)


def _declared(tokens: Sequence[str]) -> Iterator[str]:
    """The names that a package may have: whatever stands outside of its functions, and their own."""
    inside = {at for begin, end in _functions(tokens) for at in range(begin, end)}
    yield from (token for at, token in enumerate(tokens) if at not in inside and is_name(token))
    for begin, _ in _functions(tokens):
        at = begin + 1
        yield tokens[matching(tokens, at) + 1] if tokens[at] == "(" else tokens[at]


def _imported(text: str) -> frozenset[str]:
    """The names that its imports may have; `.` if one has none."""
    head = text.partition("\nfunc ")[0]
    found = set()
    for name, path in re.findall(r'^\s*(?:import\s+)?([\w.]+\s+)?"([^"]+)"', head, re.MULTILINE):
        found |= {name.strip(), *re.split(r"[/.-]", path)}
    return frozenset(found - {""})


def words(names: Mapping[str, str] | Sequence[Place]) -> str:
    """For example `deleteUnlocked is called forget`."""
    pairs = [*dict(names).items()]
    more = f", and {len(pairs) - 1} more" if len(pairs) > 1 else ""
    return f"{pairs[0][0]} is called {pairs[0][1]}{more}"
