"""What drivers of devices do beside the scheduler (dynamic resource allocation).

A device with binding conditions (spec.devices.bindingConditions, 1.34) has to be attached, or prepared otherwise, before a pod that uses it is bound. Its driver, or
whoever does that for it, writes into the claim's status.devices that the conditions are met, or that it has failed.
"""

from ...language import Component, require, step, tells
from ..faults import Fault, Faults
from ..objects import Claim
from .claims import FAILED, PENDING, READY, ResourceClaims


class DeviceDriver(Component):
    """The driver that makes devices ready. It acts on the claims in their current state."""

    resource_claims: ResourceClaims
    faults: Faults

    def _require_pending(self, claim: Claim) -> None:
        current = self.resource_claims.object[claim]
        require(self.resource_claims.awaited(current.device) & (current.readiness == PENDING))

    @step(actor="device driver", each="claim")
    @tells("The driver reports that the device of {claim} is ready.")
    def report_ready(self, claim: Claim) -> None:
        """All binding conditions are true. The write has no version, like an Apply."""
        require(self.resource_claims.has_conditions())
        self._require_pending(claim)
        self.resource_claims.report(claim, READY)

    @step(actor="device driver", fair=False)
    @tells("The driver reports that the device of {claim} cannot be made ready.")
    def report_failure(self, claim: Claim) -> None:
        """A binding failure condition is true."""
        require(self.resource_claims.has_conditions() and bool(self.scope.device_failures))
        self._require_pending(claim)
        self.faults.spend(Fault.DEVICE_FAILURE, claim)
        self.resource_claims.report(claim, FAILED)
