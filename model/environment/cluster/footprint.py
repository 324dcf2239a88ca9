"""What a pod's object adds to the NodeInfo of its node: requests, ports, claims (framework/types.go, 1.34)."""

from collections.abc import Iterable, Mapping

from ....base.structs import Data
from ...language import Entity
from .placement_rules import HostPort
from .resources import is_scalar_resource

CPU, MEMORY, EPHEMERAL = "cpu", "memory", "ephemeral-storage"
NONZERO_DEFAULTS: Mapping[str, int] = {CPU: 100, MEMORY: 200 * 1024 * 1024}
"""What a container without a request counts as where nodes are scored: milli-CPU, bytes."""


class UsedPort(Entity):
    """A host port that a NodeInfo may list among its UsedPorts."""

    def __init__(self, index: int, port: HostPort) -> None:
        super().__init__(index, str(port))
        self.port = port


def used_ports_of(asked: Iterable[Iterable[HostPort]]) -> tuple[UsedPort, ...]:
    """The ports that pods ask for, each once; `asked` has those of each pod."""
    ports = dict.fromkeys(port for own in asked for port in own)
    return tuple(UsedPort(number, port) for number, port in enumerate(ports))


def is_counted(resource: str) -> bool:
    """Whether NodeInfos count a resource: the three built-in ones, and scalar ones."""
    return resource in (CPU, MEMORY, EPHEMERAL) or is_scalar_resource(resource)


class Footprint(Data):
    """What a pod adds to the NodeInfo of its node.

    `containers` are the requests of each container; a resource that one does not name is not requested.
    """

    containers: tuple[Mapping[str, int], ...] = ()
    ports: tuple[UsedPort, ...] = ()
    claims: frozenset[str] = frozenset()
    affinity: bool = False  # any pod affinity or anti-affinity

    def requests(self, resource: str) -> int:
        """The sum over the containers."""
        return sum(c.get(resource, 0) for c in self.containers) if is_counted(resource) else 0

    def nonzero_requests(self, resource: str) -> int:
        """The same, with the default for containers that request nothing of it."""
        return sum(c.get(resource, NONZERO_DEFAULTS[resource]) for c in self.containers)
