"""The table of docs/notebook/api-calls.md: for each call what a real kube-apiserver answers, and what the driver does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from podrace.base.structs import Data

PAGE = Path(__file__).parents[3] / "docs" / "notebook" / "api-calls.md"
VERSIONS = ("v1.36.3", "v1.37.2")

BEGIN, END = "<!-- calls: made by `make real` -->", "<!-- end of calls -->"


class Row(Data):
    """A call in a situation; `real` and `driver` are what came of it: the answer, and the events of the watch."""

    call: str
    situation: str
    real: str
    driver: str


TWO_WRITES = "[A-DELETION](../model.md#pods): the model and the driver delete the pod in one write"
NO_VERSION = "no scheduler reads the resource version of a group"
NO_EVICTION = "[A-BUDGETS](../model.md#preemption-and-nominations): the model has no such eviction"

POD, KUBELET, WATCH = "DELETE of a pod", "a kubelet's last DELETE", "WATCH of pods"
CLAIM, GROUP = "UPDATE of a claim's status", "PATCH of a group's status"

DIFFERENCES = {
    (POD, "that is pending"): TWO_WRITES,
    (POD, "by the pod's UID"): TWO_WRITES,
    (POD, "without a UID; an earlier pod had the same name"): TWO_WRITES,
    (POD, "that is bound and has no grace period"): TWO_WRITES,
    (KUBELET, "of a pod that is terminating"): f"{TWO_WRITES}. The first of kube-apiserver's two writes changes only deletionGracePeriodSeconds, which no scheduler reads",
    (KUBELET, "of a pod that nobody else has deleted"): TWO_WRITES,
    (WATCH, "several writes of one pod"): TWO_WRITES,
    (WATCH, "writes of several pods"): TWO_WRITES,
    ("LIST of pods", "their order"): "[A-ARRIVAL](../model.md#the-queue): the pods of a list arrive in any order, which the run chooses",
    ("DELETE of a claim", "that has the finalizer, but is not allocated"): "[A-CLAIM-FINALIZER](../model.md#claims-of-devices): only an allocated claim has the finalizer",
    (CLAIM, "a condition of a device that is not allocated to the claim"): "no step does this: a device's driver reports conditions only of allocated devices. The driver of podrace drops the condition",
    ("a pod is created", "under the name of an existing pod"): "[A-RECREATED](../model.md#pods): in the model, no pod is created under the name of an existing pod",
    ("eviction", "the budget allows one disruption"): "[A-CONDITION](../model.md#watches-restarts-and-changes-of-leader): the driver does not write the condition, which no scheduler reads with this reason",
    ("eviction", "of a pod that is terminating"): NO_EVICTION,
    ("eviction", "of a pending pod; the budget allows no disruption"): f"{NO_EVICTION}, but a user's deletion has the same effect",
    ("eviction", "of a pod without a budget"): f"{NO_EVICTION}, but a user's deletion has the same effect",
    (GROUP, "a first condition"): NO_VERSION,
    (GROUP, "another message"): NO_VERSION,
    (GROUP, "the same PATCH again"): "the driver stores groups in client-go's fake clientset, which sends an event even if a PATCH changes nothing",
    (GROUP, "also changes the labels"): "no scheduler does this: it patches only the status",
}  # fmt: skip
"""What became of each difference."""


def differing(rows: Iterable[Row]) -> list[Row]:
    """The calls that the driver answers otherwise."""
    return [row for row in rows if row.real != row.driver]


def between(text: str) -> str:
    """The tables of a page."""
    return text.partition(BEGIN)[2].partition(END)[0].strip()


def put(text: str, rows: Iterable[Row]) -> str:
    """The page with another table."""
    lines = ["| Call | Situation | kube-apiserver | Driver |", "|---|---|---|---|"]
    for row in rows:
        driver = "same" if row.real == row.driver else row.driver
        lines.append(f"| {row.call} | {row.situation} | {row.real} | {driver} |")
    lines += ["", "| Call | Situation | Why the driver differs |", "|---|---|---|"]
    for row in differing(rows):
        lines.append(f"| {row.call} | {row.situation} | {DIFFERENCES[row.call, row.situation]} |")
    new = "\n".join([BEGIN, *lines, END])
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: new, text, flags=re.DOTALL)
