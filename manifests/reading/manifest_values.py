"""Values of a manifest, and what may stand below one that is a mapping.

A field is one line where it is read: its name, what it may be in words, and what holds without it. Fields that nobody asks for are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Self, TypeVar

import yaml

from ...base.text import one_line
from ...scenarios.values.yaml_values import Value

T = TypeVar("T")

_TAG = "tag:yaml.org,2002:"
_NULL, _TEXT = _TAG + "null", _TAG + "str"
_DIGITS = re.compile(r"[+-]?[0-9]+")


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

    def mapping(self, wanted: str) -> Fields:
        """All fields of a mapping."""
        if not isinstance(self.node, yaml.MappingNode):
            self.expect(wanted)
        return Fields(self, {key.value: value for key, value in self.node.value if value.tag != _NULL})

    def integer(self, lo: int, hi: int) -> int:
        """A whole number in lo..hi; one in quotes is a text, also to the API server."""
        if self.is_scalar and self.node.tag == _TEXT and _DIGITS.fullmatch(self.node.value):
            written = one_line(self.node.value)
            self.fail(
                f'expected a whole number from {lo} to {hi}, not the text "{written}": remove the quotes'
            )
        return Value.integer(self, lo, hi)


class Fields(Mapping[str, Manifest]):
    """The fields of the mapping at `place` that have a value, and how each is read. Of a mapping that is not there, none."""

    __slots__ = ("_nodes", "place")

    def __init__(self, place: Manifest, nodes: Mapping[str, yaml.Node]) -> None:
        self.place, self._nodes = place, nodes

    def __getitem__(self, name: str) -> Manifest:
        place = self.place
        return place.at(f"{place.path}.{name}" if place.path else name, self._nodes[name])

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def need(self, name: str, why: str) -> Manifest:
        """A field that must be there."""
        if name not in self._nodes:
            self.place.fail(f"`{name}` is missing: {why}")
        return self[name]

    def inner(self, name: str, why: str, wanted: str) -> Fields:
        """The fields of a mapping that must be there."""
        return self.need(name, why).mapping(wanted)

    def read(self, name: str, how: Callable[[Manifest], T]) -> T | None:
        """What this makes of a field; None without it."""
        return how(self[name]) if name in self._nodes else None

    def text(self, name: str, wanted: str) -> str:
        """A text, empty without the field."""
        return self[name].text(wanted) if name in self._nodes else ""

    def scalar(self, name: str, wanted: str) -> str:
        """A scalar as it was written, empty without the field."""
        return self[name].scalar(wanted) if name in self._nodes else ""

    def one_of(self, name: str, known: Sequence[str], wanted: str, default: str = "") -> str:
        """One of these words; without the field the default, or the first."""
        return self[name].one_of(known, wanted) if name in self._nodes else default or known[0]

    def integer(self, name: str, lo: int, hi: int, default: int) -> int:
        """A whole number in lo..hi."""
        return self[name].integer(lo, hi) if name in self._nodes else default

    def boolean(self, name: str) -> bool:
        """true or false, false without the field."""
        return self[name].boolean() if name in self._nodes else False

    def elements(self, name: str, wanted: str) -> list[Manifest]:
        """The elements of a list, none without the field."""
        return self[name].elements(wanted) if name in self._nodes else []

    def mappings(self, name: str, wanted: str, each: str) -> Iterator[Fields]:
        """The same of a list of mappings, one after the other."""
        return (element.mapping(each) for element in self.elements(name, wanted))

    def texts(self, name: str, wanted: str, each: str) -> list[str]:
        """The same of a list of texts."""
        return [element.text(each) for element in self.elements(name, wanted)]

    def below(self, name: str, wanted: str = "a mapping") -> Fields:
        """The fields of a mapping, none without the field."""
        return self[name].mapping(wanted) if name in self._nodes else Fields(self.place, {})
