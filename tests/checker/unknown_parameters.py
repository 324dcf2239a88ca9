"""The parameters that a system leaves open."""

from __future__ import annotations

from podrace.model.language import Parameter, TransitionSystem, topological


def parameters_of(system: TransitionSystem) -> tuple[Parameter, ...]:
    """The unknown parameters that the system looks at, by name.

    Raises ValueError if two of them have one name.
    """
    found: dict[str, Parameter] = {}
    for node in topological(system.roots()):
        if node.op == "param" and found.setdefault(node.value.name, node.value) is not node.value:
            raise ValueError(
                f"{system.name} has two parameters `{node.value.name}`: they cannot be told apart"
            )
    return tuple(found[name] for name in sorted(found))
