"""A scenario: a cluster, its scope, and what is to be checked in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model.environment.objects import ClusterSpec
from .reader.errors import ScenarioError
from .reader.expectations import Expectation, Race
from .reader.ranges import Open


@dataclass(frozen=True)
class Scenario:
    """What a scenario file says. `lines` maps the path of a field, a pod or a node to its line; `text` is the file.

    `expect` is what should come out; `ignore` gives for each property that is not to be looked at the reason, and `silenced`
    for each that is not to be looked at for single pods the reasons by pod.
    """

    name: str
    title: str
    file: str
    spec: ClusterSpec
    race: Race | None = None
    release: str | None = None
    properties: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    expect: tuple[Expectation, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)
    silenced: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    text: str = field(default="", repr=False)

    @property
    def selectors(self) -> tuple[str, ...]:
        """The names that select this scenario: its own, and the numbers of its race."""
        numbers = (str(self.race.issue), *self.race.fixes) if self.race else ()
        return (self.name, *numbers)

    @property
    def open(self) -> tuple[Open, ...]:
        """The numbers for which the file gives a range, in its order."""
        found = [q for q in self.spec.unknown if isinstance(q, Open)]
        return tuple(sorted(found, key=lambda q: q.span))

    def complaint(self, path: str, message: str, line: int | None = None) -> ScenarioError:
        """An error about one field of the file, which is in this line unless `lines` knows better."""
        line = self.lines.get(path, line)
        return ScenarioError(
            f"{self.file}:{line}: {path}: {message}" if line else f"{self.file}: {path}: {message}"
        )
