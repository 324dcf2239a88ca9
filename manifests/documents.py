"""The documents of a manifest, read by libyaml's event parser into values that know their places.

Events cost a tenth of what PyYAML's own loaders cost, and let every limit be kept while reading: an alias, a tag, a key
given twice or a deep nest is refused where it stands, before anything is built from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import yaml

from ..scenarios.reader.document import Value
from ..scenarios.reader.errors import ScenarioError, one_line

MAX_DEPTH = 64
"""Kubernetes' own objects need about 20; custom resources may hold schemas."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_PLAIN = {_TAG + kind for kind in ("str", "int", "float", "bool", "null", "map", "seq", "timestamp")}
_RESOLVER = yaml.resolver.Resolver()


@dataclass(frozen=True, slots=True)
class Manifest(Value):
    """A value of a manifest: of a mapping only the fields that are asked for are looked at."""

    def fields(self, known: Sequence[str], wanted: str) -> dict[str, Self]:
        """Those fields of a mapping that are among `known` and have a value."""
        if not isinstance(self.node, yaml.MappingNode):
            self.expect(wanted)
        before = f"{self.path}." if self.path else ""
        found = (
            (key.value, self.at(before + key.value, value))
            for key, value in self.node.value
            if key.value in known
        )
        return {name: value for name, value in found if not value.is_null}


def documents(text: str, file: str) -> Iterator[Manifest]:
    """The documents of a text that are not empty. Raises ScenarioError where it is not YAML that podrace reads."""
    parser = _Loader(text) if text else None
    try:
        while parser is not None and parser.check_event():
            if isinstance(parser.get_event(), yaml.DocumentStartEvent):
                top = Manifest(file, "", _node(parser, file))
                if not top.is_null:
                    yield top
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = one_line(error.problem or "it cannot be parsed", 120)
        raise ScenarioError(
            f"{file}:{mark.line + 1 if mark else 1}: not a YAML that podrace reads: {problem}"
        ) from None
    except yaml.reader.ReaderError:
        bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
        line = text.count("\n", 0, bad.start()) + 1 if bad else 1
        raise ScenarioError(f"{file}:{line}: not YAML: a control character stands there: remove it") from None
    finally:
        if parser is not None:
            parser.dispose()


def _node(parser: Any, file: str) -> yaml.Node:
    """The next node and everything below it."""
    # Of each collection that is open: its tag, where it began, and its members; a mapping's keys and values in turn.
    open_: list[tuple[str, Any, list[yaml.Node], bool]] = []
    while True:
        event: Any = parser.get_event()
        kind = type(event)
        node: yaml.Node
        if kind is yaml.ScalarEvent:
            tag = event.tag or _tag_of(event.value, bool(event.implicit[0]))
            node = yaml.ScalarNode(tag, event.value, event.start_mark)
            _refuse_tag(node, file)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            mapping = kind is yaml.MappingStartEvent
            tag = event.tag or _TAG + ("map" if mapping else "seq")
            open_.append((tag, event.start_mark, [], mapping))
            if len(open_) > MAX_DEPTH:
                _refuse(event, file, f"nested more than {MAX_DEPTH} levels deep: no Kubernetes object is")
            continue
        elif kind is yaml.AliasEvent:
            _refuse(event, file, f"the alias *{one_line(event.anchor)} is not allowed: write the value out")
        else:
            tag, mark, members, mapping = open_.pop()
            node = _mapping(tag, mark, members, file) if mapping else yaml.SequenceNode(tag, members, mark)
            _refuse_tag(node, file)
        if not open_:
            return node
        open_[-1][2].append(node)


def _mapping(tag: str, mark: Any, members: list[yaml.Node], file: str) -> yaml.MappingNode:
    keys = members[::2]
    names: dict[str, int] = {}
    for key in keys:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise ScenarioError(f"{file}:{line}: expected a name before the colon, not a mapping or a list")
        if key.value in names:
            raise ScenarioError(
                f"{file}:{line}: `{one_line(key.value)}` was already given in line {names[key.value]}: "
                "remove or rename one of them"
            )
        names[key.value] = line
    return yaml.MappingNode(tag, list(zip(keys, members[1::2], strict=True)), mark)


@lru_cache(maxsize=1 << 16)
def _tag_of(value: str, plain: bool) -> str:
    return str(_RESOLVER.resolve(yaml.ScalarNode, value, (True, False))) if plain else _TAG + "str"


def _refuse_tag(node: yaml.Node, file: str) -> None:
    if node.tag not in _PLAIN:
        tag = one_line(node.tag)
        raise ScenarioError(
            f"{file}:{node.start_mark.line + 1}: the tag `{tag}` is not allowed: an object is plain data"
        )


def _refuse(event: Any, file: str, problem: str) -> None:
    raise ScenarioError(f"{file}:{event.start_mark.line + 1}: {problem}")
