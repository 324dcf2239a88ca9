"""Proposed patches for the open races of docs/claims.md, each as a subclass of a part of the scheduler."""

from __future__ import annotations

from podrace.model.environment.claims import ClaimUse
from podrace.model.language import Expr, as_expr
from podrace.model.scheduler import DynamicResources


class OwnFlightEnded(DynamicResources):
    """Unreserve removes an allocation in flight only if Reserve of this pod has put it there."""

    def removes_in_flight(self, use: ClaimUse) -> Expr:
        return super().removes_in_flight(use) & as_expr(self.chosen[use]).is_some


class UnreservedAssumed(DynamicResources):
    """What the PATCH of Unreserve returns goes to the assume cache, as what PreBind has written does."""

    def patch_reservation(self, use: ClaimUse) -> None:
        super().patch_reservation(use)
        self.claim_cache.assume(use.claim, self.resource_claims.object[use.claim], 0)
