"""Which events a plugin hears that says with what it registers, and nothing more, as the stubs of upstream's tests do: by release.

Follows ClusterEvent.Match (1.30, 1.33) and MatchClusterEvents (1.34, 1.36) in pkg/scheduler/framework/types.go. The model's own plugins have hints.
"""

from __future__ import annotations

from podrace.model.environment.objects import Pod
from podrace.model.history.versions import version_of
from podrace.model.language import Expr, as_expr
from podrace.model.scheduler.framework.events import WILDCARD, About, Action, ClusterEvent, Plugin
from podrace.model.scheduler.framework.hints import Hints


class RegistrationsDecide(Hints):
    """The plugins of a case are stubs: each wants every event that it registered, whatever the event is about."""

    def wakes(self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About) -> Expr:
        return as_expr(event.is_wildcard or self.hears(plugin, event))

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        return any(self.is_meant(event, registered) for registered in plugin.events)

    def is_meant(self, event: ClusterEvent, registered: ClusterEvent) -> bool:
        """MatchClusterEvents: not an event of more kinds of change than were registered."""
        same = registered.resource in (WILDCARD, event.resource)
        happened, wanted = _happened(event), _kinds(registered.action)
        return registered.is_wildcard or (same and bool(happened & wanted) and happened <= wanted)


class BroadEventsCount(RegistrationsDecide):
    """An event counted that had one kind of change in common with what was registered (ClusterEvent.Match up to 1.33)."""

    def is_meant(self, event: ClusterEvent, registered: ClusterEvent) -> bool:
        same = registered.resource in (WILDCARD, event.resource)
        return registered.is_wildcard or (same and bool(_happened(event) & _kinds(registered.action)))


class PartOfEverythingIsNothing(BroadEventsCount):
    """Of the resource `*` only all that happens could be registered; with some kinds of change it matched no event (up to 1.29)."""

    def is_meant(self, event: ClusterEvent, registered: ClusterEvent) -> bool:
        partial = registered.resource == WILDCARD != event.resource and not registered.is_wildcard
        return not partial and super().is_meant(event, registered)


def registrations_decide(release: str) -> type[RegistrationsDecide]:
    """The rule of a release."""
    at = version_of(release)
    if at >= version_of("1.34"):
        return RegistrationsDecide
    return BroadEventsCount if at >= version_of("1.30") else PartOfEverythingIsNothing


def _kinds(action: Action) -> Action:
    """An action bit by bit, as upstream has it: an update without more is one of every kind."""
    return action | ~(Action.ADD | Action.DELETE) if Action.UPDATE in action else action


def _happened(event: ClusterEvent) -> Action:
    """The kinds of change that an event is told with: that none of the others did, if there are no others."""
    kinds = _kinds(event.action)
    return kinds & ~Action.UPDATE_POD_OTHER or kinds
