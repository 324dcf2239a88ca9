"""The ports of its node that a pod occupies. The same mistakes are refused as by the API server."""

from collections.abc import Mapping
from ipaddress import ip_address

from ...model.environment.cluster.placement_rules import ANY_ADDRESS, HostPort
from ..values.yaml_values import Value
from .placement import MAX_PORT, PORT, PORTS

_PORTS = "a list of ports, such as [80] or [{port: 53, protocol: UDP}]"


def read_host_ports(value: Value | None) -> list[HostPort]:
    """The list `hostPorts` of a pod; each element is a number, or a mapping."""
    found: list[HostPort] = []
    for element in value.elements(_PORTS) if value else []:
        port = (
            host_port(element, element.fields(PORTS.names, "a port"), "port")
            if element.is_mapping
            else HostPort(PORT.read(element))
        )
        if any(port.conflicts(other) for other in found):
            element.fail(f"the pod would be in its own way with {port}: remove one of the two ports")
        found.append(port)
    return found


def host_port(place: Value, fields: Mapping[str, Value], number: str) -> HostPort:
    """A port as Kubernetes writes it; the field `number` says which."""
    if number not in fields:
        place.fail(f"`{number}` is missing: a port is a number from 1 to {MAX_PORT}")
    return HostPort(
        PORT.read(fields[number]),
        PORTS["protocol"].value(fields["protocol"]) if "protocol" in fields else "TCP",
        _address(fields["hostIP"]) if "hostIP" in fields else ANY_ADDRESS,
    )


def _address(value: Value) -> str:
    """An address, in its usual spelling. Empty means all of them."""
    written = value.scalar("an address such as 10.0.0.1")
    if not written:
        return ANY_ADDRESS
    try:
        ip_address(written)
    except ValueError:
        value.expect("an address such as 10.0.0.1")
    return written
