"""YAML with places: every value knows its line and its path, so that every complaint can name them.

A complaint is one line that says where, what, and what to do. Only plain data is accepted. Aliases, tags, duplicate keys, several
documents, deep nesting and big files are refused, so that no file can do harm or mean something that its reader does not see.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

import yaml

from ...base.problems import Problem
from ...base.structs import Data
from ...base.text import known_names, one_line

MAX_BYTES = 1 << 20
MAX_DEPTH = 20
MAX_DIGITS = 12

T = TypeVar("T")

_TAG = "tag:yaml.org,2002:"
_PLAIN = {
    _TAG + kind
    for kind in ("str", "int", "float", "bool", "null", "map", "seq", "timestamp", "merge", "value")
}


def _refusal(problem: str, event: yaml.Event) -> yaml.MarkedYAMLError:
    mark: Any = event.start_mark
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


class _Loader(yaml.SafeLoader):
    """Composes nodes; aliases and deep nesting are errors."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node | None:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            raise _refusal(
                f"the alias *{one_line(str(event.anchor))} is not allowed: write the value out", event
            )
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _refusal(f"nested more than {MAX_DEPTH} levels deep: a scenario needs 12", event)
        node: yaml.Node | None = super().compose_node(parent, index)  # type: ignore[arg-type]
        self.depth -= 1
        return node


class Value(Data):
    """One value of the file. The accessors give it as a Python value or raise Problem."""

    file: str
    path: str
    node: yaml.Node

    @property
    def line(self) -> int:
        """The line that the value starts on, counted from 1."""
        return self.node.start_mark.line + 1

    def at(self, path: str, node: yaml.Node) -> Self:
        """Another value of the same file."""
        return type(self)(self.file, path, node)

    def fail(self, message: str) -> NoReturn:
        """Refuse this value."""
        place = f" {self.path}:" if self.path else ""
        raise Problem(f"{self.file}:{self.line}:{place} {message}")

    @property
    def described(self) -> str:
        """The value as a complaint quotes it."""
        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        if self.node.tag == _TAG + "null":
            return "nothing"
        return f"`{one_line(self.node.value)}`"

    @property
    def is_null(self) -> bool:
        """Whether nothing was written."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag == _TAG + "null"

    @property
    def is_scalar(self) -> bool:
        """Whether it is one word, number or text."""
        return isinstance(self.node, yaml.ScalarNode)

    @property
    def is_number(self) -> bool:
        """Whether YAML takes it for a whole number."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag == _TAG + "int"

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    def expect(self, wanted: str) -> NoReturn:
        """Refuse this value because it is of another type."""
        self.fail(f"expected {wanted}, not {self.described}")

    def items(self, wanted: str) -> Iterator[tuple[Self, Self]]:
        """The keys and values of a mapping, in order."""
        if not isinstance(self.node, yaml.MappingNode):
            self.expect(wanted)
        lines: dict[str, int] = {}
        for key_node, value_node in self.node.value:
            key = self.at(self.path, key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                key.fail(f"expected a name before the colon, not {key.described}")
            name = key_node.value
            if name in lines:
                key.fail(
                    f"`{one_line(name)}` was already given in line {lines[name]}: remove or rename one of them"
                )
            lines[name] = key.line
            inner = f"{self.path}.{one_line(name)}" if self.path else one_line(name)
            yield self.at(inner, key_node), self.at(inner, value_node)

    def fields(self, known: Sequence[str], wanted: str) -> dict[str, Self]:
        """A mapping whose keys must all be among `known`; fields without a value are left out."""
        found = {}
        for key, value in self.items(wanted):
            name = key.node.value
            if name not in known:
                self.at(self.path, key.node).fail(
                    f"unknown field `{one_line(name)}`; {known_names(name, known)}"
                )
            if not value.is_null:
                found[name] = value
        return found

    def elements(self, wanted: str) -> list[Self]:
        """The elements of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            self.expect(wanted)
        return [self.at(f"{self.path}[{i}]", node) for i, node in enumerate(self.node.value)]

    def distinct(self, wanted: str, read: Callable[[Self], T]) -> list[T]:
        """What this makes of the elements of a list, of which no two may be the same."""
        found: list[T] = []
        for element in self.elements(wanted):
            found.append(read(element))
            if found[-1] in found[:-1]:
                element.fail(f"{element.described} is listed twice: remove one of them")
        return found

    def scalar(self, wanted: str) -> str:
        """A scalar as it was written, whatever YAML would make of it (1.10 stays 1.10)."""
        if not isinstance(self.node, yaml.ScalarNode) or self.is_null:
            self.expect(wanted)
        return str(self.node.value)

    def text(self, wanted: str) -> str:
        """A string; what YAML reads as a number or a bool must be quoted."""
        written = self.scalar(wanted)
        if self.node.tag != _TAG + "str":
            self.fail(f'expected {wanted}, not {self.described}: put it in quotes ("{one_line(written)}")')
        return written

    def one_of(self, known: Sequence[str], wanted: str) -> str:
        """One of these words."""
        written = self.scalar(f"{wanted}: {', '.join(known)}")
        if written not in known:
            self.fail(
                f"there is no such {wanted.split(' ', 1)[1]}: {self.described}; {known_names(written, known)}"
            )
        return written

    def boolean(self) -> bool:
        """true or false."""
        plain = isinstance(self.node, yaml.ScalarNode) and self.node.tag == _TAG + "bool"
        if not plain or self.node.value not in ("true", "false"):
            self.expect("true or false")
        return bool(self.node.value == "true")

    def integer(self, lo: int, hi: int) -> int:
        """A whole number in lo..hi."""
        wanted = f"a whole number from {lo} to {hi}"
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag != _TAG + "int":
            self.expect(wanted)
        digits = self.node.value.lstrip("+-")
        if not digits.isascii() or not digits.isdigit() or (digits != "0" and digits.startswith("0")):
            self.expect(f"{wanted} in plain decimal digits")
        if len(digits) > MAX_DIGITS:
            self.expect(wanted)
        number = int(self.node.value)
        if not lo <= number <= hi:
            self.expect(wanted)
        return number


def read_text(path: Path, file: str) -> str:
    """The text of a YAML file, which messages name `file`. Raises Problem if it cannot be read."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise Problem(
            f"{file}: no such file; `podrace races` lists the scenarios that come with podrace"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Problem(f"{file}: cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise Problem(f"{file}: larger than 1 MiB, so it is not a scenario: name the YAML file of one")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Problem(f"{file}:{line}: not a text in UTF-8: save the file in that encoding") from None


def parse_document(text: str, file: str) -> Value:
    """The top-level value of a YAML text."""
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # What is missing at the end is missing on the last line that has something, not on the one behind it.
        line = min(mark.line, text.rstrip().count("\n")) + 1 if mark else 1
        problem = one_line(error.problem or "it cannot be parsed", 120)
        if problem == "but found another document":
            raise Problem(
                f"{file}:{line}: a second document: put each scenario in a file of its own (Kubernetes objects: `podrace check -f FILE`)"
            ) from None
        raise Problem(f"{file}:{line}: not a YAML that podrace reads: {problem}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise Problem(f"{file}:{line}: not YAML: a control character stands there: remove it") from None
    if node is None:
        raise Problem(f"{file}: the file is empty: a scenario has at least `nodes` and `pods`")
    _refuse_tags(file, node)
    return Value(file, "", node)


def _refuse_tags(file: str, node: yaml.Node) -> None:
    if node.tag not in _PLAIN:
        Value(file, "", node).fail(f"the tag `{one_line(node.tag)}` is not allowed: a scenario is plain data")
    if isinstance(node, yaml.SequenceNode):
        for inner in node.value:
            _refuse_tags(file, inner)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _refuse_tags(file, key)
            _refuse_tags(file, value)
