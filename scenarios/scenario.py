"""A scenario: a cluster, its scope, and what is to be checked in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model.environment.objects import ClusterSpec
from .errors import ScenarioError
from .expected import Expectation
from .ranges import Open


@dataclass(frozen=True, slots=True)
class Residual:
    """What the fixes of a race leave open: a stronger property that still fails, and the further changes that
    together close it.
    """

    property: str
    closed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Race:
    """A known upstream race that a scenario shows: its issue, and the pull requests that fix it.

    `beside`: changes of later releases that are put in whether or not the fix is, so that this race is seen alone.
    `seed`: `podrace check` without arguments runs it before and after its fixes.
    """

    issue: int
    fixes: tuple[str, ...]
    beside: tuple[str, ...] = ()
    seed: bool = False
    residual: Residual | None = None

    @property
    def after(self) -> tuple[str, ...]:
        """What is put in to see the race gone."""
        return (*self.fixes, *self.beside)


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
