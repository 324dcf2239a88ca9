"""Kinds of entities that follow from the objects of a cluster: some of its pods, pairs of a pod and a claim, and so on.

    class TemplateUser(Derived, found=lambda cluster: ((pod,) for pod in cluster.spec.pods if pod.generated)):
        pod: Pod

What an individual is about are the annotations, in order; its name is that of the first of them, unless `named` says another (or it has a `name` among them). Where what is `found` takes more
than an expression, the class overrides `found_in`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from ...language import Entity
from .cluster_spec import ClusterSpec

E = TypeVar("E", bound=Entity)

Found = Iterable[tuple[Any, ...]]


class Derived(Entity):
    """One individual of a kind that follows from the cluster."""

    _named: ClassVar[str]

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        """What each individual in a cluster is about."""
        raise NotImplementedError

    def __init_subclass__(cls, named: str = "", found: Callable[[Roster], Found] | None = None) -> None:
        cls._named = named or f"{{{next(iter(cls.__annotations__), '')}}}"
        if found is not None:
            cls.found_in = staticmethod(found)  # type: ignore[assignment, method-assign]

    def __init__(self, index: int, *about: Any) -> None:
        own = dict(zip(type(self).__annotations__, about, strict=True))
        super().__init__(index, self._named.format(**own))
        self.__dict__.update(own)


class Roster:
    """The individuals of each kind in a cluster; those of a derived kind are made when somebody asks for them first."""

    def __init__(
        self, spec: ClusterSpec, given: Mapping[type[Entity], Sequence[Entity]] | None = None
    ) -> None:
        self.spec = spec
        self.known: dict[type[Entity], tuple[Entity, ...]] = {
            k: tuple(members) for k, members in (given or {}).items()
        }

    def __getitem__(self, kind: type[E]) -> tuple[E, ...]:
        if kind not in self.known:
            assert issubclass(kind, Derived)
            self.known[kind] = tuple(kind(i, *about) for i, about in enumerate(kind.found_in(self)))
        return cast(tuple[E, ...], self.known[kind])
