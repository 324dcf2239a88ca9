"""What could become of a pod, and what the scheduler made of it, as it was."""

from ....environment.api import APIServer
from ....environment.cluster.pod_versions import is_resized
from ....environment.objects import Pod
from ....scheduler import Hints
from ...registry.change import before, no


@before(
    "in-place-resize",
    "what a pod requests can change (InPlacePodVerticalScaling)",
    first_in="1.33",
    gate="InPlacePodVerticalScaling",
)
class RequestsStay(APIServer):
    """The API server refused to change what a pod requests (ValidatePodUpdate)."""

    def accepts_update(self, old: Pod, new: Pod) -> bool:
        return super().accepts_update(old, new) and not is_resized(old, new)


@before(
    "135394",
    "a pod whose own labels change is tried again if inter-pod affinity rejected it",
    first_in="1.36",
)
class OwnLabelsUnheard(Hints):
    """InterPodAffinity took no notice of an update of a pod without a node, even of the very pod that it had rejected (1.32 to 1.35).

    One that somebody else has bound meanwhile counted like any other on a node.
    """

    hears_own_labels = no
