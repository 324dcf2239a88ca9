"""What a scope says of kubelets that fail, and of the node lifecycle controller that taints their nodes."""

from ....model.environment.cluster.node_health import give_healths, health_of
from ...values.ranges import Range
from .draft import Draft


def read_healths(draft: Draft) -> None:
    """Give the nodes the versions that the controller makes of them, where there is one; refuse what contradicts it."""
    scope, members, nodes, has = draft.scope, draft.node_members, draft.nodes, draft.has
    if not scope.node_lifecycle:
        return
    for name, node in nodes.items():
        fields, place = members[name].fields, members[name].place
        if any(isinstance(amount, Range) for amount in has[name].amount.values()):
            place.fail(
                "the controller updates the node, and a node with updates has no ranges: give one amount"
            )
        if not node.exists and (health_of(node).marks or not node.ready):
            fields["conditions" if not node.ready else "taints"].fail(
                "a node joins as its kubelet makes it: not ready, with the taint of the API server: leave out Ready and its taints"
            )
        for content in node.later.values():
            if health_of(content) != health_of(node):
                fields["updates"].fail(
                    "the node lifecycle controller decides on Ready and its taints: leave both out of `updates`, or remove `node_lifecycle`"
                )
    give_healths(nodes.values(), scope)
