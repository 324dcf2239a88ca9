"""What a property is: a monitor beside the model, and a predicate over the state.

A property never acts on the model. If it must remember something, it declares state of its own and
updates it in `observe`, which runs at the end of every step; `before(...)` reads the state that the step
started from.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from ...model import scheduler as kube
from ...model.environment.api import APIServer
from ...model.environment.cluster.node_versions import NodeVersion, versions_in
from ...model.environment.cluster.pod_versions import PodVersion
from ...model.environment.objects import Node, Pod
from ...model.environment.pod_groups import PodGroups
from ...model.environment.watch import NodeWatch, PodWatch
from ...model.language import Case, Component, Expr, any_of, boolean

Kind = Literal["invariant", "resettability", "deadlock freedom", "liveness"]


class Property(Component):
    """Base class of all properties. The docstring's first paragraph is the property in one sentence.

    `kind` says what `holds` means: an "invariant" holds in every reachable state; a "resettability" can be
    brought about from every reachable state by fair steps alone; "deadlock freedom" holds in every state
    in which no fair step can run. A "liveness" has `cases` instead: ways in which a fair run can violate it indefinitely.

    `consequence` says what a violation means to somebody who runs pods, and for how long.

    `concerns` says which pods a violation is one of, if it is one of pods: then the property looks only for those of its `subjects`,
    and can be ignored for the pods named in `silenced`. Whatever else pods do, all of them count.
    """

    id: ClassVar[str]
    kind: ClassVar[Kind] = "invariant"
    consequence: ClassVar[str] = ""
    issues: ClassVar[tuple[int, ...]] = ()
    concerns: ClassVar[str] = ""
    silenced: ClassVar[frozenset[str]] = frozenset()
    may_be_given: ClassVar[bool] = (
        False  # by what a release is: then it is tested although no step can violate it
    )
    bookkeeping = True
    only_looks = True

    api: APIServer
    pod_watch: PodWatch
    node_watch: NodeWatch
    scheduler: kube.Scheduler
    binding: kube.Binding
    failure: kube.FailureHandler
    queue: kube.PriorityQueue
    nominator: kube.Nominator
    cache: kube.Cache
    snapshot: kube.Snapshot
    filters: kube.Filters
    preemption: kube.Preemption
    handlers: kube.EventHandlers
    process: kube.Process
    pod_groups: PodGroups

    def holds(self) -> Expr:
        """The predicate: nothing of what can be `wrong` is so. A property that says nothing of that says what holds."""
        if type(self).wrong is Property.wrong:
            raise NotImplementedError
        return ~any_of(so for _, so in self.wrong())

    def cases(self) -> Iterable[Case]:
        """Of a liveness: what a fair run does indefinitely that it must not."""
        raise NotImplementedError

    def wrong(self) -> Iterable[tuple[str, Expr]]:
        """What can be wrong in a state in which it does not hold: sentences without their full stop, each with the states in which it is so.

        They name the objects that a violation is about. A property that remembers has none: the last step of a counterexample is its violation.
        """
        return ()

    def telling(self) -> Iterable[tuple[str, Expr]]:
        """Of a liveness: the names of cases, each with the states in which it says most of a run that is several of them."""
        return ()

    def witnesses(self) -> dict[str, Expr]:
        """States without which the property says nothing: each should be reachable."""
        return {}

    @classmethod
    def sentence(cls) -> str:
        """The property in one sentence."""
        return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())

    @classmethod
    def explanation(cls) -> tuple[str, ...]:
        """What the docstring says beyond the sentence, a paragraph each."""
        return tuple(" ".join(text.split()) for text in (inspect.getdoc(cls) or "").split("\n\n")[1:])

    @classmethod
    def caveat(cls, nodes: Sequence[Node], pods: Sequence[Pod] = ()) -> str:
        """What a verdict about these nodes and pods must say beside the sentence, because it claims less of some; mostly nothing."""
        return ""

    @classmethod
    def ignoring(cls, pods: frozenset[str]) -> type[Property]:
        """The same property without the violations that concern none but these pods.

        Raises ValueError if its violations are not ones of pods.
        """
        if pods and not cls.concerns:
            raise ValueError(f"{cls.id} is not about single pods, so it cannot be ignored for some")
        return _ignoring(cls, pods) if pods else cls

    @property
    def pods(self) -> tuple[Pod, ...]:
        """All pods."""
        return self.universe[Pod]

    @property
    def versions(self) -> tuple[NodeVersion, ...]:
        """The versions of the nodes that have several."""
        return self.universe[NodeVersion]

    @property
    def pod_versions(self) -> tuple[PodVersion, ...]:
        """The versions of the pods that have several."""
        return self.universe[PodVersion]

    def contents(self, node: Node) -> list[Node]:
        """What a node can be in a run: all its versions."""
        return [version.content for version in versions_in(self.universe, node)] or [node]

    @property
    def subjects(self) -> tuple[Pod, ...]:
        """The pods whose violations count: all but those for which the property is ignored."""
        return tuple(pod for pod in self.pods if pod.name not in self.silenced)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes."""
        return self.universe[Node]


class NeverHappens(Property):
    """Base class of what must never happen in a step: `observe` notes in `broken` that it has happened."""

    broken = boolean()

    def holds(self) -> Expr:
        return ~self.broken


_restricted: dict[tuple[object, frozenset[str]], type[Property]] = {}
"""One class for each property and each set of pods: a system has one monitor of each."""


def _ignoring(cls: type[Property], pods: frozenset[str]) -> type[Property]:
    if (cls, pods) not in _restricted:
        kind: Any = type(cls)
        body = {"silenced": pods, "__module__": cls.__module__, "__doc__": cls.__doc__}
        _restricted[cls, pods] = kind(cls.__name__, (cls,), body)
    return _restricted[cls, pods]
