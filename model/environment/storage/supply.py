"""Which devices can be had together (structured.Allocator in k8s.io/dynamic-resource-allocation, 1.36 and 1.37).

A device is free if each counter on which it draws has so much left: its own, which one claim takes whole, a counter that partitions of a device share (KEP-4815), or the
capacity that claims consume (KEP-5075). The allocator tries the claims in order, of each its alternatives in order (KEP-4816), and takes what comes first that leaves
enough for the others. Of devices of one alternative it may take any (A-CLAIM-KINDS). What an administrator's claim is given is in use for the pod's later claims of others.
"""

from collections.abc import Callable, Sequence

from ....base.structs import Data
from ...language import Expr, Value, all_of, any_of, as_expr, count, select, total
from ..objects import Claim, Counter, Device, Node

Wanted = Sequence[tuple[Claim, Expr]]
"""Claims in their order, and whether each has its device already."""

Choices = tuple[Device, ...]
"""What a claim can have on a node."""


def _never(device: Device) -> Value:
    return False


class Supply(Data, slots=False):
    """The devices, as somebody sees them: which are `taken`, which are `shown` to a claim, which count `twice` in what they draw, and which are `given` to earlier claims of the pod."""

    devices: Sequence[Device]
    taken: Callable[[Device], Value]
    shown: Callable[[Device, Claim], Value]
    twice: Callable[[Device], Value] = _never
    given: Callable[[Device], Value] = _never

    def is_free(self, device: Device, claim: Claim, beside: Sequence[Device] = ()) -> Expr:
        """Whether the claim can have the device, beside others that are chosen."""
        left = [self._is_left(counter, device, beside) for counter in device.draws]
        return all_of(left) & as_expr(self.shown(device, claim)) & ~self._is_given(device, claim, beside)

    def _is_given(self, device: Device, claim: Claim, beside: Sequence[Device]) -> Expr:
        """deviceInUse: an administrator's claim that came before in this attempt has the device, which matters to others than administrators."""
        amid = [d for d in self.devices if not d.draws and {device, *device.parts} & set(d.parts)]
        return any_of(d in beside or self.given(d) for d in amid if not claim.admin)

    def _is_left(self, counter: Counter, device: Device, beside: Sequence[Device]) -> Expr:
        asked = sum(d.draws.get(counter, 0) for d in (device, *beside))
        if asked > counter.capacity:
            return as_expr(False)
        users = [d for d in self.devices if counter in d.draws]
        if all(d.draws[counter] == counter.capacity for d in users):
            return ~any_of(self.taken(d) for d in users)
        return self.load(counter) <= counter.capacity - asked

    def load(self, counter: Counter) -> Expr:
        """What is drawn on the counter."""
        drawn = [
            select(taken(d), d.draws[counter], 0)
            for taken in (self.taken, self.twice)
            for d in self.devices
            if counter in d.draws and taken is not _never
        ]
        return total(drawn)

    def can_give(self, wanted: Wanted, node: Node, beside: Sequence[Device] = ()) -> Expr:
        """Whether each claim that has none can have a device on the node."""
        if not beside and self._are_alike([c for c, _ in wanted], node):
            asking = {self._choices(c, node): c for c, _ in wanted}
            return all_of(self._has_enough(of, claim, wanted, node) for of, claim in asking.items())
        if not wanted:
            return as_expr(True)
        (claim, settled), rest = wanted[0], wanted[1:]
        found = [
            self.is_free(device, claim, beside) & self.can_give(rest, node, (*beside, device))
            for device in self._choices(claim, node)
        ]
        return select(settled, self.can_give(rest, node, beside), any_of(found))

    def _has_enough(self, choices: Choices, asking: Claim, wanted: Wanted, node: Node) -> Expr:
        free = count(self.is_free(d, asking) for d in choices)
        return free >= count(~settled for claim, settled in wanted if self._choices(claim, node) == choices)

    def _are_alike(self, claims: Sequence[Claim], node: Node) -> bool:
        """Whether any two of these can have the same devices or none in common, of which each has all that it draws on for itself, and all want one thing, tolerate the same, and are of administrators or not."""
        kinds = {self._choices(claim, node) for claim in claims}
        drawn = [counter for choices in kinds for device in choices for counter in device.draws]
        alone = all(sum(counter in device.draws for device in self.devices) == 1 for counter in drawn)
        apart = sum(map(len, kinds)) == len({device.index for choices in kinds for device in choices})
        return (
            alone
            and apart
            and all(len(c.wishes) == 1 for c in claims)
            and len({(c.tolerates, c.admin) for c in claims}) <= 1
        )

    def _choices(self, claim: Claim, node: Node) -> Choices:
        return tuple(d for d in self.devices if d.is_on(node) and claim.rank(d) is not None)

    def gives(self, claim: Claim, device: Device, rest: Wanted, node: Node) -> Expr:
        """Whether the allocator gives the claim the device on the node, and not a better alternative, if `rest` are the claims that come after it."""
        choices = self._choices(claim, node)
        if self._are_alike([claim, *(c for c, _ in rest)], node):
            return self.is_free(device, claim)
        fits = {d: self.is_free(d, claim) & self.can_give(rest, node, (d,)) for d in choices}
        rank = {d: claim.rank(d) or 0 for d in choices}
        return fits[device] & ~any_of(fits[d] for d in choices if rank[d] < rank[device])
