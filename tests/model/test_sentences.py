"""The model tells of itself: every step of every release has a sentence, every variable words or none on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from string import Formatter

import pytest

from podrace.model.cluster import Cluster, build_cluster
from podrace.model.environment.objects import ClusterSpec, ExtensionPoint, Node, Pod, Scope
from podrace.model.history import CHANGES, RELEASES, resolve
from podrace.model.language import Component, Narration
from podrace.model.language.declarations.component import steps_of
from podrace.model.language.systems.gathering import narrate, sentences_of
from podrace.model.scheduler import IncrementalSnapshot
from podrace.model.scheduler.cycles.binding import Reply
from podrace.model.scheduler.framework.waiting_pods import Signal
from podrace.properties import PROPERTIES
from tests.conformance.queue.numbered import Timing, counted


def spec() -> ClusterSpec:
    """A cluster in which everything may happen."""
    nodes = (Node(0, "n", 1), Node(1, "m", 1, exists=False))
    pods = (
        Pod(0, "v", 1, 0, node=nodes[0], extension_points=tuple(ExtensionPoint)),
        Pod(1, "p", 1, 1, extension_points=tuple(ExtensionPoint)),
        Pod(2, "q", 1, 1, exists=False, gated=True),
    )
    scope = Scope(
        node_deletions=1, node_creations=1, pod_deletions=1, pod_creations=1, bind_failures=1, lost_replies=1, status_failures=1,
        write_failures=1, assume_expiries=1, plugin_errors=1, permit_rejections=1,
        restarts=1, leader_changes=1, external_binds=1, relists=1, watch_stalls=1, scale_downs=1, scale_down_looks_again=True,
        kubelet_admission=True,
    )  # fmt: skip
    return ClusterSpec("all", pods, nodes, scope)


MODELS: dict[str, Sequence[type[Component]]] = {
    **{release: resolve(release).classes for release in RELEASES},
    **{f"without {key}": change.classes for key, change in CHANGES.items()},
    "incremental snapshot": (IncrementalSnapshot,),
    "numbers": counted(Timing()),
}
"""Every release; the newest without each upstream change, some of which no release lacks; what only tests put in."""


@cache
def model(name: str) -> Cluster:
    """One of MODELS with a monitor of every property."""
    made = build_cluster(spec(), MODELS[name])
    for identifier, monitor in PROPERTIES.items():
        made.add(identifier, monitor)
    return made


def telling(name: str) -> Narration:
    return narrate(model(name))


@pytest.mark.parametrize("name", MODELS)
def test_every_step_has_one_sentence_that_always_fits_and_it_is_the_last(name: str) -> None:
    sentences = telling(name).sentences
    for part in model(name).parts.values():
        for step in steps_of(part):
            always = [s.when is None for s in sentences.get(f"{part.name}.{step.name}", ())]
            assert always[-1:] == [True], f"{part.name}.{step.name}"
            assert not any(always[:-1]), f"{part.name}.{step.name}"


@pytest.mark.parametrize("name", MODELS)
def test_every_sentence_belongs_to_a_step_and_names_what_it_knows(name: str) -> None:
    for part in model(name).parts.values():
        arguments = {step.name: {n for n, _ in step.domains} for step in steps_of(part)}
        for step, sentences in sentences_of(part).items():
            assert step in arguments
            for sentence in sentences:
                names = {n for _, n, _, _ in Formatter().parse(sentence.text) if n}
                changed = set() if sentence.when is None else {"before", "after", "0"}
                assert names <= arguments[step] | changed | {"why"}, sentence.text


def pod(release: str, name: str) -> object:
    """The model's own pod: entities are equal only to themselves."""
    return telling(release).addresses[f"api.pod[{name}].exists"].keys[0]


@dataclass(frozen=True)
class Change:
    variable: str
    before: object
    after: object


@pytest.mark.parametrize(
    ("release", "step", "done", "found", "sentence"),
    [
        ("1.31", "scheduler.evict", (), False, "The scheduler sends a DELETE for v, which is gone already: 404: PostFilter ends in an error."),
        ("1.32", "scheduler.evict", (), False, "The scheduler sends a DELETE for v, which is gone already: 404: it counts as deleted."),
        ("1.32", "scheduler.evict", (), True, "The scheduler sends a DELETE for v, which is being deleted already: nothing changes."),
        ("1.31", "scheduler.evict", (Change("faults.left[WRITE_FAILURE]", 1, 0),), True, "The scheduler's DELETE of v fails: PostFilter ends in an error."),
        ("1.31", "scheduler.evict", (Change("api.pod[v].exists", True, False),), True, "The scheduler evicts v for p: the API server deletes it."),
        ("1.36", "async_preemption.evict_last", (), False, "The goroutine sends a DELETE for v, which is gone already: 404. Nothing is deleted, so no event will follow."),
        ("1.36", "async_preemption.evict_last", (), True, "The goroutine sends a DELETE for v, which is being deleted already: nothing changes."),
        ("1.36", "async_preemption.evict_last", (Change("waiting.signal[v]", Signal.AWAITED, Signal.REFUSED),), True, "The goroutine stops v in memory: it waited for permission to be bound."),
    ],
)  # fmt: skip
def test_why_an_eviction_has_no_effect(
    release: str, step: str, done: tuple[Change, ...], found: bool, sentence: str
) -> None:
    before = {"api.pod[v].exists": found, "waiting.signal[v]": Signal.NONE}
    assert before.keys() | {change.variable for change in done} <= telling(release).addresses.keys()
    arguments = (("pod", pod(release, "p")), ("victim", pod(release, "v")), ("ok", True))
    assert telling(release).sentence(step, arguments, done, before) == sentence


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ({"exists": False}, "404, the pod is gone."),
        ({"exists": True, "node": Node(0, "n", 1)}, "refused, the pod is on a node already."),
        ({"exists": True, "node": None, "terminating": True}, "refused, the pod is being deleted."),
    ],
)
def test_why_a_binding_is_refused(found: dict[str, object], sentence: str) -> None:
    before = {f"api.pod[p].{name}": value for name, value in found.items()}
    told = telling("1.36").sentence("binding.bind", (("pod", pod("1.36", "p")),), (), before)
    assert told == f"The binding goroutine asks the API server to bind p: {sentence}"


@pytest.mark.parametrize(("reply", "end"), [(Reply.LOST, ": the reply is lost."), (Reply.ANSWERED, ".")])
def test_a_binding_that_is_committed_may_not_be_answered(reply: Reply, end: str) -> None:
    part, done = model("1.36").parts["binding"], (Change("api.pod[p].node", None, Node(0, "n", 1)),)
    reasons = tuple(part.explains("bind", {"pod": pod("1.36", "p"), "reply": reply}))
    told = telling("1.36").sentence("binding.bind", (("pod", pod("1.36", "p")),), done, {}, reasons)
    assert told == f"The binding goroutine binds p: the API server has it on n{end}"


def test_a_nomination_that_the_nominator_has_already() -> None:
    def told(before: object, *done: Change) -> str | None:
        arguments = (("pod", pod("1.36", "p")),)
        return telling("1.36").sentence("failure.nominate", arguments, done, {"nominator.node[p]": before})

    node = Node(0, "n", 1)
    assert told(node) == "The failure handler notes in the nominator again that p is nominated."
    assert told(None) == "The failure handler updates the nominator: p is not nominated."
    assert told(node, Change("nominator.node[p]", node, None)) == (
        "The failure handler takes the nomination of p out of the nominator."
    )


@pytest.mark.parametrize("name", MODELS)
def test_every_variable_has_words_or_is_bookkeeping(name: str) -> None:
    assert [v for v, found in telling(name).addresses.items() if found.words is None] == []


@pytest.mark.parametrize("release", [RELEASES[0], RELEASES[-1]])
def test_who_knows_what(release: str) -> None:
    found = telling(release)
    assert [view.view for view in found.views] == [
        "API server", "lister", "queue", "nominator", "cache", "snapshot", "scheduling cycle", "other goroutines",
    ]  # fmt: skip
    assert [name for name, fact in found.facts.items() if fact.compared] == ["exists", "node", "nominated"]
    assert [(c.channel, [reader.name for reader in c.readers]) for c in found.channels] == [
        ("pod watch", ["the lister", "the queue handler", "the cache handler"]),
        ("node watch", ["the lister", "the node handler"]),
    ]
    for channel in found.channels:
        for reader in channel.readers:
            assert {reader.position, reader.busy} - {""} <= found.addresses.keys()
