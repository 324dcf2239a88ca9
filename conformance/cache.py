"""Conformance of the scheduler cache: operations on it, and what its NodeInfos, lists and snapshots then are.

Each operation becomes a call of the model's own cache or snapshot; `cache_expectations` compares what the
model then holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model.environment.objects import PodCopy
from .cache_cast import gather
from .cache_expectations import Expectations
from .outcome import Case, NotTranslated, Outcome, check, judged


def run(case: Case, release: str) -> Outcome:
    """Run a case of `cache.json` on a release."""
    return judged(case, release, lambda: _play(case, release))


def _play(case: Case, release: str) -> None:
    if case.get("kind", "ops") != "ops":
        raise NotTranslated(f"kind {case['kind']}")
    play = Play(case, gather(case, release))
    for number, op in enumerate(case["ops"]):
        play.perform(number, op)


class Play(Expectations):
    """The calls that change the cache or a snapshot."""

    def _call(self, op: Case, call: Callable[[], Any]) -> None:
        failed = self.model.do(call)
        check("error", bool(failed), bool(op.get("expect_error")))

    def op_assume(self, op: Case) -> None:
        self.only(op, "pod", "expect_error")
        version, node = self.cast.version(op["pod"]), self.cast.placed[op["pod"]]
        copy = PodCopy(terminating=self.cast.terminating[op["pod"]])
        self._call(op, lambda: self.cache.assume(version.pod, node, copy, version))

    def op_forget(self, op: Case) -> None:
        self.only(op, "pod", "expect_error")
        pod, node = self.cast.version(op["pod"]).pod, self.cast.placed[op["pod"]]
        self._call(op, lambda: self.cache.forget(pod, node))

    def op_add_pod(self, op: Case) -> None:
        self.only(op, "pod", "expect_error")
        version, new = self.cast.version(op["pod"]), self.cast.object(op["pod"])
        self._call(op, lambda: self.cache.add_pod(version.pod, new, version))

    def op_update_pod(self, op: Case) -> None:
        self.only(op, "old", "new", "expect_error")
        old, version = self.cast.version(op.get("old") or op["new"]), self.cast.version(op["new"])
        if old.pod is not version.pod:
            raise NotTranslated("an update from one pod to another")
        new = self.cast.object(op["new"])
        self._call(op, lambda: self.cache.update_pod(version.pod, new, version))

    def op_remove_pod(self, op: Case) -> None:
        self.only(op, "pod", "expect_error")
        self._call(op, lambda: self.cache.remove_pod(self.cast.version(op["pod"]).pod))

    def op_finish_binding(self, op: Case) -> None:
        self.only(op, "pod", "at", "expect_error")
        pod, now = self.cast.version(op["pod"]).pod, self.cast.timeline.ticks(op.get("at") or 0)
        self._call(op, lambda: self.cache.finish_binding(pod, now, self.cast.timeline.ttl_ticks))

    def op_cleanup(self, op: Case) -> None:
        self.only(op, "at")
        self.model.do(lambda: self.cache.clean_up(self.cast.timeline.ticks(op["at"])))

    def op_add_node(self, op: Case) -> None:
        self.only(op, "node", "expect_error")
        new = self.cast.node_version(op["node"])
        self._call(op, lambda: self.cache.add_node(new.node, new.zone))

    def op_update_node(self, op: Case) -> None:
        self.only(op, "old", "new", "expect_error")
        old = self.cast.node_version(op["old"]).zone if op.get("old") else None
        new = self.cast.node_version(op["new"])
        self._call(op, lambda: self.cache.update_node(new.node, old, new.zone))

    def op_remove_node(self, op: Case) -> None:
        self.only(op, "node", "expect_error")
        old = self.cast.node_version(op["node"])
        self._call(op, lambda: self.cache.remove_node(old.node, old.zone))

    def op_update_snapshot(self, op: Case) -> None:
        self.only(op, "expect_error")
        self._call(op, self.snapshot.update)
