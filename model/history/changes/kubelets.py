"""Kubelets as they were."""

from __future__ import annotations

from ...environment.kubelet import Kubelet
from ...environment.objects import Pod
from ..registry.change import before


@before(
    "108366",
    "a kubelet says that a pod has finished when its containers have stopped, not before",
    first_in="1.24",
    issues=(106884,),
    since="1.22",
    backports=("1.22.17", "1.23.17"),
)
class FinishedBeforeStopped(Kubelet):
    """The phase was written first, and the containers stopped after it: the kubelet counted the pod until then, and nobody else did (1.22 and 1.23)."""

    def end(self, pod: Pod) -> None:
        """They go on running (see `stop`)."""
